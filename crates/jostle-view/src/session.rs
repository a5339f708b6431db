//! One viewer: sends it frames as fast as it draws them, and answers, and obeys what it says.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message as Sent, WebSocket};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::ask::Question;
use crate::frame::Picture;
use crate::message::{Command, Message};
use crate::shared::{Asked, Seat, Shared};

/// Most frames on their way to a viewer that it has not yet drawn: two hide the time of the way.
const IN_FLIGHT: u32 = 2;

/// A viewer is asked so often whether it is still there. It has vanished if it has said nothing since the last time.
const PING: Duration = Duration::from_secs(20);

struct Session {
    socket: WebSocket,
    shared: Arc<Shared>,
    seat: Seat,
    /// Frames that may be sent.
    credit: u32,
    /// The version of the radii that the viewer has.
    radii: u32,
    /// True while a question is being answered. Meanwhile `next` keeps the latest one.
    asking: bool,
    next: Option<(u32, Question)>,
    answers: mpsc::Sender<String>,
    /// The viewer drags a body. However the session ends, it lets go of that body.
    drags: bool,
}

/// The connection is gone, or as good as gone.
struct Vanished;

/// Serves a viewer until it leaves.
pub(crate) async fn serve(socket: WebSocket, shared: Arc<Shared>) {
    let (answers, told) = mpsc::channel(1);
    // Before the seat is taken: a frame that is made for it is then not missed.
    let pictures = shared.pictures.subscribe();
    let seat = Seat::take(&shared);
    let session =
        Session { socket, shared, seat, credit: IN_FLIGHT, radii: 0, asking: false, next: None, answers, drags: false };
    // However the session ends, the seat is given up.
    _ = session.run(pictures, told).await;
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.drags {
            self.shared.steer(Command::Drop);
        }
    }
}

impl Session {
    async fn run(
        mut self,
        mut pictures: watch::Receiver<Arc<Picture>>,
        mut told: mpsc::Receiver<String>,
    ) -> Result<(), Vanished> {
        let mut controls = self.shared.controls.subscribe();
        controls.mark_changed();
        let (mut heard, mut ping) = (true, Instant::now() + PING);
        loop {
            if self.credit > 0 {
                self.shared.be_ready();
            }
            tokio::select! {
                message = self.socket.recv() => {
                    heard = true;
                    match message.ok_or(Vanished)?.map_err(|_| Vanished)? {
                        Sent::Text(text) => self.hear(&text).await?,
                        Sent::Binary(_) => self.refuse().await?,
                        Sent::Close(_) => return Ok(()),
                        Sent::Ping(_) | Sent::Pong(_) => {}
                    }
                }
                Ok(()) = pictures.changed(), if self.credit > 0 => {
                    let picture = Arc::clone(&pictures.borrow_and_update());
                    if self.radii != picture.version {
                        self.send(Sent::Binary(picture.radii.clone())).await?;
                        self.radii = picture.version;
                    }
                    self.credit -= 1;
                    self.send(Sent::Binary(picture.frame.clone())).await?;
                }
                Ok(()) = controls.changed() => {
                    let json = controls.borrow_and_update().clone();
                    if !json.is_empty() {
                        self.send(Sent::Text(json.into())).await?;
                    }
                }
                Some(json) = told.recv() => {
                    self.send(Sent::Text(json.into())).await?;
                    self.asking = false;
                    self.ask();
                }
                () = sleep_until(ping) => {
                    if !heard {
                        return Err(Vanished);
                    }
                    (heard, ping) = (false, Instant::now() + PING);
                    self.send(Sent::Ping(Default::default())).await?;
                }
            }
        }
    }

    async fn send(&mut self, message: Sent) -> Result<(), Vanished> {
        self.socket.send(message).await.map_err(|_| Vanished)
    }

    async fn hear(&mut self, text: &str) -> Result<(), Vanished> {
        match Message::read(text) {
            Some(Message::Ready) => self.credit = (self.credit + 1).min(IN_FLIGHT),
            Some(Message::Want(wants)) => self.seat.want(wants),
            Some(Message::Ask(number, question)) => {
                // A recording, which a click has asked for, does not make way for what a moving pointer asks.
                if !matches!(self.next, Some((_, Question::Record))) {
                    self.next = Some((number, question));
                }
                self.ask();
            }
            Some(Message::Steer(command)) => {
                match command {
                    Command::Drag { .. } => self.drags = true,
                    Command::Drop => self.drags = false,
                    _ => {}
                }
                self.shared.steer(command);
            }
            None => self.refuse().await?,
        }
        Ok(())
    }

    fn ask(&mut self) {
        if self.asking {
            return;
        }
        if let Some((number, question)) = self.next.take() {
            self.asking = true;
            self.shared.ask(Asked { number, question, answer: self.answers.clone() });
        }
    }

    async fn refuse(&mut self) -> Result<(), Vanished> {
        self.send(Sent::Text(r#"{"error":"not understood"}"#.into())).await
    }
}
