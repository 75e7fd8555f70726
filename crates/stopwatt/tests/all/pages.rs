//! The pages of all stored recordings, as readers of any sight and on any screen meet them.

use crate::chromium::{Look, Page};
use crate::common::{made_once, root, stopwatt};
use std::path::PathBuf;

/// A page for each stored recording, and one of a comparison.
fn pages() -> Vec<PathBuf> {
    let stored = root().join("crates/results/report/tests/recordings");
    let folder = made_once("pages", |folder| {
        let write = |arguments: &[&str], name: &str| {
            let output = stopwatt(&[arguments, &["--format", "html"]].concat());
            assert!(
                output.stdout.len() > 1000,
                "{arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            std::fs::write(folder.join(name).with_extension("html"), output.stdout).unwrap();
        };
        for recording in std::fs::read_dir(&stored).unwrap() {
            let recording = recording.unwrap().path();
            write(
                &["report", recording.to_str().unwrap()],
                recording.file_name().unwrap().to_str().unwrap(),
            );
        }
        let latency = stored.join("psci-latency").to_str().unwrap().to_owned();
        write(&["compare", &latency, &latency, "--all"], "comparison");
    });
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    pages
}

/// What axe-core finds of some weight, a line each.
const FOUND: &str = "axe.run(document, {resultTypes: ['violations']}).then(all => all.violations\
     .filter(of => ['serious', 'critical'].includes(of.impact))\
     .map(of => `${of.id}: ${of.nodes.length} such as ${of.nodes[0].html.slice(0, 200)}`).join('\\n'))";

/// The least size of letters that are shown, in pixels of the screen.
const LEAST_LETTERS: &str = "Math.min(...[...document.querySelectorAll('body *')]\
     .filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))\
     .map(e => parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1)))";

/// The number of colours that stand for names.
const COLOURS: &str = "new Set([...document.querySelectorAll('.measures i, .legend i')]\
     .flatMap(e => [...e.classList]).filter(name => /^m[0-9]+$/.test(name))).size";

#[test]
fn axe_finds_nothing_serious_and_letters_stay_large_on_a_narrow_page() {
    let axe = std::env::var_os("STOPWATT_TEST_AXE").map_or_else(
        || root().join("target/web/node_modules/axe-core/axe.min.js"),
        PathBuf::from,
    );
    let axe = std::fs::read_to_string(&axe)
        .expect("this needs axe-core; `cargo xtask test web` installs it");
    let mut wrong = Vec::new();
    for file in pages() {
        let look = Look {
            width: 1280,
            dark: false,
            scripts: true,
        };
        let page = Page::open(&file, look);
        page.value(&format!("{axe};0"));
        for look in [
            look,
            Look { dark: true, ..look },
            Look { width: 390, ..look },
            Look {
                width: 390,
                dark: true,
                ..look
            },
        ] {
            page.look(look);
            page.settle();
            let name = format!("{} {look:?}", file.file_stem().unwrap().to_string_lossy());
            let found = page.value(FOUND);
            wrong.extend(
                found
                    .as_str()
                    .filter(|found| !found.is_empty())
                    .map(|found| format!("{name}: {found}")),
            );
            let letters = page.number(LEAST_LETTERS);
            wrong.extend((letters < 11.0).then(|| format!("{name}: letters of {letters} pixels")));
            let wide = page.number("document.documentElement.scrollWidth");
            wrong.extend(
                (wide > f64::from(look.width)).then(|| format!("{name}: {wide} pixels wide")),
            );
        }
        let colours = page.number(COLOURS);
        wrong.extend((colours > 8.0).then(|| format!("{}: {colours} colours", file.display())));
        wrong.extend(page.console());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
