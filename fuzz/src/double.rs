//! Bodies in `f64`: the pairs are those of a double loop, and what is refused is what is documented.

use jostle::{Bodies, PairFinder, Set};

use crate::layering::{Layering, meet};
use crate::number::{Number, Number64};
use crate::ways::{agreed, ascending, pairs_where};

/// |coordinate| + radius may reach 2^500.
const LIMIT: f64 = f64::from_bits((1023 + 500) << 52);

/// Bodies that a double loop is quick with.
const MOST: usize = 300;

/// More bodies than a search in a pool leaves to one thread.
const COMPANY: usize = 8_200;

arbitrary! {
    /// Some bodies in a row, each a step from the last.
    #[derive(Debug, Clone, Copy)]
    struct Row {
        center: [Number64; 3],
        step: [i8; 3],
        radius: Number64,
        more: u8,
    }
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        rows: Vec<Row>,
        /// Whether numbers that no search accepts are replaced.
        sound: bool,
        /// Where all bodies lie, and how large all is.
        origin: Option<Number64>,
        scale: Option<i16>,
        margin: Option<Number>,
        layering: Option<Layering>,
        in_space: bool,
        isa: u8,
        company: u8,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

impl Input {
    fn value(&self, number: Number64) -> f64 {
        let value = number.value();
        if self.sound && !value.is_finite() { 1.0 } else { value }
    }

    fn bodies<const D: usize>(&self) -> (Vec<[f64; D]>, Vec<f64>) {
        let origin = self.origin.map_or(0.0, |origin| self.value(origin));
        let scale = 2.0_f64.powi(i32::from(self.scale.unwrap_or(0)) % 400);
        let limited = |x: f64| if self.sound { x.clamp(-LIMIT / 4.0, LIMIT / 4.0) } else { x };
        let (mut centers, mut radii) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let radius = self.value(row.radius) * scale;
            let radius = limited(if self.sound { radius.abs() } else { radius });
            for i in 0..=row.more % 32 {
                let step = |axis: usize| f64::from(i) * f64::from(row.step[axis]) * radius;
                let at = |axis: usize| limited(origin + self.value(row.center[axis]) * scale + step(axis));
                centers.push(core::array::from_fn(at));
                radii.push(radius);
            }
        }
        centers.truncate(MOST);
        radii.truncate(MOST);
        if self.in_company() {
            let at = |i: usize, axis: usize| origin + (i / [1, 64, 4096][axis] % 64) as f64 * scale;
            centers.extend((0..COMPANY).map(|i| core::array::from_fn(|axis| limited(at(i, axis)))));
            radii.resize(centers.len(), 0.0);
        }
        (centers, radii)
    }

    fn in_company(&self) -> bool {
        self.company % 64 == 63
    }
}

fn check<const D: usize>(input: &Input) {
    let (centers, radii) = input.bodies::<D>();
    let columns: [Vec<f64>; D] = core::array::from_fn(|axis| centers.iter().map(|center| center[axis]).collect());
    let margin = input.margin.map_or(0.0, |margin| margin.value().into());
    let view = Bodies::from_slices(columns.each_ref().map(Vec::as_slice), &radii).with_margin(margin);
    let layered = input.layering.as_ref().map(|layering| layering.of(radii.len()));
    let mut set = Set::from(view);
    if let Some(layered) = &layered {
        set = set.layers(layered.layers(radii.len()));
    }
    let mut finder = PairFinder::new();
    let found = agreed(&mut finder, input.isa, |search| search.find(set).map(|found| found.pairs().to_vec()).ok());
    let reach = |id: usize| view.center(id).iter().all(|x| x.abs() + view.radius(id) <= LIMIT);
    let fine = |id: usize| radii[id].is_finite() && radii[id] >= 0.0 && reach(id);
    let fits = layered.as_ref().is_none_or(|layered| layered.fits(radii.len()));
    let accepted = margin.is_finite() && margin >= 0.0 && fits && (0..radii.len()).all(fine);
    assert_eq!(found.is_some(), accepted, "refused, or not, against what is documented");
    let Some(pairs) = found.filter(|_| !input.in_company()) else { return };
    let met = |a: usize, b: usize| meet([layered.as_ref(); 2], [a as u32, b as u32]);
    let expected = pairs_where(radii.len(), |a, b| met(a, b) && overlap(view, a, b));
    assert!(ascending(pairs) == expected, "other pairs than the double loop");
}

/// The definition.
fn overlap<const D: usize>(view: Bodies<'_, D, f64>, a: usize, b: usize) -> bool {
    let (p, q) = (view.center(a), view.center(b));
    let distance2 = (0..D).map(|axis| q[axis] - p[axis]).fold(0.0, |sum, d| sum + d * d);
    let s = view.radius(a) + view.radius(b);
    distance2 <= s * s
}
