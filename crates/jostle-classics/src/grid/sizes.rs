//! Which lengths are accepted, and which size of a cell suits a scene.

use jostle_core::Aabb;
use jostle_core::limits::REACH;

use crate::error::SetupError;

/// The least length of a cell, 2^-60: its square is far from vanishing.
const LEAST: f32 = 1.0 / GREATEST;

/// The greatest length of a cell: the reach of bodies.
const GREATEST: f32 = REACH;

/// The most cells on a side: coordinates of cells fit 16 bits.
pub(crate) const MAX_SIDE: u32 = 1 << 16;

/// Refuses a length that cannot be the side of a cell.
pub(crate) fn check_length(name: &'static str, value: f32) -> Result<(), SetupError> {
    if (LEAST..=GREATEST).contains(&value) {
        return Ok(());
    }
    Err(SetupError::Parameter { name, value: value.into(), wanted: "from 2^-60 to 2^60" })
}

/// Refuses a length that cannot be the radius of a body.
pub(crate) fn check_radius(name: &'static str, value: f32) -> Result<(), SetupError> {
    if (0.0..=GREATEST).contains(&value) {
        return Ok(());
    }
    Err(SetupError::Parameter { name, value: value.into(), wanted: "from 0 to 2^60" })
}

/// What a cell is sized for: the larger of the two resulting sizes is taken.
pub(crate) struct Ask {
    /// The least side of a cell, in diameters of a typical body.
    pub(crate) diameters: f64,
    /// The least number of bodies in a cell, if they were spread evenly.
    pub(crate) bodies: f64,
    /// The most cells of the grid.
    pub(crate) cells: usize,
}

impl Ask {
    /// Returns the side of a cell for `n` bodies of this radius. It fits every world but worlds wider than 2^75.
    pub(crate) fn side(&self, world: Aabb<2>, n: usize, radius: f32) -> Result<f32, SetupError> {
        SetupError::check_world(&world)?;
        check_radius("typical radius", radius)?;
        let [width, height] = [0, 1].map(|axis| f64::from(world.hi[axis]) - f64::from(world.lo[axis]));
        let density = n.max(1) as f64 / (width * height);
        let by_bodies = (self.bodies / density).sqrt();
        let by_size = f64::from(radius) * 2.0 * self.diameters;
        // Columns and rows are each rounded up by at most one. To leave room for that, a quarter of the cells is aimed
        // at.
        let by_side = width.max(height) / f64::from(MAX_SIDE / 2);
        let cells = self.cells as f64 / 4.0;
        let by_count = (width * height / cells).sqrt().max(width.max(height) / cells);
        let side = by_bodies.max(by_size).max(by_side).max(by_count);
        // Half of the greatest side leaves room for callers that double it.
        Ok((side as f32).clamp(LEAST, GREATEST / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Ask;
    use crate::grid::CellMap;
    use jostle_core::Aabb;

    #[test]
    fn the_size_asked_for_is_accepted() {
        let far = (1_u64 << 61) as f32;
        let worlds = [([0.0, 0.0], [1.0, 1.0]), ([-far; 2], [far; 2]), ([0.0; 2], [f32::MIN_POSITIVE; 2])];
        let thin = [([0.0, 0.0], [1e-30, 1e15]), ([-far, 0.0], [far, 1e-20])];
        for (lo, hi) in worlds.into_iter().chain(thin) {
            for (n, radius, cells) in [(0, 0.0, 64), (1000, 1e-40, 4096), (1 << 30, 0.0, 1 << 26), (5, 1e18, 64)] {
                let world = Aabb { lo, hi };
                let ask = Ask { diameters: 2.0, bodies: 4.0, cells };
                let side = ask.side(world, n, radius).expect("a sound world");
                assert!(CellMap::new(world, "cell", side, cells).is_ok(), "{world:?}, {n} of {radius}: {side}");
            }
        }
    }
}
