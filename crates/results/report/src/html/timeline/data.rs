//! The data that the script needs of a picture: all spans, calls and paths, in few characters.

use super::kinds;
use super::picture::{Axis, Lane, Names, Picture, What, cpu_name};
use attribution::Actor;
use itertools::Itertools;
use recording::place_of;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A picture as JSON.
///
/// `lanes`: `n` name, `s` second name, `p` CPU (or -1 less the channel), `t` first tick after `t0`,
/// `d` three numbers a span: length, kind (see [`kinds::kinds`]), and (by what) number of a wait
/// from 1, count of polls, or CPU; `c` three numbers a call: ticks since the call before, length,
/// number of its name. `waits`: holder and what was waited for. `names`: those of CPUs that have no
/// lane, by their number. `axes`: `kept` in ticks after `t0`; `fold`, its width in ticks; `paths`
/// by CPU: first tick, then three numbers a part: lane, length, CPU that is served or -1.
pub fn data(picture: &Picture, names: &Names) -> Value {
    let t0 = picture
        .lanes
        .iter()
        .filter_map(|lane| Some(lane.spans.first()?.from))
        .min()
        .unwrap_or(0);
    let mut waits = Vec::new();
    let mut wait_numbers: HashMap<(u16, u32), u64> = HashMap::new();
    let mut functions: Vec<&'static str> = Vec::new();
    let mut lanes = Vec::new();
    for lane in &picture.lanes {
        let first = lane.spans.first().map_or(t0, |span| span.from);
        let mut at = first;
        let mut numbers: Vec<u64> = Vec::with_capacity(lane.spans.len() * 3);
        for span in &lane.spans {
            if span.from > at {
                numbers.extend([span.from - at, kinds::GAP as u64, 0]);
            }
            let more = match span.what {
                What::Cause(_) => span.holder.map_or(0, |holder| {
                    *wait_numbers
                        .entry((holder, span.on.unwrap_or(0)))
                        .or_insert_with(|| {
                            waits.push((holder, span.on.unwrap_or(0)));
                            waits.len() as u64
                        })
                }),
                What::NormalWorld | What::LowPower => 0,
                What::Polls(count) => u64::from(count),
                What::Serves(cpu) | What::Takes(cpu) => u64::from(cpu),
            };
            let what = kinds::number(span.what) as u64;
            numbers.extend([span.to.saturating_sub(span.from.max(at)), what, more]);
            at = span.to.max(at);
        }
        let calls = calls(lane, t0, &mut functions);
        let place = match lane.place {
            Actor::Cpu(cpu) => i64::from(cpu),
            Actor::Scp(channel) => -1 - i64::from(channel),
        };
        lanes.push(json!({ "n": lane.name, "s": lane.sub, "p": place, "t": first - t0, "d": numbers, "c": calls }));
    }
    let spans = || picture.lanes.iter().flat_map(|lane| &lane.spans);
    let names: serde_json::Map<String, Value> = spans()
        .filter_map(|span| match span.what {
            What::Serves(cpu) | What::Takes(cpu) => Some(cpu),
            _ => span.holder,
        })
        .filter(|&cpu| picture.lane_of(Actor::Cpu(cpu)).is_none())
        .map(|cpu| (cpu.to_string(), cpu_name(names, cpu).into()))
        .collect();
    let axes = picture
        .axes
        .iter()
        .map(|axis| self::axis(picture, axis, t0))
        .collect_vec();
    json!({ "tick": picture.tick_us, "lanes": lanes, "waits": waits, "calls": functions, "names": names, "axes": axes })
}

/// The calls of a lane in numbers; `functions` are the names so far.
fn calls(lane: &Lane, t0: u64, functions: &mut Vec<&'static str>) -> Vec<u64> {
    let mut calls: Vec<u64> = Vec::with_capacity(lane.calls.len() * 3);
    let mut before = t0;
    for call in &lane.calls {
        let name = call.name();
        let function = place_of(functions, |&other| other == name, || name);
        calls.extend([
            call.from.saturating_sub(before),
            call.to - call.from,
            function as u64,
        ]);
        before = call.from.max(before);
    }
    calls
}

fn axis(picture: &Picture, axis: &Axis, t0: u64) -> Value {
    let kept = axis
        .kept
        .iter()
        .map(|&(from, to)| (from.saturating_sub(t0), to.saturating_sub(t0)))
        .collect_vec();
    let paths: serde_json::Map<String, Value> = axis
        .paths
        .iter()
        .map(|(cpu, path)| {
            let mut numbers =
                vec![path.first().map_or(0, |part| part.from.saturating_sub(t0)) as i64];
            for part in path {
                let lane = picture.lane_of(part.place).map_or(-1, |lane| lane as i64);
                numbers.extend([
                    lane,
                    (part.to - part.from) as i64,
                    part.serves.map_or(-1, i64::from),
                ]);
            }
            (cpu.to_string(), json!(numbers))
        })
        .collect();
    json!({ "title": axis.title, "view": axis.metric.map(|metric| metric.name), "zero": axis.zero - t0.min(axis.zero), "fold": axis.fold(), "kept": kept, "slow": axis.slowest, "paths": paths })
}
