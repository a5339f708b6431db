//! Frames as they are sent, little endian, every part a multiple of four bytes.
//!
//! ```text
//! 0   u32  1: a frame; 2: radii, an f32 each, from byte 12 on; 3: half of each side of boxes, x and y, from byte 12 on
//! 4   u32  n, the number of bodies
//! 8   u32  which radii or sides belong to it
//! 12  u32  levels of the tree
//! 16  f64  number of the frame
//! 24  f32  x4: the box of all centres, lower corner first
//! 40  f32  x6: milliseconds for bounds, sort, tree, join, the rest of the step, and encoding the frame before
//! 64  u32  pairs
//! 68  f32  tests of one body against another, for each body
//! 72  f32  bytes that the finder holds, for each body
//! 76  f32  frames a second of the simulation
//! 80       sections: u32 kind, u32 bytes, the bytes, filled up to a multiple of four
//! ```
//! A place is two numbers of 16 bits: fractions of the box, 0 at its lower borders and 65,535 at its upper ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use jostle::{Aabb, LinearTree};
use rayon::ThreadPool;

use crate::clusters::Clusters;
use crate::finders::Finders;
use crate::message::Wants;
use crate::shown::{Shown, Tree};
use crate::view::{Drawn, Scratch, View, bits, ends, fraction};

/// Bytes of a frame before its sections.
pub const HEADER: usize = 80;

/// The first word of a frame, of radii and of sides.
const FRAME: u32 = 1;
const RADII: u32 = 2;
const SIDES: u32 = 3;

/// What a section of a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    /// x, y as `u16` for each body.
    Places = 1,
    /// A bit for each body, lowest first: whether it touches another.
    Touched = 2,
    /// How many bodies each body touches, at most 255, as `u8`.
    Contacts = 3,
    /// Two ids as `u32` for each pair.
    Pairs = 4,
    /// The id at each rank of the tree, as `u32`.
    Order = 5,
    /// The level as `u32`, then `f32` x4 for each box: lower corner, upper corner.
    Boxes = 6,
    /// `f32` x4 for each cell of an older system that holds a body.
    Cells = 7,
    /// For each body, as `u8`: 0 if it touches none, else the thread that has found one of its pairs: 1 for the thread
    /// that leads, 2 plus its number for a thread of a pool.
    Threads = 8,
    /// The first rank in each leaf of the tree, as `u32`, and the number of bodies at the end.
    Leaves = 9,
    /// Two `u32`: the number of clusters of two bodies or more, and the number of bodies of the largest. Then for each
    /// body, as `u8`, 0 if it touches none, else a number that its cluster shares.
    Clusters = 10,
    /// Two `f32`: the lowest and the highest of all third coordinates. Then for each body, as `u16`, which fraction of
    /// the way its own lies. With this section, boxes of the tree are `f32` x6.
    Heights = 11,
}

impl Section {
    const ALL: [Self; 11] = [
        Self::Places,
        Self::Touched,
        Self::Contacts,
        Self::Pairs,
        Self::Order,
        Self::Boxes,
        Self::Cells,
        Self::Threads,
        Self::Leaves,
        Self::Clusters,
        Self::Heights,
    ];
}

/// One encoding, shared by all viewers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Picture {
    pub(crate) version: u32,
    pub(crate) radii: Bytes,
    pub(crate) frame: Bytes,
}

/// The sections of a frame, first to last; the iterator ends where a frame is damaged.
#[derive(Debug, Clone)]
pub struct Sections<'f>(&'f [u8]);

impl<'f> Sections<'f> {
    /// Returns the sections of a frame, which may be damaged.
    #[must_use]
    pub fn of(frame: &'f [u8]) -> Self {
        Self(frame.get(HEADER..).unwrap_or_default())
    }
}

impl<'f> Iterator for Sections<'f> {
    type Item = (Section, &'f [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, rest) = self.0.split_first_chunk::<4>()?;
        let (&len, rest) = rest.split_first_chunk::<4>()?;
        let kind = Section::ALL.into_iter().find(|&known| known as u32 == u32::from_le_bytes(kind))?;
        let len = u32::from_le_bytes(len) as usize;
        let bytes = rest.get(..len)?;
        self.0 = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, bytes))
    }
}

/// What a frame tells beside its bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meters {
    pub(crate) number: u64,
    /// The time of the step without the search.
    pub(crate) rest: Duration,
    /// Frames a second of the simulation.
    pub(crate) rate: f32,
}

