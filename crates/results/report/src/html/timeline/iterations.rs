//! A small chart of how iterations scatter. Percent and pixels, as timelines are.

use crate::blocks::figure as number;
use attribution::Chosen;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// The slowest CPU of every iteration: a point each, or the range of each of 200 columns where
/// there are more.
pub(super) fn draw(chosen: &Chosen) -> Markup {
    const COLUMNS: usize = 200;
    const HEIGHT: f64 = 44.0;
    let most = chosen
        .slowest
        .iter()
        .map(|&(_, value)| value)
        .fold(0.0, f64::max);
    let count = chosen.slowest.len();
    let y = |value: f64| HEIGHT - 4.0 - value / most.max(f64::MIN_POSITIVE) * (HEIGHT - 10.0);
    let x = |index: usize| (index as f64 + 0.5) / count as f64 * 100.0;
    let mut marks = String::new();
    let per_column = count.div_ceil(COLUMNS);
    for (column, values) in chosen.slowest.chunks(per_column).enumerate() {
        let least = values
            .iter()
            .map(|&(_, value)| value)
            .fold(f64::MAX, f64::min);
        let most = values.iter().map(|&(_, value)| value).fold(0.0, f64::max);
        let x = x(column * per_column + values.len() / 2);
        let (top, bottom) = (y(most) - 1.5, y(least) + 1.5);
        let _ = write!(
            marks,
            "<line class=iteration x1={x:.2}% x2={x:.2}% y1={top:.1} y2={bottom:.1} />"
        );
    }
    for (class, iteration) in [("median-mark", chosen.median), ("worst-mark", chosen.worst)] {
        if let Some(index) = chosen
            .slowest
            .iter()
            .position(|&(number, _)| number == iteration)
        {
            let (x, y) = (x(index), y(chosen.slowest[index].1));
            let _ = write!(marks, "<circle class={class} cx={x:.2}% cy={y:.1} r=4 />");
        }
    }
    let label = format!(
        "The slowest CPU in each of {count} iterations, from 0 to {} us",
        number(most)
    );
    html! {
        svg.iterations role="img" width="100%" height=(HEIGHT) aria-label=(label) {
            line.zero x1="0" x2="100%" y1=(HEIGHT - 4.0) y2=(HEIGHT - 4.0) {}
            (PreEscaped(marks))
        }
    }
}
