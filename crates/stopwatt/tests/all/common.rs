//! Runs the command for the tests, and keeps what several of them need.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program whose tests these are.
pub const PROGRAM: &str = match (
    option_env!("CARGO_BIN_EXE_stopwatt"),
    option_env!("CARGO_BIN_EXE_stopwatt-explore"),
) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("these are the tests of no program"),
};

/// Runs the command in the checkout, without colour.
pub fn stopwatt(arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(root())
        .output()
        .unwrap()
}

/// Runs the command in a folder of data and on that data, without colour.
pub fn stopwatt_on(data: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("--data")
        .arg(data)
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(data)
        .output()
        .unwrap()
}

/// Runs the command in a folder, without colour.
pub fn stopwatt_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The error of a run, in one line.
pub fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr)
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect::<Vec<_>>()
        .join(" ")
}

/// Compiles a shared object.
pub fn shared_object(source: &Path, folder: &Path) -> PathBuf {
    let object = folder
        .join(source.file_stem().unwrap())
        .with_extension("so");
    let built = Command::new("cc")
        .args([
            "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
        ])
        .arg(root().join("crates/code/stopwatt-loop/include"))
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    object
}

/// A folder that `make` fills once for this build of the command, whichever test comes first: tests
/// run in processes of their own.
pub fn made_once(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let built = std::fs::metadata(PROGRAM).unwrap().modified().unwrap();
    let built = built
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-once");
    let folder = home.join(format!("{name}-{built}"));
    std::fs::create_dir_all(&home).unwrap();
    let lock = std::fs::File::create(home.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if !folder.exists() {
        let unfinished = home.join(format!("{name}-unfinished"));
        let _ = std::fs::remove_dir_all(&unfinished);
        std::fs::create_dir(&unfinished).unwrap();
        make(&unfinished);
        std::fs::rename(&unfinished, &folder).unwrap();
    }
    folder
}

/// The Python with the packages of `python/requirements.txt`.
pub fn test_python() -> PathBuf {
    let python = std::env::var_os("STOPWATT_TEST_PYTHON").map_or_else(
        || root().join("target/python/tools/bin/python"),
        PathBuf::from,
    );
    assert!(
        python.exists(),
        "{} is missing; `cargo xtask needs` makes it",
        python.display()
    );
    python
}

/// The bytes of a capture file with these packets: Ethernet, with times of 0.
pub fn capture_file<'a>(packets: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 1 << 18, 1];
    let mut file = header.map(u32::to_le_bytes).as_flattened().to_vec();
    for packet in packets {
        let length = packet.len() as u32;
        file.extend([0, 0, length, length].map(u32::to_le_bytes).as_flattened());
        file.extend(packet);
    }
    file
}
