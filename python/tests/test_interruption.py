"""Ctrl-C during a call, and a lack of memory. Each in an interpreter of its own."""

import subprocess
import sys

import pytest

# A call that would take minutes gets a signal, and says how long it went on.
INTERRUPTED = """
import os, signal, sys, threading, time
import stopwatt

# A shell starts what runs in its background with this signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = sys.argv[1]
small = dict(release="last", free_seeds=0)
if "compare" in {call!r} or "page" in {call!r}:
    one, other = (stopwatt.run("psci-latency", iterations=400, seed=seed) for seed in (1, 2))
sent = []

def send():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.3, send).start()
try:
    {call}
except KeyboardInterrupt:
    print(f"{{time.monotonic() - sent[0]:.3f}}")
else:
    print("it came to its end")
"""

CALLS = {
    "a single simulation": 'stopwatt.run("psci-latency", iterations=100_000, **small)',
    "many simulations": 'stopwatt.run("psci-latency", free_seeds=100_000)',
    "a sweep": 'stopwatt.sweep(\'experiment = "psci-latency"\\n[seeds]\\ncount = 100_000\\n\', folder)',
    "a what-if": 'stopwatt.what_if("psci-latency", {"topology.clusters": "1..64"}, free_seeds=1000)',
    "a fit": "[stopwatt.calibrate(\"juno-r1\") for _ in range(100)]",
    "a comparison": "[stopwatt.compare(one, other) for _ in range(100)]",
    "a page": "[one.page() for _ in range(100)]",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_ctrl_c_ends_a_call_at_once(call, tmp_path):
    program = [sys.executable, "-c", INTERRUPTED.format(call=call), str(tmp_path / "s")]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    # The promise is half a second; the rest is for a machine that does something else as well.
    assert float(ran.stdout) < 2, ran.stdout
    # Nothing that is not whole is left: it was removed when the interpreter ended.
    assert not list(tmp_path.rglob(".*partial*"))


LIMITED = """
import re, resource, sys
import stopwatt

used = 1024 * int(re.search("VmSize:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1])
resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20),) * 2)
try:
    {call}
except MemoryError as error:
    print(error)
# And it goes on.
print(len(stopwatt.run("psci-latency", release="last", iterations=1, free_seeds=0).measures) > 0)
"""


def limited(call):
    ran = subprocess.run([sys.executable, "-c", LIMITED.format(call=call)], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    *said, goes_on = ran.stdout.splitlines()
    assert goes_on == "True"
    return "\n".join(said)


def test_a_run_that_needs_more_memory_than_there_is_raises_memory_error(tmp_path):
    import stopwatt

    assert "MiB can be had" in limited('stopwatt.run("psci-latency", iterations=90_000)')
    # More than a recording may have, on any machine.
    with pytest.raises(MemoryError, match="100000 iterations leave"):
        stopwatt.run("psci-latency", iterations=100_000)


def test_a_loop_of_tune_runs_in_this_interpreter_started_again(tmp_path):
    import stopwatt

    # The process that is to load it says what is wrong with it.
    loop = tmp_path / "loop.so"
    loop.write_text("no shared object")
    with pytest.raises(stopwatt.Error, match="loop.so cannot be loaded"):
        stopwatt.run("tune", loop=loop)
