//! What the loop of the simulation and the viewers share. Here the loop never waits for a viewer, nor a viewer for the
//! loop.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, watch};

use crate::ask::Question;
use crate::frame::Picture;
use crate::message::{Command, Wants};

/// Commands that wait for the loop; more are dropped.
const COMMANDS: usize = 256;

/// A question, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) number: u32,
    pub(crate) question: Question,
    pub(crate) answer: mpsc::Sender<String>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    /// The token that each path must begin with, if there is one.
    pub(crate) token: Option<String>,
    viewers: AtomicUsize,
    numbers: AtomicU64,
    /// Some viewer has room for a frame.
    ready: AtomicBool,
    /// A viewer has come, or wants something else.
    changed: AtomicBool,
    wants: Mutex<BTreeMap<u64, Wants>>,
    any_asked: AtomicBool,
    asked: Mutex<VecDeque<Asked>>,
    commands: Mutex<VecDeque<Command>>,
    /// The latest picture alone: a slow viewer finds a later one.
    pub(crate) pictures: watch::Sender<Arc<Picture>>,
    pub(crate) controls: watch::Sender<String>,
}

/// Locks a mutex. Nothing that is locked here can be left half done by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn new(token: Option<String>) -> Self {
        Self {
            token,
            viewers: AtomicUsize::new(0),
            numbers: AtomicU64::new(0),
            ready: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            wants: Mutex::default(),
            any_asked: AtomicBool::new(false),
            asked: Mutex::default(),
            commands: Mutex::default(),
            pictures: watch::Sender::new(Arc::default()),
            controls: watch::Sender::new(String::new()),
        }
    }

    pub(crate) fn viewers(&self) -> usize {
        self.viewers.load(SeqCst)
    }

    /// Says that a viewer has room for a frame.
    pub(crate) fn be_ready(&self) {
        self.ready.store(true, SeqCst);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(SeqCst)
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.changed.load(SeqCst)
    }

    /// Notes that a frame is being made, and returns what all viewers together want of it.
    pub(crate) fn begin_frame(&self) -> Wants {
        self.ready.store(false, SeqCst);
        self.changed.store(false, SeqCst);
        lock(&self.wants).values().copied().fold(Wants::default(), Wants::or)
    }

    pub(crate) fn ask(&self, asked: Asked) {
        let mut waiting = lock(&self.asked);
        // Of viewers that have left, nobody waits; any other has one question here.
        waiting.retain(|asked| !asked.answer.is_closed());
        waiting.push_back(asked);
        self.any_asked.store(true, SeqCst);
    }

    /// Returns the next question of a viewer that is still there.
    pub(crate) fn next_asked(&self) -> Option<Asked> {
        if !self.any_asked.load(SeqCst) {
            return None;
        }
        let mut waiting = lock(&self.asked);
        while let Some(asked) = waiting.pop_front() {
            if !asked.answer.is_closed() {
                return Some(asked);
            }
        }
        self.any_asked.store(false, SeqCst);
        None
    }

    pub(crate) fn steer(&self, command: Command) {
        let mut commands = lock(&self.commands);
        if commands.len() < COMMANDS {
            commands.push_back(command);
        }
    }

    pub(crate) fn next_command(&self) -> Option<Command> {
        lock(&self.commands).pop_front()
    }
}

/// A viewer's place among the others, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    shared: Arc<Shared>,
    number: u64,
}

impl Seat {
    pub(crate) fn take(shared: &Arc<Shared>) -> Self {
        let seat = Self { shared: Arc::clone(shared), number: shared.numbers.fetch_add(1, SeqCst) };
        seat.want(Wants::default());
        shared.viewers.fetch_add(1, SeqCst);
        seat
    }

    pub(crate) fn want(&self, wants: Wants) {
        lock(&self.shared.wants).insert(self.number, wants);
        self.shared.changed.store(true, SeqCst);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.shared.wants).remove(&self.number);
        self.shared.viewers.fetch_sub(1, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::{Asked, Shared};
    use crate::ask::Question;

    #[test]
    fn nobody_answers_those_who_have_left() {
        let shared = Shared::new(None);
        let ask = |number| {
            let (answer, told) = mpsc::channel(1);
            shared.ask(Asked { number, question: Question::Record, answer });
            told
        };
        let (first, second) = (ask(1), ask(2));
        (0..1000).for_each(|_| drop(ask(3)));
        assert!(shared.asked.lock().unwrap().len() <= 3);
        drop(first);
        assert_eq!(shared.next_asked().unwrap().number, 2);
        assert!(shared.next_asked().is_none());
        let third = ask(4);
        assert_eq!(shared.next_asked().unwrap().number, 4);
        drop((second, third));
    }
}
