//! A picture, a byte a pixel, painted in bands of rows by all threads.

use rayon::prelude::*;

use super::palette::Ink;
use super::viewport::{Viewport, Window};

/// Rows that one task paints. Every task looks at every body, so fewer and larger tasks would be cheaper on one thread.
const BAND: usize = 64;

/// A picture whose pixels are positions in the palette.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
}

/// Some rows of a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Band {
    /// The first row.
    pub(super) top: usize,
    pub(super) rows: usize,
    pub(super) width: usize,
}

impl Band {
    pub(super) fn pixels(self) -> usize {
        self.rows * self.width
    }

    /// The rows of the picture in this band whose centres may lie between two heights, each with its place in the band.
    pub(super) fn between(self, first: f32, last: f32) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let (begin, end) = (self.top as f32, (self.top + self.rows) as f32);
        let (first, last) = (first.max(begin).floor() as usize, last.min(end).ceil());
        (first..last.max(first as f32) as usize).map(move |row| {
            let start = (row - self.top) * self.width;
            (row, start..start + self.width)
        })
    }
}

impl Image {
    /// Makes a picture whose pixels `paint` fills band by band.
    pub(super) fn of_bands(viewport: Viewport, paint: impl Fn(Band, &mut [u8]) + Sync) -> Self {
        let Viewport { width, height, .. } = viewport;
        let mut pixels = vec![0; width * height];
        pixels.par_chunks_mut(BAND * width).enumerate().for_each(|(at, pixels)| {
            paint(Band { top: at * BAND, rows: pixels.len() / width, width }, pixels);
        });
        Self { width, height, pixels }
    }

    /// Draws the outlines of boxes on top.
    pub(super) fn outline(&mut self, viewport: Viewport, boxes: &[Window]) {
        let (width, height) = (self.width as f32, self.height as f32);
        let clip = |from: f32, to: f32, side: f32| from.clamp(0.0, side) as usize..(to + 1.0).clamp(0.0, side) as usize;
        for window in boxes {
            let depth = window.depth.map(|[low, high]| (low + high) / 2.0);
            let corner = |[x, y]: [f64; 2]| viewport.project([x, y], depth).map(f32::floor);
            let ([left, bottom], [right, top]) = (corner(window.low), corner(window.high));
            for y in [top, bottom].into_iter().filter(|y| (0.0..height).contains(y)) {
                let row = y as usize * self.width;
                let across = clip(left, right, width);
                self.pixels[row + across.start..row + across.end].fill(Ink::Line.index());
            }
            for x in [left, right].into_iter().filter(|x| (0.0..width).contains(x)) {
                for y in clip(top, bottom, height) {
                    self.pixels[y * self.width + x as usize] = Ink::Line.index();
                }
            }
        }
    }

    /// Draws the walls of the part of space that a viewport shows, where no body hides them.
    pub(super) fn walls(&mut self, viewport: Viewport) {
        let Some([top_left, bottom_right]) = viewport.back() else { return };
        let ([left, top], [right, bottom]) = (top_left, bottom_right);
        let (width, height) = (self.width as f32, self.height as f32);
        for [from, to] in [
            [[left, top], [right, top]],
            [[left, bottom], [right, bottom]],
            [[left, top], [left, bottom]],
            [[right, top], [right, bottom]],
            [[0.0, 0.0], [left, top]],
            [[width, 0.0], [right, top]],
            [[0.0, height], [left, bottom]],
            [[width, height], [right, bottom]],
        ] {
            let steps = (to[0] - from[0]).abs().max((to[1] - from[1]).abs()).ceil().max(1.0);
            for step in 0..=steps as usize {
                let part = step as f32 / steps;
                let at = |axis: usize, side: usize| {
                    let x = from[axis] + (to[axis] - from[axis]) * part;
                    (x.max(0.0) as usize).min(side - 1)
                };
                let pixel = &mut self.pixels[at(1, self.height) * self.width + at(0, self.width)];
                *pixel = if *pixel == 0 { Ink::Wall.index() } else { *pixel };
            }
        }
    }
}
