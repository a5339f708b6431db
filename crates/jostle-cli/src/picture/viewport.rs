//! Which part of the world a picture shows, and where in the picture it lies.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};

/// Free margin around the bodies, as a part of the longer side.
const MARGIN: f64 = 0.01;

/// The longer side of a picture is at most this many times the shorter one, so that bodies in a row remain visible.
const LONGEST: f64 = 4.0;

/// Distance of the viewer from the front of what is seen, in longer sides of the picture: the back of a cube is drawn
/// 1 / (1 + 1/2.2) = 0.69 times as large as its front.
const VIEWER: f64 = 2.2;

/// The least light that comes back from any depth, of 1.
const DUSK: f64 = 0.15;

/// Depth at which light beyond [`DUSK`] has faded to 1/e of it, in longer sides of the picture.
const FADES: f64 = 0.5;

/// The farthest coordinate of a window, and of a box that is drawn.
pub(super) const FARTHEST: f64 = 1e30;

/// A rectangle of the world, or a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) low: [f64; 2],
    pub(crate) high: [f64; 2],
    /// The extent along the third axis.
    pub(crate) depth: Option<[f64; 2]>,
}

impl Window {
    fn longer(self) -> f64 {
        (self.high[0] - self.low[0]).max(self.high[1] - self.low[1])
    }

    fn grown(self, margin: f64) -> Self {
        Self { low: self.low.map(|x| x - margin), high: self.high.map(|x| x + margin), ..self }
    }

    /// The window and a margin about it.
    pub(crate) fn with_margin(self) -> Self {
        self.grown(self.longer() * MARGIN).roomy()
    }

    /// The window; if it is a point, a window about it so large that doubles tell it from the point.
    pub(crate) fn roomy(self) -> Self {
        let point = self.low[0].abs().max(self.low[1].abs()).max(1.0) * 1e-6;
        if self.longer() > 0.0 { self } else { self.grown(point) }
    }

    /// The window, as deep as the world if it has no depth of its own.
    ///
    /// # Errors
    /// When the window has a depth and the world has none.
    pub(crate) fn of_world(self, world: Self) -> Result<Self> {
        if self.depth.is_some() && world.depth.is_none() {
            bail!("--window: circles have no third axis, and boxes are drawn from above, so x0,y0,x1,y1 were expected");
        }
        Ok(Self { depth: self.depth.or(world.depth), ..self })
    }
}

impl fmt::Display for Window {
    /// Writes the window as it is read, to a thousandth of the longer side or finer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = (3.0 - self.longer().log10().floor()).clamp(0.0, 30.0) as usize;
        let corners = [(self.low, 0), (self.high, 1)].into_iter().flat_map(|([x, y], end)| {
            let z = self.depth.map(|depth| depth[end]);
            [Some(x), Some(y), z].into_iter().flatten()
        });
        for (at, number) in corners.enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{number:.decimals$}")?;
        }
        Ok(())
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        let sound = |low: &[f64], high: &[f64]| low.iter().zip(high).all(|(low, high)| low < high);
        if numbers.iter().flatten().any(|number| number.abs() > FARTHEST) {
            return Err(format!("no number of a window may be beyond {FARTHEST:e} or -{FARTHEST:e}"));
        }
        match numbers.as_deref() {
            Ok(&[x0, y0, x1, y1]) if sound(&[x0, y0], &[x1, y1]) => {
                Ok(Self { low: [x0, y0], high: [x1, y1], depth: None })
            }
            Ok(&[x0, y0, z0, x1, y1, z1]) if sound(&[x0, y0, z0], &[x1, y1, z1]) => {
                Ok(Self { low: [x0, y0], high: [x1, y1], depth: Some([z0, z1]) })
            }
            _ => Err("numbers x0,y0,x1,y1 or x0,y0,z0,x1,y1,z1 with x0 < x1, and so on, were expected".to_owned()),
        }
    }
}

/// The window from one corner to the opposite one.
pub(crate) fn span<const D: usize>(low: [f64; D], high: [f64; D]) -> Window {
    let depth = (D > 2).then(|| [low[D - 1], high[D - 1]]);
    Window { low: [low[0], low[1]], high: [high[0], high[1]], depth }
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
    /// What is seen along the third axis, if there is one.
    pub(crate) depth: Option<Depth>,
}

/// What is seen along the third axis, from above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Depth {
    pub(crate) low: f64,
    /// Where the picture has its full size.
    pub(crate) high: f64,
    /// The longer side of the picture.
    side: f64,
}

impl Depth {
    /// How large things at a height are drawn, of 1.
    pub(crate) fn shrink(self, z: f64) -> f32 {
        (VIEWER / (VIEWER + (self.high - z) / self.side)) as f32
    }

    /// How much light comes back from a height, of 1.
    pub(crate) fn light(self, z: f64) -> f32 {
        (DUSK + (1.0 - DUSK) * (-(self.high - z) / (FADES * self.side)).exp()) as f32
    }
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
            depth: window.depth.map(|[low, high]| Depth { low, high, side: longer }),
        }
    }

    /// Where a point lies; pixel (0, 0) spans from 0 to 1.
    pub(crate) fn pixel(self, [x, y]: [f64; 2]) -> [f32; 2] {
        let [left, top] = self.corner;
        [((x - left) * self.scale) as f32, ((top - y) * self.scale) as f32]
    }

    /// Where a point at a height lies: the farther from the viewer, the closer to the middle.
    pub(crate) fn project(self, point: [f64; 2], z: Option<f64>) -> [f32; 2] {
        let pixel = self.pixel(point);
        let Some((depth, z)) = self.depth.zip(z) else { return pixel };
        let middle = [self.width as f32 / 2.0, self.height as f32 / 2.0];
        std::array::from_fn(|axis| middle[axis] + (pixel[axis] - middle[axis]) * depth.shrink(z))
    }

    /// The upper left and the lower right corner of the back, if there is a depth.
    pub(crate) fn back(self) -> Option<[[f32; 2]; 2]> {
        let shrink = self.depth.map(|depth| depth.shrink(depth.low))?;
        let sides = [self.width as f32, self.height as f32];
        Some([sides.map(|side| side / 2.0 * (1.0 - shrink)), sides.map(|side| side / 2.0 * (1.0 + shrink))])
    }

    /// A length in pixels.
    pub(crate) fn pixels(self, length: f64) -> f32 {
        (length * self.scale) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::Window;

    #[test]
    fn windows_are_read() {
        let window = Window { low: [-1.0, 0.0], high: [1.0, 2.5], depth: None };
        assert_eq!("-1, 0,1,2.5".parse(), Ok(window));
        assert_eq!(window.to_string(), "-1.000,0.000,1.000,2.500");
        assert_eq!(
            Window { low: [0.0; 2], high: [12345.6; 2], depth: Some([-1.0; 2]) }.to_string(),
            "0,0,-1,12346,12346,-1"
        );
        assert_eq!("-1,0,7,1,2.5,9".parse(), Ok(Window { depth: Some([7.0, 9.0]), ..window }));
        for text in ["", "0,0,1", "1,0,0,1", "0,0,nan,1", "0,0,1,inf", "0,0,1,1,1", "0,0,2,1,1,1"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
        assert!("-1e30,-1e30,1e30,1e30".parse::<Window>().is_ok());
        for text in ["0,0,1.1e30,1", "-inf,0,0,1", "0,0,-2e30,1,1,1"] {
            let told = "no number of a window may be beyond 1e30 or -1e30";
            assert_eq!(text.parse::<Window>(), Err(told.to_owned()), "{text}");
        }
    }
}
