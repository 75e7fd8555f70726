//! `run dataplane --graph FILE.toml`: nodes of shared objects in a graph, in a process of its own.

use crate::common::{error_of, root, shared_object, stopwatt_in};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const EXAMPLES: &str = "crates/code/stopwatt-loop/examples";

/// Runs a graph of the folder for a moment.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let run = [
        "run",
        "dataplane",
        "--windows",
        "1",
        "--counters",
        "none",
        "--output",
        "r",
    ];
    let window = if arguments.contains(&"--window") {
        &[][..]
    } else {
        &["--window", "20"]
    };
    stopwatt_in(folder, &[&run[..], window, arguments].concat())
}

fn story(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(
        folder,
        &[arguments, &["--format", "json", "--replace"]].concat(),
    );
    assert!(output.status.success(), "{}", error_of(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The packets that ended for a reason, or another count, of a node.
fn count(story: &Value, node: &str, reason: &str) -> u64 {
    let errors = story["errors"].as_array().unwrap();
    let row = errors
        .iter()
        .find(|row| row["node"] == node && row["reason"] == reason);
    row.map_or(0, |row| row["packets"].as_u64().unwrap())
}

fn node<'s>(story: &'s Value, name: &str) -> &'s Value {
    story["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["name"] == name)
        .unwrap()
}

#[test]
fn an_access_list_in_c_drops_what_its_rules_deny() {
    let folder = tempfile::tempdir().unwrap();
    let example = |name: &str| root().join(EXAMPLES).join(name);
    fs::copy(example("acl_node.toml"), folder.path().join("acl.toml")).unwrap();
    shared_object(&example("acl_node.c"), folder.path());
    let acl = ["--graph", "acl.toml", "--nodes", "acl_node.so"];

    // Sources are 10.0.0.0 and up, a flow each: the second rule denies 16 to 23, and no other one.
    let told = story(folder.path(), &[&acl[..], &["--flows", "128"]].concat());
    let [denied, permitted] =
        ["denied by a rule", "permitted"].map(|reason| count(&told, "acl", reason));
    let received = told["received"].as_u64().unwrap();
    assert_eq!(
        (told["graph"].as_str(), denied + permitted),
        (Some("acl"), received),
        "{told}"
    );
    assert_eq!(
        (denied, permitted),
        (
            told["lost"].as_u64().unwrap(),
            told["sent"].as_u64().unwrap()
        )
    );
    assert_eq!(
        denied * 16,
        received,
        "8 of 128 flows, and whole frames of both"
    );
    let clocks = |name: &str| node(&told, name)["clocks_per_packet"].as_f64().unwrap();
    assert!(clocks("acl") > 0.0 && clocks("ip4-lookup") > 0.0);
    let vectors = |name: &str| node(&told, name)["vectors"].as_u64().unwrap();
    assert!(vectors("ip4-lookup") < vectors("acl"), "{told}");

    let output = run(
        folder.path(),
        &[
            &acl[..],
            &["--flows", "32", "--trace", "32", "--all", "--replace"],
        ]
        .concat(),
    );
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("acl rule 1 fits"),
        "the first flow's packet: {shown}"
    );
    assert!(
        flat.contains("acl rule 2 fits info: denied by a rule"),
        "the 17th flow's: {shown}"
    );
    assert!(
        flat.contains("denied by a rule info") && flat.contains("permitted counter"),
        "{shown}"
    );
    assert!(flat.contains("nodes of acl_node.so"), "{shown}");
    // The recording tells the same later.
    let report = stopwatt_in(folder.path(), &["report", "r", "--all"]);
    assert!(
        String::from_utf8_lossy(&report.stdout).contains("denied by a rule"),
        "{}",
        error_of(&report)
    );

    // Two workers have a node each; what they count adds up.
    let told = story(
        folder.path(),
        &[&acl[..], &["--flows", "128", "--workers", "2"]].concat(),
    );
    let ends = count(&told, "acl", "denied by a rule") + count(&told, "acl", "permitted");
    assert_eq!(ends, told["received"].as_u64().unwrap());
}

#[test]
fn the_page_shows_parts_of_the_example() {
    let page = fs::read_to_string(root().join("docs/own-graph.md")).unwrap();
    for (file, language, parts) in [("acl_node.c", "c", 2), ("acl_node.toml", "toml", 1)] {
        let text = fs::read_to_string(root().join(EXAMPLES).join(file)).unwrap();
        let fence = format!("```{language}\n");
        let blocks = page.split(&fence).skip(1);
        let blocks: Vec<_> = blocks
            .filter_map(|block| block.split("```").next())
            .collect();
        assert_eq!(blocks.len(), parts, "{file}");
        for block in blocks {
            assert!(text.contains(block), "{file} has no such lines:\n{block}");
        }
    }
}

#[test]
fn a_node_in_rust_is_built_as_a_shared_object() {
    let folder = tempfile::tempdir().unwrap();
    let target = Path::new(env!("CARGO_BIN_EXE_stopwatt"))
        .ancestors()
        .nth(2)
        .unwrap();
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--release",
            "--offline",
            "--quiet",
            "-p",
            "stopwatt-loop",
            "--example",
            "own_node",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let object = target.join("release/examples/libown_node.so");
    let graph = root().join(EXAMPLES).join("own_node.toml");
    let own = [
        "--graph",
        graph.to_str().unwrap(),
        "--nodes",
        object.to_str().unwrap(),
    ];
    let told = story(folder.path(), &own);
    let filtered = count(&told, "port-filter", "port is filtered");
    assert_eq!(
        (filtered, filtered),
        (
            told["sent"].as_u64().unwrap(),
            told["lost"].as_u64().unwrap()
        ),
        "{told}"
    );
    let output = run(
        folder.path(),
        &[&own[..], &["--trace", "2", "--all", "--replace"]].concat(),
    );
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        shown.contains("UDP to port 8193, filtered is 8192")
            && shown.contains("info: port is filtered"),
        "{shown}"
    );
}

