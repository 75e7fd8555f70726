"""Experiments, comparisons, imports and fits."""

import inspect
import json
import subprocess
import sys

import pyarrow
import pytest
import stopwatt


def test_every_experiment_of_the_command_is_there():
    printed = subprocess.run([sys.executable, "-m", "stopwatt", "list", "--format", "json"], capture_output=True, check=True)
    names = [about["name"] for about in json.loads(printed.stdout)["experiments"]]
    assert list(stopwatt.experiments()) == names and "psci-latency" in names
    experiment = stopwatt.experiments().psci_latency
    assert "iterations" in inspect.signature(experiment).parameters
    assert "Repetitions of each case." in experiment.__doc__ and "sim" in experiment.worlds
    recording = experiment(release="last", iterations=1, free_seeds=0, case="cpu-off")
    assert set(pyarrow.table(recording.measures)["case"].to_pylist()) == {"cpu-off"}
    with pytest.raises(AttributeError, match="there is no experiment psci_latncy"):
        stopwatt.experiments().psci_latncy


def test_no_experiment_is_named_in_the_package():
    import pathlib

    folder = pathlib.Path(stopwatt.__file__).parent
    code = "".join((folder / name).read_text() for name in ("_experiments.py", "_recording.py", "_native.pyi"))
    for name in stopwatt.experiments():
        if name not in ("psci-latency", "dataplane"):
            assert f'"{name}"' not in code


def test_a_comparison_is_the_commands(tmp_path):
    one = stopwatt.run("psci-latency", release="juno-v2.11", iterations=1, free_seeds=0)
    other = stopwatt.run("psci-latency", release="juno-v2.12", iterations=1, free_seeds=0)
    compared = stopwatt.compare(one, other)
    # Two sessions of one release differ by as much, so nothing is better or worse.
    verdicts = {change["verdict"] for row in compared.result["rows"] for change in row["changes"]}
    assert "session" in verdicts and not verdicts & {"better", "worse"}
    assert compared.outcome == "cannot-be-judged" and compared.result["sessions"]
    one.write(tmp_path / "one")
    other.write(tmp_path / "other")
    command = [sys.executable, "-m", "stopwatt", "compare", str(tmp_path / "one"), str(tmp_path / "other"), "--format", "json"]
    printed = subprocess.run(command, capture_output=True)
    by_folder = stopwatt.compare(tmp_path / "one", tmp_path / "other")
    assert by_folder.result == json.loads(printed.stdout)
    assert (by_folder.regression, printed.returncode) == (None, 3)
    assert compared._repr_html_().startswith("<iframe") and compared.text.startswith("The CPUs came in another order in ")
    both = stopwatt.run("psci-latency", iterations=1, free_seeds=0)
    picked = stopwatt.compare((both, "juno-v2.11"), (both, "juno-v2.12"))
    assert [side["releases"] for side in picked.result["recordings"]] == [["juno-v2.11"], ["juno-v2.12"]]


def test_a_log_is_imported_with_the_commands_warnings(tmp_path, root):
    published = stopwatt.import_csv(root / "data" / "published" / "juno-psci.csv", platform="juno-r1")
    assert len(published.measures) > 200 and published.header["world"] == "import"
    log = tmp_path / "uart.log"
    log.write_text("NOTICE: something else\n")
    with pytest.raises(stopwatt.Error):
        stopwatt.import_rt_instr(log)
    with pytest.raises(stopwatt.Error, match="no-such-option"):
        stopwatt.import_csv(root / "data" / "published" / "juno-psci.csv", no_such_option=1)


@pytest.mark.judged
def test_a_fit_is_checked_against_the_costs_file():
    fit = stopwatt.calibrate("juno-r1", ["juno-v2.12"])
    assert fit["same"] and not fit["differs"]
    (release,) = fit["releases"]
    assert {"key", "value", "standard_error", "prior"} <= set(release["parameters"][0])
    with pytest.raises(stopwatt.Error, match="juno-r9"):
        stopwatt.calibrate("juno-r9")


def test_the_command_is_in_the_package():
    version = subprocess.run([sys.executable, "-m", "stopwatt", "--version"], capture_output=True, text=True)
    assert version.returncode == 0 and version.stdout.startswith("stopwatt 0.")
    wrong = subprocess.run([sys.executable, "-m", "stopwatt", "rum"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "unrecognized subcommand" in wrong.stderr
