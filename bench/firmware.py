#!/usr/bin/env python3
"""Our firmware against Arm's own on the same emulated machine, in one run: instructions of each call, with and without what a product needs; and in
which functions the difference between builds of Arm's is.

    bench/firmware.py [--count 1000] [--work DIR] [--markdown]

Fetches Debian's source package arm-trusted-firmware, that of the machine's suite and that of the newest suite from which it can be had (under apt
configurations of their own: the machine's sources stay as they are), builds each for PLAT=qemu with the payload of `stopwatt payload` as its
normal world, and counts the calls of each build with `stopwatt run psci-calls --firmware`. Needs Debian's dpkg-dev, make, gcc, libssl-dev and gcc-aarch64-linux-gnu, QEMU for Arm, and Rust. Nothing of it is kept but
in the folder DIR, target/bench/firmware by default.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "arm-trusted-firmware"
PREFIX = "aarch64-linux-gnu-"
TARGET = "aarch64-unknown-none-softfloat"
# Suites of Debian whose source is the newer peer, newest first: a mirror may list a package that it does not hand out.
NEWER = ["sid", "forky", "trixie"]
# Name, options of make, what is in it that ours can be without.
THEIRS = [
    ("no workarounds", "WORKAROUND_CVE_2017_5715=0 WORKAROUND_CVE_2018_3639=0 DYNAMIC_WORKAROUND_CVE_2018_3639=0 WORKAROUND_CVE_2022_23960=0",
     "saves all 31 registers, waits for SErrors by DSB, sets SCR and CPTR on the way out, barrier behind ERET"),
    ("default", "", "the same, and vectors against CVE-2017-5715 and CVE-2022-23960 on cores that need them; at -Os"),
    # E=0: what optimises more also warns more, and warnings are errors otherwise.
    ("-O3", "CFLAGS=-O3 E=0", "as default, at -O3"),
    ("instrumented", "ENABLE_RUNTIME_INSTRUMENTATION=1 ENABLE_PMF=1", "as default, and its time stamps"),
    ("assertions", "ENABLE_ASSERTIONS=1", "as default, with assertions"),
    ("debug", "DEBUG=1", "the debug build: with assertions and messages up to INFO"),
]
# Of the first peer, the builds whose difference from the default is told by function.
BY_FUNCTION = ["instrumented", "-O3", "assertions"]
# Name, features of the package el3, what is in it.
OURS = [
    ("ours, bare", "plain", "saves 16 registers (the compiler keeps the others), barrier behind ERET"),
    ("ours, SErrors", "plain,serror", "the same; waits for SErrors on the way in and out, and sets SCR for whom they go to"),
    ("ours, predictor", "plain,predictor", "as bare; vectors against CVE-2017-5715 and CVE-2022-23960 on cores that need them"),
    ("ours, both (the default)", "plain,serror,predictor", "all of that"),
    ("ours, default, instrumented", "serror,predictor", "the same, and time stamps"),
]


def run(command, optional=False, **more):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode != 0 and not optional:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def need(programs):
    missing = [f"{program} (package {package})" for program, package in programs if not shutil.which(program)]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")


def sources(apt, suite):
    """Where this machine takes Debian's packages from, asked for sources instead, and for those of another suite if one is named."""
    deb822 = pathlib.Path("/etc/apt/sources.list.d/debian.sources")
    if suite and deb822.is_file():
        # The first entry is that of the archive; the others are of updates.
        entry = deb822.read_text().split("\n\n")[0].replace("Types: deb\n", "Types: deb-src\n")
        lines = [f"Suites: {suite}" if line.startswith("Suites:") else line for line in entry.splitlines()]
        listed = apt / deb822.name
        listed.write_text("\n".join(lines) + "\n")
        return listed
    for path, old, new in (("/etc/apt/sources.list.d/debian.sources", "Types: deb\n", "Types: deb-src\n"),
                           ("/etc/apt/sources.list", "\ndeb ", "\ndeb-src ")):
        path = pathlib.Path(path)
        text = "\n" + path.read_text() if path.is_file() else ""
        if old in text:
            listed = apt / path.name
            listed.write_text(text.replace(old, new).lstrip("\n"))
            return listed
    sys.exit("neither debian.sources nor sources.list of apt names a place for Debian's packages")


def fetch(work, suite=None):
    """The unpacked source package, of the machine's suite or another, fetched where it is not there; `None` if the suite does not hand it out."""
    found = list(work.glob(f"{PACKAGE}-*/Makefile"))
    if found:
        return found[0].parent
    apt = work / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    listed = sources(apt, suite)
    options = [f"-oDir::Etc::sourcelist={listed}", "-oDir::Etc::sourceparts=/dev/null", f"-oDir::State::lists={apt}/lists",
               f"-oDir::Cache={apt}/cache", "-oAPT::Sandbox::User=root"]
    run(["apt-get", *options, "update", "-q"], optional=suite)
    run(["apt-get", *options, "source", "-q", PACKAGE], cwd=work, optional=suite)
    found = list(work.glob(f"{PACKAGE}-*/Makefile"))
    return found[0].parent if found else None


def fetch_newer(work):
    """The source of the newest suite that hands it out."""
    for suite in NEWER:
        folder = work / suite
        folder.mkdir(exist_ok=True)
        source = fetch(folder, suite)
        if source:
            return source
        print(f"{suite} hands out no {PACKAGE}", file=sys.stderr)
    sys.exit(f"no suite of {', '.join(NEWER)} hands out {PACKAGE}")


