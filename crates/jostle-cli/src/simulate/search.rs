//! The search for agents that touch: by our own engine, or by one of the systems that its users come from.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jostle::{Aabb, Bodies, InputError, PairFinder};
use jostle_classics::{BroadPhase, System, SystemInSpace};

use crate::args::{JOSTLE, SimulateArgs};
use crate::picture::{Window, leaves, span};
use crate::threads::Workers;

/// An older system, or `None` for our own engine.
type Classic<const D: usize> = Option<Box<dyn BroadPhase<D>>>;

/// Returns the system that the command line asks for, in the plane.
pub(super) fn in_plane(args: &SimulateArgs, world: Aabb<2>, bodies: Bodies<'_, 2>) -> Result<Classic<2>> {
    named(args, 2, |name| {
        let system = name.parse::<System>()?;
        system.check_count(bodies.len())?;
        Ok(system.in_world(world, bodies)?)
    })
}

/// Returns the system that the command line asks for, in space.
pub(super) fn in_space(args: &SimulateArgs, world: Aabb<3>, bodies: Bodies<'_, 3>) -> Result<Classic<3>> {
    named(args, 3, |name| {
        let system = name.parse::<SystemInSpace>()?;
        system.check_count(bodies.len())?;
        Ok(system.in_world(world, bodies)?)
    })
}

fn named<S>(args: &SimulateArgs, dim: usize, make: impl Fn(&str) -> Result<S>) -> Result<Option<S>> {
    let system = (args.engine != JOSTLE).then(|| make(&args.engine)).transpose();
    system.with_context(|| format!("--engine with --dim {dim}"))
}

/// A search that is kept from frame to frame.
pub(super) struct Search<const D: usize> {
    finder: PairFinder<D>,
    classic: Classic<D>,
    /// The pairs that the older system found.
    pairs: Vec<[u32; 2]>,
    rank_to_id: Vec<u32>,
}

impl<const D: usize> Search<D> {
    pub(super) fn new(classic: Classic<D>) -> Self {
        Self { finder: PairFinder::new(), classic, pairs: Vec::new(), rank_to_id: Vec::new() }
    }

    /// Returns the pairs, in an order of the system's own, and how long the search took.
    pub(super) fn find<'a>(
        &'a mut self,
        bodies: Bodies<'_, D>,
        workers: &'a Workers,
    ) -> Result<(&'a [[u32; 2]], Duration), InputError> {
        let start = Instant::now();
        let Some(classic) = &mut self.classic else {
            let found = self.finder.on(workers.threads()).find(bodies)?;
            let time = start.elapsed();
            self.rank_to_id.clear();
            self.rank_to_id.extend(found.rank_to_id());
            return Ok((found.pairs(), time));
        };
        classic.update(bodies)?;
        self.pairs.clear();
        classic.for_each_pair(&mut |pair| self.pairs.push(pair));
        Ok((&self.pairs, start.elapsed()))
    }

    /// Returns the bodies of the last search in the order of its tree, where neighbours in space are neighbours. Older
    /// systems have no such order, and get it from our own.
    pub(super) fn order(&mut self, bodies: Bodies<'_, D>, workers: &Workers) -> Result<&[u32], InputError> {
        if self.classic.is_some() {
            let found = self.finder.on(workers.threads()).find(bodies)?;
            self.rank_to_id.clear();
            self.rank_to_id.extend(found.rank_to_id());
        }
        Ok(&self.rank_to_id)
    }

    /// The boxes of leaves or cells, if there are any; spheres are seen along the third axis.
    pub(super) fn cells(&self, bodies: Bodies<'_, D>) -> Vec<Window> {
        let Some(classic) = &self.classic else { return leaves(&bodies, &self.rank_to_id) };
        let mut boxes = Vec::new();
        classic.for_each_cell(&mut |aabb| boxes.push(span(aabb.lo.map(f64::from), aabb.hi.map(f64::from))));
        boxes
    }
}
