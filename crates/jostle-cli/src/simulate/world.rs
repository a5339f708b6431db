//! One frame of the simulation: move, find who touches, push apart and exchange velocities.

use std::time::{Duration, Instant};

use jostle::{InputError, PairFinder};
use jostle_testkit::Kind;

use super::agents::Agents;
use super::contacts::Contacts;
use super::solve::{Solver, deepest};
use crate::threads::Workers;

/// Frames after which the agents are put in the order of the tree, so that those that touch lie close in memory.
const REORDER: u64 = 64;

/// The agents, and all that is kept from frame to frame.
pub(super) struct World<const D: usize> {
    pub(super) agents: Agents<D>,
    /// Who touched whom when last looked.
    pub(super) contacts: Contacts,
    /// The agents in the order of the tree when last looked.
    pub(super) rank_to_id: Vec<u32>,
    finder: PairFinder<D>,
    solver: Solver,
    frame: u64,
}

impl<const D: usize> World<D> {
    pub(super) fn new(kind: Kind, n: usize, seed: u64) -> Self {
        Self {
            agents: Agents::new(kind, n, seed),
            contacts: Contacts::default(),
            rank_to_id: Vec::new(),
            finder: PairFinder::new(),
            solver: Solver::default(),
            frame: 0,
        }
    }

    /// Advances by one frame, and says how long the search took.
    pub(super) fn step(&mut self, workers: &Workers) -> Result<Duration, InputError> {
        if self.frame % REORDER == 1 {
            self.agents.reorder(&self.rank_to_id);
        }
        self.frame += 1;
        self.agents.drift();
        self.agents.bounce_off_walls();
        let start = Instant::now();
        let found = self.finder.on(workers.threads()).find(self.agents.view()?)?;
        let time = start.elapsed();
        self.contacts.build(self.agents.bodies.len(), found.pairs());
        self.rank_to_id.clear();
        self.rank_to_id.extend(found.rank_to_id());
        self.solver.solve(&mut self.agents.bodies, &mut self.agents.motions, &self.contacts);
        Ok(time)
    }

    /// Looks who touches without moving anyone: the deepest overlap, and its part of the smaller radius.
    pub(super) fn observe(&mut self, workers: &Workers) -> Result<(f32, f32), InputError> {
        let found = self.finder.on(workers.threads()).find(self.agents.view()?)?;
        self.contacts.build(self.agents.bodies.len(), found.pairs());
        self.rank_to_id.clear();
        self.rank_to_id.extend(found.rank_to_id());
        Ok(deepest(&self.agents.bodies, found.pairs()))
    }
}
