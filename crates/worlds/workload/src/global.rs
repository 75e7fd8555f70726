//! The object `global`.

use crate::class::{Class, class};
use crate::options::Options;
use crate::values::Source;
use document::json::{Item, Span, Value};
use document::{Result, one_of, quoted};
use std::collections::BTreeMap;

/// Keys that say how rt-app itself works, and nothing about what the tasks do.
const NO_EFFECT: [&str; 11] = [
    "calibration",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "lock_pages",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
    "frag",
];

/// The longest run: ten hours, as in the kernel.
const LONGEST_S: i64 = 36_000;

/// The content of `global`.
pub struct Global {
    pub(crate) duration_ns: Option<u64>,
    pub(crate) class: Class,
    pub(crate) capacity: u32,
    pub(crate) no_effect: Vec<String>,
}

/// The file's settings, with the options' values in their places.
pub fn settings(
    source: &Source,
    global: Option<&Item>,
    options: &Options,
) -> Result<BTreeMap<String, i64>> {
    let mut settings = BTreeMap::new();
    let mut at = Span::default();
    if let Some(global) = global {
        for (key, item) in source
            .object(global, "`global`")?
            .iter()
            .filter(|(key, _)| key.name == "stopwatt_settings")
        {
            at = key.at;
            for (key, item) in source.object(item, "`stopwatt_settings`")? {
                let value = source.integer(item, "a setting", i64::MIN..=i64::MAX)?;
                if settings.insert(key.name.clone(), value).is_some() {
                    return Err(source.twice(key));
                }
            }
        }
    }
    for (name, value) in &options.settings {
        match settings.get_mut(name) {
            Some(own) => *own = *value,
            None => {
                let known: Vec<&String> = settings.keys().collect();
                let help = if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    one_of(name, &known)
                };
                return source.wrong(
                    at,
                    format!("this workload has no setting {}", quoted(name)),
                    help,
                );
            }
        }
    }
    Ok(settings)
}

/// Reads `global`, whose settings are known.
pub fn global(source: &Source, item: Option<&Item>, options: &Options) -> Result<Global> {
    let default = options.capacity.unwrap_or(1024);
    let mut global = Global {
        duration_ns: None,
        class: Class::Fair,
        capacity: default,
        no_effect: Vec::new(),
    };
    let Some(item) = item else { return Ok(global) };
    let mut seen = Vec::new();
    for (key, item) in source.object(item, "`global`")? {
        if seen.contains(&&key.name) {
            return Err(source.twice(key));
        }
        seen.push(&key.name);
        match key.name.as_str() {
            "duration" => {
                let seconds = source.integer(item, "`duration` in seconds", -1..=LONGEST_S)?;
                global.duration_ns = u64::try_from(seconds)
                    .ok()
                    .filter(|&seconds| seconds > 0)
                    .map(|s| s * 1_000_000_000);
            }
            "default_policy" => global.class = class(source, item)?,
            "pi_enabled" => {
                if source.switch(item, "`pi_enabled`")? {
                    return source.wrong(
                        item.at,
                        "priority inheritance of mutexes is not simulated",
                        "set `pi_enabled` to false",
                    );
                }
            }
            "stopwatt_settings" => {}
            "stopwatt_capacity" => {
                let capacity = source.integer(item, "a core's capacity", 1..=1_000_000)? as u32;
                global.capacity = options.capacity.unwrap_or(capacity);
            }
            name if NO_EFFECT.contains(&name) => {
                if matches!(item.value, Value::Missing) {
                    return source.wrong(
                        item.at,
                        format!("{} has no value", quoted(name)),
                        "write `\"key\": value`",
                    );
                }
                global.no_effect.push(name.to_owned());
            }
            name => {
                let known = [
                    "duration",
                    "default_policy",
                    "pi_enabled",
                    "stopwatt_settings",
                    "stopwatt_capacity",
                ];
                let known: Vec<_> = known.into_iter().chain(NO_EFFECT).collect();
                return source.wrong(
                    key.at,
                    format!("`global` has no {}", quoted(name)),
                    one_of(name, &known),
                );
            }
        }
    }
    Ok(global)
}
