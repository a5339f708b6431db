//! Questions to a prepared set: the answers are those of plain loops over all images, except for bodies that are too
//! close to tell.

use core::array::from_fn;

use arbitrary::{Arbitrary, Result, Unstructured};
use jostle::{PreparedQueries, QueryError, QueryReason, Seen, SeenAt, Space};

use super::images::{each_image, shift_of};
use super::solid::{Solid, Verdict, length};
use crate::number::Number64;

/// The most questions of one input.
const MOST: usize = 6;

/// The most images that the plain loops look at for a question.
const IMAGES: usize = 10_000;

/// How far off distances may be, relative to the lengths that go into them, and where squares vanish.
const RELATIVE: f64 = 1e-7;
const VANISHING: f64 = 1e-76;

/// |coordinate| + radius may reach 2^500.
const LIMIT: f64 = f64::from_bits((1023 + 500) << 52);

/// A point: any point, or one that lies so many quarters of a body's extent from one of its ends.
#[derive(Debug)]
pub(super) enum Place {
    Free([Number64; 3]),
    Near { id: u8, upper: bool, step: [i8; 3] },
}

#[derive(Debug)]
pub(super) enum Asked {
    Circle(Place, Number64),
    Aabb(Place, Place),
    /// A box whose corners are put in order first.
    Hull(Place, Place),
    Ray(Place, [Number64; 3], Option<Number64>),
    /// From one place to another.
    Aimed(Place, Place, Option<Number64>),
    Nearest(Place, u8, Option<Number64>),
}

impl<'a> Arbitrary<'a> for Place {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(if bytes.arbitrary::<u8>()? % 4 == 3 {
            Self::Free(bytes.arbitrary()?)
        } else {
            Self::Near { id: bytes.arbitrary()?, upper: bytes.arbitrary()?, step: bytes.arbitrary()? }
        })
    }
}

impl<'a> Arbitrary<'a> for Asked {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 6 {
            0 => Self::Circle(bytes.arbitrary()?, bytes.arbitrary()?),
            1 => Self::Aabb(bytes.arbitrary()?, bytes.arbitrary()?),
            2 => Self::Hull(bytes.arbitrary()?, bytes.arbitrary()?),
            3 => Self::Ray(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
            4 => Self::Aimed(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
            _ => Self::Nearest(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
        })
    }
}

/// The set that is asked, and what is known of its answers.
struct Crowd<'a, const D: usize> {
    queries: &'a PreparedQueries<'a, D>,
    solids: &'a [Solid<D>],
    /// Whether bodies are circles or spheres. Their distance decides whether they hold a point; for a box, the distance
    /// is another sum.
    is_round: bool,
    space: &'a Space<D>,
    /// Where space repeats, no question reaches farther than this, since images would have no end.
    far: f64,
}

/// Asks a set, prepared for a space, all questions.
pub(super) fn ask<const D: usize>(
    asked: &[Asked],
    queries: &PreparedQueries<'_, D>,
    (solids, is_round): (&[Solid<D>], bool),
    space: &Space<D>,
) {
    let lengths = (0..D).filter(|&k| space.repeats()[k]).map(|k| 4.0 * space.vectors()[k][k]);
    let far = lengths.fold(f64::INFINITY, f64::min);
    let crowd = Crowd { queries, solids, is_round, space, far };
    for question in asked.iter().take(MOST) {
        crowd.check(question);
    }
}

