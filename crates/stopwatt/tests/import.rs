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
