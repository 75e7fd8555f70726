#!/usr/bin/env python3
"""Do the laws of an answer hold for ten times the cases of CI? Prints a table: law, command, cases, broken.

    python3 bench/laws.py [--times 10] [--debug]

The laws are the tests `laws` of each crate that has some; a test prints a line for each law of a command.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("evidence", "comparison", "stopwatt")
LINE = re.compile(r"law (\d+) \((.+?)\), (.+), (\d+) cases, (\d+) broken")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", default=10, type=int, help="how many times the cases of CI")
    parser.add_argument("--debug", action="store_true", help="test an unoptimised build")
    options = parser.parse_args()
    packages = [word for name in PACKAGES for word in ("-p", name)]
    profile = [] if options.debug else ["--release"]
    command = ["cargo", "test", *profile, "--no-fail-fast", *packages, "--test", "all", "--", "laws", "--nocapture"]
    environment = {**os.environ, "LAWS_TIMES": str(options.times), "RUST_BACKTRACE": "0"}
    tests = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)
    rows, rest = {}, []
    for line in tests.stdout:
        if found := LINE.search(line):
            law, name, of, cases, broken = found.groups()
            counts = rows.setdefault((int(law), name, of), [0, 0])
            counts[0] += int(cases)
            counts[1] += int(broken)
        else:
            rest.append(line)
    status = tests.wait()
    print(f"{'law':18} {'command':24} {'cases':>6} {'broken':>6}")
    for (law, name, of), (cases, broken) in sorted(rows.items()):
        print(f"{law:2} {name:15} {of:24} {cases:6} {broken:6}")
    if status != 0:
        sys.exit("".join(rest) + "a law is broken, or its test failed")


if __name__ == "__main__":
    main()
