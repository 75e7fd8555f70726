"""What the tests share. They run against an installed wheel, never against the files beside them."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# One iteration of one case: a hundredth of a second.
SMALL = {"release": "last", "iterations": 1, "free_seeds": 0, "case": "suspend-level0", "mode": "parallel", "order": "free"}

PLAN = """
experiment = "psci-latency"
chunk = 4
[settings]
release = "last"
iterations = 1
free-seeds = 0
case = "suspend-level0"
mode = "parallel"
order = "free"
[grid]
scp.channels = [1, 2]
[seeds]
count = 40
"""


def pytest_sessionstart(session):
    import stopwatt

    at = pathlib.Path(stopwatt.__file__).resolve()
    if "site-packages" not in at.parts:
        pytest.exit(f"these are tests of an installed package, and stopwatt is {at}; see docs/python.md", 2)


@pytest.fixture(scope="session")
def recording():
    import stopwatt

    return stopwatt.run("psci-latency", **SMALL)


@pytest.fixture(scope="session")
def root():
    return ROOT


def data_of(folder):
    """The bytes of every file of a data set's data, by its path."""
    base = pathlib.Path(folder)
    return {str(file.relative_to(base)): file.read_bytes() for file in sorted((base / "data").rglob("*")) if file.is_file()}


sys.path.insert(0, str(pathlib.Path(__file__).parent))
