//! The cost of a report of a million events: `cargo bench -p stopwatt`.
//!
//! Runs 37 iterations of the PSCI cases, then times what `stopwatt report` does (read the
//! recording, render) for each format, and in headless Chromium how long the page takes to open,
//! and to draw a view after a step of zoom or pan.

#[path = "../tests/all/chromium.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod chromium;

use chromium::{Look, Page};
use recording::Recording;
use report::{Format, Report, Style};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Seconds that a report of a million events may take.
const LIMIT_S: f64 = 2.0;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::temp_dir().join(format!("report-rate-{}", std::process::id()));
    let run = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(["run", "psci-latency", "--iterations", "37", "-o"])
        .arg(&folder)
        .current_dir(&root)
        .output()
        .expect("the command runs");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );

    let files = experiment::Folder(root.join("data/published"));
    let reference =
        published::PsciReference::read(&files, "juno-psci.toml").expect("the reference");
    let published = published::Published {
        psci: vec![reference],
        ..Default::default()
    };
    let mut page = Vec::new();
    for format in Format::ALL {
        let name = format.name();
        let mut best = f64::MAX;
        let (mut bytes, mut events) = (0, 0);
        for _ in 0..3 {
            let begin = Instant::now();
            let recording = Recording::read(&folder).expect("a recording");
            let report = Report::new(&recording, "recordings/psci-latency", &published);
            let report = report.render(format, Style::PLAIN, true);
            best = best.min(begin.elapsed().as_secs_f64());
            (bytes, events) = (report.len(), recording.events().len());
            if format == Format::Html {
                page = report;
            }
        }
        let limit = if best <= LIMIT_S { "holds" } else { "MISSED" };
        println!(
            "{name}: {events} events in {best:.2} s (best of 3), {:.2} MB; limit {LIMIT_S} s: {limit}",
            bytes as f64 / 1e6
        );
    }
    let _ = std::fs::remove_dir_all(&folder);

    let file = std::env::temp_dir().join(format!("report-rate-{}.html", std::process::id()));
    std::fs::write(&file, &page).expect("the page can be written");
    let page = Page::open(
        &file,
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    let opened = page.number("performance.getEntriesByType('navigation')[0].loadEventEnd");
    println!("page: opened in {opened:.0} ms");
    let case = "#juno-v2-12-suspend-deepest-serial";
    page.show(case);
    page.value(&format!(
        "[...document.querySelectorAll('{case} .tools button')].find(b => b.textContent == 'Whole iteration').click()"
    ));
    let steps = page.value(&format!(
        "(async () => {{ const plot = document.querySelector('{case} .plot'); const times = []; \
         const frame = () => new Promise(done => requestAnimationFrame(done)); \
         for (const key of [...'++++++--', ...Array(8).fill('ArrowRight')]) {{ \
           await frame(); const begin = performance.now(); \
           plot.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }})); \
           await frame(); plot.getBoundingClientRect(); times.push(performance.now() - begin); }} \
         times.sort((a, b) => a - b); return JSON.stringify([times[times.length >> 1], times[times.length - 1]]); }})()"
    ));
    let [median, worst]: [f64; 2] =
        serde_json::from_str(steps.as_str().expect("text")).expect("two numbers");
    println!(
        "page: a step of zoom or pan is drawn in {median:.0} ms (median of 16), at worst {worst:.0} ms"
    );
    let _ = std::fs::remove_file(&file);
}
