#!/usr/bin/env python3
"""Predictions of a governor on another kernel, beside runs of it: shares of the idle states, and stays that were too deep or too shallow.

    bench/predict.py [--kernels 6.1,6.12,7] [--workloads mixed,idle,hackbench,sqlite,fio] [--own 6.12] [--work DIR]

Boots our Linux guest under each workload with each of Debian's kernels and each of their governors, and with a kernel that has teo and a tick of 100 Hz
(bench/guest_kernel.py compiles it; `--own none` goes without), twice: run A, and run B, which begins later and takes longer. Each pair is predicted from
run A of one, by `idle-replay --predict`, and compared with run B of another. Beside the closed loop stand two trivial predictors: the open loop, in which nothing
moves, and "as traced", which takes the traced kernel's own counts. The last columns are no prediction: run A of the predicted kernel and governor, which
says how well the guest repeats itself. A pair is within the aim if the share of no state is off by more than 10 points, and the misses (above and below)
by no more than 10 %. Ends with 1 if fewer than 8 of 10 pairs are. Traces that are there are not made again; they are in the folder DIR,
target/bench/predict by default. Needs QEMU, apt, dpkg, Rust, and what bench/guest_kernel.py needs.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import guest_kernel

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLATFORM = ROOT / "data/platforms/idle/qemu-virt.toml"
# Run A, and a run B that is no repetition of it: seconds in each idle state before, and seconds that are traced.
RUNS = {"a": (1, 2), "b": (2, 3)}
# An idle guest sleeps some thirty times a second.
LONGER = {"idle": 8}
POINTS, PERCENT, ENOUGH = 10, 10, 0.8


def run(command):
    result = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout[-2000:]}{result.stderr[-4000:]}")
    return result.stdout


def stopwatt(*words):
    return run([pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/stopwatt", *words])


class Kernel:
    """A kernel that the guest boots, with its governors."""

    def __init__(self, name, boots, governors, hz):
        self.name, self.boots, self.governors, self.hz = name, boots, governors, hz


def trace(work, workload, kernel, governor, which):
    """The trace of a run, and the release of its kernel."""
    path = work / f"{workload}-{kernel.name}-{governor}-{which}.trace"
    release = path.with_suffix(".release")
    if not (path.is_file() and release.is_file()):
        print(f"tracing {workload}, {governor} of {kernel.name}, run {which}", file=sys.stderr)
        partial = path.with_suffix(".partial")
        stay, seconds = RUNS[which]
        told = stopwatt("run", "linux-boot", "--kernel", kernel.boots, "--cpus", 2, "--cycles", 0, "--stay", stay,
                        "--trace-seconds", seconds * LONGER.get(workload, 1), "--workload", workload, "--governor", governor, "--trace", partial,
                        "--output", work / "linux-boot", "--replace")
        # The package's version: the release's name of 6.1 lacks its last number.
        package = re.search(r"linux-(?:image|binary)-\S+\s+(\d+\.\d+\.\d+)", told)
        release.write_text(package.group(1) if package else kernel.name)
        partial.rename(path)
    return path, release.read_text().strip()


def predictions(work, known, kind, observed, hz):
    """Errors by predictor, share in points and misses in percent: from the lower to the higher end."""
    told = json.loads(stopwatt("run", "idle-replay", known, "--predict", "--platform", PLATFORM, "--governors", kind, "--hz", hz, "--observed", observed,
                               "--output", work / "idle-predict", "--replace", "--format", "json"))
    errors = {}
    for row in told["rows"]:
        for key in ("share_error_points", "miss_error_percent"):
            # What was observed stands among the rows, without errors.
            if row[key] is not None:
                # Where both ends are the same, it is a number.
                ends = row[key] if isinstance(row[key], dict) else {"low": row[key], "high": row[key]}
                errors[row["predictor"], key] = (ends["low"], ends["high"])
    return errors


def worst(errors, predictor):
    """The worse end of an interval: points, percent."""
    return tuple(max(errors[predictor, metric], key=abs) for metric in ("share_error_points", "miss_error_percent"))


def pairs_of(workload, kernels, own):
    """What is predicted from what, as (kernel, governor): from each governor to the others of its kernel, and under the mixed workload to the next."""
    pairs = []
    for kernel in kernels + own:
        for governor in kernel.governors:
            pairs += [((kernel, governor), (kernel, other)) for other in kernel.governors if other != governor]
            if workload == "mixed" and kernel in kernels and len(kernels) > 1:
                following = kernels[(kernels.index(kernel) + 1) % len(kernels)]
                pairs += [((kernel, governor), (following, other)) for other in kernel.governors]
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", default="6.1,6.12,7")
    parser.add_argument("--workloads", default="mixed,idle,hackbench,sqlite,fio")
    parser.add_argument("--own", default="6.12", help="release of the kernel that is compiled, or none [default: 6.12]")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/predict")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    run(["cargo", "build", "--quiet", "--release", "--locked"])
    kernels = [Kernel(name, name, ["menu", "ladder"], 250) for name in arguments.kernels.split(",") if name]
    own = []
    if arguments.own != "none":
        built = ROOT / "target/bench/guest-kernel"
        built.mkdir(parents=True, exist_ok=True)
        image, version = guest_kernel.image(arguments.own, built)
        own = [Kernel(version, image, ["menu", "ladder", "teo"], 100)]
    predictors = ["closed loop", "open loop", "as traced", "second run"]
    print(f"{'':45}" + "".join(f" {name:>18}" for name in predictors))
    print(f"{'traced':22} {'predicted':22}" + "  points misses, %" * len(predictors) + "  closed loop, misses")
    held = count = 0
    errors_of = {name: [] for name in predictors}
    for workload in arguments.workloads.split(","):
        print(workload)
        for (kernel, governor), (to_kernel, to_governor) in pairs_of(workload, kernels, own):
            known, release = trace(work, workload, kernel, governor, "a")
            again, _ = trace(work, workload, to_kernel, to_governor, "a")
            observed, to_release = trace(work, workload, to_kernel, to_governor, "b")
            kind = "ladder" if to_governor == "ladder" else f"{to_governor}@{to_release}"
            errors = predictions(work, known, kind, observed, to_kernel.hz)
            repeated = predictions(work, again, kind, observed, to_kernel.hz)
            shown = {name: worst(errors, name) for name in predictors[:3]} | {"second run": worst(repeated, "as traced")}
            line = f"{f'{governor} of {release}':22} {f'{to_governor} of {to_release}':22}"
            for name, (share, misses) in shown.items():
                errors_of[name].append((share, abs(misses)))
                line += f" {share:7.1f} {misses:+9.1f}"
            ends = errors["closed loop", "miss_error_percent"]
            held += min(ends) <= 0 <= max(ends)
            count += 1
            # A tick of 100 Hz tells the kernel of ours from Debian's of the same release.
            own_kernel = ", teo and 100 Hz" if kernel in own else ""
            print(line + f" {min(ends):+7.1f}..{max(ends):+.1f}{own_kernel}", flush=True)
    within = {name: sum(share <= POINTS and misses <= PERCENT for share, misses in all_of) for name, all_of in errors_of.items()}
    for name, all_of in errors_of.items():
        middle = [statistics.median(column) for column in zip(*all_of)]
        print(f"{name}: {within[name]} of {count} pairs within {POINTS} points and {PERCENT} %; median {middle[0]:.1f} points and {middle[1]:.1f} %")
    print(f"closed loop: in {held} of {count} pairs the observed misses lie between the two ends of the prediction")
    sys.exit(0 if within["closed loop"] >= ENOUGH * count else 1)


if __name__ == "__main__":
    main()
