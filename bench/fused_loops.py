#!/usr/bin/env python3
"""Does a compiler fuse two loops over the packets of a frame, and so change the order of their accesses? Compiles such a pair with the compilers
that are there, for this machine and for aarch64, and counts the loops that are left.

    bench/fused_loops.py

Needs gcc or clang, and binutils; gcc-aarch64-linux-gnu for the second machine.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = """
struct buffer { unsigned header, flags, length, data[29]; };
void run(struct buffer **restrict frame, unsigned *restrict lengths, unsigned *restrict sums, int n)
{
    for (int i = 0; i < n; i++)
        lengths[i] = frame[i]->length;
    for (int i = 0; i < n; i++)
        sums[i] = frame[i]->data[0] + frame[i]->data[16];
}
"""
COMPILERS = [("gcc", "objdump"), ("clang", "objdump"), ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump")]
# Neither unrolled nor in vectors: a loop is one branch backwards.
OPTIONS = ["-O3", "-fno-unroll-loops", "-fno-tree-vectorize", "-fno-vectorize"]


def loops(compiler, objdump, folder):
    """The branches backwards in the code of both loops."""
    source, made = folder / "loops.c", folder / "loops.o"
    source.write_text(SOURCE)
    options = OPTIONS[:3] if "gcc" in compiler else [OPTIONS[0], OPTIONS[1], OPTIONS[3]]
    subprocess.run([compiler, *options, "-c", source, "-o", made], check=True)
    listing = subprocess.run([objdump, "-d", "--no-show-raw-insn", made], check=True, capture_output=True, text=True).stdout
    jump = re.compile(r"^\s*([0-9a-f]+):\s+(?:j\w+|b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+,\s*#\w+,)\s+([0-9a-f]+)", re.M)
    return sum(int(to, 16) <= int(at, 16) for at, to in jump.findall(listing))


def main():
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for compiler, objdump in COMPILERS:
            if shutil.which(compiler) and shutil.which(objdump):
                version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
                left = loops(compiler, objdump, pathlib.Path(folder))
                found.append({"compiler": version, "loops": left, "fused": left < 2})
    print(json.dumps(found, indent=2))
    sys.exit(0 if found else "there is no compiler: apt-get install gcc")


if __name__ == "__main__":
    main()
