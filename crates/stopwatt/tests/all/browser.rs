//! The report's page in headless Chromium, as a reader meets it.

use crate::chromium::{Look, Page};
use crate::common::{made_once, stopwatt};
use std::path::{Path, PathBuf};

/// Runs the cases with these arguments and writes the page of them; the recording goes into the
/// folder.
fn write_page(page: &Path, folder: &Path, arguments: &[&str]) {
    let recording = folder.join("recording");
    let files = [
        "--report",
        page.to_str().unwrap(),
        "-o",
        recording.to_str().unwrap(),
    ];
    let output = stopwatt(&[&["run", "psci-latency"], arguments, &files].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A page of all cases of one release.
fn page() -> PathBuf {
    let folder = made_once("browser", |folder| {
        let more = [
            "--release",
            "juno-2017",
            "--iterations",
            "5",
            "--free-seeds",
            "3",
        ];
        write_page(&folder.join("latency.html"), folder, &more);
    });
    folder.join("latency.html")
}

const CASE: &str = "#juno-2017-suspend-deepest-parallel";

/// A selector within the case.
fn within(selector: &str) -> String {
    format!("document.querySelector('{CASE} {selector}')")
}

/// From and to of the view, in ticks.
fn view(page: &Page) -> (f64, f64) {
    let plot = within(".plot");
    (
        page.number(&format!("Number({plot}.dataset.from)")),
        page.number(&format!("Number({plot}.dataset.to)")),
    )
}

/// Middle of the drawing in the window.
fn middle(page: &Page) -> (f64, f64) {
    let at = |side: &str, size: &str| {
        page.number(&format!(
            "(b => b.{side} + b.{size} / 2)({}.getBoundingClientRect())",
            within(".plot")
        ))
    };
    (at("left", "width"), at("top", "height"))
}

#[test]
fn the_timeline_has_a_lane_a_cpu_and_nothing_complains() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    page.show(CASE);
    let lanes = page.value(&format!(
        "[...{}.querySelectorAll('b')].map(b => b.textContent).join(' ')",
        within(".names")
    ));
    assert_eq!(lanes, "0.0 0.1 1.0 1.1 1.2 1.3 SCP");
    for (what, least) in [
        (".lock", 5.0),
        (".l2", 2.0),
        (".scp", 4.0),
        (".wait", 8.0),
        (".path", 5.0),
        (".serves", 4.0),
    ] {
        let count = page.number(&format!(
            "{}.querySelectorAll('{what}').length",
            within(".plot")
        ));
        assert!(count >= least, "{count} of {what}");
    }
    // The lane of 1.3 waits for each of the three that had the lock before it, in their order.
    let labels = page.value(&format!(
        "[...{}.querySelectorAll('text')].map(t => t.textContent).filter(t => t.startsWith('lock wait')).join(', ')",
        within(".plot")
    ));
    assert_eq!(labels, "lock wait: 1.1, lock wait: 1.1, lock wait: 1.2");
    let drawn = page
        .value(&format!("{}.textContent", within(".plot")))
        .to_string();
    assert!(
        !drawn.contains("undefined") && drawn.contains("L2 flush"),
        "what waits for nobody names nobody: {drawn}"
    );
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn wheel_keys_and_buttons_zoom_and_pan() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: true,
            scripts: true,
        },
    );
    page.show(CASE);
    let whole = view(&page);
    let (x, y) = middle(&page);
    page.wheel(x, y, -60.0);
    assert_eq!(
        view(&page),
        whole,
        "the wheel over a picture that was not clicked scrolls the page"
    );
    page.show(CASE);
    let (x, y) = middle(&page);
    page.click(x, y);
    page.wheel(x, y, -120.0);
    let closer = view(&page);
    assert!(
        closer.1 - closer.0 < 0.8 * (whole.1 - whole.0),
        "{whole:?} {closer:?}"
    );
    assert!(
        closer.0 > whole.0 && closer.1 < whole.1,
        "around the mouse: {closer:?}"
    );
    page.key("ArrowRight");
    let right = view(&page);
    assert!(
        right.0 > closer.0 && (right.1 - right.0 - (closer.1 - closer.0)).abs() < 1.0,
        "{closer:?} {right:?}"
    );
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

