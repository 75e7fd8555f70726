//! The data plane's commands, as another program or a person meets them.

use crate::common::{capture_file, root, stopwatt};
use recording::{Recording, metrics};
use serde_json::Value;
use std::process::Output;

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    // Errors have a rule at their left.
    text.replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn done(arguments: &[&str]) -> String {
    let output = stopwatt(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&done(&[arguments, &["--format", "json"]].concat())).unwrap()
}

/// The refusal, in one line.
fn refused(arguments: &[&str]) -> String {
    let output = stopwatt(arguments);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{arguments:?}: {}",
        said(&output)
    );
    said(&output)
}

#[test]
fn a_loaded_graph_as_json_and_as_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    for graph in ["l2-xconnect", "ip4-route"] {
        let path = folder.path().join(graph);
        let to = path.to_str().unwrap();
        let result = json(&[
            "run",
            "dataplane",
            "--graph",
            graph,
            "--windows",
            "2",
            "--window",
            "20",
            "-o",
            to,
        ]);
        assert!(result["clocks_per_packet"].as_f64().unwrap() > 0.0);
        assert!(result["mpps"].as_f64().unwrap() > 0.0);
        for node in result["nodes"].as_array().unwrap() {
            assert!(node["name"].is_string() && node["clocks_per_packet"].as_f64().unwrap() > 0.0);
            assert_eq!(
                node["vectors"].as_u64().unwrap(),
                node["calls"].as_u64().unwrap() * 256
            );
        }
        let count = |key: &str| result[key].as_u64().unwrap();
        assert!(count("received") > 0 && count("received") == count("sent") + count("lost"));
        let recording = Recording::read(&path).unwrap();
        let series = recording.all_series().next().unwrap();
        assert_eq!(recording.series_texts(series), (graph, "mrr", ""));
        assert_eq!(recording.values(series, metrics::RATE.name).len(), 2);
        assert!(recording.header.run.kernel.is_some() && recording.header.run.counter.is_some());
        assert!(
            done(&["report", to, "--all"]).contains("Clocks per packet, by node"),
            "the recording's picture is drawn"
        );
    }
}

/// The kernel's events go the same way as the processor's, which many machines do not count: then a
/// line says so.
#[test]
fn events_for_each_packet_and_node_or_a_line_that_says_why_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let run = [
        "run",
        "dataplane",
        "--windows",
        "1",
        "--window",
        "30",
        "--replace",
        "--all",
        "-o",
        to.to_str().unwrap(),
    ];
    let shown = done(&run);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "{shown}"
    );
    assert_ne!(
        shown.contains("instructions"),
        shown.contains("No hardware events per packet"),
        "{shown}"
    );
    let shown = done(&[&run[..], &["--counters", "none"]].concat());
    assert!(!shown.contains("events per packet"), "{shown}");
    let shown = done(&[&run[..], &["--counters", "software"]].concat());
    if shown.contains("No software events") {
        eprintln!("SKIPPED the kernel's events: {shown}");
        return;
    }
    assert!(shown.contains("task clock ns"), "{shown}");
    let result = json(&[&run[..], &["--counters", "software"]].concat());
    assert!(
        result["events_per_packet"]["ip4-lookup"]["task clock ns"]
            .as_f64()
            .unwrap()
            > 0.0
    );
}

#[test]
fn a_loaded_graph_reads_like_vpp() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let text = done(&[
        "run",
        "dataplane",
        "--windows",
        "1",
        "--window",
        "20",
        "--trace",
        "1",
        "--all",
        "-o",
        to.to_str().unwrap(),
    ]);
    for expected in [
        "vector rates in",
        "Vectors/Call",
        "ip4-lookup",
        "Start of thread 0",
        "ip4-rewrite",
        "checksum verified",
        "Recording: ",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(expected), "{expected} is missing in:\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "the tables fit the terminal:\n{text}"
    );
}

