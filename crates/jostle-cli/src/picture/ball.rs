//! A sphere in pixels: lit from the upper left, and the darker the farther away.

use super::image::Band;
use super::palette::Mix;
use super::viewport::Viewport;

/// A sphere is drawn no smaller than this, in pixels: a point of radius zero is still seen.
const SMALLEST: f32 = 0.75;

/// Spheres up to this radius are of one brightness.
const FLAT: f32 = 2.0;

/// Where the light comes from: a unit vector, x to the right, y down, z to the viewer.
const LIGHT: [f32; 3] = [-0.4, -0.5, 0.768];

/// Brightness where no light falls, of 1.
const AMBIENT: f32 = 0.25;

/// Brightness of spheres up to [`FLAT`]: about the mean of the others.
const MEAN: f32 = 0.7;

/// A sphere in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ball {
    x: f32,
    y: f32,
    /// How far up the third axis its centre is; higher is nearer to the viewer.
    z: f64,
    radius: f32,
    /// How much light comes back from its distance, of 1.
    light: f32,
    touching: bool,
}

impl Ball {
    /// The sphere in a picture, if any of it can be seen.
    pub(super) fn new([x, y, z]: [f64; 3], radius: f64, touching: bool, viewport: Viewport) -> Option<Self> {
        let view = viewport.depth?;
        let seen = z >= view.low && z <= view.high;
        let [x, y] = viewport.project([x, y], Some(z));
        let radius = (viewport.pixels(radius) * view.shrink(z)).max(SMALLEST);
        let ball = Self { x, y, z, radius, light: view.light(z), touching };
        let inside = |x: f32, side: usize| x + radius + 1.0 > 0.0 && x - radius - 1.0 < side as f32;
        (seen && inside(x, viewport.width) && inside(y, viewport.height)).then_some(ball)
    }

    /// The part of its colour that a point of its disc shows, `dx` and `dy` in radii from the middle.
    fn brightness(&self, dx: f32, dy: f32) -> f32 {
        if self.radius <= FLAT {
            return MEAN * self.light;
        }
        let dz = (1.0 - dx * dx - dy * dy).max(0.0).sqrt();
        let facing = (dx * LIGHT[0] + dy * LIGHT[1] + dz * LIGHT[2]).max(0.0);
        (AMBIENT + (1.0 - AMBIENT) * facing) * self.light
    }
}

/// Puts the farthest sphere first; spheres of one height stay in order.
pub(super) fn back_to_front(balls: &mut [Ball]) {
    balls.sort_by(|a, b| a.z.total_cmp(&b.z));
}

/// Paints spheres over each other.
pub(super) fn paint(balls: &[Ball], band: Band, pixels: &mut [u8]) {
    // The part of each colour in each pixel.
    let mut parts = vec![[0.0_f32; 2]; band.pixels()];
    for ball in balls {
        for (row, range) in band.between(ball.y - ball.radius - 0.5, ball.y + ball.radius + 0.5) {
            let dy = row as f32 + 0.5 - ball.y;
            let half = ((ball.radius + 0.5).powi(2) - dy * dy).max(0.0).sqrt();
            let clip = |x: f32| x.clamp(0.0, band.width as f32) as usize;
            let columns = clip((ball.x - half).floor())..clip((ball.x + half).ceil());
            for (column, part) in columns.clone().zip(&mut parts[range][columns]) {
                let dx = column as f32 + 0.5 - ball.x;
                let cover = (ball.radius + 0.5 - (dx * dx + dy * dy).sqrt()).clamp(0.0, 1.0);
                let shade = cover * ball.brightness(dx / ball.radius, dy / ball.radius);
                *part = part.map(|behind| behind * (1.0 - cover));
                part[usize::from(ball.touching)] += shade;
            }
        }
    }
    for (pixel, [free, touching]) in pixels.iter_mut().zip(parts) {
        *pixel = Mix::of_parts(free, touching).index();
    }
}