/// The text of what is shown of some elements of the case.
fn shown_text(page: &Page, selector: &str) -> String {
    let text = page.value(&format!(
        "[...document.querySelectorAll('{CASE} {selector}')].filter(e => e.getBoundingClientRect().height > 0)\
         .map(e => e.textContent).join(' | ')"
    ));
    text.as_str().unwrap().to_owned()
}

fn press(page: &Page, button: &str) {
    page.value(&format!(
        "[...{}.querySelectorAll('button')].find(b => b.textContent == '{button}').click()",
        within(".tools")
    ));
    page.settle();
}

#[test]
fn the_answer_comes_first_and_belongs_to_the_view() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    page.show(CASE);
    let told = shown_text(&page, ".headline");
    assert_eq!(
        told,
        "355 of the 375 us that CPU 1.3 takes to power down go to the SCP, which serves five commands in turn."
    );
    let before = page.number(&format!(
        "{}.compareDocumentPosition({}) & Node.DOCUMENT_POSITION_FOLLOWING",
        within(".headline"),
        within("figure")
    ));
    assert!(before > 0.0, "the answer stands above the picture");
    press(&page, "Wakeup");
    let told = [".headline", ".drawn .axis-title"].map(|selector| shown_text(&page, selector));
    for told in &told {
        assert!(
            !told.to_lowercase().contains("power down") && !told.contains("Powerdown"),
            "{told}"
        );
    }
    assert!(told[0].contains("takes to wake up"), "{told:?}");
    assert!(
        told[1].starts_with("Wakeup") && told[1].contains("critical path of 1.1"),
        "{told:?}"
    );
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn the_address_holds_the_view_and_the_way_back_leads_back() {
    let first = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    first.show(CASE);
    let whole = view(&first);
    press(&first, "Wakeup");
    let wakeup = view(&first);
    let (x, y) = middle(&first);
    first.click(x, y);
    first.wheel(x, y, -120.0);
    first.wait_for("the view to be nearer", || {
        view(&first).1 - view(&first).0 < wakeup.1 - wakeup.0
    });
    let address = || {
        first
            .value("location.hash")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    first.wait_for("the address to name the view", || {
        address().contains("view=wakeup&from=")
    });
    let (zoomed, hash) = (view(&first), address());
    let hash = hash.as_str();
    assert!(
        hash.starts_with(CASE) && hash.contains("view=wakeup&from="),
        "{hash}"
    );

    // Another reader follows the link.
    let second = Page::open_at(
        &page(),
        hash,
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    let seen = view(&second);
    assert!(
        (seen.0 - zoomed.0).abs() < 2.0 && (seen.1 - zoomed.1).abs() < 2.0,
        "{zoomed:?} {seen:?}"
    );
    assert!(shown_text(&second, ".headline").contains("to wake up"));
    let top = second.number(&format!(
        "document.querySelector('{CASE}').getBoundingClientRect().top"
    ));
    assert!(
        (0.0..200.0).contains(&top),
        "the case is in the window: {top}"
    );

    let back = |page: &Page| {
        let before = address();
        page.value("history.back()");
        page.wait_for("another address", || address() != before);
    };
    back(&first);
    // The click chose a lane, perhaps; then comes the whole wakeup, and at last how it was at
    // first.
    for _ in 0..2 {
        if view(&first) != wakeup {
            back(&first);
        }
    }
    assert_eq!(view(&first), wakeup);
    for _ in 0..2 {
        if view(&first) != whole {
            back(&first);
        }
    }
    assert_eq!(view(&first), whole);
    assert!(shown_text(&first, ".headline").contains("to power down"));
    assert_eq!(first.console(), Vec::<String>::new());
    assert_eq!(second.console(), Vec::<String>::new());
}

#[test]
fn contents_lead_to_every_case_at_any_width() {
    for (width, is_open) in [(1600, true), (400, false)] {
        let page = Page::open(
            &page(),
            Look {
                width,
                dark: false,
                scripts: true,
            },
        );
        let open = page.value("document.querySelector('.contents details').open");
        assert_eq!(open, is_open, "{width}");
        let cases = page.number(
            "[...document.querySelectorAll('article')].filter(a => document.querySelector(`.contents a[href='#${a.id}']`)).length",
        );
        assert_eq!(
            cases,
            page.number("document.querySelectorAll('article').length")
        );
        page.value(&format!(
            "document.querySelector('.contents a[href=\"{CASE}\"]').click()"
        ));
        page.settle();
        let top = page.number(&format!(
            "document.querySelector('{CASE} h3').getBoundingClientRect().top"
        ));
        let bar = page.number(
            "(b => b.height < 200 ? b.bottom : 0)(document.querySelector('.contents').getBoundingClientRect())",
        );
        assert!(
            top >= bar && top < 250.0,
            "{width}: the heading is at {top}, the bar ends at {bar}"
        );
        let current = page.value("document.querySelector('.contents [aria-current]')?.hash");
        assert_eq!(current, CASE, "{width}");
        assert_eq!(page.console(), Vec::<String>::new());
    }
}

#[test]
fn no_line_crosses_a_label_and_no_label_of_the_axis_another() {
    for (width, view) in [
        (1280, "Powerdown"),
        (1280, "Wakeup"),
        (700, "Whole iteration"),
        (400, "Wakeup"),
    ] {
        let page = Page::open(
            &page(),
            Look {
                width,
                dark: false,
                scripts: true,
            },
        );
        page.show(CASE);
        press(&page, view);
        // What is drawn later lies above: lines come before the bars with their labels.
        let crossing = page.number(&format!(
            "(all => {{ const line = all.findLastIndex(e => e.matches('.wait, .hop, .fold, .path')); \
             return all.findIndex(e => e.matches('.on-dark, .on-light')) > line ? 0 : 1; }})([...{}.querySelectorAll('*')])",
            within(".drawn .plot")
        ));
        assert_eq!(crossing, 0.0, "{view}: a line is drawn over a label");
        let over = page.number(&format!(
            "(() => {{ const ticks = [...{0}.querySelectorAll('.tick')].map(t => t.getBoundingClientRect()); \
             const folds = [...{0}.querySelectorAll('.fold')].map(t => t.getBoundingClientRect()); let n = 0; \
             for (const a of ticks) for (const b of ticks) if (a !== b && a.left < b.right && b.left < a.right) n++; \
             for (const a of ticks) for (const b of folds) if (a.left < b.left && b.left < a.right && b.top < a.bottom) n++; return n; }})()",
            within(".drawn .plot")
        ));
        assert_eq!(
            over, 0.0,
            "{view} at {width}: labels of the axis lie on each other or on a break"
        );
    }
}

#[test]
fn two_fingers_zoom_and_one_pans() {
    let page = Page::open(
        &page(),
        Look {
            width: 400,
            dark: false,
            scripts: true,
        },
    );
    page.show(CASE);
    page.show(&format!("{CASE} .drawn"));
    let whole = view(&page);
    let (x, y) = middle(&page);
    page.touch(&[
        [(x - 30.0, y), (x - 110.0, y)],
        [(x + 30.0, y), (x + 110.0, y)],
    ]);
    let closer = view(&page);
    let wide = |(from, to): (f64, f64)| to - from;
    assert!(wide(closer) < 0.5 * wide(whole), "{whole:?} {closer:?}");
    assert!(
        closer.0 > whole.0 && closer.1 < whole.1,
        "between the fingers: {closer:?}"
    );
    page.touch(&[[(x, y), (x - 60.0, y)]]);
    let later = view(&page);
    assert!(
        later.0 > closer.0 && (wide(later) - wide(closer)).abs() < 1.0,
        "{closer:?} {later:?}"
    );
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_span_says_what_it_is() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
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
    assert!(
        text.starts_with("1.3 (CPU 3): L2 flush, 8") && text.ends_with("in CPU_SUSPEND."),
        "{text}"
    );
}

#[test]
fn without_scripts_everything_is_there_to_read() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: false,
            scripts: false,
        },
    );
    let shown = |selector: &str| {
        page.number(&format!(
            "{}.getBoundingClientRect().height",
            within(selector)
        ))
    };
    assert_eq!(
        (shown("noscript p") > 10.0, shown("figure")),
        (true, 0.0),
        "a sentence in place of the timeline"
    );
    assert_eq!(
        page.number(&format!(
            "{}.querySelectorAll('tbody tr').length",
            within(".figures")
        )),
        6.0
    );
    assert!(
        page.number(&format!(
            "{}.querySelectorAll('tr').length",
            within(".twin")
        )) > 60.0
    );
    assert_eq!(page.console(), Vec::<String>::new());
}

