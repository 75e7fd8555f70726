#!/usr/bin/env python3
"""`stopwatt import ftrace` against idlestat on one large trace: CPU seconds and peak memory, and their ratios. Then the time that replaying
all governors on it takes, reading the recording included.

    bench/idlestat.py [--lines 3000000] [--cpus 8] [--rounds 5] [--install]

Needs Debian's idlestat (--install asks apt-get for it). The trace is made here: idle events only, with topology and idle
states before them as idlestat writes them itself, for otherwise it looks for both on this machine and crashes. What it says is printed if it fails.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def make(path, lines, cpus):
    """Each CPU enters a state and leaves it again; stays from 20 us to 20 ms."""
    chance = random.Random(1)
    state = [None] * cpus
    time_us = [1_000_000_000 + cpu for cpu in range(cpus)]
    with open(path, "w") as file:
        file.write(f"idlestat version = 0.8\ncpus={cpus}\nclusterA:\n")
        file.writelines(f"\tcore{cpu}\n\t\tcpu{cpu}\n" for cpu in range(cpus))
        for cpu in range(cpus):
            file.write(f"cpuid {cpu}:\n")
            file.writelines(f"\t{f'state{state}' if state < 3 else '(null)'}\n\t{[1, 500, 2000][state] if state < 3 else 0}\n" for state in range(16))
        for _ in range(lines):
            cpu = min(range(cpus), key=time_us.__getitem__)
            state[cpu] = chance.randrange(3) if state[cpu] is None else None
            entered = 4294967295 if state[cpu] is None else state[cpu]
            seconds, us = divmod(time_us[cpu], 1_000_000)
            file.write(f"          <idle>-0       [{cpu:03}] d..2.  {seconds}.{us:06}: cpu_idle: state={entered} cpu_id={cpu}\n")
            time_us[cpu] += chance.randrange(20, 20_000)


def cost(command):
    """CPU seconds and peak memory in MB of a command; what it printed if it failed."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(list(map(str, command)), stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        output.seek(0)
        said = output.read().decode(errors="replace")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=3_000_000)
    parser.add_argument("--cpus", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    if arguments.install:
        subprocess.run(["apt-get", "install", "-y", "-q", "idlestat"], check=True)
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "stopwatt"], cwd=ROOT, check=True)
    metadata = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT, check=True, capture_output=True).stdout)
    stopwatt = pathlib.Path(metadata["target_directory"]) / "release/stopwatt"
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.txt"
        make(trace, arguments.lines, arguments.cpus)
        print(f"{arguments.lines} lines, {trace.stat().st_size / 1e6:.0f} MB, {arguments.cpus} CPUs")
        commands = {
            "idlestat": ["idlestat", "--import", "-f", trace, "-o", pathlib.Path(folder) / "report", "-c"],
            "stopwatt, summary": [stopwatt, "import", "ftrace", trace],
            "stopwatt, recording": [stopwatt, "import", "ftrace", trace, "--output", pathlib.Path(folder) / "recording"],
        }
        seen = {name: [] for name in commands}
        for _ in range(arguments.rounds):
            for name, command in commands.items():
                seconds, memory, status, said = cost(command)
                if status != 0:
                    sys.exit(f"{name} failed with status {status}:\n{said}")
                seen[name].append((seconds, memory))
        theirs = [seconds for seconds, _ in seen["idlestat"]]
        for name, costs in seen.items():
            ratios = [seconds / their for (seconds, _), their in zip(costs, theirs)]
            print(f"{name:20} {statistics.median(seconds for seconds, _ in costs):6.2f} s  {max(memory for _, memory in costs):6.1f} MB  ratio {statistics.median(ratios):.2f}")
        replay = [stopwatt, "run", "idle-replay", pathlib.Path(folder) / "recording", "--platform", "juno-r2", "--output", pathlib.Path(folder) / "replay"]
        took = []
        for _ in range(arguments.rounds):
            begin = time.monotonic()
            seconds, memory, status, said = cost(replay)
            if status != 0:
                sys.exit(f"the replay failed with status {status}:\n{said}")
            took.append((time.monotonic() - begin, seconds, memory))
        passed, seconds, memory = (statistics.median(column) for column in zip(*took))
        print(f"replay of all governors: {passed:.2f} s passed, {seconds:.2f} s of CPU, {memory:.0f} MB")


if __name__ == "__main__":
    main()
