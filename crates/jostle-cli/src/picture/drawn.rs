//! What can be drawn: circles and spheres, and boxes.

use jostle::{Bodies, BoxView, Scalar};

use super::ball::{self, Ball};
use super::disc::{self, Disc};
use super::image::Image;
use super::rectangle::{self, Rectangle};
use super::viewport::{FARTHEST, Viewport, Window, span};

/// Bodies that can be drawn.
pub(crate) trait Drawn: Sync {
    /// Number of bodies.
    fn count(&self) -> usize;

    /// The smallest window around a body.
    fn window(&self, id: usize) -> Window;

    /// The window if there are no bodies.
    fn nowhere(&self) -> Window;

    /// Paints all bodies, touching ones orange, seen along the third axis if there is one.
    fn paint(&self, touching: &dyn Fn(usize) -> bool, viewport: Viewport) -> Image;
}

impl<const D: usize, T: Scalar> Drawn for Bodies<'_, D, T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn window(&self, id: usize) -> Window {
        let (center, radius) = (self.center(id).map(Scalar::to_f64), self.radius(id).to_f64());
        span(center.map(|x| x - radius), center.map(|x| x + radius))
    }

    fn nowhere(&self) -> Window {
        span([0.0; D], [1.0; D])
    }

    fn paint(&self, touching: &dyn Fn(usize) -> bool, viewport: Viewport) -> Image {
        let ids = 0..self.len();
        if viewport.depth.is_none() {
            let discs = ids.filter_map(|id| {
                let center = self.center(id);
                let [x, y] = viewport.pixel([center[0].to_f64(), center[1].to_f64()]);
                Disc::new(x, y, viewport.pixels(self.radius(id).to_f64()), touching(id)).within(viewport)
            });
            let discs: Vec<_> = discs.collect();
            return Image::of_bands(viewport, |band, pixels| disc::paint(&discs, band, pixels));
        }
        let balls = ids.filter_map(|id| {
            let center = self.center(id);
            Ball::new([0, 1, D - 1].map(|axis| center[axis].to_f64()), self.radius(id).to_f64(), touching(id), viewport)
        });
        let mut balls: Vec<_> = balls.collect();
        ball::back_to_front(&mut balls);
        let mut image = Image::of_bands(viewport, |band, pixels| ball::paint(&balls, band, pixels));
        image.walls(viewport);
        image
    }
}

/// Boxes in space are drawn as the rectangles that they cover from above.
impl<const D: usize, T: Scalar> Drawn for BoxView<'_, D, T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn window(&self, id: usize) -> Window {
        let (lo, hi) = (self.lo(id), self.hi(id));
        let corner = |corner: [T; D]| [0, 1].map(|axis| corner[axis].to_f64());
        Window { low: corner(lo), high: corner(hi), depth: None }
    }

    fn nowhere(&self) -> Window {
        span([0.0; 2], [1.0; 2])
    }

    fn paint(&self, touching: &dyn Fn(usize) -> bool, viewport: Viewport) -> Image {
        let rectangles = (0..self.len()).filter_map(|id| {
            let Window { low, high, .. } = self.window(id);
            let [low, high] = [low, high].map(|corner| viewport.pixel(corner.map(|x| x.clamp(-FARTHEST, FARTHEST))));
            Rectangle::new([low[0], high[1]], [high[0], low[1]], touching(id)).within(viewport)
        });
        let rectangles: Vec<_> = rectangles.collect();
        Image::of_bands(viewport, |band, pixels| rectangle::paint(&rectangles, band, pixels))
    }
}

/// The box of each run of bodies that are neighbours on the Morton curve, as leaves of the tree hold them.
pub(crate) fn leaves(bodies: &dyn Drawn, rank_to_id: &[u32]) -> Vec<Window> {
    /// Bodies in a leaf.
    const LEAF: usize = 16;
    rank_to_id.chunks(LEAF).map(|ids| around(bodies, ids.iter().map(|&id| id as usize))).collect()
}

/// A window with all bodies inside, and a margin.
pub(crate) fn extent(bodies: &dyn Drawn) -> Window {
    if bodies.count() == 0 { bodies.nowhere() } else { around(bodies, 0..bodies.count()).with_margin() }
}

/// The smallest window with these bodies inside; infinite borders do not count.
fn around(bodies: &dyn Drawn, ids: impl Iterator<Item = usize>) -> Window {
    let mut all = Window { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2], depth: None };
    let take = |[low, high]: [&mut f64; 2], [from, to]: [f64; 2]| {
        for x in [from, to].into_iter().filter(|x| x.is_finite()).map(|x| x.clamp(-FARTHEST, FARTHEST)) {
            (*low, *high) = (low.min(x), high.max(x));
        }
    };
    for Window { low, high, depth } in ids.map(|id| bodies.window(id)) {
        for axis in 0..2 {
            take([&mut all.low[axis], &mut all.high[axis]], [low[axis], high[axis]]);
        }
        if let Some(depth) = depth {
            let [low, high] = all.depth.get_or_insert([f64::INFINITY, f64::NEG_INFINITY]);
            take([low, high], depth);
        }
    }
    // All bodies are infinite on that axis.
    for axis in 0..2 {
        if all.low[axis] > all.high[axis] {
            (all.low[axis], all.high[axis]) = (0.0, 1.0);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use jostle::{Boxes, Circles};

    use super::{Viewport, extent};

    #[test]
    fn all_bodies_are_inside() {
        let (x, y) = ([-3.0, 5.0], [0.0, 4.0]);
        let viewport = Viewport::new(extent(&Circles::new(&x, &y, 1.0)), 1000);
        assert_eq!((viewport.width, viewport.height), (1000, 608));
        let [left, bottom] = viewport.pixel([-4.0, -1.0]);
        assert!((9.0..11.0).contains(&left) && (597.0..599.0).contains(&bottom), "{left} {bottom}");
    }

    #[test]
    fn odd_worlds_have_a_picture() {
        let none = extent(&Circles::new(&[], &[], 1.0));
        let point = extent(&Circles::new(&[1e18], &[-1e18], 0.0));
        let row = extent(&Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.0));
        assert_eq!(Viewport::new(none, 100).width, 100);
        assert_eq!(Viewport::new(row, 100).height, 25);
        let viewport = Viewport::new(point, 100);
        assert_eq!((viewport.width, viewport.height), (100, 100));
        assert!(viewport.pixel([1e18, -1e18]).iter().all(|x| (49.0..51.0).contains(x)));
    }

    #[test]
    fn boxes_without_end_count_as_far_as_they_end() {
        let (lo, hi) = ([&[f32::NEG_INFINITY, 0.0], &[-2.0, f32::MIN]], [&[f32::INFINITY, 4.0], &[2.0, f32::MAX]]);
        let window = extent(&Boxes::new(lo, hi));
        assert!(window.low[0] < 0.0 && window.high[0] > 4.0 && window.low[1] < -9e29 && window.high[1].is_finite());
        let endless = [&[f32::NEG_INFINITY], &[f32::NEG_INFINITY]];
        let window = extent(&Boxes::new(endless, [&[f32::INFINITY], &[f32::INFINITY]]));
        assert_eq!(Viewport::new(window, 100).width, 100);
    }
}
