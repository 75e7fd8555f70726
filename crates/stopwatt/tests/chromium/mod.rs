//! A page in headless Chromium: the browser itself, no stub of it.

use base64::prelude::{BASE64_STANDARD, Engine};
use headless_chrome::browser::tab::point::Point;
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::protocol::cdp::{Emulation, Input, Page as PageDomain};
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The way in which a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// True if the reader prefers dark.
    pub dark: bool,
    /// True if scripts run.
    pub scripts: bool,
}

/// An open page.
pub struct Page {
    tab: Arc<Tab>,
    errors: Arc<Mutex<Vec<String>>>,
    scripts: bool,
    // Closes when it goes.
    _browser: Browser,
}

fn chromium() -> PathBuf {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .expect("this needs Chromium (Debian: apt-get install chromium, or: cargo xtask test report)")
}

impl Page {
    /// Testbed a file of this machine, with the network cut off.
    pub fn open(file: &Path, look: Look) -> Self {
        Self::open_at(file, "", look)
    }

    /// The same at a place within it, such as `#overview`.
    pub fn open_at(file: &Path, place: &str, look: Look) -> Self {
        let options = LaunchOptions {
            path: Some(chromium()),
            // Root has no sandbox; the page is our own.
            sandbox: false,
            window_size: Some((look.width, 900)),
            args: [
                "--hide-scrollbars",
                "--proxy-server=127.0.0.1:9",
                "--force-color-profile=srgb",
                "--font-render-hinting=none",
            ]
            .map(OsStr::new)
            .to_vec(),
            idle_browser_timeout: Duration::from_secs(120),
            ..LaunchOptions::default()
        };
        let browser = Browser::new(options).expect("Chromium starts");
        let tab = browser.new_tab().expect("a tab");
        let errors = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&errors);
        tab.enable_log().expect("log");
        tab.enable_runtime().expect("runtime");
        tab.add_event_listener(Arc::new(move |event: &Event| {
            let text = match event {
                Event::LogEntryAdded(added) => format!("{:?}: {}", added.params.entry.level, added.params.entry.text),
                Event::RuntimeExceptionThrown(thrown) => format!("{:?}", thrown.params.exception_details),
                Event::RuntimeConsoleAPICalled(called) => format!("{:?}", called.params.args),
                _ => return,
            };
            seen.lock().expect("no listener panicked").push(text);
        }))
        .expect("events");
        tab.call_method(Emulation::SetDeviceMetricsOverride {
            width: look.width,
            height: 900,
            device_scale_factor: 1.0,
            mobile: false,
            scale: None,
            screen_width: None,
            screen_height: None,
            position_x: None,
            position_y: None,
            dont_set_visible_size: None,
            screen_orientation: None,
            viewport: None,
            display_feature: None,
            device_posture: None,
        })
        .expect("size");
        let scheme = if look.dark { "dark" } else { "light" };
        tab.call_method(Emulation::SetEmulatedMedia {
            media: None,
            features: Some(vec![Emulation::MediaFeature {
                name: "prefers-color-scheme".to_owned(),
                value: scheme.to_owned(),
            }]),
        })
        .expect("scheme");
        tab.call_method(Emulation::SetScriptExecutionDisabled { value: !look.scripts }).expect("scripts");
        let address = format!("file://{}{place}", file.canonicalize().expect("the file is there").display());
        tab.navigate_to(&address).and_then(|tab| tab.wait_until_navigated()).expect("the page loads");
        Self { tab, errors, scripts: look.scripts, _browser: browser }
    }

    /// Value of an expression in the page; a promise is waited for.
    pub fn value(&self, expression: &str) -> Value {
        let result = self.tab.evaluate(expression, true).unwrap_or_else(|error| panic!("{expression}: {error}"));
        result.value.unwrap_or(Value::Null)
    }

    /// A number of the page.
    pub fn number(&self, expression: &str) -> f64 {
        self.value(expression).as_f64().unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// Brings what a selector finds to the top of the window and lets the page draw.
    pub fn show(&self, selector: &str) {
        let show = format!("document.querySelector({selector:?}).scrollIntoView({{block: 'start'}})");
        self.value(&show);
        self.settle();
    }

    /// Wait until the page has drawn what it was asked for.
    pub fn settle(&self) {
        std::thread::sleep(Duration::from_millis(120));
        // Without scripts no frame calls back.
        if !self.scripts {
            return;
        }
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    /// Turns the wheel over a place of the window.
    pub fn wheel(&self, x: f64, y: f64, by: f64) {
        self.tab
            .call_method(Input::DispatchMouseEvent {
                Type: Input::DispatchMouseEventTypeOption::MouseWheel,
                x,
                y,
                delta_x: Some(0.0),
                delta_y: Some(by),
                modifiers: None,
                timestamp: None,
                button: None,
                buttons: None,
                click_count: None,
                force: None,
                tangential_pressure: None,
                tilt_x: None,
                tilt_y: None,
                twist: None,
                pointer_Type: None,
            })
            .expect("wheel");
        self.settle();
    }

    /// Presses and lets go of a key.
    pub fn key(&self, key: &str) {
        self.tab.press_key(key).expect("key");
        self.settle();
    }

    /// Clicks a place of the window.
    pub fn click(&self, x: f64, y: f64) {
        self.tab.click_point(Point { x, y }).expect("click");
        self.settle();
    }

    /// Moves the mouse to a place of the window.
    pub fn point(&self, x: f64, y: f64) {
        self.tab.move_mouse_to_point(Point { x, y }).expect("mouse");
        self.settle();
    }

    /// Lets fingers (places in the window) go down together, to their ends in steps, and up.
    pub fn touch(&self, fingers: &[[(f64, f64); 2]]) {
        const STEPS: u32 = 8;
        let send = |kind, step: u32, fingers: &[[(f64, f64); 2]]| {
            let at = |from: f64, to: f64| from + (to - from) * f64::from(step) / f64::from(STEPS);
            let touch_points = (0..)
                .zip(fingers)
                .map(|(id, [from, to])| Input::TouchPoint {
                    x: at(from.0, to.0),
                    y: at(from.1, to.1),
                    radius_x: None,
                    radius_y: None,
                    rotation_angle: None,
                    force: None,
                    tangential_pressure: None,
                    tilt_x: None,
                    tilt_y: None,
                    twist: None,
                    id: Some(f64::from(id)),
                })
                .collect();
            self.tab
                .call_method(Input::DispatchTouchEvent { Type: kind, touch_points, modifiers: None, timestamp: None })
                .expect("touch");
            self.settle();
        };
        send(Input::DispatchTouchEventTypeOption::TouchStart, 0, fingers);
        for step in 1..=STEPS {
            send(Input::DispatchTouchEventTypeOption::TouchMove, step, fingers);
        }
        send(Input::DispatchTouchEventTypeOption::TouchEnd, STEPS, &[]);
    }

    /// A picture of a rectangle of the document (left, top, width, height), as PNG.
    pub fn picture(&self, [x, y, width, height]: [f64; 4]) -> Vec<u8> {
        let request = PageDomain::CaptureScreenshot {
            format: Some(PageDomain::CaptureScreenshotFormatOption::Png),
            quality: None,
            clip: Some(PageDomain::Viewport { x, y, width, height, scale: 1.0 }),
            from_surface: Some(true),
            capture_beyond_viewport: Some(true),
            optimize_for_speed: None,
        };
        let data = self.tab.call_method(request).expect("screenshot").data;
        BASE64_STANDARD.decode(data).expect("base64")
    }

    /// Shows the page as it would be printed.
    pub fn print(&self) {
        self.tab
            .call_method(Emulation::SetEmulatedMedia { media: Some("print".to_owned()), features: None })
            .expect("media");
        self.settle();
    }

    /// All that the console said, errors of the network included.
    pub fn console(&self) -> Vec<String> {
        self.errors.lock().expect("no listener panicked").clone()
    }
}
