//! What is wrong is told with file, node, property and what would be right.

use crate::{blob, board, opened, told, written};
use platforms::Board;

/// A tree of a CPU with one idle state, in which a text stands in place of another.
fn with(text: &str, instead: &str) -> String {
    let tree =
        "/ {\n cpus {\n C0: cpu@0 {\n compatible = \"arm,cortex-a53\";\n reg = <0 0>;\n cpu-idle-states = <&SLEEP>;\n
        operating-points-v2 = <&OPP>;\n };\n };\n
        SLEEP: cpu-sleep {\n entry-latency-us = <40>;\n exit-latency-us = <60>;\n min-residency-us = <500>;\n };\n
        OPP: opp-table {\n opp-1 {\n opp-hz = <0 1000000000>;\n opp-microvolt = <900000>;\n };\n };\n };";
    assert!(tree.contains(text), "{text}");
    tree.replace(text, instead)
}

#[test]
fn a_tree_that_says_what_cannot_be_is_refused_by_node_and_property() {
    let refused = |text: &str, instead: &str, words: &[&str]| {
        let of_file = |board: Board| board.platform_file("board").map_err(|error| told(&error));
        let error = board(&with(text, instead)).and_then(of_file).unwrap_err();
        assert!(
            words.iter().all(|word| error.contains(word)),
            "{instead}: {error}"
        );
    };
    assert!(board(&with("<60>", "<61>")).is_ok());
    refused(
        "exit-latency-us = <60>",
        "x",
        &[
            "board.dtb: /cpu-sleep: exit-latency-us is not there",
            "microseconds",
        ],
    );
    refused(
        "min-residency-us = <500>",
        "x",
        &["/cpu-sleep: min-residency-us is not there"],
    );
    refused(
        "entry-latency-us = <40>",
        "entry-latency-us = <40 50>",
        &["entry-latency-us has 2 numbers", "<100>"],
    );
    refused(
        "entry-latency-us = <40>",
        "entry-latency-us = [07]",
        &["entry-latency-us has 1 bytes", "4 bytes"],
    );
    refused(
        "<&SLEEP>",
        "<0x77>",
        &["/cpus/cpu@0: cpu-idle-states names a node by 0x77", "label"],
    );
    refused("<&OPP>", "<0x78>", &["/cpus/cpu@0: operating-points-v2"]);
    refused(
        "cpu-idle-states",
        "idle",
        &["board.dtb: no CPU has an idle state", "cpu-idle-states"],
    );
    refused("cpu@0", "core@0", &["0 nodes /cpus/cpu@N", "overlay"]);
    refused("<500>", "<0xffffffff>", &["residency", "cpu-sleep"]);
    refused("<60>", "<4000000>", &["cpu-sleep", "longer than 1 s"]);
}

#[test]
fn what_is_no_tree_and_no_folder_of_the_kernel_is_refused() {
    let whole = blob(&with("cpus", "cpus"));
    assert!(opened("a.dtb", &whole).is_ok());
    assert!(
        opened("a.dtb", &whole[..whole.len() - 40])
            .unwrap_err()
            .contains("a.dtb is a device tree that is cut off")
    );
    assert!(
        opened("a.txt", b"hello\n")
            .unwrap_err()
            .contains("/sys/devices/system/cpu")
    );
    assert!(
        opened("a.bin", b"{\0\0")
            .unwrap_err()
            .contains("name a device tree")
    );
    let folder = tempfile::tempdir().unwrap();
    assert!(told(&Board::open(folder.path()).unwrap_err()).contains("name a device tree"));
    assert!(told(&Board::open(&folder.path().join("none.dtb")).unwrap_err()).contains("none.dtb"));
    let state = [
        ("cpu0/cpuidle/state0/name", "C1"),
        ("cpu0/cpuidle/state0/latency", "2"),
    ];
    written(folder.path(), &state);
    assert!(told(&Board::open(folder.path()).unwrap_err()).contains("no latency or no residency"));
    written(folder.path(), &[("cpu0/cpuidle/state0/residency", "x")]);
    assert!(told(&Board::open(folder.path()).unwrap_err()).contains("whole number"));
    written(
        folder.path(),
        &[
            ("cpu0/cpuidle/state0/residency", "2"),
            ("cpu0/cpu_capacity", "fast"),
        ],
    );
    assert!(told(&Board::open(folder.path()).unwrap_err()).contains("cpu0/cpu_capacity is `fast`"));
}

#[test]
fn an_energy_model_that_fits_the_board_is_taken_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("model.txt");
    let taken = |text: &str| {
        std::fs::write(&dump, text).unwrap();
        board(&with("cpus", "cpus"))
            .unwrap()
            .take_energy_model(&dump, None)
            .map_err(|error| told(&error))
    };
    assert!(taken("cpu0/ps:1000/power:7\ncpu0/cpus:0").is_ok());
    assert!(
        taken("cpu0/cpus:0")
            .unwrap_err()
            .contains("grep -r . /sys/kernel/debug/energy_model")
    );
    assert!(
        taken("cpu0/ps:1000/power:7\ncpu0/cpus:0-3")
            .unwrap_err()
            .contains("cpu0/cpus has CPUs that are not there")
    );
    assert!(
        taken("cpu0/ps:1000/power:7\ncpu0/cpus:zero")
            .unwrap_err()
            .contains("cpus is `zero`")
    );
    assert!(
        taken("cpu0/ps:1000/power:7 mW\ncpu0/cpus:0")
            .unwrap_err()
            .contains("ps:1000/power is `7 mW`")
    );
    assert!(
        taken("cpu0/ps:fast/power:7\ncpu0/cpus:0")
            .unwrap_err()
            .contains("whole number")
    );
}

#[test]
fn no_damage_of_a_tree_is_more_than_an_error() {
    let whole = blob(&with("cpus", "cpus"));
    let mut random = 7_u64;
    for _ in 0..1_000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = 8 + (random >> 33) as usize % (bytes.len() - 8);
            bytes[at] = if random & 1 == 0 {
                (random >> 25) as u8
            } else {
                [0, 1, 2, 3, 4, 9, 0xff][(random >> 20) as usize % 7]
            };
        }
        if let Ok(board) = opened("a.dtb", &bytes) {
            let _ = board.platform_file("board");
        }
    }
}
