#!/usr/bin/env python3
"""Makes guest.perfetto of guest.trace with the descriptors that Perfetto publishes: needs the packages perfetto and protobuf.

    make_perfetto.py guest.trace guest.perfetto

The CPUs' events come in rounds of 10 ms, as traced_probes reads them; every other packet is compressed; switches and wake-ups of CPU 0 are
compact; what Perfetto has no message for is a generic event.
"""

import re
import sys
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

SYMBOLS = {"tick_sched_timer": 1, "hrtimer_wakeup": 2}
LINE = re.compile(r".*\[(\d+)\] \S+\s+(\d+)\.(\d{6}): (\w+): (.*)")


def fill(event, name, text):
    pairs = dict(re.findall(r"(\w+)=(\S*)", text))
    if name in ("tick_stop", "cpu_idle_miss"):
        generic = event.generic
        generic.event_name = name
        numbers = {"success": pairs.get("success")} if name == "tick_stop" else {"cpu_id": pairs["cpu_id"], "state": pairs["state"], "below": int(pairs["type"] == "below")}
        for key, value in numbers.items():
            generic.field.add(name=key, uint_value=int(value))
        return
    message = getattr(event, name)
    message.SetInParent()
    for key, value in pairs.items():
        if key == "function":
            message.function = SYMBOLS.get(value, 9)
        elif key in ("hrtimer", "timer"):
            setattr(message, key, int(value, 16))
        elif key in ("comm", "prev_comm", "next_comm", "name"):
            setattr(message, key, value)
        elif key in ("state", "cpu_id", "expires", "softexpires", "now", "irq", "pid", "prev_pid", "next_pid", "target_cpu"):
            setattr(message, key, int(value))
    if name == "timer_start":
        message.now = int(pairs["expires"]) - int(pairs["timeout"].rstrip("]"))
        message.flags = int(pairs["cpu"]) | int(pairs["idx"]) << 22 | ("D" in pairs["flags"]) << 19


def compact(bundle, name, time, text, state):
    pairs = dict(re.findall(r"(\w+)=(\S*)", text))
    sched = bundle.compact_sched
    comm = pairs.get("next_comm", pairs.get("comm"))
    if comm not in sched.intern_table:
        sched.intern_table.append(comm)
    index = list(sched.intern_table).index(comm)
    if name == "sched_switch":
        sched.switch_timestamp.append(time - state.get("switch", 0))
        state["switch"] = time
        sched.switch_next_pid.append(int(pairs["next_pid"]))
        sched.switch_prev_state.append(0)
        sched.switch_next_prio.append(120)
        sched.switch_next_comm_index.append(index)
    else:
        sched.waking_timestamp.append(time - state.get("waking", 0))
        state["waking"] = time
        sched.waking_pid.append(int(pairs["pid"]))
        sched.waking_target_cpu.append(int(pairs["target_cpu"]))
        sched.waking_prio.append(120)
        sched.waking_comm_index.append(index)


def main():
    rounds = {}
    for line in open(sys.argv[1]):
        found = not line.startswith("#") and LINE.match(line)
        if found:
            cpu, seconds, micros, name, text = found.groups()
            time = (int(seconds) * 1_000_000 + int(micros)) * 1000
            rounds.setdefault(time // 10_000_000, {}).setdefault(int(cpu), []).append((time, name, text))
    packets = []
    first = pb.TracePacket()
    for symbol, number in SYMBOLS.items():
        first.interned_data.kernel_symbols.add(iid=number, str=symbol.encode())
    packets.append(first)
    for _, cpus in sorted(rounds.items()):
        for cpu, events in sorted(cpus.items()):
            packet = pb.TracePacket()
            bundle = packet.ftrace_events
            bundle.cpu = cpu
            state = {}
            for time, name, text in events:
                if cpu == 0 and name in ("sched_switch", "sched_wakeup"):
                    compact(bundle, name, time, text, state)
                else:
                    event = bundle.event.add(timestamp=time, pid=1)
                    fill(event, name, text)
            packets.append(packet)
    trace = pb.Trace()
    for index, packet in enumerate(packets):
        if index % 2:
            inner = pb.Trace()
            inner.packet.append(packet)
            packet = pb.TracePacket(compressed_packets=zlib.compress(inner.SerializeToString()))
        trace.packet.append(packet)
    open(sys.argv[2], "wb").write(trace.SerializeToString())


main()
