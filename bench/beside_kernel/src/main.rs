//! Our code beside the kernel's own C code, on the same random input: `beside-kernel governors
//! SOURCES STEPS` (`bench/governors.py` fetches the sources) or `beside-kernel energy-aware SOURCES
//! STATES` (`bench/energy_aware.py` does).

mod energy_aware;
mod governors;
mod kernel;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// The result of a step.
type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// True if both agree as often as is asked for.
fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, sources, count] = &arguments[..] else {
        return Err("run bench/governors.py or bench/energy_aware.py".into());
    };
    let compare = match what.as_str() {
        "governors" => governors::run,
        _ => energy_aware::run,
    };
    compare(Path::new(sources), count.parse()?)
}
