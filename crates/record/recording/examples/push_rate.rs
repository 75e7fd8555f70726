//! The number of events per second that a recording takes, and what writing them costs:
//! `cargo run --release -p recording --example push_rate`.

use recording::{Event, Header, Recording};
use std::time::Instant;

fn main() -> Result<(), recording::Error> {
    const EVENTS: u64 = 20_000_000;
    let mut recording = Recording::new(Header::new("push-rate", "host", "ticks"));
    let series = recording.series("v", "c", "");
    let point = recording.point("p");
    let event = |n: u64| Event {
        time: n * 7,
        ticks: n,
        iteration: 0,
        argument: 0,
        series,
        cpu: (n & 3) as u16,
        point,
    };
    for round in ["growing, first touch", "growing again", "memory in place"] {
        if round == "memory in place" {
            recording.clear();
        } else {
            recording = Recording::new(recording.header);
            let (_, _) = (recording.series("v", "c", ""), recording.point("p"));
        }
        let start = Instant::now();
        for n in 0..EVENTS {
            recording.push(event(n));
        }
        println!(
            "{round}: {:.0} M events/s",
            EVENTS as f64 / start.elapsed().as_secs_f64() / 1e6
        );
    }
    let folder = std::env::temp_dir().join(format!("push-rate-{}", std::process::id()));
    let start = Instant::now();
    recording.write(&folder)?;
    println!(
        "written at {:.1} M events/s",
        EVENTS as f64 / start.elapsed().as_secs_f64() / 1e6
    );
    let start = Instant::now();
    let read = Recording::read(&folder)?;
    println!(
        "read at {:.1} M events/s",
        read.events().len() as f64 / start.elapsed().as_secs_f64() / 1e6
    );
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
