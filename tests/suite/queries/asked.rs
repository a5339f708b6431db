//! Questions to ask of a scene: at its bodies, at their very borders, between them, and far away.

use core::array::from_fn;

use jostle::{Aabb, Circle, Ray};
use jostle_testkit::Scene;
use jostle_testkit::oracle::LIMIT;

/// Lists of queries, all within the contract.
#[derive(Debug, Default)]
pub(crate) struct Asked<const D: usize> {
    pub(crate) points: Vec<[f32; D]>,
    pub(crate) circles: Vec<Circle<D>>,
    pub(crate) aabbs: Vec<Aabb<D>>,
    pub(crate) rays: Vec<Ray<D>>,
}

/// Numbers that look random: splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Returns a number from -1 to 1.
    pub(crate) fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

fn moved<const D: usize>(point: [f32; D], axis: usize, by: f32) -> [f32; D] {
    from_fn(|k| if k == axis { point[k] + by } else { point[k] })
}

fn between<const D: usize>(a: [f32; D], b: [f32; D], part: f32) -> [f32; D] {
    from_fn(|axis| a[axis] + (b[axis] - a[axis]) * part)
}

fn apart<const D: usize>(a: [f32; D], b: [f32; D]) -> f32 {
    a.iter().zip(b).map(|(&a, b)| (f64::from(a) - f64::from(b)).powi(2)).sum::<f64>().sqrt() as f32
}

fn unit<const D: usize>(axis: usize, length: f32) -> [f32; D] {
    from_fn(|k| if k == axis { length } else { 0.0 })
}

fn allowed<const D: usize>(point: &[f32; D], radius: f32) -> bool {
    point.iter().all(|x| x.abs() + radius <= LIMIT)
}

/// Makes queries about `turns` pairs of bodies.
pub(crate) fn about<const D: usize>(scene: &Scene<D>, turns: usize, seed: u64) -> Asked<D> {
    let (view, mut random, mut asked) = (scene.view(), Random(seed), Asked::default());
    let body = |random: &mut Random| match scene.len() {
        0 => ([0.0; D], 1.0),
        n => {
            let id = random.next() as usize % n;
            (view.center(id), view.radius(id))
        }
    };
    for turn in 0..turns {
        let (a, b) = (body(&mut random), body(&mut random));
        let axis = turn % D;
        asked.points_about(a, b, axis, &mut random);
        asked.circles_about(a, b);
        asked.aabbs_about(a, b, axis);
        asked.rays_about(a, b, axis, &mut random);
    }
    asked.points.retain(|point| allowed(point, 0.0));
    asked.circles.retain(|circle| allowed(&circle.center, circle.radius));
    asked.aabbs.retain(|aabb| allowed(&aabb.lo, 0.0) && allowed(&aabb.hi, 0.0));
    asked.rays.retain(|ray| allowed(&ray.origin, 0.0) && ray.direction != [0.0; D]);
    asked.rays.retain(|ray| ray.direction.iter().all(|x| x.is_finite()));
    asked
}

type Body<const D: usize> = ([f32; D], f32);

impl<const D: usize> Asked<D> {
    fn points_about(&mut self, (a, a_radius): Body<D>, (b, _): Body<D>, axis: usize, random: &mut Random) {
        let width = apart(a, b).max(a_radius);
        let border = a[axis] + a_radius;
        let on_border = |x: f32| from_fn(|k| if k == axis { x } else { a[k] });
        self.points.extend([a, between(a, b, 0.5), from_fn(|k| a[k] + width * random.signed())]);
        self.points.extend([border, border.next_up(), a[axis] - a_radius].map(on_border));
    }

    fn circles_about(&mut self, (a, a_radius): Body<D>, (b, b_radius): Body<D>) {
        let gap = (apart(a, b) - b_radius).max(0.0);
        let radii = [0.0, a_radius, gap, gap.next_up(), gap.next_down().max(0.0), f32::from_bits(1)];
        self.circles.extend(radii.map(|radius| Circle::new(a, radius)));
        self.circles.push(Circle::new(between(a, b, 0.3), gap * 0.5));
    }

    fn aabbs_about(&mut self, (a, a_radius): Body<D>, (b, b_radius): Body<D>, axis: usize) {
        let hull = Aabb::EMPTY.with_point(a).with_point(b);
        self.aabbs.extend([hull, Aabb { lo: a, hi: a }]);
        // Boxes beside the body, which touch it or miss it by little.
        for lo in [a[axis] + a_radius, (a[axis] + a_radius).next_up(), (a[axis] + a_radius).next_down()] {
            let mut beside = Aabb { lo: a, hi: a };
            (beside.lo[axis], beside.hi[axis]) = (lo, lo + b_radius);
            self.aabbs.push(beside);
        }
        let corner = a.map(|x| x + a_radius * 0.5_f32.sqrt());
        self.aabbs.push(Aabb { lo: corner, hi: corner.map(|x| x + b_radius) });
    }

    fn rays_about(&mut self, (a, a_radius): Body<D>, (b, b_radius): Body<D>, axis: usize, random: &mut Random) {
        let towards: [f32; D] = from_fn(|k| b[k] - a[k]);
        let anywhere: [f32; D] = from_fn(|_| random.signed());
        self.rays.extend([Ray::new(a, towards), Ray::new(a, anywhere)]);
        let gap = (apart(a, b) - b_radius).max(0.0);
        self.rays
            .extend([gap, gap.next_up(), gap.next_down().max(0.0)].map(|reach| Ray::new(a, towards).within(reach)));
        // Rays along an axis, at the border of a body, with directions of every length.
        let (side, width) = ((axis + 1) % D, apart(a, b) + a_radius);
        let sign = random.signed().signum();
        for offset in [a_radius, a_radius.next_up(), -a_radius, 0.0] {
            let origin = moved(moved(a, side, offset), axis, -sign * 3.0 * width);
            for length in [1.0, f32::MAX, f32::from_bits(1)] {
                self.rays.push(Ray::new(origin, unit(axis, sign * length)));
            }
            // Rays that are hardly aslant.
            let lengths = [1e-3, 1e-10, 1e-19, 1e-20, 1e-30, -1e-19, -1e-20, -1e-42];
            self.rays.extend(lengths.map(|length| Ray::new(origin, moved(unit(axis, sign), side, length))));
        }
        // Rays from far away towards a body.
        for far in [1e3 * width, 1e9 * width, 1e17] {
            let origin: [f32; D] = from_fn(|k| a[k] - far * anywhere[k]);
            self.rays.extend([Ray::new(origin, anywhere), Ray::new(origin, from_fn(|k| a[k] - origin[k]))]);
        }
    }
}
