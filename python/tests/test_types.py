"""The types of experiments: made from their descriptions, and checked by mypy."""

import subprocess
import sys


def mypy(folder, program):
    """What mypy prints about a program, and the lines in which it finds errors."""
    path = folder / "program.py"
    path.write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    return done.stdout, [line.split(":")[1] for line in lines if "program.py" in line]


def test_mypy_refuses_what_an_experiment_does_not_take(tmp_path):
    printed, wrong = mypy(
        tmp_path,
        "import stopwatt\n"
        "run = stopwatt.experiments().psci_latency\n"
        "run(iterations=3, release=['v2.12'], settings={'scp.channels': 2})\n"
        'run(iterations="many")\n'
        'run(world="moon")\n'
        "run(iteration=3)\n"
        "reveal_type(run(seed=1))\n",
    )
    assert wrong == ["4", "5", "6"], printed
    assert 'Revealed type is "stopwatt._experiments._PsciLatencyRecording"' in printed, printed


FINDINGS = """
import stopwatt
from stopwatt import findings

found = stopwatt.open("recordings/mine").findings
if isinstance(found, findings.Placement):
    energies = {policy.name: policy.energy_unit_s for policy in found.policies}
elif isinstance(found, findings.PrefetchMeasuredStudy):
    best: str = found.gains[0].loop
elif isinstance(found, findings.PsciLatency):
    errors: list[float | None] = [cell.error_percent for cell in found.cells]
elif isinstance(found, findings.IdleReplay):
    entered = found.governors[0].states[0].entered
    deepest: float | None = entered.high if isinstance(entered, findings.IdleReplayRange) else entered
elif isinstance(found, findings.Tune):
    origin: str = found.loop.from_
"""


RUNS = """
import stopwatt
from stopwatt import findings

cells: list[findings.PsciLatencyCellFacts] = stopwatt.run("psci-latency", iterations=1).findings.cells
found = stopwatt.run("placement", platform="tc2").findings
if isinstance(found, findings.Placement):
    energies = {policy.name: policy.energy_unit_s for policy in found.policies}
stopwatt.run("batch").findings.policies
name: str = "batch"
recording: stopwatt.Recording = stopwatt.run(name)
"""


def test_a_run_of_an_experiment_has_findings_of_its_type(tmp_path):
    printed, wrong = mypy(tmp_path, RUNS)
    assert set(wrong) == {"9"}, printed


def test_findings_are_typed(tmp_path):
    printed, wrong = mypy(tmp_path, FINDINGS)
    assert not wrong, printed


def test_mypy_refuses_what_a_finding_does_not_have(tmp_path):
    more = "    found.loops\n    found.loop.rounds.upper()\nfound.loop\nstopwatt.finding\n"
    printed, wrong = mypy(tmp_path, FINDINGS + more)
    first = FINDINGS.count("\n") + 1
    assert sorted({int(line) for line in wrong}) == [first + at for at in range(4)], printed
