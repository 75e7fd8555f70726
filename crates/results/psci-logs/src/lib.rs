//! Messages of PSCI in logs of Linux, U-Boot, Trusted Firmware-A, OP-TEE and Xen, and `power_state`
//! parameters: what was refused, by which rule of DEN0022, and the causes, likeliest first.
//!
//! Messages, causes and rules are data: `data/messages.toml`, whose head says how it is written.
//! [`log`] finds the messages of a log, pairs those of one CPU in their order, and gives the first
//! answer of the file that fits. [`parameter`] reads a `power_state` in both forms, beside a device
//! tree's idle states, and [`code`] a number that a call returned.
#![forbid(unsafe_code)]

use document::{Document, number, printable};
use import::cpuidle::first;
use itertools::Itertools;
use platforms::Board;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A sentence, and the sentences that belong to it.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Told {
    /// What it is, such as `trouble`, `line`, `rule`, `cause`, `next`.
    pub kind: String,
    /// The sentence.
    pub text: String,
    /// What belongs to it, in order.
    pub details: Vec<Told>,
    /// Messages of a log that ask for it.
    #[serde(skip_serializing)]
    with: Vec<String>,
    /// Of an answer: messages about the same CPU that the log has in this order.
    #[serde(skip_serializing)]
    order: Vec<String>,
    /// Of an answer: names of causes, likeliest first.
    #[serde(skip_serializing)]
    causes: Vec<String>,
    /// Of a sentence on parameters: bits of which none is set, and bits of which one is set at
    /// least; 0 where any will do.
    #[serde(skip_serializing)]
    none: u32,
    #[serde(skip_serializing)]
    some: u32,
}

impl Told {
    fn new(kind: &str, text: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// The text for people: a line each, and what belongs to it below it, after `indent` blanks.
    pub fn lines(&self, indent: usize) -> String {
        let details = self.details.iter().map(|told| {
            let (kind, lines) = (&told.kind, told.lines(indent + 2));
            format!("{:indent$}{kind}: {lines}", "")
        });
        format!("{}\n{}", self.text, details.format(""))
    }
}

/// What `data/messages.toml` says.
#[derive(Deserialize)]
struct Catalogue {
    /// A line is looked at if it has one of these, in small letters.
    cues: Vec<String>,
    /// Messages; of those that fit a line the first counts. The first of all is for a line whose
    /// MPIDR is no `reg` of the tree.
    message: Vec<Message>,
    /// Answers, with the numbers of the CPUs for `{cpu}`, the call and the rule; of those that fit a
    /// message the first counts.
    answer: Vec<Told>,
    /// Causes by name.
    cause: BTreeMap<String, Told>,
    /// Sentences on parameters, in which a mask in braces stands for the bits below it; the first
    /// tells what one is.
    note: Vec<Told>,
    /// What a number means that a call returned, and which boards have a parameter.
    number: BTreeMap<String, Vec<Told>>,
}

/// A kind of line.
#[derive(Deserialize)]
struct Message {
    name: String,
    /// Patterns, as in `data/idle-tables.toml` of the crate `import`.
    texts: Vec<String>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let text = include_str!("../data/messages.toml");
    Document::new("messages.toml", text)
        .read()
        .expect("a test reads the same text")
});

/// A message that a line of a log has.
struct Event {
    name: &'static String,
    fields: BTreeMap<&'static str, String>,
    /// The line's number, from 1, and its text, fit for a terminal.
    line: Told,
}