#[test]
fn a_prediction_as_json_has_every_published_cell_and_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| {
        let to = folder.path().join(name);
        let mut result = json(&[
            "run",
            "prefetch",
            "--world",
            "sim",
            "--frames",
            "20",
            "-o",
            to.to_str().unwrap(),
        ]);
        result.as_object_mut().unwrap().remove("recording");
        result
    };
    let result = run("one");
    assert_eq!(result, run("two"));
    let cells = result["cells"].as_array().unwrap();
    let published: Vec<&Value> = cells
        .iter()
        .filter(|cell| cell["published_clocks_per_packet"].is_number())
        .collect();
    assert_eq!(published.len(), 25);
    for cell in published {
        assert_eq!(
            cell["used_in_fit"].as_bool().unwrap(),
            cell["loop"] == "single"
        );
        assert!(
            cell["stride_first"].is_u64()
                && cell["stride_second"].is_u64()
                && cell["clocks_per_packet"].is_f64()
        );
    }
    let recording = Recording::read(folder.path().join("one")).unwrap();
    let mut seen = std::collections::HashSet::new();
    for measure in recording.measures() {
        let is_new = seen.insert((measure.metric, measure.subject, measure.role));
        assert!(
            is_new,
            "two figures of one thing would pass for repetitions"
        );
    }
    assert!(seen.len() > 2 * cells.len(), "stalls are there too");
    let bytes =
        |name: &str| std::fs::read(folder.path().join(name).join("measures.parquet")).unwrap();
    assert_eq!(bytes("one"), bytes("two"));
}

/// The error tables of a prediction with a seed, as loop, predictor and rms in percent.
fn scores(seed: &str) -> (Vec<(String, String, f64)>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let run = [
        "run",
        "prefetch",
        "--world",
        "sim",
        "--frames",
        "200",
        "--seed",
        seed,
        "-o",
        to.to_str().unwrap(),
    ];
    let result = json(&run);
    let text = |score: &Value, key: &str| score[key].as_str().unwrap().to_owned();
    let scores = result["scores"].as_array().unwrap().iter();
    let scores = scores.map(|score| {
        (
            text(score, "loop"),
            text(score, "predictor"),
            score["rms_percent"].as_f64().unwrap(),
        )
    });
    (scores.collect(), result.clone())
}

fn score(scores: &[(String, String, f64)], loop_name: &str, predictor: &str) -> f64 {
    scores
        .iter()
        .find(|score| score.0 == loop_name && score.1 == predictor)
        .unwrap()
        .2
}

#[test]
fn the_tables_are_predicted_as_well_as_promised() {
    let (scores, result) = scores("1");
    assert!(score(&scores, "single", "model") <= 1.0, "{scores:?}");
    assert!(score(&scores, "dual", "model") <= 5.0, "{scores:?}");
    assert!(score(&scores, "single-split", "model") <= 6.0, "{scores:?}");
    assert!(
        score(&scores, "dual", "model") < score(&scores, "dual", "dual(k) = single(2k)"),
        "{scores:?}"
    );
    for best in result["best"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|best| best["loop"] != "single-split")
    {
        assert!(best["cost_percent"].as_f64().unwrap() <= 1.0, "{best}");
    }
    let burst: Vec<f64> = result["burst_of_eight"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_f64().unwrap())
        .collect();
    assert!(
        burst[..6].iter().all(|blocked| *blocked == 0.0),
        "{burst:?}"
    );
    assert!(
        burst[6] > 0.2,
        "the seventh prefetch of a burst is the first that waits: {burst:?}"
    );
}

#[test]
fn another_seed_tells_the_same_story() {
    for seed in ["2", "3"] {
        let (scores, _) = scores(seed);
        assert!(score(&scores, "single", "model") <= 1.5, "seed {seed}");
        assert!(score(&scores, "dual", "model") <= 5.0, "seed {seed}");
        assert!(
            score(&scores, "single-split", "model") <= 6.5,
            "seed {seed}"
        );
    }
}

