//! The notes that the reader is told beside the file.

/// Options of the reader.
#[derive(Clone)]
pub struct Options {
    /// The capacity, in units of the platform's table, of the core that `run` is calibrated on: an
    /// event `run` of 1000 takes 1 ms there. `None` for what the file says, and 1024 if it says
    /// nothing.
    pub capacity: Option<u32>,
    /// Number of CPUs, for tasks that are pinned one to a CPU. At least 1.
    pub cpus: usize,
    /// Values for settings of the file, in place of the file's own.
    pub settings: Vec<(String, i64)>,
    /// Bytes that `mem` and `memrun` write in a microsecond on the core that `run` is calibrated
    /// on; `None` to refuse them.
    pub memory_bytes_per_us: Option<u64>,
    /// Bytes that `iorun` writes in a microsecond of computing on that core; `None` to refuse it.
    pub device_bytes_per_us: Option<u64>,
}

impl Default for Options {
    /// The file's calibration and settings, five CPUs, no memory and no devices.
    fn default() -> Self {
        Self {
            capacity: None,
            cpus: 5,
            settings: Vec::new(),
            memory_bytes_per_us: None,
            device_bytes_per_us: None,
        }
    }
}
