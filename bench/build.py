#!/usr/bin/env python3
"""The CPU time of a first release build beside that of an earlier commit, built in turn on this machine.

    bench/build.py [--pairs 1] [--work DIR]

Seconds of one machine say little about another: nearly the same code has taken 531 s and 944 s. So the limit on a first build, `release-seconds` in
xtask/limits.toml, holds for its quotient: with the limit and `seconds` of `commit` there, a build of HEAD may take at most limit / seconds times what
that commit's takes now. Each build begins in an empty folder below DIR, target/bench/build by default, with the crates fetched before. Ends with 1
above the limit. Needs Rust, git with that commit, and an otherwise quiet machine; about 20 minutes a pair on two cores.
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def used_seconds():
    """The CPU seconds of all processes that ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def build(source, target):
    """The CPU seconds of a first release build of the program from `source`."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=source, check=True)
    before = used_seconds()
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked"], cwd=source, env=environment, check=True)
    seconds = used_seconds() - before
    shutil.rmtree(target)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/build")
    arguments = parser.parse_args()
    limit = tomllib.loads((ROOT / "xtask/limits.toml").read_text())["release-seconds"]
    work = arguments.work.resolve()
    commits = {"before": limit["commit"], "today": "HEAD"}
    quotients = []
    try:
        for name, commit in commits.items():
            subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", str(work / name), commit], cwd=ROOT, check=True)
        for _ in range(arguments.pairs):
            seconds = {}
            for name, commit in commits.items():
                seconds[name] = build(work / name, work / "target")
                print(f"{commit}: {seconds[name]:.0f} s of CPU time", flush=True)
            quotients.append(seconds["today"] / seconds["before"])
    finally:
        for name in commits:
            subprocess.run(["git", "worktree", "remove", "--force", str(work / name)], cwd=ROOT, check=False)
    quotient, most = statistics.median(quotients), limit["limit"] / limit["seconds"]
    print(f"a build of HEAD takes {quotient:.2f} times that of {limit['commit']}; the limit is {most:.2f}, the aim {limit['aim'] / limit['seconds']:.2f}")
    raise SystemExit(quotient > most)


if __name__ == "__main__":
    main()
