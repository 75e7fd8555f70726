//! One self-contained page: no network, readable with scripts off, at most [`MOST_BYTES`].

mod blocks;
mod detail;
mod frame;
mod inline;
mod page;
mod palette;
mod pictures;
mod plot;
mod style;
mod timeline;

use crate::blocks::{Block, Blocks, Text};
use blocks::Writer;
use detail::{DETAILS, Detail};
use findings::Findings;
use maud::html;

/// A page is no longer than this, in bytes, however many events it is of.
pub const MOST_BYTES: usize = 1_000_000;

/// The first page that is short enough, from the one with all details to those with few.
fn short_enough(page: impl Fn(Detail) -> String) -> String {
    let fewer = |detail: &Detail| {
        let most_cases = detail.most_cases.min(512) / 2;
        let most_rows = detail.most_rows.min(most_cases);
        (detail.most_cases > 0).then_some(Detail {
            most_cases,
            most_rows,
            ..*detail
        })
    };
    let halved = std::iter::successors(DETAILS.last().and_then(fewer), fewer);
    let mut pages = DETAILS
        .into_iter()
        .chain(halved)
        .map(|detail| compact(&page(detail)));
    pages
        .find(|page| page.len() <= MOST_BYTES)
        .unwrap_or_else(page::only_names)
}

/// The page of a recording with its blocks. Whatever the recording, it is no longer than
/// [`MOST_BYTES`].
pub fn html(findings: &Findings<'_>, blocks: &[Block]) -> String {
    let sections = timeline::sections(findings);
    short_enough(|detail| page::page(findings, blocks, &sections, detail))
}

/// A page of blocks that come from several recordings, with a title and a line beneath it. It is no
/// longer than [`MOST_BYTES`].
pub fn plain_page(title: &str, lead: &str, told: &Blocks) -> String {
    short_enough(|detail| {
        let mut writer = Writer::new(told.all(), detail, Text::default(), None);
        let body = writer.write(told.all());
        let rows = writer.left_out.rows;
        let contents = page::contents(told.all(), detail, false);
        let body = html! {
            (body)
            @if rows > 0 { p.note { (rows) " rows of tables are left out, for want of room; " code { "--format json" } " has all." } }
        };
        frame::frame(title, lead, &contents, &body)
    })
}

/// The same page in fewer characters: without end tags that HTML does not need, and without
/// quotation marks around plain values of attributes; a page has thousands of both. What the
/// recording says cannot look like a tag, since `<` is escaped in it.
fn compact(page: &str) -> String {
    const NOT_NEEDED: [&str; 6] = ["</td>", "</th>", "</tr>", "</li>", "</dt>", "</dd>"];
    let mut short = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        short.push_str(&rest[..at]);
        rest = &rest[at..];
        let script = ["script", "style"]
            .into_iter()
            .find(|name| rest[1..].starts_with(name));
        let end = match script {
            Some(name) => rest
                .find(&format!("</{name}>"))
                .map(|end| end + name.len() + 3),
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
        let (value, after) = part
            .find('"')
            .map_or((part, ""), |at| (&part[..at], &part[at + 1..]));
        let plain = !value.is_empty()
            && value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte));
        // A slash after a bare value would be part of it.
        let marks = if plain && !after.starts_with('/') {
            ""
        } else {
            "\""
        };
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
