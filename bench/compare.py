#!/usr/bin/env python3
"""Our graph against DPDK's rte_graph on this machine: alternating pairs, medians of their ratios with intervals, over the number of buffers.

    bench/compare.py [--pairs 10] [--seconds 1.0] [--buffers 512,2048,16384,65536] [--flows 1,10000] [--burst 256] [--outputs 1] [--json FILE] [--install]

Needs Debian's libdpdk-dev, pkg-config and gcc (--install asks apt-get for them) and root, for huge pages. 64-byte packets, 1000 routes.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HUGE_PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
# Of 2 MiB: 65 536 buffers of 2.3 KiB, and DPDK's own.
NEEDED_PAGES = 160
ROUTES = 1000
# A pair of nodes faces another: ours verify lengths, TTL and checksum, theirs nothing.
OUR_IP4 = ["ip4-input", "ip4-lookup", "ip4-rewrite"]
THEIR_IP4 = ["pkt_cls", "ip4_lookup", "ip4_rewrite"]
SOURCES = {"pg-input", "bench_source"}


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
    # The last -march counts, and pkg-config has one of its own.
    warnings = ["-Wall", "-Werror=implicit-function-declaration", "-Wno-deprecated-declarations", "-Wno-zero-length-bounds"]
    run(["gcc", *warnings, "-DALLOW_EXPERIMENTAL_API", "-o", theirs, ROOT / "bench/rte_graph/main.c", *flags, "-lm", "-O3", "-march=native"])
    run(["cargo", "build", "--release", "--quiet", "-p", "stopwatt"], cwd=ROOT)
    return theirs, target() / "release/stopwatt"


def rte_graph(binary, seconds, flows, buffers, burst, outputs):
    arguments = [seconds, flows, ROUTES, buffers, burst, outputs]
    ports = [word for number in range(outputs) for word in ("--vdev", f"net_null{number}")]
    eal = ["--in-memory", "--no-pci", "--no-telemetry", "--log-level=1", *ports, "-l", "0", "--"]
    text = run([binary, *eal, *map(str, arguments)])
    return json.loads(text[text.index("{"):])


def stopwatt(binary, graph, seconds, flows, buffers, burst, outputs):
    load = ["--windows", "1", "--window", str(int(seconds * 1000)), "--counters", "none"]
    size = ["--flows", str(flows), "--buffers", str(buffers), "--frame-size", str(burst), "--outputs", str(outputs)]
    kept = ["--format", "json", "--replace", "--output", target() / "bench/recording"]
    result = json.loads(run([binary, "run", "dataplane", "--graph", graph, *load, *size, *kept]))
    # Of a packet that takes the whole path: an output sees its own packets only.
    packets = next(node["vectors"] for node in result["nodes"] if node["name"] in SOURCES)
    result["nodes"] = {node["name"]: node["clocks_per_packet"] * node["vectors"] / packets for node in result["nodes"]}
    return result


def interval(ratios):
    """Between which two of the sorted ratios the median lies with a probability of at least 95 %; the ends if there are too few."""
    count = len(ratios)
    within = 0.0
    for rank in range(count // 2, 0, -1):
        # The median lies between the rank-th smallest and the rank-th largest.
        within = 1 - 2 * sum(math.comb(count, k) for k in range(rank)) / 2**count
        if within >= 0.95:
            return sorted(ratios)[rank - 1], sorted(ratios)[count - rank]
    return min(ratios), max(ratios)


def verdict(low, high, limit):
    if high <= limit:
        return "holds"
    return "missed" if low > limit else "undecided"


def total(result, names):
    return sum(result["nodes"][name] for name in names)


def without_source(result):
    return sum(clocks for name, clocks in result["nodes"].items() if name not in SOURCES)


def compare(theirs_binary, ours_binary, arguments, flows, buffers, outputs):
    """Runs the pairs of one point and prints its table; returns every pair."""
    ours, theirs = [], []
    for number in range(arguments.pairs):
        point = (arguments.seconds, flows, buffers, arguments.burst, outputs)
        sides = [lambda: theirs.append(rte_graph(theirs_binary, *point)), lambda: ours.append(stopwatt(ours_binary, "ip4-route", *point))]
        # Who goes first changes: a machine that warms up or slows down favours nobody.
        for side in sides if number % 2 == 0 else reversed(sides):
            side()
    rows = [
        ("all but the two sources", [without_source(r) for r in ours], [without_source(r) for r in theirs], 0.85),
        ("three IPv4 nodes (ours verify)", [total(r, OUR_IP4) for r in ours], [total(r, THEIR_IP4) for r in theirs], None),
        ("whole path with generator and tx", [r["clocks_per_packet"] for r in ours], [r["clocks_per_packet"] for r in theirs], None),
    ]
    parts = f", {outputs} outputs" if outputs > 1 else ""
    print(f"\n{buffers} buffers, {flows} flow{'s' if flows > 1 else ''}{parts}, bursts of {arguments.burst}, {arguments.pairs} pairs, clocks per packet")
    print(f"{'':<36}{'ours':>8}{'theirs':>8}{'ratio':>8}   95 % of the median")
    found = {"buffers": buffers, "flows": flows, "outputs": outputs, "burst": arguments.burst, "rows": []}
    for what, a, b, limit in rows:
        ratios = [x / y for x, y in zip(a, b)]
        low, high = interval(ratios)
        said = "" if limit is None else f"  at most {limit}: {verdict(low, high, limit)}"
        print(f"{what:<36}{statistics.median(a):>8.2f}{statistics.median(b):>8.2f}{statistics.median(ratios):>8.3f}   {low:.3f} to {high:.3f}{said}", flush=True)
        row = {"what": what, "ours": a, "theirs": b, "ratio": statistics.median(ratios), "low": low, "high": high}
        found["rows"].append(row | ({} if limit is None else {"limit": limit, "verdict": verdict(low, high, limit)}))
    for whose, results in (("ours", ours), ("theirs", theirs)):
        nodes = {name: statistics.median(r["nodes"][name] for r in results) for name in results[0]["nodes"]}
        print(f"  {whose + ':':<8}{', '.join(f'{name} {clocks:.2f}' for name, clocks in nodes.items())}")
        found[f"nodes_{whose}"] = nodes
    return found


def turns(points):
    """Where the ratio of all but the sources crosses 1, over the number of buffers."""
    for flows, outputs in sorted({(point["flows"], point["outputs"]) for point in points}):
        curve = [(point["buffers"], point["rows"][0]) for point in points if (point["flows"], point["outputs"]) == (flows, outputs)]
        line = ", ".join(f"{buffers}: {row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})" for buffers, row in curve)
        print(f"\nall but the sources, {outputs} output{'s' if outputs > 1 else ''}, {flows} flow{'s' if flows > 1 else ''}, ratio by buffers: {line}")
        better = [buffers for buffers, row in curve if row["high"] < 1]
        worse = [buffers for buffers, row in curve if row["low"] > 1]
        print(f"  ours is faster with {better or 'none'} buffers, slower with {worse or 'none'}; elsewhere the pairs do not tell")


def main():
    numbers = lambda text: [int(number) for number in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--buffers", type=numbers, default=[512, 2048, 16_384, 65_536])
    parser.add_argument("--flows", type=numbers, default=[1, 10_000])
    parser.add_argument("--burst", type=int, default=256)
    parser.add_argument("--outputs", type=numbers, default=[1], help="routes lead to so many outputs in turn, so that packets part")
    parser.add_argument("--json", type=pathlib.Path, help="a file for every pair")
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
        points = [
            compare(theirs_binary, ours_binary, arguments, flows, buffers, outputs)
            for outputs in arguments.outputs
            for flows in arguments.flows
            for buffers in arguments.buffers
        ]
    finally:
        HUGE_PAGES.write_text(str(before))
    turns(points)
    if arguments.json:
        arguments.json.write_text(json.dumps(points, indent=1) + os.linesep)


if __name__ == "__main__":
    main()
