//! One example of each form in which idle states are posted.

use import::cpuidle::{Content, Counts, CpuCounts, State, read_bytes, read_path, record};
use proptest::prelude::*;
use recording::{Header, Recording};
use std::fmt::Write as _;
use std::path::Path;

/// What is known of a state of an owner, in words.
fn state(owner: &str, state: &State) -> String {
    let counters = [
        ("time", state.time_us),
        ("above", state.above),
        ("below", state.below),
        ("rejected", state.rejected),
        ("s2idle", state.s2idle),
        ("latency", state.latency_us),
        ("residency", state.residency_us),
    ];
    let known = counters
        .iter()
        .filter_map(|(name, value)| Some(format!(" {name} {}", (*value)?)));
    let disabled = if state.disabled { " disabled" } else { "" };
    format!(
        "{owner} {}: {}{}{disabled}",
        state.name,
        state.entered,
        known.collect::<String>()
    )
}

/// What a file holds, a line for each figure.
fn lines(content: Content) -> Vec<String> {
    match content {
        Content::Dump(dump) => {
            let of_cpus = dump.cpus.iter().flat_map(|(cpu, states)| {
                states.iter().map(move |of| state(&format!("cpu{cpu}"), of))
            });
            let domains = dump.domains.iter();
            let of_domains =
                domains.flat_map(|(name, states)| states.iter().map(move |of| state(name, of)));
            of_cpus.chain(of_domains).collect()
        }
        Content::Table(counts) => counts.iter().flat_map(of_counts).collect(),
    }
}

fn of_counts(counts: &Counts) -> Vec<String> {
    let name = |cpu: Option<u16>| cpu.map_or("all".to_owned(), |cpu| format!("cpu{cpu}"));
    let part = format!("{}{} ", counts.variant, counts.case);
    let of_cpus = counts
        .cpus
        .iter()
        .flat_map(|cpu| cpu.states.iter().map(move |of| state(&name(cpu.cpu), of)));
    let measured = counts.measured.iter().map(|of| {
        let owner = if of.place.is_empty() {
            name(of.cpu)
        } else {
            of.place.clone()
        };
        format!(
            "{owner} {}: {} {} {}",
            of.state, of.metric.name, of.value, of.metric.unit
        )
    });
    of_cpus
        .chain(measured)
        .map(|line| format!("{}{line}", part.trim_start()))
        .collect()
}

#[test]
fn each_form_gives_its_figures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let expected = include_str!("../expected-tables.txt");
    let mut found = String::new();
    for file in files {
        let said = match read_path(&folder.join(&file)) {
            Ok(Content::Dump(dump)) => {
                "a dump\n".to_owned() + &lines(Content::Dump(dump)).join("\n")
            }
            Ok(table) => lines(table).join("\n"),
            Err(error) => format!("line {}: {}", error.line, error.message),
        };
        let _ = writeln!(found, "== {file}\n{said}");
    }
    for (found, expected) in found.split("== ").zip(expected.split("== ")) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

/// Entries and microseconds of each state of each CPU.
type Figures = Vec<Vec<(u32, u32)>>;

const NAMES: [&str; 3] = ["WFI", "cpu-sleep-0", "cluster sleep"];

