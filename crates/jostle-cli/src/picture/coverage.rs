//! How much of each pixel of a coarse bitmap two groups of bodies cover.

use anyhow::Result;
use jostle::{Aabb, Bodies, Circles};
use jostle_classics::CircleCoverage;

use super::image::Image;
use super::palette::{FULL, Mix};
use super::viewport::{Viewport, Window};

/// Side of a pixel of the bitmap in pixels of the picture: so large that they can be told apart.
const COARSE: f32 = 4.0;

/// Points on a side of a pixel at which the rim of a circle is sampled.
const SAMPLES: u32 = 4;

/// A group of circles, column by column.
struct Group {
    x: Vec<f32>,
    y: Vec<f32>,
    radii: Vec<f32>,
}

impl Group {
    /// Every other body, from number `first` on; spheres are seen along the third axis.
    fn of<const D: usize>(bodies: Bodies<'_, D>, first: usize) -> Self {
        let column = |of: &dyn Fn(usize) -> f32| (first..bodies.len()).step_by(2).map(of).collect();
        Self {
            x: column(&|id| bodies.center(id)[0]),
            y: column(&|id| bodies.center(id)[1]),
            radii: column(&|id| bodies.radius(id)),
        }
    }

    fn view(&self) -> Circles<'_> {
        Circles::new(&self.x, &self.y, &self.radii)
    }
}

/// Refuses a window whose coverage cannot be drawn, without drawing it.
pub(crate) fn check_coverage(window: Window, viewport: Viewport) -> Result<()> {
    bitmap(window, viewport).map(drop)
}

fn bitmap(window: Window, viewport: Viewport) -> Result<CircleCoverage> {
    let seen = Aabb { lo: window.low.map(|x| x as f32), hi: window.high.map(|x| x as f32) };
    Ok(CircleCoverage::new(seen, COARSE / viewport.pixels(1.0), SAMPLES)?)
}

/// Draws the coverage of a window: bodies of even ids in the colour of free bodies, and on top bodies of odd ids in the
/// colour of touching ones.
pub(crate) fn draw_coverage<const D: usize>(
    bodies: Bodies<'_, D>,
    window: Window,
    viewport: Viewport,
) -> Result<Image> {
    let mut coverage = bitmap(window, viewport)?;
    coverage.find(Group::of(bodies, 0).view(), Group::of(bodies, 1).view())?;
    let Viewport { width, height, .. } = viewport;
    let mut image = Image { width, height, pixels: vec![0; width * height] };
    coverage.for_each_pixel(&mut |aabb, covered| fill(&mut image, viewport, aabb, covered));
    Ok(image)
}

/// Paints the box of a pixel of the bitmap.
fn fill(image: &mut Image, viewport: Viewport, aabb: Aabb<2>, covered: [f32; 2]) {
    let [free, touching] = covered.map(|part| (part.min(1.0) * f32::from(FULL)).round() as u8);
    let color = Mix::of_layers(free, touching).index();
    let [left, bottom] = viewport.pixel(aabb.lo.map(f64::from)).map(|x| x.round() as usize);
    let [right, top] = viewport.pixel(aabb.hi.map(f64::from)).map(|x| x.round() as usize);
    for row in image.pixels.chunks_exact_mut(image.width).take(bottom).skip(top) {
        let end = right.min(row.len());
        row[left.min(end)..end].fill(color);
    }
}

#[cfg(test)]
mod tests {
    use super::{FULL, Mix, Viewport, Window, draw_coverage};
    use jostle::Circles;

    #[test]
    fn a_circle_of_each_group_is_where_it_is() {
        let window = Window { low: [0.0; 2], high: [100.0, 50.0], depth: None };
        let circles = Circles::new(&[25.0, 75.0], &[25.0; 2], 20.0);
        let image = draw_coverage(circles, window, Viewport::new(window, 200)).expect("a window with circles");
        let at = |x: usize, y: usize| image.pixels[y * image.width + x];
        assert_eq!((image.width, image.height), (200, 100));
        assert_eq!(at(50, 50), Mix::of_layers(FULL, 0).index());
        assert_eq!(at(150, 50), Mix::of_layers(0, FULL).index());
        assert_eq!([at(100, 50), at(1, 1), at(199, 99)], [0; 3]);
    }
}
