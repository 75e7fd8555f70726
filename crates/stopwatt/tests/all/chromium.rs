//! A page in headless Chromium: the browser itself, no stub of it. It is driven by the DevTools
//! protocol over a pair of pipes, so that neither sockets nor a port are needed.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width of the window in CSS pixels.
    pub width: u32,
    /// True if the reader prefers dark.
    pub dark: bool,
    /// True if scripts run.
    pub scripts: bool,
}

/// An open page, alone in a browser that ends with it.
pub struct Page {
    browser: Child,
    commands: RefCell<File>,
    messages: RefCell<BufReader<File>>,
    last_command: Cell<u64>,
    session: String,
    console: RefCell<Vec<String>>,
    scripts: bool,
    /// The browser's profile, and the pipes.
    _home: tempfile::TempDir,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

fn chromium() -> PathBuf {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .expect("this needs Chromium (Debian: apt-get install chromium, or: cargo xtask needs)")
}

/// Starts the browser, which reads commands from its descriptor 3 and writes messages to 4.
fn start(home: &Path, look: Look) -> (Child, File, File) {
    let pipes = ["commands", "messages"].map(|name| home.join(name));
    assert!(
        Command::new("mkfifo")
            .args(&pipes)
            .status()
            .expect("mkfifo starts")
            .success()
    );
    let [commands, messages] = &pipes;
    let browser = Command::new("sh")
        .args([
            "-c",
            "program=$1 commands=$2 messages=$3; shift 3; exec \"$program\" \"$@\" 3<\"$commands\" 4>\"$messages\"",
            "sh",
        ])
        .arg(chromium())
        .args([commands, messages])
        // Root has no sandbox; the page is our own, and the network is cut off.
        .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--hide-scrollbars", "--proxy-server=127.0.0.1:9", "--force-color-profile=srgb"])
        .args(["--font-render-hinting=none", "--disable-extensions", "--mute-audio"])
        .arg(format!("--window-size={},900", look.width))
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh starts");
    let commands = File::options()
        .write(true)
        .open(commands)
        .expect("the browser opens its end");
    let messages = File::open(messages).expect("the browser opens its end");
    (browser, commands, messages)
}

impl Page {
    /// Opens a file of this machine, with the network cut off.
    pub fn open(file: &Path, look: Look) -> Self {
        Self::open_at(file, "", look)
    }

    /// Opens a file at a place within it, such as `#overview`.
    pub fn open_at(file: &Path, place: &str, look: Look) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let (browser, commands, messages) = start(home.path(), look);
        let mut page = Self {
            browser,
            commands: RefCell::new(commands),
            messages: RefCell::new(BufReader::new(messages)),
            last_command: Cell::new(0),
            session: String::new(),
            console: RefCell::default(),
            scripts: look.scripts,
            _home: home,
        };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = page.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        page.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Log", "Runtime", "Page"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.look(look);
        page.call(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": !look.scripts}),
        );
        let address = format!(
            "file://{}{place}",
            file.canonicalize().expect("the file is there").display()
        );
        page.call("Page.navigate", json!({"url": address}));
        while page.message()["method"] != "Page.loadEventFired" {}
        page
    }

