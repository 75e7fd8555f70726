//! A device tree's source, compiled by the programs that Linux's own build uses.

use document::{Error, Result};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The bytes of a file, unpacked.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    let shown = import::shown(path);
    let file =
        import::open(path, &shown).map_err(|error| Error::new(error.to_string(), error.help))?;
    let mut bytes = Vec::new();
    file.take(disk::MOST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::unreadable(&shown, error))?;
    if bytes.len() as u64 > disk::MOST_TEXT {
        Err(Error::new(
            format!("{shown} has more than {} MiB", disk::MOST_TEXT >> 20),
            "no board's file has",
        ))
    } else {
        Ok(bytes)
    }
}

/// True if a file is a source by its name, or has nodes.
pub fn is_source(path: &Path, bytes: &[u8]) -> bool {
    path.extension().is_some_and(|ending| ending == "dts")
        || bytes.contains(&b'{') && !bytes.contains(&0)
}

/// The blob of a source, which goes through the preprocessor where it asks for it.
pub fn compiled(path: &Path, text: &[u8]) -> Result<Vec<u8>> {
    let beside = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut dtc = Command::new("dtc");
    dtc.args(["-q", "-q", "-I", "dts", "-O", "dtb", "-i"])
        .arg(beside);
    let asks = |line: &[u8]| {
        ["#include", "#define", "#if"]
            .iter()
            .any(|word| line.starts_with(word.as_bytes()))
    };
    if !text
        .split(|byte| *byte == b'\n')
        .any(|line| asks(line.trim_ascii_start()))
    {
        return printed(
            start(dtc.arg(path), "dtc", "device-tree-compiler", path)?,
            "dtc",
            path,
        );
    }
    let mut cpp = Command::new("cpp");
    cpp.args([
        "-nostdinc",
        "-undef",
        "-D__DTS__",
        "-w",
        "-fmax-errors=2",
        "-x",
        "assembler-with-cpp",
        "-I",
    ])
    .arg(beside);
    for above in std::path::absolute(beside)
        .unwrap_or_else(|_| beside.to_owned())
        .ancestors()
        .filter(|above| above.join("include/dt-bindings").is_dir())
    {
        cpp.arg("-I")
            .arg(above.join("scripts/dtc/include-prefixes"))
            .arg("-I")
            .arg(above.join("include"));
    }
    let mut first = start(cpp.arg(path), "cpp", "cpp", path)?;
    dtc.stdin(first.stdout.take().map_or_else(Stdio::null, Stdio::from));
    let blob = printed(
        start(dtc.arg("-"), "dtc", "device-tree-compiler", path)?,
        "dtc",
        path,
    );
    printed(first, "cpp", path).and(blob)
}

fn start(command: &mut Command, program: &str, package: &str, path: &Path) -> Result<Child> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| {
        let help = format!("install it (apt-get install {package}), or compile the source elsewhere and give the .dtb");
        Error::new(format!("{} needs the program `{program}`, which does not start: {error}", path.display()), help)
    })
}

/// All that a program prints, if it ends well.
fn printed(child: Child, program: &str, path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let ended = child
        .wait_with_output()
        .map_err(|error| Error::unreadable(&shown.to_string(), error))?;
    if ended.status.success() {
        return Ok(ended.stdout);
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    // Not the way by which a file is included, which cpp tells first.
    let said = said
        .lines()
        .find(|line| line.to_lowercase().contains("error"))
        .unwrap_or("it does not say why");
    let help =
        "mend the source; headers are looked for beside it and in the kernel's tree around it";
    Err(Error::new(
        format!("{shown}: {program} refuses it: {said}"),
        help,
    ))
}
