//! What all pictures are made of: scales with marks and words, rows beside each other's names, and
//! a plane. Places are in percent and letters in pixels, so a picture is laid out for any width.

use crate::blocks::{ends, is_logarithmic, on_axis};
use maud::{Markup, Render, html};

/// The pixels that a picture has in a narrow window, and in a wide one.
pub const WIDTHS: [f64; 2] = [290.0, 800.0];
/// The width of a letter in pixels, about.
pub const LETTER: f64 = 7.0;
/// Steps between the marks of a scale, about: as many as a narrow window has room for.
const STEPS: f64 = 5.0;
/// A value that lies this many times as far out as the next one is an outlier.
const FAR: f64 = 4.0;

/// A mark of a scale: its place in percent, its words, and whether only a wide window has room.
struct Mark(f64, String, bool);

/// The axis of one quantity.
pub struct Scale {
    /// The quantity with its unit.
    words: String,
    ends: (f64, f64),
    marks: Vec<Mark>,
    /// The place of 0 if there is something on both of its sides.
    zero: Option<f64>,
    /// True if some values lie beyond an end.
    pub is_torn: bool,
}

impl Scale {
    /// A scale on which the values have room; outliers may lie beyond its ends. It begins at 0, or
    /// if not `from_zero`, near the least value.
    pub fn new(words: &str, mut values: Vec<f64>, from_zero: bool) -> Self {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let (least, most) = (
            values.first().copied().unwrap_or(0.0),
            values.last().copied().unwrap_or(1.0),
        );
        let (from, to) = if from_zero { (0.0, 0.0) } else { (least, most) };
        let opposite = if from_zero { -least } else { 0.0 };
        let above = farthest(
            values.iter().rev().map(|value| value - from).collect(),
            opposite,
        );
        let opposite = if from_zero { above } else { 0.0 };
        let below = farthest(values.iter().map(|value| to - value).collect(), opposite);
        let (low, high) = (to - below.max(0.0), from + above.max(0.0));
        let is_torn = low > least || high < most;
        let (low, high) = match from_zero {
            true => (low, if high > low { high } else { low + 1.0 }),
            false if is_logarithmic((low, high)) => (low / 1.25, high * 1.25),
            // Values that are all but the same stand in the middle of an axis that shows it.
            false => {
                let room = ((high - low) * 0.06)
                    .max(high.abs() * 0.002)
                    .max(f64::MIN_POSITIVE);
                (
                    if low >= 0.0 {
                        (low - room).max(0.0)
                    } else {
                        low - room
                    },
                    high + room,
                )
            }
        };
        Self {
            is_torn,
            ..Self::between(words, (low, high))
        }
    }

    /// The same from a whole mark to another.
    pub fn rounded(words: &str, values: &[f64]) -> Self {
        let (low, high) = ends([0.0, f64::MIN_POSITIVE].iter().chain(values).copied());
        let step = nice_step((high - low) / STEPS);
        Self::between(
            words,
            ((low / step).floor() * step, (high / step).ceil() * step),
        )
    }

    /// A scale with marks at some places in order, as far as they have room.
    pub fn of_places(
        words: &str,
        ends: (f64, f64),
        places: &[f64],
        word: &dyn Fn(f64) -> String,
    ) -> Self {
        let mut scale = Self {
            marks: Vec::new(),
            ..Self::between(words, ends)
        };
        for (is_wide, width) in [false, true].into_iter().zip(WIDTHS) {
            for &place in places {
                let (at, words) = (scale.at(place), word(place));
                let letters = |words: &str| words.chars().count() as f64 * LETTER;
                if scale.marks.iter().all(|other| {
                    (other.0 - at).abs() / 100.0 * width
                        >= (letters(&other.1) + letters(&words)) / 2.0 + 6.0
                }) {
                    scale.marks.push(Mark(at, words, is_wide));
                }
            }
        }
        scale
    }

