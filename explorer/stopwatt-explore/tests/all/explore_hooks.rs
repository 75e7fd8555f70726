//! `stopwatt explore psci --hooks`: hooks of a port in C, with faults, without one, and what is
//! none.

use crate::common::{error_of, root, shared_object, stopwatt_in};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The example, with other lines in place of some of its own, as `NAME.so` in the folder.
fn port(folder: &Path, name: &str, lines: &[(&str, &str)]) {
    let source = root().join("crates/code/stopwatt-loop/examples/psci_port.c");
    let mut source = fs::read_to_string(source).unwrap();
    for (old, new) in lines {
        assert!(source.contains(old), "{old}");
        source = source.replace(old, new);
    }
    let file = folder.join(name).with_extension("c");
    fs::write(&file, source).unwrap();
    shared_object(&file, folder);
}

const FIXED: (&str, &str) = ("#ifdef FIXED", "#if 1");

fn explore(folder: &Path, arguments: &[&str]) -> Output {
    explore_some(folder, "50000", arguments)
}

fn explore_some(folder: &Path, schedules: &str, arguments: &[&str]) -> Output {
    let always = [
        "psci",
        "--schedules",
        schedules,
        "--replace",
        "--format",
        "json",
        "-o",
        "f",
    ];
    stopwatt_in(folder, &[&always[..], arguments].concat())
}

/// What is found of the example with other lines: its invariant and its sentence.
fn found(folder: &Path, name: &str, lines: &[(&str, &str)], seed: &str) -> (String, String) {
    port(folder, name, &[&[FIXED], lines].concat());
    let output = explore(folder, &["--hooks", &format!("{name}.so"), "--seed", seed]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{name}: {}",
        error_of(&output)
    );
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| story["found"][key].as_str().unwrap().to_owned();
    (text("invariant"), text("what"))
}

#[test]
fn a_flag_that_stays_after_a_resume_is_found_told_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    port(folder, "port", &[]);
    for seed in ["1", "2", "3"] {
        let output = explore(folder, &["--hooks", "port.so", "--seed", seed]);
        assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
        let story: Value = serde_json::from_slice(&output.stdout).unwrap();
        let what = story["found"]["what"].as_str().unwrap();
        assert!(
            what.contains("in pwr_domain_") && what.contains("loaded idle["),
            "{what}"
        );
        assert!(
            story["hooks"]["file"]
                .as_str()
                .unwrap()
                .ends_with("port.so"),
            "{story}"
        );
        let again = stopwatt_in(folder, &["replay", "f", "--format", "json"]);
        let again: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert!(again["same"] == true && again["what"] == what, "{again}");
    }
    let all = stopwatt_in(folder, &["replay", "f", "--all"]);
    let all = String::from_utf8(all.stdout).unwrap();
    assert!(
        all.contains("enters the hook pwr_domain_suspend") && all.contains("to idle["),
        "{all}"
    );
    // Another port under the same name, and none.
    port(folder, "port", &[FIXED]);
    let changed = stopwatt_in(folder, &["replay", "f"]);
    assert!(
        changed.status.code() == Some(2) && error_of(&changed).contains("changed since"),
        "{}",
        error_of(&changed)
    );
    let anyway = stopwatt_in(folder, &["replay", "f", "--anyway", "--format", "json"]);
    assert_eq!(anyway.status.code(), Some(0), "{}", error_of(&anyway));
    fs::rename(folder.join("port.so"), folder.join("fixed.so")).unwrap();
    let missing = stopwatt_in(folder, &["replay", "f", "--anyway"]);
    assert!(
        missing.status.code() != Some(0) && error_of(&missing).contains("port.so"),
        "{}",
        error_of(&missing)
    );
    let clean = explore(folder, &["--hooks", "fixed.so"]);
    assert_eq!(
        clean.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&clean.stdout)
    );
}

