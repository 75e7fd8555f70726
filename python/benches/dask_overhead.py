"""What Dask adds to a sweep of 10 000 points of one iteration of the six PSCI cases: two workers beside two threads, in turns.

Run it with the package installed, dask and distributed: python python/benches/dask_overhead.py [POINTS] [ROUNDS]
"""

import statistics
import sys
import tempfile
import time

import stopwatt
from distributed import Client, LocalCluster
from stopwatt import dask

PLAN = """
experiment = "psci-latency"
[settings]
release = "last"
iterations = 1
free-seeds = 0
order = "free"
[seeds]
count = {points}
"""


def main():
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    plan, threads, workers = PLAN.format(points=points), [], []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        # Each worker imports the package once.
        client.run(lambda: __import__("stopwatt.dask"))
        for number in range(rounds):
            for does, times in ((stopwatt.sweep, threads), (lambda *of: dask.sweep(client, *of), workers)):
                with tempfile.TemporaryDirectory() as folder:
                    begin = time.perf_counter()
                    does(plan, f"{folder}/s")
                    times.append(time.perf_counter() - begin)
            print(f"round {number}: two threads {threads[-1]:.2f} s, Dask {workers[-1]:.2f} s", flush=True)
    ours, theirs = statistics.median(threads), statistics.median(workers)
    print(f"medians: two threads {ours:.2f} s, Dask {theirs:.2f} s, {100 * (theirs / ours - 1):+.1f} %")


if __name__ == "__main__":
    main()
