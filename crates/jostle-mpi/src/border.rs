//! Finds which bodies of a rank other ranks must know, and which may meet bodies of other ranks.

use crate::cell::Cell;
use crate::cover::Covered;
use crate::neighborhood::Foreign;
use crate::number::Number;
use crate::share::Share;
use crate::survey::{BLOCK, Copied, Survey, class_of};

/// Which pairs of bodies of two ranks a rank sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    /// One rank sees each pair: the rank of the body of the lesser class of size (radii in powers of two). Where both
    /// bodies are of one class, the lesser rank sees the pair; it has the lesser code once a decomposition has led
    /// bodies to their owners. So giants are sent to dust, and never dust to giants.
    Half,
    /// Both ranks see each pair: each rank knows all bodies that its own may touch.
    Full,
}

impl Reach {
    /// Returns whether the rank of the first body sees its pairs with the second. Each body is given by its class and
    /// its rank.
    #[inline]
    pub(crate) fn sees(self, first: (u8, u32), second: (u8, u32)) -> bool {
        match self {
            Self::Half => first < second,
            Self::Full => true,
        }
    }
}

/// Bodies of a set near those of other ranks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Border {
    /// For each rank that must know bodies of this rank: their positions, ascending.
    pub(crate) sends: Vec<(u32, Vec<u32>)>,
    /// Positions of the bodies that may have a pair which this rank sees, ascending.
    pub(crate) own: Vec<u32>,
}

impl Border {
    pub(crate) fn new<const D: usize, T: Number>(
        share: &Share<'_, D, T>,
        cell: Option<&Cell<D>>,
        survey: &Survey<D>,
        greatest: f64,
        (rank, reach): (u32, Reach),
        foreign: &[Foreign<D>],
    ) -> Self {
        let mut border = Self::default();
        let mut copied = Copied::EMPTY;
        let mut near: Vec<&Covered<D>> = Vec::new();
        for other in foreign {
            let mut sent = Vec::new();
            for (number, block) in survey.blocks.iter().enumerate() {
                if !block.span.overlaps(&other.whole) {
                    continue;
                }
                near.clear();
                near.extend(other.boxes.iter().filter(|covered| covered.span.overlaps(&block.span)));
                if near.is_empty() {
                    continue;
                }
                copied.read_within(share, cell, number);
                for ((span, radius), at) in copied.each().zip((number * BLOCK) as u32..) {
                    let mine = (class_of(radius, greatest), rank);
                    let (mut is_sent, mut sees) = (false, false);
                    for covered in near.iter().filter(|covered| covered.span.overlaps(&span)) {
                        let theirs = (covered.class, other.rank);
                        is_sent |= reach.sees(theirs, mine);
                        sees |= reach.sees(mine, theirs);
                    }
                    if is_sent {
                        sent.push(at);
                    }
                    if sees {
                        border.own.push(at);
                    }
                }
            }
            if !sent.is_empty() {
                border.sends.push((other.rank, sent));
            }
        }
        border.own.sort_unstable();
        border.own.dedup();
        border
    }
}
