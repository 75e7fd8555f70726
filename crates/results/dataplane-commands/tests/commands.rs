//! The commands as another program or a person at the prompt meets them.

use std::path::{Path, PathBuf};

use clap::Parser;
use dataplane_commands::arguments::{DataplaneOptions, ImportRuntimeOptions, PrefetchOptions};
use recording::Recording;
use serde_json::Value;

#[derive(Parser)]
struct Of<T: clap::Args> {
    #[command(flatten)]
    options: T,
}

fn options<T: clap::Args>(arguments: &[&str]) -> Result<T, clap::Error> {
    Of::try_parse_from(std::iter::once("test").chain(arguments.iter().copied())).map(|of| of.options)
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()))
}

#[test]
fn a_loaded_graph_as_json_and_as_a_recording() {
    let folder = scratch("loaded");
    for graph in ["l2-xconnect", "ip4-route", "ip4-fused"] {
        let arguments =
            ["--graph", graph, "--windows", "2", "--window", "20", "--format", "json", "-o", folder.to_str().unwrap()];
        let said = options::<DataplaneOptions>(&arguments).unwrap().run().unwrap();
        let result: Value = serde_json::from_str(&said).unwrap();
        assert!(result["clocks_per_packet"].as_f64().unwrap() > 0.0);
        assert!(result["mpps"].as_f64().unwrap() > 0.0);
        for node in result["nodes"].as_array().unwrap() {
            assert!(node["name"].is_string() && node["clocks_per_packet"].as_f64().unwrap() > 0.0);
            assert_eq!(node["vectors"].as_u64().unwrap(), node["calls"].as_u64().unwrap() * 256);
        }
        let recording = Recording::read(&folder).unwrap();
        let series = recording.all_series().next().unwrap();
        assert_eq!(recording.series_texts(series), (graph, "mrr", ""));
        assert_eq!(recording.values(series, "rate").len(), 2);
        assert!(recording.header.run.kernel.is_some());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_loaded_graph_reads_like_vpp() {
    let arguments = ["--windows", "1", "--window", "20", "--trace", "1"];
    let said = options::<DataplaneOptions>(&arguments).unwrap().run().unwrap();
    for expected in
        ["vector rates in", "Vectors/Call", "ip4-lookup", "Start of thread 0", "ip4-rewrite", "checksum verified"]
    {
        assert!(said.contains(expected), "{expected} is missing in:\n{said}");
    }
}

#[test]
fn a_prediction_as_json_has_every_published_cell_and_is_the_same_each_time() {
    let (one, two) = (scratch("one"), scratch("two"));
    let run = |folder: &Path| {
        let arguments = ["--world", "sim", "--frames", "20", "--format", "json", "-o", folder.to_str().unwrap()];
        options::<PrefetchOptions>(&arguments).unwrap().run(&data()).unwrap()
    };
    let said = run(&one);
    assert_eq!(said, run(&two));
    let result: Value = serde_json::from_str(&said).unwrap();
    let cells = result["cells"].as_array().unwrap();
    let published: Vec<&Value> = cells.iter().filter(|cell| cell["published_clocks_per_packet"].is_number()).collect();
    assert_eq!(published.len(), 25);
    for cell in published {
        assert_eq!(cell["used_in_fit"].as_bool().unwrap(), cell["loop"] == "single");
        assert!(cell["stride_first"].is_u64() && cell["stride_second"].is_u64() && cell["clocks_per_packet"].is_f64());
    }
    let recording = Recording::read(&one).unwrap();
    let mut seen = std::collections::HashSet::new();
    for measure in recording.measures() {
        assert!(seen.insert((measure.metric, measure.subject)), "two figures of one thing would pass for repetitions");
    }
    assert!(seen.len() > 2 * cells.len(), "stalls are there too");
    let bytes = |folder: &Path| std::fs::read(folder.join("measures.parquet")).unwrap();
    assert_eq!(bytes(&one), bytes(&two));
    std::fs::remove_dir_all(one).unwrap();
    std::fs::remove_dir_all(two).unwrap();
}

#[test]
fn a_sweep_here_names_the_best_of_each_loop() {
    let arguments = ["--repetitions", "2", "--frames", "2", "--buffers", "2048", "--format", "json"];
    let said = options::<PrefetchOptions>(&arguments).unwrap().run(&data()).unwrap();
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["cells"].as_array().unwrap().len(), 31);
    assert_eq!(result["best"].as_array().unwrap().len(), 4);
}

#[test]
fn wrong_arguments_say_what_would_be_right() {
    for (arguments, expected) in [
        (["--graph", "ip5"], "l2-xconnect, ip4-route or ip4-fused"),
        (["--frame-size", "100"], "64, 128, 256, 512 or 1024"),
        (["--loop", "triple"], "single, dual or quad"),
        (["--strides", "2/x"], "2/13"),
    ] {
        let error = options::<DataplaneOptions>(&arguments).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let nowhere = options::<PrefetchOptions>(&["--world", "sim", "--platform", "nowhere"]).unwrap();
    assert!(nowhere.run(&data()).unwrap_err().to_string().contains("nowhere.toml"));
}

#[test]
fn the_slides_runtime_imports() {
    let folder = scratch("import");
    let file = scratch("runtime.txt");
    std::fs::write(
        &file,
        "Time 125.1, average vectors/node 255.99\nName\tState\tCalls\tVectors\tSuspends\tClocks\tVectors/Call\n\
         fib-walk\tany wait\t0\t0\t63\t7.37e1\t0.00\nl2-input\tactive\t1224065\t313360152\t0\t4.25e-1\t25.99\n",
    )
    .unwrap();
    let arguments = [file.to_str().unwrap(), "-o", folder.to_str().unwrap(), "--counter-hz", "25000000"];
    let said = options::<ImportRuntimeOptions>(&arguments).unwrap().run().unwrap();
    assert!(said.starts_with("2 nodes, 1 with packets, together 0.42 clocks"), "{said}");
    let recording = Recording::read(&folder).unwrap();
    assert_eq!(recording.header.time.counter_hz, Some(25_000_000));
    assert!(recording.header.run.machine.is_none() && recording.header.run.more.is_empty(), "it was not measured here");
    std::fs::write(&file, "nothing").unwrap();
    let error = options::<ImportRuntimeOptions>(&arguments).unwrap().run().unwrap_err().to_string();
    assert!(error.contains("runtime.txt") && error.contains("no table"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::remove_file(file).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_forwarder_between_capture_files() {
    use dataplane::inputs::udp_packet;
    use dataplane::pcap;
    use dataplane_commands::forward::ForwardOptions;

    let folder = scratch("captures");
    std::fs::create_dir_all(&folder).unwrap();
    let (us, peer) = ("02:00:00:00:00:01".parse().unwrap(), "02:00:00:00:00:02".parse().unwrap());
    let mut file = pcap::Writer::new(Vec::new()).unwrap();
    for (ttl, last) in [(64, 1), (1, 2), (9, 3)] {
        let packet = udp_packet(us, peer, [10, 0, 0, 1].into(), [20, 0, 0, last].into(), ttl);
        file.packet(&packet[..60]).unwrap();
    }
    std::fs::write(folder.join("in.pcap"), file.finish().unwrap()).unwrap();
    let config = folder.join("forward.toml");
    let text = format!(
        "[[interface]]\nname = \"left\"\nmac = \"02:00:00:00:00:01\"\npcap_in = \"{0}/in.pcap\"\n\
         [[interface]]\nname = \"right\"\nmac = \"02:00:00:00:00:03\"\npcap_out = \"{0}/out.pcap\"\n\
         [[neighbour]]\naddress = \"10.9.0.2\"\ninterface = \"right\"\nmac = \"02:00:00:00:00:04\"\n\
         [[route]]\nprefix = \"20.0.0.0/8\"\nvia = \"10.9.0.2\"\n",
        folder.display()
    );
    std::fs::write(&config, &text).unwrap();
    let arguments = ["--config", config.to_str().unwrap()];
    let said = options::<ForwardOptions>(&arguments).unwrap().run().unwrap();
    assert!(said.contains("ip4 ttl <= 1") && said.contains("tx packets"), "{said}");
    let out = pcap::read(&std::fs::read(folder.join("out.pcap")).unwrap()).unwrap();
    assert_eq!(out.iter().map(|packet| (packet[22], packet[33])).collect::<Vec<_>>(), [(63, 1), (8, 3)]);

    let recorded = folder.join("recorded");
    let as_json = [&arguments[..], &["--format", "json", "-o", recorded.to_str().unwrap()]].concat();
    let said = options::<ForwardOptions>(&as_json).unwrap().run().unwrap();
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["interfaces"]["right"]["tx packets"], 2);
    assert_eq!(result["errors"][0]["reason"], "ip4 ttl <= 1");
    assert!(result["nodes"].as_array().unwrap().iter().any(|n| n["name"] == "ip4-rewrite" && n["vectors"] == 3));
    assert_eq!(Recording::read(&recorded).unwrap().header.experiment, "forward");

    let script = folder.join("script.txt");
    let with_script = [&arguments[..], &["--exec", script.to_str().unwrap()]].concat();
    std::fs::write(&script, "# before the first packet\n\ntrace add pcap-input-left 1\nrun 1\nshow trace\n").unwrap();
    options::<ForwardOptions>(&with_script).unwrap().run().unwrap();
    std::fs::write(&script, "show runtime\ntrace add\n").unwrap();
    let error = options::<ForwardOptions>(&with_script).unwrap().run().unwrap_err().to_string();
    assert!(error.contains("script.txt: line 2: no command `trace add`"), "{error}");

    for (from, to, expected) in [
        ("20.0.0.0/8", "20.0.0.0/40", "must look like 10.1.0.0/16"),
        ("via = \"10.9.0.2\"", "via = \"10.9.0.9\"", "no [[neighbour]]"),
        ("interface = \"right\"", "interface = \"up\"", "no interface `up`"),
        ("mac = \"02:00:00:00:00:03\"\n", "", "needs a mac"),
        ("pcap_in", "pcap_into", "unknown field"),
        ("02:00:00:00:00:04", "02:00", "must look like 02:fe"),
    ] {
        std::fs::write(&config, text.replace(from, to)).unwrap();
        let error = options::<ForwardOptions>(&arguments).unwrap().run().unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("forward.toml") && error.contains("line "), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
