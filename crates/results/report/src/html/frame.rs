//! The parts that every page has: its head, its title and its style.

use super::style::style_sheet;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A whole page: its head, and what its body holds.
pub fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - Stopwatt" }
                style { (PreEscaped(style_sheet())) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// A page of a title, a line beneath it, its contents, and what is told.
pub fn frame(title: &str, lead: &str, contents: &Markup, told: &Markup) -> String {
    let body = html! {
        header { p.brand { "Stopwatt" } h1 { (title) } p.lead { (lead) } }
        (contents)
        main { (told) }
    };
    document(title, &body)
}
