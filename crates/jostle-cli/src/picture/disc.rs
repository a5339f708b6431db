//! One body in pixels, and how much of each pixel it covers.

use super::image::Band;
use super::palette::{FULL, Mix};
use super::viewport::Viewport;

/// A body is drawn no smaller than this, in pixels: a point of radius zero is still seen.
const SMALLEST: f32 = 0.75;

/// Discs up to this radius are filled; larger ones are translucent inside their rims, so that overlaps show.
const SOLID: f32 = 3.0;

/// Width of a rim in pixels.
const RIM: f32 = 1.5;

/// Coverage inside the rim.
const INSIDE: u8 = FULL * 3 / 5;

/// A body in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Disc {
    x: f32,
    y: f32,
    radius: f32,
    touching: bool,
}

impl Disc {
    pub(super) fn new(x: f32, y: f32, radius: f32, touching: bool) -> Self {
        Self { x, y, radius: radius.max(SMALLEST), touching }
    }

    /// The disc, if any of it can be seen.
    pub(super) fn within(self, viewport: Viewport) -> Option<Self> {
        let reach = self.radius + 1.0;
        let seen = |x: f32, side: usize| x + reach > 0.0 && x - reach < side as f32;
        (seen(self.x, viewport.width) && seen(self.y, viewport.height)).then_some(self)
    }

    /// Covers one row of pixels, the one whose centres have the given y. Coverage never shrinks, so discs may be drawn
    /// in any order.
    pub(super) fn cover(self, y: f32, row: &mut [u8]) {
        let dy = y - self.y;
        // Half the chord of a circle of this radius, at distance `dy` from its centre.
        let half = |radius: f32| (radius * radius - dy * dy).max(0.0).sqrt();
        let clip = |x: f32| x.clamp(0.0, row.len() as f32) as usize;
        let outer = half(self.radius + 0.5);
        let (first, last) = (clip((self.x - outer).floor()), clip((self.x + outer).ceil()));
        // Pixels whose centres are further in than the rim.
        let inner = if self.radius > SOLID { half(self.radius - RIM - 0.5) } else { 0.0 };
        let (begin, end) = (clip(self.x - inner + 0.5).max(first), clip(self.x + inner - 0.5).min(last));
        if begin >= end {
            return self.cover_edge(dy, first, &mut row[first..last]);
        }
        self.cover_edge(dy, first, &mut row[first..begin]);
        row[begin..end].iter_mut().for_each(|pixel| *pixel = INSIDE.max(*pixel));
        self.cover_edge(dy, end, &mut row[end..last]);
    }

    /// Covers pixels one by one, those at the edge in part.
    fn cover_edge(self, dy: f32, first: usize, pixels: &mut [u8]) {
        for (at, pixel) in (first..).zip(pixels) {
            let dx = at as f32 + 0.5 - self.x;
            let depth = self.radius - (dx * dx + dy * dy).sqrt();
            let edge = (depth + 0.5).clamp(0.0, 1.0);
            let rim = if self.radius > SOLID { (RIM + 0.5 - depth).clamp(0.0, 1.0) } else { 1.0 };
            let inside = f32::from(INSIDE) / f32::from(FULL);
            let part = edge * (inside + (1.0 - inside) * rim);
            *pixel = (*pixel).max((part * f32::from(FULL)).round() as u8);
        }
    }
}

/// Paints discs in any order: touching ones lie on top of free ones.
pub(super) fn paint(discs: &[Disc], band: Band, pixels: &mut [u8]) {
    let [mut free, mut touching] = [(); 2].map(|()| vec![0; band.pixels()]);
    for disc in discs {
        let layer = if disc.touching { &mut touching } else { &mut free };
        for (row, range) in band.between(disc.y - disc.radius - 0.5, disc.y + disc.radius + 0.5) {
            disc.cover(row as f32 + 0.5, &mut layer[range]);
        }
    }
    for ((pixel, free), touching) in pixels.iter_mut().zip(free).zip(touching) {
        *pixel = Mix::of_layers(free, touching).index();
    }
}

#[cfg(test)]
mod tests {
    use super::{Disc, FULL, INSIDE};

    #[test]
    fn a_row_through_the_middle_of_a_large_disc() {
        let mut row = [0; 24];
        Disc::new(12.0, 0.5, 10.0, false).cover(0.5, &mut row);
        assert_eq!(row[..5], [0, 0, FULL, FULL * 4 / 5, INSIDE]);
        assert_eq!(row[11], INSIDE);
        let mirrored: Vec<_> = row.iter().rev().copied().collect();
        assert_eq!(row[..], mirrored);
    }

    #[test]
    fn a_point_is_seen() {
        let mut row = [0; 5];
        Disc::new(2.5, 0.5, 0.0, true).cover(0.5, &mut row);
        assert_eq!(row, [0, FULL / 4, FULL, FULL / 4, 0]);
    }

    #[test]
    fn what_lies_outside_is_cut_off() {
        let mut row = [0; 4];
        Disc::new(-3.0, 0.5, 4.0, true).cover(0.5, &mut row);
        assert!(row[0] > 0 && row[2] == 0);
        Disc::new(1e9, 0.5, 4.0, true).cover(0.5, &mut row);
        assert_eq!(row[3], 0);
    }
}