#[test]
fn a_narrow_window_scrolls_in_no_direction_but_down() {
    for scripts in [true, false] {
        let page = Page::open(
            &page(),
            Look {
                width: 400,
                dark: false,
                scripts,
            },
        );
        page.show(CASE);
        let wide = page.number("document.documentElement.scrollWidth");
        assert!(
            wide <= 400.0,
            "{wide} pixels of page in a window of 400, scripts {scripts}"
        );
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
        let page = Page::open(
            &page(),
            Look {
                width: 800,
                dark,
                scripts: true,
            },
        );
        page.value("getComputedStyle(document.body).backgroundColor")
    };
    assert_eq!(
        (paper(false), paper(true)),
        ("rgb(252, 251, 249)".into(), "rgb(21, 24, 28)".into())
    );
}

#[test]
fn what_was_zoomed_is_printed_whole_on_white() {
    let page = Page::open(
        &page(),
        Look {
            width: 1280,
            dark: true,
            scripts: true,
        },
    );
    page.show(CASE);
    let whole = view(&page);
    page.value(&format!("{}.focus()", within(".plot")));
    for _ in 0..4 {
        page.key("+");
    }
    let shown = |selector: &str| {
        page.number(&format!(
            "[...document.querySelectorAll('{CASE} {selector}')].filter(e => e.getBoundingClientRect().height > 0).length"
        ))
    };
    assert_eq!(
        (shown(".drawn .plot"), shown(".printed .plot")),
        (1.0, 0.0),
        "on the screen"
    );
    page.print();
    assert_eq!(
        (
            shown(".drawn .plot"),
            shown(".printed .plot"),
            shown(".tools")
        ),
        (0.0, 2.0, 0.0),
        "on paper"
    );
    assert_eq!(
        page.value("getComputedStyle(document.body).backgroundColor"),
        "rgb(255, 255, 255)"
    );
    let axis = page.value(&format!("{}.textContent", within(".printed .tick")));
    assert_eq!(axis, "0 us", "from the beginning");
    assert_ne!(view(&page), whole, "the screen keeps its view");
}

#[test]
fn a_cpu_without_a_lane_is_called_as_in_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let shape = ["--set", "topology.clusters=16x4"];
    let arguments = [
        &[
            "--release",
            "juno-v2.12",
            "--iterations",
            "1",
            "--free-seeds",
            "0",
        ],
        &shape[..],
    ]
    .concat();
    write_page(&file, folder.path(), &arguments);
    let page = Page::open(
        &file,
        Look {
            width: 1280,
            dark: false,
            scripts: true,
        },
    );
    page.show("#juno-v2-12-suspend-deepest-parallel");
    let labels = page.value(
        "[...document.querySelectorAll('#juno-v2-12-suspend-deepest-parallel .drawn text')].map(t => t.textContent)\
         .filter(t => t.startsWith('lock wait')).join(', ')",
    );
    let labels = labels.as_str().unwrap();
    assert!(
        labels.contains("lock wait: ") && !labels.contains("CPU"),
        "{labels}"
    );
}