/// The same figures as programs print them.
fn printed(figures: &Figures) -> Vec<(&'static str, String)> {
    let row = |text: &dyn Fn(usize, usize, u32, u32) -> String| -> String {
        let states = figures.iter().enumerate().flat_map(|(cpu, states)| {
            states
                .iter()
                .enumerate()
                .map(move |(state, of)| (cpu, state, of))
        });
        states
            .map(|(cpu, state, &(usage, time))| text(cpu, state, usage, time))
            .collect()
    };
    let files = |between: &str| {
        row(&|cpu, state, usage, time| {
            let files = [
                ("name", NAMES[state].to_owned()),
                ("usage", usage.to_string()),
                ("time", time.to_string()),
            ];
            files
                .map(|(file, text)| {
                    format!("cpu{cpu}/cpuidle/state{state}/{file}{between}{text}\n")
                })
                .concat()
        })
    };
    let list = |cpu: usize| {
        let states = figures[cpu].iter().zip(NAMES).map(|((usage, time), name)| {
            format!(
                "{name}:\nFlags/Description: {name}\nLatency: 1\nUsage: {usage}\nDuration: {time}\n"
            )
        });
        format!(
            "analyzing CPU {cpu}:\n\nNumber of idle states: 3\n{}",
            states.collect::<String>()
        )
    };
    let json =
        |cpu: usize| {
            let states = figures[cpu].iter().zip(NAMES).enumerate().map(
                |(state, ((usage, time), name))| {
                    format!(
                        "\"state{state}\":{{\"name\":\"{name}\",\"usage\":{usage},\"time\":{time}}}"
                    )
                },
            );
            format!("\"cpu{cpu}\":{{{}}}", states.collect::<Vec<_>>().join(","))
        };
    let cpus = || 0..figures.len();
    vec![
        ("grep", files(":")),
        ("find", files(" ")),
        ("equals", files(" = ")),
        (
            "head",
            files(" <==\n")
                .replace("cpu", "==> cpu")
                .replace("==> cpu-", "cpu-")
                .replace("/==> cpu", "/cpu"),
        ),
        ("list", cpus().map(list).collect()),
        (
            "json",
            format!("{{{}}}", cpus().map(json).collect::<Vec<_>>().join(",\n")),
        ),
        (
            "csv",
            "cpu,state,name,usage,time_us\n".to_owned()
                + &row(&|cpu, state, usage, time| {
                    format!("{cpu},{state},{},{usage},{time}\n", NAMES[state])
                }),
        ),
        (
            "markdown",
            "| CPU | State | Name | Time (us) | Usage |\n|--|--|--|--|--|\n".to_owned()
                + &row(&|cpu, state, usage, time| {
                    format!(
                        "| cpu{cpu} | {state} | {} | {time} | {usage} |\n",
                        NAMES[state]
                    )
                }),
        ),
        (
            "columns",
            "CPU State Name Usage Time\n".to_owned()
                + &row(&|cpu, state, usage, time| {
                    format!("{cpu} {state} {} {usage} {time}\n", NAMES[state])
                }),
        ),
        (
            "prometheus",
            row(&|cpu, state, usage, time| {
                format!(
                    "node_cpuidle_usage_total{{cpu=\"{cpu}\",state=\"{state}\",name=\"{name}\"}} {usage}\nnode_cpuidle_time_us_total{{cpu=\"{cpu}\",state=\"{state}\",name=\"{name}\"}} {time}\n",
                    name = NAMES[state]
                )
            }),
        ),
        (
            "loop",
            row(&|cpu, state, usage, time| format!("cpu{cpu} {} {usage} {time}\n", NAMES[state])),
        ),
    ]
}

/// The measures of the recording that a text becomes.
fn recorded(form: &str, text: &str) -> Vec<String> {
    let counts = match read_bytes(form, text.as_bytes()) {
        Ok(Content::Table(counts)) => counts,
        Ok(Content::Dump(dump)) => {
            let of = |(cpu, states)| CpuCounts {
                cpu: Some(cpu),
                place: None,
                states,
            };
            vec![Counts {
                cpus: dump.cpus.into_iter().map(of).collect(),
                ..Counts::default()
            }]
        }
        Err(error) => panic!("{form}: {error} in\n{text}"),
    };
    let recording: Recording = record(Header::new("cpuidle", "import", "us"), &counts, "");
    let shown = |of: &recording::Measure| {
        let subject = of.subject.map_or("", |of| recording.text(of));
        format!(
            "{:?} {subject} {} {}",
            of.cpu,
            recording.text(of.metric),
            of.value
        )
    };
    recording.measures().iter().map(shown).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_print_of_a_table_becomes_the_same_recording(
        figures in prop::collection::vec(prop::collection::vec((1..1_000_000_u32, 1..4_000_000_000_u32), 3), 1..12)
    ) {
        let forms = printed(&figures);
        let first = recorded(forms[0].0, &forms[0].1);
        prop_assert_eq!(first.len(), 6 * figures.len());
        for (form, text) in &forms[1..] {
            prop_assert_eq!(&recorded(form, text), &first, "{}", form);
        }
    }
}
