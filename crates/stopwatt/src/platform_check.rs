//! `stopwatt platform check`: what a platform file declares, borrows and assumes, and what follows
//! from its powers.

use crate::data::Data;
use crate::output::Format;
use clap::Args;
use console::Console;
use document::Document;
use itertools::{Itertools, MinMaxResult};
use miette::Result;
use platforms::PlatformFiles;
use serde::{Deserialize, Serialize};
use soc::OperatingPoint;
use soc::config::{Domain, Platform};
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::{Table, Value};

/// Options of `platform check`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt platform check hikey960
  stopwatt platform check board.toml --measured watts.csv

The table of measured powers has the columns domain, clock_mhz, cores and watts, and two rows or more of a domain at a clock: what \
another core takes is the slope from the fewest cores to the most.")]
pub struct CheckOptions {
    /// The platform, by name or file.
    #[arg(value_name = "PLATFORM")]
    platform: String,
    /// A table of powers that a meter showed.
    #[arg(long, value_name = "CSV")]
    measured: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value = "term")]
    format: Format,
}

/// What was found about a platform.
#[derive(Serialize)]
struct Checked {
    title: String,
    /// Places of values, and what is said of them, by `declared`, `borrowed` and `assumed`.
    sources: BTreeMap<&'static str, Vec<[String; 2]>>,
    /// Domains, and clocks in MHz of operating points at which the same work takes no less than at
    /// a faster one.
    inefficient_mhz: Vec<(String, Vec<f64>)>,
    /// The slowest domain, and the use of a CPU, in parts of 1024, up to which a task takes less
    /// energy there than on the fastest.
    least_on: Option<(String, u32)>,
    measured: Vec<Measured>,
}

/// A row of measured powers.
#[derive(Deserialize)]
struct MeasuredRow {
    domain: String,
    clock_mhz: f64,
    cores: u32,
    watts: f64,
}

/// Measured powers at a clock.
#[derive(Serialize)]
struct Measured {
    domain: String,
    clock_mhz: f64,
    /// Power of another core.
    core_w: f64,
    /// Power of all else: what the cluster shares, and what the meter sees beside it.
    other_w: f64,
    /// Power of a core as times of the table's: its dynamic-power-coefficient times this gives it.
    times_table: Option<f64>,
}

/// Reads the platform, and prints what it says.
pub fn run(console: &Console, data: &Data, options: &CheckOptions) -> Result<()> {
    let part = data.platforms();
    let files = PlatformFiles::open(&part, &options.platform)?;
    let platform = Platform::read(files.document())?;
    let idle = platforms::idle_states(&part, &files.idle_states()?)?;
    let mut sources = BTreeMap::new();
    for text in [files.document().text(), &idle.text].iter().unique() {
        find(&mut sources, "", &text.parse().unwrap_or_default());
    }
    let domains = platform.topology.domains.iter();
    let domains = domains
        .filter(|domain| !domain.operating_points.is_empty())
        .sorted_by_key(|domain| domain.operating_points.last().map(|point| point.capacity))
        .collect_vec();
    let power = idle.power.as_ref();
    let unit = power.and_then(|power| power.watts_per_unit.as_ref());
    let unit = unit.or(idle.running_unit.as_ref()).map(|unit| unit.value);
    let table = options
        .measured
        .as_deref()
        .map(Document::open)
        .transpose()?;
    let measured = table.map(|table| measured(&table, &domains, unit));
    let checked = Checked {
        title: idle.title,
        sources,
        inefficient_mhz: domains.iter().map(|domain| inefficient(domain)).collect(),
        least_on: least_on(&domains),
        measured: measured.transpose()?.unwrap_or_default(),
    };
    options
        .format
        .print(console, || serde_json::json!(checked), || text(&checked))
}

/// Finds every source, and every table of which one says that it is borrowed or assumed.
fn find(sources: &mut BTreeMap<&'static str, Vec<[String; 2]>>, at: &str, table: &Table) {
    let name = table.get("name").and_then(Value::as_str).unwrap_or("");
    let at = format!("{at} {name}");
    for (key, value) in table {
        let inner = format!("{} {key}", at.trim());
        let mut add = |is, text: &str| {
            let sources = sources.entry(is).or_default();
            sources.push([at.trim().to_owned(), text.to_owned()]);
        };
        match value {
            Value::String(text) => {
                if let Some(is) = certainty(key, text) {
                    add(is, text);
                }
            }
            Value::Table(times) if key == "assumed" => add("assumed", &times.keys().join(", ")),
            Value::Table(table) => find(sources, &inner, table),
            Value::Array(all) => {
                let tables = all.iter().filter_map(Value::as_table);
                tables.for_each(|table| find(sources, &inner, table));
            }
            _ => {}
        }
    }
}

/// How sure a source is; `None` where the key is none.
fn certainty(key: &str, text: &str) -> Option<&'static str> {
    Some(match key {
        "borrows" => "borrowed",
        "assumed" => "assumed",
        _ if !key.ends_with("source") => return None,
        _ if text.contains("orrowed") => "borrowed",
        _ if text.contains("ssumed") => "assumed",
        _ => "declared",
    })
}

