//! Decides which requests are let in, and serves the page: one file of HTML, one of styles and a few modules, all
//! within the program.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::{io, thread};

use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::sync::oneshot;

use crate::door::Door;
use crate::session;
use crate::shared::Shared;

/// The longest message that is read, in bytes. No page says more in one message.
const LONGEST_MESSAGE: usize = 4096;

/// The page takes scripts and styles from this server alone, nothing from elsewhere, and stands in no other page's
/// frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";

/// What is served: path, type and text.
const PAGE: [(&str, &str, &str); 10] = [
    ("", HTML, include_str!("page/index.html")),
    ("style.css", STYLE, include_str!("page/style.css")),
    ("main.js", MODULE, include_str!("page/main.js")),
    ("link.js", MODULE, include_str!("page/link.js")),
    ("discs.js", MODULE, include_str!("page/discs.js")),
    ("dots.js", MODULE, include_str!("page/dots.js")),
    ("camera.js", MODULE, include_str!("page/camera.js")),
    ("tools.js", MODULE, include_str!("page/tools.js")),
    ("lanes.js", MODULE, include_str!("page/lanes.js")),
    ("meters.js", MODULE, include_str!("page/meters.js")),
];

/// The server's thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Listens at an address.
    ///
    /// # Errors
    /// When the address cannot be had, or a thread cannot.
    pub(crate) fn start(address: SocketAddr, shared: Arc<Shared>) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let served = async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(Door::new(listener), Router::new().fallback(answer).with_state(shared)).await
        };
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    result = served => if let Err(error) = result {
                        eprintln!("jostle-view: the server has ended: {error}");
                    },
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new().name("jostle-view".to_owned()).spawn(run)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// 128 random bits in hexadecimal digits.
///
/// # Errors
/// When the system has no randomness to give.
pub(crate) fn new_token() -> io::Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The socket if one is asked for, else why it cannot be had.
type Socket = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

async fn answer(
    State(shared): State<Arc<Shared>>,
    (method, uri, headers): (Method, Uri, HeaderMap),
    socket: Socket,
) -> Response {
    if method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    let path = match &shared.token {
        None if is_of_this_machine(&headers) => path,
        None => return refusal("this server is asked by the name localhost alone"),
        Some(token) => match path.split_once('/') {
            Some((given, path)) if is_same(given, token) => path,
            None if is_same(path, token) => return Redirect::permanent(&format!("/{token}/")).into_response(),
            _ => return refusal("the address lacks the token that the program has printed"),
        },
    };
    if path == "socket" {
        return attach(shared, &headers, socket);
    }
    match PAGE.into_iter().find(|file| file.0 == path) {
        Some((_, kind, text)) => page(kind, text),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn attach(shared: Arc<Shared>, headers: &HeaderMap, socket: Socket) -> Response {
    if !is_own_page(headers) {
        return refusal("another page's scripts may not look");
    }
    match socket {
        Ok(socket) => socket
            .max_message_size(LONGEST_MESSAGE)
            .max_frame_size(LONGEST_MESSAGE)
            .on_upgrade(|socket| session::serve(socket, shared)),
        Err(rejection) => rejection.into_response(),
    }
}

fn page(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

fn refusal(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, why).into_response()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// True when a browser says that a page of this very address asks.
fn is_own_page(headers: &HeaderMap) -> bool {
    let origin = text(headers, header::ORIGIN).and_then(|origin| origin.split_once("://"));
    match (origin, text(headers, header::HOST)) {
        (Some(("http" | "https", origin)), Some(host)) => origin.eq_ignore_ascii_case(host),
        _ => false,
    }
}

/// True when the request names this machine by a name that no other machine's page can have, whatever names others give
/// it.
fn is_of_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = text(headers, header::HOST) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost")
        || name == "[::1]"
        || name.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback())
}

/// Compares two texts. Texts of one length take as long wherever they differ.
fn is_same(given: &str, token: &str) -> bool {
    given.len() == token.len() && given.bytes().zip(token.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
