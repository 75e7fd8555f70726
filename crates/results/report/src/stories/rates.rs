//! `find-rate`: rates and latencies between interfaces, driver by driver.

use super::story::Story;
use super::{clocks, spread};
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Picture, Table, fixed, name, percent, text, whole,
};
use findings::rates::{Driver, LoadLatency, Loss, Rates};
use findings::spread::Spread;

fn bounds_words([lower, upper]: [Option<f64>; 2]) -> String {
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{lower:.3} to {upper:.3}"),
        (Some(lower), None) => format!("{lower:.3} or more"),
        (None, Some(upper)) => format!("below {upper:.3}"),
        (None, None) => "none".to_owned(),
    }
}

/// The losses of the windows: none, or from the least to the most.
fn loss(driver: &Driver<'_>) -> Cell {
    let share = |share: f64| {
        if share == 0.0 {
            fixed(0.0, 0)
        } else {
            percent(share, 2)
        }
    };
    match driver.loss_ends() {
        None => Cell::Empty,
        Some([_, 0.0]) => "none".into(),
        Some([least, most]) => Cell::Range(share(least), share(most)),
    }
}

/// Where the packets of a driver were lost, the most first.
fn places(driver: &Driver<'_>) -> String {
    let words = |loss: &Loss<'_>| {
        format!("{} {} {}", loss.place, loss.reason, loss.packets)
            .trim()
            .to_owned()
    };
    driver
        .lost_at
        .iter()
        .map(words)
        .collect::<Vec<_>>()
        .join("; ")
}

impl Story for Rates<'_> {
    fn tell(&self, told: &mut Blocks) {
        let facts = &self.facts;
        if let Some(best) = self.best() {
            let of =
                |driver: &&Driver<'_>| format!("{} {}", driver.name, bounds_words(driver.ndr_mpps));
            let rates = best.items.iter().map(of).collect::<Vec<_>>().join(", ");
            let highest = if best.alone().is_some() {
                "The highest rate without loss: "
            } else {
                "Rates without loss: "
            };
            told.answer(format!("{highest}{rates} Mpps."));
        }
        clocks::noise(&self.steadiness, told);
        let row = |driver: &Driver<'_>| {
            let [low, high] = driver.ndr_mpps;
            let (low, high) = (low.or(high)?, high.or(low)?);
            let (name, series) = (driver.name.clone(), driver.name.clone());
            Some(IntervalRow {
                name,
                series,
                low,
                middle: low,
                high,
                published: None,
            })
        };
        let rows: Vec<IntervalRow> = self.drivers.iter().filter_map(row).collect();
        if !rows.is_empty() {
            let drawing = Drawing::Intervals(rows);
            told.picture(Picture::new(
                "Highest rate without loss",
                "rate, between its bounds",
                "Mpps",
                drawing,
            ));
        }
        let spread = |spread: Option<Spread>| spread.map(|spread| spread::words(&spread, 1.0, 3));
        let table = Table::with_rows(&self.drivers)
            .words("driver", |driver| name(driver.name.as_str()))
            .numbers("CPU sends", "", |driver| driver.generates_on.as_str())
            .numbers("CPU forwards", "", |driver| driver.forwards_on.as_str())
            .numbers("offered", "", |driver| spread(driver.offered))
            .numbers("forwarded", "", |driver| spread(driver.windows))
            .numbers("loss", "", loss);
        told.table(table.done().titled("At full load, Mpps"));
        for driver in self.drivers.iter().filter(|driver| driver.lost > 0.0) {
            let words = format!(
                ": {} packets lost for good. {}",
                driver.lost,
                places(driver)
            );
            told.note(text![name(driver.name.as_str()), words]);
        }
        let table = Table::with_rows(&self.drivers)
            .words("driver", |driver| name(driver.name.as_str()))
            .numbers("no loss", "", |driver| bounds_words(driver.ndr_mpps))
            .numbers(format!("loss of {} % or less", facts.loss), "", |driver| {
                bounds_words(driver.pdr_mpps)
            })
            .numbers("trials", "", |driver| whole(driver.trials as f64));
        told.table(table.done().titled("Highest rate, Mpps"));
        let times: Vec<(&str, &LoadLatency<'_>)> = self
            .drivers
            .iter()
            .flat_map(|driver| {
                let mut loads: Vec<_> = driver.latency_us_at_percent_of_pdr.values().collect();
                loads.sort_by_key(|load| load.share);
                loads.into_iter().map(|load| (driver.name.as_str(), load))
            })
            .collect();
        let shown = [
            ("p50", "p50"),
            ("p99", "p99"),
            ("p99.9", "p999"),
            ("p99.99", "p9999"),
            ("max", "max"),
        ];
        let table = Table::with_rows(&times)
            .words("driver", |(driver, _)| name(*driver))
            .numbers("load", "", |(_, load)| format!("{} %", load.share))
            .numbers("Mpps", "", |(_, load)| fixed(load.load_mpps, 3))
            .each(shown, |table, (heading, key)| {
                table.numbers(heading, "", move |(_, load)| {
                    load.percentiles.get(key).map(|us| fixed(*us, 1))
                })
            });
        let title = format!(
            "Latency in us at parts of the rate with a loss of {} % or less",
            facts.loss
        );
        told.table(table.done().titled(title));
        let checksum = if facts.checksum {
            "verified"
        } else {
            "not verified"
        };
        let windows = self.drivers.first().map_or(0, |driver| driver.losses.len());
        told.note(format!(
            "64-byte packets over veth; flows: {}, routes: {}, workers: {}, header checksum {checksum}; {windows} windows of {} ms at \
             full load for each driver, in turn.",
            facts.flows, facts.routes, facts.workers, facts.window_ms
        ));
        for driver in self.drivers.iter().filter(|driver| !driver.mode.is_empty()) {
            told.note(text![
                name(driver.name.as_str()),
                format!(": {}", driver.mode)
            ]);
        }
    }
}
