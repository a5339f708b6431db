//! Pictures of bodies: free ones blue, touching ones orange; spheres and boxes in space are seen along the third axis.

mod ball;
mod caption;
mod coverage;
mod disc;
mod drawn;
mod font;
mod gif;
mod image;
mod palette;
mod png;
mod rectangle;
mod viewport;

pub(crate) use caption::{Item, legend, legend_of_cells, legend_of_depth, legend_of_groups, with_caption};
pub(crate) use coverage::{check_coverage, draw_coverage};
pub(crate) use drawn::{Drawn, extent, leaves};
pub(crate) use gif::Film;
pub(crate) use image::Image;
pub(crate) use png::write_png;
pub(crate) use viewport::{Viewport, Window, span};

/// Draws every body, then the outlines of boxes.
///
/// Runs in the current rayon pool; the picture is the same in any.
pub(crate) fn draw(
    bodies: &dyn Drawn,
    touching: impl Fn(usize) -> bool,
    boxes: &[Window],
    viewport: Viewport,
) -> Image {
    let mut image = bodies.paint(&touching, viewport);
    image.outline(viewport, boxes);
    image
}
