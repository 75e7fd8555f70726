//! The report's page in headless Chromium, as a reader meets it.

#[allow(dead_code, reason = "the example that takes pictures uses the rest")]
mod chromium;
mod common;

use chromium::{Look, Page};
use common::stopwatt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Runs the cases with these arguments and writes the page of them; the recording goes into the folder.
fn write_page(page: &Path, folder: &Path, arguments: &[&str]) {
    let recording = folder.join("recording");
    let files = ["--report", page.to_str().unwrap(), "-o", recording.to_str().unwrap()];
    let output = stopwatt(&[&["run", "psci-latency"], arguments, &files].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A page of all cases of one release; made once.
fn page() -> &'static Path {
    static PAGE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, page) = PAGE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("latency.html");
        write_page(&page, folder.path(), &["--release", "juno-2017", "--iterations", "5", "--free-seeds", "3"]);
        (folder, page)
    });
    page
}

const CASE: &str = "#juno-2017-suspend-deepest-parallel";

/// A selector within the case.
fn within(selector: &str) -> String {
    format!("document.querySelector('{CASE} {selector}')")
}

/// From and to of the view, in ticks.
fn view(page: &Page) -> (f64, f64) {
    let plot = within(".plot");
    (page.number(&format!("Number({plot}.dataset.from)")), page.number(&format!("Number({plot}.dataset.to)")))
}

/// Where the middle of the drawing is in the window.
fn middle(page: &Page) -> (f64, f64) {
    let at = |side: &str, size: &str| {
        page.number(&format!("(b => b.{side} + b.{size} / 2)({}.getBoundingClientRect())", within(".plot")))
    };
    (at("left", "width"), at("top", "height"))
}

