//! Comma-separated values: a row per cell.

use crate::model::findings::Findings;
use crate::words::place;
use attribution::Cause;

/// The cells of a PSCI recording with published figures, causes and waits; of other recordings the measures.
///
/// Columns of causes end in `_us` and add up to `recorded`. Text is quoted as RFC 4180 has it.
pub(crate) fn csv(findings: &Findings<'_>) -> String {
    // Writing into memory cannot fail.
    let bytes = if findings.compared.is_empty() { measures(findings) } else { cells(findings) }.unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cells(findings: &Findings<'_>) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = [
        "release",
        "case",
        "mode",
        "cpu",
        "cluster",
        "core",
        "role",
        "metric",
        "unit",
        "iterations",
        "recorded",
        "min",
        "max",
        "published",
        "error_percent",
        "used_in_fit",
    ]
    .map(str::to_owned)
    .to_vec();
    header.extend(Cause::ALL.map(|cause| format!("{}_us", cause.name().replace('-', "_"))));
    header.push("waits".to_owned());
    out.write_record(&header)?;
    let exact = |value: f64| format!("{}", (value * 1e6).round() / 1e6);
    for cell in &findings.compared {
        let recorded = &cell.recorded;
        let mut row = vec![
            recorded.variant.clone(),
            recorded.case.clone(),
            recorded.mode.clone(),
            recorded.cpu.to_string(),
            recorded.cluster.to_string(),
            recorded.core.to_string(),
            cell.role(),
            recorded.metric.clone(),
            "us".to_owned(),
            recorded.count.to_string(),
            exact(recorded.value),
            exact(recorded.min),
            exact(recorded.max),
            cell.published.as_ref().map_or_else(String::new, |published| exact(published.value_us)),
            cell.error_percent().map_or_else(String::new, |error| format!("{error:.2}")),
            cell.used_in_fit().to_string(),
        ];
        row.extend(Cause::ALL.map(|cause| {
            recorded.split.causes.get(&cause).map_or_else(String::new, |&ticks| exact(ticks as f64 * recorded.tick_us))
        }));
        let name = |cpu: u16| {
            let holder = findings.compared.iter().find(|other| other.recorded.cpu == cpu);
            holder.map_or_else(|| format!("CPU {cpu}"), |holder| place(&holder.recorded))
        };
        let waits = recorded.split.waits.iter().map(|wait| {
            format!("{} {} {}", wait.cause.name(), name(wait.holder), exact(wait.ticks as f64 * recorded.tick_us))
        });
        row.push(waits.collect::<Vec<_>>().join("; "));
        out.write_record(&row)?;
    }
    out.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

fn measures(findings: &Findings<'_>) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record([
        "variant", "case", "mode", "cpu", "subject", "metric", "unit", "values", "median", "min", "max",
    ])?;
    for row in &findings.measures {
        let [count, median, min, max] =
            [row.count.to_string(), row.median.to_string(), row.min.to_string(), row.max.to_string()];
        out.write_record([
            &row.variant,
            &row.case,
            &row.mode,
            &row.cpu,
            &row.subject,
            &row.metric,
            &row.unit,
            &count,
            &median,
            &min,
            &max,
        ])?;
    }
    out.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}
