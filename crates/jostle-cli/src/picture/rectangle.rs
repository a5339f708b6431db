//! One box in pixels.

use super::image::Band;
use super::palette::{FULL, Mix};
use super::viewport::Viewport;

/// A rectangle is drawn no narrower than this, in pixels: a line is still seen.
const SMALLEST: f32 = 1.0;

/// Rectangles up to this side are filled; larger ones are translucent inside their rims, so that overlaps show.
const SOLID: f32 = 6.0;

/// Coverage inside the rim, which is a pixel wide.
const INSIDE: u8 = FULL * 2 / 5;

/// A box in pixels, its upper left corner first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    low: [f32; 2],
    high: [f32; 2],
    touching: bool,
}

impl Rectangle {
    pub(super) fn new(low: [f32; 2], high: [f32; 2], touching: bool) -> Self {
        let high = [0, 1].map(|axis| high[axis].max(low[axis] + SMALLEST));
        Self { low, high, touching }
    }

    /// The rectangle, if any of it can be seen.
    pub(super) fn within(self, viewport: Viewport) -> Option<Self> {
        let sides = [viewport.width as f32, viewport.height as f32];
        let seen = |axis: usize| self.high[axis] > 0.0 && self.low[axis] < sides[axis];
        (seen(0) && seen(1)).then_some(self)
    }

    /// Covers the pixels of a row whose centres it holds. Coverage never shrinks, so rectangles may be drawn in any order.
    fn cover(self, row: usize, pixels: &mut [u8]) {
        let clip = |x: f32| x.round().clamp(0.0, pixels.len() as f32) as usize;
        let (first, last) = (clip(self.low[0]), clip(self.high[0]));
        let row = row as f32;
        let rim = row < self.low[1].round() + 1.0 || row >= self.high[1].round() - 1.0;
        let solid = (0..2).any(|axis| self.high[axis] - self.low[axis] <= SOLID);
        let inside = if rim || solid { FULL } else { INSIDE };
        for (at, pixel) in pixels[first..last.max(first)].iter_mut().enumerate() {
            let x = (first + at) as f32;
            let edge = x < self.low[0].round() + 1.0 || x >= self.high[0].round() - 1.0;
            *pixel = (*pixel).max(if edge { FULL } else { inside });
        }
    }
}

/// Paints rectangles in any order: touching ones lie on top of free ones.
pub(super) fn paint(rectangles: &[Rectangle], band: Band, pixels: &mut [u8]) {
    let [mut free, mut touching] = [(); 2].map(|()| vec![0; band.pixels()]);
    for rectangle in rectangles {
        let layer = if rectangle.touching { &mut touching } else { &mut free };
        for (row, range) in band.between(rectangle.low[1].round(), rectangle.high[1].round()) {
            rectangle.cover(row, &mut layer[range]);
        }
    }
    for ((pixel, free), touching) in pixels.iter_mut().zip(free).zip(touching) {
        *pixel = Mix::of_layers(free, touching).index();
    }
}

#[cfg(test)]
mod tests {
    use super::{FULL, INSIDE, Rectangle};

    #[test]
    fn a_row_of_a_large_box_has_two_edges() {
        let mut row = [0; 10];
        let large = Rectangle::new([1.2, -4.0], [8.9, 7.0], false);
        large.cover(2, &mut row);
        assert_eq!(row, [0, FULL, INSIDE, INSIDE, INSIDE, INSIDE, INSIDE, INSIDE, FULL, 0]);
        large.cover(6, &mut row);
        assert_eq!(row[1..9], [FULL; 8]);
    }

    #[test]
    fn a_point_is_seen_and_what_lies_outside_is_cut_off() {
        let mut row = [0; 5];
        Rectangle::new([2.0, 0.0], [2.0, 0.0], true).cover(0, &mut row);
        assert_eq!(row, [0, 0, FULL, 0, 0]);
        Rectangle::new([-1e30, 0.0], [1.0, 1.0], true).cover(0, &mut row);
        Rectangle::new([7.0, 0.0], [1e30, 1.0], true).cover(0, &mut row);
        assert_eq!(row, [FULL, 0, FULL, 0, 0]);
    }
}
