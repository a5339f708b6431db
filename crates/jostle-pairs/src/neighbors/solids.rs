//! Measures neighbours some of which are boxes or capsules, each at the image at which its pair was found.

use jostle_core::Workers;
use jostle_core::axes::Axes;
use jostle_sets::prepare::job::Job;
use jostle_sets::proxy::Exact;

use crate::neighbors::NeighborLists;
use crate::neighbors::extras::Block;
use crate::neighbors::measure::Neighbors;
use crate::neighbors::numbers::Numbers;
use crate::neighbors::told::ToldOf;

impl NeighborLists {
    /// Sets all wanted columns. `told` says by which job a neighbour was found.
    pub(super) fn measure_solids<const D: usize>(
        &mut self,
        exact: &Exact<'_, D>,
        (told, numbers): (ToldOf<'_>, &Numbers),
        workers: Workers<'_>,
    ) {
        self.measure_blocks(workers, |rows, out| measure_block(exact, (told, numbers), (&rows, out)));
    }
}

fn measure_block<const D: usize>(
    exact: &Exact<'_, D>,
    (told, numbers): (ToldOf<'_>, &Numbers),
    (rows, mut out): (&Neighbors<'_>, Block<'_, D>),
) {
    let mut id = rows.first_row();
    for at in rows.range.clone() {
        while at >= rows.offsets[id + 1] {
            id += 1;
        }
        let ((job, turns), pair) = (told.job(told.numbers[at]), [id as u32, rows.neighbors[at]]);
        let ([a, b], first) = (if turns { [pair[1], pair[0]] } else { pair }, numbers.first(job.sets));
        let [a, b] = [a - first[0], b - first[1]];
        let steps = exact.steps(job.sets, job.image, a, b);
        let (distance2, apart) = seen(exact, (job, steps), [a, b]);
        let (steps, apart) = if turns { (steps.axes(|step| -step), turned(apart)) } else { (steps, apart) };
        let (at, Block { distances2, distances2_f64, image_shifts, vectors }) = (at - rows.range.start, &mut out);
        distances2.get_mut(at).into_iter().for_each(|slot| *slot = distance2 as f32);
        distances2_f64.get_mut(at).into_iter().for_each(|slot| *slot = distance2);
        image_shifts.get_mut(at).into_iter().for_each(|slot| *slot = steps);
        vectors.get_mut(at).into_iter().for_each(|slot| *slot = apart);
    }
}

/// The squared distance of the second body of a pair, moved by `steps` of each vector, from the first, and the vector
/// that leads there, as the predicate has them.
fn seen<const D: usize>(exact: &Exact<'_, D>, (job, steps): (Job, [i32; D]), [a, b]: [u32; 2]) -> (f64, [f64; D]) {
    let shift = exact.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)));
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
