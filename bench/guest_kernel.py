#!/usr/bin/env python3
"""A kernel for the Linux guest with what Debian's kernels for arm64 lack: the governor teo, and a tick of 100 Hz.

    bench/guest_kernel.py [--release 6.12] [--work DIR]

Fetches Debian's package linux-source-RELEASE (under an apt configuration of its own: the machine's sources stay as they are), configures it with
bench/guest_kernel.config on top of the kernel's tinyconfig, and compiles it. Prints the image's place, which `stopwatt run linux-boot --kernel` takes.
An image that is there is not made again. Needs dpkg, xz, make, bc, flex, bison and gcc-aarch64-linux-gnu (Debian's packages of these names, and
gcc), 2 GB of disk and some ten minutes. The folder DIR is target/bench/guest-kernel by default.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys

import governors

ROOT = governors.ROOT
OPTIONS = ROOT / "bench/guest_kernel.config"
# What is compiled with, and Debian's packages of it.
TOOLS = {"make": "make", "bc": "bc", "flex": "flex", "bison": "bison", "gcc": "gcc", "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu"}


def image(release, work, drivers=()):
    """The image and its version, such as 6.12.48, with these files of C as drivers; made if it is not there."""
    ready = sorted(work.glob(f"{release}.*.image"))
    if ready:
        return ready[-1], ready[-1].name.removesuffix(".image")
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        sys.exit(f"a kernel cannot be compiled here: apt-get install {' '.join(missing)}")
    options = governors.apt(work)
    governors.run(["apt-get", *options, "update", "-q"])
    package = f"linux-source-{release}"
    print(f"fetching {package}", file=sys.stderr)
    governors.run(["apt-get", *options, "download", "-q", package], cwd=work)
    deb = next(work.glob(f"{package}_*.deb"))
    version = re.search(r"_([\d.]+)", deb.name).group(1)
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    unpack = f"dpkg-deb --fsys-tarfile '{deb}' | tar -x --to-stdout --wildcards './usr/src/linux-source-*.tar.xz' | tar -xJ -C '{source}' --strip-components=1"
    governors.run(["bash", "-o", "pipefail", "-c", unpack])
    deb.unlink()
    for driver in drivers:
        shutil.copy(driver, source / "drivers/misc")
        with (source / "drivers/misc/Makefile").open("a") as makefile:
            makefile.write(f"obj-y += {driver.stem}.o\n")
    print(f"compiling Linux {version}", file=sys.stderr)
    make = ["make", "-C", source, "ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-"]
    governors.run([*make, "tinyconfig"])
    with (source / ".config").open("a") as config:
        config.write(OPTIONS.read_text())
    governors.run([*make, "olddefconfig"])
    check(source / ".config")
    governors.run([*make, f"-j{os.cpu_count()}", "Image"])
    place = work / f"{version}.image"
    shutil.copy(source / "arch/arm64/boot/Image", place.with_suffix(".partial"))
    place.with_suffix(".partial").rename(place)
    shutil.rmtree(source)
    return place, version


def check(config):
    """Names the options that this kernel does not take: without one of them the guest would do other than it says."""
    taken = set(config.read_text().splitlines())
    wanted = [line for line in OPTIONS.read_text().splitlines() if line.startswith("CONFIG_") and not line.endswith("=n")]
    refused = [line for line in wanted if line not in taken]
    if refused:
        sys.exit(f"{OPTIONS.name}: this kernel does not take {', '.join(refused)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="6.12", help="the package's release, such as 6.1 or 6.12 [default: 6.12]")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/guest-kernel")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    print(image(arguments.release, work)[0])


if __name__ == "__main__":
    main()