/// What is kept from one encoding to the next.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    scratch: Scratch,
    /// Radii or sides as they were sent last.
    sizes: Vec<f32>,
    sent: Picture,
    contacts: Vec<u8>,
    clusters: Clusters,
    finders: Finders,
    took: Duration,
}

impl Encoder {
    /// Encodes a frame. O(n + pairs), and the boxes asked for.
    pub(crate) fn encode(&mut self, view: View<'_>, shown: &Shown<'_>, wants: Wants, meters: Meters) -> Picture {
        let start = Instant::now();
        let mut scratch = std::mem::take(&mut self.scratch);
        let frame = self.frame(view, scratch.draw(view), shown, wants, meters);
        self.scratch = scratch;
        self.sent.frame = frame.into();
        self.took = start.elapsed();
        self.sent.clone()
    }

    fn frame(&mut self, view: View<'_>, drawn: Drawn<'_>, shown: &Shown<'_>, wants: Wants, meters: Meters) -> Vec<u8> {
        self.note_sizes(view, drawn.sizes);
        self.count_contacts(view.len(), shown.pairs);
        let tree = shown.tree_of(view);
        let levels = match tree {
            Some(Tree::Plane(tree)) => tree.levels().len(),
            Some(Tree::Space(tree)) => tree.levels().len(),
            None => 0,
        };
        let mut frame = self.header(view.len(), drawn.extent, levels, shown, meters);
        section(&mut frame, Section::Places, |out| places(drawn, out));
        section(&mut frame, Section::Touched, |out| bits(&self.contacts, out));
        if wants.contacts() {
            section(&mut frame, Section::Contacts, |out| out.extend_from_slice(&self.contacts));
        }
        if wants.pairs() {
            let ids = shown.pairs.as_flattened().iter().flat_map(|id| id.to_le_bytes());
            section(&mut frame, Section::Pairs, |out| out.extend(ids));
        }
        if wants.clusters() {
            let count = self.clusters.join(view.len(), shown.pairs);
            section(&mut frame, Section::Clusters, |out| {
                out.extend([count.clusters, count.largest].map(u32::to_le_bytes).as_flattened());
                out.extend(self.clusters.shades());
            });
        }
        if let Some(z) = shown.heights_of(view) {
            section(&mut frame, Section::Heights, |out| heights(z, out));
        }
        match tree {
            Some(Tree::Plane(tree)) => tell_tree(tree, wants, &mut frame),
            Some(Tree::Space(tree)) => tell_tree(tree, wants, &mut frame),
            None => {}
        }
        if let Some(tree) = tree.filter(|_| wants.threads()) {
            section(&mut frame, Section::Threads, |out| out.extend(self.finders.of(view, tree)));
        }
        if let Some(system) = shown.cells.filter(|_| wants.cells()) {
            section(&mut frame, Section::Cells, |out| system.for_each_cell(&mut |cell| tell_box(cell, out)));
        }
        frame
    }

    /// Sets the pool in which pairs are found again, to tell which thread finds each.
    pub(crate) fn set_pool(&mut self, pool: Arc<ThreadPool>) {
        self.finders.pool = Some(pool);
    }

    /// Encodes radii or sides if they differ from those sent last.
    fn note_sizes(&mut self, view: View<'_>, sizes: &[f32]) {
        let kind = if matches!(view, View::Boxes(_)) { SIDES } else { RADII };
        let is_same = self.sent.radii.first().is_some_and(|&first| u32::from(first) == kind);
        if is_same && self.sizes == sizes {
            return;
        }
        self.sizes.clear();
        self.sizes.extend_from_slice(sizes);
        self.sent.version = self.sent.version.wrapping_add(1).max(1);
        let mut message = Vec::with_capacity(12 + 4 * sizes.len());
        for word in [kind, view.len() as u32, self.sent.version] {
            message.extend(word.to_le_bytes());
        }
        message.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
        self.sent.radii = message.into();
    }

    fn count_contacts(&mut self, n: usize, pairs: &[[u32; 2]]) {
        self.contacts.clear();
        self.contacts.resize(n, 0);
        for &id in pairs.as_flattened() {
            // Pairs of other sets may have ids beyond `n`.
            if let Some(count) = self.contacts.get_mut(id as usize) {
                *count = count.saturating_add(1);
            }
        }
    }