/// Nodes that do not what they should, and two that share private data.
const NODES: &str = r#"
#include "stopwatt_node.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *refuse(const char *options, char *why, uint64_t room)
{
    snprintf(why, room, "`%s` is nothing to it", options);
    return NULL;
}

static void *crash_set_up(const char *options, char *why, uint64_t room)
{
    (void)options, (void)why, (void)room;
    abort();
}

static void on(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)packets, (void)n, (void)counters;
}

static void crash(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    puts("a node may print what it wants");
    fputs("no such table\n", stderr);
    *(volatile int *)packets[0].private_data = 1;
}

static void hang(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)packets, (void)n, (void)counters;
    for (;;)
        pause();
}

static void leave(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)packets, (void)n, (void)counters;
    exit(3);
}

static void astray(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)counters;
    packets[n - 1].next = 7;
}

static void unreasoned(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)counters;
    packets[n - 1].next = STOPWATT_DROP(1);
}

static void too_long(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)counters;
    packets[n - 1].length = 3000;
}

static void miscount(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)packets;
    counters[2] += n;
}

static void overflow(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    for (int i = 0; i < 100; i++)
        packets[0].data[STOPWATT_DATA_BYTES - 60 + i] = 7;
}

static void miscount_far(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)packets;
    counters[3000000000u] += n;
}

/* Writes one byte behind one packet, once, and late. */
static void overflow_late(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    static unsigned calls;
    (void)state, (void)n, (void)counters;
    if (++calls == 100)
        packets[0].data[STOPWATT_DATA_BYTES] = 7;
}

static void moved(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    packets[0].data += 2; /* and as long as before */
}

static void advance(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    for (uint64_t i = 0; i < n; i++) {
        packets[i].data += 14;
        packets[i].length -= 14;
    }
}

static void starts_with_ip(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    for (uint64_t i = 0; i < n; i++)
        counters[0] += packets[i].data[0] == 0x45 && packets[i].length == 46;
}

static void other_private(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    packets[0].private_data = packets[0].data;
}

