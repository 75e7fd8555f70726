//! What was found, in sentences. No other file of this crate has a comparative or a superlative in
//! what it prints; the test `words` looks for them.
//!
//! | file | what it words |
//! |---|---|
//! | `latency.rs` | PSCI latencies, and what they hang on |
//! | `counts.rs` | instructions of calls, passages and functions |
//! | `packets.rs` | graphs, strides, frames |
//! | `tune.rs` | loops that somebody tunes |
//! | `idle.rs` | governors, limits, kernels' counts, clocks |
//! | `energy.rs` | RCU and the energy model |
//! | `placement.rs` | policies of placement |
//! | `measured.rs` | measures of others |
//! | `sweeps.rs` | what-ifs and sweeps |
//! | `changes.rs`, `changed_counts.rs` | comparisons |
//! | `clocks.rs`, `names.rs` | clocks of a counter; names of recordings |
//!
//! This one has the names of things in every output: cases, CPUs, figures.

pub mod changed_counts;
pub mod changes;
pub mod clocks;
pub mod counts;
pub mod energy;
pub mod idle;
pub mod latency;
pub mod measured;
pub mod names;
pub mod packets;
pub mod placement;
pub mod sweeps;
pub mod tune;

use attribution::CellResult;
use findings::Findings;
use findings::accuracy::Accuracy;
use itertools::Itertools;
use recording::conditions;

/// A case's title as the documents have it, without the mode.
pub fn case_title(case: &str) -> &str {
    match case {
        "suspend-deepest" => "CPU_SUSPEND to the deepest power level",
        "suspend-level0" => "CPU_SUSPEND to power level 0",
        "cpu-off" => "CPU_OFF on all non-lead CPUs, then CPU_SUSPEND on the lead",
        "psci-version" => "PSCI_VERSION",
        other => other,
    }
}

/// The device that a release's power commands go to: a board whose costs are another's need not
/// have that one's SCP.
pub fn controller(findings: &Findings<'_>, release: &str) -> &'static str {
    let header = &findings.recording.header;
    match header.condition(release, conditions::BORROWED) {
        Some(_) => "the power controller",
        None => "the SCP",
    }
}

/// A number of a sentence, with three digits.
pub fn three(value: f64) -> String {
    let decimals = match value.abs() {
        large if large >= 99.95 || large == 0.0 => 0,
        middle if middle >= 9.995 => 1,
        small if small >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// What figures of a release rest on that a reader would not expect: " with Juno r1's costs";
/// empty where nothing is.
pub fn borrowed(findings: &Findings<'_>, release: &str) -> String {
    let header = &findings.recording.header;
    let of = |key: &str| header.condition(release, key);
    match (of(conditions::BORROWED), of(conditions::BAD_FIT)) {
        (Some(board), _) => format!(" with {board}'s costs"),
        (None, Some(_)) => " with costs of a bad fit".to_owned(),
        (None, None) => String::new(),
    }
}

/// What values that are alike are the same within: nothing where they are the same to the last digit,
/// else `besides` and the share that leaves figures alike.
pub fn within(values: impl IntoIterator<Item = f64>, besides: &str) -> String {
    if values.into_iter().all_equal() {
        String::new()
    } else {
        format!(" within {besides}{} %", 100.0 * evidence::ALIKE)
    }
}

/// The explanation of the guess that stands beside a model's accuracy.
pub const GUESS: &str = "guess: what the tables alone foretell of the same cells. A powerdown is the published one of the CPU before, \
     which the model is not given, and a constant; a cache flush and a wakeup are the serial ones, but that a wakeup from the deepest level may be \
     another release's, whichever pattern is nearest; without a declared order a powerdown is the serial one, too. A powerdown of cpu-off is that of the deepest serial \
     suspend, and a PSCI_VERSION that of another CPU of the cluster";

/// The guess's errors in a row of the accuracy table.
pub fn guess(row: &Accuracy) -> String {
    row.guess.map_or_else(
        || "-".to_owned(),
        |guess| {
            format!(
                "{:.1} %, {:.1} %",
                guess.median_error_percent, guess.worst_error_percent
            )
        },
    )
}

/// The explanation of the intervals that stand beside a model's accuracy.
pub const INTERVALS: &str = "median and worst: of the errors' absolute values. hold, of the 90 % intervals: how many hold the published value, of the model's (from draws of who arrives and wakes first, of the costs \
     within their fit, and of what the fit leaves over, widened by what they miss in the other releases) and of the guess's (from how far it is off in the other releases); and the median of the \
     model's widths as a multiple of the guess's";

/// The way in which the intervals did in a row of the accuracy table.
pub fn held(row: &Accuracy) -> String {
    let Some(intervals) = row.intervals else {
        return "-".to_owned();
    };
    let guess = intervals
        .guess_held
        .map_or_else(|| "-".to_owned(), |held| held.to_string());
    let width = intervals.width_against_guess.map_or_else(
        || "-".to_owned(),
        |it| format!("{it:.0$}", 1 + usize::from(it < 0.095)),
    );
    format!("{}, {guess}; {width} x", intervals.held)
}

/// A word that starts with a capital.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A CPU by its place: cluster.core.
pub fn place(cell: &CellResult) -> String {
    format!("{}.{}", cell.cluster, cell.core)
}

/// The columns of a text, in which what only sets a colour takes no room.
fn room(text: &str) -> usize {
    let mut escaped = false;
    text.chars()
        .filter(|&c| {
            let counts = !escaped && c != '\x1b';
            escaped = if escaped { c != 'm' } else { c == '\x1b' };
            counts
        })
        .count()
}

/// The sentences of a text, each with its full stop.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut from = 0;
    text.match_indices(". ")
        .map(|(at, _)| at + 1)
        .chain([text.len()])
        .map(|to| text[std::mem::replace(&mut from, to)..to].trim())
        .filter(|sentence| !sentence.is_empty())
        .collect()
}

/// Lines of at most a width.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let needed = room(word);
        if used > 0 && used + 1 + needed > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += needed;
        }
    }
    lines
}

