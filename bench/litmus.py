#!/usr/bin/env python3
"""Answers of `stopwatt explore litmus` beside those of herd7, on cycles of edges, on drawn tests and on those of pairs, arrays and selects in
explorer/litmus/tests/wider: verdicts, all final states, and the time that both take.

    bench/litmus.py [--drawn 300] [--work DIR]

Fetches Debian's herdtools7 and the C library that it needs (under an apt configuration of its own: the machine's sources stay as they are), and unpacks
them into the folder DIR, target/bench/litmus by default. The tests are the cycles of explorer/litmus/tests/cycles.txt, of which a part has
read-modify-writes, bytes and halfwords, and tests of drawn instructions (drawn_litmus.py). Ends with 1 if one answer differs. Needs apt, dpkg and Rust.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import drawn_litmus
import governors

ROOT = governors.ROOT
PACKAGES = ["herdtools7", "libc6", "libgmp10"]
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def herd7(work):
    """The command of herd7, which runs with its own C library."""
    root = work / "root"
    if not (root / "usr/bin/herd7").is_file():
        options = governors.apt(work)
        governors.run(["apt-get", *options, "update", "-q"])
        governors.run(["apt-get", *options, "download", "-q", *(f"{package}/sid" for package in PACKAGES)], cwd=work)
        root.mkdir(exist_ok=True)
        for deb in sorted(work.glob("*.deb")):
            governors.run(["dpkg-deb", "-x", deb, root])
            deb.unlink()
    libraries = root / LIBRARIES
    return [libraries / "ld-linux-x86-64.so.2", "--library-path", libraries, root / "usr/bin/herd7", "-set-libdir", root / "usr/share/herdtools7/herd"]


def timed(command):
    """Its output, its status, and how long it took, in seconds."""
    begin = time.monotonic()
    result = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return result, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=300)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/litmus")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    herd = herd7(work)
    governors.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", "stopwatt-explore"], cwd=ROOT)
    tests = work / "tests"
    shutil.rmtree(tests, ignore_errors=True)
    tests.mkdir()
    cycles = (ROOT / "explorer/litmus/tests/cycles.txt").read_text().strip().split("\n\n")
    with (tests / "@all").open("w") as listed:
        for text in cycles:
            name = text.split(maxsplit=2)[1]
            (tests / f"{name}.litmus").write_text(text + "\n")
            listed.write(f"{name}.litmus\n")
    wider = sorted((ROOT / "explorer/litmus/tests/wider").glob("*.litmus"))
    with (tests / "@all").open("a") as listed:
        for file in wider:
            shutil.copy(file, tests)
            listed.write(f"{file.name}\n")
        for name, text in map(drawn_litmus.drawn, range(arguments.drawn)):
            (tests / f"{name}.litmus").write_text(text)
            listed.write(f"{name}.litmus\n")
    count = len(cycles) + len(wider)
    theirs, their_time = timed([*herd, "-timeout", "10", tests / "@all"])
    expected = work / "herd7.expected"
    expected.write_text(theirs.stdout)
    answered = theirs.stdout.count("\nObservation ")
    # Some drawn tests take herd7 too long, and have no answer of its.
    if answered < count:
        sys.exit(f"herd7 answered {answered} of {count} tests:\n{theirs.stderr[-2000:]}")
    stopwatt = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/stopwatt-explore"
    ours, our_time = timed([stopwatt, "litmus", tests / "@all", "--expect", expected])
    print(ours.stdout[-4000:] + ours.stderr, end="")
    for seen in ("Sometimes", "Never", "Always"):
        count = sum(line.startswith("Observation ") and line.split()[2] == seen for line in theirs.stdout.splitlines())
        print(f"herd7: {seen} in {count}")
    print(f"herd7 takes {their_time:.1f} s, stopwatt {our_time:.2f} s: {their_time / our_time:.0f} times as long")
    sys.exit(ours.returncode)


if __name__ == "__main__":
    main()
