#!/usr/bin/env python3
"""Does a sweep on Ray leave the bytes that one machine leaves, and is the job for Kubernetes by its schema?

    cargo build --release && python3 bench/cluster.py [--program target/release/stopwatt]

Ray and kubernetes-validate come from PyPI into an environment of their own below target/.
"""

import argparse
import filecmp
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "target/judge-cluster"
PLAN = """experiment = "psci-latency"
[settings]
release = "last"
iterations = 1
free-seeds = 0
case = "suspend-level0"
mode = "parallel"
order = "free"
[grid]
scp.channels = [1, 2, 4]
[seeds]
count = 20
"""


def must(*command, **more):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def same(one, other):
    """Whether two folders have the same files with the same bytes."""
    files = lambda folder: sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return files(one) == files(other) and all(filecmp.cmp(one / name, other / name, False) for name in files(one))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "target/release/stopwatt", type=Path)
    program = parser.parse_args().program.resolve()
    python = HOME / "python/bin/python"
    if not python.exists():
        venv.create(HOME / "python", with_pip=True)
        must(python, "-m", "pip", "install", "--quiet", "ray", "kubernetes-validate")
    must(python.parent / "kubernetes-validate", "--strict", ROOT / "docs/examples/sweep-job.yaml")
    print("docs/examples/sweep-job.yaml is by the schema of Kubernetes")
    plan = HOME / "plan.toml"
    plan.write_text(PLAN)
    for name in ("ray", "alone"):
        must("rm", "-rf", HOME / name)
    path = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    must(python, ROOT / "docs/examples/sweep_ray.py", plan, HOME / "ray", 4, env=path)
    must(program, "-q", "sweep", plan, "-o", HOME / "alone")
    if not same(HOME / "ray/data", HOME / "alone/data"):
        sys.exit("the sweep on Ray left other bytes")
    print("four shards on Ray left the bytes of one machine, 60 points")


if __name__ == "__main__":
    main()
