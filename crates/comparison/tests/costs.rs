use comparison::*;
use experiments::psci_latency::{self, Release};
use procedures::CASES;
use recording::Recording;
use soc::config::{Document, Sources};
use std::collections::BTreeMap;
use std::path::Path;

fn sources(release: &str) -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms");
    let open = |name: String| Document::open(&root.join(name)).unwrap();
    let mut sources = Sources {
        platform: open("juno-r1.toml".to_owned()),
        release: open(format!("juno-r1/releases/{release}.toml")),
        costs: open(format!("juno-r1/costs/{release}.toml")),
    };
    sources.set("counter.frequency", "1 GHz").unwrap();
    sources
}

fn record(release: &str, set: &[(&str, String)]) -> Recording {
    let mut sources = sources(release);
    for (key, value) in set {
        sources.set(key, value).unwrap();
    }
    let orders = CASES.iter().filter(|c| c.name.starts_with("suspend")).map(|c| (c.name.to_owned(), vec![4, 0, 1, 5, 2, 3])).collect::<BTreeMap<_, _>>();
    let releases = [Release { machine: sources.machine().unwrap(), orders }];
    psci_latency::run(&releases, &psci_latency::Options { iterations: 3, seed: 1, free_seeds: 0 }, || {}).unwrap()
}

#[test]
fn explore() {
    let base = record("juno-v2.12", &[]);
    let text = sources("juno-v2.12").costs.text().to_owned();
    let table: toml::Table = text[..text.find("\n[fit").unwrap() + 1].parse().unwrap();
    let mut keys = Vec::new();
    fn walk(keys: &mut Vec<(String, String)>, p: &str, t: &toml::Table) {
        for (k, v) in t {
            match v {
                toml::Value::Table(t) => walk(keys, &format!("{p}{k}."), t),
                toml::Value::String(s) if k != "release" => keys.push((format!("{p}{k}"), s.clone())),
                toml::Value::Float(f) => keys.push((format!("{p}{k}"), f.to_string())),
                _ => {}
            }
        }
    }
    walk(&mut keys, "", &table);
    for (key, value) in keys {
        let (n, unit) = value.split_once(' ').unwrap_or((&value, ""));
        let new = format!("{} {unit}", n.parse::<f64>().unwrap() * 1.05);
        let other = record("juno-v2.12", &[(&format!("costs.{key}"), new.trim().to_owned())]);
        let c = compare(&[Input { name: "a".into(), recording: &base, variant: None }, Input { name: "b".into(), recording: &other, variant: None }], &Options::default()).unwrap();
        println!("=== {key} {value}: {} of {}  warn {:?}", c.rows.len() - c.count(Verdict::Same), c.rows.len(), c.warnings);
        for row in &c.rows {
            let ch = row.changes[0].as_ref().unwrap();
            if ch.verdict != Verdict::Same {
                let causes: Vec<_> = ch.causes.iter().filter(|c| c.absolute().abs() > 0.0015).map(|c| format!("{} {:+.3}", c.cause.name(), c.absolute())).collect();
                println!("   {:60} {:+.3} {:?} {}", row.key.label(), ch.absolute, ch.main_cause(), causes.join(" "));
            }
        }
    }
}
