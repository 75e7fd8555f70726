#!/usr/bin/env python3
"""Counts the calls of our firmware by function in two versions of QEMU: the installed one, and that of Debian's backports. They have different
versions of the interface for plugins. Exit status 1 if a count differs.

    bench/emulators.py [--count 100] [--work DIR]

Fetches Debian's package qemu-system-arm of backports under an apt configuration of its own, and unpacks it in the folder DIR
(target/bench/emulators by default): the machine's own packages stay as they are. Needs dpkg, QEMU for Arm, and Rust.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

import governors

ROOT = governors.ROOT
EMULATOR = "qemu-system-aarch64"
PACKAGES = ["qemu-system-arm", "qemu-system-common", "qemu-system-data"]


def newer(work):
    """The folder of the programs of the newer QEMU, fetched if it is not there."""
    programs = work / "unpacked/usr/bin"
    if not (programs / EMULATOR).exists():
        options = governors.apt(work)
        suite = platform.freedesktop_os_release()["VERSION_CODENAME"] + "-backports"
        listed = work / "apt/sources.list"
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        listed.write_text(f"deb [signed-by={key}] {governors.archive()} {suite} main\n")
        governors.run(["apt-get", *options, "update", "-q"])
        governors.run(["apt-get", *options, "download", "-q", *PACKAGES], cwd=work)
        for package in work.glob("*.deb"):
            governors.run(["dpkg-deb", "-x", package, work / "unpacked"])
    return programs


def counts(path, count, recording):
    """The version of the emulator that this search path finds first, and the counts that it gives."""
    environment = os.environ | {"PATH": path}
    version = subprocess.run([EMULATOR, "--version"], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.split()[3]
    command = ["cargo", "run", "--quiet", "--release", "--", "run", "psci-calls", "--by-function", "--count", str(count), "--format", "json",
               "--replace", "-o", recording]
    told = json.loads(subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return version, told["calls"], told["by_function"]["passages"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/emulators")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    paths = [os.environ["PATH"], f"{newer(work)}:{os.environ['PATH']}"]
    (old, old_calls, old_passages), (new, new_calls, new_passages) = [counts(path, arguments.count, work / "recording") for path in paths]
    print(f"{'instructions per call':<48} {'QEMU ' + old:>12} {'QEMU ' + new:>12}")
    differ = old_passages != new_passages
    for a, b in zip(old_calls, new_calls, strict=True):
        # What is read from the machine's clock may differ by a tick.
        differ |= abs(a["plain"] - b["plain"]) > a["uncertainty"]
        print(f"{a['call']:<48} {a['plain']:>12g} {b['plain']:>12g}")
    print(f"By function, {len(old_passages)} passages: {'they differ' if differ else 'the same in both'}.")
    sys.exit(differ)


if __name__ == "__main__":
    main()