/// A text with each line that is wider than the terminal broken between words, the rest of it
/// indented by two more than the line. Lines of tables and charts are left as they are: those fit
/// by themselves.
pub fn folded(text: &str, width: usize) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (words, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |words| (words, "\n"));
        let indent = words.len() - words.trim_start_matches(' ').len();
        let is_drawn = words
            .chars()
            .any(|c| ('\u{2500}'..='\u{259f}').contains(&c))
            || words.trim_start().contains(" |");
        if room(words) <= width || is_drawn || width < indent + 12 {
            folded.push_str(line);
            continue;
        }
        let more = " ".repeat(indent + 2);
        for (number, part) in wrap(&words[indent..], width - indent - 2)
            .into_iter()
            .enumerate()
        {
            if number > 0 {
                folded.push('\n');
            }
            folded.push_str(if number == 0 { &more[2..] } else { &more });
            folded.push_str(&part);
        }
        folded.push_str(end);
    }
    folded
}

/// "a", "a and b", "a, b and c".
pub fn listed(items: impl IntoIterator<Item: ToString>) -> String {
    // One for all kinds of items, since there are many.
    fn of(items: &[String]) -> String {
        match items {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => items.concat(),
        }
    }
    of(&items.into_iter().map(|item| item.to_string()).collect_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_sentences() {
        let items: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(listed(&items), "a, b and c");
        assert_eq!(listed(&items[..2]), "a and b");
        assert_eq!(listed(&items[..1]), "a");
    }

    #[test]
    fn lines_are_broken_between_words_and_colours_take_no_room() {
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(
            wrap("\x1b[1mone\x1b[0m two three", 9),
            ["\x1b[1mone\x1b[0m two", "three"]
        );
    }

    #[test]
    fn a_long_line_goes_on_further_in_and_what_is_drawn_stays() {
        let text = "one\n  two three four five\n\u{2502} a table that is wide \u{2502}\nlast";
        assert_eq!(
            folded(text, 16),
            "one\n  two three\n    four five\n\u{2502} a table that is wide \u{2502}\nlast"
        );
        assert_eq!(folded(text, 80), text);
        let bold = "\x1b[1mone two three four\x1b[0m\n";
        assert_eq!(folded(bold, 18), bold, "colours take no room");
        let path = "  a/path/that/has/no/blank/at/all";
        assert_eq!(folded(path, 20), path, "what cannot be broken stays whole");
    }
}
