//! Bodies in rows. Each body lies a step from the last.

use jostle::Bodies;
use jostle_testkit::oracle::LIMIT;
use jostle_testkit::{Scene, oracle};

use crate::number::Number;

/// The most bodies without company: a double loop is quick with them.
const MOST: usize = 300;

/// More bodies than a search in a pool leaves to one thread.
const COMPANY: usize = 8_200;

arbitrary! {
    /// Some bodies in a row.
    #[derive(Debug, Clone, Copy)]
    struct Row {
        center: [Number; 3],
        step: [i8; 3],
        radius: Number,
        more: u8,
    }
}

impl Row {
    /// Returns the bodies of the row. Their step, in units of the radius, keeps neighbours near touching.
    fn bodies<const D: usize>(self, sound: bool) -> impl Iterator<Item = ([f32; D], f32)> {
        let value = move |number: Number| if sound { number.sound() } else { number.value() };
        let radius = if sound { value(self.radius).abs() } else { value(self.radius) };
        let at = move |i: u8, axis: usize| {
            let at = value(self.center[axis]) + f32::from(i) * f32::from(self.step[axis]) * radius;
            if sound { at.clamp(-LIMIT / 2.0, LIMIT / 2.0) } else { at }
        };
        (0..=self.more % 32).map(move |i| (core::array::from_fn(|axis| at(i, axis)), radius))
    }
}

arbitrary! {
    /// Some rows of bodies, and whether more bodies stand beside them.
    #[derive(Debug)]
    pub(crate) struct Crowd {
        rows: Vec<Row>,
        /// Whether numbers that no search accepts are replaced.
        sound: bool,
        company: u8,
    }
}

impl Crowd {
    /// The bodies.
    pub(crate) fn scene<const D: usize>(&self) -> Scene<D> {
        let bodies = self.rows.iter().flat_map(|row| row.bodies(self.sound)).take(MOST);
        bodies.chain(company().take(if self.in_company() { COMPANY } else { 0 })).collect()
    }

    /// Returns whether there are so many bodies that several threads share the work, too many for a double loop. That
    /// is rare, since it is slow, and never so where the bytes have come to an end, since missing bytes read as 0.
    pub(crate) fn in_company(&self) -> bool {
        self.company % 64 == 63
    }
}

/// Points of a lattice, 64 a row.
fn company<const D: usize>() -> impl Iterator<Item = ([f32; D], f32)> {
    (0..).map(|i: usize| (core::array::from_fn(|axis| (i / [1, 64, 4096][axis] % 64) as f32), 0.0))
}

/// Returns whether a search must accept bodies with their margin. Radii must be sound before the margin is added.
pub(crate) fn is_sound<const D: usize>(view: Bodies<'_, D>) -> bool {
    let margin = view.margin();
    let bare = oracle::check(view.with_margin(0.0)).is_ok();
    bare && margin.is_finite() && margin >= 0.0 && oracle::check(view).is_ok()
}
