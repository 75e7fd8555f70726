"""A sweep on a cluster of Ray: python sweep_ray.py PLAN FOLDER SHARDS. The nodes must share FOLDER and have the program."""

import subprocess
import sys

import ray

plan, folder, shards = sys.argv[1], sys.argv[2], int(sys.argv[3])


# A shard whose worker is lost is run again, and goes on where it was.
@ray.remote(max_retries=3)
def shard(index: int) -> int:
    command = ["stopwatt", "--quiet", "sweep", plan, "-o", folder, "--shard", f"{index}/{shards}"]
    return subprocess.run(command).returncode


ray.init()
sys.exit(max(ray.get([shard.remote(index) for index in range(1, shards + 1)])))
