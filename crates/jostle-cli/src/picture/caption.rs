//! The caption above a picture: figures, and what the picture's colours mean.

use super::font::{ADVANCE, HEIGHT, glyph};
use super::image::Image;
use super::palette::{Ink, Mix};

/// Free pixels around the lines, before they are scaled.
const MARGIN: usize = 4;

/// Pixels from one line to the next, before they are scaled.
const LEADING: usize = HEIGHT + 3;

/// Pixels between two items of a line, before they are scaled.
const GAP: usize = 2 * ADVANCE;

/// Side of the square that shows a colour, before it is scaled.
const SWATCH: usize = 7;

/// Pictures at least so wide have letters of twice the size, and so on.
const SCALE_UP: usize = 700;

/// Narrower pictures have no room for words.
const NARROWEST: usize = 100;

/// Words with the colours that they explain, if any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    swatches: Vec<u8>,
    words: String,
    /// Characters that there is room for.
    room: usize,
}

impl Item {
    /// A figure that takes the same room in each picture, however long it is.
    pub(crate) fn figure(words: String, room: usize) -> Self {
        Self { swatches: Vec::new(), words, room }
    }

    fn legend(swatches: impl IntoIterator<Item = u8>, words: &str) -> Self {
        Self { swatches: swatches.into_iter().collect(), words: words.to_owned(), room: words.len() }
    }

    fn width(&self) -> usize {
        self.swatches.len() * (SWATCH + 1) + if self.swatches.is_empty() { 0 } else { 2 } + self.room * ADVANCE
    }
}

/// Free bodies and touching ones, as they are in full light.
pub(crate) fn legend() -> [Item; 2] {
    [
        Item::legend([Mix::of_parts(1.0, 0.0).index()], "free"),
        Item::legend([Mix::of_parts(0.0, 1.0).index()], "in contact"),
    ]
}

/// The groups of a coverage bitmap.
pub(crate) fn legend_of_groups() -> [Item; 2] {
    [
        Item::legend([Mix::of_parts(1.0, 0.0).index()], "even ids"),
        Item::legend([Mix::of_parts(0.0, 1.0).index()], "odd ids"),
    ]
}

/// Spheres from the front to the back.
pub(crate) fn legend_of_depth() -> Item {
    Item::legend([1.0, 0.75, 0.5, 0.25].map(|light| Mix::of_parts(light, 0.0).index()), "near to far")
}

pub(crate) fn legend_of_cells() -> Item {
    Item::legend([Ink::Line.index()], "leaves or cells")
}

/// Returns the picture with lines of items above it, each line broken where the picture ends. The height depends on the
/// room of the items alone.
pub(crate) fn with_caption(lines: &[Vec<Item>], image: Image) -> Image {
    let Image { width, height, pixels } = image;
    if width < NARROWEST {
        return Image { width, height, pixels };
    }
    let scale = width / SCALE_UP + 1;
    let placed = place(lines, width / scale);
    let bottom = placed.iter().map(|(_, y, _)| y + LEADING).max().unwrap_or_default();
    let strip = (bottom + MARGIN) * scale;
    let mut canvas = Canvas { width, scale, pixels: vec![0; strip * width] };
    for (x, y, item) in placed {
        canvas.item(x, y, item);
    }
    canvas.pixels.extend(pixels);
    Image { width, height: strip + height, pixels: canvas.pixels }
}

/// Where each item begins, in pixels before they are scaled.
fn place(lines: &[Vec<Item>], width: usize) -> Vec<(usize, usize, &Item)> {
    let mut placed = Vec::new();
    let mut y = MARGIN;
    for line in lines {
        let mut x = MARGIN;
        for item in line {
            if x > MARGIN && x + item.width() + MARGIN > width {
                (x, y) = (MARGIN, y + LEADING);
            }
            placed.push((x, y, item));
            x += item.width() + GAP;
        }
        y += LEADING;
    }
    placed
}

struct Canvas {
    width: usize,
    scale: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    fn item(&mut self, mut x: usize, y: usize, item: &Item) {
        for &color in &item.swatches {
            (0..SWATCH * SWATCH).for_each(|at| self.dot(x + at % SWATCH, y + at / SWATCH, color));
            x += SWATCH + 1;
        }
        x += if item.swatches.is_empty() { 0 } else { 2 };
        for char in item.words.chars() {
            glyph(char).for_each(|(dx, dy)| self.dot(x + dx, y + dy, Ink::Text.index()));
            x += ADVANCE;
        }
    }

    /// Paints one pixel, scaled. What lies outside is cut off.
    fn dot(&mut self, x: usize, y: usize, color: u8) {
        let (left, right) = ((x * self.scale).min(self.width), ((x + 1) * self.scale).min(self.width));
        for row in self.pixels.chunks_exact_mut(self.width).skip(y * self.scale).take(self.scale) {
            row[left..right].fill(color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Image, Ink, Item, legend, with_caption};

    #[test]
    fn words_stand_above_the_picture_and_wrap() {
        let picture = |width| Image { width, height: 10, pixels: vec![7; width * 10] };
        let figure = |words: &str| Item::figure(words.to_owned(), 10);
        let lines = [vec![figure("frame 12"), figure("300 agents")], legend().into()];
        let heights: Vec<_> = [300, 120, 1000]
            .map(|width| {
                let image = with_caption(&lines, picture(width));
                assert_eq!((image.width, image.pixels.len()), (width, width * image.height));
                assert!(image.pixels.ends_with(&vec![7; width * 10]));
                assert!(image.pixels.contains(&Ink::Text.index()));
                image.height - 10
            })
            .into();
        assert_eq!(heights, [32, 56, 64]);
        let more = [vec![figure("frame 12"), figure("1,000,000,000 agents")], legend().into()];
        for width in 100..400 {
            let heights = [&lines, &more].map(|lines| with_caption(lines, picture(width)).height);
            assert_eq!(heights[0], heights[1], "pictures of an animation are all as high");
        }
        assert_eq!(with_caption(&lines, picture(50)), picture(50), "no room");
    }
}
