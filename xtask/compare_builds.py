#!/usr/bin/env python3
"""Compares what two builds of Stopwatt leave behind and print: `compare_builds.py BEFORE AFTER`, two programs.

Needs Python's duckdb (`pip install duckdb`). Each program runs in an empty folder, with the data that it was built with. Rows of
events and measures must be the same, in the same order, in every column that BEFORE wrote; JSON must have the same keys and values, and may
have more. What differs is printed; the exit status is 1 if something does. `--qemu` also compares what real firmware counts; it is built
from the working folder, which must be a checkout.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("before", type=pathlib.Path)
parser.add_argument("after", type=pathlib.Path)
parser.add_argument("--qemu", action="store_true", help="also run the firmware on QEMU")
options = parser.parse_args()
differences = 0
# What names a place or a time, and so differs from run to run.
PLACES = {"recording", "recorded", "when", "command", "data", "source"}


def say(what, found):
    """Prints a line for each difference, or that there is none."""
    global differences
    differences += len(found)
    print(f"{what}: " + ("the same" if not found else f"{len(found)} differences"))
    for line in found[:20]:
        print(f"  {line}")
    if len(found) > 20:
        print(f"  ... and {len(found) - 20} more")


def run(program, folder, arguments):
    """What a program prints in a folder; its exit status stands in front."""
    done = subprocess.run([program.resolve(), *arguments], capture_output=True, text=True, cwd=folder)
    if done.returncode == 2:
        sys.exit(f"{program} {' '.join(arguments)}:\n{done.stderr}")
    return done.returncode, done.stdout


def rows(what, before, after):
    """Compares two Parquet files by the columns of the first."""
    columns = [c[0] for c in duckdb.sql(f"DESCRIBE SELECT * FROM '{before}'").fetchall()]
    more = [c[0] for c in duckdb.sql(f"DESCRIBE SELECT * FROM '{after}'").fetchall() if c[0] not in columns]
    chosen = ", ".join(f'"{column}"' for column in columns)
    one, two = (duckdb.sql(f"SELECT {chosen} FROM '{file}'").fetchall() for file in (before, after))
    found = [f"{len(one)} rows before, {len(two)} after"] if len(one) != len(two) else []
    found += [f"row {n}: {a} -> {b}" for n, (a, b) in enumerate(zip(one, two)) if a != b]
    say(f"{what}, {len(one)} rows" + (f", new columns {', '.join(more)}" if more else ""), found)


def named(entries):
    """The entries of a list by their names; empty where they have none."""
    return {entry["name"]: entry for entry in entries if isinstance(entry, dict) and "name" in entry}


def values(path, before, after):
    """What is missing or has another value in `after`, as lines."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key in PLACES:
                continue
            if key not in after:
                yield f"{path}.{key} is gone"
            else:
                yield from values(f"{path}.{key}", value, after[key])
    elif isinstance(before, list) and isinstance(after, list) and named(before) and named(after):
        # What has a name is the same thing wherever it stands.
        yield from values(path, named(before), named(after))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) > len(after):
            yield f"{path}: {len(before)} entries before, {len(after)} after"
        for n, (a, b) in enumerate(zip(before, after)):
            yield from values(f"{path}[{n}]", a, b)
    elif before != after:
        yield f"{path}: {before!r} -> {after!r}"


def main():
    with tempfile.TemporaryDirectory() as scratch:
        place = {side: pathlib.Path(scratch) / side for side in ("before", "after")}
        program = {"before": options.before, "after": options.after}
        for folder in place.values():
            folder.mkdir()

        def both(name, arguments, output=None):
            """Runs both; `output` is the name of a recording that they are to leave."""
            more = ["-o", output] if output else []
            return {side: run(program[side], place[side], arguments + more) for side in place}

        def compare_json(name, arguments, output=None):
            said = both(name, arguments + ["--format", "json"], output)
            found = list(values("", json.loads(said["before"][1]), json.loads(said["after"][1])))
            if said["before"][0] != said["after"][0]:
                found.append(f"exit status {said['before'][0]} -> {said['after'][0]}")
            say(f"json of {name}", found)

        compare_json("run psci-latency", ["run", "psci-latency"], "latency")
        for file in ("events.parquet", "measures.parquet"):
            rows(f"psci-latency, {file}", *(place[side] / "latency" / file for side in ("before", "after")))
        compare_json("run prefetch --world sim", ["run", "prefetch", "--world", "sim"], "prefetch")
        compare_json("report", ["report", "latency"])
        compare_json("compare", ["compare", "latency@juno-v2.11", "latency@juno-v2.12"])
        compare_json("what-if", ["what-if", "psci-latency", "--vary", "scp.channels=1,2", "--vary", "topology.clusters=1..3"])
        compare_json("list", ["list"])
        compare_json("calibrate --check", ["calibrate", "--check"])
        for kind in ("csv", "markdown", "rst"):
            said = both(kind, ["report", "latency", "--format", kind])
            lines = [text.splitlines() for _, text in said.values()]
            changed = [f"{a!r} -> {b!r}" for a, b in zip(*lines) if a != b and "recorded" not in a and "stopwatt" not in a]
            say(f"report as {kind}", changed + ([] if len(lines[0]) == len(lines[1]) else ["another number of lines"]))
        if options.qemu:
            # The firmware is built from a checkout: the working folder.
            here = pathlib.Path.cwd()
            calls = {
                side: run(program[side], here, ["run", "psci-calls", "--format", "json", "-o", str(place[side] / "calls")])
                for side in place
            }
            say("json of run psci-calls", list(values("", *(json.loads(text) for _, text in calls.values()))))
    print(f"{differences} differences in all")
    return 1 if differences else 0


sys.exit(main())
