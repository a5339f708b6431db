//! Questions to a tree: every answer is that of a loop over all bodies, one by one and in batches, and bad questions
//! are refused.

use arbitrary::{Arbitrary, Result, Unstructured};
use jostle::{Aabb, Answers, Bodies, Circle, Isa, LinearTree, Queries, QueryBatch, QueryError, Ray, Reached, Threads};
use jostle_testkit::oracle::LIMIT;
use jostle_testkit::{Scene, queries as oracle};

use crate::crowd::Crowd;
use crate::number::Number;
use crate::ways::POOL;

/// More queries than a batch leaves to one thread of a pool.
const MANY: usize = 600;

/// The most queries of one input.
const MOST: usize = 40;

#[derive(Debug)]
enum Asked {
    Circle([Number; 3], Number),
    Aabb([Number; 3], [Number; 3]),
    /// A box whose corners are put in order first.
    Hull([Number; 3], [Number; 3]),
    Ray([Number; 3], [Number; 3], Option<Number>),
    Nearest([Number; 3], u8, Option<Number>),
    /// A query at a body, or a step away from it in units of its radius.
    AtBody {
        id: u16,
        step: [i8; 3],
        ask: u8,
    },
}

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        isa: u8,
        asked: Vec<Asked>,
        /// Whether batches are large enough for several threads.
        many: u8,
    }
}

