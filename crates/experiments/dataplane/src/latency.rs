//! Latencies in a few figures.

use hdrhistogram::Histogram;

/// Percentiles that are kept, by name.
const KEPT: [(&str, f64); 6] = [
    ("p50", 50.0),
    ("p90", 90.0),
    ("p99", 99.0),
    ("p999", 99.9),
    ("p9999", 99.99),
    ("max", 100.0),
];

/// Percentiles of a histogram, in microseconds.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Percentiles {
    /// Values that there were.
    pub count: u64,
    /// Name and microseconds: `p50`, `p90`, `p99`, `p999`, `p9999`, `max`.
    pub values: Vec<(String, f64)>,
}

impl Percentiles {
    /// Percentiles of a histogram whose values are a number of microseconds each.
    pub fn new(histogram: &Histogram<u64>, microseconds: f64) -> Self {
        let at = |percentile| histogram.value_at_quantile(percentile / 100.0) as f64 * microseconds;
        Self {
            count: histogram.len(),
            values: KEPT
                .map(|(name, percentile)| (name.to_owned(), at(percentile)))
                .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_values() {
        let mut histogram = Histogram::new(3).unwrap();
        (1..=100_000_u64).for_each(|value| histogram.record(value).unwrap());
        let found = Percentiles::new(&histogram, 1e-3);
        assert_eq!(found.count, 100_000);
        for ((name, value), expected) in found
            .values
            .iter()
            .zip([50.0, 90.0, 99.0, 99.9, 99.99, 100.0])
        {
            assert!((value / expected - 1.0).abs() < 2e-3, "{name}: {value}");
        }
    }
}
