//! A headless browser, driven by the WebDriver protocol: JSON over HTTP to `chromedriver`, which starts Chromium.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use super::screenshot::{Screenshot, from_base64};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A browser with one page, which is closed on drop.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// The protocol's JSON key for an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Browser {
    /// Starts a browser. If none is installed, returns `None` and prints a message.
    pub(crate) fn start() -> Option<Self> {
        let found = program(&["chromedriver"]).zip(chromium());
        let Some((driver, browser)) = found else {
            // Not with `eprintln!`: the test harness hides its output when a test passes.
            let notice = "\n*** SKIPPED: no Chromium here (chromium and chromedriver), so the report and the page were NOT tested in a browser. ***\n";
            std::io::stderr().write_all(notice.as_bytes()).unwrap();
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let (driver, port) = start_driver(&driver);
        let mut started = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--window-size=1200,1000",
        ];
        let mut arguments: Vec<String> = arguments.map(String::from).into();
        arguments.push(format!(
            "--user-data-dir={}",
            started._profile.path().display()
        ));
        let options = json!({"binary": browser, "args": arguments});
        let wanted =
            json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let session = started.request(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": wanted}}),
        );
        started.session = session["sessionId"].as_str().unwrap().to_string();
        Some(started)
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&self, path: &Path) {
        let address = format!("file://{}", path.display());
        self.post("/url", &json!({"url": address}));
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) fn open_url(&self, address: &str) {
        self.post("/url", &json!({"url": address}));
    }

    /// Types into an element, or selects files in a file input.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        // The page may redraw after the element was found.
        for _ in 0..5 {
            let element = self.find(selector);
            let path = format!("/session/{}/element/{element}/value", self.session);
            let answer = self.try_request("POST", &path, &json!({"text": text}));
            if answer["error"] != "stale element reference" {
                assert!(answer["error"].is_null(), "{selector}: {answer}");
                return;
            }
        }
        panic!("{selector} does not stay");
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&self, expression: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.run(&format!("return Boolean({expression})")) != Value::Bool(true) {
            if Instant::now() > deadline {
                let shown = self.run("return document.body.innerText");
                panic!("{expression} did not become true:\n{shown}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Saves a screenshot of the whole page, for people to look at.
    pub(crate) fn save(&self, file: &Path) {
        let parameters = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.devtools("Page.captureScreenshot", &parameters);
        let bytes = from_base64(picture["data"].as_str().unwrap());
        std::fs::write(file, bytes).unwrap();
    }

    /// Runs a script in the page and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The text of every element that matches a selector.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let script = format!(
            "return [...document.querySelectorAll({selector:?})].map((found) => found.textContent)"
        );
        let found = self.run(&script);
        let texts = found.as_array().unwrap().iter();
        texts
            .map(|text| text.as_str().unwrap().to_string())
            .collect()
    }

    pub(crate) fn click(&self, selector: &str) {
        let click = || {
            let element = self.find(selector);
            let path = format!("/session/{}/element/{element}/click", self.session);
            self.try_request("POST", &path, &json!({}))
        };
        // The page may replace the element before it is clicked.
        let is_stale = |clicked: &Value| clicked["error"] == "stale element reference";
        let mut clicked = click();
        for _ in 0..5 {
            if is_stale(&clicked) {
                clicked = click();
            }
        }
        assert!(clicked["error"].is_null(), "{selector}: {clicked}");
    }

    /// Types into the focused element. `\u{e015}` and the like are the protocol's codes for keys.
    pub(crate) fn press(&self, keys: &str) {
        let taps = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})));
        let actions = json!([{"type": "key", "id": "keys", "actions": taps.collect::<Vec<_>>()}]);
        self.post("/actions", &json!({"actions": actions}));
    }

    /// Scrolls to an element, and moves the pointer to a place relative to its centre.
    pub(crate) fn hover(&self, selector: &str, [x, y]: [i64; 2]) {
        let element = self.find(selector);
        self.run(&format!(
            "document.querySelector({selector:?}).scrollIntoView({{block: 'center'}})"
        ));
        let step = json!({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": {ELEMENT: element}});
        let actions = json!([{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [step]}]);
        self.post("/actions", &json!({"actions": actions}));
    }

    /// Presses the mouse button at the first place, pauses at each of the others, and releases it at the last. Places are
    /// fractions of an element's width and height.
    pub(crate) fn drag(&self, selector: &str, places: &[[f64; 2]]) {
        let mut steps = Vec::new();
        for (at, [x, y]) in self.pixels(selector, places).into_iter().enumerate() {
            steps.push(json!({"type": "pointerMove", "duration": 60, "x": x, "y": y, "origin": "viewport"}));
            steps.push(match at {
                0 => json!({"type": "pointerDown", "button": 0}),
                _ => json!({"type": "pause", "duration": 250}),
            });
        }
        steps.push(json!({"type": "pointerUp", "button": 0}));
        self.mouse(&steps);
    }

    /// Clicks at places of an element, the last one twice.
    pub(crate) fn click_at(&self, selector: &str, places: &[[f64; 2]]) {
        let places = self.pixels(selector, places);
        let mut steps = Vec::new();
        let last = places.last().copied();
        for [x, y] in places.into_iter().chain(last) {
            steps.push(
                json!({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"}),
            );
            for kind in ["pointerDown", "pointerUp"] {
                steps.push(json!({"type": kind, "button": 0}));
            }
        }
        self.mouse(&steps);
    }

    /// Drops files and folders on the page, as from a file manager.
    pub(crate) fn drop_paths(&self, paths: &[&Path]) {
        let data = json!({"items": [], "files": paths, "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({"type": kind, "x": 300, "y": 300, "data": data});
            self.devtools("Input.dispatchDragEvent", &event);
        }
    }

    /// Answers a dialog of the page.
    pub(crate) fn answer(&self, is_yes: bool) {
        let path = if is_yes {
            "/alert/accept"
        } else {
            "/alert/dismiss"
        };
        self.post(path, &json!({}));
    }

    /// Places on an element, in window pixels.
    fn pixels(&self, selector: &str, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let found = self.run(&format!(
            "const it = document.querySelector({selector:?}); it.scrollIntoView({{block: 'center'}}); \
             const box = it.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]"
        ));
        let side = |at: usize| found[at].as_f64().unwrap();
        let at = |[x, y]: &[f64; 2]| {
            let place = [side(0) + x * side(2), side(1) + y * side(3)];
            place.map(f64::round)
        };
        places.iter().map(at).collect()
    }

    fn mouse(&self, steps: &[Value]) {
        let actions = json!([{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]);
        self.post("/actions", &json!({"actions": actions}));
    }

    /// A Chromium command, for what the protocol does not cover.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post(
            "/goog/cdp/execute",
            &json!({"cmd": command, "params": parameters}),
        )
    }

    /// What the page has written to its console since the last call, including violations of its
    /// content security policy.
    pub(crate) fn console(&self) -> Vec<String> {
        let log = self.post("/se/log", &json!({"type": "browser"}));
        let lines = log.as_array().unwrap().iter();
        lines
            .map(|line| line["message"].as_str().unwrap().to_string())
            .collect()
    }

    /// A screenshot of the window.
    pub(crate) fn screenshot(&self) -> Screenshot {
        let picture = self.request(
            "GET",
            &format!("/session/{}/screenshot", self.session),
            &Value::Null,
        );
        Screenshot::of_base64(picture.as_str().unwrap())
    }

    fn find(&self, selector: &str) -> String {
        let found = self.post(
            "/element",
            &json!({"using": "css selector", "value": selector}),
        );
        found[ELEMENT]
            .as_str()
            .unwrap_or_else(|| panic!("no {selector}: {found}"))
            .to_string()
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        self.request("POST", &format!("/session/{}{command}", self.session), body)
    }

    /// Sends a request that must not fail.
    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let value = self.try_request(method, path, body);
        assert!(value["error"].is_null(), "{method} {path}: {value}");
        value
    }

    /// Sends one request on a new connection and returns the response's `value`.
    fn try_request(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        // In one write: with several small ones, each would wait until the previous one is acknowledged.
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(connection);
        let mut length = 0;
        loop {
            let mut head = String::new();
            reader.read_line(&mut head).unwrap();
            if head.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = head.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This also ends Chromium; a killed driver would leave it running.
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request(
                "DELETE",
                &format!("/session/{}", self.session),
                &Value::Null,
            );
        } else if let Ok(mut connection) = TcpStream::connect(("127.0.0.1", self.port)) {
            let request = format!(
                "DELETE /session/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                self.session
            );
            let _ = connection.write_all(request.as_bytes());
            let _ = connection.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = connection.read_to_end(&mut Vec::new());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Starts the driver and returns the port that it listens on. The driver selects a free port for IPv4 and exits if another
/// process has the same one for IPv6, so a few attempts are made.
fn start_driver(program: &Path) -> (Child, u16) {
    let mut printed = Vec::new();
    for _ in 0..5 {
        let mut driver = Command::new(program)
            .args(["--port=0", "--log-level=WARNING"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some((_, port)) = line.split_once("successfully on port ") {
                let port = port.trim_end_matches('.').parse().unwrap();
                // Reads the rest of the output, so that the driver never blocks.
                std::thread::spawn(move || lines.map_while(Result::ok).count());
                return (driver, port);
            }
            printed.push(line);
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver did not start:\n{}", printed.join("\n"));
}

/// The path of the browser, if it is installed.
pub(crate) fn chromium() -> Option<PathBuf> {
    program(&["chromium", "chromium-browser", "google-chrome"])
}

/// The first of these programs that is installed.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| {
        folders
            .iter()
            .map(|folder| folder.join(name))
            .find(|file| file.is_file())
    })
}