impl<'a> Arbitrary<'a> for Asked {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match bytes.arbitrary::<u8>()? % 6 {
            0 => Self::Circle(bytes.arbitrary()?, bytes.arbitrary()?),
            1 => Self::Aabb(bytes.arbitrary()?, bytes.arbitrary()?),
            2 => Self::Hull(bytes.arbitrary()?, bytes.arbitrary()?),
            3 => Self::Ray(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
            4 => Self::Nearest(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
            _ => Self::AtBody { id: bytes.arbitrary()?, step: bytes.arbitrary()?, ask: bytes.arbitrary()? },
        })
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

fn at<const D: usize>(point: &[Number; 3]) -> [f32; D] {
    core::array::from_fn(|axis| point[axis].value())
}

/// The queries of an input by kind.
#[derive(Default)]
struct Lists<const D: usize> {
    circles: Vec<Circle<D>>,
    aabbs: Vec<Aabb<D>>,
    rays: Vec<Ray<D>>,
    nearest: Vec<([f32; D], usize, f32)>,
}

impl<const D: usize> Lists<D> {
    fn push(&mut self, asked: &Asked, view: Bodies<'_, D>) {
        match asked {
            Asked::Circle(center, radius) => self.circles.push(Circle::new(at(center), radius.value())),
            Asked::Aabb(lo, hi) => self.aabbs.push(Aabb { lo: at(lo), hi: at(hi) }),
            Asked::Hull(a, b) => self.aabbs.push(Aabb::EMPTY.with_point(at(a)).with_point(at(b))),
            Asked::Ray(origin, direction, reach) => {
                let ray = Ray::new(at(origin), at(direction));
                self.rays.push(reach.map_or(ray, |reach| ray.within(reach.value())));
            }
            Asked::Nearest(point, count, within) => {
                self.nearest.push((at(point), (*count).into(), within.map_or(f32::INFINITY, Number::value)));
            }
            &Asked::AtBody { id, step, ask } if !view.is_empty() => {
                let id = usize::from(id) % view.len();
                let (center, radius) = (view.center(id), view.radius(id));
                let moved: [f32; D] = core::array::from_fn(|axis| center[axis] + f32::from(step[axis]) * radius);
                match ask % 4 {
                    0 => self.circles.push(Circle::new(moved, radius)),
                    1 => self.aabbs.push(Aabb::EMPTY.with_point(center).with_point(moved)),
                    2 => self.rays.push(Ray::new(moved, core::array::from_fn(|axis| center[axis] - moved[axis]))),
                    _ => self.nearest.push((moved, usize::from(ask / 4), f32::INFINITY)),
                }
            }
            Asked::AtBody { .. } => {}
        }
    }
}

fn is_point<const D: usize>(point: [f32; D]) -> bool {
    point.iter().all(|x| x.abs() <= LIMIT)
}

fn is_distance(distance: f32) -> bool {
    distance >= 0.0
}

fn is_circle<const D: usize>(circle: &Circle<D>) -> bool {
    circle.radius >= 0.0 && circle.center.iter().all(|x| x.abs() + circle.radius <= LIMIT)
}

fn is_box<const D: usize>(aabb: &Aabb<D>) -> bool {
    is_point(aabb.lo) && is_point(aabb.hi) && (0..D).all(|axis| aabb.lo[axis] <= aabb.hi[axis])
}

fn is_ray<const D: usize>(ray: &Ray<D>) -> bool {
    let direction = ray.direction.iter().all(|x| x.is_finite()) && ray.direction != [0.0; D];
    is_point(ray.origin) && direction && is_distance(ray.reach)
}

fn check<const D: usize>(input: &Input) {
    let scene: Scene<D> = input.crowd.scene();
    let mut tree = LinearTree::new();
    if tree.build(scene.view(), Threads::Serial).is_err() {
        return;
    }
    let mut lists = Lists::default();
    input.asked.iter().take(MOST).for_each(|asked| lists.push(asked, scene.view()));
    let isas: Vec<_> = Isa::available().collect();
    let queries = Queries::new(&tree).with_isa(isas[usize::from(input.isa) % isas.len()]);
    check_regions(&lists, queries, &scene);
    check_rays(&lists, queries, &scene);
    check_nearest(&lists, queries, &scene);
    check_batches(&lists, queries, input.many % 16 == 15);
}

/// Checks that a good query has the expected answer, and that a bad one is refused and leaves the list as it was.
fn answered<T: Clone + PartialEq + core::fmt::Debug>(
    good: bool,
    expected: impl FnOnce() -> Vec<T>,
    before: T,
    ask: impl FnOnce(&mut Vec<T>) -> Result<(), QueryError>,
) {
    let mut list = vec![before];
    let untouched = list.clone();
    let answer = ask(&mut list);
    assert_eq!(answer.is_ok(), good, "refused, or not, against what is documented");
    assert_eq!(list, if good { expected() } else { untouched });
}

fn check_regions<const D: usize>(lists: &Lists<D>, queries: Queries<'_, D>, scene: &Scene<D>) {
    for &circle in &lists.circles {
        answered(is_circle(&circle), || oracle::circle(scene, &circle), 7, |ids| queries.circle(circle, ids));
        let point = circle.center;
        answered(is_point(point), || oracle::point(scene, point), 7, |ids| queries.point(point, ids));
    }
    for &aabb in &lists.aabbs {
        answered(is_box(&aabb), || oracle::aabb(scene, &aabb), 7, |ids| queries.aabb(aabb, ids));
    }
}

fn check_rays<const D: usize>(lists: &Lists<D>, queries: Queries<'_, D>, scene: &Scene<D>) {
    for &ray in &lists.rays {
        let before = Reached { id: 7, distance: 7.0 };
        answered(is_ray(&ray), || oracle::ray(scene, &ray), before, |hits| queries.ray(ray, hits));
        let first = queries.first_hit(ray);
        assert_eq!(first.is_ok(), is_ray(&ray));
        assert!(first.is_err() || first == Ok(oracle::ray(scene, &ray).first().copied()), "another first hit");
    }
}

fn check_nearest<const D: usize>(lists: &Lists<D>, queries: Queries<'_, D>, scene: &Scene<D>) {
    for &(point, count, within) in &lists.nearest {
        let (good, before) = (is_point(point) && is_distance(within), Reached { id: 7, distance: 7.0 });
        let expected = || oracle::nearest(scene, point, count, within);
        answered(good, expected, before, |list| queries.nearest(point, count, within, list));
        let one = queries.nearest_one(point, within);
        assert_eq!(one.is_ok(), good);
        assert!(
            one.is_err() || one == Ok(oracle::nearest(scene, point, 1, within).first().copied()),
            "another nearest"
        );
    }
}

type Owned = (Vec<usize>, Vec<u32>, Vec<f32>);

fn owned(answers: Answers<'_>) -> Owned {
    (answers.offsets().to_vec(), answers.ids().to_vec(), answers.distances().to_vec())
}

/// Checks a batch on one thread and on three. It is refused if one of its queries is bad.
fn batch<T: Copy + Sync>(
    queries: &[T],
    many: bool,
    good: impl Fn(&T) -> bool,
    ask: impl Fn(&[T], Threads<'_>) -> Option<Owned> + Sync,
) {
    let repeated: Vec<T> = queries.iter().copied().cycle().take(if many { MANY } else { queries.len() }).collect();
    let serial = ask(&repeated, Threads::Serial);
    let parallel = POOL.install(|| ask(&repeated, Threads::Current));
    assert!(serial == parallel, "another answer on three threads");
    assert_eq!(serial.is_some(), repeated.iter().all(good), "a batch refused, or not, against what is documented");
}

fn check_batches<const D: usize>(lists: &Lists<D>, queries: Queries<'_, D>, many: bool) {
    let new = QueryBatch::new;
    batch(&lists.circles, many, is_circle, |list, on| new().circles(queries, list, on).map(owned).ok());
    batch(&lists.aabbs, many, is_box, |list, on| new().aabbs(queries, list, on).map(owned).ok());
    batch(&lists.rays, many, is_ray, |list, on| new().rays(queries, list, on).map(owned).ok());
    batch(&lists.rays, many, is_ray, |list, on| new().first_hits(queries, list, on).map(owned).ok());
    let points: Vec<_> = lists.nearest.iter().map(|&(point, ..)| point).collect();
    batch(&points, many, |&point| is_point(point), |list, on| new().points(queries, list, on).map(owned).ok());
    if let Some(&(_, count, within)) = lists.nearest.first().filter(|nearest| is_distance(nearest.2)) {
        let ask = |list: &[_], on: Threads<'_>| new().nearest(queries, list, count, within, on).map(owned).ok();
        batch(&points, many, |&point| is_point(point), ask);
    }
}