    fn header(&self, n: usize, centers: Aabb<2>, levels: usize, shown: &Shown<'_>, meters: Meters) -> Vec<u8> {
        let a_body = |count: f64| (count / n.max(1) as f64) as f32;
        let mut frame = Vec::with_capacity(HEADER + 5 * n + 64);
        for word in [FRAME, n as u32, self.sent.version, levels as u32] {
            frame.extend(word.to_le_bytes());
        }
        frame.extend((meters.number as f64).to_le_bytes());
        tell_box(centers, &mut frame);
        for time in shown.times.into_iter().chain([meters.rest, self.took]) {
            frame.extend((time.as_secs_f32() * 1e3).to_le_bytes());
        }
        frame.extend((shown.pairs.len() as u32).to_le_bytes());
        for meter in [a_body(shown.tests as f64), a_body(shown.bytes as f64), meters.rate] {
            frame.extend(meter.to_le_bytes());
        }
        frame
    }
}

fn tell_tree<const D: usize>(tree: &LinearTree<D>, wants: Wants, frame: &mut Vec<u8>) {
    if wants.order() {
        section(frame, Section::Order, |out| out.extend(tree.ids().flat_map(u32::to_le_bytes)));
    }
    if wants.leaves() {
        section(frame, Section::Leaves, |out| {
            out.extend(tree.leaf_starts().iter().flat_map(|rank| rank.to_le_bytes()))
        });
    }
    for level in wants.levels() {
        let Some(boxes) = tree.levels().get(level) else { continue };
        section(frame, Section::Boxes, |out| {
            out.extend((level as u32).to_le_bytes());
            (0..boxes.len()).for_each(|i| tell_box(boxes.aabb(i), out));
        });
    }
}

/// Appends a box: lower corner, upper corner.
fn tell_box<const D: usize>(aabb: Aabb<D>, out: &mut Vec<u8>) {
    out.extend(aabb.lo.iter().chain(&aabb.hi).flat_map(|border| border.to_le_bytes()));
}

/// Appends a section.
fn section(frame: &mut Vec<u8>, kind: Section, fill: impl FnOnce(&mut Vec<u8>)) {
    frame.extend((kind as u32).to_le_bytes());
    let before = frame.len() + 4;
    frame.extend([0; 4]);
    fill(frame);
    let len = (frame.len() - before) as u32;
    frame[before - 4..before].copy_from_slice(&len.to_le_bytes());
    frame.resize(frame.len().next_multiple_of(4), 0);
}

fn places(Drawn { centers: [x, y], extent, .. }: Drawn<'_>, out: &mut Vec<u8>) {
    let [of_x, of_y] = [0, 1].map(|axis| fraction([extent.lo[axis], extent.hi[axis]]));
    let first = out.len();
    out.resize(first + 4 * x.len(), 0);
    let (places, _) = out[first..].as_chunks_mut::<4>();
    for ((place, &x), &y) in places.iter_mut().zip(x).zip(y) {
        *place = (u32::from(of_x(x)) | u32::from(of_y(y)) << 16).to_le_bytes();
    }
}

