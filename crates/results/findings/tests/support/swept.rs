//! A sweep for tests.

use sweep::{PointSummary, Quantity, Summary, Value};

/// Three channels by sixteen clusters by ten seeds: channels matter most, and chance a little.
pub fn swept() -> Summary {
    let quantity = |metric: &str| Quantity {
        variant: "juno-v2.12".to_owned(),
        case: "suspend-deepest".to_owned(),
        mode: "parallel".to_owned(),
        subject: String::new(),
        metric: metric.to_owned(),
        unit: "us".to_owned(),
    };
    let mut points = Vec::new();
    for channels in [1, 2, 4] {
        for clusters in 1..=16 {
            for seed in 1..=10 {
                let powerdown =
                    100.0 * f64::from(clusters) / f64::from(channels) + f64::from(seed % 3);
                points.push(PointSummary {
                    number: points.len() as u64,
                    settings: [channels, clusters, seed]
                        .map(|value| Some(Value::Whole(value.into())))
                        .to_vec(),
                    figures: vec![powerdown, 7.0],
                });
            }
        }
    }
    Summary {
        experiment: "psci-latency".to_owned(),
        world: "sim".to_owned(),
        keys: ["scp.channels", "topology.clusters", "seed"]
            .map(str::to_owned)
            .to_vec(),
        quantities: vec![quantity("powerdown"), quantity("wakeup")],
        planned: points.len() as u64,
        points,
        chunks: (60, 60),
        failed: Vec::new(),
        complaints: Vec::new(),
    }
}
