#!/usr/bin/env python3
"""Counts the instructions per packet of the nodes of a cross connect on aarch64, by QEMU's plugin.

    python3 bench/node_instructions.py

It builds `crates/code/dataplane/examples/node_instructions.rs` for aarch64, and runs it once for
each node under qemu-aarch64 with the plugin of `crates/worlds/tcg-plugin`. The counts are exact: they
are those of the code, and no machine's speed is part of them. Debian: qemu-user
gcc-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu; rustup target add
aarch64-unknown-linux-gnu.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "aarch64-unknown-linux-gnu"
FRAME = 256
# Our nodes, by the names that the graph gives them, with a part of their symbols.
OURS = {
    "ethernet-input": "EthernetInput as",
    "l2-input": "l2::L2 as",
    "l2-output": "l2::L2 as",
    "output": "InterfaceOutput as",
    "tx": "InterfaceTx as",
}
PER_PACKET = ["ethernet-input", "l2-input", "l2-output", "output", "tx"]
# The first passages of a node may be of a cold start.
PASSAGES = 8


def program():
    """Builds the program with its symbols; returns its path."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    settings = {
        "CARGO_PROFILE_RELEASE_STRIP": "none",
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc",
        "RUSTFLAGS": "-C target-feature=+crt-static -C relocation-model=static",
    }
    arguments = ["cargo", "build", "--quiet", "--release", "--target", TARGET, "-p", "dataplane"]
    subprocess.run(arguments + ["--example", "node_instructions"], cwd=ROOT, env=os.environ | settings, check=True)
    return target / TARGET / "release/examples/node_instructions"


def plugin(folder):
    """Compiles the plugin for this machine; returns its path."""
    to = Path(folder) / "counts.so"
    source = ROOT / "crates/worlds/tcg-plugin/src/lib.rs"
    options = ["--crate-type", "cdylib", "--edition", "2024", "-O", "-C", "panic=abort", "--cap-lints", "allow"]
    subprocess.run(["rustc", "--crate-name", "tcg_plugin", *options, source, "-o", to], check=True)
    return to


def symbols(path):
    """The functions of a program: (name, address)."""
    told = subprocess.run(["aarch64-linux-gnu-nm", "-C", path], check=True, capture_output=True, text=True).stdout
    return [(name, address) for address, name in re.findall(r"^([0-9a-f]+) [tT] (.*)$", told, re.MULTILINE)]


def count(path, plugin_path, address, folder):
    """Instructions per packet of the last of some calls of a function, and of those its last prefetches."""
    out = Path(folder) / "counts"
    of = f"file={plugin_path},out={out},from={address},most={PASSAGES}"
    subprocess.run(["qemu-aarch64", "-plugin", of, path], check=True, capture_output=True)
    passages = [[]]
    for line in out.read_text().splitlines():
        words = line.split()
        if words[0] == "at":
            passages[-1].append((int(words[3], 16), int(words[4])))
        elif words[0] == "end":
            passages.append([])
    last = [passage for passage in passages if passage][-1]
    # PRFM, immediate, register and literal.
    is_prefetch = lambda code: code >> 22 == 0b1111100110 or code >> 21 == 0b11111000101 or code >> 24 == 0b11011000
    all_of = sum(times for _, times in last)
    return all_of / FRAME, sum(times for code, times in last if is_prefetch(code)) / FRAME


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    path = program()
    found = symbols(path)
    with tempfile.TemporaryDirectory() as folder:
        plugin_path = plugin(folder)

        def of(part):
            address = next(address for name, address in found if part in name and not name.startswith("core::"))
            return count(path, plugin_path, address, folder)

        ours = {name: of(part) for name, part in OURS.items()}
        per_packet = {name: of("per_packet_" + name.replace("-", "_")) for name in PER_PACKET}
        single = of("per_packet_single_loop")
    text = f"# Instructions on aarch64 per packet of frames of {FRAME}, without prefetches, which cost the modelled core a time of their own.\n"
    text += "\n# The loop to which the modelled core's work was fitted: one packet an iteration.\n"
    text += f"single_loop = {single[0] - single[1]:.2f}\n"
    for title, about, counts in [
        ("ours", "Our own nodes: data about a packet lies in lanes of the frame, and the two of L2 decide once a frame.", ours),
        ("per_packet", "The same nodes with metadata in front of each packet, and a decision for each.", per_packet),
    ]:
        text += f"\n# {about}\n[{title}]\n"
        text += "".join(f"{name} = {all_of - prefetches:.2f}\n" for name, (all_of, prefetches) in counts.items())
    print(text, end="")


if __name__ == "__main__":
    main()
