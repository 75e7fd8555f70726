"""Which costs decide a figure: ``python -m stopwatt sensitivity``. Needs SALib and pyarrow.

The costs that ``stopwatt calibrate`` fits are known within standard errors. Each is moved within them: one group at a time (a tornado),
in Morris's trajectories (a screening), or in Saltelli's scheme (Sobol's indices, with intervals). Costs that the fit could not tell
apart, or that ended at 0, move together as a group, because by themselves their ranges mean nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import html
import json
import os
import statistics
import sys
import tempfile
from typing import Any, Optional, Sequence

from ._imports import calibrate
from ._native import Error
from ._sweep import sweep

#: Parts of a direction that the data cannot tell that tie a cost to it.
_TIED = 0.3


@dataclasses.dataclass(frozen=True)
class Cost:
    """A fitted cost: its key as ``--set`` takes it, its unit, its value and the ends of its range in that unit, and its group."""

    key: str
    unit: str
    value: float
    low: float
    high: float
    group: str

    def text(self, value: float) -> str:
        """A value as a platform file has it."""
        return f"{value!r} {self.unit}" if self.unit else repr(value)


@dataclasses.dataclass
class Effect:
    """What a group does to the figure, in the figure's unit; indices are parts of its variance."""

    group: str
    at_low: float
    at_high: float
    morris: Optional[float] = None
    morris_interval: Optional[float] = None
    first: Optional[float] = None
    first_interval: Optional[float] = None
    total: Optional[float] = None
    total_interval: Optional[float] = None


def _key(name: str) -> str:
    return f"costs.{name}" if name.startswith(("scp.", "cores.")) else f"costs.shared.{name}"


def _groups(fit: dict[str, Any]) -> dict[str, str]:
    """The group of each cost, by its name."""
    names = [parameter["key"] for parameter in fit["parameters"]]
    tied = {name: name for name in names}

    def root(name: str) -> str:
        while tied[name] != name:
            name = tied[name]
        return name

    together = [
        [name for name, part in direction["members"].items() if abs(part) >= _TIED] for direction in fit["indistinct"]
    ]
    together.append([name for name in names if name in fit["gate"]["pinned"]])
    for members in together:
        for other in members[1:]:
            tied[root(other)] = root(members[0])
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(root(name), []).append(name)
    label = {first: members[0] if len(members) == 1 else " + ".join(members) for first, members in groups.items()}
    return {name: label[root(name)] for name in names}


def costs(platform: str, release: str, spread: Optional[float] = None) -> list[Cost]:
    """The fitted costs of a release with their ranges: two standard errors to both sides, at most the value itself; from 0 to the prior
    for a cost that ended at 0. With ``spread``, so many percent to both sides instead."""
    fits = calibrate(platform, [release])["releases"]
    fit = fits[0]
    groups = _groups(fit)
    found = []
    for parameter in fit["parameters"]:
        name, value = parameter["key"], parameter["value"]
        half = abs(value) * spread / 100 if spread is not None else min(2 * parameter["standard_error"], abs(value))
        low, high = (value - half, value + half) if value > 0 else (0.0, parameter["prior"])
        unit = "" if name == "flush_port_share" else "us"
        found.append(Cost(_key(name), unit, value, max(low, 0.0), high, groups[name]))
    return found


def _figures(
    rows: Sequence[Sequence[float]], all: Sequence[Cost], asked: argparse.Namespace, folder: str, what: str
) -> list[float]:
    """The figure for each row of costs, in microseconds."""
    settings = {
        "platform": asked.platform,
        "release": asked.release,
        "case": asked.case,
        "mode": asked.mode,
        "order": "free",
        "iterations": asked.iterations,
        "free-seeds": 0,
        "seed": asked.seed,
    }
    # JSON's texts, numbers and lists are TOML, too.
    lines = [f'experiment = "psci-latency"\nmetrics = {json.dumps([asked.metric])}\nlist = [']
    for row in rows:
        pairs = ", ".join(f"{json.dumps(cost.key)} = {json.dumps(cost.text(value))}" for cost, value in zip(all, row))
        lines.append(f"  {{ {pairs} }},")
    lines.append("]\n[settings]")
    lines.extend(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in settings.items())
    swept = sweep("\n".join(lines) + "\n", os.path.join(folder, what), progress=None if asked.progress else False)
    if swept.outcome["failures"]:
        failed = swept.outcome["failed"][0]
        raise Error(f"{swept.outcome['failures']} runs failed; the first, {failed['point']}: {failed['why']}")
    table = swept.table().select(["sweep_point", "iteration", "value"])
    if table.num_rows == 0:
        raise Error(f"{asked.case} {asked.mode} has no {asked.metric}; `stopwatt report` of a run shows what it has")
    # The longest of each iteration, whichever CPU it is, and the median of that over the iterations, one that occurred.
    last = table.group_by(["sweep_point", "iteration"]).aggregate([("value", "max")])
    by_point = last.group_by("sweep_point").aggregate([("value_max", "list")]).sort_by("sweep_point")
    return [statistics.median_low(values) for values in by_point["value_max_list"].to_pylist()]