#[test]
fn the_timeline_has_a_lane_a_cpu_and_nothing_complains() {
    let page = Page::open(page(), Look { width: 1280, dark: false, scripts: true });
    page.show(CASE);
    let lanes =
        page.value(&format!("[...{}.querySelectorAll('b')].map(b => b.textContent).join(' ')", within(".names")));
    assert_eq!(lanes, "0.0 0.1 1.0 1.1 1.2 1.3 SCP");
    for (what, least) in [(".lock", 5.0), (".l2", 2.0), (".scp", 4.0), (".wait", 8.0), (".path", 5.0), (".serves", 4.0)]
    {
        let count = page.number(&format!("{}.querySelectorAll('{what}').length", within(".plot")));
        assert!(count >= least, "{count} of {what}");
    }
    // The lane of 1.3 waits for each of the three that had the lock before it, in their order.
    let labels = page.value(&format!(
        "[...{}.querySelectorAll('text')].map(t => t.textContent).filter(t => t.startsWith('lock wait')).join(', ')",
        within(".plot")
    ));
    assert_eq!(labels, "lock wait: 1.1, lock wait: 1.1, lock wait: 1.2");
    let drawn = page.value(&format!("{}.textContent", within(".plot"))).to_string();
    assert!(!drawn.contains("undefined") && drawn.contains("L2 flush"), "what waits for nobody names nobody: {drawn}");
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn wheel_keys_and_buttons_zoom_and_pan() {
    let page = Page::open(page(), Look { width: 1280, dark: true, scripts: true });
    page.show(CASE);
    let whole = view(&page);
    let (x, y) = middle(&page);
    page.wheel(x, y, -60.0);
    assert_eq!(view(&page), whole, "the wheel over a picture that was not clicked scrolls the page");
    page.show(CASE);
    let (x, y) = middle(&page);
    page.click(x, y);
    page.wheel(x, y, -120.0);
    let closer = view(&page);
    assert!(closer.1 - closer.0 < 0.8 * (whole.1 - whole.0), "{whole:?} {closer:?}");
    assert!(closer.0 > whole.0 && closer.1 < whole.1, "around the mouse: {closer:?}");
    page.key("ArrowRight");
    let right = view(&page);
    assert!(right.0 > closer.0 && (right.1 - right.0 - (closer.1 - closer.0)).abs() < 1.0, "{closer:?} {right:?}");
    page.key("+");
    let nearer = view(&page);
    assert!(nearer.1 - nearer.0 < right.1 - right.0, "{nearer:?}");
    page.key("0");
    assert_eq!(view(&page), whole);
    // Another CPU's path, by keyboard.
    let chosen = || page.value(&format!("{}.textContent", within(".names .chosen b")));
    assert_eq!(chosen(), "1.3");
    page.key("ArrowUp");
    let detail = page.value(&format!("{}.textContent", within(".detail")));
    assert!(detail.as_str().unwrap().contains("us ="), "{detail}");
    // A view of its own.
    page.value(&format!(
        "[...{}.querySelectorAll('button')].find(b => b.textContent == 'Whole iteration').click()",
        within(".tools")
    ));
    page.settle();
    assert!(view(&page).1 > whole.1, "{:?}", view(&page));
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn two_fingers_zoom_and_one_pans() {
    let page = Page::open(page(), Look { width: 400, dark: false, scripts: true });
    page.show(CASE);
    page.show(&format!("{CASE} .drawn"));
    let whole = view(&page);
    let (x, y) = middle(&page);
    page.touch(&[[(x - 30.0, y), (x - 110.0, y)], [(x + 30.0, y), (x + 110.0, y)]]);
    let closer = view(&page);
    let wide = |(from, to): (f64, f64)| to - from;
    assert!(wide(closer) < 0.5 * wide(whole), "{whole:?} {closer:?}");
    assert!(closer.0 > whole.0 && closer.1 < whole.1, "between the fingers: {closer:?}");
    page.touch(&[[(x, y), (x - 60.0, y)]]);
    let later = view(&page);
    assert!(later.0 > closer.0 && (wide(later) - wide(closer)).abs() < 1.0, "{closer:?} {later:?}");
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_span_says_what_it_is() {
    let page = Page::open(page(), Look { width: 1280, dark: false, scripts: true });
    page.show(CASE);
    let place = |side: &str, size: &str| {
        page.number(&format!(
            "(b => b.{side} + b.{size} / 2)([...{}.querySelectorAll('.l2')].at(-1).getBoundingClientRect())",
            within(".plot")
        ))
    };
    page.point(place("left", "width"), place("top", "height"));
    let text = page.value(&format!("{}.textContent", within(".detail")));
    let text = text.as_str().unwrap();
    assert!(text.starts_with("1.3 (CPU 3): L2 flush, 8") && text.ends_with("in CPU_SUSPEND."), "{text}");
}

#[test]
fn without_scripts_everything_is_there_to_read() {
    let page = Page::open(page(), Look { width: 1280, dark: false, scripts: false });
    let stills = page.number(&format!("document.querySelectorAll('{CASE} .still svg.plot').length"));
    assert_eq!(stills, 3.0, "powerdown and wakeup of the median, powerdown of the worst");
    let tall = page.number(&format!("{}.getBoundingClientRect().height", within(".still svg.plot")));
    assert!(tall > 250.0, "{tall}");
    let answer = page.value(&format!("{}.textContent", within(".answer")));
    assert!(answer.as_str().unwrap().contains("held in turn by 1.0"), "{answer}");
    assert_eq!(page.number(&format!("{}.querySelectorAll('tbody tr').length", within(".figures"))), 6.0);
    assert!(page.number(&format!("{}.querySelectorAll('tr').length", within(".twin"))) > 60.0);
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_narrow_window_scrolls_in_no_direction_but_down() {
    for scripts in [true, false] {
        let page = Page::open(page(), Look { width: 400, dark: false, scripts });
        page.show(CASE);
        let wide = page.number("document.documentElement.scrollWidth");
        assert!(wide <= 400.0, "{wide} pixels of page in a window of 400, scripts {scripts}");
        // No label is cut by the edge of the drawing, and none lies on another.
        if scripts {
            let overlaps = page.number(&format!(
                "(texts => {{ let n = 0; for (const a of texts) for (const b of texts) if (a !== b) {{ \
                 const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()]; \
                 if (p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3) n++; }} return n; }})\
                 ([...{}.querySelectorAll('text')])",
                within(".plot")
            ));
            assert_eq!(overlaps, 0.0, "labels on each other");
        }
    }
}

#[test]
fn light_and_dark_are_the_readers_choice() {
    let paper = |dark| {
        let page = Page::open(page(), Look { width: 800, dark, scripts: true });
        page.value("getComputedStyle(document.body).backgroundColor")
    };
    assert_eq!((paper(false), paper(true)), ("rgb(252, 251, 249)".into(), "rgb(21, 24, 28)".into()));
}

#[test]
fn what_was_zoomed_is_printed_whole_on_white() {
    let page = Page::open(page(), Look { width: 1280, dark: true, scripts: true });
    page.show(CASE);
    page.value(&format!("{}.focus()", within(".plot")));
    for _ in 0..4 {
        page.key("+");
    }
    let shown = |selector: &str| {
        page.number(&format!(
            "[...document.querySelectorAll('{CASE} {selector}')].filter(e => e.getBoundingClientRect().height > 0).length"
        ))
    };
    assert_eq!((shown(".drawn .plot"), shown(".still .plot")), (1.0, 0.0), "on the screen");
    page.print();
    assert_eq!((shown(".drawn .plot"), shown(".still .plot"), shown(".tools")), (0.0, 3.0, 0.0), "on paper");
    assert_eq!(page.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    let axis = page.value(&format!("{}.textContent", within(".still .tick")));
    assert_eq!(axis, "0 us", "from the beginning");
}

#[test]
fn a_cpu_without_a_lane_is_called_as_in_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let shape = ["--set", "topology.clusters=16x4"];
    let arguments = [&["--release", "juno-v2.12", "--iterations", "1", "--free-seeds", "0"], &shape[..]].concat();
    write_page(&file, folder.path(), &arguments);
    let page = Page::open(&file, Look { width: 1280, dark: false, scripts: true });
    page.show("#juno-v2-12-suspend-deepest-parallel");
    let labels = page.value(
        "[...document.querySelectorAll('#juno-v2-12-suspend-deepest-parallel .drawn text')].map(t => t.textContent)\
         .filter(t => t.startsWith('lock wait')).join(', ')",
    );
    let labels = labels.as_str().unwrap();
    assert!(labels.contains("lock wait: ") && !labels.contains("CPU"), "{labels}");
}
