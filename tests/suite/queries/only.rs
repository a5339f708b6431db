//! Questions about the bodies that pass a test: what is left of the answers about all bodies.

use jostle::{
    Aabb, Circle, LinearTree, PreparedBatch, PreparedSet, Queries, QueryBatch, Ray, Reached, Seen, SeenAt, Space,
    Threads,
};
use jostle_testkit::{Kind, scene};

use crate::queries::check::tree_of;

fn passes(id: u32) -> bool {
    !id.is_multiple_of(3)
}

fn circles<const D: usize>(tree: &LinearTree<D>) -> Vec<Circle<D>> {
    let bounds = tree.bounds();
    (0..40)
        .map(|at| {
            let part = |axis: usize| ((at * (7 + axis) + 3) % 41) as f32 / 41.0;
            let center =
                core::array::from_fn(|axis| bounds.lo[axis] + (bounds.hi[axis] - bounds.lo[axis]) * part(axis));
            Circle::new(center, 0.5 * (at % 5) as f32)
        })
        .collect()
}

fn left<T: Copy>(all: &[T], id: impl Fn(&T) -> u32) -> Vec<T> {
    all.iter().copied().filter(|one| passes(id(one))).collect()
}

fn of_a_tree<const D: usize>() {
    let tree = tree_of(&scene::scene::<D>(Kind::Dense, 2_000, 5));
    let (all, some) = (Queries::new(&tree), Queries::new(&tree).only(&passes));
    let (mut ids, mut fewer, mut reached, mut near) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let [mut by_circle, mut by_ray, mut first, mut nearest] = [const { Vec::new() }; 4];
    let asked = circles(&tree);
    for circle in &asked {
        all.circle(*circle, &mut ids).expect("sound");
        some.circle(*circle, &mut fewer).expect("sound");
        assert_eq!(fewer, left(&ids, |&id| id));
        by_circle.extend_from_slice(&fewer);
        let aabb = Aabb { lo: circle.center.map(|x| x - 2.0), hi: circle.center.map(|x| x + 2.0) };
        all.aabb(aabb, &mut ids).expect("sound");
        some.aabb(aabb, &mut fewer).expect("sound");
        assert_eq!(fewer, left(&ids, |&id| id));
        let ray = Ray::new(circle.center, [1.0; D]);
        all.ray(ray, &mut reached).expect("sound");
        some.ray(ray, &mut near).expect("sound");
        assert_eq!(near, left(&reached, |hit| hit.id));
        assert_eq!(some.first_hit(ray), Ok(near.first().copied()));
        by_ray.extend(near.iter().map(|hit| hit.id));
        first.extend(near.first().map(|hit| hit.id));
        all.nearest(circle.center, 2_000, f32::INFINITY, &mut reached).expect("sound");
        some.nearest(circle.center, 7, f32::INFINITY, &mut near).expect("sound");
        assert_eq!(near, left(&reached, |body: &Reached| body.id)[..7]);
        assert_eq!(some.nearest_one(circle.center, f32::INFINITY), Ok(Some(near[0])));
        nearest.extend(near.iter().map(|body| body.id));
    }
    let rays: Vec<_> = asked.iter().map(|circle| Ray::new(circle.center, [1.0; D])).collect();
    let points: Vec<_> = asked.iter().map(|circle| circle.center).collect();
    let (mut batch, on) = (QueryBatch::new(), Threads::Current);
    assert_eq!(batch.circles(some, &asked, on).expect("sound").ids(), by_circle);
    assert_eq!(batch.rays(some, &rays, on).expect("sound").ids(), by_ray);
    assert_eq!(batch.first_hits(some, &rays, on).expect("sound").ids(), first);
    assert_eq!(batch.nearest(some, &points, 7, f32::INFINITY, on).expect("sound").ids(), nearest);
}

#[test]
fn of_a_tree_of_circles() {
    of_a_tree::<2>();
}

#[test]
fn of_a_tree_of_spheres() {
    of_a_tree::<3>();
}

#[test]
fn of_a_prepared_set() {
    let scene = scene::scene::<2>(Kind::Dense, 2_000, 5);
    let (tree, mut set) = (tree_of(&scene), PreparedSet::new());
    let bounds = tree.bounds();
    let space = Space::periodic([Some([bounds.lo[0], bounds.hi[0]]), None]);
    set.build(scene.view(), space, Threads::Serial).expect("sound");
    let (all, some) = (set.queries(), set.queries().only(&passes));
    let (mut seen, mut fewer, mut reached, mut near) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut by_circle = Vec::new();
    let asked: Vec<_> = circles(&tree).iter().map(|at| (at.center.map(f64::from), f64::from(at.radius))).collect();
    for &(center, radius) in &asked {
        all.circle(center, radius, &mut seen).expect("sound");
        some.circle(center, radius, &mut fewer).expect("sound");
        assert_eq!(fewer, left(&seen, |seen: &Seen<2>| seen.id));
        by_circle.extend_from_slice(&fewer);
        all.ray(center, [1.0, 0.5], 30.0, &mut reached).expect("sound");
        some.ray(center, [1.0, 0.5], 30.0, &mut near).expect("sound");
        assert_eq!(near, left(&reached, |hit: &SeenAt<2>| hit.body.id));
        assert_eq!(some.first_hit(center, [1.0, 0.5], 30.0), Ok(near.first().copied()));
        all.nearest(center, 40, f64::INFINITY, &mut reached).expect("sound");
        some.nearest(center, 7, f64::INFINITY, &mut near).expect("sound");
        assert_eq!(near, left(&reached, |body: &SeenAt<2>| body.body.id)[..7]);
        assert_eq!(some.nearest_one(center, f64::INFINITY), Ok(Some(near[0])));
    }
    let mut batch = PreparedBatch::new();
    assert_eq!(batch.circles(some, &asked, Threads::Current).expect("sound").found(), by_circle);
}
