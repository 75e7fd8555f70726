//! How much less or more: intervals of a signed share in words.

/// An interval of a share that something is less by, in words: `12 to 14 % less`,
/// `between 5 % more and 40 % less`. The ends are shares of 1 in either order; one that is negative
/// is more.
pub fn share_less(ends: [f64; 2]) -> String {
    let [low, high] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
    // As many digits as tell the ends from 0 and from each other, and no more than three.
    let widest = 100.0 * low.abs().max(high.abs());
    let digits = match widest {
        _ if widest >= 100.0 => 0,
        _ if widest >= 10.0 && high - low >= 0.02 => 0,
        _ if widest >= 1.0 => 1,
        _ => 2,
    };
    let percent = |share: f64| format!("{:.digits$}", 100.0 * share.abs());
    let range = |least: String, most: String, word: &str| {
        if least == most {
            format!("{most} % {word}")
        } else {
            format!("{least} to {most} % {word}")
        }
    };
    match (low > 0.0, high < 0.0) {
        _ if low == 0.0 && high == 0.0 => "as much".to_owned(),
        (true, _) => range(percent(low), percent(high), "less"),
        (_, true) => range(percent(high), percent(low), "more"),
        _ => format!(
            "between {} % more and {} % less",
            percent(low),
            percent(high)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_is_less_more_or_both() {
        for (ends, words) in [
            ([0.12, 0.14], "12 to 14 % less"),
            ([0.14, 0.12], "12 to 14 % less"),
            ([0.12, 0.121], "12.0 to 12.1 % less"),
            ([-0.30, -0.05], "5 to 30 % more"),
            ([-0.0189, -0.0155], "1.6 to 1.9 % more"),
            ([-0.05, 0.40], "between 5 % more and 40 % less"),
            ([0.0, 0.0], "as much"),
            ([0.5, 0.5], "50.0 % less"),
            ([-1.5, -1.5], "150 % more"),
        ] {
            assert_eq!(share_less(ends), words);
        }
    }
}