#[test]
fn faults_of_other_kinds_are_named_with_their_hook() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let opens = "if (state->pwr_domain_state[1] == STOPWATT_OFF)";
    let set = "hw->clean(OFF, cpu);";
    let turns_on =
        "return hw->power_on(STOPWATT_CPU_OF(mpidr)) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;";
    let is_state = "return standby || off";
    let told = "hw->power_down(last);";
    for (name, invariant, hook, lines) in [
        (
            "shut",
            "domain-up",
            "after pwr_domain_",
            vec![(opens, "if (state->pwr_domain_state[1] > STOPWATT_OFF)")],
        ),
        ("dirty", "domain-up", "in pwr_domain_", vec![(set, "")]),
        (
            "mute",
            "domain-state",
            "in pwr_domain_",
            vec![(told, "if (last) hw->power_down(last);")],
        ),
        (
            "deaf",
            "one-cpu-on-wins",
            "in pwr_domain_on",
            vec![(" ? PSCI_E_INTERN_FAIL", " ? PSCI_E_SUCCESS")],
        ),
        (
            // Who takes a state that the board has not goes by it.
            "states",
            "domain-state",
            "in pwr_domain_",
            vec![(is_state, "return 1 || standby || off")],
        ),
        (
            "flag",
            "own",
            "in pwr_domain_on_finish (which loaded off[",
            vec![
                (
                    turns_on,
                    "uint32_t cpu = STOPWATT_CPU_OF(mpidr);
                    hw->store(OFF, cpu, 2, STOPWATT_RELAXED);
                    return hw->power_on(cpu) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;",
                ),
                (
                    "    set_flag(OFF, 0);\n    come_up",
                    "    hw->check(flag(OFF, hw->cpu()) == 2, \"it was turned on\");\n    set_flag(OFF, 0);\n    come_up",
                ),
            ],
        ),
    ] {
        let (broken, what) = found(folder, name, &lines, "1");
        assert!(
            broken == invariant && what.contains(hook),
            "{name}: {broken}: {what}"
        );
    }
}

/// A port that does what it is told, whose hooks may first do something else.
const PLAIN: &str = r#"
#include "stopwatt_hooks.h"
#include <stddef.h>
static const struct stopwatt_hardware *hw;
static uint32_t calls;
static int sleeps[16];
static int on(uint64_t mpidr)
{
    calls++;
    /* on */
    return hw->power_on(STOPWATT_CPU_OF(mpidr)) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;
}
static void down(const psci_power_state_t *state)
{
    int cluster = state->pwr_domain_state[1] == STOPWATT_OFF;
    /* down */
    if (cluster)
        hw->close_port();
    hw->power_down(cluster);
}
static void suspend(const psci_power_state_t *state)
{
    sleeps[hw->cpu()] = 1;
    /* suspend */
    down(state);
}
static void up(const psci_power_state_t *state)
{
    sleeps[hw->cpu()] = 0;
    if (state->pwr_domain_state[1] == STOPWATT_OFF)
        hw->open_port();
}
static int validate(unsigned int raw, psci_power_state_t *to)
{
    uint8_t *state = to->pwr_domain_state;
    for (int level = 0; level < 3; level++)
        state[level] = raw >> (4 * level) & 15;
    if (state[0] == 0 || state[0] > 2 || state[1] > 2 || state[2] > 1 || raw & 0xbfff0000 ||
        (raw >> 30 & 1) != (state[0] == STOPWATT_OFF))
        return PSCI_E_INVALID_PARAMS;
    /* validate */
    return PSCI_E_SUCCESS;
}
static plat_local_state_t target(unsigned int level, const plat_local_state_t *asked, unsigned int count)
{
    plat_local_state_t least = asked[0], most = asked[0];
    for (unsigned int i = 1; i < count; i++) {
        least = asked[i] < least ? asked[i] : least;
        most = asked[i] > most ? asked[i] : most;
    }
    calls = calls * 31 + level + most;
    /* target */
    return least;
}
static void system_state(psci_power_state_t *to)
{
    to->pwr_domain_state[0] = to->pwr_domain_state[1] = STOPWATT_OFF;
    to->pwr_domain_state[2] = STOPWATT_SYSTEM_OFF;
    /* system */
}
/* functions */
static const struct stopwatt_psci_hooks hooks = {
    .abi = STOPWATT_HOOKS_ABI, .hardware = &hw, .pwr_domain_on = on, .pwr_domain_off = down,
    .pwr_domain_suspend = suspend, .pwr_domain_on_finish = up, .pwr_domain_suspend_finish = up,
    .validate_power_state = validate, .get_target_pwr_state = target,
    .get_sys_suspend_power_state = system_state,
    /* members */
};
const struct stopwatt_psci_hooks *stopwatt_psci_hooks(uint32_t n) { return n ? NULL : &hooks; }
"#;

