//! `tune`: loops of others in a process of their own, described ones, and a core's file.

use crate::common::{error_of, root, shared_object, stopwatt_in};
use serde_json::Value;
use std::path::Path;

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

static void *zeroed(uint64_t count, uint64_t seed, void **records)
{
    void *made = set_up(count, seed, records);
    for (uint64_t i = 0; made && i < 8 * count; i++)
        ((uint64_t *)made)[i] = 0;
    return made;
}

static void *guarded_set_up(uint64_t count, uint64_t seed, void **records)
{
    if (count > 3000)
        abort(); /* `most_records` is 3000 */
    return set_up(count, seed, records);
}

/* Memory for a few thousand records. */
static void *little_memory(uint64_t count, uint64_t seed, void **records)
{
    return count > 5000 ? NULL : set_up(count, seed, records);
}

/* A table of 8 MB, whatever the number of records. */
static void *table_and_records(uint64_t count, uint64_t seed, void **records)
{
    enum { SIZE = 8 << 20 };
    char *table = malloc(SIZE + 64 * count);
    for (uint64_t i = 0; table && i < SIZE + 64 * count; i += 64)
        table[i] = (char)seed;
    for (uint64_t i = 0; table && i < count; i++)
        records[i] = table + SIZE + 64 * i;
    return table;
}

static void guarded_tear_down(void *made)
{
    if (!made)
        abort();
    free(made);
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
    (void)made, (void)values;
    touch(records, n);
    if (n >= 20 && n <= 100)
        abort(); /* vectors that are not full come later */
}

/* Distances from 3 to 9. */
static void narrow(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    touch(records, n);
    if (values[0] < 3 || values[0] > 9)
        abort();
}

static void touching(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made, (void)values;
    touch(records, n);
}

/* Forgets the last records of a batch. */
static void tailless(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    for (uint64_t i = 0; i + values[0] < n; i++)
        ++*(volatile char *)records[i];
}

/* Leaves its results in the records, and something else beside them. */
static void scratch(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    static uint64_t stamp, beside[32];
    (void)made;
    for (uint64_t i = 0; i < n; i++) {
        beside[i % (values[0] % 32 + 1)] = i;
        ((uint64_t *)records[i])[1] = ((uint64_t *)records[i])[0] * 3 + 7;
    }
    stamp += values[0] + beside[0];
}

/* Reads what it writes. */
static void hops(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made, (void)values;
    for (uint64_t i = 0; i < n; i++)
        --*(unsigned char *)records[i];
}

/* Crashes where a batch has fewer records than its distance. */
static void long_batches(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    if (values[0] && n < 4)
        abort();
    scratch(made, records, n, values);
}

static void choice(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    for (uint32_t turn = 0; turn < (values[0] == 2 ? 1 : 4); turn++)
        touch(records, n);
}

static void hang(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    (void)made;
    touch(records, n);
    while (values[0] == 12)
        pause();
}

