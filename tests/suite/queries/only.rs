//! Questions about the bodies that pass a test: what is left of the answers about all bodies.

use jostle::{
    Aabb, Circle, Circles64, LinearTree, PreparedBatch, PreparedSet, Queries, QueryBatch, Ray, Reached, Seen, SeenAt,
    Space, Threads,
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

/// Each question of a batch has a test of its own, by its number; a single question is number 0.
#[test]
fn by_the_number_of_the_question() {
    let scene = scene::scene::<2>(Kind::Dense, 1_500, 5);
    let (tree, mut set) = (tree_of(&scene), PreparedSet::new());
    let space = Space::periodic([Some([tree.bounds().lo[0], tree.bounds().hi[0]]), None]);
    set.build(scene.view(), space, Threads::Serial).expect("sound");
    let sees = |question: usize, id: u32| !(id as usize + question).is_multiple_of(3) && id as usize != question;
    let points: Vec<[f32; 2]> = (0..500).map(|id| scene.view().center(id)).collect();
    let (of_tree, of_set) = (Queries::new(&tree).only_for(&sees), set.queries().only_for(&sees));
    let wide: Vec<[f64; 2]> = points.iter().map(|point| point.map(f64::from)).collect();
    let (mut batch, mut prepared) = (QueryBatch::new(), PreparedBatch::new());
    for threads in [Threads::Serial, Threads::Current] {
        let nearest = batch.nearest(of_tree, &points, 3, 9.0, threads).expect("sound");
        for (question, point) in points.iter().enumerate() {
            let (test, mut near) = (|id| sees(question, id), Vec::new());
            Queries::new(&tree).only(&test).nearest(*point, 3, 9.0, &mut near).expect("sound");
            assert_eq!(nearest.of(question), near.iter().map(|body| body.id).collect::<Vec<_>>());
        }
        let held = batch.points(of_tree, &points, threads).expect("sound");
        assert!((0..points.len()).all(|question| held.of(question).iter().all(|&id| sees(question, id))));
        let rays: Vec<_> = wide.iter().map(|point| (*point, [1.0, 0.5], 6.0)).collect();
        let circles: Vec<_> = wide.iter().map(|point| (*point, 1.5)).collect();
        let boxes: Vec<_> = wide.iter().map(|point| (*point, point.map(|x| x + 2.0))).collect();
        let mut all = Vec::new();
        let firsts = prepared.first_hits(of_set, &rays, threads).expect("sound");
        all.extend((0..points.len()).map(|question| [firsts.of(question).to_vec()].to_vec()));
        let near = prepared.nearest(of_set, &wide, 3, 9.0, threads).expect("sound");
        (0..points.len()).for_each(|question| all[question].push(near.of(question).to_vec()));
        for answers in [
            prepared.rays(of_set, &rays, threads).map(|all| (0..500).map(|q| all.of(q).to_vec()).collect::<Vec<_>>()),
            prepared.circles(of_set, &circles, threads).map(|all| (0..500).map(|q| all.of(q).to_vec()).collect()),
            prepared.aabbs(of_set, &boxes, threads).map(|all| (0..500).map(|q| all.of(q).to_vec()).collect()),
            prepared.points(of_set, &wide, threads).map(|all| (0..500).map(|q| all.of(q).to_vec()).collect()),
        ] {
            all.iter_mut().zip(answers.expect("sound")).for_each(|(all, answer)| all.push(answer));
        }
        for (question, point) in wide.iter().enumerate() {
            let test = |id| sees(question, id);
            let (one, mut seen, mut at) = (set.queries().only(&test), Vec::new(), Vec::new());
            let bodies = |at: &[SeenAt<2>]| at.iter().map(|hit| hit.body).collect::<Vec<_>>();
            let first = one.first_hit(*point, [1.0, 0.5], 6.0).expect("sound");
            let mut expected = vec![bodies(first.as_slice())];
            one.nearest(*point, 3, 9.0, &mut at).expect("sound");
            expected.push(bodies(&at));
            one.ray(*point, [1.0, 0.5], 6.0, &mut at).expect("sound");
            expected.push(bodies(&at));
            one.circle(*point, 1.5, &mut seen).expect("sound");
            expected.push(seen.clone());
            one.aabb(*point, point.map(|x| x + 2.0), &mut seen).expect("sound");
            expected.push(seen.clone());
            one.point(*point, &mut seen).expect("sound");
            expected.push(seen);
            assert_eq!(all[question], expected, "question {question}");
        }
    }
    let of_first = |id| sees(0, id);
    assert_eq!(of_set.nearest_one(wide[0], 9.0), set.queries().only(&of_first).nearest_one(wide[0], 9.0));
}

#[test]
fn nobody_is_the_nearest_in_a_space_that_repeats() {
    let mut set = PreparedSet::new();
    let space = Space::lattice([[5.0, 0.0], [2.0, 4.0]], [true, true]);
    set.build(Circles64::new(&[1.0, 3.0], &[1.0, 2.0], 0.1), space, Threads::Serial).expect("sound bodies");
    let (nobody, but_one) = (|_| false, |id| id == 1);
    let (queries, mut near) = (set.queries().only(&nobody), Vec::new());
    for count in [0, 1, 2] {
        assert_eq!(queries.nearest([7.0, -3.0], count, f64::INFINITY, &mut near), Ok(()));
        assert_eq!(near, []);
    }
    assert_eq!(queries.nearest_one([7.0, -3.0], f64::INFINITY), Ok(None));
    assert_eq!(queries.nearest_one([7.0, -3.0], 30.0), Ok(None));
    let one = set.queries().only(&but_one);
    let found = one.nearest_one([23.0, 2.0], f64::INFINITY);
    assert_eq!(found, Ok(Some(SeenAt { distance: 0.0, body: Seen { id: 1, image_shift: [4, 0] } })));
    let (points, mut batch) = ([[7.0, -3.0]; 200], PreparedBatch::new());
    let answers = batch.nearest(queries, &points, 3, f64::INFINITY, Threads::Serial).expect("sound questions");
    assert_eq!(answers.offsets(), [0; 201]);
}
