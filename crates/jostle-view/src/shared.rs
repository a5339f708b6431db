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
    asked: Mutex<Vec<Asked>>,
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
        lock(&self.asked).push(asked);
        self.any_asked.store(true, SeqCst);
    }

    pub(crate) fn take_asked(&self) -> Vec<Asked> {
        if self.any_asked.swap(false, SeqCst) { std::mem::take(&mut *lock(&self.asked)) } else { Vec::new() }
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