static void other_interface(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    packets[n - 1].interface = 77;
}

static void behind(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    packets[n].length = 60;
}

static void elsewhere(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    packets[0].data[46 * (STOPWATT_DATA_BYTES + 64) + 2000] = 7;
}

static void child(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)n, (void)counters;
    static int is_there;
    (void)packets;
    if (!is_there++ && !fork())
        sleep(100);
}

static void crash_trace(const void *state, const struct stopwatt_packet *packet, char *text, uint64_t room)
{
    (void)state, (void)packet, (void)text, (void)room;
    abort();
}

static void first_byte(const void *state, const struct stopwatt_packet *packet, char *text, uint64_t room)
{
    (void)state;
    snprintf(text, room, "it starts with 0x%02x", packet->data[0]);
}

static void crash_tear_down(void *state)
{
    (void)state;
    abort();
}

static void mark(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state, (void)counters;
    for (uint64_t i = 0; i < n; i++)
        *(uint16_t *)packets[i].private_data += packets[i].data[33];
}

/* Drops what is marked 9 by the node before, and punts what is not marked at all. */
static void look(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        uint16_t found = *(uint16_t *)packets[i].private_data;
        packets[i].next = found == 9 ? STOPWATT_DROP(0) : found == 0 ? STOPWATT_PUNT(0) : 0;
        counters[0] += found;
    }
}

static const char *const arc[] = { "on" };
static const char *const marks[] = { "marks" };
static const struct stopwatt_reason reason[] = { { "it is so", STOPWATT_INFO } };

#define NODE(name, set_up, run, trace, tear_down) \
    { STOPWATT_NODE_ABI, 1, 1, 0, name, arc, reason, NULL, NULL, 0, 0, set_up, run, trace, tear_down }

static const struct stopwatt_node nodes[] = {
    NODE("on", NULL, on, NULL, NULL),
    NODE("refuse", refuse, on, NULL, NULL),
    NODE("crash-set-up", crash_set_up, on, NULL, NULL),
    NODE("crash", NULL, crash, NULL, NULL),
    NODE("hang", NULL, hang, NULL, NULL),
    NODE("leave", NULL, leave, NULL, NULL),
    NODE("astray", NULL, astray, NULL, NULL),
    NODE("unreasoned", NULL, unreasoned, NULL, NULL),
    NODE("too-long", NULL, too_long, NULL, NULL),
    NODE("miscount", NULL, miscount, NULL, NULL),
    NODE("overflow", NULL, overflow, NULL, NULL),
    NODE("moved", NULL, moved, NULL, NULL),
    NODE("advance", NULL, advance, first_byte, NULL),
    { STOPWATT_NODE_ABI, 1, 0, 1, "starts-with-ip", arc, NULL, marks, NULL, 0, 0, NULL, starts_with_ip, NULL, NULL },
    NODE("other-private", NULL, other_private, NULL, NULL),
    NODE("other-interface", NULL, other_interface, NULL, NULL),
    NODE("behind", NULL, behind, NULL, NULL),
    NODE("elsewhere", NULL, elsewhere, NULL, NULL),
    NODE("child", NULL, child, NULL, NULL),
    NODE("miscount-far", NULL, miscount_far, NULL, NULL),
    NODE("overflow-late", NULL, overflow_late, NULL, NULL),
    { STOPWATT_NODE_ABI, 1, 0, 0, "overflow-private", arc, NULL, NULL, NULL, 8, 0, NULL, overflow_late, NULL, NULL },
    NODE("crash-trace", NULL, on, crash_trace, NULL),
    NODE("crash-tear-down", NULL, on, NULL, crash_tear_down),
    { STOPWATT_NODE_ABI, 1, 0, 0, "mark", arc, NULL, NULL, "mark", 2, 0, NULL, mark, NULL, NULL },
    { STOPWATT_NODE_ABI, 1, 1, 1, "look", arc, reason, marks, "mark", 2, 0, NULL, look, NULL, NULL },
    { STOPWATT_NODE_ABI, 1, 0, 0, "wide", arc, NULL, NULL, "mark", 4, 0, NULL, on, NULL, NULL },
    { STOPWATT_NODE_ABI, 1, 0, 0, "large", arc, NULL, NULL, NULL, 60, 0, NULL, on, NULL, NULL },
};

