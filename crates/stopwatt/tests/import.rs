//! `stopwatt import`, as a user meets it.

mod common;

use common::stopwatt;
use serde_json::Value;

const LOG: &str = "NOTICE:  Booting\n<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t236300\t30880\t137760/>\n\
                   <RT_INSTR:test_rt_instr_psci_version_parallel\t1\t0\t520/>\nbye\n";

#[test]
fn a_log_becomes_a_recording_that_says_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let (log, output) = (folder.path().join("board.log"), folder.path().join("recording"));
    std::fs::write(&log, LOG).unwrap();
    let arguments = ["import", "rt-instr", log.to_str().unwrap(), "--platform", "juno-r1", "--format", "json"];
    let said = stopwatt(&[&arguments[..], &["--out", output.to_str().unwrap()]].concat());
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let json: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((json["figures"].as_u64(), json["left_out"].as_u64()), (Some(4), Some(0)));

    let recording = recording::Recording::read(&output).unwrap();
    assert_eq!((recording.header.world.as_str(), recording.header.run.machine.as_deref()), ("import", None));
    assert_eq!(recording.header.platform.as_ref().unwrap().name, "juno-r1");
    assert!(recording.header.settings["source"].ends_with("board.log"));
    let off = recording.measures()[0];
    // CPU 0.0 is CPU 4 of the platform; the release is named after the file.
    assert_eq!((off.cpu, off.cluster, off.core, off.value), (Some(4), Some(0), Some(0), 236_300.0));
    assert_eq!(recording.series_texts(off.series), ("board", "cpu-off", "serial"));
    assert_eq!(recording.text(off.unit), "ns");
}

#[test]
fn a_malformed_line_is_shown_and_leaves_no_recording_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (log, output) = (folder.path().join("board.log"), folder.path().join("recording"));
    std::fs::write(&log, format!("{LOG}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t23")).unwrap();
    let arguments = ["import", "rt-instr", log.to_str().unwrap(), "-o", output.to_str().unwrap()];
    let said = stopwatt(&arguments);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(2));
    let flat = error.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["board.log:5: the line is cut short", "5 │ <RT_INSTR:test_rt_instr_cpu_off_serial 0 0 23", "parted by tabs"]
    {
        assert!(flat.contains(part), "`{part}` is not in: {error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the log is there");

    let said = stopwatt(&[&arguments[..], &["--lenient"]].concat());
    assert!(said.status.success());
    assert!(String::from_utf8_lossy(&said.stderr).contains("warning: "), "a line that is left out is told");
    assert_eq!(recording::Recording::read(&output).unwrap().measures().len(), 4);
}

/// A document whose tables are in files beside it, as TF-A's are today, with figures of our own.
const DOCUMENT: &str = "Results\n-------\n\n\
    .. csv-table:: ``CPU_SUSPEND`` latencies (ns) to deepest power level in\n    parallel (current release)\n\
    \x20   :header: Cluster, Core, Powerdown, Wakeup, Cache Flush\n    :width: 95%\n    :file: data/now.csv\n\n\
    .. csv-table:: ``PSCI_VERSION`` latency (us) in parallel on all cores (previous release)\n\
    \x20   :header-rows: 1\n\n    Cluster, Core, Latency\n    0, 0, 1200 (+20.00%)\n    0, 1, 1160\n\n\
    .. csv-table:: Something else\n    :header: Option, Meaning\n\n    a, b\n\nThe end.\n";
const NOW: &str = "0,0,332000,270000(+1031.44%),169000(+22.05%)\n0,1,624000(-1.01%),30000,166000\n";

#[test]
fn tables_in_files_beside_a_document_are_read_and_written_as_reference_rows() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(at("page.rst"), DOCUMENT).unwrap();
    std::fs::write(at("data/now.csv"), NOW).unwrap();
    let import = |more: &[&str]| {
        stopwatt(&[&["import", "rst", &at("page.rst"), "--prefix", "juno-", "-o", &at("r")], more].concat())
    };
    let said = import(&["--unit", "ns", "--as-published", &at("rows.csv")]);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success(), "{error}");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    for part in [
        "juno-current: suspend-deepest parallel, 2 CPUs, 1 iteration, cache_flush (ns), powerdown (ns), wakeup (ns)",
        "juno-previous: psci-version parallel, 2 CPUs, 1 iteration, latency (ns)",
        "8 figures in 2 tables",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    let rows = std::fs::read_to_string(at("rows.csv")).unwrap();
    let published = std::fs::read_to_string(common::root().join("published/juno-psci.csv")).unwrap();
    assert_eq!(rows.lines().next(), published.lines().next());
    assert_eq!(rows.lines().nth(2), Some("juno-current,suspend-deepest,parallel,0,0,wakeup,270000,ns,1031.44"));
    assert!(rows.contains("juno-previous,psci-version,parallel,0,1,latency,1160,ns,\n"), "{rows}");
    // What was written is read back, figure for figure.
    let again = stopwatt(&["import", "csv", &at("rows.csv"), "-o", &at("again")]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    let values = |name: &str| {
        let recording = recording::Recording::read(folder.path().join(name).as_path()).unwrap();
        recording.measures().iter().map(|measure| measure.value).collect::<Vec<_>>()
    };
    assert_eq!((values("again"), values("again").len()), (values("r"), 8 + 4));

    // An error is in the file that has it; a file that is not there is named.
    std::fs::write(at("data/now.csv"), NOW.replace("624000", "6240O0")).unwrap();
    let flat = |output: &std::process::Output| {
        let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let error = flat(&import(&[]));
    assert!(error.contains("now.csv:2:") && error.contains("`6240O0(-1.01%)` is no figure"), "{error}");
    std::fs::remove_file(at("data/now.csv")).unwrap();
    let error = flat(&import(&[]));
    assert!(error.contains("page.rst:4: cannot read the table's file"), "{error}");
    std::fs::write(at("page.rst"), DOCUMENT.replace("data/now.csv", "/etc/hostname")).unwrap();
    assert!(flat(&import(&[])).contains("is not named from the document on"));
}

#[test]
fn a_table_file_of_a_document_is_read_by_itself_under_the_name_of_its_test() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("test_rt_instr_susp_deep_parallel.csv"), NOW).unwrap();
    std::fs::write(at("some.csv"), NOW).unwrap();
    let import = |name: &str| stopwatt(&["import", "csv", &at(name), "--variant", "v2.14", "-o", &at("r")]);
    let said = import("test_rt_instr_susp_deep_parallel.csv");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("v2.14: suspend-deepest parallel, 2 CPUs, 1 iteration"), "{text} {said:?}");
    assert!(text.contains("6 figures in 1 tables"), "{text}");
    let said = import("some.csv");
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8_lossy(&said.stderr).replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(error.contains("cannot tell the case") && error.contains("named after its test"), "{error}");
}

#[test]
fn the_published_tables_are_imported_under_their_own_units() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("recording");
    let said = stopwatt(&[
        "import",
        "csv",
        "published/juno-psci.csv",
        "--platform",
        "juno-r1",
        "-o",
        output.to_str().unwrap(),
    ]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("288 figures in 18 tables"), "{text}");
    assert!(text.contains("juno-2017: psci-version parallel, 6 CPUs, 1 iteration, latency (ns)"), "{text}");
}
