//! One self-contained page: no network, readable with scripts off, at most [`MOST_BYTES`].

mod chart;
mod data;
mod draw;
mod explain;
mod kinds;
mod page;
mod picture;
mod style;

use crate::model::findings::Findings;

/// A page is no longer than this, in bytes, however many events it is of.
pub const MOST_BYTES: usize = 1_000_000;

/// How much of a recording a page shows.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Whole iterations, or the measured times only.
    whole: bool,
    /// The worst iteration beside the median.
    worst: bool,
    /// The worst iteration as a still picture too, for readers without scripts.
    worst_still: bool,
    /// Spans of the worst iteration as a table too.
    worst_table: bool,
    /// Spans as a table at all.
    tables: bool,
    /// At most so many CPUs in a timeline.
    most_cpus: usize,
    /// At most so many timelines; the cases with the longest times have them.
    most_timelines: usize,
    /// At most so many rows in a table of figures.
    most_rows: usize,
    /// At most so many cases at all.
    most_cases: usize,
}

/// From all to little; the first that is short enough is taken.
const DETAILS: [Detail; 8] = {
    let all = Detail {
        whole: true,
        worst: true,
        worst_still: true,
        worst_table: true,
        tables: true,
        most_cpus: 24,
        most_timelines: usize::MAX,
        most_rows: 1024,
        most_cases: usize::MAX,
    };
    let no_worst_table = Detail { worst_table: false, ..all };
    let no_worst_still = Detail { worst_still: false, ..no_worst_table };
    let measured = Detail { whole: false, ..no_worst_still };
    let fewer = Detail { most_cpus: 16, most_rows: 256, ..measured };
    let median = Detail { worst: false, tables: false, most_cpus: 12, most_rows: 64, ..fewer };
    let few = Detail { most_timelines: 12, ..median };
    let least = Detail { most_timelines: 2, most_cpus: 8, most_rows: 16, ..few };
    [all, no_worst_table, no_worst_still, measured, fewer, median, few, least]
};

/// The page. Whatever the recording, it is no longer than [`MOST_BYTES`].
pub(crate) fn html(findings: &Findings<'_>) -> String {
    let fewer = |detail: &Detail| {
        let most_cases = detail.most_cases.min(512) / 2;
        let most_rows = detail.most_rows.min(most_cases);
        (detail.most_cases > 0).then_some(Detail { most_cases, most_rows, ..*detail })
    };
    let halved = std::iter::successors(DETAILS.last().and_then(fewer), fewer);
    let mut pages = DETAILS.into_iter().chain(halved).map(|detail| compact(&page::page(findings, detail)));
    pages.find(|page| page.len() <= MOST_BYTES).unwrap_or_else(page::only_names)
}

/// The same page in fewer characters: without end tags that HTML does not need, and without quotation marks around plain values of
/// attributes; a page has thousands of both. What the recording says cannot look like a tag, since `<` is escaped in it.
fn compact(page: &str) -> String {
    const NOT_NEEDED: [&str; 6] = ["</td>", "</th>", "</tr>", "</li>", "</dt>", "</dd>"];
    let mut short = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        short.push_str(&rest[..at]);
        rest = &rest[at..];
        let script = ["script", "style"].into_iter().find(|name| rest[1..].starts_with(name));
        let end = match script {
            Some(name) => rest.find(&format!("</{name}>")).map(|end| end + name.len() + 3),
            None => rest.find('>').map(|end| end + 1),
        };
        let (tag, after) = rest.split_at(end.unwrap_or(rest.len()));
        match script {
            Some(_) => short.push_str(tag),
            None if NOT_NEEDED.contains(&tag) => {}
            None => without_marks(&mut short, tag),
        }
        rest = after;
    }
    short + rest
}

/// A tag without the quotation marks that it does not need.
fn without_marks(short: &mut String, tag: &str) {
    let mut parts = tag.split("=\"");
    short.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (value, after) = part.split_once('"').unwrap_or((part, ""));
        let plain =
            !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte));
        // A slash after a bare value would be part of it.
        let marks = if plain && !after.starts_with('/') { "" } else { "\"" };
        short.extend(["=", marks, value, marks, after]);
    }
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn only_what_html_does_not_need_is_left_out() {
        let page = "<table class=\"n\"><tr><th>a</th><td title=\"a b\"><b id=\"x-1\" width=\"1%\">=\"b\"</b></td></tr></table><ul><li>c</li></ul>\
                    <script type=\"application/json\">\"</td>\" a=\"b\"</script><i e=\"\"></i><a b=\"c\"/><";
        let short = "<table class=n><tr><th>a<td title=\"a b\"><b id=x-1 width=1%>=\"b\"</b></table><ul><li>c</ul>\
                     <script type=\"application/json\">\"</td>\" a=\"b\"</script><i e=\"\"></i><a b=\"c\"/><";
        assert_eq!(compact(page), short);
    }
}
