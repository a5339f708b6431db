//! The lists of pairs of each two sets that meet, one after the other: each changes by itself, and is copied to its place among all.

use jostle_core::{Isa, Workers};

use crate::coherent::candidates::Candidates;
use crate::coherent::course::Come;
use crate::coherent::current::Test;
use crate::coherent::live::Live;
use crate::join::hits::PairList;
use crate::pairs::ranks::Ranks;

/// Pairs that one task copies.
const COPIED: usize = 1 << 13;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<(Live, PairList)>);

impl Parts {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(live, pairs)| live.bytes() + pairs.bytes()).sum::<usize>()
            + self.0.capacity() * size_of::<(Live, PairList)>()
    }

    /// Takes new candidates, bodies having come so far. Whether they can be numbered.
    pub(super) fn begin<const D: usize>(
        &mut self,
        Candidates { pairs, meetings, ends, .. }: &Candidates<D>,
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) -> bool {
        self.0.resize_with(meetings.len().max(self.0.len()), Default::default);
        let begins = core::iter::once(0).chain(ends.iter().copied());
        let of_meetings = begins.zip(ends).map(|(begin, &end)| &pairs.pairs()[begin..end]).zip(meetings);
        self.0
            .iter_mut()
            .zip(of_meetings)
            .all(|((live, _), (pairs, &sets))| live.begin((pairs, sets), test, come, workers))
    }

    /// Lists new candidates that touch, or changes the lists, if bodies have come so far; then all pairs, and where those of each two sets end.
    pub(super) fn list<const D: usize>(
        &mut self,
        (meetings, ranks): (&[[u32; 2]], &Ranks),
        (test, come): (&Test<'_, D>, Option<(Come, f64, Isa)>),
        (out, ends): (&mut PairList, &mut [usize]),
        workers: Workers<'_>,
    ) {
        for ((live, list), &sets) in self.0.iter_mut().zip(meetings) {
            if let Some(come) = come {
                live.change((sets, ranks, list), test, come, workers);
            } else {
                list.clear();
                live.list(list, ranks, workers);
            }
        }
        let mut end = 0;
        for ((_, list), slot) in self.0.iter().zip(&mut *ends) {
            end += list.pairs().len();
            *slot = end;
        }
        out.set_len(end);
        let mut rest = out.pairs_mut();
        for (_, list) in &self.0[..meetings.len()] {
            let part;
            (part, rest) = rest.split_at_mut(list.pairs().len());
            workers.fill_blocks("parts", part, COPIED, |first, block| {
                block.copy_from_slice(&list.pairs()[first..][..block.len()]);
            });
        }
    }
}
