#!/usr/bin/env python3
"""What a read of each of the kernel's clocks takes inside a kernel: board/clock-reads in a guest's kernel, by instructions and beside ticks.

    bench/clock_reads.py [--release 6.12] [--work DIR]

Boots the kernel twice. With one CPU whose time is what it executed, a nanosecond an instruction, a figure is a count. With three, two
read while the ticks of one set the clock; those times are of an emulator, and say only by how much the longest round sticks out. Prints
one JSON object; fails where ktime_get takes no more than local_clock. Needs what bench/guest_kernel.py needs, and qemu-system-aarch64.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import guest_kernel

MODULE = guest_kernel.ROOT / "board/clock-reads/clock_reads.c"
LINE = re.compile(r"clock_reads: (\w+),(\d+),(\d+),(\d+),(\d+)")


def boot(image, *options):
    """What the module prints, by clock and CPUs that read: average, deviation and longest of a round, in nanoseconds a read."""
    machine = ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-nographic", "-no-reboot", "-nic", "none", *options]
    # Without files to go on with, the kernel panics, and leaves.
    command = [*machine, "-kernel", image, "-append", "console=ttyAMA0 panic=-1"]
    log = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600).stdout
    found = {}
    for clock, readers, *figures in LINE.findall(log):
        average, deviation, longest = (int(figure) / 1000 for figure in figures)
        found[f"{clock}, {readers} reading"] = {"average": average, "deviation": deviation, "longest": longest}
    return found or sys.exit(f"the kernel printed no figures:\n{log[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="6.12", help="of Debian's kernel sources [default: 6.12]")
    parser.add_argument("--work", type=pathlib.Path, default=guest_kernel.ROOT / "target/bench/clock-reads")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    image, version = guest_kernel.image(arguments.release, work, [MODULE])
    counted = boot(image, "-icount", "shift=0,sleep=off")
    beside = boot(image, "-smp", "3")
    print(json.dumps({"kernel": version, "instructions": counted, "ns_beside_a_tick": beside}, indent=2))
    average = [counted[f"{clock}, 1 reading"]["average"] for clock in ("ktime_get", "local_clock")]
    sys.exit(0 if average[0] > average[1] else "ktime_get takes no more than local_clock")


if __name__ == "__main__":
    main()