def analyse(asked: argparse.Namespace, folder: str) -> tuple[float, list[Cost], list[Effect], int]:
    """The figure as it is, the costs, the effects of their groups, the largest first, and how many runs that took."""
    import numpy
    from SALib.analyze import morris as morris_indices
    from SALib.analyze import sobol as sobol_indices
    from SALib.sample import morris as morris_sample
    from SALib.sample import sobol as sobol_sample

    all = costs(asked.platform, asked.release, asked.spread)
    moving = [cost for cost in all if cost.high > cost.low]
    groups = list(dict.fromkeys(cost.group for cost in moving))
    base = [cost.value for cost in moving]
    rows = [base]
    for group in groups:
        rows.append([cost.low if cost.group == group else cost.value for cost in moving])
        rows.append([cost.high if cost.group == group else cost.value for cost in moving])
    figures = _figures(rows, moving, asked, folder, "tornado")
    effects = [Effect(group, figures[1 + 2 * at], figures[2 + 2 * at]) for at, group in enumerate(groups)]
    runs = len(rows)
    problem = {
        "num_vars": len(moving),
        "names": [cost.key for cost in moving],
        "bounds": [[cost.low, cost.high] for cost in moving],
        "groups": [cost.group for cost in moving],
    }
    by_group = {effect.group: effect for effect in effects}
    if asked.method in ("morris", "both"):
        sample = morris_sample.sample(problem, asked.samples, num_levels=4, seed=asked.seed)
        out = numpy.array(_figures(sample.tolist(), moving, asked, folder, "morris"))
        found = morris_indices.analyze(problem, sample, out, num_levels=4, seed=asked.seed)
        for name, mean, interval in zip(found["names"], found["mu_star"], found["mu_star_conf"]):
            by_group[name].morris, by_group[name].morris_interval = float(mean), float(interval)
        runs += len(sample)
    if asked.method in ("sobol", "both"):
        size = 1 << max(asked.samples - 1, 1).bit_length()
        sample = sobol_sample.sample(problem, size, calc_second_order=False, seed=asked.seed)
        out = numpy.array(_figures(sample.tolist(), moving, asked, folder, "sobol"))
        found = sobol_indices.analyze(problem, out, calc_second_order=False, seed=asked.seed)
        for at, name in enumerate(groups):
            effect = by_group[name]
            effect.first, effect.first_interval = float(found["S1"][at]), float(found["S1_conf"][at])
            effect.total, effect.total_interval = float(found["ST"][at]), float(found["ST_conf"][at])
        runs += len(sample)

    def weight(effect: Effect) -> float:
        known = effect.total if effect.total is not None else effect.morris
        return known if known is not None else abs(effect.at_high - effect.at_low)

    effects.sort(key=weight, reverse=True)
    return figures[0], all, effects, runs


def tornado(base: float, effects: Sequence[Effect], title: str) -> str:
    """The chart as SVG: a bar a group, from the figure at the low ends of its ranges to that at the high ends."""
    low = min([base, *(min(it.at_low, it.at_high) for it in effects)])
    high = max([base, *(max(it.at_low, it.at_high) for it in effects)])
    width, left, row = 900, 420, 26
    scale = (width - left - 80) / ((high - low) or 1)
    at = lambda value: left + (value - low) * scale  # noqa: E731
    height = 60 + row * len(effects)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        '<style>text{fill:#222}.low{fill:#2a78b5}.high{fill:#d9822b}line{stroke:#222}'
        "@media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#ddd}}</style>",
        f'<text x="10" y="20" font-size="14">{html.escape(title)}</text>',
    ]
    for place, effect in enumerate(effects):
        y = 40 + row * place
        name = effect.group if len(effect.group) < 64 else effect.group[:61] + "..."
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(name)}</text>')
        for end, kind in ((effect.at_low, "low"), (effect.at_high, "high")):
            x, w = min(at(end), at(base)), abs(at(end) - at(base))
            parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{w:.1f}" height="18"/>')
        parts.append(
            f'<text x="{max(at(effect.at_low), at(effect.at_high), at(base)) + 4:.1f}" y="{y + 14}">'
            f"{effect.at_low:.1f} to {effect.at_high:.1f}</text>"
        )
    parts.append(f'<line x1="{at(base):.1f}" y1="34" x2="{at(base):.1f}" y2="{height - 20}"/>')
    parts.append(f'<text x="{at(base):.1f}" y="{height - 6}" text-anchor="middle">{base:.1f} us</text></svg>')
    return "\n".join(parts) + "\n"


