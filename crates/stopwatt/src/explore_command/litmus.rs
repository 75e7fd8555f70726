//! `stopwatt explore litmus`.

use super::printout::Printout;
use crate::answer::Answer;
use crate::output::Format;
use clap::Args;
use console::Console;
use explore::litmus::{self, Caches, Litmus, Verdict};
use serde_json::{Value, json};

/// Options of `explore litmus`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt explore litmus
  stopwatt explore litmus --schedules 10000000
  stopwatt explore litmus MP.litmus
  stopwatt explore litmus tests/*.litmus --expect tests/kinds.txt")]
pub struct LitmusOptions {
    /// Stock litmus tests for AArch64, answered by Arm's model as herd7 answers them: `.litmus`
    /// files, folders of them, or lists of them (`@all`). Without files the explorer's own memory
    /// is tried on the programs that it ships.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<std::path::PathBuf>,
    /// Compares the answers with a `kinds.txt`, a CSV of `test,kind`, or answers of herd7.
    #[arg(long, value_name = "FILE", requires = "files")]
    pub(super) expect: Option<std::path::PathBuf>,
    /// Tests that need what is not modelled are named, and do not make the exit status 2.
    #[arg(long, requires = "files")]
    pub(super) skip_unsupported: bool,
    /// Jumps backwards in a thread after which a run is left out, as herd7's -unroll. An answer
    /// that could be another one with more of them makes the exit status 2.
    #[arg(long, default_value_t = ::litmus::UNROLL, value_name = "N", requires = "files", value_parser = clap::value_parser!(u32).range(..=64))]
    pub(super) unroll: u32,
    /// Seconds that each test may take; one that takes longer has no answer.
    #[arg(long, default_value_t = ::litmus::LIMIT.as_secs(), value_name = "SECONDS", requires = "files", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) timeout: u64,
    /// Schedules that are drawn of each program, beside all that there are.
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// Seed of what is drawn.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub(super) format: Format,
}

/// Schedules of a litmus program that are tried one by one; none of those shipped has more.
const EVERY: u64 = 100_000_000;

/// Programs that are tried on some memories: the key in JSON, what it is called, and how it is set.
struct Batch {
    title: &'static str,
    memories: &'static [(&'static str, &'static str, Caches)],
    programs: Vec<Litmus>,
}

pub(super) fn try_litmus(console: &Console, options: &LitmusOptions) -> Printout {
    let batches = [
        Batch {
            title: "Order",
            memories: &[("caches_on", "caches on", Caches::On), ("caches_off", "caches off", Caches::Off)],
            programs: litmus::shipped(),
        },
        Batch {
            title: "MMU off: one block of Device-nGnRnE memory",
            memories: &[("mmu_off", "MMU off", Caches::Device)],
            programs: litmus::in_device_memory(),
        },
        Batch {
            title: "Maintenance between CPUs whose caches are on and CPUs whose caches are off",
            memories: &[("mixed", "some on, some off", Caches::On)],
            programs: litmus::of_maintenance(),
        },
    ];
    let mut values = Vec::new();
    let mut text = String::new();
    let mut right = true;
    for Batch { title, memories, programs } in batches {
        let mut headings = vec!["program".to_owned(), "expected".to_owned()];
        for (_, memory, _) in memories {
            headings.extend(["", "schedules", "drawn"].map(|column| format!("{memory}\n{column}")));
        }
        let mut rows = Vec::new();
        for program in &programs {
            let (value, row, agrees) = try_one(program, memories, options);
            right &= agrees;
            values.push(value);
            rows.push(row);
        }
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let table = report::table_text(&headings, rows, 2, console.style());
        text.push_str(&format!("{title}\n{table}\n"));
    }
    let answer = if right { Answer::Yes } else { Answer::No };
    if options.format == Format::Json {
        return Printout::json(answer, json!({ "programs": values, "agrees": right }));
    }
    let end = if right { "All agree with the architecture." } else { "Some do not agree with the architecture." };
    text.push_str(&format!("drawn: with the outcome, of {} drawn at random\n{end}\n", options.schedules));
    Printout::text(answer, text)
}

/// A program on each memory, for machines and as cells; and whether it agrees with the
/// architecture.
fn try_one(program: &Litmus, memories: &[(&str, &str, Caches)], options: &LitmusOptions) -> (Value, Vec<String>, bool) {
    let expected = if program.verdict == Verdict::Allowed { "allowed" } else { "forbidden" };
    let mut value = json!({ "name": program.name, "expected": expected });
    let mut row = vec![program.name.clone(), expected.to_owned()];
    let mut agrees = true;
    for &(name, _, caches) in memories {
        let every = litmus::enumerate(program, caches, EVERY);
        let drawn = litmus::draw(program, caches, options.seed, options.schedules);
        let seen = every.outcomes + drawn.outcomes > 0;
        agrees &= seen == (program.verdict == Verdict::Allowed) && every.complete;
        value[name] = json!({
            "seen": seen, "schedules": every.runs, "complete": every.complete,
            "drawn": drawn.runs, "drawn_with_outcome": drawn.outcomes,
        });
        let complete = if every.complete { "all" } else { "first" };
        row.push(if seen { "seen" } else { "never" }.to_owned());
        row.push(format!("{complete} {}", every.runs));
        row.push(drawn.outcomes.to_string());
    }
    (value, row, agrees)
}
