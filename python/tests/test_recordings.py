"""Recordings: run, opened, taken by others without a copy."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import pyarrow
import pytest
import stopwatt
from conftest import SMALL

TABLES = ("measures", "events", "causes")


def test_a_run_has_measures_events_and_causes(recording):
    assert len(recording.measures) > 0 and len(recording.events) > 0 and len(recording.causes) > 0
    assert recording.measures.column_names[:4] == ["variant", "case", "mode", "iteration"]
    assert recording.header["experiment"] == "psci-latency"
    assert recording.header["request"]["free-seeds"] == "0"
    assert "psci-latency in the world sim" in repr(recording)


@pytest.mark.parametrize("name", TABLES)
def test_numbers_have_the_same_addresses_on_both_sides(recording, name):
    ours = getattr(recording, name)
    table = pyarrow.table(ours)
    addresses = ours.addresses()
    looked_at = 0
    for column in table.column_names:
        (chunk,) = table.column(column).chunks
        values = chunk.indices if pyarrow.types.is_dictionary(chunk.type) else chunk
        assert values.buffers()[1].address == addresses[column], column
        looked_at += 1
    assert looked_at == len(ours.column_names) >= 10
    # What is taken twice is the same memory, and so the same numbers.
    again = pyarrow.table(getattr(recording, name))
    assert again.column("iteration").chunk(0).buffers()[1].address == addresses["iteration"]


def test_the_memory_outlives_the_recording():
    table = pyarrow.table(stopwatt.run("psci-latency", **SMALL).measures)
    value = table.column("value").chunk(0)
    address, first = value.buffers()[1].address, value[0].as_py()
    del value
    assert ctypes.c_double.from_address(address).value == first


def test_polars_pandas_and_duckdb_take_it(recording):
    import duckdb
    import polars

    frame = polars.DataFrame(recording.measures)
    pandas = recording.to_pandas()
    taken = pyarrow.table(recording.measures)
    ((rows,),) = duckdb.sql("SELECT count(*) FROM taken").fetchall()
    assert len(frame) == len(pandas) == rows == len(recording.measures)
    assert str(pandas["metric"].dtype) == "category"
    assert frame["value"].sum() == pytest.approx(pandas["value"].sum())


def test_what_is_written_is_what_the_command_writes(recording, tmp_path):
    recording.write(tmp_path / "python")
    arguments = ["run", "psci-latency", "-q", "-o", str(tmp_path / "command")]
    for name, value in SMALL.items():
        arguments += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run([sys.executable, "-m", "stopwatt", *arguments], stdout=subprocess.DEVNULL)
    assert done.returncode == 0
    for name in ("events", "measures", "causes"):
        file = f"{name}.parquet"
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "command" / file).read_bytes(), name
    opened = stopwatt.open(tmp_path / "python")
    for name in TABLES:
        assert pyarrow.table(getattr(opened, name)).equals(pyarrow.table(getattr(recording, name))), name
    assert opened.folder == str(tmp_path / "python")


def test_it_shows_its_page(recording):
    shown = recording.page()._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "sandbox" in shown and "&lt;!DOCTYPE html&gt;" in shown
    assert "<script" not in shown, "the page's script stays inside the frame"
    page = recording.report("html")
    assert "<svg" in page and "timeline" in page
    assert "powerdown" in recording.report("csv")
    with pytest.raises(stopwatt.Error, match="there is no report `pdf`; there are: "):
        recording.report("pdf")


def test_errors_have_the_commands_text():
    def command(*arguments):
        done = subprocess.run([sys.executable, "-m", "stopwatt", *arguments], capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr.removeprefix("Error: ").strip()

    cases = [
        ({"iterations": 0}, ["--iterations", "0"]),
        ({"platform": "juno-r9"}, ["--platform", "juno-r9"]),
        ({"settings": {"scp.chanels": 2}}, ["--set", "scp.chanels=2"]),
    ]
    for given, arguments in cases:
        with pytest.raises(stopwatt.Error) as error:
            stopwatt.run("psci-latency", **given)
        said = command("run", "psci-latency", *arguments).split()
        # The same words, without what a terminal draws around them.
        words = {word.rstrip(":") for word in str(error.value).split()}
        assert words <= {word.rstrip(":") for word in said}, (str(error.value), said)
        assert not set("×│╭╰") & set(str(error.value))
    with pytest.raises(stopwatt.Error, match="did you mean psci-latency"):
        stopwatt.run("psci-latncy")
    with pytest.raises(stopwatt.Error, match="recording.toml"):
        stopwatt.open("/nowhere/at-all")
    with pytest.raises(stopwatt.Error, match="psci-latency does not run in the world moon"):
        stopwatt.run("psci-latency", world="moon")


def test_other_threads_run_meanwhile():
    counted = 0
    over = threading.Event()

    def count():
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        begin = time.monotonic()
        stopwatt.run("psci-latency", release="last", iterations=300, free_seeds=300, progress=False)
        seconds = time.monotonic() - begin
    finally:
        over.set()
        thread.join()
    # With the GIL held it would not count at all.
    assert seconds > 0.2 and counted > 40 * seconds, (counted, seconds)


def test_ctrl_c_stops_a_run():
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        stopwatt.run("psci-latency", iterations=11, free_seeds=100_000, progress=False)
    # The simulations at hand come to their end first.
    assert time.monotonic() - begin < 60


def test_progress_is_told():
    told = []
    stopwatt.run("psci-latency", iterations=100, free_seeds=300, progress=lambda *step: told.append(step))
    assert told, "nothing was told"
    done, total, doing = told[-1]
    assert 0 <= done <= total and "iterations" in doing
    with pytest.raises(ZeroDivisionError):
        stopwatt.run("psci-latency", iterations=100, free_seeds=300, progress=lambda *_: 1 / 0)


def test_a_recording_is_pickled_and_copied(recording):
    import copy
    import pickle

    back = pickle.loads(pickle.dumps(recording))
    assert back.folder is None and back.header["request"] == recording.header["request"]
    for name in TABLES:
        assert back.to_arrow(name).equals(recording.to_arrow(name)), name
    assert copy.copy(recording) is recording and copy.deepcopy([recording])[0] is recording


def test_a_recording_goes_to_another_process_and_back():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(stopwatt.run, "psci-latency", **SMALL).result()
    assert there.to_arrow().equals(stopwatt.run("psci-latency", **SMALL).to_arrow())


def test_errors_are_told_by_their_kind(tmp_path):
    with pytest.raises(stopwatt.UsageError):
        stopwatt.run("psci-latency", iterations=0)
    with pytest.raises(stopwatt.DataError):
        stopwatt.open(tmp_path / "nothing")
    plan = tmp_path / "plan.toml"
    plan.write_text("experiment = 1\n")
    with pytest.raises(stopwatt.DataError, match="plan"):
        stopwatt.sweep(plan, tmp_path / "s")
    assert issubclass(stopwatt.RunError, stopwatt.Error)


def test_a_notebook_keeps_little_of_a_recording_that_is_shown():
    many = stopwatt.run("psci-latency", iterations=11)
    shown = many._repr_html_()
    assert len(shown) <= 200_000 and "The slowest power-down takes" in shown
    assert "<iframe" in many.page()._repr_html_() and "timeline" in many.page().html


def test_an_imported_recording_stands_where_a_path_is_asked_for(root):
    trace = stopwatt.import_ftrace(root / "crates/record/import/data/guest.trace")
    replay = stopwatt.run("idle-replay", trace=trace, governors="menu@7.1")
    assert replay.header["experiment"] == "idle-replay"


def test_the_version_is_the_commands():
    printed = subprocess.run([sys.executable, "-m", "stopwatt", "--version"], capture_output=True, text=True).stdout
    assert stopwatt.__version__ in printed.split()


def test_polars_takes_a_table_by_name(recording):
    assert recording.to_polars("events").height == len(recording.events)
    with pytest.raises(stopwatt.UsageError, match="there is no table `rows`"):
        recording.to_polars("rows")


def test_what_if_runs_every_combination():
    asked = {"scp.channels": [1, 2], "topology.clusters": "1..2"}
    came = stopwatt.what_if("psci-latency", asked, release="v2.12")
    assert [point["settings"] for point in came.points] == [
        {"scp.channels": str(channels), "topology.clusters": str(clusters)} for channels in (1, 2) for clusters in (1, 2)
    ]
    assert all(point["longest"] >= point["median"] for point in came.points)
    frame = came.to_pandas()
    assert list(frame.columns)[:2] == ["scp.channels", "topology.clusters"]
    assert all(frame.dtypes.map(lambda kind: kind.kind in "if")), "numbers, also what was varied"
    assert list(frame["scp.channels"]) == [1, 1, 2, 2]
    words = stopwatt.what_if("psci-latency", {"psci.scp_send": ["inside-locks", "outside-locks"]}, release="v2.12").to_pandas()
    assert list(words["psci.scp_send"]) == ["inside-locks", "outside-locks"]
    with pytest.raises(stopwatt.Error, match="scp.chanels"):
        stopwatt.what_if("psci-latency", {"scp.chanels": [1]})
