//! Finds which ranks may meet: ranks whose boxes overlap. Such ranks exchange their covers.

use crate::cell::Cell;
use crate::cover::{self, Covered};
use crate::span::Span;
use crate::transport::Transport;
use crate::wire;

/// The cover of another rank, at all images where it may meet this rank.
#[derive(Debug, Clone)]
pub(crate) struct Foreign<const D: usize> {
    pub(crate) rank: u32,
    pub(crate) boxes: Vec<Covered<D>>,
    /// The box that holds all of `boxes`.
    pub(crate) whole: Span<D>,
}

/// How boxes of one rank are compared with those of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric<'c, const D: usize> {
    pub(crate) cell: Option<&'c Cell<D>>,
    /// By how much centres may be off, on each axis, once they have been moved into the cell.
    pub(crate) pad: [f64; D],
}

impl<const D: usize> Metric<'_, D> {
    /// Returns all images of the boxes that may overlap `own`; `None` if there are too many to look at.
    fn images(&self, own: &Span<D>, boxes: &[Covered<D>]) -> Option<Vec<Covered<D>>> {
        let Some(cell) = self.cell else {
            return Some(boxes.iter().copied().filter(|covered| covered.span.overlaps(own)).collect());
        };
        let mut images = Vec::new();
        let own = own.moved([0.0; D], self.pad);
        for covered in boxes {
            let few = cell.each_shift(&own, &covered.span, |shift| {
                let span = covered.span.moved(shift, self.pad);
                if span.overlaps(&own) {
                    images.push(Covered { class: covered.class, span });
                }
            });
            if !few {
                return None;
            }
        }
        Some(images)
    }
}

fn joined<const D: usize>(boxes: &[Covered<D>]) -> Span<D> {
    let mut whole = Span::EMPTY;
    boxes.iter().for_each(|covered| whole.join(&covered.span));
    whole
}

/// Returns a box of all space for each class.
fn everything<const D: usize>(boxes: &[Covered<D>]) -> Vec<Covered<D>> {
    let all = Span { lo: [f64::NEG_INFINITY; D], hi: [f64::INFINITY; D] };
    let mut classes: Vec<u8> = boxes.iter().map(|covered| covered.class).collect();
    classes.dedup();
    classes.into_iter().map(|class| Covered { class, span: all }).collect()
}

/// Where the bodies of one set on this rank lie.
pub(crate) struct Own<'s, const D: usize> {
    /// A box for each class.
    pub(crate) totals: Vec<Covered<D>>,
    /// Makes the cover. Called only if another rank needs it.
    pub(crate) cover: &'s dyn Fn(&[Covered<D>]) -> Vec<Covered<D>>,
}

/// Returns, for each set, the covers of all ranks that may meet this one, of the set that it meets: itself if it is the
/// only set, else the other set. Collective.
pub(crate) fn meet<const D: usize>(
    ranks: &impl Transport,
    metric: Metric<'_, D>,
    sets: &[Own<'_, D>],
) -> Vec<Vec<Foreign<D>>> {
    let met_by = |set: usize| sets.len() - 1 - set;
    let own: Vec<Span<D>> = sets.iter().map(|set| joined(&set.totals)).collect();
    let all = ranks.all_gather(&write(sets.iter().map(|set| set.totals.clone())));
    let may_meet = |theirs: &[Vec<Covered<D>>]| {
        (0..sets.len()).any(|set| {
            let mine = &own[met_by(set)];
            !mine.is_empty() && metric.images(mine, &theirs[set]).is_none_or(|images| !images.is_empty())
        })
    };
    let others = (0..).zip(&all).filter(|&(rank, _)| rank != ranks.rank());
    let met: Vec<u32> = others.filter(|(_, bytes)| may_meet(&read(bytes, sets.len()))).map(|(rank, _)| rank).collect();
    let mut bytes = Vec::new();
    if !met.is_empty() {
        bytes = write(sets.iter().map(|set| (set.cover)(&set.totals)));
    }
    let (messages, ()) = ranks.exchange(met.iter().map(|&rank| (rank, bytes.clone())).collect(), || ());
    let mut foreign = vec![Vec::new(); sets.len()];
    for (rank, bytes) in messages {
        for (set, boxes) in read(&bytes, sets.len()).into_iter().enumerate() {
            let mine = met_by(set);
            if own[mine].is_empty() {
                continue;
            }
            let boxes = metric.images(&own[mine], &boxes).unwrap_or_else(|| everything(&boxes));
            if !boxes.is_empty() {
                foreign[mine].push(Foreign { rank, whole: joined(&boxes), boxes });
            }
        }
    }
    foreign
}

fn write<const D: usize>(sets: impl Iterator<Item = Vec<Covered<D>>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for covered in sets {
        wire::put(&mut bytes, &[covered.len() as u64]);
        wire::put(&mut bytes, &cover::to_numbers(&covered));
    }
    bytes
}

fn read<const D: usize>(bytes: &[u8], sets: usize) -> Vec<Vec<Covered<D>>> {
    let mut reader = wire::Reader(bytes);
    let read_set = |_| {
        let count: u64 = reader.one();
        let mut numbers = Vec::new();
        reader.take(count as usize * (1 + 2 * D), &mut numbers);
        cover::from_numbers(&numbers)
    };
    (0..sets).map(read_set).collect()
}
