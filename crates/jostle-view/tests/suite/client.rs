//! A loop that is watched, and a client in place of a browser.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use jostle::{Circles, PairFinder};
use jostle_view::Viewer;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Nothing here takes so long, unless it never happens: not even where a browser draws by software on a core that others
/// use, too.
const PATIENCE: Duration = Duration::from_secs(120);

/// Shorter than the time between two pings, since otherwise a client that waits for another message would wait for
/// ever.
const SILENCE: Duration = Duration::from_secs(15);

/// Circles of the loop: 0 and 1 touch, 2 is free, and many more of radius 0 lie far off.
pub(crate) const CIRCLES: usize = 20_000;

/// A loop that shows frames until it is told to stop.
pub(crate) struct Watched {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Viewer>,
    pub(crate) address: SocketAddr,
}

impl Watched {
    pub(crate) fn start(viewer: Viewer) -> Self {
        let (stop, address) = (Arc::new(AtomicBool::new(false)), viewer.address());
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || shown(viewer, &stopped));
        Self { stop, thread, address }
    }

    pub(crate) fn stop(self) -> Viewer {
        self.stop.store(true, SeqCst);
        self.thread.join().unwrap()
    }
}

fn shown(mut viewer: Viewer, stop: &AtomicBool) -> Viewer {
    let x: Vec<_> = (0..CIRCLES).map(|id| if id < 3 { [0.0, 1.5, 9.0][id] } else { 50.0 + id as f32 }).collect();
    let radius: Vec<_> = (0..CIRCLES).map(|id| if id < 3 { 1.0 } else { 0.0 }).collect();
    let y = vec![0.0; CIRCLES];
    let view = Circles::new(&x, &y, &radius);
    let mut finder = PairFinder::new();
    let found = finder.find(view).unwrap();
    while !stop.load(SeqCst) {
        viewer.frame(view, &found);
        thread::sleep(Duration::from_millis(1));
    }
    viewer
}

/// Waits until a condition holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A page's end of the socket.
pub(crate) struct Client(pub(crate) WebSocket<TcpStream>);

impl Client {
    /// Attaches as the server's own page does.
    pub(crate) fn attach(address: SocketAddr) -> Self {
        let host = address.to_string();
        Self::try_attach(address, "/socket", &host, Some(&format!("http://{host}"))).unwrap()
    }

    /// Tries to attach, and returns the status if it is refused.
    pub(crate) fn try_attach(address: SocketAddr, path: &str, host: &str, origin: Option<&str>) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        let mut request = format!("ws://{host}{path}").into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// Returns the next frame, acknowledged as drawn, and how many bytes of radii came before it.
    pub(crate) fn frame(&mut self) -> (Vec<u8>, usize) {
        let mut radii = 0;
        loop {
            if let Message::Binary(bytes) = self.read() {
                if bytes[0] == 1 {
                    self.say("ready");
                    return (bytes.to_vec(), radii);
                }
                radii += bytes.len();
            }
        }
    }

    /// Returns the next text. Frames before it are acknowledged.
    pub(crate) fn text(&mut self) -> String {
        loop {
            match self.read() {
                Message::Text(text) => return text.to_string(),
                Message::Binary(bytes) if bytes[0] == 1 => self.say("ready"),
                _ => {}
            }
        }
    }

    /// Returns the next message, even if a signal interrupts the wait.
    fn read(&mut self) -> Message {
        loop {
            match self.0.read() {
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
                message => return message.unwrap(),
            }
        }
    }
}

/// Returns the answer to a plain request, from the first line to the last byte.
pub(crate) fn get(address: SocketAddr, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
