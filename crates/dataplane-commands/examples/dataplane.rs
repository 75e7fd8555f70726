//! Drives the data plane's commands until they are part of `stopwatt`.

use std::path::Path;

use dataplane_commands::prefetch;
use dataplane_experiments::model::Effort;

fn main() -> Result<(), dataplane_commands::error::Error> {
    let data = Path::new(".");
    match std::env::args().nth(1).as_deref() {
        Some("calibrate-prefetch") => {
            let costs = prefetch::calibrate(data, "macchiatobin")?;
            prefetch::write_costs(data, "macchiatobin", &costs)
        }
        _ => {
            let effort = Effort { frame_size: 256, frames: 400, seed: 1 };
            print!("{}", prefetch::print_prediction(&prefetch::predict(data, "macchiatobin", effort)?));
            Ok(())
        }
    }
}