const struct stopwatt_node *stopwatt_node(uint32_t n)
{
    return n < sizeof nodes / sizeof *nodes ? &nodes[n] : NULL;
}
"#;

/// A graph with a node of [`NODES`] in front of the lookup.
fn graph_with(node: &str) -> String {
    format!(
        "[packets]\nfrom = \"generator\"\n\n[[node]]\nname = \"ip4-input\"\nnext = {{ ip4-lookup = \"mine\" }}\n\n\
         [[node]]\nname = \"mine\"\nkind = \"{node}\"\noptions = \"this\"\nnext = {{ on = \"ip4-lookup\" }}\n"
    )
}

#[test]
fn what_a_node_does_wrong_is_said_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bad.c");
    fs::write(&source, NODES).unwrap();
    shared_object(&source, folder.path());
    let mine = |node: &str| {
        fs::write(folder.path().join("mine.toml"), graph_with(node)).unwrap();
        // A busy machine may stop a process for seconds.
        let patience = if node == "hang" { "10" } else { "600" };
        let window = if node.starts_with("overflow-") {
            "1000"
        } else {
            "20"
        };
        let lengths = ["--patience", patience, "--window", window];
        run(
            folder.path(),
            &[
                &["--graph", "mine.toml", "--nodes", "bad.so", "--trace", "1"],
                &lengths[..],
            ]
            .concat(),
        )
    };
    for (node, says) in [
        (
            "refuse",
            "mine.toml:11: the node `mine` cannot be set up: `this` is nothing to it",
        ),
        (
            "crash-set-up",
            "set_up() of the node `mine` of bad.so crashed with SIGABRT as the graph was built",
        ),
        (
            "crash",
            "run() of the node `mine` of bad.so crashed with SIGSEGV under load; it said last: no such table",
        ),
        (
            "crash",
            "that is code of bad.so and not of Stopwatt; nothing was recorded",
        ),
        (
            "hang",
            "run() of the node `mine` of bad.so hung under load: no answer in 10 s",
        ),
        (
            "leave",
            "run() of the node `mine` of bad.so ended its process with 3",
        ),
        (
            "astray",
            "the node `mine` of bad.so gave a packet `next` 0x7, and it has 1 arcs and 1 reasons",
        ),
        (
            "unreasoned",
            "gave a packet `next` 0x101, and it has 1 arcs and 1 reasons",
        ),
        (
            "too-long",
            "gave a packet a length of 3000 bytes, where 2048 is the most",
        ),
        ("too-long", "leave `length` at the bytes of the packet"),
        (
            "miscount",
            "the node `mine` of bad.so counted in counter 2, and it has 0",
        ),
        (
            "miscount-far",
            "the node `mine` of bad.so counted in counter 3000000000, and it has 0",
        ),
        (
            "overflow",
            "the node `mine` of bad.so wrote outside of a packet's buffer",
        ),
        (
            "overflow-late",
            "the node `mine` of bad.so wrote outside of a packet's buffer",
        ),
        (
            "overflow-private",
            "the node `mine` of bad.so wrote outside of a packet's buffer",
        ),
        (
            "moved",
            "the node `mine` of bad.so moved a packet's `data`, so that it ends behind the packet",
        ),
        (
            "other-private",
            "the node `mine` of bad.so changed a packet's `private_data`",
        ),
        (
            "other-interface",
            "the node `mine` of bad.so changed a packet's `interface`",
        ),
        (
            "behind",
            "the node `mine` of bad.so wrote behind its last packet",
        ),
        (
            "elsewhere",
            "the node `mine` of bad.so wrote outside of a packet's buffer",
        ),
        ("child", "the node `mine` of bad.so left a process behind"),
        (
            "crash-trace",
            "trace() of the node `mine` of bad.so crashed with SIGABRT",
        ),
        (
            "crash-tear-down",
            "tear_down() of the node `mine` of bad.so crashed with SIGABRT as the graph was taken",
        ),
    ] {
        let output = mine(node);
        let error = error_of(&output);
        assert!(error.contains(says), "{node}: {error}");
        assert_eq!(output.status.code(), Some(2), "{node}");
        assert!(!folder.path().join("r").exists(), "{node} leaves nothing");
    }
    assert!(
        mine("on").status.success(),
        "and a node that does nothing wrong runs"
    );
}

