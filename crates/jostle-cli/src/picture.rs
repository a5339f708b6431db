//! Pictures of bodies: free ones green, touching ones red; spheres are seen along the third axis.

mod cells;
mod coverage;
mod disc;
mod gif;
mod image;
mod palette;
mod png;
mod viewport;

use jostle::{Bodies, Scalar};

pub(crate) use cells::leaves;
pub(crate) use coverage::draw_coverage;
pub(crate) use gif::Film;
pub(crate) use image::Image;
pub(crate) use png::write_png;
pub(crate) use viewport::{Viewport, Window, extent};

use disc::Disc;

/// Draws every body, and boxes.
///
/// Runs in the current rayon pool; the picture is the same in any.
pub(crate) fn draw<const D: usize>(
    bodies: Bodies<'_, D, impl Scalar>,
    touching: impl Fn(usize) -> bool,
    boxes: &[Window],
    viewport: Viewport,
) -> Image {
    let discs = (0..bodies.len()).filter_map(|id| {
        let center = bodies.center(id);
        let [x, y] = viewport.pixel([center[0].to_f64(), center[1].to_f64()]);
        Disc::new(x, y, viewport.pixels(bodies.radius(id).to_f64()), touching(id)).within(viewport)
    });
    let discs: Vec<_> = discs.collect();
    image::paint(viewport, &discs, boxes)
}
