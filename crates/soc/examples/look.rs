//! look
use soc::config::*;
fn main() {
    let d = |p: &str| Document::open(std::path::Path::new(p)).unwrap();
    let rel = std::env::args().nth(1).unwrap_or("juno-2017".into());
    let mut s = Sources {
        platform: d("platforms/juno-r1.toml"),
        release: d(&format!("platforms/juno-r1/releases/{rel}.toml")),
        costs: d(&format!("platforms/juno-r1/costs/{rel}.toml")),
    };
    for a in std::env::args().skip(3) {
        let (k, v) = a.split_once('=').unwrap();
        if let Err(e) = s.set(k, v) {
            println!("{:?}", miette::Report::new(e));
            return;
        }
    }
    let m = match s.machine() {
        Ok(m) => m,
        Err(e) => {
            println!("{:?}", miette::Report::new(e));
            return;
        }
    };
    let order: Vec<usize> =
        std::env::args().nth(2).unwrap_or_default().split(',').filter_map(|x| x.parse().ok()).collect();
    for case in procedures::CASES {
        let t = std::time::Instant::now();
        let r = soc::run(
            &m,
            &soc::Conditions {
                case,
                iterations: 1,
                seed: 1,
                order: if case.name == std::env::var("ORD").unwrap_or("suspend-level0".into()) {
                    order.clone()
                } else {
                    vec![]
                },
                record: true,
                explore: None,
            },
        );
        match r {
            Err(e) => {
                println!("{} {:?}: {e}", case.name, case.mode);
            }
            Ok(o) => {
                println!(
                    "{} {:?} ops {} stale {} end {} us, {:?}, events {}",
                    case.name,
                    case.mode,
                    o.operations,
                    o.stale_loads,
                    o.end / 1000000,
                    t.elapsed(),
                    o.events.len()
                );
                let mut ms = o.measured.clone();
                ms.sort_by_key(|m| m.cpu);
                for x in ms {
                    let s = x.stamps.map(|v| v as f64 * 1e6 / m.platform.counter_frequency as f64);
                    println!(
                        "  cpu {} pd {:.2} wk {:.2} fl {:.2} lat {:.2}",
                        x.cpu,
                        s[2] - s[0],
                        s[1] - s[3],
                        s[5] - s[4],
                        s[1] - s[0]
                    );
                }
                if std::env::var("EV").is_ok() && case.name == std::env::var("EV").unwrap() {
                    for e in &o.events {
                        println!(
                            "{:>12.3} cpu{} {} {}",
                            e.time as f64 / 1e6,
                            e.cpu,
                            soc::point_name(e.point),
                            e.argument
                        );
                    }
                }
            }
        }
    }
}
