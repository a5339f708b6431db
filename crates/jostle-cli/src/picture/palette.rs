//! The colours of all pictures: 242 of them, fixed, so that a picture is a byte a pixel and an animation needs no
//! search for colours.

/// Steps of coverage of a pixel, none and all included.
pub(crate) const LEVELS: u8 = 11;

/// Full coverage.
pub(crate) const FULL: u8 = LEVELS - 1;

const BACKGROUND: [u8; 3] = [13, 17, 23];
const FREE: [u8; 3] = [63, 185, 80];
const TOUCHING: [u8; 3] = [255, 72, 66];
const LINE: [u8; 3] = [120, 170, 255];

/// How much of a line's colour covers what lies below.
const LINE_OPACITY: f32 = 0.55;

/// What covers a pixel: free bodies, touching ones on top of them, a line on top of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cover {
    pub(crate) free: u8,
    pub(crate) touching: u8,
    pub(crate) line: bool,
}

impl Cover {
    /// The position of its colour in the palette.
    pub(crate) fn index(self) -> u8 {
        (u8::from(self.line) * LEVELS + self.free) * LEVELS + self.touching
    }

    fn color(self) -> [u8; 3] {
        let level = |level: u8| f32::from(level) / f32::from(FULL);
        let below = mix(mix(BACKGROUND, FREE, level(self.free)), TOUCHING, level(self.touching));
        if self.line { mix(below, LINE, LINE_OPACITY) } else { below }
    }
}

/// Red, green, blue of each colour, one after the other.
pub(crate) fn colors() -> Vec<u8> {
    let covers = [false, true].into_iter().flat_map(|line| {
        (0..LEVELS).flat_map(move |free| (0..LEVELS).map(move |touching| Cover { free, touching, line }))
    });
    covers.flat_map(Cover::color).collect()
}

fn mix(below: [u8; 3], above: [u8; 3], part: f32) -> [u8; 3] {
    std::array::from_fn(|i| {
        let (below, above) = (f32::from(below[i]), f32::from(above[i]));
        (below + (above - below) * part).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::{BACKGROUND, Cover, FREE, FULL, TOUCHING, colors};

    #[test]
    fn indices_name_their_colors() {
        let colors = colors();
        assert_eq!(colors.len(), 3 * 242);
        let at = |free, touching| {
            let index = usize::from(Cover { free, touching, line: false }.index());
            colors[3 * index..][..3].to_vec()
        };
        assert_eq!(at(0, 0), BACKGROUND);
        assert_eq!(at(FULL, 0), FREE);
        assert_eq!(at(3, FULL), TOUCHING);
        assert_eq!(Cover { free: FULL, touching: FULL, line: true }.index(), 241);
    }
}
