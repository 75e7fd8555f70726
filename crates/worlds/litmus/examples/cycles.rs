//! Writes generated tests into a folder, with a list of them (`@all`), for herd7 and for `stopwatt
//! explore litmus`: `cargo run -p litmus --example cycles FOLDER COUNT`.

use litmus::cycle::Cycle;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: cycles FOLDER COUNT".into());
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let drawn = |number| Some(Cycle::drawn(number, number % 2 == 1)?.sized(number));
    let cycles = (0..).filter_map(drawn).take(count.parse()?);
    let mut list = String::new();
    for cycle in cycles {
        let file = format!("{}.litmus", cycle.name);
        std::fs::write(folder.join(&file), cycle.stock())?;
        list.push_str(&file);
        list.push('\n');
    }
    std::fs::write(folder.join("@all"), list)?;
    Ok(())
}