/// What exploring the plain port says, with lines in place of comments: the invariant that breaks and
/// the sentence, or nothing.
fn judged(folder: &Path, name: &str, lines: &[(&str, &str)]) -> Option<(String, String)> {
    let mut source = PLAIN.to_owned();
    for (hook, line) in lines {
        let comment = format!("/* {hook} */");
        assert!(source.contains(&comment), "{comment}");
        source = source.replace(&comment, line);
    }
    let file = folder.join(name).with_extension("c");
    fs::write(&file, source).unwrap();
    shared_object(&file, folder);
    let output = explore_some(folder, "30000", &["--hooks", &format!("{name}.so")]);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{name}: {}",
        error_of(&output)
    );
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| Some(story["found"][key].as_str()?.to_owned());
    text("invariant").zip(text("what"))
}

#[test]
fn a_port_may_be_shallower_than_its_cpus_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    for (name, hook, line) in [
        ("plain", "target", ""),
        ("runs", "target", "least = STOPWATT_RUN;"),
        // Any state that no request is shallower than, another one each time.
        (
            "any",
            "target",
            "least = level == 1 ? (calls >> 3) % (least + 1u) : STOPWATT_RUN;",
        ),
        ("stays", "down", "cluster = 0;"),
        (
            "stays_at_times",
            "down",
            "cluster = cluster && ++calls % 3;",
        ),
        // Also while CPUs boot.
        ("refuses", "on", "if (calls % 2) return PSCI_E_INTERN_FAIL;"),
        (
            "cpu_only",
            "validate",
            "if (state[1]) return PSCI_E_INVALID_PARAMS;",
        ),
        ("none", "validate", "return PSCI_E_INVALID_PARAMS;"),
        ("awake", "system", "to->pwr_domain_state[2] = STOPWATT_RUN;"),
        (
            "kept",
            "system",
            "to->pwr_domain_state[1] = STOPWATT_RETENTION; to->pwr_domain_state[2] = STOPWATT_RUN;",
        ),
    ] {
        let found = judged(folder.path(), name, &[(hook, line)]);
        assert_eq!(found, None, "{name}");
    }
}

#[test]
fn a_port_that_is_deeper_than_its_cpus_ask_for_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (name, hook, line, invariant, told) in [
        (
            "deepest",
            "target",
            "least = most;",
            "domain-state",
            "in get_target_pwr_state answers state",
        ),
        (
            "unknown",
            "target",
            "least = least ? 7 : 0;",
            "domain-state",
            "answers state 7",
        ),
        (
            "above",
            "target",
            "least = level == 1 && least ? STOPWATT_RETENTION : least;",
            "domain-state",
            "for level 2, and level 1 keeps its contents",
        ),
        (
            "always",
            "down",
            "cluster = state->pwr_domain_state[1] != STOPWATT_RUN;",
            "domain-state",
            "down, and was told that it stays on",
        ),
        (
            "all",
            "validate",
            "if (state[0] == STOPWATT_OFF) state[1] = STOPWATT_OFF;",
            "answer",
            "in validate_power_state takes 0x4000",
        ),
        (
            "cpu",
            "validate",
            "if (state[0] == STOPWATT_OFF && state[1] == STOPWATT_OFF) state[0] = STOPWATT_RETENTION, state[1] = state[2] = STOPWATT_RUN;",
            "answer",
            "or a shallower state of its domains would be right",
        ),
        // Where the OS coordinates, a request is no vote.
        (
            "low",
            "validate",
            "if (state[0] == STOPWATT_OFF && state[1] == STOPWATT_OFF) state[1] = state[2] = STOPWATT_RUN;",
            "answer",
            "and the OS coordinates",
        ),
        (
            "standby",
            "system",
            "to->pwr_domain_state[0] = STOPWATT_RETENTION; to->pwr_domain_state[1] = to->pwr_domain_state[2] = STOPWATT_RUN;",
            "answer",
            "in get_sys_suspend_power_state takes SYSTEM_SUSPEND for 1.0.0",
        ),
    ] {
        let found = judged(folder.path(), name, &[(hook, line)]);
        let (broken, what) = found.unwrap_or_else(|| panic!("{name} was not found"));
        assert!(
            broken == invariant && what.contains(told),
            "{name}: {broken}: {what}"
        );
    }
}

