//! Which part of the world a picture shows, and where in the picture it lies.

use std::str::FromStr;

use jostle::{Bodies, Scalar};

/// Free margin around the bodies, as a part of the longer side.
const MARGIN: f64 = 0.01;

/// The longer side of a picture is at most this many times the shorter one, so that bodies in a row remain visible.
const LONGEST: f64 = 4.0;

/// A rectangle of the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) low: [f64; 2],
    pub(crate) high: [f64; 2],
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[x0, y0, x1, y1]) if x0 < x1 && y0 < y1 && numbers.iter().flatten().all(|v| v.abs() <= 1e30) => {
                Ok(Self { low: [x0, y0], high: [x1, y1] })
            }
            _ => Err("four numbers x0,y0,x1,y1 with x0 < x1 and y0 < y1 were expected".to_owned()),
        }
    }
}

/// The smallest window with these bodies inside.
pub(crate) fn around<const D: usize>(bodies: Bodies<'_, D, impl Scalar>, ids: impl Iterator<Item = usize>) -> Window {
    let mut window = Window { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
    for id in ids {
        let radius = bodies.radius(id).to_f64();
        for ((low, high), &x) in window.low.iter_mut().zip(&mut window.high).zip(&bodies.center(id)) {
            let x = x.to_f64();
            (*low, *high) = (low.min(x - radius), high.max(x + radius));
        }
    }
    window
}

/// A window with all bodies inside, and a margin.
pub(crate) fn extent<const D: usize>(bodies: Bodies<'_, D, impl Scalar>) -> Window {
    if bodies.is_empty() {
        return Window { low: [0.0; 2], high: [1.0; 2] };
    }
    let Window { low, high } = around(bodies, 0..bodies.len());
    let longer = (high[0] - low[0]).max(high[1] - low[1]);
    // One point gets a window about it that doubles can tell from it.
    let point = low[0].abs().max(low[1].abs()).max(1.0) * 1e-6;
    let margin = if longer > 0.0 { longer * MARGIN } else { point };
    Window { low: low.map(|x| x - margin), high: high.map(|x| x + margin) }
}

/// The map from the world to a picture; y points up in the world and down in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Viewport {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Pixels for a unit of length.
    scale: f64,
    /// The point of the world at the upper left corner.
    corner: [f64; 2],
}

impl Viewport {
    /// A picture of the window, its longer side `size` pixels.
    pub(crate) fn new(window: Window, size: u32) -> Self {
        let sides = [0, 1].map(|axis| window.high[axis] - window.low[axis]);
        let longer = sides[0].max(sides[1]);
        let [wide, high] = sides.map(|side| side.max(longer / LONGEST));
        let scale = f64::from(size) / longer;
        let middle = [0, 1].map(|axis| window.low[axis] + sides[axis] / 2.0);
        Self {
            width: (wide * scale).round() as usize,
            height: (high * scale).round() as usize,
            scale,
            corner: [middle[0] - wide / 2.0, middle[1] + high / 2.0],
        }
    }

    /// Where a point lies; pixel (0, 0) spans from 0 to 1.
    pub(crate) fn pixel(self, [x, y]: [f64; 2]) -> [f32; 2] {
        let [left, top] = self.corner;
        [((x - left) * self.scale) as f32, ((top - y) * self.scale) as f32]
    }

    /// A length in pixels.
    pub(crate) fn pixels(self, length: f64) -> f32 {
        (length * self.scale) as f32
    }
}

#[cfg(test)]
mod tests {
    use jostle::Circles;

    use super::{Viewport, Window, extent};

    #[test]
    fn windows_are_read() {
        assert_eq!("-1, 0,1,2.5".parse(), Ok(Window { low: [-1.0, 0.0], high: [1.0, 2.5] }));
        for text in ["", "0,0,1", "1,0,0,1", "0,0,nan,1", "0,0,1,inf", "0,0,1,1,1"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }

    #[test]
    fn all_bodies_are_inside() {
        let (x, y) = ([-3.0, 5.0], [0.0, 4.0]);
        let viewport = Viewport::new(extent(Circles::new(&x, &y, 1.0)), 1000);
        assert_eq!((viewport.width, viewport.height), (1000, 608));
        let [left, bottom] = viewport.pixel([-4.0, -1.0]);
        assert!((9.0..11.0).contains(&left) && (597.0..599.0).contains(&bottom), "{left} {bottom}");
    }

    #[test]
    fn odd_worlds_have_a_picture() {
        let none = extent(Circles::new(&[], &[], 1.0));
        let point = extent(Circles::new(&[1e18], &[-1e18], 0.0));
        let row = extent(Circles::new(&[0.0, 1.0], &[0.0, 0.0], 0.0));
        assert_eq!(Viewport::new(none, 100).width, 100);
        assert_eq!(Viewport::new(row, 100).height, 25);
        let viewport = Viewport::new(point, 100);
        assert_eq!((viewport.width, viewport.height), (100, 100));
        assert!(viewport.pixel([1e18, -1e18]).iter().all(|x| (49.0..51.0).contains(x)));
    }
}
