//! Prints a line for each sleep of this thread's CPU, which is CPU 0: round, gap in us, number of
//! the idle state, us late; `-` where another state was entered, or none.
//!
//! ```text
//! cargo run -p wake --example wake_probe -- 6 20 1000 5000
//! ```

use std::io::{Error, Result, Write};
use std::path::Path;

fn main() -> Result<()> {
    let numbers = std::env::args().skip(1).map(|text| text.parse());
    let numbers: Vec<u32> = numbers
        .collect::<std::result::Result<_, _>>()
        .map_err(Error::other)?;
    let [count, rounds, gaps @ ..] = &numbers[..] else {
        return Err(Error::other("expected STATES ROUNDS GAP..."));
    };
    let states = wake::States::of_cpu(Path::new("/sys/devices/system/cpu/cpu0"))?;
    // A console that prints meanwhile would wake the CPU.
    let mut lines = Vec::new();
    for gap in gaps {
        for round in 0..*rounds {
            for state in 0..*count {
                let late = states.alone(state as usize, || wake::sleep(*gap))?;
                let late = late.map_or("-".to_owned(), |us| us.to_string());
                writeln!(lines, "@wake {round} {gap} {state} {late}")?;
            }
        }
    }
    std::io::stdout().write_all(&lines)
}