/// The gain over a plain loop is the product of what parallelism gives and what prefetches give,
/// and where lines lie decides how much.
#[test]
fn gains_are_told_apart_and_places_are_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let to = folder.path().join("r").display().to_string();
        let run = [
            "run",
            "prefetch",
            "--world",
            "sim",
            "--frames",
            "50",
            "--replace",
            "-o",
            &to,
        ];
        json(&[&run[..], more].concat())
    };
    let at = |result: &Value, name: &str, strides: [&Value; 2]| {
        let cells = result["cells"].as_array().unwrap();
        let is = |cell: &&Value| {
            cell["loop"] == name && [&cell["stride_first"], &cell["stride_second"]] == strides
        };
        cells.iter().find(is).unwrap()["clocks_per_packet"]
            .as_f64()
            .unwrap()
    };
    let of = |result: &Value, name: &str, stride: u64| at(result, name, [&stride.into(); 2]);
    let received = run(&[]);
    let plain = of(&received, "single", 0);
    for gain in received["gains"].as_array().unwrap() {
        let [parallel, prefetch] =
            ["gain_parallel", "gain_prefetch"].map(|key| gain[key].as_f64().unwrap());
        let name = gain["loop"].as_str().unwrap();
        let best = at(
            &received,
            name,
            [&gain["stride_first"], &gain["stride_second"]],
        );
        // Without prefetch no strides are apart: the split loop is the single one.
        let without = of(
            &received,
            if name == "single-split" {
                "single"
            } else {
                name
            },
            0,
        );
        assert!((parallel - plain / without).abs() < 1e-9, "{gain}");
        assert!((parallel * prefetch - plain / best).abs() < 1e-9, "{gain}");
    }
    assert_eq!(
        received["gains"][0]["gain_parallel"], 1.0,
        "the single loop is its own measure"
    );
    // Colder lines cost more, and data in no cache leaves a prefetch more to gain.
    let [cached, cold] = [run(&["--data-in", "l2"]), run(&["--header-in", "dram"])];
    assert!(of(&cached, "single", 0) < plain && plain < of(&cold, "single", 0));
    let gain = |result: &Value| result["gains"][0]["gain_prefetch"].as_f64().unwrap();
    assert!(
        gain(&cached) < gain(&received),
        "{} {}",
        gain(&cached),
        gain(&received)
    );
    assert!(
        refused(&["run", "prefetch", "--world", "sim", "--data-in", "llc"])
            .contains("no last-level cache")
    );
    assert!(
        refused(&["run", "prefetch", "--in-frame", "--header-in", "l2"])
            .contains("that --in-frame takes away")
    );
}

#[test]
fn a_sweep_here_names_the_best_of_each_loop() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let to = to.to_str().unwrap();
    let result = json(&[
        "run",
        "prefetch",
        "--repetitions",
        "2",
        "--frames",
        "2",
        "--buffers",
        "2048",
        "-o",
        to,
    ]);
    assert_eq!(result["cells"].as_array().unwrap().len(), 31);
    assert_eq!(result["gains"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&result["world"], &result["layout"]),
        (&"host".into(), &"in-buffer".into())
    );
    for gain in ["gain_prefetch", "gain_parallel"] {
        assert!(
            result[gain].as_f64().is_some_and(|gain| gain > 0.0),
            "{result}"
        );
    }
    let page = done(&["report", to, "--format", "html"]);
    assert!(
        page.contains("Clocks per packet against the stride") && page.contains("two strides apart")
    );
}

