//! What the loop of a simulation calls.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use crate::ask::Kept;
use crate::frame::{Encoder, Meters};
use crate::message::{Command, Controls};
use crate::server::{self, Server};
use crate::shared::Shared;
use crate::shown::Shown;
use crate::view::View;

/// Least time between encoded frames: no screen shows more than some 60 a second.
const BETWEEN_FRAMES: Duration = Duration::from_millis(15);

/// The frames a second of the simulation are counted over this time.
const COUNTED_OVER: Duration = Duration::from_millis(500);

/// A loop that shows no new frame for so long is taken to stand still.
const STANDS_STILL: Duration = Duration::from_secs(3);

/// A call that has answered questions for so long leaves the rest to the next call.
const ANSWERING: Duration = Duration::from_millis(5);

/// Serves a page that shows what a loop finds, on a thread of its own, until it is dropped.
///
/// The loop hands over each frame and never waits. While nobody looks, that costs one load of an atomic number.
/// Otherwise a frame is encoded, once for all viewers, when one of them has room for it, at most some 65 times a
/// second; and what viewers ask is answered, as many questions a call as 5 milliseconds hold, and one at least. The
/// longest answer is the recording of a search, which takes some three searches on one thread.
#[derive(Debug)]
pub struct Viewer {
    server: Server,
    shared: Arc<Shared>,
    encoder: Encoder,
    meters: Meters,
    kept: Kept,
    last: Option<Instant>,
    moved: Option<Instant>,
    counted_since: Option<(Instant, u64)>,
    encoded: u64,
    /// Which search was encoded last.
    shown: u64,
}

impl Viewer {
    /// Listens at an address; with port 0 at any free port. At an address that other machines can reach, viewers must
    /// know a random token, which is part of [`Viewer::url`].
    ///
    /// # Errors
    /// When the address cannot be had, or the system has no thread or no randomness to give.
    pub fn start(address: SocketAddr) -> io::Result<Self> {
        let token = if address.ip().is_loopback() { None } else { Some(server::new_token()?) };
        let shared = Arc::new(Shared::new(token));
        Ok(Self {
            server: Server::start(address, Arc::clone(&shared))?,
            shared,
            encoder: Encoder::default(),
            meters: Meters::default(),
            kept: Kept::default(),
            last: None,
            moved: None,
            counted_since: None,
            encoded: 0,
            shown: 0,
        })
    }

    /// The address at which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// The address to open in a browser. If the server listens at all of the machine's addresses, `localhost` stands
    /// for any of them.
    #[must_use]
    pub fn url(&self) -> String {
        let address = self.address();
        let host =
            if address.ip().is_unspecified() { format!("localhost:{}", address.port()) } else { address.to_string() };
        self.shared.token.as_ref().map_or_else(|| format!("http://{host}/"), |token| format!("http://{host}/{token}/"))
    }

    /// Number of viewers.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.shared.viewers()
    }

    /// How many frames have been encoded.
    #[must_use]
    pub fn encoded(&self) -> u64 {
        self.encoded
    }

    /// Shows a frame: `found` is what a search within `view`, [circles](jostle::Circles) or [boxes](jostle::Boxes), has
    /// found, a [`Found`](jostle::Found) or an [`OlderSystem`](crate::OlderSystem). O(1) unless a viewer has room for a
    /// frame or asks something, then O(n + pairs).
    pub fn frame<'a>(&mut self, view: impl Into<View<'a>>, found: impl Into<Shown<'a>>) {
        self.meters.number += 1;
        if self.shared.viewers() == 0 {
            self.counted_since = None;
            return;
        }
        let (now, view, shown) = (Instant::now(), view.into(), found.into());
        self.moved = Some(now);
        self.count(now);
        self.answer(view, &shown);
        let is_due = self.last.is_none_or(|last| now - last >= BETWEEN_FRAMES);
        if is_due && self.shared.is_ready() {
            self.encode(now, view, &shown);
        }
    }

    /// Shows the same bodies still: a loop that is paused or waits calls this now and then. A frame is encoded only if
    /// a viewer has come meanwhile or wants to see something else, or if `found` is of another search than the frame
    /// that was shown last.
    pub fn still<'a>(&mut self, view: impl Into<View<'a>>, found: impl Into<Shown<'a>>) {
        if self.shared.viewers() == 0 {
            return;
        }
        let now = Instant::now();
        if self.moved.is_none_or(|moved| now - moved > STANDS_STILL) {
            (self.counted_since, self.meters.rate) = (None, 0.0);
        }
        let (view, shown) = (view.into(), found.into());
        self.answer(view, &shown);
        let is_new = self.shown != shown.number;
        if self.shared.is_ready() && (is_new || self.shared.is_changed()) {
            self.encode(now, view, &shown);
        }
    }

    /// Says how long the step took beside the search, for the page's plot; 0 until this is called.
    pub fn set_rest(&mut self, rest: Duration) {
        self.meters.rest = rest;
    }

    /// Sets the pool that the loop searches in, for discs coloured by the thread that finds their pairs; rayon's own by
    /// default.
    pub fn set_pool(&mut self, pool: Arc<ThreadPool>) {
        self.encoder.set_pool(pool);
    }

    /// Gives the page controls, and tells it what they show; if nothing has changed, the page is told nothing.
    pub fn set_controls(&mut self, controls: &Controls) {
        let json = controls.json();
        self.shared.controls.send_if_modified(|shown| {
            let is_new = *shown != json;
            *shown = json;
            is_new
        });
    }

    /// Returns the next command that a viewer has given by the page's controls.
    pub fn command(&mut self) -> Option<Command> {
        self.shared.next_command()
    }

    fn answer(&mut self, view: View<'_>, shown: &Shown<'_>) {
        let start = Instant::now();
        while let Some(asked) = self.shared.next_asked() {
            // The viewer that asked may have left.
            _ = asked.answer.try_send(asked.question.json(asked.number, view, shown, &mut self.kept));
            if start.elapsed() >= ANSWERING {
                return;
            }
        }
    }

    fn encode(&mut self, now: Instant, view: View<'_>, shown: &Shown<'_>) {
        let wants = self.shared.begin_frame();
        let picture = self.encoder.encode(view, shown, wants, self.meters);
        self.encoded += 1;
        self.shown = shown.number;
        self.last = Some(now);
        self.shared.pictures.send_replace(Arc::new(picture));
    }

    fn count(&mut self, now: Instant) {
        let (since, number) = *self.counted_since.get_or_insert((now, self.meters.number));
        let time = now - since;
        if time >= COUNTED_OVER {
            self.meters.rate = (self.meters.number - number) as f32 / time.as_secs_f32();
            self.counted_since = Some((now, self.meters.number));
        }
    }
}