/// A hook that a port may leave out: its result, its argument and its name.
const BESIDE: [(&str, &str, &str); 6] = [
    (
        "void",
        "const psci_power_state_t *state",
        "pwr_domain_suspend_pwrdown_early",
    ),
    (
        "void",
        "const psci_power_state_t *state",
        "pwr_domain_on_finish_late",
    ),
    (
        "void",
        "const psci_power_state_t *state",
        "pwr_domain_pwr_down",
    ),
    (
        "int",
        "const psci_power_state_t *state",
        "pwr_domain_off_early",
    ),
    ("void", "plat_local_state_t state", "cpu_standby"),
    ("int", "uintptr_t state", "validate_ns_entrypoint"),
];

/// What is said of the plain port with one of those hooks, whose body this is, and with other lines.
fn beside(
    folder: &Path,
    name: &str,
    (hook, body): (&str, &str),
    lines: &[(&str, &str)],
) -> Option<(String, String)> {
    let (result, argument, _) = BESIDE.iter().find(|(.., name)| *name == hook).unwrap();
    let function = format!("static {result} {hook}({argument}) {{ (void)state; {body} }}");
    let member = format!(".{hook} = {hook},");
    let lines = [
        &[("functions", function.as_str()), ("members", &member)],
        lines,
    ]
    .concat();
    judged(folder, name, &lines)
}

#[test]
fn every_hook_that_a_port_may_leave_out_is_called() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (result, _, hook)) in BESIDE.iter().enumerate() {
        let name = format!("called{number}");
        let returns = if *result == "int" { "return 0;" } else { "" };
        let body = format!("hw->check(0, \"it was called\"); {returns}");
        let (broken, what) = beside(folder.path(), &name, (hook, &body), &[]).expect("a finding");
        assert!(
            broken == "own" && what.contains(&format!("in {hook} fails a check: it was called")),
            "{broken}: {what}"
        );
        let found = beside(folder.path(), &name, (hook, returns), &[]);
        assert_eq!(found, None, "{hook}");
    }
}

#[test]
fn hooks_that_a_port_may_leave_out_are_judged_by_psci() {
    let folder = tempfile::tempdir().unwrap();
    let off = "hw->check(state->pwr_domain_state[0] == STOPWATT_OFF, \"it comes from off\");";
    // The power controller hears of a suspend one call later.
    let late = "if (sleeps[hw->cpu()]) hw->power_down(0);";
    let (quiet, told) = (("suspend", "if (state) return;"), "pwr_domain_pwr_down");
    for (name, hook, lines) in [
        (
            "denies",
            ("pwr_domain_off_early", "return PSCI_E_DENIED;"),
            &[][..],
        ),
        ("nowhere", ("validate_ns_entrypoint", "return -1;"), &[]),
        (
            "waits",
            (
                "cpu_standby",
                "hw->check(state == STOPWATT_RETENTION, \"\");",
            ),
            &[],
        ),
        ("finished", ("pwr_domain_on_finish_late", off), &[]),
        ("early", ("pwr_domain_suspend_pwrdown_early", off), &[]),
        ("late", (told, late), &[quiet]),
    ] {
        let found = beside(folder.path(), name, hook, lines);
        assert_eq!(found, None, "{name}");
    }
    let deep = "if (state->pwr_domain_state[1] == STOPWATT_RETENTION) hw->close_port(), hw->power_down(1);";
    let found = beside(folder.path(), "deep", (told, deep), &[]);
    let (broken, what) = found.expect("a finding");
    assert!(
        broken == "domain-state" && what.contains("in pwr_domain_pwr_down takes cluster"),
        "{broken}: {what}"
    );
    let mute = beside(folder.path(), "mute", (told, ""), &[quiet]);
    let (broken, what) = mute.expect("a finding");
    assert!(
        broken == "domain-state" && what.contains("does not tell the power controller"),
        "{broken}: {what}"
    );
}

