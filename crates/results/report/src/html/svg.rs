//! The parts that pictures drawn as SVG share.

use std::fmt::Write;

/// Width of every picture, in its own units; the page scales it.
pub(super) const WIDTH: f64 = 960.0;
/// Width of a letter, about.
pub(super) const LETTER: f64 = 6.4;
/// Colours of the style sheet for parts and curves, one after the other.
pub(super) const COLOURS: usize = 8;

/// A text that can stand in SVG.
pub(super) fn text(out: &mut String, class: &str, (x, y): (f64, f64), words: &str) {
    let _ = write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
}

/// A text without what would be a tag.
pub(super) fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// As much of a name as fits.
pub(super) fn fitting(name: &str, width: f64) -> String {
    let most = (width / LETTER).max(1.0) as usize;
    match name.chars().count() > most {
        true => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// 1, 2 or 5 times a power of ten, at least `at_least`.
pub(super) fn nice_step(at_least: f64) -> f64 {
    let mut power = 1e-3;
    while power * 10.0 <= at_least {
        power *= 10.0;
    }
    [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|&step| step >= at_least).unwrap_or(power * 10.0)
}
