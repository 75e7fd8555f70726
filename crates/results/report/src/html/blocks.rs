//! Blocks as mark-up.

use super::detail::{Detail, LeftOut};
use super::inline::{cut, inline, scrolling};
use super::palette::Palette;
use super::pictures::{self, MOST_PICTURES};
use super::timeline::{self, Names, Section};
use crate::blocks::{Bars, Block, Cell, Column, Drawing, Table, Text, Tone, figure};
use findings::Findings;
use itertools::Itertools;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// The PSCI cases of a page, which are drawn from the recording's events.
pub struct Cases<'c> {
    pub findings: &'c Findings<'c>,
    pub sections: &'c [Section<'c>],
    pub names: &'c Names,
    /// Numbers of the sections that have room for a timeline.
    pub with_timeline: Vec<usize>,
}

/// The state of a page that is being written.
pub struct Writer<'c> {
    pub detail: Detail,
    pub palette: Palette,
    /// The words below figures and tables: where they are from.
    pub source: Text,
    /// The PSCI cases; `None` on other pages.
    pub cases: Option<Cases<'c>>,
    pub left_out: LeftOut,
    pictures: usize,
}

/// The elements that are open: a part, and a part of a part.
#[derive(Default)]
struct Open {
    section: bool,
    article: bool,
}

impl Open {
    fn close_article(&mut self, out: &mut String) {
        if std::mem::take(&mut self.article) {
            out.push_str("</article>");
        }
    }

    fn close(&mut self, out: &mut String) {
        self.close_article(out);
        if std::mem::take(&mut self.section) {
            out.push_str("</section>");
        }
    }
}

impl<'c> Writer<'c> {
    pub fn new(blocks: &[Block], detail: Detail, source: Text, cases: Option<Cases<'c>>) -> Self {
        Self {
            detail,
            palette: Palette::new(blocks),
            source,
            cases,
            left_out: LeftOut::default(),
            pictures: 0,
        }
    }

    /// Blocks as mark-up: headings open sections and articles.
    pub fn write(&mut self, blocks: &[Block]) -> Markup {
        let (mut out, mut open, mut articles, mut skipped) =
            (String::new(), Open::default(), 0, false);
        for block in blocks {
            if let Block::Heading {
                depth,
                words,
                anchor,
            } = block
            {
                skipped = *depth > 1 && articles >= self.detail.most_cases;
                if skipped {
                    self.left_out.cases += 1;
                    continue;
                }
                if *depth > 1 {
                    articles += 1;
                    open.close_article(&mut out);
                    open.article = true;
                    let heading = html! { h3 { (inline(words)) } };
                    let _ = write!(out, "<article id=\"{anchor}\">{}", heading.into_string());
                } else {
                    open.close(&mut out);
                    open.section = true;
                    let heading = html! { h2 id=(anchor) { (inline(words)) } };
                    let _ = write!(out, "<section class=\"part\">{}", heading.into_string());
                }
                continue;
            }
            if !skipped {
                out.push_str(&self.one(block).into_string());
            }
        }
        open.close(&mut out);
        PreEscaped(out)
    }

    fn one(&mut self, block: &Block) -> Markup {
        match block {
            Block::Answer(words) => html! { p.headline { (inline(words)) } },
            Block::Heading { .. } => html! {},
            Block::Paragraph(words) => html! { p { (inline(words)) } },
            Block::List(items) => html! { ul { @for item in items { li { (inline(item)) } } } },
            Block::Warning(words) => html! { p { b { (inline(words)) } } },
            Block::Note(words) => html! { p.note { (inline(words)) } },
            Block::Table(block) => self.table(block),
            Block::Picture(picture) => match &picture.drawing {
                Drawing::Timeline {
                    release,
                    case,
                    mode,
                    answers,
                } => self.case([release, case, mode], answers),
                _ if self.pictures >= MOST_PICTURES.min(self.detail.most_cases) => {
                    self.left_out.pictures += 1;
                    html! {}
                }
                _ => {
                    self.pictures += 1;
                    pictures::figure(
                        picture,
                        &self.palette,
                        self.detail,
                        &self.source,
                        &mut self.left_out,
                    )
                }
            },
            Block::Verbatim(lines) => scrolling("Lines", &html! { pre { (lines) } }),
            Block::Folded { summary, blocks } => {
                let inside = self.write(blocks);
                html! { details { summary { (inline(summary)) } (inside) } }
            }
        }
    }

    fn case(&mut self, [release, case, mode]: [&str; 3], answers: &[String]) -> Markup {
        let only_answers = html! { @for answer in answers { p.headline { (answer) } } };
        let Some(cases) = &self.cases else {
            return only_answers;
        };
        let at = cases
            .sections
            .iter()
            .position(|section| section.is_of(release, case, mode));
        let Some(at) = at else { return only_answers };
        let (section, has_room) = (&cases.sections[at], cases.with_timeline.contains(&at));
        let detail = (self.detail, has_room);
        let drawn = timeline::case(
            cases.findings,
            section,
            cases.names,
            answers,
            detail,
            &mut self.left_out,
        );
        html! { (drawn) (timeline::scatter(section)) }
    }

