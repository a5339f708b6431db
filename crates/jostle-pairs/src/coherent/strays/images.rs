//! At which images a stray body may touch others: where space does not repeat, at its own place alone.

use jostle_core::axes::{Axes, from_axes};
use jostle_sets::input::UnitCell;

use crate::coherent::ghosts::images_of;
use crate::coherent::packed::Packed;

/// Added to how far bodies reach, in vectors of the cell, for rounding.
const MORE: f64 = 1.0 / 1024.0;

/// A body seen at an image: by how many vectors of the cell it is moved, and how far.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<const D: usize> {
    pub(super) image: [i32; D],
    pub(super) shift: [f32; D],
}

impl<const D: usize> Default for View<D> {
    fn default() -> Self {
        Self { image: [0; D], shift: [0.0; D] }
    }
}

impl<const D: usize> View<D> {
    /// Returns the body as it is seen.
    #[inline(always)]
    pub(super) fn of(&self, body: Packed) -> Packed {
        body.moved(self.shift)
    }
}

/// Space that repeats with a cell around the origin, in which all other bodies were when they were listed.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct Repeats<'a, const D: usize> {
    pub(in crate::coherent) cell: &'a UnitCell<D>,
    /// How far one of these bodies may reach out of the cell, its radius and its margin included.
    pub(in crate::coherent) reach: f64,
}

impl<const D: usize> Repeats<'_, D> {
    fn view(&self, image: [f64; D]) -> View<D> {
        View { image: image.axes(|step| step as i32), shift: self.cell.shift(image).axes(|x| x as f32) }
    }

    /// Returns how a body is seen in the cell.
    pub(super) fn home(&self, body: Packed) -> View<D> {
        self.view(self.cell.steps_to(from_axes(|axis| body.0[axis].into())).axes(|steps| -steps))
    }

    /// Visits all views in which a body that itself reaches so far may touch others; first the view in the cell.
    pub(super) fn each(&self, body: Packed, reach: f32, visit: &mut dyn FnMut(View<D>)) {
        let UnitCell { space, duals, .. } = self.cell;
        let at: [f64; D] = from_axes(|axis| body.0[axis].into());
        let home = self.cell.steps_to(at);
        visit(self.view(home.axes(|steps| -steps)));
        // For each vector, whether the body may touch others when it is moved back by it, and when it is moved on.
        let mut leads = [[false; 2]; D];
        for k in (0..D).filter(|&k| space.repeats[k]) {
            let dot = |other: [f64; D]| (0..D).map(|axis| other[axis] * duals[k][axis]).sum::<f64>();
            let (along, length) = (dot(at) - home[k], dot(duals[k]).sqrt());
            let far = 0.5 - (f64::from(reach) + self.reach) * length - MORE;
            leads[k] = [along >= far, along <= -far];
        }
        // Most bodies are far from all borders.
        if leads.as_flattened().contains(&true) {
            let may_touch = |image: &[i32; D]| (0..D).all(|k| image[k] == 0 || leads[k][usize::from(image[k] > 0)]);
            let images = images_of(self.cell).filter(may_touch);
            images.for_each(|image| visit(self.view(from_axes(|k| f64::from(image[k]) - home[k]))));
        }
    }
}

/// As [`Repeats::each`], in any space.
pub(super) fn each_view<const D: usize>(
    repeats: Option<Repeats<'_, D>>,
    (body, reach): (Packed, f32),
    mut visit: impl FnMut(View<D>),
) {
    match repeats {
        Some(repeats) => repeats.each(body, reach, &mut visit),
        None => visit(View::default()),
    }
}
