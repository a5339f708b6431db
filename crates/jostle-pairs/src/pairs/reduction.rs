//! A tree reduction: a fold over blocks that merges the results of neighbouring halves. The order depends on the number
//! of blocks alone.

use core::ops::Range;
use std::sync::Mutex;

use jostle_core::Workers;

/// Halvings after which a part of the blocks is one task: enough parts for the workers of a large machine to end at
/// about the same time, few enough to be merged by one of them.
const PART_DEPTH: u32 = 8;

const PARTS: usize = 1 << PART_DEPTH;

/// Folds `0..blocks`. `fold_block` gets ranges of one block each, or one empty range when there are no blocks.
pub(crate) fn fold<A: Send>(
    workers: Workers<'_>,
    blocks: usize,
    fold_block: &(impl Fn(Range<usize>) -> A + Sync),
    merge: &(impl Fn(A, A) -> A + Sync),
) -> A {
    if workers.count() == 1 {
        return fold_part(0..blocks, fold_block, merge);
    }
    let slots: Vec<Mutex<Option<A>>> = (0..PARTS).map(|_| Mutex::default()).collect();
    workers.run("fold", PARTS, |number| {
        let folded = part(0..blocks, number).map(|blocks| fold_part(blocks, fold_block, merge));
        if let Ok(mut slot) = slots[number].lock() {
            *slot = folded;
        }
    });
    merge_parts(&mut slots.into_iter().map(|slot| slot.into_inner().ok().flatten()), PARTS, merge)
        .unwrap_or_else(|| fold_block(0..0))
}

fn halves(blocks: Range<usize>) -> (Range<usize>, Range<usize>) {
    let middle = blocks.start + blocks.len() / 2;
    (blocks.start..middle, middle..blocks.end)
}

fn fold_part<A>(blocks: Range<usize>, fold_block: &impl Fn(Range<usize>) -> A, merge: &impl Fn(A, A) -> A) -> A {
    if blocks.len() <= 1 {
        return fold_block(blocks);
    }
    let (left, right) = halves(blocks);
    let left = fold_part(left, fold_block, merge);
    merge(left, fold_part(right, fold_block, merge))
}

/// The blocks of part `number`: each bit, the highest first, takes a half. A range that cannot be halved any more is
/// the part whose other bits are zero; a number with other bits set has no part.
fn part(blocks: Range<usize>, number: usize) -> Option<Range<usize>> {
    let mut blocks = blocks;
    for bit in (0..PART_DEPTH).rev() {
        if blocks.len() <= 1 {
            let left = number & ((2 << bit) - 1);
            return (left == 0).then_some(blocks);
        }
        let (left, right) = halves(blocks);
        blocks = if number >> bit & 1 == 0 { left } else { right };
    }
    Some(blocks)
}

/// Merges those of the next `len` parts that exist; `len` is a power of two.
fn merge_parts<A>(parts: &mut impl Iterator<Item = Option<A>>, len: usize, merge: &impl Fn(A, A) -> A) -> Option<A> {
    if len == 1 {
        return parts.next().flatten();
    }
    let left = merge_parts(parts, len / 2, merge);
    match (left, merge_parts(parts, len / 2, merge)) {
        (Some(left), Some(right)) => Some(merge(left, right)),
        (left, right) => left.or(right),
    }
}

#[cfg(test)]
mod tests {
    use super::{PARTS, fold, halves};
    use core::ops::Range;
    use jostle_core::Workers;
    use rayon::ThreadPoolBuilder;

    /// The grouping in full, as brackets.
    fn brackets(blocks: Range<usize>) -> String {
        if blocks.len() <= 1 {
            return format!("{blocks:?}");
        }
        let (left, right) = halves(blocks);
        format!("({} {})", brackets(left), brackets(right))
    }

    #[test]
    fn grouping_is_that_of_halving_on_any_threads() {
        let merge = |left: String, right: String| format!("({left} {right})");
        let block = |blocks: Range<usize>| format!("{blocks:?}");
        let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        for blocks in (0..70).chain([PARTS - 1, PARTS, PARTS + 1, 2 * PARTS - 1, 5 * PARTS + 3]) {
            let expected = brackets(0..blocks);
            assert_eq!(fold(Workers::Serial, blocks, &block, &merge), expected);
            assert_eq!(pool.install(|| fold(Workers::Rayon, blocks, &block, &merge)), expected);
        }
    }
}