#[test]
fn frame_sizes_have_clocks_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let arguments = [
        "run",
        "batch",
        "--repetitions",
        "2",
        "--frames",
        "2",
        "--buffers",
        "2048",
        "-o",
        to.to_str().unwrap(),
    ];
    let result = json(&arguments);
    let rows = result["rows"].as_array().unwrap();
    let sizes: Vec<u64> = rows
        .iter()
        .map(|row| row["frame_size"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [64, 128, 256, 512, 1024]);
    for row in rows {
        assert!(
            row["clocks_per_packet"]
                .as_array()
                .unwrap()
                .iter()
                .all(|clocks| clocks.as_f64().unwrap() > 0.0)
        );
        let size = row["frame_size"].as_u64().unwrap();
        assert_eq!(row["bytes"][2], size * 64);
        assert!(row["outlier"].is_boolean());
    }
    let shown = done(&["report", to.to_str().unwrap(), "--all"]);
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let code = rows[0]["instruction_bytes"].as_u64().unwrap();
        assert!((64..65_536).contains(&code), "{code}");
    }
    assert!(shown.contains("what a frame touches"), "{shown}");
}

#[test]
fn a_frame_that_outgrows_l1_is_told_on_a_modelled_core() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    // A core to which nothing was fitted.
    let arguments = [
        "run",
        "batch",
        "--world",
        "sim",
        "--platform",
        "neoverse-n1",
        "--frames",
        "20",
        "-o",
        to.to_str().unwrap(),
    ];
    let set = json(&arguments);
    let beyond_l1 = |way: &serde_json::Value| {
        let second = way["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node["node"] == "l2-input")
            .unwrap();
        second["l2"].as_f64().unwrap() + second["memory"].as_f64().unwrap()
    };
    let ways = set["frame_sizes"].as_array().unwrap();
    let at = |size: u64, stride: u64| {
        ways.iter()
            .find(|way| way["frame_size"] == size && way["buffer_bytes"] == stride)
            .unwrap()
    };
    assert!(
        beyond_l1(at(64, 4160)) < 0.05 && beyond_l1(at(1024, 4160)) > 1.0,
        "{set}"
    );
    assert!(
        beyond_l1(at(64, 4096)) > 1.0,
        "buffers that share their sets: {set}"
    );
    let bytes = serde_json::json!([256 * 32, 256 * 4, 256 * 128]);
    assert_eq!(
        at(256, 2048)["bytes"],
        bytes,
        "the bytes that the slides print"
    );
    let shown = done(&["report", to.to_str().unwrap(), "--all"]);
    assert!(
        shown.contains("beyond L1") && shown.contains("By buffers that go around"),
        "{shown}"
    );
    for (wrong, expected) in [
        (["--data-in", "llc"], "no last-level cache"),
        (["--header-in", "l2"], "host"),
        (["--buffer-bytes", "64"], "128"),
        (["--platform", "juno-r1"], "`juno-r1` is no modelled core"),
    ] {
        let arguments = [&["run", "batch", "--world", "sim"], &wrong[..]].concat();
        let said = refused(&arguments);
        assert!(said.contains(expected), "{wrong:?}: {said}");
    }
}

#[test]
fn wrong_arguments_say_what_would_be_right() {
    for (arguments, expected) in [
        (["--graph", "ip5"], "l2-xconnect, ip4-route"),
        (["--buffers", "511"], "give --buffers 512 or more"),
        (["--frame-size", "100"], "64, 128, 256, 512 or 1024"),
        (["--loop", "triple"], "single, dual, quad"),
        (["--strides", "2/x"], "2/13"),
        (["--windows", "0"], "from 1 to 10000"),
    ] {
        let said = refused(&[&["run", "dataplane"][..], &arguments].concat());
        assert!(said.contains(expected), "{said}");
    }
    let said = refused(&["run", "prefetch", "--world", "sim", "--platform", "nowhere"]);
    assert!(
        said.contains("nowhere.toml") && said.contains("there are: macchiatobin"),
        "{said}"
    );
    // Facts without a fit.
    let said = refused(&[
        "run",
        "prefetch",
        "--world",
        "sim",
        "--platform",
        "neoverse-n1",
    ]);
    assert!(
        said.contains("nothing was fitted") && said.contains("--spe"),
        "{said}"
    );
}