    /// Looks at the page in another width, or in other colours.
    pub fn look(&self, look: Look) {
        let size =
            json!({"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// The next message of the browser. What the console says is kept.
    fn message(&self) -> Value {
        let mut bytes = Vec::new();
        self.messages
            .borrow_mut()
            .read_until(0, &mut bytes)
            .expect("the pipe is open");
        assert_eq!(bytes.pop(), Some(0), "Chromium ended");
        let message: Value = serde_json::from_slice(&bytes).expect("messages are JSON");
        let told = &message["params"];
        let text = match message["method"].as_str() {
            Some("Log.entryAdded") => Some(format!(
                "{}: {}",
                told["entry"]["level"], told["entry"]["text"]
            )),
            Some("Runtime.exceptionThrown") => Some(told["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") => Some(told["args"].to_string()),
            _ => None,
        };
        self.console.borrow_mut().extend(text);
        message
    }

    /// Calls a method of the protocol and waits for its result.
    fn call(&self, method: &str, parameters: Value) -> Value {
        let id = self.last_command.get() + 1;
        self.last_command.set(id);
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        let text = format!("{command}\0");
        self.commands
            .borrow_mut()
            .write_all(text.as_bytes())
            .expect("Chromium listens");
        loop {
            let mut message = self.message();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// Value of an expression in the page; a promise is waited for.
    pub fn value(&self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", ask);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    /// A number of the page.
    pub fn number(&self, expression: &str) -> f64 {
        self.value(expression)
            .as_f64()
            .unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// Brings what a selector finds to the top of the window and lets the page draw.
    pub fn show(&self, selector: &str) {
        let show =
            format!("document.querySelector({selector:?}).scrollIntoView({{block: 'start'}})");
        self.value(&show);
        self.settle();
    }

    /// Waits until something is so, some minutes at most.
    pub fn wait_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(
                start.elapsed() < Duration::from_secs(300),
                "the page does not get {what}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        self.settle();
    }

    /// Waits until the page has drawn what it was asked for.
    pub fn settle(&self) {
        std::thread::sleep(Duration::from_millis(120));
        // Without scripts no frame calls back.
        if !self.scripts {
            return;
        }
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    /// Sends an event of the mouse at a place of the window.
    fn mouse(&self, kind: &str, x: f64, y: f64, more: &Value) {
        let mut event = json!({"type": kind, "x": x, "y": y});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Turns the wheel over a place of the window.
    pub fn wheel(&self, x: f64, y: f64, by: f64) {
        self.mouse("mouseWheel", x, y, &json!({"deltaX": 0, "deltaY": by}));
        self.settle();
    }

    /// Presses and releases a key: one character, or a name such as `ArrowLeft`.
    pub fn key(&self, key: &str) {
        let codes = [
            ("Enter", 13),
            ("Escape", 27),
            ("End", 35),
            ("Home", 36),
            ("ArrowLeft", 37),
            ("ArrowUp", 38),
        ];
        let codes = codes
            .into_iter()
            .chain([("ArrowRight", 39), ("ArrowDown", 40), ("Tab", 9)]);
        let code = codes
            .into_iter()
            .find(|(name, _)| *name == key)
            .map_or_else(
                || i32::from(key.to_ascii_uppercase().as_bytes()[0]),
                |(_, code)| code,
            );
        let mut event = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code});
        if key.chars().count() == 1 {
            event["text"] = key.into();
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = "keyUp".into();
        self.call("Input.dispatchKeyEvent", event);
        self.settle();
    }

    /// Clicks a place of the window.
    pub fn click(&self, x: f64, y: f64) {
        let left = json!({"button": "left", "clickCount": 1});
        self.mouse("mouseMoved", x, y, &Value::Null);
        self.mouse("mousePressed", x, y, &left);
        self.mouse("mouseReleased", x, y, &left);
        self.settle();
    }

    /// Moves the mouse to a place of the window.
    pub fn point(&self, x: f64, y: f64) {
        self.mouse("mouseMoved", x, y, &Value::Null);
        self.settle();
    }

    /// Lets fingers (places in the window) go down together, to their ends in steps, and up.
    pub fn touch(&self, fingers: &[[(f64, f64); 2]]) {
        const STEPS: u32 = 8;
        let send = |kind: &str, step: u32, fingers: &[[(f64, f64); 2]]| {
            let at = |from: f64, to: f64| from + (to - from) * f64::from(step) / f64::from(STEPS);
            let points: Vec<Value> = (0..)
                .zip(fingers)
                .map(|(id, [from, to])| json!({"x": at(from.0, to.0), "y": at(from.1, to.1), "id": id}))
                .collect();
            self.call(
                "Input.dispatchTouchEvent",
                json!({"type": kind, "touchPoints": points}),
            );
            self.settle();
        };
        send("touchStart", 0, fingers);
        for step in 1..=STEPS {
            send("touchMove", step, fingers);
        }
        send("touchEnd", STEPS, &[]);
    }

    /// A picture of a rectangle of the document (left, top, width, height), as PNG.
    pub fn picture(&self, [x, y, width, height]: [f64; 4]) -> Vec<u8> {
        let clip = json!({"x": x, "y": y, "width": width, "height": height, "scale": 1});
        let request = json!({"format": "png", "clip": clip, "captureBeyondViewport": true});
        let taken = self.call("Page.captureScreenshot", request);
        BASE64_STANDARD
            .decode(taken["data"].as_str().expect("text"))
            .expect("base64")
    }

    /// Shows the page as it would be printed.
    pub fn print(&self) {
        self.value("dispatchEvent(new Event('beforeprint'))");
        self.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        self.settle();
    }

    /// All that the console said, errors of the network included.
    pub fn console(&self) -> Vec<String> {
        self.console.borrow().clone()
    }
}