/// Hooks of calls that pass a port's answer on, and of questions: result, arguments and name, and a
/// body that is sound.
const PASSED: [(&str, &str, &str, &str); 10] = [
    ("void", "void", "system_off", "hw->wait();"),
    ("void", "void", "system_reset", "hw->wait();"),
    (
        "int",
        "int vendor, int type, uint64_t cookie",
        "system_reset2",
        "if (type == 0 && !vendor && !cookie) hw->wait(); return -2;",
    ),
    (
        "int",
        "plat_local_state_t state, int level",
        "get_pwr_lvl_state_idx",
        "return level == 2 ? 3 : state;",
    ),
    (
        "int",
        "uint64_t mpidr, unsigned int raw, psci_power_state_t *to",
        "translate_power_state_by_mpidr",
        "hw->check(STOPWATT_CPU_OF(mpidr) < hw->cpus(), \"\"); return validate(raw, to);",
    ),
    (
        "int",
        "uint64_t mpidr, unsigned int level",
        "get_node_hw_state",
        "hw->check(STOPWATT_CPU_OF(mpidr) == hw->cpu() && level == 2, \"\"); return 0;",
    ),
    (
        "int",
        "uintptr_t base, uint64_t length",
        "mem_protect_chk",
        "return base == 0 && length == 4096 ? 0 : -3;",
    ),
    (
        "int",
        "int *value",
        "read_mem_protect",
        "*value = sleeps[15]; return 0;",
    ),
    (
        "int",
        "int value",
        "write_mem_protect",
        "sleeps[15] = value; return 0;",
    ),
    (
        "int",
        "const psci_power_state_t *state",
        "pwr_domain_validate_suspend",
        "return ++calls % 3 ? 0 : PSCI_E_DENIED;",
    ),
];

/// What is said of the plain port with all of those hooks, one of which has another body.
fn passed(folder: &Path, name: &str, hook: &str, body: &str) -> Option<(String, String)> {
    let quiet = "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n";
    let (mut functions, mut members) = (quiet.to_owned(), String::new());
    for (result, arguments, known, sound) in PASSED {
        let body = if known == hook { body } else { sound };
        functions += &format!("static {result} {known}({arguments}) {{ {body} }}\n");
        members += &format!(".{known} = {known}, ");
    }
    judged(
        folder,
        name,
        &[("functions", &functions), ("members", &members)],
    )
}

#[test]
fn every_call_that_passes_an_answer_on_asks_the_port() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(passed(folder.path(), "sound", "", ""), None);
    for (_, _, hook, sound) in PASSED {
        let body = format!("hw->check(0, \"it was called\"); {sound}");
        let (broken, what) = passed(folder.path(), hook, hook, &body).expect("a finding");
        assert!(
            broken == "own" && what.contains(&format!("in {hook} fails a check: it was called")),
            "{broken}: {what}"
        );
    }
}

#[test]
fn answers_that_are_passed_on_are_judged_by_psci() {
    let folder = tempfile::tempdir().unwrap();
    for (hook, body, invariant, told) in [
        ("system_off", "calls++;", "answer", "answers"),
        ("system_reset", "calls++;", "answer", "answers"),
        ("system_reset2", "return 0;", "answer", "answers 0"),
        (
            "get_pwr_lvl_state_idx",
            "return 0;",
            "statistics",
            "is no index",
        ),
        (
            "get_pwr_lvl_state_idx",
            "return state - 7;",
            "statistics",
            "is no index",
        ),
        (
            "translate_power_state_by_mpidr",
            "to->pwr_domain_state[0] = 2; to->pwr_domain_state[1] = 2; return 0;",
            "answer",
            "in translate_power_state_by_mpidr takes 0x",
        ),
        ("get_node_hw_state", "return 1;", "answer", "answers 1"),
        ("mem_protect_chk", "return -1;", "answer", "answers -1"),
        (
            "read_mem_protect",
            "*value = 0; return 0;",
            "answer",
            "forgets that memory is protected",
        ),
    ] {
        let found = passed(folder.path(), "wrong", hook, body);
        let (broken, what) = found.unwrap_or_else(|| panic!("{hook}: {body} was not found"));
        assert!(
            broken == invariant && what.contains(hook) && what.contains(told),
            "{hook}: {broken}: {what}"
        );
    }
}

#[test]
fn a_port_has_clusters_and_numbers_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    // The numbers that the plain port has are turned into its own, and back.
    let numbers =
        ".cpus_per_cluster = 4, .state_numbers = { { 0, 3, 7 }, { 0, 1, 7 }, { 0, 7, 7 } },";
    let shape = (
        "#include \"stopwatt_hooks.h\"",
        "#define STOPWATT_EACH 4\n#include \"stopwatt_hooks.h\"",
    );
    let source = PLAIN
        .replace(shape.0, shape.1)
        .replace("== STOPWATT_OFF;", "== 7;")
        .replace(
            "if (state->pwr_domain_state[1] == STOPWATT_OFF)",
            "if (state->pwr_domain_state[1] == 7)",
        )
        .replace(
            "/* validate */",
            "state[0] = state[0] == 1 ? 3 : 7; state[1] = state[1] == 2 ? 7 : state[1]; state[2] *= 7;",
        )
        .replace(
            "/* system */",
            "for (int level = 0; level < 3; level++) to->pwr_domain_state[level] = 7;",
        )
        .replace("/* members */", numbers);
    fs::write(folder.path().join("own.c"), source).unwrap();
    shared_object(&folder.path().join("own.c"), folder.path());
    for cpus in ["4", "6", "8"] {
        let output = explore_some(
            folder.path(),
            "5000",
            &["--hooks", "own.so", "--cpus", cpus],
        );
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{cpus}: {told}");
    }
}