def build_theirs(source, name, options, payload, work):
    build = work / "".join(c if c.isalnum() else "-" for c in name)
    # Older ones do not know a warning of today's linker.
    flags = "" if "rwx-segments" in (source / "Makefile").read_text() else "--no-warn-rwx-segments"
    environment = os.environ | {"TF_LDFLAGS": flags}
    run(["make", f"-j{os.cpu_count()}", "PLAT=qemu", f"CROSS_COMPILE={PREFIX}", f"BUILD_BASE={build}", f"BL33={payload}",
         *(options if "DEBUG=" in options else f"DEBUG=0 {options}").split(), "all", "fip"], cwd=source, env=environment)
    made = build / ("qemu/debug" if "DEBUG=1" in options else "qemu/release")
    flash = bytearray((made / "bl1.bin").read_bytes())
    assert len(flash) <= 256 << 10, "the package of the later stages lies behind the first 256 KiB"
    flash.extend(b"\xff" * ((256 << 10) - len(flash)))
    image = build / "flash.bin"
    image.write_bytes(flash + (made / "fip.bin").read_bytes())
    return image, made / "bl31/bl31.elf"


def build_ours(features, work):
    folder = work / "el3"
    run(["cargo", "build", "--quiet", "--release", "--locked", "--package", "el3", "--no-default-features", "--features", features,
         "--target-dir", folder], cwd=ROOT / "firmware")
    image = work / f"el3-{features.replace(',', '-')}.bin"
    run([f"{PREFIX}objcopy", "-O", "binary", folder / TARGET / "release/el3", image])
    return image


def count(stopwatt, image, arguments, recording, more=()):
    text = subprocess.run([stopwatt, "run", "psci-calls", "--firmware", image, "--count", str(arguments.count), "--format", "json", "--replace",
                           "-o", recording, *more], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {call["call"]: call["firmware"] for call in json.loads(text)["calls"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/firmware")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    need([("dpkg-source", "dpkg-dev"), ("make", "make"), ("gcc", "gcc"), (f"{PREFIX}gcc", "gcc-aarch64-linux-gnu"),
          ("qemu-system-aarch64", "qemu-system-arm"), ("cargo", "rustup")])
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    run(["cargo", "build", "--quiet", "--release", "-p", "stopwatt"], cwd=ROOT)
    metadata = json.loads(run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT))
    stopwatt = pathlib.Path(metadata["target_directory"]) / "release/stopwatt"
    payload = work / "payload.bin"
    run([stopwatt, "payload", "-o", payload], cwd=ROOT)

    peers = [fetch(work), fetch_newer(work)]
    rows, recordings = [], {}
    # Their port uses GICv2, so both do.
    for name, features, has in OURS:
        rows.append((name, has, count(stopwatt, build_ours(features, work), arguments, work / "recording", ["--gic", "2", "--payload-in-memory"])))
    for source in peers:
        # Its port to QEMU lacks the source of the PMF calls, which its EL3 monitor service needs.
        lacks_pmf = (source / "services/el3/ven_el3_svc.c").exists() and "pmf_smc.c" not in "".join(
            makefile.read_text() for makefile in (source / "plat/qemu").glob("**/*.mk"))
        version = source.name.removeprefix(PACKAGE + "-").removesuffix("+dfsg")
        for name, options, has in THEIRS:
            if lacks_pmf and "ENABLE_PMF=1" in options:
                continue
            print(f"TF-A {version}, {name}", file=sys.stderr)
            image, elf = build_theirs(source, f"{version}-{name}", options, payload, work)
            counts = count(stopwatt, image, arguments, image.parent / "counts", ["--gic", "2", "--symbols", elf])
            recordings[(version, name)] = image.parent / "counts"
            rows.append((f"TF-A {version}, {name}", f"{has}{f' ({options})' if options else ''}", counts))
    show(rows, " and ".join(source.name for source in peers), arguments)
    version = next(version for version, _ in recordings)
    for name in BY_FUNCTION:
        told = run([stopwatt, "compare", recordings[(version, "default")], recordings[(version, name)], "--format", "markdown"], optional=True)
        print(f"\nTF-A {version}, from default to {name}:\n" + told.split("\n\n- A ")[0].split("\n", 1)[1].strip())


def show(rows, theirs, arguments):
    calls = [call for call in rows[0][2] if all(call in counts for _, _, counts in rows)]
    if arguments.markdown:
        print("| instructions per call | " + " | ".join(name for name, _, _ in rows) + " |")
        print("| --- |" + " --- |" * len(rows))
        for call in calls:
            print(f"| {call} | " + " | ".join(f"{counts[call]:g}" for _, _, counts in rows) + " |")
    else:
        print(" " * 45 + "".join(f"{chr(ord('a') + index):>9}" for index in range(len(rows))))
        for call in calls:
            print(f"{call:<45}" + "".join(f"{counts[call]:>9g}" for _, _, counts in rows))
    print()
    for index, (name, has, _) in enumerate(rows):
        print(f"{chr(ord('a') + index)}  {name}: {has}")
    print(f"TF-A is Debian's source {theirs}. Mean of {arguments.count} calls, the caller's loop of 7 instructions included; Cortex-A57, GICv2, one world.")


if __name__ == "__main__":
    main()