    fn table(&mut self, block: &Table) -> Markup {
        let most = self.detail.most_rows;
        let left_out = block.rows.len().saturating_sub(most);
        self.left_out.rows += left_out;
        let from = if block.last_matter { left_out } else { 0 };
        let rows = &block.rows[from..from + block.rows.len().min(most)];
        let titles = block.columns.iter().map(Column::whole_title).collect_vec();
        let wide = (0..block.columns.len())
            .map(|at| rows.iter().any(|row| row[at].bars().is_some()))
            .collect_vec();
        let has_heading = titles.iter().any(|title| !title.is_empty());
        let table = html! {
            table class=[Some(block.class).filter(|class| !class.is_empty())] {
                @if !block.title.is_empty() { caption { (inline(&block.title)) } }
                @if has_heading { (head(block, &wide)) }
                tbody { @for row in rows { tr {
                    @for (at, cell) in row.iter().enumerate() {
                        (self.cell(cell, &block.columns[at], &titles[at], at == 0 && !block.columns[0].is_number))
                    }
                } } }
            }
        };
        html! {
            (scrolling(&block.title.plain(), &table))
            @if let Some(bars) = block.bars().next() { (self.legend(block, bars)) }
            @if !block.note.is_empty() { p.note { (inline(&block.note)) } }
        }
    }

    fn cell(&self, cell: &Cell, column: &Column, title: &str, is_name: bool) -> Markup {
        let inside = match cell {
            Cell::Text(words) | Cell::Toned(words, _) => inline(words),
            Cell::Bars(bars) => self.bars(bars),
            cell => html! { (cut(&cell.plain())) },
        };
        let class = match (column.is_number, cell) {
            (_, Cell::Bars(_)) => "wide",
            (true, _) => "n",
            (false, _) => "",
        };
        let toned = match cell.tone() {
            Tone::Plain => "",
            Tone::Faint => "faint",
            Tone::Good => "better",
            Tone::Middling => "changed",
            Tone::Bad => "worse",
        };
        let classes = [class, toned]
            .into_iter()
            .filter(|class| !class.is_empty())
            .join(" ");
        let class = Some(classes).filter(|class| !class.is_empty());
        html! {
            @if is_name { th scope="row" class=[class] { (inside) } }
            @else { td class=[class] data-label=[Some(title).filter(|title| !title.is_empty())] { (inside) } }
        }
    }

    fn bars(&self, bars: &Bars) -> Markup {
        let (mut rects, mut at) = (String::new(), 0.0);
        for (paint, length) in &bars.parts {
            let share = |value: f64| 100.0 * value / bars.longest.max(f64::MIN_POSITIVE);
            let (class, x, width) = (self.palette.class(paint), share(at), share(*length));
            let _ = write!(
                rects,
                "<rect class=\"{class}\" x={x:.2}% width={width:.2}% height=12 />"
            );
            at += length;
        }
        html! {
            svg.bar role="img" width="100%" height="12" { title { (bars.words()) " " (bars.unit) } (PreEscaped(rects)) }
        }
    }

    /// The meaning of the colours of a table's bars, and their scale.
    fn legend(&self, block: &Table, first: &Bars) -> Markup {
        html! {
            ul.legend aria-label="Legend" {
                @for paint in block.paints() {
                    li {
                        svg width="22" height="12" aria-hidden="true" { rect class=(self.palette.class(paint)) width="22" height="12" {} }
                        " " (paint.title())
                    }
                }
                li { "bars from 0 to " (figure(first.longest)) " " (first.unit) }
            }
        }
    }
}

/// The head of a table: a row, or two where columns share headings.
fn head(block: &Table, wide: &[bool]) -> Markup {
    let mut groups: Vec<(&Column, usize, bool)> = Vec::new();
    for (column, wide) in block.columns.iter().zip(wide) {
        match groups.last_mut() {
            Some((last, count, _)) if !column.group.is_empty() && last.group == column.group => {
                *count += 1
            }
            _ => groups.push((column, 1, *wide)),
        }
    }
    let two = block.has_groups();
    let class = |column: &Column, wide: bool| match (wide, column.is_number) {
        (true, _) => Some("wide"),
        (false, true) => Some("n"),
        (false, false) => None,
    };
    html! {
        thead {
            tr {
                @for (column, count, wide) in groups {
                    @if column.group.is_empty() {
                        th scope="col" class=[class(column, wide)] rowspan=[two.then_some("2")] { (cut(&column.heading)) }
                    } @else {
                        th.group scope="colgroup" colspan=(count) { (column.group) }
                    }
                }
            }
            @if two { tr {
                @for column in block.columns.iter().filter(|column| !column.group.is_empty()) {
                    th.n scope="col" { (cut(&column.heading)) }
                }
            } }
        }
    }
}