static const struct stopwatt_knob knob[] = { { "ahead", "AHEAD", STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob after_itself[] = { { "ahead", "AHEAD", STOPWATT_DISTANCE, 0, 0, 1, 0, 0 } };
static const struct stopwatt_knob three_to_nine[] = {
    { "ahead", "AHEAD", STOPWATT_DISTANCE, 3, 9, 4, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob unroll[] = { { "unroll", "UNROLL", STOPWATT_CHOICE, 1, 8, 4, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob line[] = { { "line", NULL, STOPWATT_LINE, 0, 0, 0, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob two_lines[] = {
    { "ahead", "AHEAD 1\n#define X", STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };
static const struct stopwatt_knob nameless[] = { { NULL, NULL, STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };

static const struct stopwatt_loop loops[] = {
    { STOPWATT_LOOP_ABI, 1, "crash", knob, 64, 0, set_up, crash, free },
    { STOPWATT_LOOP_ABI, 1, "crash-later", knob, 64, 0, set_up, crash_later, free },
    { STOPWATT_LOOP_ABI, 1, "hang", knob, 64, 0, set_up, hang, free },
    { STOPWATT_LOOP_ABI, 1, "no-memory", knob, 64, 0, no_memory, crash, guarded_tear_down },
    { STOPWATT_LOOP_ABI, 1, "few", knob, 64, 100, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "most", knob, 64, 3000, guarded_set_up, touching, guarded_tear_down },
    { STOPWATT_LOOP_ABI, 1, "little", knob, 64, 0, little_memory, touching, guarded_tear_down },
    { STOPWATT_LOOP_ABI, 1, "table", knob, 64, 0, table_and_records, touching, free },
    { STOPWATT_LOOP_ABI, 1, "narrow", three_to_nine, 64, 0, set_up, narrow, free },
    { STOPWATT_LOOP_ABI, 1, "tailless", knob, 64, 0, set_up, tailless, free },
    { STOPWATT_LOOP_ABI, 1, "scratch", knob, 64, 0, zeroed, scratch, free },
    { STOPWATT_LOOP_ABI, 1, "hops", knob, 64, 0, zeroed, hops, free },
    { STOPWATT_LOOP_ABI, 1, "long-batches", knob, 64, 0, zeroed, long_batches, free },
    { STOPWATT_LOOP_ABI, 1, "choice", unroll, 64, 0, set_up, choice, free },
    { STOPWATT_LOOP_ABI, 1, "only-a-line", line, 64, 0, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "two-lines", two_lines, 64, 0, set_up, crash, NULL },
    { STOPWATT_LOOP_ABI, 1, "two\nlines", knob, 64, 0, set_up, crash, NULL },
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

/// The first piece of C in `docs/tune.md`.
fn documented() -> String {
    let page = std::fs::read_to_string(root().join("docs/tune.md")).unwrap();
    page.split("```c\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap()
        .to_owned()
}

/// What `tune` finds of a shared object in a folder, from few rounds.
fn tuned(folder: &Path, arguments: &[&str]) -> Value {
    tuned_for(folder, "2s", arguments)
}

fn tuned_for(folder: &Path, time: &str, arguments: &[&str]) -> Value {
    let few = [
        "--for",
        time,
        "--memory",
        "4",
        "--patience",
        "600",
        "--format",
        "json",
    ];
    let output = stopwatt_in(folder, &[&["tune", "--loop"], arguments, &few].concat());
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        error_of(&output)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn loops_in_c_are_tuned_to_their_macros_and_say_that_there_is_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let examples = ["acl", "parser"].map(|name| {
        let path = root().join(format!("crates/code/stopwatt-loop/examples/{name}.c"));
        (name, std::fs::read_to_string(path).unwrap())
    });
    let refusing = "#include <stdlib.h>\n#define aligned_alloc(alignment, bytes) ((void)(bytes), (void *)NULL)\n";
    for (name, text) in examples.into_iter().chain([("documented", documented())]) {
        let source = folder.path().join(format!("{name}.c"));
        std::fs::write(&source, &text).unwrap();
        shared_object(&source, folder.path());
        let story = tuned(folder.path(), &[&format!("{name}.so"), "--output", name]);
        let (found, best) = (&story["loop"], &story["best"]);
        assert_eq!(
            (
                found["is_checked"].as_bool(),
                found["left_out"].as_array().unwrap().len()
            ),
            (Some(true), 0),
            "{name}"
        );
        let is_told = best["less_than_today"]["interval"][0].as_f64() > Some(0.0);
        let defines = best["defines"].as_array().unwrap();
        for (define, value) in defines.iter().zip(best["values"].as_array().unwrap()) {
            assert!(
                is_told && text.contains(define.as_str().unwrap().split(' ').nth(1).unwrap()),
                "{define}"
            );
            assert!(define.as_str().unwrap().ends_with(&format!(" {value}")));
        }
        // What stands beside the best has the same rounds.
        let rules: Vec<&str> = story["beside"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["name"].as_str().unwrap())
            .collect();
        assert!(rules.starts_with(&["today", "no prefetch"]), "{rules:?}");
        let last = |cell: &&Value| cell["set"] == "memory" && cell["batch"] == 256;
        assert!(
            story["cells"]
                .as_array()
                .unwrap()
                .iter()
                .filter(last)
                .all(|cell| cell["rounds"].as_u64() <= found["rounds"].as_u64())
        );

        let poor = folder.path().join(format!("{name}_poor.c"));
        std::fs::write(&poor, format!("{refusing}{text}")).unwrap();
        shared_object(&poor, folder.path());
        let output = stopwatt_in(
            folder.path(),
            &["tune", "--loop", &format!("{name}_poor.so")],
        );
        let error = error_of(&output);
        assert!(
            error.contains("returned NULL for 1000 records: there is no memory"),
            "{name}: {error}"
        );
    }
}

#[test]
fn what_a_loop_says_of_its_limits_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.c"), BAD).unwrap();
    shared_object(&folder.path().join("bad.c"), folder.path());
    let of = |name: &str| tuned(folder.path(), &["bad.so", "--name", name, "--output", name]);
    let records = |story: &Value| {
        story["loop"]["sets"].as_array().unwrap().last().unwrap()["records"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(records(&of("most")), 3000, "`most_records`");
    assert!(
        (1000..=5000).contains(&records(&of("little"))),
        "as many as there is memory for"
    );
    let of_table = records(&of("table"));
    assert_eq!(of_table, 4 << 14, "a table is no part of a record");
    let narrow = of("narrow");
    let values = narrow["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["values"][0].as_u64().unwrap());
    assert!(values.clone().all(|value| (3..=9).contains(&value)) && values.count() > 3);
    let tailless = of("tailless");
    assert_eq!(
        tailless["best"]["values"][0], 0,
        "a loop that does less is not fast"
    );
    assert!(!tailless["loop"]["left_out"].as_array().unwrap().is_empty());
    assert!(
        tailless["loop"]["left_out"]
            .as_array()
            .unwrap()
            .contains(&serde_json::json!([1]))
    );
    let all = tuned(
        folder.path(),
        &[
            "bad.so",
            "--name",
            "tailless",
            "--results-may-differ",
            "--output",
            "all",
        ],
    );
    assert!(all["best"]["values"][0].as_u64() > Some(0));
    // It is sure long before that on a machine that does nothing else.
    let choice = ["bad.so", "--name", "choice", "--output", "choice"];
    let choice = tuned_for(folder.path(), "20s", &choice);
    assert_eq!(choice["best"]["values"][0], 2, "its only knob is a choice");
}

/// A loop whose records are numbers, and which says itself what came of them.
const NUMBERED: &str = r#"
#include "stopwatt_loop.h"
#include <stdlib.h>

static void *set_up(uint64_t count, uint64_t seed, void **records)
{
    uint32_t *made = calloc(2 * count, sizeof *made);
    (void)seed;
    for (uint64_t i = 0; made && i < count; i++)
        records[i] = (void *)(uintptr_t)(2 * i);
    return made;
}

static void run(void *made, void *const *records, uint64_t n, const uint32_t *values)
{
    uint32_t *state = made;
    for (uint64_t i = 0; i < n - (values[0] == FAULT && n > 2); i++) {
        state[(uintptr_t)records[i]] = 5;
        state[(uintptr_t)records[i] + 1] += values[0] + 1; /* no result */
    }
}

uint64_t stopwatt_results(uint32_t n, const void *state, const void *record)
{
    return n + ((const uint32_t *)state)[(uintptr_t)record];
}

const struct stopwatt_loop *stopwatt_loop(uint32_t n)
{
    static const struct stopwatt_knob knob[] = { { "ahead", "AHEAD", STOPWATT_DISTANCE, 0, 0, 1, STOPWATT_AFTER_NONE, 0 } };
    static const struct stopwatt_loop loop = { STOPWATT_LOOP_ABI, 1, "numbered", knob, 64, 0, set_up, run, free };
    return n == 0 ? &loop : NULL;
}
"#;

#[test]
fn what_a_loop_leaves_behind_is_compared_by_what_counts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.c"), BAD).unwrap();
    shared_object(&folder.path().join("bad.c"), folder.path());
    for fault in ["1", "999"] {
        let source = folder.path().join(format!("numbered{fault}.c"));
        std::fs::write(&source, NUMBERED.replace("FAULT", fault)).unwrap();
        shared_object(&source, folder.path());
    }
    for (object, name, by, overwrites, left_out) in [
        ("bad", "scratch", "records", false, &[][..]),
        ("bad", "hops", "records", true, &[]),
        ("bad", "long-batches", "records", false, &[1]),
        ("numbered999", "numbered", "results", false, &[]),
        ("numbered1", "numbered", "results", false, &[1]),
    ] {
        let shared = format!("{object}.so");
        let output = format!("{object}-{name}");
        let story = tuned(
            folder.path(),
            &[&shared, "--name", name, "--output", &output],
        );
        let of = &story["loop"];
        assert_eq!(of["compared_by"], by, "{output}");
        assert_eq!(of["is_overwriting"], overwrites, "{output}");
        let out = of["left_out"].as_array().unwrap();
        for value in left_out {
            assert!(
                out.contains(&serde_json::json!([value])),
                "{output}: {out:?}"
            );
        }
        assert_eq!(out.is_empty(), left_out.is_empty(), "{output}: {out:?}");
    }
    let of = [
        "tune", "--loop", "bad.so", "--name", "narrow", "--for", "2", "--memory", "4",
    ];
    let told = stopwatt_in(folder.path(), &of);
    let told = String::from_utf8_lossy(&told.stdout).replace('\n', " ");
    assert!(
        told.contains("nothing that it leaves behind was compared") && !told.contains("#define"),
        "{told}"
    );
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
            "--for",
            "2",
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
        (
            "crash",
            "the loop `crash` of bad.so crashed with SIGABRT with ahead 12, in batches of 256",
        ),
        ("crash", "it said last: twelve is too far"),
        (
            "hang",
            "the loop `hang` of bad.so hung with ahead 12, in batches of 256",
        ),
        (
            "no-memory",
            "set_up of `no-memory` returned NULL for 1000 records: there is no memory",
        ),
        (
            "few",
            "`few` makes 100 records at most, fewer than a batch of 256",
        ),
        ("only-a-line", "no knob is a distance or a choice"),
        ("two-lines", "a knob is called `AHEAD 1\\u{a}#define X`"),
        (
            "two\nlines",
            "loop `two\\u{a}lines`: it has no name of printable letters",
        ),
        ("after-itself", "knob `ahead` comes after knob 0"),
        ("nameless", "a knob is called ``"),
        ("knobless", "it has 0 knobs"),
        ("empty", "`record_bytes` is 0"),
        (
            "of-another-time",
            "bad.so is of version 77 of the interface",
        ),
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
    let told = String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let all = told + &error_of(&output);
    assert!(
        all.contains("the loop `crash-later` of bad.so crashed with SIGABRT"),
        "{all}"
    );
    assert!(
        folder.path().join("crash-later/measures.parquet").is_file(),
        "what was measured before is kept"
    );
}

#[test]
fn what_is_no_loop_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("text.so", "no shared object");
    write("other.c", "int something_else;\n");
    shared_object(&folder.path().join("other.c"), folder.path());
    for (arguments, says) in [
        (&["tune"][..], "no loop is named"),
        (&["tune", "--loop", "text.so"], "text.so cannot be loaded"),
        (&["tune", "--loop", "missing.so"], "missing.so is no file"),
        (
            &["tune", "--loop", "other.so"],
            "other.so has no function `stopwatt_loop`",
        ),
    ] {
        let output = stopwatt_in(folder.path(), arguments);
        let error = error_of(&output);
        assert!(error.contains(says), "{arguments:?}: {error}");
        assert_eq!(output.status.code(), Some(2));
    }
}
