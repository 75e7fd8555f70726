#!/usr/bin/env python3
"""The search of energy-aware placement beside the kernel's own C code: in which share of random states both choose the same CPU, by release.

    bench/energy_aware.py [--states 10000] [--work DIR]

Fetches Debian's packages linux-source-5.10 and linux-source-6.1 (as bench/governors.py does, under an apt configuration of its own), cuts
find_energy_efficient_cpu and what it calls out of them, compiles that with the headers of bench/beside_kernel/shim and runs both on the same states. Ends
with 1 if the CPU differs in more than one state of a hundred for any release. Needs gcc, dpkg, xz and Rust. The packages are 120 and 140 MB and are
deleted once read; what is kept is in the folder DIR, target/bench/energy_aware by default.
"""

import argparse
import pathlib
import re
import sys

import governors

ROOT = governors.ROOT
# What is cut, by release: the file, then names of functions and structures in the order in which they are needed.
CUTS = {
    "5.10": [
        ("include/linux/sched/cpufreq.h", ["map_util_freq"]),
        ("include/linux/energy_model.h", ["em_cpu_energy"]),
        ("kernel/sched/cpufreq_schedutil.c", ["schedutil_cpu_util"]),
        ("kernel/sched/fair.c", ["task_util", "_task_util_est", "task_util_est", "util_fits_cpu", "cpu_util_next", "compute_energy",
                                 "find_energy_efficient_cpu"]),
    ],
    "6.1": [
        ("include/linux/sched/cpufreq.h", ["map_util_freq", "map_util_perf"]),
        ("include/linux/energy_model.h", ["em_pd_get_efficient_state", "em_cpu_energy"]),
        ("kernel/sched/core.c", ["effective_cpu_util"]),
        ("kernel/sched/fair.c", ["task_util", "_task_util_est", "task_util_est", "util_fits_cpu", "cpu_util_next", "energy_env", "eenv_task_busy_time",
                                 "eenv_pd_busy_time", "eenv_pd_max_util", "compute_energy", "find_energy_efficient_cpu"]),
    ],
}


def fetch(work):
    """The files of each release, in folders named after the releases."""
    options = governors.apt(work)
    governors.run(["apt-get", *options, "update", "-q"])
    for release, cuts in CUTS.items():
        folder = work / release
        if all((folder / file).is_file() for file, _ in cuts):
            continue
        package = f"linux-source-{release}"
        print(f"fetching {package}", file=sys.stderr)
        governors.run(["apt-get", *options, "download", "-q", package], cwd=work)
        deb = next(work.glob(f"{package}_*.deb"))
        folder.mkdir(exist_ok=True)
        wanted = " ".join(f"'linux-source-*/{file}'" for file, _ in cuts)
        unpack = (f"dpkg-deb --fsys-tarfile '{deb}' | tar -x --to-stdout --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc "
                  f"| tar -x -C '{folder}' --strip-components=1 --wildcards {wanted}")
        governors.run(["bash", "-o", "pipefail", "-c", unpack])
        deb.unlink()


def cut(text, name, file):
    """The definition of a function or a structure: from the line after the last blank line, comment or directive to its closing brace."""
    found = next((match for match in re.finditer(rf"^(?![ /]\*)[^\n;{{}}=]*\b{name}\b[^;{{}}=]*\{{", text, re.MULTILINE)), None)
    if not found:
        sys.exit(f"{file} has no {name}")
    start = found.start()
    before = text[:start].rsplit("\n\n", 1)[-1]
    before = before.rsplit("*/\n", 1)[-1]
    lines = [line for line in before.splitlines() if line and not line.startswith(("#", "}"))]
    end = text.index("\n}", found.end()) + 2
    end = text.index("\n", end) + 1
    return "\n".join([*lines, ""]) + text[start:end] if lines else text[start:end]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/energy_aware")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    fetch(work)
    for release, cuts in CUTS.items():
        parts = [cut((work / release / file).read_text(), name, file) for file, names in cuts for name in names]
        (work / release / "cut.c").write_text("\n".join(parts))
    governors.compare("energy-aware", work, work, arguments.states)


if __name__ == "__main__":
    main()
