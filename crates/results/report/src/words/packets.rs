//! Packets: what a graph at full load does, which loops and strides take least time, and which
//! frames stay in the caches.

use super::{clocks, listed, within};
use crate::blocks::{figure, fixed};
use findings::batch::{Batch, best};
use findings::loaded::LoadedGraph;
use findings::strides::{Gains, MeasuredStudy, PredictedStudy, label};
use findings::ticks::Ticks;
use findings::working_set::{HARDLY_ANY, LATER, Way, WorkingSet};
use itertools::Itertools;
use recording::facts;

/// The rate out of a graph, what became of the other packets, and the clocks.
pub fn loaded(loaded: &LoadedGraph<'_>) -> String {
    let (Some(rate), Some(taken)) = (&loaded.windows, &loaded.clocks) else {
        return String::new();
    };
    let share = |packets: u64| figure(100.0 * packets as f64 / loaded.received.max(1) as f64);
    let rest = match loaded.lost {
        0 if loaded.facts.rate > 0 => String::new(),
        0 => ", all that come in".to_owned(),
        lost => format!(
            " of {} that come in: {} % of the packets are dropped, {} % punted",
            fixed(loaded.received_mpps, 2),
            share(lost - loaded.punted),
            share(loaded.punted)
        ),
    };
    if loaded.facts.rate > 0 {
        let offered = (loaded.facts.rate * loaded.facts.workers) as f64 / 1e6;
        return format!(
            "{} sends {} Mpps{rest}. The device offers {} Mpps, and the graph takes {} % of them, {} packets per call of {} at most.",
            loaded.graph,
            clocks::spread(rate, 1.0, 2),
            figure(offered),
            figure((100.0 * loaded.received_mpps / offered).min(100.0)),
            figure(loaded.nodes.vectors_per_call()),
            loaded.frame_size
        );
    }
    let (factor, unit) = (loaded.ticks.factor(), clocks::unit(&loaded.ticks));
    let dearest = loaded
        .nodes
        .dearest()
        .filter(|_| loaded.steadiness.repeats)
        .as_ref()
        .and_then(|of| of.alone())
        .map(|node| {
            format!(
                "; {} of them in {}",
                figure(factor * node.clocks_of_path),
                node.name
            )
        });
    format!(
        "{} sends {} Mpps{rest}. A packet takes {} {unit}{}.",
        loaded.graph,
        clocks::spread(rate, 1.0, 2),
        clocks::spread(taken, factor, 1),
        dearest.unwrap_or_default()
    )
}

/// The settings of a graph's run.
pub fn settings(facts: &facts::GraphLoad) -> String {
    let packets = facts.packets.clone().unwrap_or_else(|| match facts.flows {
        1 => "64-byte packets, 1 flow".to_owned(),
        flows => format!("64-byte packets, {flows} flows"),
    });
    let reuse = if facts.reuse == "hot" {
        "reused hot"
    } else {
        "cycled"
    };
    let mut words = format!(
        "{}: {packets}, {} buffers {reuse}, frames of {}, {} loop, strides {}",
        facts.graph, facts.buffers, facts.frame_size, facts.shape, facts.strides
    );
    if facts.graph != "l2-xconnect" && facts.routes > 0 {
        let checksum = if facts.checksum {
            "verified"
        } else {
            "not verified"
        };
        words += &format!(", {} routes, header checksum {checksum}", facts.routes);
    }
    if !facts.objects.is_empty() {
        words += &format!(", nodes of {}", facts.objects.join(", "));
    }
    words + "."
}

/// The best loop of a study on this machine, and its gains where the machine repeats itself.
pub fn measured(study: &MeasuredStudy<'_>) -> Option<String> {
    let more = format!("; `--repetitions {}` may", (4 * study.repetitions).max(15));
    gains(&study.gains, &study.ticks, study.steadiness.repeats, &more)
}

fn gains(of: &Gains, ticks: &Ticks, repeats: bool, more: &str) -> Option<String> {
    let leaders = of.least()?;
    let best = leaders.items.first()?;
    let takes = format!("{} per packet", clocks::words(ticks, best.clocks));
    let (name, at) = (
        &best.loop_name,
        label(best.stride_first, best.stride_second),
    );
    let said = match (repeats, leaders.alone()) {
        (false, _) => {
            return Some(format!(
                "The lowest median of a loop is that of {name} at {at}: {takes}."
            ));
        }
        (true, Some(_)) => format!("The loop {name} takes the least time, {takes} at {at}"),
        (true, None) if of.gains.len() < 2 => format!("The loop {name} takes {takes} at {at}"),
        (true, None) if leaders.is_all() => {
            format!("No loop is told to take less time than another; {name} takes {takes} at {at}")
        }
        (true, None) => format!(
            "The loops {} take the least time, and none is told from another: {takes} with {name} at {at}",
            listed(leaders.items.iter().map(|gain| &gain.loop_name))
        ),
    };
    Some(if !best.is_faster {
        format!("{said}. Repetitions do not tell it from the single loop without prefetch{more}.")
    } else {
        format!(
            "{said}. {name} is {:.2} times as fast as the single loop without prefetch: {:.2} times by parallelism and {:.2} times by prefetch.",
            best.gain, best.gain_parallel, best.gain_prefetch
        )
    })
}

