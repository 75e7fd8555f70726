//! `import vpp-runtime`, and the report of it.

use super::{first_number, is_printed, json, said, told, written};
use crate::law::holds;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// A node of a thread: its number, calls, packets for each call, and clocks for each packet.
type Node = (usize, u64, u64, u32);

/// What is told of some threads' nodes.
struct Told {
    clocks: f64,
    json: Value,
    text: String,
}

fn threads() -> impl Strategy<Value = Vec<Vec<Node>>> {
    let node = (1..1_000_000_u64, 1..256_u64, 1..50_000_u32);
    let nodes = prop::collection::vec(node, 1..7);
    (nodes, 1..4_usize, prop::collection::vec(1..5_u64, 3)).prop_map(|(nodes, threads, times)| {
        let of = |times: u64| {
            let node = |(at, (calls, per, clocks)): (usize, &(u64, u64, u32))| {
                (at, calls * times, *per, *clocks)
            };
            nodes.iter().enumerate().map(node).collect()
        };
        times[..threads].iter().map(|&times| of(times)).collect()
    })
}

/// A text of `show runtime` over so many times ten seconds, with the packets that came in.
fn text(
    threads: &[Vec<Node>],
    received: &[u64],
    times: u64,
    name: impl Fn(usize) -> String,
) -> String {
    let thread = |(number, (nodes, received)): (usize, (&Vec<Node>, &u64))| {
        let row = |&(at, calls, per, clocks): &Node| {
            let (calls, vectors) = (calls * times, calls * per * times);
            format!(
                "{} active {calls} {vectors} 0 {:.2e} {per}.00\n",
                name(at),
                f64::from(clocks) / 100.0
            )
        };
        let rows: String = nodes.iter().map(row).collect();
        format!(
            "Thread {number} vpp_wk_{number} (lcore {number})\nTime {}.0, 10 sec\n  vector rates in {:e}, out 0, drop 0, punt 0\n\
             Name State Calls Vectors Suspends Clocks Vectors/Call\n{rows}",
            10 * times,
            *received as f64 / 10.0
        )
    };
    threads
        .iter()
        .zip(received)
        .enumerate()
        .map(thread)
        .collect()
}

fn imported(folder: &Path, text: &str) -> Told {
    let recording = folder.join("import").to_str().unwrap().to_owned();
    let file = written(folder, "runtime.txt", text);
    let printed = json(&["import", "vpp-runtime", &file, "-o", &recording]);
    Told {
        clocks: printed["clocks_per_packet"].as_f64().unwrap(),
        json: json(&["report", &recording]),
        text: told(&recording),
    }
}

/// The packets that came in: as many as met the node that most met.
fn received(threads: &[Vec<Node>]) -> Vec<u64> {
    let most = |nodes: &Vec<Node>| nodes.iter().map(|node| node.1 * node.2).max().unwrap();
    threads.iter().map(most).collect()
}

fn named(at: usize) -> String {
    format!("node-{at}")
}

/// The clocks of the whole and of each node.
fn parts(json: &Value) -> Vec<(String, f64)> {
    let rows = json["measures"].as_array().unwrap().iter();
    let of = rows.filter(|row| row["metric"] == "clocks-per-packet");
    of.map(|row| {
        (
            row["subject"].as_str().unwrap().to_owned(),
            row["median"].as_f64().unwrap(),
        )
    })
    .collect()
}

#[test]
fn the_whole_is_one_figure_and_the_sum_of_its_nodes() {
    let folder = tempfile::tempdir().unwrap();
    holds(14, "import vpp-runtime", 60, threads(), |threads| {
        let told = imported(
            folder.path(),
            &text(&threads, &received(&threads), 1, named),
        );
        let parts = parts(&told.json);
        let whole = parts.iter().find(|part| part.0.is_empty()).unwrap().1;
        let sum: f64 = parts
            .iter()
            .filter(|part| !part.0.is_empty())
            .map(|part| part.1)
            .sum();
        prop_assert!(
            (whole / told.clocks - 1.0).abs() < 1e-9 && (whole / sum - 1.0).abs() < 1e-9,
            "{:?}",
            parts
        );
        let printed = first_number(&told.text, "A packet takes ");
        prop_assert!(is_printed(printed, whole), "{whole}: {}", told.text);
        Ok(())
    });
}

#[test]
fn a_rare_node_moves_the_whole_by_its_share_and_leads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (threads(), 1..20_u64, 1..90_000_u32);
    holds(
        5,
        "import vpp-runtime",
        60,
        inputs,
        |(threads, rare, clocks)| {
            let came = received(&threads);
            let before = imported(folder.path(), &text(&threads, &came, 1, named));
            let mut more = threads.clone();
            more[0].push((99, 1, rare, clocks));
            let after = imported(folder.path(), &text(&more, &came, 1, named));
            // The whole has the clocks of as many packets as met the node.
            let all: u64 = came.iter().sum();
            let share = rare.min(all) as f64 / all as f64 * f64::from(clocks) / 100.0;
            prop_assert!(
                (after.clocks - before.clocks - share).abs()
                    < 1e-3 * (share + 1e-6 * after.clocks) + 1e-9 * after.clocks,
                "{} {} {}",
                before.clocks,
                after.clocks,
                share
            );
            let leads = after.text.split(". ").next().unwrap().contains("node-99");
            prop_assert!(
                !leads || share > 0.3 * after.clocks / (threads[0].len() + 1) as f64,
                "{}",
                after.text
            );
            Ok(())
        },
    );
}

