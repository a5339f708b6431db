//! The bodies of a frame, and what is drawn of them.

use jostle::{Aabb, Boxes, Circles, Column, Radii};

/// The bodies that [`Viewer::frame`](crate::Viewer::frame) shows, by the view in which they were searched.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum View<'a> {
    /// Circles; or spheres, seen along their third axis: see [`Shown::with_heights`](crate::Shown::with_heights).
    Circles(Circles<'a>),
    /// Boxes. A box that reaches to infinity is drawn as far as any corner lies.
    Boxes(Boxes<'a, 2>),
}

impl<'a> From<Circles<'a>> for View<'a> {
    fn from(circles: Circles<'a>) -> Self {
        Self::Circles(circles)
    }
}

impl<'a> From<Boxes<'a, 2>> for View<'a> {
    fn from(boxes: Boxes<'a, 2>) -> Self {
        Self::Boxes(boxes)
    }
}

impl View<'_> {
    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Circles(circles) => circles.len(),
            Self::Boxes(boxes) => boxes.len(),
        }
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the box of all finite corners of boxes; of circles an empty box.
    pub(crate) fn reach(&self) -> Aabb<2> {
        let Self::Boxes(boxes) = self else { return Aabb::EMPTY };
        let axis = |axis: usize| {
            let corners = (0..boxes.len()).flat_map(|id| [boxes.lo(id)[axis], boxes.hi(id)[axis]]);
            let finite = corners.filter(|corner| corner.is_finite());
            finite.fold([f32::INFINITY, f32::NEG_INFINITY], |[lo, hi], x| [lo.min(x), hi.max(x)])
        };
        let ends = [axis(0), axis(1)].map(|[lo, hi]| if lo <= hi { [lo, hi] } else { [0.0; 2] });
        Aabb { lo: ends.map(|[lo, _]| lo), hi: ends.map(|[_, hi]| hi) }
    }
}

/// Returns a box as it is drawn, with no corner at infinity.
pub(crate) fn corners(boxes: &Boxes<'_, 2>, id: usize, reach: &Aabb<2>) -> Aabb<2> {
    let (lo, hi, margin) = (boxes.lo(id), boxes.hi(id), boxes.margin());
    // A corner may be at infinity on either side.
    let near = |x: f32, axis: usize| x.clamp(reach.lo[axis], reach.hi[axis]);
    Aabb { lo: [0, 1].map(|axis| near(lo[axis], axis) - margin), hi: [0, 1].map(|axis| near(hi[axis], axis) + margin) }
}

/// What is drawn of a view: the centres, one column an axis, and the radii; of boxes half of each side, x, y, x, y and
/// so on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'s> {
    pub(crate) centers: [&'s [f32]; 2],
    pub(crate) sizes: &'s [f32],
    /// The box of all centres; a point at the origin where there are none.
    pub(crate) extent: Aabb<2>,
}

/// Memory for what is drawn.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    centers: [Vec<f32>; 2],
    sizes: Vec<f32>,
}

impl Scratch {
    /// Returns what is drawn of a view. O(n); columns of the caller that lie side by side are taken as they are.
    pub(crate) fn draw<'s>(&'s mut self, view: View<'s>) -> Drawn<'s> {
        let Self { centers: [x, y], sizes } = self;
        let (centers, sizes) = match view {
            View::Circles(circles) => {
                let ([of_x, of_y], margin) = (*circles.centers(), circles.margin());
                let radii = match circles.radii() {
                    Radii::Each(radii) if margin == 0.0 => column(radii, sizes),
                    radii => {
                        sizes.resize(circles.len(), 0.0);
                        radii.map_into(0, sizes, |radius| radius + margin);
                        sizes
                    }
                };
                ([column(of_x, x), column(of_y, y)], radii)
            }
            View::Boxes(boxes) => {
                let reach = view.reach();
                [&mut *x, &mut *y, &mut *sizes].into_iter().for_each(|column| column.clear());
                for aabb in (0..boxes.len()).map(|id| corners(&boxes, id, &reach)) {
                    let [of_x, of_y] = [0, 1].map(|axis| aabb.lo[axis] / 2.0 + aabb.hi[axis] / 2.0);
                    x.push(of_x);
                    y.push(of_y);
                    sizes.extend([0, 1].map(|axis| aabb.hi[axis] / 2.0 - aabb.lo[axis] / 2.0));
                }
                ([&x[..], &y[..]], &sizes[..])
            }
        };
        let ends = centers.map(ends);
        Drawn { centers, sizes, extent: Aabb { lo: ends.map(|[lo, _]| lo), hi: ends.map(|[_, hi]| hi) } }
    }
}

