"""The types of experiments: made from their descriptions, and checked by mypy."""

import importlib.util
import pathlib
import subprocess
import sys

import stopwatt


def test_the_stubs_are_those_of_the_experiments(root):
    spec = importlib.util.spec_from_file_location("stubs", root / "python" / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    there = (pathlib.Path(stopwatt.__file__).parent / "_experiments.pyi").read_text()
    assert there == stubs.stubs(), "write them anew: python python/stubs.py > python/stopwatt/_experiments.pyi"


def test_mypy_refuses_what_an_experiment_does_not_take(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import stopwatt\n"
        "run = stopwatt.experiments().psci_latency\n"
        "run(iterations=3, release=['v2.12'], settings={'scp.channels': 2})\n"
        'run(iterations="many")\n'
        'run(world="moon")\n'
        "run(iteration=3)\n"
        "reveal_type(run(seed=1))\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line.split(":")[1] for line in lines if "program.py" in line] == ["4", "5", "6"], done.stdout
    assert 'Revealed type is "stopwatt._recording.Recording"' in done.stdout, done.stdout
