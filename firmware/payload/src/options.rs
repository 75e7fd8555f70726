//! The choice of a run: one `key=value` a line in the fw_cfg file `opt/stopwatt/payload`.

use machine::fw_cfg;

/// Name of the fw_cfg file.
const FILE: &str = "opt/stopwatt/payload";

/// The run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Counts calls.
    Calls,
    /// The measured procedures.
    Latency,
    /// The checks that must hold on real hardware.
    Checks,
    /// Random SMCs.
    Fuzz,
    /// Warm and cold resets.
    Resets,
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `run`: `calls`, `latency`, `checks`, `fuzz`, `resets`.
    pub run: Run,
    /// `count`: calls of each kind, iterations of each procedure, or random calls.
    pub count: u64,
    /// `seed` of random calls.
    pub seed: u64,
    /// `cpus`: how many the machine has. The firmware below may not say.
    pub cpus: usize,
    /// `standby` and `power-down`: the `power_state` of each at level 0, where the firmware is
    /// another.
    pub states: [Option<u32>; 2],
    /// `memory-end`: the first address behind the memory.
    pub memory_end: u64,
    /// `extended`: 1 if the firmware takes the extended power_state.
    pub extended: bool,
}

/// Reads the options.
///
/// # Errors
/// What is wrong with them.
pub fn read() -> Result<Options, &'static str> {
    let mut buffer = [0; 256];
    let text = fw_cfg::read(FILE, &mut buffer)
        .ok_or("there should be a fw_cfg file opt/stopwatt/payload, of 256 bytes at most")?;
    let text = core::str::from_utf8(text).map_err(|_| "opt/stopwatt/payload is not text")?;
    let mut options = Options {
        run: Run::Checks,
        count: 1,
        seed: 1,
        cpus: 1,
        states: [None; 2],
        memory_end: 0x8000_0000,
        extended: false,
    };
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (key, value) = line.split_once('=').ok_or("a line should be key=value")?;
        let number = || value.parse().map_err(|_| "all but run should be numbers");
        match key {
            "run" => {
                options.run = match value {
                    "calls" => Run::Calls,
                    "latency" => Run::Latency,
                    "checks" => Run::Checks,
                    "fuzz" => Run::Fuzz,
                    "resets" => Run::Resets,
                    _ => return Err("run should be calls, latency, checks, fuzz or resets"),
                }
            }
            "count" => options.count = number()?,
            "cpus" => options.cpus = (number()? as usize).clamp(1, machine::MAX_CPUS),
            "standby" => options.states[0] = Some(number()? as u32),
            "power-down" => options.states[1] = Some(number()? as u32),
            "memory-end" => options.memory_end = number()?,
            "seed" => options.seed = number()?,
            "extended" => options.extended = number()? != 0,
            _ => {
                return Err(
                    "there is no such option: run, count, seed, cpus, standby, power-down, memory-end, extended",
                );
            }
        }
    }
    Ok(options)
}