impl<const D: usize> Crowd<'_, D> {
    fn at(&self, place: &Place) -> [f64; D] {
        match place {
            Place::Free(point) => from_fn(|axis| point[axis].value()),
            Place::Near { .. } if self.solids.is_empty() => [0.0; D],
            Place::Near { id, upper, step } => {
                let extent = self.solids[usize::from(*id) % self.solids.len()].extent();
                from_fn(|axis| {
                    let [lo, hi] = extent[axis].map(|end| if end.is_finite() { end } else { 0.0 });
                    let side = if hi > lo { hi - lo } else { 1.0 };
                    (if *upper { hi } else { lo }) + f64::from(step[axis]) / 4.0 * side
                })
            }
        }
    }

    fn check(&self, question: &Asked) {
        match question {
            Asked::Circle(at, radius) => self.check_circle(self.at(at), radius.value().min(self.far)),
            Asked::Aabb(lo, hi) => self.check_box(self.at(lo), self.at(hi)),
            Asked::Hull(a, b) => {
                let (a, b): ([f64; D], [f64; D]) = (self.at(a), self.at(b));
                self.check_box(from_fn(|axis| a[axis].min(b[axis])), from_fn(|axis| a[axis].max(b[axis])));
            }
            Asked::Ray(origin, direction, reach) => {
                self.check_ray(self.at(origin), from_fn(|axis| direction[axis].value()), self.limited(reach.as_ref()));
            }
            Asked::Aimed(origin, to, reach) => {
                let (origin, to) = (self.at(origin), self.at(to));
                self.check_ray(origin, from_fn(|axis| to[axis] - origin[axis]), self.limited(reach.as_ref()));
            }
            Asked::Nearest(point, count, within) => {
                self.check_nearest(self.at(point), usize::from(*count), self.limited(within.as_ref()));
            }
        }
    }

    fn limited(&self, reach: Option<&Number64>) -> f64 {
        let reach = reach.map_or(f64::INFINITY, |reach| reach.value());
        if reach > self.far { self.far } else { reach }
    }

    /// Returns whether a question was answered, and checks that it was if it is good, or refused if it has a fault.
    fn answered(&self, name: &str, answer: &Result<(), QueryError>, good: bool) -> bool {
        let images =
            |reason: &QueryReason| matches!(reason, QueryReason::TooManyPeriods { .. } | QueryReason::TooManyImages);
        match answer {
            Ok(()) => assert!(good, "{name}: not refused"),
            Err(QueryError::Query(reason)) if images(reason) => assert!(!self.space.is_open(), "{name}: {reason}"),
            Err(error) => assert!(!good, "{name}: {error}"),
        }
        answer.is_ok()
    }

    /// Returns all bodies at all images where they may touch another body, with the shifts; `None` if these are too
    /// many.
    fn around(&self, other: &Solid<D>) -> Option<Vec<(Seen<D>, [f64; D])>> {
        let (mut left, mut all, extent) = (IMAGES, Vec::new(), other.extent());
        for (id, solid) in (0..).zip(self.solids) {
            let few = each_image(self.space, [&extent, &solid.extent()], &mut left, &mut |image_shift, shift| {
                all.push((Seen { id, image_shift }, shift));
            });
            if !few {
                return None;
            }
        }
        all.sort_unstable_by_key(|(seen, _)| *seen);
        Some(all)
    }

    fn check_circle(&self, center: [f64; D], radius: f64) {
        let good = radius.is_finite() && radius >= 0.0 && is_near(center, radius);
        // A point counts as a box, so that borders are closed however small numbers are.
        let region =
            if radius == 0.0 && !self.is_round { Solid::Boxed([center; 2]) } else { Solid::Long([center; 2], radius) };
        self.check_region("circle", &region, good, |found| self.queries.circle(center, radius, found));
        if radius == 0.0 {
            self.check_region("point", &region, good, |found| self.queries.point(center, found));
        }
    }

    fn check_box(&self, lo: [f64; D], mut hi: [f64; D]) {
        for axis in 0..D {
            if hi[axis] - lo[axis] > self.far {
                hi[axis] = lo[axis] + self.far;
            }
        }
        if self.is_round && !self.space.is_open() {
            return;
        }
        let good = is_near(lo, 0.0) && is_near(hi, 0.0) && (0..D).all(|axis| lo[axis] <= hi[axis]);
        self.check_region("box", &Solid::Boxed([lo, hi]), good, |found| self.queries.aabb(lo, hi, found));
    }

    fn check_region(
        &self,
        name: &str,
        region: &Solid<D>,
        good: bool,
        ask: impl Fn(&mut Vec<Seen<D>>) -> Result<(), QueryError>,
    ) {
        let all = if good { self.around(region) } else { Some(Vec::new()) };
        let Some(all) = all else { return };
        let before = vec![Seen { id: 7, image_shift: [7; D] }];
        let mut found = before.clone();
        if !self.answered(name, &ask(&mut found), good) {
            return assert_eq!(found, before, "{name}: refused, but not without a trace");
        }
        assert!(found.windows(2).all(|two| two[0] < two[1]), "{name}: not in order");
        let mut seen = 0;
        for (body, shift) in all {
            let (has, solid) = (found.binary_search(&body).is_ok(), &self.solids[body.id as usize]);
            seen += usize::from(has);
            let agrees = match region.meets(solid, shift) {
                Verdict::Close => true,
                verdict => (verdict == Verdict::Touching) == has,
            };
            assert!(agrees, "{name} {region:?}: {body:?}, found {has}: {solid:?} in {:?}", self.space);
        }
        assert_eq!(seen, found.len(), "{name} {region:?}: bodies that are far away");
    }

    fn check_ray(&self, origin: [f64; D], direction: [f64; D], reach: f64) {
        // A direction may have any length; its greatest part is taken for 1.
        let most = direction.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let good = is_near(origin, 0.0)
            && direction.iter().all(|x| x.is_finite())
            && most > 0.0
            && reach >= 0.0
            && (reach.is_finite() || self.space.is_open());
        let part = direction.map(|x| x / most);
        let unit = part.map(|x| x / length(part));
        // The ends of all bodies; the way goes farther.
        let ends = self.solids.iter().flat_map(Solid::extent).flatten().filter(|end| end.is_finite());
        let widest = ends.chain(origin).fold(0.0_f64, |most, x| most.max(x.abs()));
        let way = reach.min(8.0 * widest + 1.0);
        let to = |t: f64| from_fn(|axis| origin[axis] + t * unit[axis]);
        let all = if good { self.around(&Solid::Long([origin, to(way)], 0.0)) } else { Some(Vec::new()) };
        let Some(all) = all else { return };
        let before = vec![SeenAt { distance: 7.0, body: Seen { id: 7, image_shift: [7; D] } }];
        let mut hits = before.clone();
        let answer = self.queries.ray(origin, direction, reach, &mut hits);
        if !self.answered("ray", &answer, good) {
            return assert_eq!(hits, before, "ray: refused, but not without a trace");
        }
        let name = || format!("ray from {origin:?} along {direction:?} to {reach}, in {:?}", self.space);
        assert!(hits.windows(2).all(|two| two[0] < two[1]), "{}: not in order", name());
        let first = self.queries.first_hit(origin, direction, reach);
        assert_eq!(first, Ok(hits.first().copied()), "{}: another first hit", name());
        for (body, shift) in &all {
            let solid = &self.solids[body.id as usize];
            let hit = hits.iter().find(|hit| hit.body == *body);
            let verdict = Solid::Long([origin, to(way)], 0.0).meets(solid, *shift);
            let agrees = match hit {
                None => verdict != Verdict::Touching,
                // The hit lies beyond the way that was checked.
                Some(hit) if hit.distance > way => way < reach,
                Some(_) => verdict != Verdict::Apart,
            };
            assert!(agrees, "{}: {solid:?} at {body:?}, {hit:?}, is {verdict:?}", name());
        }
        for hit in &hits {
            self.check_hit(hit, origin, unit, &name);
        }
    }

    /// Checks that a ray enters a body at its border, and does not touch it before.
    fn check_hit(&self, hit: &SeenAt<D>, origin: [f64; D], unit: [f64; D], name: &dyn Fn() -> String) {
        let (solid, t) = (&self.solids[hit.body.id as usize], hit.distance);
        if t.is_nan() || t >= LIMIT {
            return;
        }
        let at: [f64; D] = from_fn(|axis| origin[axis] + t * unit[axis]);
        let shift = shift_of(self.space, hit.body.image_shift);
        let (radius, (distance, long)) = (solid.radius(), solid.distance(at, shift));
        let numbers = length(origin) + t + length(shift) + long + radius;
        let off = distance - radius - RELATIVE * numbers - VANISHING;
        assert!(off <= 0.0, "{}: {hit:?} is {off} off {solid:?}", name());
        if t > 0.0 {
            // After rounding, the way may end within the body.
            let before = t - RELATIVE * numbers;
            let to = from_fn(|axis| origin[axis] + before * unit[axis]);
            let verdict =
                if before > 0.0 { Solid::Long([origin, to], 0.0).meets(solid, shift) } else { Verdict::Close };
            let enters_earlier = verdict == Verdict::Touching && self.is_deep(solid, [origin, to], shift, numbers);
            assert!(!enters_earlier, "{}: {hit:?} enters {solid:?} earlier", name());
        }
    }

    /// Returns whether a part of a way is within a body by more than rounding.
    fn is_deep(&self, solid: &Solid<D>, way: [[f64; D]; 2], shift: [f64; D], numbers: f64) -> bool {
        let less = 10.0 * RELATIVE * numbers;
        let smaller = match *solid {
            Solid::Boxed([lo, hi]) => Solid::Boxed([lo.map(|x| x + less), hi.map(|x| x - less)]),
            Solid::Long(ends, radius) => Solid::Long(ends, radius - less),
        };
        let is_one = match smaller {
            Solid::Boxed([lo, hi]) => (0..D).all(|axis| lo[axis] <= hi[axis]),
            Solid::Long(_, radius) => radius >= 0.0,
        };
        is_one && Solid::Long(way, 0.0).meets(&smaller, shift) == Verdict::Touching
    }

    fn check_nearest(&self, point: [f64; D], count: usize, within: f64) {
        let good = is_near(point, 0.0) && within >= 0.0;
        let before = vec![SeenAt { distance: 7.0, body: Seen { id: 7, image_shift: [7; D] } }];
        let mut nearest = before.clone();
        let answer = self.queries.nearest(point, count, within, &mut nearest);
        if !self.answered("nearest", &answer, good) {
            return assert!(nearest == before || nearest.is_empty(), "nearest: refused, but not without a trace");
        }
        let name = || format!("the {count} nearest to {point:?} within {within} in {:?}", self.space);
        assert!(
            nearest.len() <= count && nearest.is_sorted_by(|a, b| a.distance <= b.distance),
            "{}: not in order",
            name()
        );
        if count > 0 {
            let one = self.queries.nearest_one(point, within);
            assert_eq!(one, Ok(nearest.first().copied()), "{}: another first", name());
        }
        let told = |body: &Seen<D>, shift: [f64; D]| {
            let (distance, long) = self.solids[body.id as usize].distance(point, shift);
            (distance, (distance + long) * RELATIVE + VANISHING)
        };
        for hit in &nearest {
            let (distance, doubt) = told(&hit.body, shift_of(self.space, hit.body.image_shift));
            assert!((hit.distance - distance).abs() <= doubt, "{}: {hit:?} is {distance} away", name());
            assert!(hit.distance <= within, "{}: {hit:?}", name());
        }
        let mut bodies: Vec<_> = nearest.iter().map(|hit| hit.body).collect();
        bodies.sort_unstable();
        assert!(bodies.windows(2).all(|two| two[0] != two[1]), "{}: a body twice", name());
        let full = nearest.len() == count;
        let farthest = nearest.last().map_or(0.0, |hit| hit.distance);
        let reach = if full { farthest } else { within };
        let Some(all) = self.around(&Solid::Long([point; 2], reach)) else { return };
        for (body, shift) in all {
            let (distance, doubt) = told(&body, shift);
            let missing = distance < reach - doubt && !nearest.iter().any(|hit| hit.body == body);
            assert!(
                !missing || count == 0,
                "{}: {body:?} of {:?} is {distance} away, not in {nearest:?}",
                name(),
                self.solids
            );
        }
    }
}

/// Returns whether bodies may be there.
fn is_near<const D: usize>(point: [f64; D], radius: f64) -> bool {
    point.iter().all(|x| x.abs() + radius <= LIMIT)
}