fn column<'s>(column: Column<'s, f32>, scratch: &'s mut Vec<f32>) -> &'s [f32] {
    column.as_slice().unwrap_or_else(|| {
        scratch.resize(column.len(), 0.0);
        column.copy_into(0, scratch);
        scratch
    })
}

/// Returns the lowest and the highest value; 0 for no values. It takes sixteen at a time, which compilers turn into
/// vectors.
pub(crate) fn ends(column: &[f32]) -> [f32; 2] {
    if column.is_empty() {
        return [0.0; 2];
    }
    let (sixteens, rest) = column.as_chunks::<16>();
    let (mut lo, mut hi) = ([f32::INFINITY; 16], [f32::NEG_INFINITY; 16]);
    for sixteen in sixteens {
        for lane in 0..16 {
            let x = sixteen[lane];
            lo[lane] = if x < lo[lane] { x } else { lo[lane] };
            hi[lane] = if x > hi[lane] { x } else { hi[lane] };
        }
    }
    let lowest = lo.iter().chain(rest).copied().fold(f32::INFINITY, f32::min);
    [lowest, hi.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)]
}

/// Returns the map from values to fractions of the way from the lowest to the highest: 0 to 65,535.
pub(crate) fn fraction([lo, hi]: [f32; 2]) -> impl Fn(f32) -> u16 + Copy {
    let side = hi - lo;
    // If the quotient would be infinite, all values are as good as in one place.
    let scale = if side > f32::MIN_POSITIVE * 65_536.0 { 65_535.0 / side } else { 0.0 };
    // Adding 2^23 rounds a fraction; its bits then stand last.
    move |x| ((x - lo) * scale + 8_388_608.0).to_bits() as u16
}

/// Appends a bit for each count, lowest first: whether the count is above 0.
pub(crate) fn bits(counts: &[u8], out: &mut Vec<u8>) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let eight = |counts: [u8; 8]| {
        let counts = u64::from_le_bytes(counts);
        let above = (((counts & LOW) + LOW) | counts) & !LOW;
        // The bit of byte i moves to bit i of the highest byte; no two bits meet elsewhere.
        ((above >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    };
    let (eights, rest) = counts.as_chunks::<8>();
    out.extend(eights.iter().map(|&counts| eight(counts)));
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        out.push(eight(last));
    }
}

#[cfg(test)]
mod tests {
    use jostle::Boxes;
    use proptest::prelude::*;

    use super::{Scratch, bits, ends, fraction};

    #[test]
    fn boxes_without_end_are_drawn_as_far_as_others() {
        let infinity = f32::INFINITY;
        let (lo, hi) = ([[0.0, -infinity, 4.0], [1.0, 2.0, -infinity]], [[2.0, 5.0, infinity], [3.0, 2.0, infinity]]);
        let mut scratch = Scratch::default();
        let drawn = scratch.draw(Boxes::new(lo.each_ref(), hi.each_ref()).into());
        assert_eq!(drawn.centers, [[1.0, 2.5, 4.5], [2.0, 2.0, 2.0]]);
        assert_eq!(drawn.sizes, [1.0, 1.0, 2.5, 0.0, 0.5, 1.0]);
        assert_eq!((drawn.extent.lo, drawn.extent.hi), ([1.0, 2.0], [4.5, 2.0]));
        let (lo, hi) = ([[-infinity], [0.0]], [[infinity], [0.0]]);
        let drawn = scratch.draw(Boxes::new(lo.each_ref(), hi.each_ref()).into());
        assert_eq!((drawn.centers, drawn.sizes), ([&[0.0][..], &[0.0]], &[0.0, 0.0][..]));
    }

    #[test]
    fn fractions_of_nothing_and_of_worlds_too_small_are_one_place() {
        for side in [0.0, 1e-45, 1e-35] {
            assert_eq!(fraction([1e-40, 1e-40 + side])(1e-40), 0);
        }
        assert_eq!([-3.0, 0.0, 5.0].map(fraction([-3.0, 5.0])), [0, 24_576, 65_535]);
    }

    proptest! {
        #[test]
        fn columns_are_read_as_one_by_one(column in prop::collection::vec(-9_f32..9.0, 1..70), counts in prop::collection::vec(0_u8..3, 0..70)) {
            let truth = column.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[lo, hi], &x| [lo.min(x), hi.max(x)]);
            prop_assert_eq!(ends(&column), truth);
            let mut out = Vec::new();
            bits(&counts.iter().map(|&count| count * 127).collect::<Vec<_>>(), &mut out);
            prop_assert_eq!(out.len(), counts.len().div_ceil(8));
            for (at, &count) in counts.iter().enumerate() {
                prop_assert_eq!(out[at / 8] >> (at % 8) & 1 == 1, count > 0);
            }
        }
    }
}