def _printed(asked: argparse.Namespace, base: float, all: Sequence[Cost], effects: Sequence[Effect], runs: int) -> str:
    what = f"{asked.metric} of the last CPU, {asked.case} {asked.mode}, {asked.release} on {asked.platform}"
    lines = ["Ranges of the costs:"]
    for cost in all:
        unit = f" {cost.unit}" if cost.unit else ""
        lines.append(f"  {cost.key:42} {cost.value:9.4g}{unit}, from {cost.low:.4g} to {cost.high:.4g}")
    several = [effect.group for effect in effects if " + " in effect.group]
    if several:
        lines.append("Moved together, because the fit does not tell them apart:")
        lines.extend(f"  {group}" for group in several)
    lines += ["", f"{what}: {base:.1f} us ({runs} runs)"]
    widest = max((abs(it.at_high - it.at_low) for it in effects), default=0) or 1
    head = f"  {'cost':44} {'low end':>9} {'high end':>9}"
    if effects and effects[0].morris is not None:
        head += f" {'Morris mu*':>18}"
    if effects and effects[0].total is not None:
        head += f" {'Sobol first':>16} {'Sobol total':>16}"
    lines.append(head)
    for effect in effects:
        name = effect.group if len(effect.group) <= 44 else effect.group[:41] + "..."
        line = f"  {name:44} {effect.at_low:9.1f} {effect.at_high:9.1f}"
        if effect.morris is not None:
            line += f" {effect.morris:9.3g} +- {effect.morris_interval:5.2g}"
        if effect.total is not None:
            line += f" {effect.first:7.2f} +- {effect.first_interval:4.2f} {effect.total:8.2f} +- {effect.total_interval:4.2f}"
        line += "  " + "#" * round(20 * abs(effect.at_high - effect.at_low) / widest)
        lines.append(line.rstrip())
    if effects and effects[0].total is not None:
        first = effects[0]
        lines.append("")
        lines.append(
            f"Of the variance of this figure, {100 * first.total:.0f} % "
            f"(+- {100 * first.total_interval:.0f}) is {first.group}."
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """``python -m stopwatt sensitivity``: prints the ranges, the table and the chart; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m stopwatt sensitivity",
        description="Which fitted costs decide a PSCI latency.",
        epilog="Example: python -m stopwatt sensitivity --release juno-v2.12 --method sobol --samples 64 --svg tornado.svg",
    )
    parser.add_argument("--platform", default="juno-r1", help="a platform with a calibration (juno-r1)")
    parser.add_argument("--release", default="juno-v2.12", help="one of its releases (juno-v2.12)")
    parser.add_argument("--case", default="suspend-deepest", help="the case (suspend-deepest)")
    parser.add_argument("--mode", default="parallel", choices=["parallel", "serial"])
    parser.add_argument("--metric", default="powerdown", help="the figure, of the CPU where it is largest (powerdown)")
    parser.add_argument("--method", default="both", choices=["tornado", "morris", "sobol", "both"])
    parser.add_argument("--samples", type=int, default=16, help="trajectories of Morris; for Sobol the next power of two (16)")
    parser.add_argument("--spread", type=float, help="percent to both sides, in place of the standard errors")
    parser.add_argument("--iterations", type=int, default=1, help="iterations of each run (1)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the samples and of the runs (1)")
    parser.add_argument("--svg", help="also write the tornado chart to this file")
    parser.add_argument("--format", default="term", choices=["term", "json"])
    parser.add_argument("-q", "--quiet", dest="progress", action="store_false", help="show no progress")
    asked = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            base, all, effects, runs = analyse(asked, folder)
    except ImportError as error:
        print(f"Error: {error}; pip install SALib pyarrow", file=sys.stderr)
        return 2
    except Error as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    if asked.svg:
        title = f"{asked.metric} of the last CPU (us), {asked.case} {asked.mode}, {asked.release}"
        with open(asked.svg, "w", encoding="utf-8") as file:
            file.write(tornado(base, effects, title))
    if asked.format == "json":
        print(
            json.dumps(
                {
                    "figure_us": base,
                    "runs": runs,
                    "costs": [dataclasses.asdict(cost) for cost in all],
                    "effects": [dataclasses.asdict(effect) for effect in effects],
                },
                indent=2,
            )
        )
    else:
        print(_printed(asked, base, all, effects, runs), end="")
    return 0
