"""Decodes a trace with the descriptors that Perfetto publishes, and checks that it nests. Prints what it counted, a fact a line."""
import sys
from collections import Counter, defaultdict

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

trace = Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())

tracks, events = {}, defaultdict(list)
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1
    if packet.HasField("track_descriptor"):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor
    if packet.HasField("track_event"):
        events[packet.track_event.track_uuid].append((packet.timestamp, packet.track_event))

counts, causes, flows, ends = Counter(), Counter(), {}, {}
deepest, unfilled = 0, 0
for uuid, on_track in events.items():
    assert tracks[uuid].parent_uuid in tracks, "a track without its process"
    on_track.sort(key=lambda event: event[0])
    stack = []
    for at, event in on_track:
        for flow in event.flow_ids:
            flows[flow] = at
        for flow in event.terminating_flow_ids:
            ends[flow] = at
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            kind = event.categories[0]
            counts[kind] += 1
            assert kind != "cause" or (stack and stack[-1][0] == "call"), f"a cause outside of a call at {at}"
            assert kind == "cause" or not stack, f"{kind} within {stack} at {at}"
            stack.append([kind, at, 0])
            deepest = max(deepest, len(stack))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            kind, begin, within = stack.pop()
            assert at > begin, f"a slice of no length at {at}"
            if stack:
                stack[-1][2] += at - begin
            if kind == "call" and within != at - begin:
                unfilled += 1
        else:
            assert event.type == TrackEvent.TYPE_INSTANT
            counts[event.name] += 1
            counts["instants"] += 1
    assert not stack, f"left open on {tracks[uuid].name}: {stack}"

assert set(ends) <= set(flows), "a flow without its begin"
assert all(flows[flow] < ends[flow] for flow in ends), "a flow back in time"
processes = sorted(track.process.process_name for track in tracks.values() if track.HasField("process"))
print(f"instants={counts['instants']}")
print(f"enter-psci={counts['enter-psci']}")
print(f"calls={counts['call']} causes={counts['cause']} depth={deepest} unfilled={unfilled}")
print(f"stretches={counts['stretch']}")
print(f"flows={len(flows)} ended={len(ends)}")
print(f"processes={';'.join(processes)}")
print(f"tracks={';'.join(sorted({track.name for track in tracks.values() if track.name}))}")
