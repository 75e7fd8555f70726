//! Pictures of a report's page: `cargo run -p stopwatt --example screenshots -- PAGE.html FOLDER
//! [SECTION [VIEW]]`.
//!
//! Writes the page's head and one case, 1280 and 400 pixels wide, light and dark, and without
//! scripts. `cargo xtask screenshots` makes the README's picture with it.

#[path = "../tests/all/chromium.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod chromium;

use chromium::{Look, Page};
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, folder, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: screenshots PAGE.html FOLDER [SECTION [VIEW]]");
        std::process::exit(2);
    };
    let section = rest
        .first()
        .map_or("juno-2017-suspend-deepest-parallel", String::as_str);
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder).expect("the folder can be made");
    for (name, width, dark, scripts) in [
        ("light-1600", 1600, false, true),
        ("light-1280", 1280, false, true),
        ("dark-1280", 1280, true, true),
        ("light-400", 400, false, true),
        ("dark-400", 400, true, true),
        ("still-1280", 1280, false, false),
        ("still-400", 400, false, false),
    ] {
        let page = Page::open(
            Path::new(page),
            Look {
                width,
                dark,
                scripts,
            },
        );
        let width = f64::from(width);
        std::fs::write(
            folder.join(format!("{name}-top.png")),
            page.picture([0.0, 0.0, width, 1100.0]),
        )
        .expect("a file");
        let selector = format!("#{section}");
        page.show(&selector);
        if let Some(view) = rest.get(1) {
            page.value(&format!(
                "[...document.querySelectorAll('{selector} .tools button')].find(button => button.textContent == {view:?})?.click()"
            ));
            page.settle();
        }
        let place = page.value(&format!(
            "(() => {{ const b = document.querySelector({selector:?}).getBoundingClientRect(); return JSON.stringify([b.top + scrollY, b.height]); }})()"
        ));
        let [top, height]: [f64; 2] =
            serde_json::from_str(place.as_str().expect("text")).expect("two numbers");
        let picture = page.picture([0.0, top - 8.0, width, height.min(2200.0) + 8.0]);
        std::fs::write(folder.join(format!("{name}-case.png")), picture).expect("a file");
        // What the README shows: the answer and the timeline without its tables.
        let below = page.value(&format!(
            "JSON.stringify((b => b ? b.bottom + scrollY : 0)(document.querySelector('{selector} .legend')?.getBoundingClientRect()))"
        ));
        let below: f64 = below
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or(top);
        if below > top {
            let picture = page.picture([0.0, top - 8.0, width, below - top + 16.0]);
            std::fs::write(folder.join(format!("{name}-timeline.png")), picture).expect("a file");
        }
        for line in page.console() {
            eprintln!("{name}: console: {line}");
        }
    }
}
