//! One frame of the simulation: move the agents, find pairs that touch, push them apart and exchange velocities.

use std::time::Duration;

use jostle::InputError;

use super::agents::{Agents, Body, Motion};
use super::contacts::Contacts;
use super::search::Search;
use super::solve::{Solver, deepest};
use crate::picture::Window;
use crate::threads::Workers;

/// Frames after which the agents are put in the order of the tree, so that agents that touch lie close in memory.
const REORDER: u64 = 64;

/// Memory for an agent: twice its body and motion, as each step makes new ones of the old, what the finder keeps, and a
/// pair with its contacts.
pub(super) const BYTES_AN_AGENT: u64 = 2 * (size_of::<Body>() + size_of::<Motion>()) as u64 + FINDER + PAIR;

/// Bytes that the finder keeps for a body.
const FINDER: u64 = 60;

/// Bytes for a pair: in the list, in the lists of both bodies, and in the counts before them.
const PAIR: u64 = 3 * size_of::<[u32; 2]>() as u64;

/// The agents, and all that is kept from frame to frame.
pub(super) struct World<const D: usize> {
    pub(super) agents: Agents<D>,
    /// Which agents touched at the last search.
    pub(super) contacts: Contacts,
    search: Search<D>,
    /// The agents in the order of the tree, if the next step is to reorder them; else empty.
    order: Vec<u32>,
    solver: Solver,
    pub(super) frame: u64,
}

impl<const D: usize> World<D> {
    pub(super) fn new(agents: Agents<D>, search: Search<D>) -> Self {
        Self { agents, contacts: Contacts::default(), search, order: Vec::new(), solver: Solver::default(), frame: 0 }
    }

    /// Advances by one frame, and returns how long the search took.
    pub(super) fn step(&mut self, workers: &Workers) -> Result<Duration, InputError> {
        if !self.order.is_empty() {
            self.agents.reorder(&self.order);
            self.order.clear();
        }
        self.frame += 1;
        self.agents.drift();
        self.agents.bounce_off_walls();
        let (pairs, time) = self.search.find(self.agents.view()?, workers)?;
        self.contacts.build(self.agents.bodies.len(), pairs);
        if self.frame % REORDER == 1 {
            self.order.extend(self.search.order(self.agents.view()?, workers)?);
        }
        self.solver.solve(&mut self.agents.bodies, &mut self.agents.motions, &self.contacts);
        Ok(time)
    }

    /// Finds which agents touch, without moving any. Returns the deepest overlap, and its part of the smaller radius.
    pub(super) fn observe(&mut self, workers: &Workers) -> Result<(f32, f32), InputError> {
        let (pairs, _) = self.search.find(self.agents.view()?, workers)?;
        self.contacts.build(self.agents.bodies.len(), pairs);
        Ok(deepest(&self.agents.bodies, pairs))
    }

    /// The boxes of leaves or cells that the search keeps, for a picture.
    pub(super) fn cells(&self) -> Result<Vec<Window>, InputError> {
        Ok(self.search.cells(self.agents.view()?))
    }
}