/// The messages of a log; of equal ones the first.
fn events(text: &str, tree: Option<&Board>) -> Vec<Event> {
    let events = text.lines().zip(1..).filter_map(|(text, at)| {
        // A pattern is tried at each byte, which takes long in a long line; the kernel's are short.
        let small = text[..text.floor_char_boundary(500)].trim().to_lowercase();
        CATALOGUE.cues.iter().find(|cue| small.contains(*cue))?;
        let mut event = CATALOGUE.message.iter().find_map(|message| {
            Some(Event {
                name: &message.name,
                fields: first(&message.texts, &small)?.into_iter().collect(),
                line: Told::new("line", &format!("{at}: {}", printable(text.trim()))),
            })
        })?;
        if let Some(tree) = tree
            && let Some(mpidr) = event.fields.get("mpidr").and_then(|mpidr| number(mpidr))
            // Only its affinities count (Arm ARM, MPIDR_EL1).
            && tree.cpus.iter().all(|cpu| cpu.reg.is_some_and(|reg| reg != mpidr & 0xff_00ff_ffff))
        {
            event.name = &CATALOGUE.message[0].name;
        }
        Some(event)
    });
    // Each event is compared with all others, so their number is limited.
    events
        .unique_by(|event| (event.name, event.fields.clone()))
        .take(20_000)
        .collect()
}

/// The troubles with PSCI that a log tells of, and what it tells beside them. The first sentence
/// answers. `tree` is the board's device tree, whose CPUs and idle states are held against the
/// log's.
pub fn log(text: &str, tree: Option<&Board>) -> Vec<Told> {
    let all = events(text, tree);
    let mut open = all.iter().collect_vec();
    let mut told = vec![];
    for answer in &CATALOGUE.answer {
        let is_of = |event: &mut &Event| {
            let mut of_cpu = all.iter().filter(|other| {
                let both = [*event, other].into_iter();
                both.filter_map(|of| of.fields.get("cpu")).all_equal()
            });
            let mut order = answer.order.iter();
            answer.with.contains(event.name)
                && order.all(|name| of_cpu.any(|other| other.name == name))
        };
        let events = open.extract_if(.., is_of).collect_vec();
        if events.is_empty() {
            continue;
        }
        let cpus = events.iter().filter_map(|event| event.fields.get("cpu"));
        let mut of_log = answer.clone();
        of_log.text = of_log.text.replace("{cpu}", &cpus.unique().join(", "));
        let lines = events.iter().map(|event| event.line.clone());
        of_log.details.splice(..0, lines.take(16));
        let causes = answer.causes.iter().map(|name| {
            let mut cause = CATALOGUE.cause[name].clone();
            let evidence = all.iter().find(|event| cause.with.contains(event.name));
            cause
                .details
                .splice(..0, evidence.map(|event| event.line.clone()));
            cause
        });
        // A cause has one detail, what to look at next, and a second if a line speaks for it.
        of_log
            .details
            .extend(causes.sorted_by_key(|cause| cause.details.len() < 2));
        told.push(of_log);
    }
    if told.iter().all(|told| told.kind == "good") {
        let none = "The log has no message of PSCI in it that tells of a fault.";
        told.insert(0, Told::new("none", none));
    }
    told
}

/// The sentences on a parameter.
fn notes(raw: u32) -> impl Iterator<Item = Told> {
    let notes = CATALOGUE
        .note
        .iter()
        .filter(move |note| raw & note.none == 0 && (note.some == 0 || raw & note.some > 0));
    notes.map(move |note| {
        let parts = note.text.split(['{', '}']);
        let parts = parts.map(|part| match number(part) {
            Some(mask) => format!("{:#x}", (u64::from(raw) & mask) >> mask.trailing_zeros()),
            None => part.to_owned(),
        });
        Told::new(&note.kind, &parts.collect::<String>())
    })
}

/// What a `power_state` is, the first argument of CPU_SUSPEND (DEN0022, 5.4.2), beside the idle
/// states of a device tree.
pub fn parameter(raw: u32, tree: Option<&Board>) -> Told {
    let mut sentences = notes(raw).chain(code(&format!("{raw:#x}")));
    let mut told = sentences.next().unwrap_or_default();
    told.details.extend(sentences);
    let states = tree
        .iter()
        .flat_map(|tree| &tree.cpus)
        .flat_map(|cpu| &cpu.states);
    let states = states
        .filter_map(|state| Some((state.parameter?, &state.source)))
        .unique()
        .collect_vec();
    let any = |bits, are| states.iter().any(|(of, _)| of & bits == are);
    // Bit 16 is power-down in the original form, bit 30 in the extended one.
    if any(0xfcff_0000, 1 << 16) && any(0xf000_0000, 1 << 30) {
        let mixed =
            "it has power-downs of both forms; firmware takes one form, and refuses the other";
        told.details.push(Told::new("tree", mixed));
    }
    told.details.extend(states.iter().map(|(of, source)| {
        let kind = if *of == raw {
            "this state"
        } else {
            "another state"
        };
        let details = notes(*of).take(1).collect();
        Told {
            details,
            ..Told::new(kind, source)
        }
    }));
    told
}