#[test]
fn data_that_a_node_moves_comes_to_the_next_node_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bad.c");
    fs::write(&source, NODES).unwrap();
    shared_object(&source, folder.path());
    let graph = "[packets]\nfrom = \"generator\"\n\
        [[node]]\nname = \"ip4-input\"\nnext = { ip4-lookup = \"advance\" }\n\
        [[node]]\nname = \"advance\"\nnext = { on = \"starts-with-ip\" }\n\
        [[node]]\nname = \"starts-with-ip\"\nnext = { on = \"ip4-lookup\" }\n";
    fs::write(folder.path().join("strip.toml"), graph).unwrap();
    let story = story(
        folder.path(),
        &[
            "--graph",
            "strip.toml",
            "--nodes",
            "bad.so",
            "--window",
            "20",
            "--trace",
            "1",
        ],
    );
    let moved = count(
        &story,
        "advance",
        "its data moved: copied to the start of the buffer",
    );
    assert!(moved > 0);
    let trace = story.to_string();
    assert!(trace.contains("it starts with 0x45"), "{trace}");
    assert_eq!(count(&story, "starts-with-ip", "marks"), moved);
}

#[test]
fn nodes_share_private_data_by_its_name_and_a_trace_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("two.c");
    fs::write(&source, NODES).unwrap();
    shared_object(&source, folder.path());
    // The last byte of the destination is the mark: it is the packet's own in each round.
    let flow =
        |last: u8| format!("[[flow]]\nsource = \"10.0.0.1\"\ndestination = \"20.0.0.{last}\"\n");
    let wired = |second: &str| {
        format!(
            "name = \"marks\"\n[packets]\nfrom = \"flows\"\n{}{}{}[[node]]\nname = \"ip4-input\"\n\
             next = {{ ip4-lookup = \"mark\" }}\n[[node]]\nname = \"mark\"\nnext = {{ on = \"{second}\" }}\n\
             [[node]]\nname = \"{second}\"\nnext = {{ on = \"ip4-lookup\" }}\n",
            flow(9),
            flow(1),
            flow(0)
        )
    };
    fs::write(folder.path().join("marks.toml"), wired("look")).unwrap();
    let marks = [
        "--graph",
        "marks.toml",
        "--nodes",
        "two.so",
        "--frame-size",
        "64",
        "--buffers",
        "192",
    ];
    let told = story(folder.path(), &marks);
    let [dropped, punted] = ["sent", "lost"].map(|key| told[key].as_u64().unwrap());
    let received = told["received"].as_u64().unwrap();
    assert!(
        dropped.abs_diff(received / 3) <= 1 && punted.abs_diff(received / 3 * 2) <= 2,
        "{told}"
    );
    assert!(
        count(&told, "look", "marks").abs_diff(received / 3 * 10) <= 10,
        "{told}"
    );
    let output = run(
        folder.path(),
        &[&marks[..], &["--trace", "1", "--all", "--replace"]].concat(),
    );
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("private data 09 00"), "{shown}");

    for (second, says) in [
        (
            "wide",
            "`wide` wants 4 bytes of private data, and `mark`, which shares it, wants 2",
        ),
        (
            "large",
            "with `large` packets have 72 bytes of private data",
        ),
    ] {
        fs::write(folder.path().join("marks.toml"), wired(second)).unwrap();
        let error = error_of(&run(folder.path(), &[&marks[..], &["--replace"]].concat()));
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn what_is_no_graph_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("two.c", NODES);
    shared_object(&folder.path().join("two.c"), folder.path());
    write("text.so", "no shared object");
    write("other.c", "int something_else;\n");
    write(
        "old.c",
        "const unsigned *stopwatt_node(unsigned n) { static unsigned abi = 77; return n ? 0 : &abi; }\n",
    );
    for name in ["other.c", "old.c"] {
        shared_object(&folder.path().join(name), folder.path());
    }
    let right = graph_with("on");
    let two = ["--nodes", "two.so"];
    for (from, to, nodes, says) in [
        ("", "", &[][..], "mine.toml:10: there is no node `on`"),
        (
            "\"mine\" }",
            "\"mien\" }",
            &two,
            "mine.toml:6: there is no node `mien` ╭",
        ),
        ("\"mine\" }", "\"mien\" }", &two, "did you mean mine?"),
        (
            "ip4-lookup = \"mine\"",
            "lookup = \"mine\"",
            &two,
            "mine.toml:6: `ip4-input` has no arc `lookup`",
        ),
        (
            "on = \"ip4-lookup\"",
            "on = \"ip4-input\"",
            &two,
            "mine.toml:12: arcs lead in a circle: ip4-input -> mine",
        ),
        (
            "next = { on = \"ip4-lookup\" }",
            "",
            &two,
            "mine.toml:9: the arc `on` of `mine` leads nowhere",
        ),
        (
            "next = { ip4-lookup = \"mine\" }",
            "",
            &two,
            "no packet comes to the node `mine`",
        ),
        (
            "name = \"mine\"",
            "name = \"ip4-input\"",
            &two,
            "mine.toml:9: two nodes are called `ip4-input`",
        ),
        (
            "name = \"mine\"",
            "name = \"my node\"",
            &two,
            "mine.toml:9: a node cannot be called `my node`",
        ),
        (
            "[packets]\nfrom = \"generator\"",
            "",
            &two,
            "mine.toml: it does not say where packets come from",
        ),
        (
            "\"generator\"",
            "\"web.pcap\"",
            &two,
            "mine.toml:2: web.pcap: No such file",
        ),
        (
            "\"generator\"",
            "\"two.c\"",
            &two,
            "mine.toml:2: two.c: not a capture file",
        ),
        (
            "\"generator\"",
            "\"flows\"",
            &two,
            "mine.toml:2: there is no [[flow]]",
        ),
        (
            "\"generator\"",
            "\"generator\"\nstart = \"ip5-input\"",
            &two,
            "no node `ip5-input` for packets to start at",
        ),
        (
            "options",
            "option",
            &two,
            "mine.toml:11: unknown field `option`",
        ),
        (
            "",
            "name = \"ip4-route\"\n",
            &two,
            "mine.toml:1: a graph of one's own cannot be called `ip4-route`",
        ),
        ("", "", &["--nodes", "text.so"], "text.so cannot be loaded"),
        ("", "", &["--nodes", "missing.so"], "missing.so is no file"),
        (
            "",
            "",
            &["--nodes", "other.so"],
            "other.so has no function `stopwatt_node`",
        ),
        (
            "",
            "",
            &["--nodes", "old.so"],
            "old.so is of version 77 of the interface, and this program knows 1",
        ),
        (
            "",
            "",
            &["--nodes", "two.so,two.so"],
            "two.so has a node `on`, and so has two.so",
        ),
    ] {
        write("mine.toml", &right.replacen(from, to, 1));
        let output = run(folder.path(), &[&["--graph", "mine.toml"], nodes].concat());
        let error = error_of(&output);
        assert!(error.contains(says), "{from} -> {to}, {nodes:?}: {error}");
        assert_eq!(output.status.code(), Some(2));
        assert!(!folder.path().join("r").exists());
    }
    let error = error_of(&run(
        folder.path(),
        &["--graph", "ip4-route", "--nodes", "two.so"],
    ));
    assert!(
        error.contains("--nodes is for a graph of your own"),
        "{error}"
    );
}
