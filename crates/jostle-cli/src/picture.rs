//! Pictures of bodies: free ones blue, touching ones orange; spheres are seen along the third axis.

mod ball;
mod caption;
mod cells;
mod coverage;
mod disc;
mod font;
mod gif;
mod image;
mod palette;
mod png;
mod viewport;

use jostle::{Bodies, Scalar};

pub(crate) use caption::{Item, legend, legend_of_cells, legend_of_depth, legend_of_groups, with_caption};
pub(crate) use cells::leaves;
pub(crate) use coverage::draw_coverage;
pub(crate) use gif::Film;
pub(crate) use image::Image;
pub(crate) use png::write_png;
pub(crate) use viewport::{Viewport, Window, extent, span};

use ball::Ball;
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
    let ids = 0..bodies.len();
    let mut image = if viewport.depth.is_none() {
        let discs = ids.filter_map(|id| {
            let center = bodies.center(id);
            let [x, y] = viewport.pixel([center[0].to_f64(), center[1].to_f64()]);
            Disc::new(x, y, viewport.pixels(bodies.radius(id).to_f64()), touching(id)).within(viewport)
        });
        let discs: Vec<_> = discs.collect();
        Image::of_bands(viewport, |band, pixels| disc::paint(&discs, band, pixels))
    } else {
        let balls = ids.filter_map(|id| {
            let center = bodies.center(id);
            Ball::new(
                [0, 1, D - 1].map(|axis| center[axis].to_f64()),
                bodies.radius(id).to_f64(),
                touching(id),
                viewport,
            )
        });
        let mut balls: Vec<_> = balls.collect();
        ball::back_to_front(&mut balls);
        let mut image = Image::of_bands(viewport, |band, pixels| ball::paint(&balls, band, pixels));
        image.walls(viewport);
        image
    };
    image.outline(viewport, boxes);
    image
}