/// What a number means that a call returned: in a message of Linux, and as PSCI returned it. Empty
/// where it is none of them.
pub fn code(number: &str) -> Vec<Told> {
    CATALOGUE.number.get(number).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use psci::{PowerState, PowerStateFormat};

    /// A board whose CPUs have these `reg`, and whose first CPU has states with these parameters.
    fn board(regs: &[u64], parameters: &[u32]) -> Board {
        let mut board = Board::default();
        board.cpus.resize_with(regs.len(), Default::default);
        for (cpu, reg) in board.cpus.iter_mut().zip(regs) {
            cpu.reg = Some(*reg);
        }
        let states = &mut board.cpus[0].states;
        states.resize_with(parameters.len(), Default::default);
        for (state, parameter) in states.iter_mut().zip(parameters) {
            state.source = format!("/state-{parameter:x}");
            state.parameter = Some(*parameter);
        }
        board
    }

    /// The messages that the first answer to a log is for, and those that ask for its first cause.
    fn first_of(log: &[Told]) -> (&[String], &[String]) {
        let cause = log[0].details.iter().find(|told| told.kind == "cause");
        (&log[0].with, cause.map_or(&[], |cause| &cause.with))
    }

    fn kinds(told: &[Told]) -> Vec<&str> {
        told.iter().map(|told| told.kind.as_str()).collect()
    }

    #[test]
    fn names_of_the_file_fit_each_other() {
        let names = CATALOGUE.message.iter().map(|message| &message.name);
        assert!(names.clone().all_unique());
        let names = names.collect_vec();
        let (mut asked, mut caused) = (Vec::new(), Vec::new());
        for answer in &CATALOGUE.answer {
            asked.extend(answer.with.iter().chain(&answer.order));
            caused.extend(&answer.causes);
            let kind = answer.kind.as_str();
            assert!(["trouble", "harmless", "good"].contains(&kind), "{kind}");
            let order = answer.order.iter().all(|name| answer.with.contains(name));
            assert!(
                order,
                "an answer shows the lines of its order: {}",
                answer.text
            );
            let cpu = answer.with.iter().flat_map(|name| {
                let message = CATALOGUE
                    .message
                    .iter()
                    .find(|message| message.name == *name);
                &message.expect("an answer is for messages").texts
            });
            let has_cpu = cpu.into_iter().any(|text| text.contains("<cpu#>"));
            assert!(has_cpu || !answer.text.contains("{cpu}"), "{}", answer.text);
        }
        for (name, cause) in &CATALOGUE.cause {
            assert!(caused.contains(&name), "no answer has the cause {name}");
            assert_eq!(kinds(&cause.details), ["next"], "{name}");
            asked.extend(&cause.with);
        }
        let unknown = asked.iter().find(|name| !names.contains(name));
        assert!(unknown.is_none(), "{unknown:?}");
        let unknown = caused
            .iter()
            .find(|name| !CATALOGUE.cause.contains_key(**name));
        assert!(unknown.is_none(), "{unknown:?}");
        let unused = names.iter().find(|name| !asked.contains(name)).copied();
        // These name an MPIDR, or keep a line from the message below them.
        let known = ["booted", "boot-cpu", "cpu-node-off"];
        assert!(
            unused.is_none_or(|name| known.contains(&name.as_str())),
            "{unused:?}"
        );
        assert_eq!(
            (names[0].as_str(), names[names.len() - 1].as_str()),
            ("not-in-tree", "other")
        );
    }

    #[test]
    fn every_pattern_has_a_cue_and_its_line_is_found() {
        for message in &CATALOGUE.message {
            for text in &message.texts {
                let line = text.split('<').map(|part| match part.split_once('>') {
                    None => part.to_owned(),
                    Some((key, rest)) => {
                        let (key, start) = key.split_once('^').unwrap_or((key, ""));
                        let value = match key {
                            "_" => "x",
                            _ if key.ends_with('#') => "1",
                            _ => start,
                        };
                        format!("{value}{}{rest}", if start == "0x" { "40" } else { "" })
                    }
                });
                let line: String = line.collect();
                let event = events(&line, None);
                assert_eq!(event.len(), 1, "`{line}` has no cue, or fits nothing");
                let before = CATALOGUE
                    .message
                    .iter()
                    .take_while(|of| of.name != message.name);
                let is_taken = before.into_iter().any(|of| of.name == *event[0].name);
                assert!(
                    *event[0].name == message.name || is_taken,
                    "`{line}`: {}",
                    event[0].name
                );
            }
        }
    }

    #[test]
    fn the_order_of_messages_about_a_cpu_changes_the_answer() {
        let refused = "psci: failed to boot CPU1 (-22)\nCPU1: failed to boot: -22\n";
        let lost = "CPU1: failed to come online\nCPU1: failed in unknown state : 0x0\n";
        let killed = "[    4.5] psci: CPU1 killed (polled 0 ms)\n";
        let answers = [
            refused.to_owned(),
            format!("{lost}{refused}"),
            format!("{killed}{lost}{refused}"),
            format!("{killed}{refused}"),
            lost.to_owned(),
            format!("{killed}{lost}"),
        ];
        let answers = answers.map(|text| log(&text, None).swap_remove(0));
        let texts = answers.iter().map(|told| &told.text);
        assert!(texts.clone().all_unique(), "{:?}", texts.collect_vec());
        let lines = answers[2].details.iter().filter(|told| told.kind == "line");
        assert_eq!(lines.count(), 4);
        // Of another CPU: no pair.
        let other = format!("{}{refused}", lost.replace("CPU1", "CPU2"));
        assert_eq!(kinds(&log(&other, None)), ["trouble", "trouble"]);
    }

    #[test]
    fn what_a_log_tells_of_the_board_moves_a_cause_to_the_front() {
        for (text, message, evidence) in [
            (
                "Machine model: Xiaomi Redmi 2 (wt88047)\npsci: failed to boot CPU1 (-95)",
                "refused-95",
                "msm8916",
            ),
            (
                "Machine model: HiKey960\nCPU4: failed to come online\nCPU4: failed to boot: -22",
                "refused-22",
                "hikey960",
            ),
            (
                "Machine model: linux,dummy-virt\n[  0.1][  T1] psci: failed to boot CPU1 (-22)",
                "refused-22",
                "virtual",
            ),
            (
                "I/TC: OP-TEE version: 4.6.0\nCPU1: failed to come online",
                "never-online",
                "optee",
            ),
            (
                "Kernel command line: maxcpus=2\nCPUidle PSCI: failed to set OSI mode: -3",
                "osi-mode-refused",
                "few-cpus",
            ),
            (
                "Hardware name: Raspberry Pi 4 Model B\n/sys/devices/system/cpu/cpu0/cpuidle/state1/rejected:812",
                "rejected",
                "pi",
            ),
            (
                "NOTICE:  BL31: v2.9\n(XEN) CPU1 never came online\n(XEN) Failed to bring up CPU1",
                "xen-never-online",
                "bl31",
            ),
        ] {
            let told = log(text, None);
            let (with, cause) = first_of(&told);
            assert!(with.iter().any(|name| name == message), "{text}: {with:?}");
            assert!(
                cause.iter().any(|name| name == evidence),
                "{text}: {cause:?}"
            );
        }
    }

    #[test]
    fn a_domain_that_waited_and_came_is_harmless() {
        let waits = "CPUidle PSCI: failed to create CPU PM domains ret=-517\n";
        let came = "CPUidle PSCI: Initialized CPU PM domain topology using OSI mode\n";
        assert_eq!(
            kinds(&log(&format!("{waits}{waits}{came}"), None)),
            ["harmless"]
        );
        assert_eq!(kinds(&log(waits, None)), ["trouble"]);
        assert_eq!(
            kinds(&log(&format!("{came}{waits}"), None)),
            ["trouble", "good"]
        );
    }

    #[test]
    fn a_log_without_a_fault_says_so_and_what_it_has() {
        assert_eq!(kinds(&log("", None)), ["none"]);
        let good = "psci: OSI mode supported.\npsci: PSCIv1.1 detected in firmware.\n\
                    psci: MIGRATE_INFO_TYPE not supported.\n";
        assert_eq!(kinds(&log(good, None)), ["none", "good", "good"]);
    }

    #[test]
    fn an_mpidr_that_the_tree_lacks_is_told_first() {
        let text = "CPU Node : MPID 0x80000100, parent_node 0, State ON (0x0)\n\
                    CPU Node : MPID 0xffffffffffffffff, parent_node 0, State OFF (0x2)\n\
                    psci: failed to boot CPU1 (-22)\n";
        let of = |regs: &[u64]| log(text, Some(&board(regs, &[])));
        assert!(
            !first_of(&of(&[0, 0x100]))
                .0
                .contains(&"not-in-tree".to_owned())
        );
        let told = of(&[0, 1]);
        assert_eq!(first_of(&told).0, ["not-in-tree"]);
        let cause = told[1]
            .details
            .iter()
            .find(|told| told.kind == "cause")
            .unwrap();
        assert!(cause.with.contains(&"not-in-tree".to_owned()));
    }

    #[test]
    fn a_parameter_stands_beside_the_states_of_the_tree() {
        let tree = board(&[0], &[0x4000_0003, 0x0101_0000]);
        let told = parameter(0x4000_0003, Some(&tree));
        let of = |kind: &str| told.details.iter().filter(|told| told.kind == kind).count();
        // The tree mixes forms.
        assert_eq!(
            (of("this state"), of("another state"), of("tree")),
            (1, 1, 1)
        );
        let told = parameter(0x10000, Some(&board(&[0], &[0x4000_0003])));
        let of = |kind: &str| told.details.iter().filter(|told| told.kind == kind).count();
        assert_eq!(
            (of("this state"), of("another state"), of("tree")),
            (0, 1, 0)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(
            lines in prop::collection::vec(prop_oneof![
                any::<String>(),
                (0..60_usize, any::<i64>(), any::<String>()).prop_map(|(at, number, text)| {
                    let texts = CATALOGUE.message.iter().flat_map(|message| &message.texts);
                    let pattern = texts.cycle().nth(at * 5).unwrap();
                    pattern.replace("<_>", &text).replace("cpu#", "").replace("<>", &number.to_string())
                }),
            ], 0..20),
            reg in any::<u64>(),
        ) {
            let told = log(&lines.join("\n"), Some(&board(&[reg], &[0])));
            prop_assert!(!told.is_empty());
            let has_escape = told.iter().any(|told| told.lines(2).contains('\u{1b}'));
            prop_assert!(!has_escape);
        }

        #[test]
        fn any_parameter_is_read_as_the_library_reads_it(raw in any::<u32>(), bits in 0..32_u32) {
            let [original, extended] = [PowerStateFormat::Original, PowerStateFormat::Extended];
            for raw in [raw, raw & 0x4fff_ffff, raw & 0x0301_ffff, 1 << bits] {
                let told = parameter(raw, None);
                let states = [original, extended].map(|form| PowerState::parse(form, raw));
                prop_assert_eq!(told.text.contains("no power_state"), states == [None, None]);
                for id in states.iter().flatten().map(|state| format!("StateID {:#x}", state.state_id)) {
                    prop_assert!(told.text.contains(&id), "{}", told.text);
                }
                let saves = states.map(|state| state.is_some_and(|state| state.power_down));
                prop_assert_eq!(told.text.contains("power-down"), saves != [false, false]);
            }
        }
    }
}