    /// A scale between two ends.
    pub fn between(words: &str, ends: (f64, f64)) -> Self {
        let is_logarithmic = is_logarithmic(ends);
        let words = if is_logarithmic {
            format!("{words}, logarithmic")
        } else {
            words.to_owned()
        };
        let zero = (ends.0 < 0.0 && ends.1 > 0.0).then(|| 100.0 * on_axis(0.0, ends));
        let mut scale = Self {
            words,
            ends,
            marks: Vec::new(),
            zero,
            is_torn: false,
        };
        let step = nice_step((ends.1 - ends.0) / STEPS);
        let decimals = |step: f64| (-step.log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
        let values: Vec<(f64, usize)> = if is_logarithmic {
            (-12..16)
                .map(|power| 10_f64.powi(power))
                .map(|value| (value, decimals(value)))
                .collect()
        } else {
            let first = (ends.0 / step - 1e-9).ceil();
            (0..20)
                .map(|number| ((first + f64::from(number)) * step, decimals(step)))
                .collect()
        };
        let near = (ends.1 - ends.0).abs() * 1e-9;
        for (value, decimals) in values
            .into_iter()
            .filter(|(value, _)| (ends.0 - near..=ends.1 + near).contains(value))
        {
            // No "-0".
            scale.marks.push(Mark(
                scale.at(value),
                format!("{:.decimals$}", value + 0.0),
                false,
            ));
        }
        scale
    }

    /// The place of a value, in percent of the length.
    pub fn at(&self, value: f64) -> f64 {
        (100.0 * on_axis(value, self.ends)).clamp(0.0, 100.0)
    }

    /// True if a value has no place on the axis.
    pub fn is_beyond(&self, value: f64) -> bool {
        self.is_torn && (value < self.ends.0 || value > self.ends.1)
    }

    /// Where something lies that goes from one value to another, as a style.
    pub fn between_style(&self, from: f64, to: f64) -> String {
        let (from, to) = (self.at(from), self.at(to));
        format!("left:{from:.2}%;width:{:.2}%", (to - from).max(0.0))
    }

    /// Lines at the marks, as a background.
    fn grid(&self, direction: &str) -> String {
        let line = |at: f64, colour: &str| {
            format!(",#0000 calc({at:.2}% - .5px),var(--{colour}) 0 calc({at:.2}% + .5px),#0000 0")
        };
        let lines = self
            .marks
            .iter()
            .filter(|mark| Some(mark.0) != self.zero)
            .map(|mark| line(mark.0, "faint"));
        let lines: String = lines.chain(std::iter::once(",#0000".to_owned())).collect();
        let zero = self.zero.map_or_else(String::new, |at| {
            format!("linear-gradient({direction}{}),", line(at, "ink"))
        });
        format!("{zero}linear-gradient({direction}{lines})")
    }

    /// The words of the marks along one side of a picture.
    fn labels(&self, side: &str) -> Markup {
        html! {
            @for Mark(at, words, is_wide) in &self.marks {
                i.wide-only[*is_wide] style=(format_args!("{side}:{at:.2}%")) { (words) }
            }
        }
    }
}

/// The greatest of some distances, the greatest first, that is no outlier: at most a quarter of
/// them may be, beside the others and what lies on the opposite side.
fn farthest(distances: Vec<f64>, opposite: f64) -> f64 {
    let next = |out: usize| distances[out].max(opposite);
    let outliers = (1..=distances.len() / 4)
        .rev()
        .find(|&out| next(out) > 0.0 && distances[out - 1] > FAR * next(out))
        .unwrap_or(0);
    distances.get(outliers).copied().unwrap_or(0.0)
}

/// 1, 2 or 5 times a power of ten, at least `at_least`.
pub fn nice_step(at_least: f64) -> f64 {
    let power = 10_f64.powi(at_least.max(1e-12).log10().floor() as i32);
    [1.0, 2.0, 5.0]
        .map(|times| times * power)
        .into_iter()
        .find(|&step| step >= at_least * (1.0 - 1e-9))
        .unwrap_or(power * 10.0)
}

/// A row's name, what is drawn on it, and its figure.
type Row = (String, Markup, String);

impl Scale {
    /// Rows of a height in pixels with the scale above them, each beside its name and its figure,
    /// which stand above it in a narrow window. `columns` are those of a heat map, whose names stay
    /// beside it at any width; 0 for other rows.
    pub fn rows(&self, height: usize, columns: usize, rows: &[Row]) -> Markup {
        let longest = |of: fn(&Row) -> &String, most: usize| {
            rows.iter()
                .map(|row| of(row).chars().count())
                .max()
                .unwrap_or(0)
                .min(most)
        };
        let style = format!(
            "--names:{}ch;--figures:{}ch;--high:{}px;--least:{}px;--grid:{}",
            longest(|row| &row.0, 34),
            longest(|row| &row.2, 26),
            height,
            columns * 30,
            if columns > 0 {
                "none".to_owned()
            } else {
                self.grid("90deg")
            }
        );
        html! {
            p.quantity { (self.words) }
            div.rows.fields[columns > 0] style=(style) {
                div { div.places { (self.labels("left")) } }
                @for (name, drawn, figure) in rows {
                    div { b { (name) } div.area { (drawn) } @if !figure.is_empty() { span { (figure) } } }
                }
            }
            @if self.is_torn { p.note { "What ends in slanted lines goes on beyond the axis, as far as its figure says." } }
        }
    }
}

/// The plane between two scales with what is drawn on it; the height is in pixels.
pub fn plane(x: &Scale, y: &Scale, height: f64, drawn: &Markup) -> Markup {
    let letters = y
        .marks
        .iter()
        .map(|mark| mark.1.chars().count())
        .max()
        .unwrap_or(1);
    let style = format!(
        "--names:{letters}ch;--high:{height}px;--grid:{},{}",
        x.grid("90deg"),
        y.grid("0deg")
    );
    html! {
        div.plane style=(style) {
            p.quantity { (y.words) }
            div.heights { (y.labels("bottom")) }
            div.area { (drawn) }
            div.places { (x.labels("left")) }
            p.quantity { (x.words) }
        }
        @if x.is_torn || y.is_torn { p.note { "What lies at an edge, with slanted lines, lies beyond it, as far as its figures say." } }
    }
}

/// A part of a row with its words, of which it shows as many as it has room for.
pub fn piece(class: &str, style: &str, title: &str, words: &[&dyn Render]) -> Markup {
    html! { i.piece.(class) style=(style) title=(title) { @for words in words { span { (words) } } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_lies_beyond_the_axis_and_what_is_alike_does_not() {
        let scale = |values: &[f64]| Scale::new("", values.to_vec(), true);
        let torn = scale(&[2279.0, 12.0, 11.0, 10.0, 9.0]);
        assert!(torn.is_torn && torn.is_beyond(2279.0) && !torn.is_beyond(12.0));
        assert_eq!(
            (torn.at(12.0), torn.at(0.0), torn.at(2279.0)),
            (100.0, 0.0, 100.0)
        );
        assert!(!scale(&[40.0, 20.0, 10.0, 5.0]).is_torn);
        assert!(
            !scale(&[100.0, 1.0, 1.0]).is_torn,
            "of three none is an outlier"
        );
        assert!(scale(&[-100.0, 1.0, 2.0, 3.0, 2.0]).is_torn, "nor below 0");
        for values in [&[][..], &[f64::NAN], &[7.0, 7.0], &[0.0], &[f64::INFINITY]] {
            for from_zero in [true, false] {
                let scale = Scale::new("", values.to_vec(), from_zero);
                assert!(
                    (0.0..=100.0).contains(&scale.at(7.0)) && !scale.grid("0deg").contains("NaN"),
                    "{values:?}"
                );
            }
        }
    }

    #[test]
    fn marks_have_the_digits_that_tell_them_apart_and_room() {
        let words = |scale: &Scale| {
            scale
                .marks
                .iter()
                .map(|mark| mark.1.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(&Scale::rounded("", &[0.021, 0.0237])),
            ["0.000", "0.005", "0.010", "0.015", "0.020", "0.025"]
        );
        let far = Scale::new("p95 (ms)", vec![2.0, 400.0, 900.0, 50.0], false);
        assert_eq!(
            (words(&far).join(" ").as_str(), far.words.as_str()),
            ("10 100 1000", "p95 (ms), logarithmic")
        );
        let all: Vec<f64> = (0..100).map(f64::from).collect();
        let places = Scale::of_places("", (0.0, 99.0), &all, &|place| place.to_string());
        let narrow = places.marks.iter().filter(|mark| !mark.2).count();
        assert!(narrow > 5 && narrow < 20 && places.marks.len() > narrow);
    }
}
