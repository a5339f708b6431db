//! Measures neighbours of a search with boxes or capsules, in rows that were made of pairs: each at the image at which
//! its pair was found.

use jostle_core::Workers;
use jostle_core::axes::Axes;
use jostle_sets::prepare::job::JobsOf;
use jostle_sets::proxy::Exact;

use crate::neighbors::NeighborLists;
use crate::neighbors::extras::Block;
use crate::neighbors::measure::{Neighbors, set_one};

impl NeighborLists {
    /// Sets all wanted columns. `told` says which of `pairs` each neighbour is of. The second body of a pair is the one
    /// at the image.
    pub(super) fn measure_solids<const D: usize>(
        &mut self,
        exact: &Exact<'_, D>,
        (of, pairs): (JobsOf<'_>, &[[u32; 2]]),
        told: &[u64],
        workers: Workers<'_>,
    ) {
        let seen = |number: usize, swaps: bool| seen(exact, (of, number), pairs[number], swaps);
        self.measure_blocks(workers, |rows, out| measure_block(&rows, (exact.sets.len(), told, pairs), &seen, out));
    }
}

/// By how many of each vector the second of two bodies is moved to where it touches, the vector from core to core, and
/// its square.
type Seen<const D: usize> = ([i32; D], ([f64; D], f64));

fn measure_block<const D: usize>(
    rows: &Neighbors<'_>,
    (sets, told, pairs): (usize, &[u64], &[[u32; 2]]),
    seen: &dyn Fn(usize, bool) -> Seen<D>,
    mut out: Block<'_, D>,
) {
    let mut id = rows.first_row();
    for at in rows.range.clone() {
        while at >= rows.offsets[id + 1] {
            id += 1;
        }
        let number = told[at];
        let [a, b] = pairs[number as usize];
        // Of a body that meets itself, each pair stands in its row twice: as it was found, and seen from the other image.
        let is_again = a == b && at > rows.offsets[id] && told[at - 1] == number;
        let turns = sets == 1 && (is_again || id as u32 != a);
        let (steps, (apart, distance2)) = seen(number as usize, sets == 1 && b < a);
        let (steps, apart) = if turns { (steps.axes(|step| -step), apart.axes(|x| 0.0 - x)) } else { (steps, apart) };
        set_one(&mut out, at - rows.range.start, steps, apart, distance2);
    }
}

/// How the second body of a pair is seen from the first. `swaps`: the predicate takes the second first.
fn seen<const D: usize>(
    exact: &Exact<'_, D>,
    (of, number): (JobsOf<'_>, usize),
    [a, b]: [u32; 2],
    swaps: bool,
) -> Seen<D> {
    let job = of.jobs[of.ends.partition_point(|&end| end <= number)];
    let steps = exact.steps(job.sets, job.image, a, b);
    let shift = exact.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)));
    let [one, other] = [exact.core(job.sets[0], a), exact.core(job.sets[1], b)];
    if swaps {
        let (distance2, apart) = other.apart(&one, shift.axes(|x| -x));
        return (steps, (apart.axes(|x| 0.0 - x), distance2));
    }
    let (distance2, apart) = one.apart(&other, shift);
    (steps, (apart, distance2))
}