#[test]
fn twice_as_long_a_runtime_is_told_alike() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        2,
        "import vpp-runtime",
        60,
        (threads(), 2..9_u64),
        |(threads, times)| {
            let came = received(&threads);
            let one = imported(folder.path(), &text(&threads, &came, 1, named));
            let long = imported(folder.path(), &text(&threads, &came, times, named));
            prop_assert!((one.clocks / long.clocks - 1.0).abs() < 1e-9);
            prop_assert_eq!(one.text, long.text);
            Ok(())
        },
    );
}

#[test]
fn names_and_order_of_nodes_and_threads_permute_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    holds(3, "import vpp-runtime", 60, threads(), |threads| {
        let one = imported(
            folder.path(),
            &text(&threads, &received(&threads), 1, named),
        );
        let mut turned = threads.clone();
        turned.reverse();
        turned.iter_mut().for_each(|nodes| nodes.reverse());
        let other = imported(
            folder.path(),
            &text(&turned, &received(&turned), 1, |at| format!("else-{at}")),
        );
        prop_assert!((one.clocks / other.clocks - 1.0).abs() < 1e-9);
        let first = |text: &str| text.split(". ").next().unwrap().replace("else-", "node-");
        prop_assert_eq!(first(&one.text), first(&other.text));
        let sorted = |json: &Value| {
            let mut parts: Vec<(String, i64)> = parts(json)
                .into_iter()
                .map(|(name, clocks)| {
                    (
                        name.replace("else-", "node-"),
                        (clocks * 1e4).round() as i64,
                    )
                })
                .collect();
            parts.sort();
            parts
        };
        prop_assert_eq!(sorted(&one.json), sorted(&other.json));
        Ok(())
    });
}

#[test]
fn nodes_with_the_same_clocks_have_no_first() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        13,
        "import vpp-runtime",
        40,
        (2..6_usize, 1..9_u64, 1..5_000_u32),
        |(nodes, per, clocks)| {
            let same: Vec<Node> = (0..nodes).map(|at| (at, 100_000, per, clocks)).collect();
            let threads = [same];
            let told = imported(
                folder.path(),
                &text(&threads, &received(&threads), 1, named),
            );
            let first = told.text.split(". ").next().unwrap();
            prop_assert!(!first.contains("node-"), "{}", first);
            Ok(())
        },
    );
}

/// A node that only one text has.
#[test]
fn a_node_that_one_text_lacks_is_told_first() {
    let folder = tempfile::tempdir().unwrap();
    holds(
        6,
        "compare of vpp-runtime",
        30,
        (threads(), any::<bool>()),
        |(threads, side)| {
            prop_assume!(threads[0].len() > 1);
            let came = received(&threads);
            let mut less = threads.clone();
            for nodes in &mut less {
                nodes.pop();
            }
            let [a, b] = [(&threads, "a"), (&less, "b")].map(|(of, name)| {
                let recording = folder.path().join(name).to_str().unwrap().to_owned();
                let file = written(folder.path(), "runtime.txt", &text(of, &came, 1, named));
                said(&["import", "vpp-runtime", &file, "-o", &recording]);
                recording
            });
            let sides = if side { [&a, &b] } else { [&b, &a] };
            let (status, text) = super::asked(&["compare", sides[0], sides[1]]);
            let gone = named(threads[0].len() - 1);
            prop_assert!(
                status != 0 && text.lines().take(3).any(|line| line.contains(&gone)),
                "{status}: {text}"
            );
            Ok(())
        },
    );
}

/// What idle polls cost is not taken for what a packet costs.
#[test]
fn a_node_that_polls_in_vain_is_told_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = (1_000..100_000_u64, 1..20_u64, any::<bool>());
    holds(
        20,
        "import vpp-runtime",
        30,
        inputs,
        |(calls, packets, is_idle)| {
            let calls = if is_idle { calls } else { packets };
            let clocks = 100.0 * calls as f64 / packets as f64 + 500.0;
            let row = |node: &str, calls: u64, clocks: f64| {
                format!(
                    "{node} polling {calls} {packets} 0 {clocks:.2e} {:.2}\n",
                    packets as f64 / calls as f64
                )
            };
            let text = format!(
                "Time 10.0, 10 sec\n  vector rates in {:e}, out 0, drop 0, punt 0\nName State Calls Vectors Suspends Clocks Vectors/Call\n{}{}",
                packets as f64 / 10.0,
                row("dpdk-input", calls, clocks),
                row("eth0-tx", packets, 80.0)
            );
            let told = imported(folder.path(), &text).text;
            prop_assert_eq!(told.contains("found no packet"), is_idle, "{}", told);
            Ok(())
        },
    );
}