#[test]
fn a_lock_in_a_register_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let lock = "
static uint32_t holder;
static inline void take(void)
{
    uint32_t me = hw->cpu() + 1;
    do {
        hw->device(0x1000);
        if (!holder)
            holder = me;
        hw->device(0x1008);
    } while (holder != me);
}
static inline void let_go(void) { hw->device(0x1004); holder = 0; }
static void early(const psci_power_state_t *state)
{
    static int inside;
    (void)state;
    /* take */
    hw->check(++inside == 1, \"nobody else is in here\");
    hw->device(0x2000);
    inside--;
    /* let go */
}";
    let member = (
        "members",
        ".pwr_domain_suspend_pwrdown_early = early, .pwr_domain_on_finish_late = early,",
    );
    let locked = lock
        .replace("/* take */", "take();")
        .replace("/* let go */", "let_go();");
    let found = judged(folder.path(), "locked", &[("functions", &locked), member]);
    assert_eq!(found, None);
    let found = judged(folder.path(), "open", &[("functions", lock), member]);
    let (_, what) = found.expect("a finding");
    assert!(what.contains("nobody else is in here"), "{what}");
}

#[test]
fn a_hook_that_crashes_or_ends_the_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let line = "hw->close_port();";
    let headers = (
        "#include <stddef.h>",
        "#include <stddef.h>\n#include <stdlib.h>",
    );
    for (name, new, how) in [
        (
            "null",
            "*(volatile int *)(uintptr_t)hw->cpus() = 1;",
            "SIGSEGV",
        ),
        ("abort", "abort();", "SIGABRT"),
        ("exit", "exit(0);", "ended the program"),
        (
            "deep",
            "{ volatile char large[1 << 20]; for (int at = 1 << 20; at > 0; at--) large[at - 1] = large[at / 2]; }",
            "SIGSEGV",
        ),
    ] {
        port(folder.path(), name, &[FIXED, headers, (line, new)]);
        let output = explore(folder.path(), &["--hooks", &format!("{name}.so")]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.contains(&format!("{name}.so: pwr_domain_")) && error.contains(" on CPU "),
            "{error}"
        );
        assert!(error.contains(how), "{error}");
    }
}

#[test]
fn what_is_no_port_is_refused_with_its_file_and_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("text.so"), "no shared object").unwrap();
    fs::write(folder.join("empty.c"), "int nothing;").unwrap();
    shared_object(&folder.join("empty.c"), folder);
    port(folder, "old", &[("= STOPWATT_HOOKS_ABI", "= 7")]);
    port(
        folder,
        "lacks",
        &[
            (
                "    .pwr_domain_off = pwr_domain_off,\n",
                "    .get_sys_suspend_power_state = NULL,\n",
            ),
            (
                "static void pwr_domain_off",
                "void pwr_domain_off(const psci_power_state_t *);\nvoid pwr_domain_off",
            ),
        ],
    );
    port(folder, "cut", &[("    .hardware = &hw,\n", "")]);
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status();
    assert!(made.unwrap().success());
    port(folder, "port", &[]);
    for (file, cause) in [
        ("none.so", "No such file"),
        ("/dev/zero", "regular file"),
        ("fifo", "regular file"),
        ("text.so", "cannot be loaded"),
        ("empty.so", "has no function `stopwatt_psci_hooks`"),
        ("old.so", "is of version 7"),
        ("lacks.so", "`pwr_domain_off` of its table is NULL"),
        ("cut.so", "`hardware` of its table is NULL"),
    ] {
        let output = explore(folder, &["--hooks", file]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {error}");
        assert!(
            error.contains(file) && error.contains(cause) && error.contains("help"),
            "{file}: {error}"
        );
    }
    for more in [
        ["--threads", "2"],
        ["--strategy", "dpor"],
        ["--fault", "no-choosing"],
    ] {
        let output = explore(folder, &["--hooks", "port.so", more[0], more[1]]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{more:?}: {}",
            error_of(&output)
        );
    }
}
