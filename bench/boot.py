#!/usr/bin/env python3
"""Boots Linux on our firmware on machines of each kind: two of Debian's kernels, models of cores, sizes, interrupt controllers. Each boot unplugs
CPUs, enters each idle state, comes back from a cold and a warm reset, and powers off. Exit status 1 if one of them fails.

    bench/boot.py [--work DIR]

Needs apt, QEMU for Arm, and Rust. Recordings go to the folder DIR, target/bench/boot by default.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Kernel by the begin of its version, model of the cores, number of CPUs, version of the interrupt controller, further options. Each value of a column
# stands beside several values of the others.
MACHINES = [
    ("6.1", "cortex-a57", 4, 3, ""),
    ("6.12", "cortex-a57", 8, 2, "--virtualization"),
    ("6.1", "cortex-a53", 1, 2, ""),
    ("6.12", "cortex-a53", 17, 3, "--suspend-mode os-initiated"),
    ("6.1", "cortex-a35", 17, 3, "--virtualization"),
    ("6.12", "cortex-a35", 1, 2, ""),
    ("6.1", "cortex-a72", 8, 2, "--virtualization"),
    ("6.12", "cortex-a72", 4, 3, ""),
    ("6.1", "cortex-a76", 4, 3, "--suspend-mode os-initiated"),
    ("6.12", "cortex-a76", 8, 3, "--virtualization"),
    ("6.1", "neoverse-n1", 8, 2, ""),
    ("6.12", "neoverse-n1", 4, 3, "--virtualization"),
    ("6.1", "max", 4, 3, "--virtualization --suspend-mode os-initiated"),
    ("6.12", "max", 4, 2, ""),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/boot")
    work = parser.parse_args().work.resolve()
    print(f"{'kernel':<8} {'core':<12} {'CPUs':>4} {'GIC':>3} {'options':<46} result")
    failed = 0
    for kernel, core, cpus, gic, options in MACHINES:
        command = ["cargo", "run", "--quiet", "--release", "--", "--quiet", "run", "linux-boot", "--kernel", kernel, "--cpu", core, "--cpus", str(cpus),
                   "--gic", str(gic), "--cycles", "2" if cpus > 1 else "0", "--replace", "-o", work / "recording", *options.split()]
        result = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        failed += result.returncode != 0
        print(f"{kernel:<8} {core:<12} {cpus:>4} {gic:>3} {options:<46} {'fails' if result.returncode else 'boots'}", flush=True)
        if result.returncode:
            print(result.stdout[-2000:])
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