/// Power of a core for its work.
fn cost(point: &OperatingPoint) -> f64 {
    f64::from(point.core_power) / f64::from(point.capacity)
}

/// The operating points that Linux calls inefficient: `em_compute_costs` of
/// kernel/power/energy_model.c.
fn inefficient(domain: &Domain) -> (String, Vec<f64>) {
    let mut least = f64::INFINITY;
    let points = domain.operating_points.iter().rev();
    let points = points.filter(|point| {
        let is_inefficient = cost(point) >= least;
        least = least.min(cost(point));
        is_inefficient
    });
    let clocks = points.map(|point| point.clock as f64 / 1e6).collect_vec();
    (domain.name.clone(), clocks.into_iter().rev().collect())
}

/// The use up to which one task takes less on the slowest domain, each at the lowest point that
/// holds 1.25 times of it, as schedutil asks for.
fn least_on(domains: &[&Domain]) -> Option<(String, u32)> {
    let [little, .., big] = domains else {
        return None;
    };
    let of = |domain: &Domain, used: u32| {
        let mut points = domain.operating_points.iter();
        points
            .find(|point| 4 * point.capacity >= 5 * used)
            .map(cost)
    };
    let is_less = |used: &u32| {
        of(little, *used)
            .zip(of(big, *used))
            .is_some_and(|(here, there)| here <= there)
    };
    let used = (1..=1024).take_while(is_less).last().unwrap_or(0);
    Some((little.name.clone(), used))
}

/// Power of a core and of all else, for each domain and clock of a table.
fn measured(table: &Document, domains: &[&Domain], unit: Option<f64>) -> Result<Vec<Measured>> {
    let rows = table.rows::<MeasuredRow>()?;
    let groups = rows.iter().map(|row| {
        let of = row.get_ref();
        ((&of.domain, of.clock_mhz.to_bits()), row)
    });
    let line = |(_, rows): (_, Vec<&document::Spanned<MeasuredRow>>)| {
        let wrong = |message: String, help: String| table.wrong(rows[0].span(), message, help);
        let row = rows[0].get_ref();
        let domain = domains.iter().find(|of| of.name == row.domain);
        let domain = domain.ok_or_else(|| {
            let known = domains.iter().map(|of| &of.name).join(", ");
            let message = format!("no domain `{}` has operating points", row.domain);
            wrong(message, format!("there are {known}"))
        })?;
        let rows = rows.iter().map(|row| row.get_ref());
        let MinMaxResult::MinMax(few, many) = rows.minmax_by_key(|row| row.cores) else {
            let message = format!("{} MHz has one row", row.clock_mhz);
            return Err(wrong(message, "add one with more cores".to_owned()));
        };
        let core_w = (many.watts - few.watts) / f64::from(many.cores - few.cores);
        let mut points = domain.operating_points.iter();
        let point = points.find(|point| (point.clock as f64 / 1e6 - row.clock_mhz).abs() < 1.0);
        let in_table = point.zip(unit);
        Ok(Measured {
            domain: row.domain.clone(),
            clock_mhz: row.clock_mhz,
            core_w,
            other_w: few.watts - core_w * f64::from(few.cores),
            times_table: in_table
                .map(|(point, unit)| core_w / (f64::from(point.core_power) * unit)),
        })
    };
    let lines = recording::grouped(groups).into_iter().map(line);
    Ok(lines.collect::<Result<_, document::Error>>()?)
}

fn text(checked: &Checked) -> String {
    let counts = checked.sources.iter();
    let mut counts = counts.map(|(is, all)| format!("{} are {is}", all.len()));
    let mut lines = vec![format!(
        "{}: of the places where values stand, {}.",
        checked.title,
        counts.join(", ")
    )];
    for (domain, clocks) in &checked.inefficient_mhz {
        let clocks = clocks.iter().join(", ");
        if !clocks.is_empty() {
            lines.push(format!(
                "{domain} is inefficient at {clocks} MHz: at a faster point the same work takes no more."
            ));
        }
    }
    lines.extend(checked.least_on.as_ref().map(|(domain, used)| {
        format!(
            "By these powers energy-aware placement picks {domain} for a lone task of up to {used} of 1024."
        )
    }));
    lines.extend(checked.measured.iter().map(|of| {
        let times = of.times_table.map_or(String::new(), |times| {
            format!(", {times:.2} times the platform's")
        });
        format!(
            "Measured, {} at {} MHz: a core takes {:.3} W{times}, all else {:.3} W.",
            of.domain, of.clock_mhz, of.core_w, of.other_w
        )
    }));
    for (is, all) in &checked.sources {
        lines.push(format!("\n{is}:"));
        lines.extend(all.iter().map(|[at, text]| format!("  {at}: {text}")));
    }
    lines.join("\n") + "\n"
}
