#!/usr/bin/env python3
"""Predictions of a governor on another kernel, beside runs of it: shares of the idle states, and stays that were too deep or too shallow.

    bench/predict.py [--kernels 6.1,6.12,7] [--work DIR]

Boots our Linux guest with each of Debian's kernels and each of their governors twice: run A, and run B, which begins later and takes longer. Each pair is
predicted from run A of one, by `idle-predict`, and compared with run B of another. Beside the closed loop stand two trivial predictors: the open loop, in
which nothing moves, and "as traced", which takes the traced kernel's own counts. A pair is within the aim if the share of no state is off by more than 10
points, and the misses (above and below) by no more than 10 %. Ends with 1 if fewer than 8 of 10 pairs are. Traces that are there are not made again; they
are in the folder DIR, target/bench/predict by default. Needs QEMU, apt, dpkg and Rust.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLATFORM = ROOT / "platforms/idle/qemu-virt.toml"
# Run A, and a run B that is no repetition of it.
RUNS = {"a": ["--stay", "1", "--trace-seconds", "2"], "b": ["--stay", "2", "--trace-seconds", "3"]}
POINTS, PERCENT, ENOUGH = 10, 10, 0.8


def run(command):
    result = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    return result.stdout


def stopwatt(*words):
    return run([pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/stopwatt", *words])


def trace(work, kernel, governor, which):
    """The trace of a run, and the release of its kernel."""
    path = work / f"{kernel}-{governor}-{which}.trace"
    release = path.with_suffix(".release")
    if not (path.is_file() and release.is_file()):
        print(f"tracing {governor} of {kernel}, run {which}", file=sys.stderr)
        partial = path.with_suffix(".partial")
        told = stopwatt("run", "linux-boot", "--kernel", kernel, "--cpus", 2, "--cycles", 0, *RUNS[which], "--governor", governor, "--trace", partial,
                        "--output", work / "linux-boot", "--replace")
        # The package's version: the release's name of 6.1 lacks its last number.
        release.write_text(re.search(r"linux-(?:image|binary)-\S+\s+(\d+\.\d+\.\d+)", told).group(1))
        partial.rename(path)
    return path, release.read_text().strip()


def predictions(work, known, kind, observed):
    """Errors by predictor, share in points and misses in percent: for each of the values that the trace does not say."""
    told = json.loads(stopwatt("run", "idle-predict", known, "--platform", PLATFORM, "--governors", kind, "--observed", observed,
                               "--output", work / "idle-predict", "--replace", "--format", "json"))
    errors = {}
    for measure in told["measures"]:
        if measure["metric"] in ("idle_share_error", "idle_miss_error"):
            errors.setdefault((measure["case"], measure["metric"]), []).append(measure["median"])
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="6.1,6.12,7")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/predict")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    run(["cargo", "build", "--quiet", "--release", "--locked"])
    kernels = arguments.kernels.split(",")
    runs = [(kernel, governor) for kernel in kernels for governor in ("menu", "ladder")]
    # From each of them to the other governor of its kernel, and to both of the next kernel.
    pairs = []
    for kernel, governor in runs:
        other = "ladder" if governor == "menu" else "menu"
        following = kernels[(kernels.index(kernel) + 1) % len(kernels)]
        targets = [(kernel, other), (following, governor), (following, other)]
        pairs += [((kernel, governor), target) for target in targets if target != (kernel, governor)]
    predictors = ["closed loop", "open loop", "as traced"]
    print(f"{'traced':22} {'predicted':22}" + "".join(f" {name:>18}" for name in predictors))
    print(f"{'':45}" + "  points misses, %" * len(predictors) + "  closed loop, misses")
    held = 0
    within = dict.fromkeys(predictors, 0)
    for (kernel, governor), (to_kernel, to_governor) in pairs:
        known, release = trace(work, kernel, governor, "a")
        observed, to_release = trace(work, to_kernel, to_governor, "b")
        kind = "ladder" if to_governor == "ladder" else f"menu@{to_release}"
        errors = predictions(work, known, kind, observed)
        line = f"{f'{governor} of {release}':22} {f'{to_governor} of {to_release}':22}"
        for name in predictors:
            # The worst end of an interval counts.
            share, misses = (max(errors[name, metric], key=abs) for metric in ("idle_share_error", "idle_miss_error"))
            within[name] += share <= POINTS and abs(misses) <= PERCENT
            line += f" {share:7.1f} {misses:+9.1f}"
        ends = errors["closed loop", "idle_miss_error"]
        held += min(ends) <= 0 <= max(ends)
        print(line + f" {min(ends):+7.1f}..{max(ends):+.1f}", flush=True)
    for name in predictors:
        print(f"{name}: {within[name]} of {len(pairs)} pairs within {POINTS} points and {PERCENT} %")
    print(f"closed loop: in {held} of {len(pairs)} pairs the observed misses lie between the two ends of the prediction")
    sys.exit(0 if within["closed loop"] >= ENOUGH * len(pairs) else 1)


if __name__ == "__main__":
    main()