/// Samples of loads give a core a memory to which nothing was fitted; what they do not tell is said.
#[test]
fn memory_is_as_slow_as_the_loads_that_spe_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r").display().to_string();
    let spe = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../xtask/site/files/spe.txt"
    );
    let run = |spe: &str| {
        let run = [
            "run",
            "prefetch",
            "--world",
            "sim",
            "--frames",
            "20",
            "--replace",
            "-o",
            &to,
        ];
        let of = ["--platform", "neoverse-n1", "--spe", spe];
        [run.as_slice(), &of]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let text = done(&run(spe).iter().map(String::as_str).collect::<Vec<_>>());
    assert!(text.contains("of 40 loads that SPE sampled"), "{text}");
    assert!(text.contains("fitted to macchiatobin"), "{text}");
    let few = folder.path().join("few.txt");
    let lines = std::fs::read_to_string(spe).unwrap();
    let cut: Vec<&str> = lines.lines().take(60).collect();
    std::fs::write(&few, cut.join("\n")).unwrap();
    let few = run(few.to_str().unwrap());
    let said = refused(&few.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("10 loads from DRAM"), "{said}");
}

/// Another driver's input stands beside the base's, and the counters of the node that got dearer
/// say of what.
#[test]
fn a_dearer_node_is_told_with_what_was_counted_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let made = |name: &str, input: &str, clocks: f64, misses: f64| {
        let runtime = format!(
            "Time 5.0, 10 sec\n  vector rates in 2.0e2, out 2.0e2, drop 0.0, punt 0.0\n\
             Name State Calls Vectors Suspends Clocks Vectors/Call\n\
             {input} polling 10 1000 0 60.0 100.0\nip4-lookup active 10 1000 0 {clocks} 100.0\n"
        );
        let counted = format!(
            "L1D: access refill %* L2D: access refill %* L3D: access refill %* pkts\nvpp_wk_0 (1)\n\
             ip4-lookup 30.00 1.00 3.33% 1.00 0.50 50.00% 0.50 {misses} 20.00% 1000\n"
        );
        std::fs::write(path("runtime.txt"), runtime).unwrap();
        std::fs::write(path("counted.txt"), counted).unwrap();
        done(&[
            "import",
            "nodes",
            &path("runtime.txt"),
            &path("counted.txt"),
            "--variant",
            name,
            "-o",
            &path(name),
        ]);
    };
    made("before", "dpdk-input", 20.0, 0.1);
    made("after", "avf-input", 60.0, 0.5);
    let text = said(&stopwatt(&["compare", &path("before"), &path("after")]));
    assert!(
        text.contains("avf-input of after is compared with dpdk-input."),
        "{text}"
    );
    assert!(
        text.contains("most in ip4-lookup (20.00 to 60.00 ticks), where L3D misses went from 0.100 to 0.500 a packet"),
        "{text}"
    );
}

#[test]
fn the_slides_runtime_imports() {
    let folder = tempfile::tempdir().unwrap();
    let (file, to) = (folder.path().join("runtime.txt"), folder.path().join("r"));
    let table = "Time 125.1, average vectors/node 255.99\nName\tState\tCalls\tVectors\tSuspends\tClocks\tVectors/Call\n\
                 fib-walk\tany wait\t0\t0\t63\t7.37e1\t0.00\nl2-input\tactive\t1224065\t313360152\t0\t4.25e-1\t25.99\n";
    std::fs::write(&file, table).unwrap();
    let import = [
        "import",
        "vpp-runtime",
        file.to_str().unwrap(),
        "-o",
        to.to_str().unwrap(),
        "--counter-hz",
        "25000000",
    ];
    let text = done(&import);
    assert!(
        text.starts_with("A packet takes 0.42 clocks over all nodes."),
        "{text}"
    );
    let recording = Recording::read(&to).unwrap();
    assert_eq!(recording.header.time.counter_hz, Some(25_000_000));
    assert!(
        recording.header.run.machine.is_none() && recording.header.run.more.is_empty(),
        "it was not measured here"
    );
    std::fs::write(&file, "nothing").unwrap();
    let said = refused(&import);
    assert!(
        said.contains("runtime.txt") && said.contains("no table"),
        "{said}"
    );
}

