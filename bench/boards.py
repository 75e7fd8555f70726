#!/usr/bin/env python3
"""Boards of the mainline kernel as platforms: whether each device tree with idle states becomes one that idle-replay takes.

    bench/boards.py [--work DIR] [BOARD...]

Fetches Debian's package linux-source-6.12 (as bench/governors.py does, under an apt configuration of its own), takes the device trees out of it, and makes
a platform of each, or of those whose paths have one of the names BOARD in them. A tree without idle states must be refused for that reason, and one that
dtc refuses is counted. Ends with 1 if any other is refused, or idle-replay refuses a platform. Needs cpp, dtc, dpkg, xz and Rust. The package has 150 MB
and is deleted once read; what is kept is in the folder DIR, target/bench/boards by default.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import subprocess
import sys

import compare
import governors

PACKAGE = "linux-source-6.12"
WANTED = ["arch/arm/boot/dts", "arch/arm64/boot/dts", "arch/riscv/boot/dts", "include/dt-bindings", "include/uapi/linux/input-event-codes.h",
          "scripts/dtc/include-prefixes"]
# Why a tree is no platform, by words of the error.
REASONS = {"but WFI": "has no idle states", "are 0 nodes": "has no CPUs", "dtc refuses it": "is refused by dtc"}


def fetch(work):
    """The kernel's device trees."""
    source = work / PACKAGE
    if (source / WANTED[-1]).is_dir():
        return source
    options = governors.apt(work)
    governors.run(["apt-get", *options, "update", "-q"])
    print(f"fetching {PACKAGE}", file=sys.stderr)
    governors.run(["apt-get", *options, "download", "-q", PACKAGE], cwd=work)
    deb = next(work.glob(f"{PACKAGE}_*.deb"))
    wanted = " ".join(f"'{PACKAGE}/{path}'" for path in WANTED)
    unpack = (f"dpkg-deb --fsys-tarfile '{deb}' | tar -x --to-stdout --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc "
              f"| tar -x -C '{work}' --wildcards {wanted}")
    governors.run(["bash", "-o", "pipefail", "-c", unpack])
    deb.unlink()
    return source


def judged(program, work, tree):
    """What becomes of a tree, and the error where it is none of what may be."""
    made, recording = work / "made" / f"{tree.stem}.toml", work / "made" / tree.stem
    said = subprocess.run([program, "platform", "from", tree, "-o", made, "--replace"], capture_output=True, text=True)
    if said.returncode == 0:
        command = [program, "run", "idle-replay", "--platform", made, "-o", recording, "--replace"]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode == 0:
            return "is a platform, with powers" if "\noperating_point = [" in made.read_text() else "is a platform, without powers", None
    error = " ".join(said.stderr.replace("│", " ").split())
    return next(((why, None) for words, why in REASONS.items() if words in error), ("is refused", f"{tree}: {error}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", metavar="BOARD")
    parser.add_argument("--work", type=pathlib.Path, default=governors.ROOT / "target/bench/boards")
    options = parser.parse_args()
    (options.work / "made").mkdir(parents=True, exist_ok=True)
    source = fetch(options.work)
    governors.run(["cargo", "build", "--release", "--quiet"], cwd=governors.ROOT)
    program = compare.target() / "release/stopwatt"
    trees = sorted(tree for arch in ("arm", "arm64") for tree in (source / "arch" / arch / "boot/dts").rglob("*.dts"))
    trees = [tree for tree in trees if not options.boards or any(board in str(tree) for board in options.boards)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda tree: judged(program, options.work, tree), trees))
    for what, count in sorted(collections.Counter(what for what, _ in found).items()):
        print(f"{count:5} {what}")
    errors = [error for _, error in found if error]
    print("\n".join(errors[:20]))
    sys.exit(bool(errors) or not found)


if __name__ == "__main__":
    main()
