//! The page in Debian's Chromium, without a screen, by its DevTools protocol. Where there is no Chromium, the test says
//! so and tests nothing.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use tungstenite::{Message, WebSocket};

use crate::client::until;
use crate::program::{Folder, start};

/// A browser's process, and its folder. Both end with the test, even if the browser never has a page.
struct Process(Child, PathBuf);

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
        _ = fs::remove_dir_all(&self.1);
    }
}

/// Returns a folder with a short path: the browser puts a socket there, and ends where the socket's path is longer than
/// some hundred bytes.
fn short_folder() -> PathBuf {
    let folder = std::env::temp_dir();
    if folder.as_os_str().len() > 40 { PathBuf::from("/tmp") } else { folder }
}

/// A browser with one page. It ends with the test.
pub(crate) struct Browser {
    _process: Process,
    socket: WebSocket<TcpStream>,
    calls: u32,
    /// Complaints of the page.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Opens a page; `None` where there is no browser.
    pub(crate) fn open(url: &str) -> Option<Self> {
        static OPENED: AtomicU32 = AtomicU32::new(0);
        let number = OPENED.fetch_add(1, Relaxed);
        let profile = short_folder().join(format!("jostle-view-{}-{number}", std::process::id()));
        let mut command = Command::new("chromium");
        command.env("TMPDIR", short_folder());
        command.args(["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader"]);
        command.args(["--enable-unsafe-swiftshader", "--remote-debugging-port=0"]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let Ok(child) = child else {
            // Written past the capture of the test, so that it is seen.
            _ = writeln!(
                std::io::stderr(),
                "SKIPPED: the page in a browser, as there is no chromium (apt-get install chromium)"
            );
            return None;
        };
        let process = Process(child, profile.clone());
        let mut port = None;
        until("the browser has its port", || {
            let text = fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default();
            port = text.split_once('\n').and_then(|(port, _)| port.parse::<u16>().ok());
            port.is_some()
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port.unwrap()));
        let mut target = None;
        until("the browser has its page", || {
            let list = pages(address);
            let page = list.split("\"webSocketDebuggerUrl\": \"").skip(1).find(|url| url.contains("/devtools/page/"));
            target = page.and_then(|url| url.split('"').next()).map(str::to_owned);
            target.is_some()
        });
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (socket, _) = tungstenite::client(target.unwrap(), stream).unwrap();
        let mut browser = Self { _process: process, socket, calls: 0, complaints: Vec::new() };
        for method in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(method, "{}");
        }
        let size = r#"{"width":1000,"height":700,"deviceScaleFactor":1,"mobile":false}"#;
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser.call("Page.navigate", &format!(r#"{{"url":"{url}"}}"#));
        Some(browser)
    }

    /// Calls a method, and notes complaints that come meanwhile.
    pub(crate) fn call(&mut self, method: &str, parameters: &str) -> String {
        self.calls += 1;
        let id = self.calls;
        self.socket.send(Message::text(format!(r#"{{"id":{id},"method":"{method}","params":{parameters}}}"#))).unwrap();
        loop {
            let message = match self.socket.read() {
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => continue,
                message => message.unwrap(),
            };
            let Message::Text(text) = message else { continue };
            if text.starts_with(&format!(r#"{{"id":{id},"#)) {
                return text.to_string();
            }
            let bad = ["Runtime.exceptionThrown", "Log.entryAdded", "\"type\":\"error\"", "\"type\":\"warning\""];
            if bad.iter().any(|bad| text.contains(bad)) {
                self.complaints.push(text.to_string());
            }
        }
    }

    /// Returns the value of an expression that gives a string without quotes.
    pub(crate) fn value(&mut self, expression: &str) -> String {
        let expression = expression.replace('\\', "\\\\").replace('"', "\\\"");
        let parameters = format!(r#"{{"expression":"String({expression})","returnByValue":true}}"#);
        let answer = self.call("Runtime.evaluate", &parameters);
        let value = answer.split_once(r#""value":""#).unwrap_or_else(|| panic!("{answer}")).1;
        value.split('"').next().unwrap().to_owned()
    }

    pub(crate) fn text_of(&mut self, id: &str) -> String {
        self.value(&format!("document.getElementById('{id}')?.textContent"))
    }

    pub(crate) fn figure(&mut self, number: usize) -> String {
        self.value(&format!("document.querySelectorAll('#figures dd')[{number}]?.textContent"))
    }

    pub(crate) fn key(&mut self, key: &str) {
        self.value(&format!("dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}' }}))"));
    }

    pub(crate) fn mouse(&mut self, kind: &str, [x, y]: [i32; 2], buttons: u32) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let parameters =
            format!(r#"{{"type":"{kind}","x":{x},"y":{y},"button":"{button}","buttons":{buttons},"clickCount":1}}"#);
        self.call("Input.dispatchMouseEvent", &parameters);
    }

    /// Returns how many colours the next picture of the discs' canvas has, in 200 x 140 places.
    pub(crate) fn colours(&mut self) -> usize {
        self.pixels([200, 140], "new Set(pixels).size").parse().unwrap()
    }

    /// Returns the value of an expression of `pixels`, the next picture of the discs' canvas, `width` by `height`.
    pub(crate) fn pixels(&mut self, [width, height]: [u32; 2], expression: &str) -> String {
        // The script reads after the page's own drawing, since only in that frame is there something to read.
        let script = format!(
            "new Promise((tell) => {{ dispatchEvent(new Event('resize')); requestAnimationFrame(() => {{ \
            const copy = document.createElement('canvas'), [width, height] = [copy.width, copy.height] = [{width}, {height}]; \
            const context = copy.getContext('2d'); context.drawImage(document.getElementById('discs'), 0, 0, width, height); \
            const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer); \
            tell(String({expression})); }}); }})"
        );
        let parameters = format!(r#"{{"expression":"{script}","awaitPromise":true,"returnByValue":true}}"#);
        let answer = self.call("Runtime.evaluate", &parameters);
        let value = answer.split_once(r#""value":""#).unwrap_or_else(|| panic!("{answer}")).1;
        value.split('"').next().unwrap().to_owned()
    }
}

/// Returns the list of pages. The browser leaves the connection open after it.
fn pages(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let (mut list, mut part) = (String::new(), [0; 4096]);
    while !list.trim_end().ends_with(']') {
        let len = stream.read(&mut part).unwrap();
        assert!(len > 0, "{list}");
        list.push_str(&String::from_utf8_lossy(&part[..len]));
    }
    list
}

#[test]
fn the_page_draws_obeys_its_keys_and_asks_the_tree() {
    let (_running, address) = start(&["--agents", "400", "--scene", "dense"]);
    let Some(mut page) = Browser::open(&format!("http://{address}/#pairs&boxes&order&colour=contacts")) else { return };
    until("frames are seen", || page.figure(0) == "400" && page.text_of("notice").is_empty());
    until("pairs are counted", || page.figure(1).replace(',', "").parse::<u32>().is_ok_and(|pairs| pairs > 200));
    until("discs are drawn", || page.colours() > 20);

    page.key(" ");
    until("it is paused", || page.text_of("pause") == "Run");
    // The key goes once through all colours, and each colour is drawn.
    for colour in ["radius", "speed", "rank", "leaf", "thread", "cluster", "touching"] {
        page.key("c");
        assert_eq!(page.value("document.getElementById('colour').value"), colour);
        until(colour, || page.colours() > 20);
    }
    page.key("t");
    until("a search is recorded", || page.text_of("lanewords").contains(" on 4 workers "));
    // So few bodies are sorted outside all regions, and joined in one region.
    assert!(page.value("document.querySelectorAll('#regions li').length").parse::<u32>().unwrap() > 1);
    page.value("document.getElementById('unlane').click()");
    for key in ["p", "o", "b", "l", "+", "-", "ArrowLeft", "ArrowUp", ".", "f"] {
        page.key(key);
    }
    assert_eq!(page.value("document.getElementById('pairs').checked"), "false");

    // In the middle of a dense scene, there is a circle at the pointer or near it.
    page.mouse("mouseMoved", [369, 350], 0);
    until("the tree is asked", || page.text_of("answer").contains("circle "));
    page.key("2");
    page.mouse("mouseMoved", [380, 350], 0);
    until("the nearest are told", || page.text_of("answer").starts_with("the 8 nearest centres"));
    page.key("3");
    page.mouse("mousePressed", [2, 2], 1);
    page.mouse("mouseMoved", [736, 698], 1);
    page.mouse("mouseReleased", [736, 698], 0);
    until("all are counted", || page.text_of("answer").starts_with("400 circles touch the box"));
    page.key("4");
    page.mouse("mousePressed", [2, 350], 1);
    page.mouse("mouseMoved", [200, 350], 1);
    page.mouse("mouseReleased", [200, 350], 0);
    until("the ray hits", || page.text_of("answer").contains(" hit by the ray, the first is "));

    // A dragged circle goes where the pointer goes.
    page.key("1");
    let here = |page: &mut Browser| {
        page.mouse("mouseMoved", [600, 151], 0);
        page.mouse("mouseMoved", [600, 150], 0);
        until("the tree is asked", || !page.text_of("answer").is_empty());
        let text = page.text_of("answer");
        let more = text.split_once("and ").and_then(|(_, more)| more.split(' ').next()?.parse().ok());
        if text.starts_with("nothing") { 0 } else { 1 + more.unwrap_or(0) }
    };
    let before: u32 = here(&mut page);
    page.key("6");
    page.mouse("mousePressed", [369, 350], 1);
    until("it is held", || page.value("document.getElementById('discs').classList.contains('held')") == "true");
    page.mouse("mouseMoved", [600, 150], 1);
    page.mouse("mouseReleased", [600, 150], 0);
    assert_eq!(page.value("document.getElementById('discs').classList.contains('held')"), "false");
    page.key("1");
    until("it is where it was dragged to", || here(&mut page) == before + 1);
    page.key("5");
    page.mouse("mousePressed", [369, 350], 1);
    page.mouse("mouseReleased", [369, 350], 0);
    until("there is a giant", || page.figure(0) == "401");
    page.key("r");
    until("it begins anew", || page.figure(0) == "400");
    page.key("]");
    until("it is faster", || page.text_of("rate") == "120 / s");
    page.key("b");
    assert_eq!(page.value("document.getElementById('cells').checked"), "false");
    page.value("document.getElementById('engine').value = 'loose-quadtree'");
    page.value("document.getElementById('engine').dispatchEvent(new Event('change'))");
    until("an older system searches", || page.value("document.getElementById('celled').hidden") == "false");
    let plain = page.colours();
    page.key("b");
    assert_eq!(page.value("document.getElementById('cells').checked"), "true");
    until("its cells are drawn", || page.colours() > plain);
    page.key("?");
    assert_eq!(page.value("document.getElementById('help').open"), "true");

    // The frames of a film of spheres are found, and the spheres are turned.
    let (first, second) = ("x,y,z,r\n0,0,0,1\n9,0,3,1\n0,5,-4,1\n", "x,y,z,r\n0,0,0,1\n0,0,1,2\n");
    let folder = Folder::new("spheres", &[("1.csv", first), ("2.csv", second)]);
    let (_running, address) = start(&[&folder.path("*.csv"), "--rate", "0.01"]);
    page.call("Page.navigate", &format!(r#"{{"url":"http://{address}/#boxes&pairs&colour=cluster"}}"#));
    until("its first frame is seen", || page.figure(0) == "3" && page.text_of("at") == "1 / 2");
    until("spheres are drawn", || page.colours() > 20);
    page.mouse("mouseMoved", [369, 350], 0);
    until("the tree is asked", || !page.text_of("answer").is_empty());
    page.mouse("mousePressed", [300, 300], 1);
    page.mouse("mouseMoved", [420, 330], 1);
    page.mouse("mouseReleased", [420, 330], 0);
    until("turned spheres are drawn", || page.colours() > 20);
    page.key(",");
    until("the frame before the first is the last", || page.figure(0) == "2" && page.figure(9) == "1");
    page.mouse("mouseMoved", [369, 350], 0);
    until("the tree is asked", || page.text_of("answer").starts_with("sphere "));
    assert!(page.complaints.is_empty(), "{:#?}", page.complaints);
}
