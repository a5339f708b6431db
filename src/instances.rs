//! Instances of the generic functions that searches consist of, in two and three dimensions.
//!
//! In builds without optimization, or with little, crates share the instances that a crate they depend on has made. So
//! programs, examples and tests do not compile a search anew each time that they are built.

use std::error::Error;

use crate::{
    Aabb, Bodies, Circle, Input, LinearTree, NeighborLists, PairFinder, Permutation, Queries, QueryBatch, Ray, Rows,
    Set, Skin, Threads, contacts_between,
};

/// Those in two dimensions. Nobody calls it.
///
/// # Errors
/// As a search.
pub fn in_2d(input: Input<'_, 2>, bodies: Bodies<'_, 2>, wide: Bodies<'_, 2, f64>) -> Result<usize, Box<dyn Error>> {
    all(input, bodies, wide)
}

/// Those in three dimensions. Nobody calls it.
///
/// # Errors
/// As a search.
pub fn in_3d(input: Input<'_, 3>, bodies: Bodies<'_, 3>, wide: Bodies<'_, 3, f64>) -> Result<usize, Box<dyn Error>> {
    all(input, bodies, wide)
}

fn all<const D: usize>(
    input: Input<'_, D>,
    bodies: Bodies<'_, D>,
    wide: Bodies<'_, D, f64>,
) -> Result<usize, Box<dyn Error>> {
    let (mut finder, mut lists) = (PairFinder::<D>::new(), NeighborLists::new());
    finder.find(bodies)?;
    finder.find(wide)?;
    finder.find(Set::from(bodies))?;
    finder.find(input)?;
    finder.on(Threads::Serial).find(input)?;
    finder.on(Threads::Current).find_recorded(input)?;
    finder.count(input)?;
    finder.neighbors(input, Rows::Full, &mut lists)?;
    let valid = finder.still_valid(input);
    let mut skin = Skin::<D>::default();
    skin.keep(input)?;
    let mut tree = LinearTree::<D>::new();
    tree.build(bodies, Threads::Current)?;
    tree.validate()?;
    Permutation::new().take(&tree);
    finder.find(&tree)?;
    let mut contacts = Vec::new();
    contacts_between(&[], bodies, bodies, Threads::Current, &mut contacts)?;
    Ok(finder.bytes() + tree.bytes() + usize::from(valid) + ask(Queries::new(&tree))?)
}

/// Each kind of query, one by one and many together.
fn ask<const D: usize>(queries: Queries<'_, D>) -> Result<usize, Box<dyn Error>> {
    let (mut ids, mut hits, mut batch, threads) = (Vec::new(), Vec::new(), QueryBatch::new(), Threads::Current);
    let (point, aabb) = ([0.0; D], Aabb { lo: [0.0; D], hi: [1.0; D] });
    let (circle, ray) = (Circle::new(point, 1.0), Ray::new(point, [1.0; D]));
    queries.point(point, &mut ids)?;
    queries.aabb(aabb, &mut ids)?;
    queries.circle(circle, &mut ids)?;
    queries.ray(ray, &mut hits)?;
    queries.first_hit(ray)?;
    queries.nearest(point, 1, 1.0, &mut hits)?;
    batch.points(queries, &[point], threads)?;
    batch.aabbs(queries, &[aabb], threads)?;
    batch.circles(queries, &[circle], threads)?;
    batch.rays(queries, &[ray], threads)?;
    batch.first_hits(queries, &[ray], threads)?;
    batch.nearest(queries, &[point], 1, 1.0, threads)?;
    Ok(ids.len() + hits.len())
}
