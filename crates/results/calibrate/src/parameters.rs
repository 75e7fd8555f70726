//! The plan of a fit: the plan file of a platform, and parameters as fields of the costs.

use document::{Document, Error, readers, within};
use serde::{Deserialize, de};
use soc::config::{CoreCosts, Costs, Platform, PowerUnitCosts};
use soc::quantity::time;
use std::collections::BTreeSet;

/// Plan of a fit of a platform's costs.
#[derive(Debug)]
pub struct Plan {
    /// The release whose fitted values the carried parameters of the others start from, if any
    /// does.
    pub carry_from: Option<String>,
    /// Standard deviation of a carried value, as a part of it.
    carry_within: f64,
    /// The parameters, a `*` in their keys standing for each type of core, and whether each is
    /// carried.
    entries: Vec<(Parameter, bool)>,
}

/// Start of a parameter, and its weight.
#[derive(Clone, Debug)]
pub struct Prior {
    /// Value in microseconds, or as a share.
    pub value: f64,
    /// Standard deviation, as a part of the value.
    pub within: f64,
}

/// A cost that is fitted.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Dotted key in the costs file.
    pub key: String,
    /// Prior of the cost.
    pub prior: Prior,
    /// Multiples of the prior from which the fit is tried; the best counts. Once, from the prior
    /// itself, unless the plan says otherwise.
    pub starts: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    carry: Option<Carry>,
    prior: PriorTable,
    parameter: Vec<FileParameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Carry {
    from: String,
    #[serde(deserialize_with = "deviation")]
    within: f64,
    #[serde(rename = "why")]
    _why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriorTable {
    #[serde(deserialize_with = "deviation")]
    within: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileParameter {
    key: toml::Spanned<String>,
    prior: toml::Spanned<String>,
    #[serde(rename = "why")]
    _why: String,
    /// Standard deviation of this prior, as a part of it, where it is known better than the others.
    #[serde(default, deserialize_with = "some_deviation")]
    within: Option<f64>,
    /// Multiples of the prior from which the fit is tried, where the cells bend.
    #[serde(default = "from_itself", deserialize_with = "starts")]
    starts: Vec<f64>,
    #[serde(default)]
    carried: bool,
}

readers! {
    /// A standard deviation as a part of a prior; a greater one leaves the prior no weight.
    deviation: f64 = |from| {
        let help = "is no standard deviation: one is more than 0 and at most 1000, such as 0.1 for what is known to a tenth";
        within(f64::deserialize(from)?, f64::MIN_POSITIVE..=1000.0, help)
    };

    some_deviation: Option<f64> = |from| deviation(from).map(Some);

    starts: Vec<f64> = |from| {
        let starts = Vec::<f64>::deserialize(from)?;
        if starts.iter().any(|&start| start > 0.0) {
            return Ok(starts);
        }
        Err(de::Error::custom(
            "no start is more than 0: write multiples of the prior, such as [0.5, 1.0, 2.0], or leave it out",
        ))
    };
}

fn from_itself() -> Vec<f64> {
    vec![1.0]
}

/// The one cost that is no time.
const SHARE: &str = "flush_port_share";

/// The prior of a parameter: microseconds, or a share.
fn prior(document: &Document, parameter: &FileParameter) -> Result<f64, Error> {
    let text = parameter.prior.get_ref();
    let prior = if parameter.key.get_ref() == SHARE {
        text.parse()
            .map_err(|_| format!("`{text}` is no share: expected a part of 1, such as \"0.1\""))
    } else {
        time(text).map(|ps| ps as f64 / 1e6)
    };
    match prior {
        Ok(prior) if prior > 0.0 => Ok(prior),
        Ok(_) => {
            let help = "give its order of magnitude";
            Err(document.wrong(parameter.prior.span(), "a prior is more than 0", help))
        }
        Err(message) => {
            Err(document.wrong(parameter.prior.span(), message, "see the other priors"))
        }
    }
}

impl Plan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn read(document: &Document) -> Result<Self, Error> {
        let file: File = document.read()?;
        let mut entries = Vec::new();
        for parameter in file.parameter {
            if parameter.carried && file.carry.is_none() {
                let help = "add a [carry] table that names the release, or leave `carried` out";
                return Err(document.wrong(
                    parameter.key.span(),
                    "it is carried, and no release is to carry from",
                    help,
                ));
            }
            let prior = Prior {
                value: prior(document, &parameter)?,
                within: parameter.within.unwrap_or(file.prior.within),
            };
            let (key, starts) = (parameter.key.into_inner(), parameter.starts);
            entries.push((Parameter { key, prior, starts }, parameter.carried));
        }
        Ok(Self {
            carry_within: file.carry.as_ref().map_or(0.0, |carry| carry.within),
            carry_from: file.carry.map(|carry| carry.from),
            entries,
        })
    }

    /// The parameters of a platform; `carried` are the costs that carried parameters start from, if
    /// there are.
    ///
    /// # Errors
    /// A key that is no cost.
    pub fn parameters(
        &self,
        platform: &Platform,
        carried: Option<&Costs>,
    ) -> Result<Vec<Parameter>, Error> {
        let cpus = platform.topology.cpus.iter();
        let core_types: BTreeSet<&str> = cpus.map(|cpu| cpu.core_type.as_str()).collect();
        let unknown = |key: &str| {
            Error::new(
                format!("the plan fits `{key}`, which is no cost"),
                "see a costs file for those there are",
            )
        };
        let mut parameters = Vec::new();
        for (entry, is_carried) in &self.entries {
            let keys: Vec<String> = match entry.key.split_once('*') {
                Some((before, after)) => core_types
                    .iter()
                    .map(|core| format!("{before}{core}{after}"))
                    .collect(),
                None => vec![entry.key.clone()],
            };
            for key in keys {
                let mut prior = entry.prior.clone();
                if let Some(costs) = carried.filter(|_| *is_carried) {
                    let value = get(costs, &key).ok_or_else(|| unknown(&key))?;
                    if value > 0.0 {
                        prior = Prior {
                            value,
                            within: self.carry_within,
                        };
                    }
                }
                parameters.push(Parameter {
                    key,
                    prior,
                    starts: entry.starts.clone(),
                });
            }
        }
        let mut probe = zero(platform);
        match parameters
            .iter()
            .find(|parameter| !set(&mut probe, &parameter.key, 0.0))
        {
            Some(parameter) => Err(unknown(&parameter.key)),
            None => Ok(parameters),
        }
    }
}

/// Costs of nothing, with an entry for each core type of a platform.
pub fn zero(platform: &Platform) -> Costs {
    let cpus = platform.topology.cpus.iter();
    Costs {
        power_units: Some(PowerUnitCosts::default()),
        cores: cpus
            .map(|cpu| (cpu.core_type.clone(), CoreCosts::default()))
            .collect(),
        ..Costs::default()
    }
}

/// Sets a cost from microseconds, or from a share of 1; false if there is no such cost. Both are
/// kept in millionths.
pub fn set(costs: &mut Costs, key: &str, value: f64) -> bool {
    costs
        .cost_mut(key)
        .map(|field| *field = (in_domain(key, value) * 1e6).round() as u64)
        .is_some()
}

/// A cost in microseconds, or a share of 1.
pub fn get(costs: &Costs, key: &str) -> Option<f64> {
    costs.clone().cost_mut(key).map(|field| *field as f64 / 1e6)
}

/// The value that a cost can have nearest to one: no time is below 0, and no share above 1.
fn in_domain(key: &str, value: f64) -> f64 {
    value.clamp(0.0, if key == SHARE { 1.0 } else { f64::INFINITY })
}

/// A value as the costs file writes it, rounded to what is written.
pub fn written(key: &str, value: f64) -> (String, f64) {
    let value = in_domain(key, value);
    if key == SHARE {
        let rounded = (value * 1e4).round() / 1e4;
        (format!("{rounded:.4}"), rounded)
    } else if key.ends_with("_line") {
        let picoseconds = (value * 1e6).round();
        (
            format!("\"{:.3} ns\"", picoseconds / 1e3),
            picoseconds / 1e6,
        )
    } else {
        let nanoseconds = (value * 1e3).round();
        (
            format!("\"{:.3} us\"", nanoseconds / 1e3),
            nanoseconds / 1e3,
        )
    }
}