/// What prefetch gains in the model, and how far it misses what no fit used.
pub fn predicted(study: &PredictedStudy<'_>) -> Option<String> {
    let errors = study
        .scores
        .iter()
        .filter(|score| score.predictor == "model" && !score.fitted);
    let errors = errors
        .map(|score| format!("{} by {} %", score.loop_name, fixed(score.rms_percent, 2)))
        .join(" and ");
    let missed = (!errors.is_empty())
        .then(|| format!("The model misses the published loops that no fit used, {errors} (rms)."));
    let said = gains(&study.gains, &study.ticks, true, "")
        .into_iter()
        .chain(missed)
        .join(" ");
    (!said.is_empty()).then_some(said)
}

/// The frame sizes with the fewest clocks; the range of all where none is told to be best.
pub fn frames(batch: &Batch<'_>) -> String {
    let taken = |clocks: f64| clocks::words(&batch.ticks, clocks);
    let best = best(&batch.rows).filter(|_| batch.steadiness.repeats);
    let sizes = best
        .iter()
        .flat_map(|best| &best.items)
        .map(|row| row.frame_size);
    match &best {
        Some(best) if best.is_all() => format!(
            "Frames of all {} sizes take the same time{}: {} per packet measured with prefetch at stride +4.",
            best.items.len(),
            within(
                best.items.iter().map(|row| row.clocks_per_packet[1]),
                "repetitions and "
            ),
            taken(best.items[0].clocks_per_packet[1])
        ),
        Some(best) if best.behind > 0 => {
            let [none, four] = best.items[0].clocks_per_packet.map(taken);
            let sizes = listed(sizes);
            format!(
                "Frames of {sizes} packets take the least time: {four} per packet measured with prefetch at stride +4, {none} without."
            )
        }
        _ => {
            let (least, most) = batch
                .rows
                .iter()
                .flat_map(|row| row.repetitions[1].iter().copied())
                .minmax_by(f64::total_cmp)
                .into_option()
                .unwrap_or((f64::INFINITY, 0.0));
            format!(
                "Which size of frames takes the least time cannot be told: a packet was measured to take {} to {} with prefetch at stride +4.",
                taken(least),
                taken(most)
            )
        }
    }
}

/// The frames whose lines stay in L1, and the buffers whose metadata stay in L2.
pub fn kept(found: &WorkingSet<'_>) -> String {
    let [l1, l2] = [found.l1_bytes, found.l2_bytes].map(|bytes| bytes / 1024);
    let frames = up_to(
        &found.frame_sizes,
        |way| way.frame_size,
        |way| way.beyond_l1(LATER),
    );
    let buffers = up_to(
        &found.pools,
        |way| way.pool,
        |way| way.metadata_from_memory(),
    );
    format!(
        "At all {} strides of buffers, frames of {frames} packets stay in L1 ({l1} KB) from node to node. \
         Metadata of {buffers} buffers stay in L2 ({l2} KB).",
        strides(&found.frame_sizes).len()
    )
}

/// The strides of the ways of one size, in their order.
pub fn strides(ways: &[Way<'_>]) -> Vec<u64> {
    let size = |way: &Way<'_>| (way.frame_size, way.pool);
    ways.chunk_by(|a, b| size(a) == size(b))
        .next()
        .unwrap_or_default()
        .iter()
        .map(|way| way.buffer_bytes)
        .collect()
}

/// The sizes at which hardly an access is lost at any stride.
fn up_to(ways: &[Way<'_>], size: fn(&Way<'_>) -> u64, lost: fn(&Way<'_>) -> f64) -> String {
    let sizes = ways.chunk_by(|a, b| size(a) == size(b));
    match sizes
        .take_while(|ways| ways.iter().all(|way| lost(way) < HARDLY_ANY))
        .last()
    {
        Some(ways) => format!("up to {}", size(&ways[0])),
        None => format!("less than {}", ways.first().map_or(0, size)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::working_set::Node;

    /// A way whose node [`LATER`] makes some accesses beyond L1.
    fn way(frame_size: u64, buffer_bytes: u64, l2: f64) -> Way<'static> {
        let nodes = vec![Node {
            node: LATER,
            l2,
            memory: 0.0,
            data: Vec::new(),
        }];
        Way {
            frame_size,
            pool: 1024,
            buffer_bytes,
            bytes: [0; 3],
            nodes,
        }
    }

    #[test]
    fn a_size_is_kept_where_every_stride_keeps_it() {
        let way = |size, l2| way(size, 4096, l2);
        let ways = [
            way(64, 0.0),
            way(64, 0.01),
            way(128, 0.0),
            way(128, 2.0),
            way(256, 0.0),
        ];
        let kept = |ways: &[Way<'_>]| up_to(ways, |way| way.frame_size, |way| way.beyond_l1(LATER));
        assert_eq!(kept(&ways), "up to 64");
        assert_eq!(kept(&ways[3..]), "less than 128");
        assert_eq!(kept(&[]), "less than 0", "a recording of another version");
    }
}
