"""Sweeps: by the command, in Python, on Dask; with workers killed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
import stopwatt
from conftest import PLAN, data_of


@pytest.fixture(scope="module")
def by_command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    (folder / "plan.toml").write_text(PLAN)
    arguments = ["sweep", str(folder / "plan.toml"), "-q", "-o", str(folder / "s")]
    subprocess.run([sys.executable, "-m", "stopwatt", *arguments], check=True, stdout=subprocess.DEVNULL)
    return folder / "s"


def test_python_leaves_the_bytes_of_the_command(by_command, tmp_path):
    told = []
    swept = stopwatt.sweep(PLAN, tmp_path / "s", progress=lambda *step: told.append(step))
    assert (swept.outcome["points"], swept.outcome["failures"]) == (80, 0)
    assert data_of(tmp_path / "s") == data_of(by_command)
    assert len(swept.files()) == 20
    points = swept.table("points")
    assert points["sweep_point"].to_pylist() == list(range(80))
    assert points["scp.channels"].to_pylist() == [1] * 40 + [2] * 40
    assert set(points["status"].to_pylist()) == {"done"}
    # Nothing is left to do.
    assert stopwatt.sweep(PLAN, tmp_path / "s").outcome["points"] == 0
    assert "scp.channels=2 seed=3" in swept.recording().report("csv")


def test_others_read_all_chunks_as_one_table(by_command):
    import dask.dataframe
    import duckdb
    import polars

    pattern = str(by_command / "data" / "*" / "measures.parquet")
    ((rows, points),) = duckdb.sql(f"SELECT count(*), count(DISTINCT sweep_point) FROM '{pattern}'").fetchall()
    assert points == 80
    frame = polars.scan_parquet(pattern).select("sweep_point", "value").collect()
    assert len(frame) == rows and frame["sweep_point"].n_unique() == 80
    assert len(dask.dataframe.read_parquet(pattern, columns=["value"])) == rows


def test_a_plan_that_is_wrong_is_an_exception_with_its_line(tmp_path):
    with pytest.raises(stopwatt.Error, match="the plan:2: unknown field `gird`"):
        stopwatt.sweep('experiment = "psci-latency"\n[gird]\n', tmp_path / "s")
    many = 'experiment = "psci-latency"\n[grid]\nseed = "1..100000"\niterations = "1..10000"\n'
    with pytest.raises(stopwatt.Error, match="1000000000 points"):
        stopwatt.sweep(many, tmp_path / "s")
    with pytest.raises(stopwatt.Error, match="cannot read the plan"):
        stopwatt.sweep(tmp_path / "none.toml", tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_points_that_fail_are_in_the_outcome(tmp_path):
    plan = PLAN.replace('release = "last"\n', "").replace("scp.channels = [1, 2]", 'release = ["last", "v9.9"]')
    swept = stopwatt.sweep(plan, tmp_path / "s")
    assert swept.outcome["failures"] == 40
    assert swept.outcome["failed"][0]["point"] == 40 and "v9.9" in swept.outcome["failed"][0]["why"]
    assert swept.table("points")["status"].to_pylist().count("failed") == 40


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield client


def test_dask_leaves_the_bytes_of_the_command(by_command, client, tmp_path):
    from stopwatt import dask

    swept = dask.sweep(client, PLAN, tmp_path / "s")
    assert (swept.outcome["points"], swept.outcome["chunks"]) == (80, 20)
    assert data_of(tmp_path / "s") == data_of(by_command)
    with pytest.raises(stopwatt.Error, match="unknown field"):
        dask.sweep(client, PLAN + "\n[gird]\n", tmp_path / "t")


def test_dask_survives_ten_workers_killed(tmp_path):
    from distributed import Client, LocalCluster
    from stopwatt import dask

    # 40 chunks, each of some tenths of a second.
    plan = PLAN.replace("count = 40", "count = 400").replace("iterations = 1", "iterations = 12").replace("chunk = 4", "chunk = 20")
    stopwatt.sweep(plan, tmp_path / "whole")
    chance, over, killed = random.Random(3), threading.Event(), []

    def chunks():
        return len(os.listdir(tmp_path / "s" / "data")) if (tmp_path / "s" / "data").exists() else 0

    def kill(cluster):
        before = 0
        while not over.is_set() and len(killed) < 10:
            time.sleep(0.002)
            workers = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            # After another chunk, so in the middle of the next.
            if chunks() > before and workers:
                before = chunks()
                victim = chance.choice(workers)
                try:
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)
                except ProcessLookupError:
                    pass

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        thread = threading.Thread(target=kill, args=[cluster])
        thread.start()
        try:
            swept = dask.sweep(client, plan, tmp_path / "s", batch=1)
        finally:
            over.set()
            thread.join()
    assert len(killed) == 10, killed
    assert data_of(tmp_path / "s") == data_of(tmp_path / "whole")
    points = swept.table("points")["sweep_point"].to_pylist()
    assert points == list(range(800)), "points are lost or doubled"
