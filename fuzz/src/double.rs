//! Bodies in `f64`: the pairs are those of plain loops, and refusals are as documented.

use jostle::PairFinder;
use jostle_testkit::algebra::{Case, Columns, PlainRadii, PlainSet, PlainSpace};

use crate::layering::{Layering, fits};
use crate::number::{Number, Number64};
use crate::ways::hits_of;

/// |coordinate| + radius may reach 2^500.
const LIMIT: f64 = f64::from_bits((1023 + 500) << 52);

/// The most bodies without company: a double loop is quick with them.
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
        /// Where all bodies lie, and the scale of all lengths.
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
        let scale = self.scale();
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

    /// Company is left out where it would stand all in one place: each would be a pair with each.
    fn in_company(&self) -> bool {
        let origin = self.origin.map_or(0.0, |origin| self.value(origin));
        self.company % 64 == 63 && origin.abs() < 1e12 * self.scale()
    }

    fn scale(&self) -> f64 {
        2.0_f64.powi(i32::from(self.scale.unwrap_or(0)) % 400)
    }
}

fn check<const D: usize>(input: &Input) {
    let (centers, radii) = input.bodies::<D>();
    let columns: [Vec<f64>; D] = core::array::from_fn(|axis| centers.iter().map(|center| center[axis]).collect());
    let margin = input.margin.map_or(0.0, |margin| f64::from(margin.value()));
    // With a wide one, each of a company would be a pair with each.
    let margin = if input.in_company() && margin > input.scale() { input.scale() } else { margin };
    let layers = input.layering.as_ref().map(|layering| layering.of(radii.len()));
    let near = |id: usize| centers[id].iter().all(|x| x.abs() + radii[id] + margin <= LIMIT);
    let fine = |id: usize| radii[id].is_finite() && radii[id] >= 0.0 && near(id);
    let fit = layers.as_ref().is_none_or(|layers| fits(layers, radii.len()));
    let accepted = margin.is_finite() && margin >= 0.0 && fit && (0..radii.len()).all(fine);
    let bodies = Columns::Double { centers: columns, radii: PlainRadii::Each(radii), margin };
    let case = Case::within(PlainSet { layers, ..PlainSet::new(bodies) }, PlainSpace::Open);
    let mut finder = PairFinder::new();
    let found = hits_of(&case, &mut finder, input.isa, input.in_company());
    assert_eq!(found.is_some(), accepted, "refused, or not, against what is documented");
    if let (Some(found), false) = (found, input.in_company()) {
        case.assert_hits("in f64", found);
    }
}
