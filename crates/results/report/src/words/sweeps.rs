//! What settings do: each by itself in a what-if, and over the points of a sweep.

use super::{capital, three, within};
use crate::blocks::{figure, grouped, one_or_range};
use evidence::Leaders;
use findings::sweep_effects::{Effect, is_chance};
use findings::what_if::{self, WhatIf, WhatIfPoint};
use recording::metrics;
use sweep::{PointSummary, Quantity, Summary};

/// What each setting does by itself, or what all combinations come to; at most three sentences.
pub fn what_if(what_if: &WhatIf) -> Vec<String> {
    let Some(first) = what_if.points.first() else {
        return Vec::new();
    };
    let (metric, unit) = (what_if.measured.2.replace('_', " "), what_if.unit());
    let (most, takes, times_as) = if what_if.is_of_time() {
        ("longest", "takes", "times as long")
    } else {
        ("largest", "is", "times as large")
    };
    let comes_to = |point: &WhatIfPoint| format!("{takes} {} {unit}", three(point.longest));
    let effects = what_if.effects();
    let subject = format!("the {most} {metric}{}", what_if.of);
    let mut told = Vec::new();
    for what_if::Effect {
        key,
        from,
        to,
        times,
        told: known,
        of,
    } in effects.iter().take(2)
    {
        let key = key.rsplit('.').next().unwrap_or_default();
        let in_all = match (known, of) {
            (_, 1) => String::new(),
            (known, of) if known == of => format!(", in all {of} combinations of the rest"),
            (known, of) => format!(", in {known} of {of} combinations of the rest"),
        };
        told.push(match times {
            None => format!(
                "It cannot be told whether {subject} differs with {key}={from} and {key}={to}; {} may tell.",
                more(what_if)
            ),
            Some([1.0, 1.0]) => format!("{} is the same with {key}={from} and {key}={to}{in_all}.", capital(&subject)),
            Some(times) => format!(
                "With {key}={to} instead of {from}, {subject} {takes} {}{in_all}.",
                changed(*times, times_as)
            ),
        });
    }
    if let [one] = &effects[..]
        && one.times.is_some()
    {
        let last = &what_if.points[what_if.points.len() - 1];
        told.push(format!(
            "It {} with {}, and {} {unit} with {}.",
            comes_to(first),
            one.from,
            three(last.longest),
            one.to
        ));
    }
    if effects.is_empty() {
        told.push(format!("{} {}.", capital(&subject), comes_to(first)));
    }
    let sure = match (first.seeds.len(), &first.hung_on) {
        (0, Some((what, part))) => format!(
            "With the first values, {:.0} % of it go to {what}.",
            part * 100.0
        ),
        (0, None) => return told,
        (seeds, _) => {
            format!("Each figure is the median of {seeds} seeds, the same for each combination.")
        }
    };
    told.push(sure);
    told
}

/// What draws more of what chance decides.
fn more(what_if: &WhatIf) -> String {
    let most = what_if
        .points
        .iter()
        .map(|point| point.seeds.len().max(point.measured.len()))
        .max()
        .unwrap_or(0);
    what_if.draws.map_or("a longer run".to_owned(), |name| {
        format!("`--{name} {}`", (4 * most).max(20))
    })
}

/// A range of quotients in words: "20.3 to 75.1 % less", "4 to 15 times as long".
fn changed([low, high]: [f64; 2], times_as: &str) -> String {
    let range = |low: f64, high: f64| one_or_range([low, high].map(three));
    let percent = |times: f64| 100.0 * (times - 1.0);
    match (low, high) {
        _ if low >= 2.0 => format!("{} {times_as}", range(low, high)),
        _ if low >= 1.0 => format!("{} % more", range(percent(low), percent(high))),
        _ if high <= 1.0 => format!("{} % less", range(-percent(high), -percent(low))),
        _ => format!(
            "from {} % less to {} % more",
            three(-percent(low)),
            three(percent(high))
        ),
    }
}

/// "480 points", or "360 of 480 points" where some have no figures.
pub fn points(summary: &Summary) -> String {
    let (there, planned) = (summary.points.len() as u64, summary.planned);
    if there < planned {
        format!("{} of {} points", grouped(there), grouped(planned))
    } else {
        format!("{} points", grouped(there))
    }
}

/// From where to where a quantity of a sweep goes, and with what; `settings` names a point.
pub fn sweep(
    summary: &Summary,
    quantity: usize,
    effects: &[Effect],
    settings: &dyn Fn(&PointSummary) -> String,
) -> Vec<String> {
    let ends = |point: &&PointSummary| {
        Some([point.figures[quantity]; 2]).filter(|ends| ends[0].is_finite())
    };
    let [least, most] = [
        Leaders::least(&summary.points, ends),
        Leaders::most(&summary.points, ends),
    ];
    let (Some(least), Some(most)) = (least, most) else {
        return Vec::new();
    };
    let of = &summary.quantities[quantity];
    let value = |of: &Leaders<&PointSummary>| figure(of.items[0].figures[quantity]);
    let (points, name, unit) = (self::points(summary), self::quantity(of), &of.unit);
    let (low, high) = (value(&least), value(&most));
    if least.behind == 0 {
        let within = within(least.items.iter().map(|point| point.figures[quantity]), "");
        return vec![format!(
            "The {name} is the same{within} in all {points}: {low} {unit}."
        )];
    }
    let mut told = vec![format!(
        "Over {points} the {name} goes from {low} to {high} {unit}."
    )];
    let mut ranked = effects.iter().enumerate();
    if let Some((rank, effect)) = ranked.find(|(_, effect)| effect.is_told(effects.len())) {
        // A key of a larger share may have it by chance: then none is told to have most.
        let most = if rank == 0 { "most " } else { "" };
        let [(least, low), (greatest, high)] =
            [&effect.least, &effect.greatest].map(|of| (&of.0, figure(of.1)));
        told.push(format!(
            "It goes {most}with {}: its mean is {low} {unit} with {least}, and {high} with {greatest}.",
            effect.key
        ));
        told.push(format!(
            "That is {:.0} % of the variance over {} points.",
            effect.share * 100.0,
            effect.points
        ));
    } else if summary.keys.iter().any(|key| is_chance(key)) {
        told.push(format!(
            "No key can be told from chance with {points}; more seeds would tell."
        ));
    } else if let ([least], [most]) = (&least.items[..], &most.items[..]) {
        let (least, most) = (settings(least), settings(most));
        told.push(format!(
            "The least is with {least}, the greatest with {most}."
        ));
    } else {
        let [least, most] = [&least, &most].map(|of| of.items.len());
        told.push(format!(
            "{least} points have the least alike, and {most} the greatest."
        ));
    }
    told
}

/// A quantity: "powerdown of suspend-deepest parallel, juno-v2.12".
pub fn quantity(of: &Quantity) -> String {
    let after = |word: &str, name: &str| match name {
        "" => String::new(),
        name => format!("{word}{name}"),
    };
    let case = format!("{} {}", of.case, of.mode);
    format!(
        "{}{}{}{}",
        metrics::heading(&of.metric),
        after(" of ", &of.subject),
        after(" of ", case.trim()),
        after(", ", &of.variant)
    )
}
