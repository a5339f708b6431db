//! A picture, a byte a pixel, painted in bands of rows by all threads.

use rayon::prelude::*;

use super::disc::Disc;
use super::palette::Cover;
use super::viewport::{Viewport, Window};

/// Rows that one task paints: every task looks at every disc, so that fewer and larger would be cheaper on one thread.
const BAND: usize = 64;

/// A picture whose pixels are positions in the palette.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
}

/// Paints discs, and boxes as outlines.
pub(crate) fn paint(viewport: Viewport, discs: &[Disc], boxes: &[Window]) -> Image {
    let Viewport { width, height, .. } = viewport;
    let lines = outlines(viewport, boxes);
    let mut pixels = vec![0; width * height];
    pixels.par_chunks_mut(BAND * width).enumerate().for_each(|(band, pixels)| {
        let covers = Layers::of_band(band * BAND, width, pixels.len(), discs);
        for (at, pixel) in pixels.iter_mut().enumerate() {
            let line = lines.get(band * BAND * width + at).is_some_and(|line| *line);
            *pixel = Cover { free: covers.free[at], touching: covers.touching[at], line }.index();
        }
    });
    Image { width, height, pixels }
}

/// Coverage by each kind of disc.
struct Layers {
    free: Vec<u8>,
    touching: Vec<u8>,
}

impl Layers {
    /// The pixels of a band that begins at row `top`.
    fn of_band(top: usize, width: usize, pixels: usize, discs: &[Disc]) -> Self {
        let mut layers = Self { free: vec![0; pixels], touching: vec![0; pixels] };
        let (begin, end) = (top as f32, (top + pixels / width) as f32);
        for disc in discs {
            let (first, last) = disc.rows();
            let (first, last) = (first.max(begin).floor(), last.min(end).ceil());
            let layer = if disc.touching { &mut layers.touching } else { &mut layers.free };
            for row in first as usize..last.max(first) as usize {
                disc.cover(row as f32 + 0.5, &mut layer[(row - top) * width..][..width]);
            }
        }
        layers
    }
}

/// The pixels on the outline of a box; empty when there are no boxes.
fn outlines(viewport: Viewport, boxes: &[Window]) -> Vec<bool> {
    let Viewport { width, height, .. } = viewport;
    if boxes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![false; width * height];
    for window in boxes {
        let [left, bottom] = viewport.pixel(window.low).map(f32::floor);
        let [right, top] = viewport.pixel(window.high).map(f32::floor);
        let clip =
            |from: f32, to: f32, side: usize| from.max(0.0) as usize..(to + 1.0).clamp(0.0, side as f32) as usize;
        for y in [top, bottom].into_iter().filter(|y| (0.0..height as f32).contains(y)) {
            clip(left, right, width).for_each(|x| lines[y as usize * width + x] = true);
        }
        for x in [left, right].into_iter().filter(|x| (0.0..width as f32).contains(x)) {
            clip(top, bottom, height).for_each(|y| lines[y * width + x as usize] = true);
        }
    }
    lines
}
