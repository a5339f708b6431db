//! The colours of all pictures: 234 of them, fixed, so that a picture is a byte a pixel and an animation needs no
//! search for colours.
//!
//! They are those of M. Okabe and K. Ito, "Color Universal Design" (2008), which people of any colour vision tell apart:
//! blue for free bodies, orange for touching ones, which is also much lighter.

/// Full coverage. A step less is the smallest that a picture shows.
pub(crate) const FULL: u8 = 20;

/// Number of colours that bodies make: one for each two covers whose sum is at most [`FULL`].
const MIXED: usize = (FULL as usize + 1) * (FULL as usize + 2) / 2;

const BACKGROUND: [u8; 3] = [13, 17, 23];
const FREE: [u8; 3] = [0, 114, 178];
const TOUCHING: [u8; 3] = [230, 159, 0];

/// What is drawn over or under bodies, in colours that no body has.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Ink {
    /// Boxes of leaves and cells: reddish purple, dimmed so that bodies stand out.
    Line,
    /// Letters and digits.
    Text,
    /// The walls behind spheres.
    Wall,
}

impl Ink {
    const ALL: [Self; 3] = [Self::Line, Self::Text, Self::Wall];

    /// The position of its colour in the palette.
    pub(crate) fn index(self) -> u8 {
        MIXED as u8 + self as u8
    }

    fn color(self) -> [u8; 3] {
        match self {
            Self::Line => [147, 90, 124],
            Self::Text => [230, 237, 243],
            Self::Wall => [72, 79, 88],
        }
    }
}

/// The parts of a pixel's colour that are due to bodies, out of [`FULL`]; the rest is background.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mix {
    free: u8,
    touching: u8,
}

impl Mix {
    /// Puts touching bodies on top of free ones, where each of the two covers so much of the pixel.
    pub(crate) fn of_layers(free: u8, touching: u8) -> Self {
        let seen = u16::from(free) * u16::from(FULL - touching);
        Self { free: (seen as f32 / f32::from(FULL)).round() as u8, touching }
    }

    /// Mixes parts of 1. If rounding makes the sum too large, the rest is taken from free bodies.
    pub(crate) fn of_parts(free: f32, touching: f32) -> Self {
        let step = |part: f32| (part.clamp(0.0, 1.0) * f32::from(FULL)).round() as u8;
        let touching = step(touching);
        Self { free: step(free).min(FULL - touching), touching }
    }

    /// The position of its colour in the palette: 0 is the background alone.
    pub(crate) fn index(self) -> u8 {
        let row = |touching: u16| touching * (u16::from(FULL) + 1) - touching * touching.saturating_sub(1) / 2;
        (row(self.touching.into()) + u16::from(self.free)) as u8
    }

    fn color(self) -> [u8; 3] {
        let part = |steps: u8| f32::from(steps) / f32::from(FULL);
        let (free, touching) = (part(self.free), part(self.touching));
        std::array::from_fn(|i| {
            let [back, free_color, touching_color] = [BACKGROUND, FREE, TOUCHING].map(|color| f32::from(color[i]));
            (back + (free_color - back) * free + (touching_color - back) * touching).round() as u8
        })
    }
}

/// Returns a near colour for each colour. There are so few near ones that an animation takes 0.6 times the bytes.
pub(crate) fn coarser() -> [u8; 256] {
    let mut table = std::array::from_fn(|index| index as u8);
    for mix in mixes() {
        let even = |steps: u8| steps / 2 * 2;
        // Odd steps go up, so that no disc gets lost, unless the sum would exceed [`FULL`].
        let (free, touching) = (even(mix.free + 1), even(mix.touching + 1));
        table[usize::from(mix.index())] = Mix { free: free.min(FULL - touching), touching }.index();
    }
    table
}

fn mixes() -> impl Iterator<Item = Mix> {
    (0..=FULL).flat_map(|touching| (0..=FULL - touching).map(move |free| Mix { free, touching }))
}

/// Red, green, blue of each colour, one after the other.
pub(crate) fn colors() -> Vec<u8> {
    mixes().map(Mix::color).chain(Ink::ALL.map(Ink::color)).flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{BACKGROUND, FREE, FULL, Ink, MIXED, Mix, TOUCHING, coarser, colors};

    #[test]
    fn indices_name_their_colors() {
        let colors = colors();
        assert_eq!(colors.len(), 3 * (MIXED + Ink::ALL.len()));
        let at = |index: u8| colors[3 * usize::from(index)..][..3].to_vec();
        assert_eq!(at(0), BACKGROUND);
        assert_eq!(at(Mix::of_layers(FULL, 0).index()), FREE);
        assert_eq!(at(Mix::of_layers(3, FULL).index()), TOUCHING);
        assert_eq!(at(Mix::of_parts(0.5, 0.5).index()), Mix { free: FULL / 2, touching: FULL / 2 }.color());
        assert_eq!(Mix::of_parts(0.0, 7.0).index(), MIXED as u8 - 1);
        assert!(Ink::ALL.iter().all(|ink| at(ink.index()) == ink.color()));
    }

    #[test]
    fn coarser_colors_are_few_and_near() {
        let (table, colors) = (coarser(), colors());
        let used: BTreeSet<_> = table[..MIXED].iter().collect();
        assert_eq!(used.len(), 66);
        for (index, &near) in table.iter().enumerate().take(colors.len() / 3) {
            let channel = |index: usize, i: usize| i32::from(colors[3 * index + i]);
            assert!((0..3).all(|i| (channel(index, i) - channel(near.into(), i)).abs() <= 24), "{index}");
        }
        assert_eq!([0, 1, 2, 20].map(|index| table[index]), [0, 2, 2, 20]);
    }

    #[test]
    fn touching_bodies_are_lighter_at_any_coverage() {
        // L* of CIELAB, 0 for black and 100 for white.
        let lightness = |color: [u8; 3]| {
            let [r, g, b] = color.map(|part| (f32::from(part) / 255.0).powf(2.2));
            116.0 * (0.2126 * r + 0.7152 * g + 0.0722 * b).cbrt() - 16.0
        };
        assert!(lightness(TOUCHING) - lightness(FREE) > 20.0);
        for part in [0.25, 0.5, 0.75] {
            let [free, touching] = [Mix::of_parts(part, 0.0), Mix::of_parts(0.0, part)].map(Mix::color);
            assert!(lightness(touching) > lightness(free) + 4.0, "{part}");
        }
    }
}
