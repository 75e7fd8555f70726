#!/usr/bin/env python3
"""Our graph against DPDK's rte_graph on this machine: alternating pairs, medians of their ratios.

    bench/compare.py [--pairs 10] [--seconds 1.0] [--install]

Needs Debian's libdpdk-dev, pkg-config and gcc (--install asks apt-get for them) and root, for huge pages. 64-byte packets, frames of 256,
16384 buffers cycled, 1000 routes; one flow, then 10 000.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
NEEDED_PAGES = 160


def run(command, **more):
    result = subprocess.run(command, capture_output=True, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def target():
    metadata = json.loads(run(["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=ROOT))
    return pathlib.Path(metadata["target_directory"])


def build(install):
    if install:
        run(["apt-get", "install", "-y", "-q", "libdpdk-dev", "pkg-config", "gcc"])
    if subprocess.run(["pkg-config", "--exists", "libdpdk"]).returncode != 0:
        sys.exit("libdpdk is not installed: run with --install as root, or `apt-get install libdpdk-dev pkg-config`")
    out = target() / "bench"
    out.mkdir(parents=True, exist_ok=True)
    flags = run(["pkg-config", "--cflags", "--libs", "libdpdk"]).split()
    theirs = out / "rte_graph"
    run(["gcc", "-O3", "-march=native", "-Wall", "-Werror=implicit-function-declaration", "-Wno-deprecated-declarations", "-DALLOW_EXPERIMENTAL_API", "-o", theirs, ROOT / "bench/rte_graph/main.c"] + flags + ["-lm"])
    run(["cargo", "build", "--release", "--quiet", "-p", "stopwatt"], cwd=ROOT)
    return theirs, target() / "release/stopwatt"


def rte_graph(binary, seconds, flows):
    text = run([binary, "--in-memory", "--no-pci", "--no-telemetry", "--log-level=1", "--vdev", "net_null0", "-l", "0", "--", str(seconds), str(flows), "1000"])
    return json.loads(text[text.index("{"):])


def stopwatt(binary, graph, seconds, flows, *more):
    text = run([binary, "run", "dataplane", "--graph", graph, "--windows", "1", "--window", str(int(seconds * 1000)), "--flows", str(flows), "--format", "json", "--replace", "--output", target() / "bench/recording", *more])
    result = json.loads(text)
    result["nodes"] = {node["name"]: node["clocks_per_packet"] for node in result["nodes"]}
    return result


OUR_IP4 = ["ip4-input", "ip4-lookup", "ip4-rewrite"]
THEIR_IP4 = ["pkt_cls", "ip4_lookup", "ip4_rewrite"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    theirs_binary, ours_binary = build(arguments.install)
    before = int(HUGE_PAGES.read_text())
    if before < NEEDED_PAGES:
        try:
            HUGE_PAGES.write_text(str(NEEDED_PAGES))
        except PermissionError:
            sys.exit(f"{NEEDED_PAGES} huge pages are needed: run as root")
    try:
        for flows in (1, 10_000):
            pairs(theirs_binary, ours_binary, arguments, flows)
    finally:
        HUGE_PAGES.write_text(str(before))


def pairs(theirs_binary, ours_binary, arguments, flows):
    ours, theirs, fused, l2 = [], [], [], []
    for _ in range(arguments.pairs):
        theirs.append(rte_graph(theirs_binary, arguments.seconds, flows))
        ours.append(stopwatt(ours_binary, "ip4-route", arguments.seconds, flows))
        fused.append(stopwatt(ours_binary, "ip4-fused", arguments.seconds, flows))
        l2.append(stopwatt(ours_binary, "l2-xconnect", arguments.seconds, flows))

    def total(result, names):
        return sum(result["nodes"][name] for name in names)

    def line(what, a, b, limit=None):
        ratios = [x / y for x, y in zip(a, b)]
        verdict = "" if limit is None else f"  limit {limit}: {'holds' if statistics.median(ratios) <= limit else 'MISSED'}"
        print(f"{what:<48}{statistics.median(a):>8.2f}{statistics.median(b):>8.2f}{statistics.median(ratios):>8.3f} ({min(ratios):.3f} to {max(ratios):.3f}){verdict}")

    limited = flows == 1
    print(f"\n{flows} flow{'s' if flows > 1 else ''}, {arguments.pairs} pairs, clocks per packet" + ("" if limited else " (no limits set)"))
    print(f"{'':<48}{'ours':>8}{'theirs':>8}{'ratio':>8}")
    three = [total(r, OUR_IP4) for r in ours]
    their_three = [total(r, THEIR_IP4) for r in theirs]
    whole, their_whole = [r["clocks_per_packet"] for r in ours], [r["clocks_per_packet"] for r in theirs]
    line("three IPv4 nodes (ours verify the checksum)", three, their_three, 1.4 if limited else None)
    line("whole path with generator and tx", whole, their_whole, 0.85 if limited else None)
    line("the three nodes in one loop", [r["nodes"]["ip4-fused"] for r in fused], their_three)

    def nodes(results):
        names = results[0]["nodes"]
        return ", ".join(f"{name} {statistics.median(r['nodes'][name] for r in results):.2f}" for name in names)

    print(f"  ours:   {nodes(ours)}")
    print(f"  theirs: {nodes(theirs)}")
    four = statistics.median(total(r, ["ethernet-input"] + OUR_IP4) for r in ours)
    three_l2 = statistics.median(total(r, ["ethernet-input", "l2-input", "l2-output"]) for r in l2)
    print(f"  four IPv4 nodes with ethernet-input {four:.2f}; three L2 nodes {three_l2:.2f}; price of modularity {statistics.median(three) - statistics.median(r['nodes']['ip4-fused'] for r in fused):.2f}")


if __name__ == "__main__":
    main()
