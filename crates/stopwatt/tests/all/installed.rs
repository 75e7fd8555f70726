//! The program as somebody has it who installed it: in an empty folder, with no checkout near.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// An empty folder of the system's, which no data folder lies above.
struct EmptyFolder {
    folder: tempfile::TempDir,
}

impl EmptyFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let above = folder
            .path()
            .ancestors()
            .find(|above| above.join("platforms").is_dir());
        assert_eq!(
            above, None,
            "the system's folder for scratch files lies in a data folder"
        );
        Self { folder }
    }

    fn empty(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_stopwatt"))
            .args(arguments)
            .env("NO_COLOR", "1")
            .env_remove("STOPWATT_DATA")
            .current_dir(self.empty())
            .output()
            .unwrap()
    }

    /// The output when the command is done.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[arguments, &["--format", "json"]].concat())).unwrap()
    }
}

#[test]
fn everything_works_in_an_empty_folder() {
    let here = EmptyFolder::new();
    let list = here.json(&["list"]);
    assert_eq!(list["data"], "built into this program");
    let juno = list["platforms"]
        .as_array()
        .unwrap()
        .iter()
        .find(|platform| platform["name"] == "juno-r1")
        .unwrap();
    assert_eq!(juno["releases"].as_array().unwrap().len(), 3);

    let few = ["--iterations", "2", "--free-seeds", "0"];
    here.done(
        &[
            &["run", "psci-latency", "-o", "r", "--report", "page.html"],
            &few[..],
        ]
        .concat(),
    );
    assert!(here.empty().join("page.html").metadata().unwrap().len() > 100_000);
    assert!(here.empty().join("r/causes.parquet").is_file());
    assert!(
        here.done(&["report", "r@v2.12", "--format", "csv"])
            .contains("juno-v2.12")
    );
    assert_eq!(
        here.json(&["compare", "r@v2.12", "r@v2.12"])["recordings"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    let log = here.empty().join("uart.log");
    std::fs::write(
        &log,
        "<RT_INSTR:test_rt_instr_susp_deep_parallel\t0\t1\t244520\t26920\t5540/>\n",
    )
    .unwrap();
    here.done(&[
        "import",
        "rt-instr",
        "uart.log",
        "--platform",
        "juno-r1",
        "--variant",
        "board",
        "-o",
        "board",
    ]);
    assert!(here.done(&["report", "board"]).contains("board"));

    assert!(
        here.done(&["what-if", "psci-latency", "--vary", "scp.channels=1,2"])
            .contains("longest")
    );
    let cells = here.json(&["run", "prefetch", "--world", "sim", "--frames", "10"]);
    assert_eq!(cells["cells"].as_array().unwrap().len(), 31);
    here.done(&["run", "dataplane", "--windows", "1", "--window", "20"]);
    let made: Vec<_> = std::fs::read_dir(here.empty().join("recordings"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made.len(), 2, "every run leaves a recording: {made:?}");
}

#[test]
fn what_needs_the_source_tree_says_so() {
    let output = EmptyFolder::new().run(&["run", "psci-calls"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("source tree") && said.contains("--data"),
        "{said}"
    );
    let output = EmptyFolder::new().run(&["payload"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("source tree"));
}

#[test]
fn what_is_for_firmware_of_ones_own_says_so() {
    for (arguments, part) in [
        (
            &["--firmware-at", "0xe000000"][..],
            "it is for firmware of your own",
        ),
        (
            &[
                "--firmware",
                "f.bin",
                "--payload-in-memory",
                "--payload-offset",
                "4",
            ],
            "say two places",
        ),
        (
            &["--firmware", "f.bin", "--payload-offset", "here"],
            "a number, such as 0x60000000",
        ),
        (
            &["--firmware", "there-is-none.bin"],
            "there-is-none.bin: No such file",
        ),
        (
            &["--cpu", "max,sve=off"],
            "a name that `qemu-system-aarch64 -cpu help` prints",
        ),
    ] {
        let output = EmptyFolder::new().run(&[&["run", "psci-calls"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn it_says_its_version_and_completes_itself() {
    let here = EmptyFolder::new();
    let version = here.done(&["--version"]);
    assert!(
        version.starts_with("stopwatt 0.1.0 (")
            && version.trim_end().len() > "stopwatt 0.1.0 ()".len(),
        "{version}"
    );
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(
            here.done(&["completions", shell]).contains("psci-latency"),
            "{shell}"
        );
    }
    assert!(here.done(&["man"]).contains(".TH stopwatt 1"));
    here.done(&["man", "--output", "pages"]);
    assert!(
        here.empty()
            .join("pages/stopwatt-run-psci-latency.1")
            .is_file()
    );
}

#[test]
fn names_that_are_nearly_right_are_suggested() {
    let here = EmptyFolder::new();
    let said = |arguments: &[&str]| {
        let output = here.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(said(&["run", "psci-latency", "--release", "v2.13"]).contains("there are: juno-2017"));
    assert!(
        said(&["run", "psci-latency", "--release", "juno-v2.1"]).contains("did you mean juno-v2.1")
    );
    assert!(
        said(&["run", "psci-latency", "--platform", "juno-r2"]).contains("did you mean juno-r1?")
    );
    assert!(said(&["run", "psci-latncy"]).contains("psci-latency"));
    for (wrong, right) in [
        (&["rnu"][..], "'run'"),
        (&["RUN"], "'run'"),
        (&["run", "PSCI-LATENCY"], "'psci-latency'"),
    ] {
        assert!(said(wrong).contains(right), "{wrong:?}: {}", said(wrong));
    }
    assert!(
        said(&[
            "run",
            "prefetch",
            "--world",
            "sim",
            "--platform",
            "machiatobin"
        ])
        .contains("did you mean macchiatobin?")
    );
}