fn heights(z: &[f32], out: &mut Vec<u8>) {
    let ends = ends(z);
    let of_z = fraction(ends);
    out.extend(ends.map(f32::to_le_bytes).as_flattened());
    out.extend(z.iter().flat_map(|&z| of_z(z).to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use jostle::{Circles, PairFinder};
    use proptest::prelude::*;

    use super::{Encoder, HEADER, Meters, Section, Sections, Wants};
    use crate::message::Message;

    fn all() -> Wants {
        let Some(Message::Want(wants)) =
            Message::read("want contacts pairs order boxes 0 boxes 7 cells threads leaves clusters")
        else {
            panic!()
        };
        wants
    }

    #[test]
    fn radii_are_encoded_once() {
        let (x, y, mut radii) = ([0.0, 1.5, 9.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.5]);
        let (mut finder, mut encoder) = (PairFinder::new(), Encoder::default());
        let mut encode = |radii: &[f32; 3]| {
            let view = Circles::new(&x, &y, radii);
            encoder.encode(view.into(), &(&finder.find(view).unwrap()).into(), Wants::default(), Meters::default())
        };
        let (first, second) = (encode(&radii), encode(&radii));
        assert_eq!((first.version, second.version), (1, 1));
        radii[2] = 4.0;
        let third = encode(&radii);
        assert_eq!(third.version, 2);
        assert_eq!(third.radii[20..24], 4.0_f32.to_le_bytes());
        assert_eq!(third.radii.len(), 12 + 4 * 3);
        // Header, places with 4 bytes a body, touched bits; each section with its 8.
        assert_eq!(second.frame.len(), HEADER + 8 + 4 * 3 + 8 + 4);
    }

    #[test]
    fn an_empty_world_and_one_point_can_be_encoded() {
        let (mut finder, mut encoder) = (PairFinder::new(), Encoder::default());
        for n in [0, 2] {
            let (x, y) = (vec![3.0; n], vec![4.0; n]);
            let view = Circles::new(&x, &y, 0.0);
            let picture = encoder.encode(view.into(), &(&finder.find(view).unwrap()).into(), all(), Meters::default());
            let places = Sections::of(&picture.frame).find(|section| section.0 == Section::Places).unwrap().1;
            assert_eq!(places, vec![0; 4 * n]);
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back(bodies in prop::collection::vec((-1e3_f32..1e3, -1e3_f32..1e3, 0_f32..90.0), 1..60)) {
            let column = |of: fn(&(f32, f32, f32)) -> f32| bodies.iter().map(of).collect::<Vec<_>>();
            let (x, y, radii) = (column(|b| b.0), column(|b| b.1), column(|b| b.2));
            let view = Circles::new(&x, &y, &radii);
            let (mut finder, mut encoder) = (PairFinder::new(), Encoder::default());
            let found = finder.find(view).unwrap();
            let picture = encoder.encode(view.into(), &(&found).into(), all(), Meters { number: 9, ..Meters::default() });
            let frame = &picture.frame;
            let word = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().unwrap());
            prop_assert_eq!((word(0), word(4), word(64)), (1, bodies.len() as u32, found.pairs().len() as u32));
            let lo = [24, 28].map(|at| f32::from_bits(word(at)));
            let hi = [32, 36].map(|at| f32::from_bits(word(at)));
            let sections: Vec<_> = Sections::of(frame).collect();
            prop_assert_eq!(sections.len(), 9);
            for (id, place) in sections[0].1.chunks(4).enumerate() {
                for axis in 0..2 {
                    let part = u16::from_le_bytes([place[2 * axis], place[2 * axis + 1]]);
                    let read = lo[axis] + f32::from(part) / 65_535.0 * (hi[axis] - lo[axis]);
                    // Half of a step, and what f32 rounds.
                    let step = (hi[axis] - lo[axis]) / 65_535.0;
                    prop_assert!((read - view.center(id)[axis]).abs() <= 0.51 * step + 2e-3);
                }
            }
            for id in 0..bodies.len() {
                let contacts = found.pairs().iter().flatten().filter(|&&touching| touching as usize == id).count();
                prop_assert_eq!(sections[1].1[id / 8] >> (id % 8) & 1 == 1, contacts > 0);
                prop_assert_eq!(usize::from(sections[2].1[id]), contacts);
            }
            let words = |bytes: &[u8]| bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>();
            let of = |kind| sections.iter().find(|section| section.0 == kind).unwrap().1;
            prop_assert_eq!(words(of(Section::Pairs)), found.pairs().concat());
            prop_assert_eq!(words(of(Section::Order)), found.rank_to_id().collect::<Vec<_>>());
            prop_assert_eq!(words(of(Section::Leaves)), found.tree().leaf_starts());
            prop_assert_eq!(of(Section::Boxes).len(), 4 + 16 * found.tree().levels()[0].len());
            // One thread searches so few bodies. A body that touches another is in a cluster.
            let threads: Vec<_> = sections[2].1.iter().map(|&contacts| u8::from(contacts > 0)).collect();
            prop_assert_eq!(of(Section::Threads), &threads);
            let clusters = &of(Section::Clusters)[8..];
            prop_assert!(clusters.iter().map(|&cluster| u8::from(cluster > 0)).eq(threads.iter().copied()));
            prop_assert!(found.pairs().iter().all(|&[a, b]| clusters[a as usize] == clusters[b as usize]));
        }

        #[test]
        fn damaged_frames_have_fewer_sections(frame in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Sections::of(&frame).count() <= 300 / 8);
        }
    }
}
