"""Which costs decide a figure."""

import json
import subprocess
import sys

import pytest
import stopwatt.sensitivity as sensitivity
from stopwatt import calibrate


@pytest.mark.judged
def test_costs_that_the_fit_cannot_tell_apart_move_together():
    costs = {cost.key: cost for cost in sensitivity.costs("juno-r1", "juno-v2.12")}
    assert costs["costs.scp.cluster_off"].group == "scp.cluster_off"
    a53 = costs["costs.cores.cortex-a53.context_restore"]
    assert " + " in a53.group and "cores.cortex-a53.interrupts_init" in a53.group
    for cost in costs.values():
        assert 0 <= cost.low <= cost.value <= cost.high, cost
    # Two standard errors to each side, where neither end is cut off at 0.
    release, = calibrate("juno-r1", ["juno-v2.12"])["releases"]
    take, = (parameter for parameter in release["parameters"] if parameter["key"] == "scp.take")
    assert 0 < take["standard_error"] < take["value"] / 2
    assert costs["costs.scp.take"].high - costs["costs.scp.take"].low == pytest.approx(4 * take["standard_error"])


@pytest.mark.judged
def test_the_last_powerdown_hangs_on_the_scp(tmp_path):
    command = [sys.executable, "-m", "stopwatt", "sensitivity", "--case", "suspend-level0", "--spread", "10", "--samples", "32"]
    done = subprocess.run([*command, "--format", "json", "-q", "--svg", str(tmp_path / "t.svg")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first = found["effects"][0]
    assert first["group"] == "scp.take" and 0.5 < first["total"] < 1, first
    assert first["at_low"] < found["figure_us"] < first["at_high"]
    assert sum(effect["total"] for effect in found["effects"]) == pytest.approx(1, abs=0.5)
    assert all(effect["morris_interval"] is not None for effect in found["effects"])
    assert (tmp_path / "t.svg").read_text().count("<rect") == 2 * len(found["effects"])
    printed = subprocess.run([*command, "--method", "tornado", "-q"], capture_output=True, text=True)
    assert "Ranges of the costs:" in printed.stdout and "####" in printed.stdout


def test_what_is_wrong_is_said():
    done = subprocess.run([sys.executable, "-m", "stopwatt", "sensitivity", "--case", "suspend-nowhere"], capture_output=True, text=True)
    assert done.returncode == 2 and "suspend-nowhere" in done.stderr
