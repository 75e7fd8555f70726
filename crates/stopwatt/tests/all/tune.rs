//! `tune`: loops of others in a process of their own, described ones, and a core's file.

use crate::common::{error_of, root, shared_object, stopwatt_in};
use serde_json::Value;

/// Loops that do not what they should.
const BAD: &str = r#"
#include "stopwatt_loop.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *set_up(uint64_t count, uint64_t seed, void **records)
{
    char *made = malloc(64 * count);
    (void)seed;
    for (uint64_t i = 0; made && i < count; i++)
        records[i] = made + 64 * i;
    puts("a loop may print what it wants");
    return made;
}

static void *no_memory(uint64_t count, uint64_t seed, void **records)
{
    (void)count, (void)seed, (void)records;
    return NULL;
}

static void touch(void *const *records, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        (void)*(volatile char *)records[i];
}

static void crash(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    touch(records, n);
    if (values[0] == 12) {
        fputs("twelve is too far\n", stderr);
        abort();
    }
}

static void crash_later(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    static unsigned turns, last;
    (void)made;
    touch(records, n);
    if (values[0] == 12 && last != 12 && ++turns > 14)
        abort();
    last = values[0];
}

static void hang(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    touch(records, n);
    while (values[0] == 6)
        pause();
}

static const struct stopwatt_knob knob[] = { { "ahead", "AHEAD", STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob after_itself[] = { { "ahead", "AHEAD", STOPWATT_DISTANCE, 0, 0, 1, 0, 0 } };
static const struct stopwatt_knob nameless[] = { { NULL, NULL, STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };

static const struct stopwatt_loop loops[] = {
    { STOPWATT_LOOP_ABI, 1, "crash", knob, 64, 0, set_up, crash, free },
    { STOPWATT_LOOP_ABI, 1, "crash-later", knob, 64, 0, set_up, crash_later, free },
    { STOPWATT_LOOP_ABI, 1, "hang", knob, 64, 0, set_up, hang, free },
    { STOPWATT_LOOP_ABI, 1, "no-memory", knob, 64, 0, no_memory, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "after-itself", after_itself, 64, 0, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "nameless", nameless, 64, 0, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 0, "knobless", knob, 64, 0, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "empty", knob, 0, 0, set_up, crash, NULL },
    { 77, 1, "of-another-time", knob, 64, 0, set_up, crash, NULL },
};

const struct stopwatt_loop *stopwatt_loop(uint32_t n)
{
    return n < sizeof loops / sizeof *loops ? &loops[n] : NULL;
}
"#;

#[test]
fn a_loop_in_c_is_tuned_to_its_macros() {
    let folder = tempfile::tempdir().unwrap();
    for example in ["acl", "parser"] {
        let source = root().join(format!("crates/code/stopwatt-loop/examples/{example}.c"));
        let object = shared_object(&source, folder.path());
        let name = object.file_name().unwrap().to_str().unwrap();
        let run = ["tune", "--loop", name, "--rounds", "3", "--memory", "4", "--format", "json", "--output", example];
        let output = stopwatt_in(folder.path(), &run);
        assert!(output.status.success(), "{}", error_of(&output));
        let story: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(story["loop"]["name"], example);
        assert_eq!(story["loop"]["knobs"].as_array().unwrap().len(), 2, "a line without a prefetch is no knob");
        let best = &story["best"];
        for (define, (macro_name, value)) in best["defines"].as_array().unwrap().iter().zip(
            match example {
                "acl" => ["METADATA_AHEAD", "DATA_AHEAD"],
                _ => ["FIRST_AHEAD", "SECOND_AHEAD"],
            }
            .into_iter()
            .zip(best["values"].as_array().unwrap()),
        ) {
            assert_eq!(define.as_str().unwrap(), format!("#define {macro_name} {value}"));
        }
        // The best is the least of its cells, and every cell was measured three times.
        let cells = story["cells"].as_array().unwrap();
        let largest = &story["loop"]["sets"].as_array().unwrap().last().unwrap()["name"];
        let group = cells.iter().filter(|cell| cell["set"] == *largest && cell["batch"] == 256);
        let least = group.map(|cell| cell["clocks"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
        assert_eq!(best["clocks"].as_f64().unwrap(), least);
        assert!(cells.iter().all(|cell| cell["rounds"].as_u64().unwrap() >= 1));
    }
}

#[test]
fn what_a_loop_does_wrong_is_said_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bad.c");
    std::fs::write(&source, BAD).unwrap();
    shared_object(&source, folder.path());
    let tune = |name: &str| {
        let run = [
            "tune",
            "--loop",
            "bad.so",
            "--name",
            name,
            "--rounds",
            "4",
            "--memory",
            "1",
            "--patience",
            if name == "hang" { "10" } else { "600" },
            "-o",
            name,
        ];
        stopwatt_in(folder.path(), &run)
    };
    for (name, says) in [
        ("crash", "the loop `crash` of bad.so crashed with SIGABRT with ahead 12, in batches of 256"),
        ("crash", "it said last: twelve is too far"),
        ("hang", "the loop `hang` of bad.so hung with ahead 6"),
        ("no-memory", "set_up of `no-memory` returned NULL"),
        ("after-itself", "knob `ahead` comes after knob 0"),
        ("nameless", "a knob is called ``"),
        ("knobless", "it has 0 knobs"),
        ("empty", "`record_bytes` is 0"),
        ("of-another-time", "bad.so is of version 77 of the interface"),
        ("missing", "bad.so is of version 77 of the interface"),
    ] {
        let output = tune(name);
        let error = error_of(&output);
        assert!(error.contains(says), "{name}: {error}");
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(!folder.path().join(name).exists(), "{name} leaves nothing");
    }
    let output = tune("crash-later");
    assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
    let told = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let all = told + &error_of(&output);
    assert!(all.contains("the loop `crash-later` of bad.so crashed with SIGABRT"), "{all}");
    assert!(folder.path().join("crash-later/measures.parquet").is_file(), "what was measured before is kept");
}

#[test]
fn what_is_no_loop_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("text.so", "no shared object");
    write("other.c", "int something_else;\n");
    shared_object(&folder.path().join("other.c"), folder.path());
    write("two.toml", "name = \"x\"\nmultiplications = 1\n[[line]]\nname = \"a\"\nafter = \"b\"\n");
    write("core.toml", "[core]\nname = 1\n");
    for (arguments, says) in [
        (&["tune"][..], "no loop is named"),
        (&["tune", "--node", "study", "--loop", "text.so"], "more than one loop is named"),
        (&["tune", "--loop", "text.so"], "text.so cannot be loaded"),
        (&["tune", "--loop", "missing.so"], "missing.so is no file"),
        (&["tune", "--loop", "other.so"], "other.so has no function `stopwatt_loop`"),
        (&["tune", "--recipe", "two.toml"], "line `a` comes after `b`"),
        (&["tune", "--node", "study", "--core", "core.toml"], "core.toml:2"),
        (&["tune", "--node", "nobody"], "possible values: ethernet-input, study"),
    ] {
        let output = stopwatt_in(folder.path(), arguments);
        let error = error_of(&output);
        assert!(error.contains(says), "{arguments:?}: {error}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_measured_core_predicts_a_described_loop() {
    let folder = tempfile::tempdir().unwrap();
    let output = stopwatt_in(folder.path(), &["calibrate-core", "-o", "core.toml", "--format", "json"]);
    assert!(output.status.success(), "{}", error_of(&output));
    let core: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(core["under_way"]["loads"].as_f64().unwrap() >= 1.0);
    let recipe = root().join("crates/code/stopwatt-loop/examples/flow_cache.toml");
    std::fs::copy(recipe, folder.path().join("flow_cache.toml")).unwrap();
    let run = [
        "tune",
        "--recipe",
        "flow_cache.toml",
        "--core",
        "core.toml",
        "--rounds",
        "3",
        "--memory",
        "8",
        "--batch",
        "64",
        "--format",
        "json",
    ];
    let output = stopwatt_in(folder.path(), &run);
    assert!(output.status.success(), "{}", error_of(&output));
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = story["cells"].as_array().unwrap();
    let used = cells.iter().filter(|cell| cell["used_in_fit"] == true).count();
    assert!(used * 10 <= cells.len(), "{used} of {} cells", cells.len());
    assert!(cells.iter().all(|cell| cell["modelled"].as_f64().is_some_and(|ticks| ticks > 0.0)));
    let picks: Vec<&str> =
        story["predictors"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    let trivial = ["always 8", "the longest tried", "the best of 4, 8, 16 and 32, measured"];
    assert_eq!(picks, [&["the model and few measurements", "the model alone"], &trivial[..]].concat());
    assert!(cells.iter().all(|cell| cell["expected"].as_f64().is_some_and(|ticks| ticks > 0.0)));
    let [looked_at, all] = [0, 1].map(|at| story["loop"]["model"]["probe_rounds"][at].as_u64().unwrap());
    assert!(looked_at > 0 && looked_at * 10 <= all, "{looked_at} of {all} rounds");

    // Without a sweep the others are expected, and nothing is said of what a pick loses.
    let quick = [&run[..5], &run[7..], &["--quick"]].concat();
    let output = stopwatt_in(folder.path(), &quick);
    assert!(output.status.success(), "{}", error_of(&output));
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = story["cells"].as_array().unwrap();
    let measured = cells.iter().filter(|cell| cell["rounds"].as_u64() > Some(0)).count();
    assert!(measured > 9 && measured * 4 < cells.len(), "{measured} of {} cells", cells.len());
    assert!(cells.iter().all(|cell| cell["clocks"].as_f64().is_some_and(|ticks| ticks > 0.0)));
    assert!(story["best"]["clocks"].as_f64().is_some() && story["predictors"].as_array().unwrap().is_empty());
    assert!(story["groups"].as_array().unwrap().iter().all(|group| group["always"].is_null()));
}