#[test]
fn two_workers_each_with_a_generator_share_the_routes() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("r");
    let run = [
        "run",
        "dataplane",
        "--workers",
        "2",
        "--windows",
        "2",
        "--window",
        "50",
        "-o",
        to.to_str().unwrap(),
    ];
    let result: Value = json(&run);
    let threads = result["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    let rates: Vec<f64> = threads
        .iter()
        .map(|thread| thread["mpps"].as_f64().unwrap())
        .collect();
    assert!(rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
    assert_eq!(result["received"], result["sent"]);
    assert!(
        result["mpps"].as_f64().unwrap() > rates[0].max(rates[1]),
        "the rate is that of both: {result}"
    );
}

/// Packets of a capture file, through the IPv4 nodes: three of four are good, and the counters say
/// what became of the last. It needs no rights.
#[test]
fn captured_packets_go_through_the_graph_and_each_has_its_counter() {
    use dataplane::inputs::udp_packet;
    use dataplane::mac::Mac;
    let folder = tempfile::tempdir().unwrap();
    let (us, peer) = (
        Mac([0x02, 0x00, 0x00, 0x00, 0x00, 0x01]),
        Mac([0x02, 0x00, 0x00, 0x00, 0x00, 0x02]),
    );
    let packets = [(64, 1), (1, 2), (9, 3), (2, 4)].map(|(ttl, last)| {
        udp_packet(us, peer, [10, 0, 0, 1].into(), [20, 0, 0, last].into(), ttl)
    });
    let capture = folder.path().join("in.pcap");
    std::fs::write(
        &capture,
        capture_file(packets.iter().map(|packet| &packet[..60])),
    )
    .unwrap();
    let (capture, to) = (
        capture.display().to_string(),
        folder.path().join("r").display().to_string(),
    );
    let given = [
        "run",
        "dataplane",
        "--receive",
        &capture,
        "--windows",
        "2",
        "--window",
        "20",
        "-o",
        &to,
    ];
    let result: Value = json(&given);
    let count = |key: &str| {
        result[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key}: {result}"))
    };
    let expired = result["errors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["reason"] == "ip4 ttl <= 1")
        .unwrap();
    let expired = expired["packets"].as_u64().unwrap();
    assert_eq!(count("received"), count("sent") + expired, "{result}");
    // The last frame may end within the file.
    assert!(expired.abs_diff(count("received") / 4) <= 1, "{result}");
    let header = Recording::read(&to).unwrap().header;
    let facts: recording::facts::GraphLoad = header.facts().unwrap();
    assert_eq!(facts.packets, Some(format!("4 packets of {capture}")));

    std::fs::write(&capture, "no capture").unwrap();
    assert!(refused(&given[..4]).contains("in.pcap: not a capture file"));
}

#[test]
fn settings_that_exclude_or_need_each_other_are_refused() {
    for (given, expected) in [
        ("--receive a.pcap --workers 2", "leave --workers out"),
        ("--receive a.pcap --graph g.toml", "for a graph of ours"),
        ("--ring 128", "add --rate"),
    ] {
        let said = refused(
            &["run", "dataplane"]
                .into_iter()
                .chain(given.split_whitespace())
                .collect::<Vec<_>>(),
        );
        assert!(said.contains(expected), "{given}: {said}");
    }
}

#[test]
fn the_checkouts_own_data_is_in_force_in_the_checkout() {
    let list: Value = json(&["list"]);
    let data = std::fs::canonicalize(list["data"].as_str().unwrap()).unwrap();
    assert_eq!(data, std::fs::canonicalize(root().join("data")).unwrap());
}
