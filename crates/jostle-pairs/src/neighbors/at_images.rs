//! Measures neighbours in rows that were made of pairs, each at the image at which its pair was found: boxes and
//! capsules, and bodies that may touch at several images.

use jostle_core::Workers;
use jostle_core::axes::Axes;
use jostle_sets::prepare::job::{Job, JobsOf};
use jostle_sets::proxy::Exact;

use crate::neighbors::NeighborLists;
use crate::neighbors::extras::Block;
use crate::neighbors::measure::{Neighbors, set_one};

impl NeighborLists {
    /// Sets all wanted columns. `told` says which of `pairs` each neighbour is of. The second body of a pair is the one
    /// at the image.
    pub(super) fn measure_at_images<const D: usize>(
        &mut self,
        exact: &Exact<'_, D>,
        (of, pairs): (JobsOf<'_>, &[[u32; 2]]),
        told: &[u64],
        workers: Workers<'_>,
    ) {
        self.measure_blocks(workers, |rows, out| measure_block(exact, (of, pairs), (&rows, told), out));
    }
}

fn measure_block<const D: usize>(
    exact: &Exact<'_, D>,
    (of, pairs): (JobsOf<'_>, &[[u32; 2]]),
    (rows, told): (&Neighbors<'_>, &[u64]),
    mut out: Block<'_, D>,
) {
    let (mut id, one_set) = (rows.first_row(), exact.sets.len() == 1);
    for at in rows.range.clone() {
        while at >= rows.offsets[id + 1] {
            id += 1;
        }
        let number = told[at] as usize;
        let ([a, b], job) = (pairs[number], of.jobs[of.ends.partition_point(|&end| end <= number)]);
        // Of a body that meets itself, each pair stands in its row twice: as it was found, and seen from the other image.
        let is_again = a == b && at > rows.offsets[id] && told[at - 1] == told[at];
        let turns = one_set && (is_again || id as u32 != a);
        let (steps, (distance2, apart)) = (exact.steps(job.sets, job.image, a, b), seen(exact, job, [a, b]));
        let (steps, apart) = if turns { (steps.axes(|step| -step), turned(apart)) } else { (steps, apart) };
        set_one(&mut out, at - rows.range.start, steps, apart, distance2);
    }
}

/// How far the second body of a pair is from the first, and the vector that leads there, as the predicate has them.
fn seen<const D: usize>(exact: &Exact<'_, D>, job: Job, [a, b]: [u32; 2]) -> (f64, [f64; D]) {
    if !exact.has_solids() {
        return exact.apart(job.sets, job.image, a, b);
    }
    let cell = exact.cell.as_ref();
    let shift = cell.map_or([0.0; D], |cell| cell.shift(exact.steps(job.sets, job.image, a, b).axes(f64::from)));
    let [one, other] = [exact.core(job.sets[0], a), exact.core(job.sets[1], b)];
    if job.swaps(a, b) {
        let (distance2, apart) = other.apart(&one, shift.axes(|x| -x));
        return (distance2, turned(apart));
    }
    one.apart(&other, shift)
}

fn turned<const D: usize>(vector: [f64; D]) -> [f64; D] {
    vector.axes(|x| 0.0 - x)
}
