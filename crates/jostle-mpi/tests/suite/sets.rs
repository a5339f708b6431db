//! Both precisions, all spaces, two sets, layers, and neighbour lists.

use jostle::{Bodies, Input, Layers, NeighborLists, PairFinder, Rows, Set, Space, Threads};
use jostle_mpi::{DistributedFinder, DistributedInput, DistributedRows, Number, Share, ThreadRanks, Transport};
use jostle_testkit::pairs::{Hit, hit, hit_between, sort_hits};
use jostle_testkit::scene::{scene, world};
use jostle_testkit::sorting::mix;
use jostle_testkit::{Kind, Scene};

use crate::kit::{Deal, alone, part, together};

fn spaces(side: f64) -> [Space<2>; 4] {
    let small = side / 12.0;
    [
        Space::open(),
        Space::periodic([Some([0.0, side]), None]),
        // Bodies lie in many cells.
        Space::periodic([Some([-1.0, small]), Some([0.0, side])]),
        Space::lattice([[side, 0.0], [side / 3.0, side * 0.9]], [true, true]),
    ]
}

#[test]
fn all_spaces_in_f32() {
    for (number, kind) in [Kind::Uniform, Kind::PowerLaw].into_iter().enumerate() {
        let scene = scene::<2>(kind, 700, 3);
        for (at, space) in spaces(world::<2>(kind, 700).into()).into_iter().enumerate() {
            let expected = alone(scene.view(), space);
            for ranks in [1, 3, 6] {
                let found = together(&scene, space, (ranks, Deal::ALL[(at + number) % 4], ranks == 3));
                assert_eq!(found.len(), expected.len(), "{kind} {space:?} {ranks}");
                assert!(found == expected, "{kind} {space:?} {ranks}");
            }
        }
    }
}

#[test]
fn spheres_in_periodic_space() {
    let side = f64::from(world::<3>(Kind::Dense, 900));
    let scene = scene::<3>(Kind::Dense, 900, 4);
    let space =
        Space::lattice([[side, 0.0, 0.0], [side / 4.0, side, 0.0], [0.0, -side / 5.0, side]], [true, true, false]);
    for space in [Space::periodic([Some([0.0, side]); 3]), space] {
        let expected = alone(scene.view(), space);
        assert!(together(&scene, space, (5, Deal::Round, false)) == expected);
    }
}

/// A body wider than the cell meets itself and other bodies at many images.
#[test]
fn bodies_wider_than_the_cell() {
    let scene: Scene<2> = (0..40).map(|i| ([i as f32 * 0.37, i as f32 * 0.71], 1.5)).collect();
    let space = Space::periodic([Some([0.0, 2.0]), Some([0.0, 3.0])]);
    assert!(together(&scene, space, (4, Deal::Round, false)) == alone(scene.view(), space));
}

struct Wide {
    centers: [Vec<f64>; 2],
    radii: Vec<f64>,
}

/// Returns the bodies in `f64`, far from the origin, where `f32` would round them.
fn widened(scene: &Scene<2>) -> Wide {
    let far = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x) * 1.000_000_123 + 1e7).collect();
    Wide { centers: scene.centers.each_ref().map(far), radii: scene.radii.iter().map(|&r| f64::from(r)).collect() }
}

impl Wide {
    fn view(&self) -> Bodies<'_, 2, f64> {
        Bodies::from_slices(self.centers.each_ref().map(Vec::as_slice), &self.radii)
    }
}

#[test]
fn all_spaces_in_f64() {
    let scene = scene::<2>(Kind::Uniform, 700, 5);
    let all = widened(&scene);
    for space in spaces(world::<2>(Kind::Uniform, 700).into()) {
        let expected = alone(all.view(), space);
        let found = ThreadRanks::run(5, |ranks| {
            let (own, ids) = part(&scene, Deal::Runs, ranks);
            let own = widened(&own);
            let mut finder = DistributedFinder::serial();
            let input = DistributedInput::within(Share::from(own.view()).ids(&ids)).space(space);
            let found = finder.find(ranks, input).expect("sound bodies");
            found.hits().map(|found| hit(found.ids, found.image_shift)).collect::<Vec<_>>()
        });
        let mut found = found.concat();
        sort_hits(&mut found);
        assert!(found == expected, "{space:?}");
    }
}

fn layers(ids: &[u64]) -> (Vec<u32>, Vec<u32>, Vec<i32>) {
    let category = ids.iter().map(|id| 1 << (id % 3)).collect();
    let mask = ids.iter().map(|id| 7 & !(1 << (id % 2))).collect();
    (category, mask, ids.iter().map(|id| (id % 5) as i32 - 2).collect())
}

#[test]
fn layers_and_groups_go_along() {
    let scene = scene::<2>(Kind::Dense, 900, 6);
    let every: Vec<u64> = (0..900).collect();
    let (category, mask, group) = layers(&every);
    let set = Set::from(scene.view()).layers(Layers::new(&category, &mask).with_groups(&group));
    let mut finder = PairFinder::new();
    let mut expected = finder.on(Threads::Serial).find(set).expect("sound bodies").pairs().to_vec();
    expected.sort_unstable();
    for deal in Deal::ALL {
        let found = ThreadRanks::run(4, |ranks| {
            let (own, ids) = part(&scene, deal, ranks);
            let (category, mask, group) = layers(&ids);
            let share = Share::from(own.view()).ids(&ids).layers(&category, &mask).groups(&group);
            let mut finder = DistributedFinder::serial();
            let found =
                if deal == Deal::Round { finder.find_in_place(ranks, share) } else { finder.find(ranks, share) };
            found.expect("sound bodies").global_pairs().collect::<Vec<_>>()
        });
        let mut found: Vec<[u32; 2]> =
            found.concat().into_iter().map(|[a, b]| [a.min(b) as u32, a.max(b) as u32]).collect();
        found.sort_unstable();
        assert!(found == expected, "{deal:?}");
    }
}

/// Giants meet dust, in both orders of the sets.
#[test]
fn two_sets() {
    let sides = [scene::<2>(Kind::Uniform, 600, 7), scene::<2>(Kind::PowerLaw, 400, 8)];
    let side = f64::from(world::<2>(Kind::Uniform, 600));
    for (one, two) in [(0, 1), (1, 0)] {
        let (a, b) = (&sides[one], &sides[two]);
        for space in spaces(side) {
            let mut finder = PairFinder::new();
            let found =
                finder.on(Threads::Serial).find(Input::between(a.view(), b.view()).space(space)).expect("sound");
            let shifts = found.image_shifts().chain(core::iter::repeat([0; 2]));
            let mut expected: Vec<Hit> =
                found.pairs().iter().zip(shifts).map(|(pair, shift)| hit_between(pair.map(u64::from), shift)).collect();
            sort_hits(&mut expected);
            for (ranks, deals) in [(1, [0, 1]), (4, [0, 1]), (3, [2, 0]), (5, [1, 3])] {
                let found = ThreadRanks::run(ranks, |ranks| {
                    let [(own_a, ids_a), (own_b, ids_b)] =
                        [part(a, Deal::ALL[deals[0]], ranks), part(b, Deal::ALL[deals[1]], ranks)];
                    let shares = [Share::from(own_a.view()).ids(&ids_a), Share::from(own_b.view()).ids(&ids_b)];
                    let input = DistributedInput::between(shares[0], shares[1]).space(space);
                    let mut finder = DistributedFinder::serial();
                    let found =
                        if deals[0] == 0 { finder.find(ranks, input) } else { finder.find_in_place(ranks, input) };
                    let found = found.expect("sound bodies");
                    found.hits().map(|found| hit_between(found.ids, found.image_shift)).collect::<Vec<_>>()
                });
                let mut found = found.concat();
                sort_hits(&mut found);
                assert!(found == expected, "{} and {} of {ranks} ranks, {space:?}", found.len(), expected.len());
            }
        }
    }
}

fn rows_of<const D: usize, T: Number>(bodies: Bodies<'_, D, T>, space: Space<D>) -> Vec<Vec<(u64, [i32; D])>> {
    let mut lists = NeighborLists::new().and_image_shifts();
    let input = Input::within(T::set(bodies)).space(space);
    PairFinder::new().on(Threads::Serial).neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
    let row = |id| {
        let mut row: Vec<_> =
            lists.of(id).iter().zip(lists.image_shifts_of(id)).map(|(&id, &shift)| (u64::from(id), shift)).collect();
        row.sort_unstable();
        row
    };
    (0..lists.len()).map(row).collect()
}

#[test]
fn rows_are_whole() {
    let side = f64::from(world::<2>(Kind::PowerLaw, 800));
    for (kind, deal) in [(Kind::PowerLaw, Deal::Round), (Kind::Clustered, Deal::Runs), (Kind::Dense, Deal::OnOne)] {
        let scene = scene::<2>(kind, 800, 9);
        for space in [Space::open(), Space::periodic([Some([0.0, side]), Some([0.0, side])])] {
            let expected = rows_of(scene.view(), space);
            ThreadRanks::run(4, |ranks| {
                let (own, ids) = part(&scene, deal, ranks);
                let mut finder = DistributedFinder::serial();
                let mut rows = DistributedRows::new();
                let input = DistributedInput::within(Share::from(own.view()).ids(&ids)).space(space);
                let ghosts = finder.neighbors(ranks, input, &mut rows).expect("sound bodies").halo().ids();
                assert_eq!(rows.len(), ids.len());
                for (body, id) in ids.iter().enumerate() {
                    assert!(rows.of(body).is_sorted());
                    let name =
                        |&at: &u32| ids.get(at as usize).copied().unwrap_or_else(|| ghosts[at as usize - ids.len()]);
                    let shifts = rows.image_shifts_of(body).iter().copied().chain(core::iter::repeat([0; 2]));
                    let mut row: Vec<_> = rows.of(body).iter().map(name).zip(shifts).collect();
                    row.sort_unstable();
                    assert_eq!(row, expected[*id as usize], "{kind} body {id} {space:?}");
                }
            });
        }
    }
}

/// Returns displacements of bodies, by their ids. Some reach across half of the world.
fn displacements(ids: &[u64], side: f64) -> [Vec<f64>; 2] {
    let by = |id: u64, turn: u64| (mix((id * 2 + turn) as usize) >> 40) as f64 / (1 << 24) as f64 - 0.5;
    [0, 1].map(|axis| ids.iter().map(|&id| by(id, axis) * if id.is_multiple_of(16) { side } else { 6.0 }).collect())
}

/// Checks bodies on their way, and when they meet: on several numbers of ranks, in `f32` and `f64`.
fn moving_bodies<T: Number>(narrow: impl Fn(f64) -> T + Copy + Sync) {
    let scene = scene::<2>(Kind::Uniform, 600, 10);
    let side = f64::from(world::<2>(Kind::Uniform, 600));
    let columns = |scene: &Scene<2>, ids: &[u64]| {
        let wide = |column: &Vec<f32>| column.iter().map(|&x| narrow(x.into())).collect::<Vec<T>>();
        let centers = scene.centers.each_ref().map(wide);
        (centers, wide(&scene.radii), displacements(ids, side).map(|column| column.into_iter().map(narrow).collect()))
    };
    let every: Vec<u64> = (0..600).collect();
    let (centers, radii, moves): (_, _, [Vec<T>; 2]) = columns(&scene, &every);
    let bodies = Bodies::from_slices(centers.each_ref().map(Vec::as_slice), &radii);
    for (space, deal) in spaces(side).into_iter().zip(Deal::ALL) {
        let set = T::set(bodies).moving(T::displacements(moves.each_ref().map(Vec::as_slice)));
        let mut finder = PairFinder::new();
        let found = finder.on(Threads::Serial).find(Input::within(set).space(space)).expect("sound bodies");
        let shifts = found.image_shifts().chain(core::iter::repeat([0; 2]));
        let pairs = found.pairs().iter().zip(shifts).map(|(pair, shift)| hit(pair.map(u64::from), shift));
        let mut expected: Vec<(Hit, u64)> =
            pairs.zip(found.times_of_impact()).map(|(hit, time)| (hit, time.to_bits())).collect();
        expected.sort_unstable();
        for ranks in [1, 4, 7] {
            let found = ThreadRanks::run(ranks, |ranks| {
                let (own, ids) = part(&scene, deal, ranks);
                let (centers, radii, moves): (_, _, [Vec<T>; 2]) = columns(&own, &ids);
                let bodies = Bodies::from_slices(centers.each_ref().map(Vec::as_slice), &radii);
                let share = Share::from(bodies).ids(&ids).moving(moves.each_ref().map(Vec::as_slice));
                let input = DistributedInput::within(share).space(space);
                let mut finder = DistributedFinder::serial();
                let in_place = deal == Deal::Runs;
                let found = if in_place { finder.find_in_place(ranks, input) } else { finder.find(ranks, input) };
                let found = found.expect("sound bodies");
                let times = found.local().times_of_impact().iter().chain(found.remote_times_of_impact(0));
                let hits = found.hits().map(|found| hit(found.ids, found.image_shift));
                hits.zip(times).map(|(hit, time)| (hit, time.to_bits())).collect::<Vec<_>>()
            });
            let mut found = found.concat();
            found.sort_unstable();
            assert!(found == expected, "{} and {} of {ranks} ranks, {space:?}", found.len(), expected.len());
        }
    }
}

#[test]
fn moving_bodies_in_f32() {
    moving_bodies(|x| x as f32);
}

#[test]
fn moving_bodies_in_f64() {
    moving_bodies(|x| x);
}

/// Far from the origin, where a reach and a path are less than the gap of two coordinates, bodies on two ranks meet as
/// they do on one.
#[test]
fn moving_bodies_whose_paths_are_less_than_the_gap_of_coordinates() {
    let far = (1_u64 << 53) as f64;
    for (x, radii, moves) in [
        ([far, far + 2.0], [0.9, 0.9], [0.9, 0.0]),
        ([far + 2.0, far], [0.9, 0.9], [-0.9, 0.0]),
        ([far, far + 4.0], [0.9, 0.9], [0.9, -1.9]),
        ([-far, -far - 2.0], [0.9, 0.9], [-0.9, 0.0]),
    ] {
        let counts = ThreadRanks::run(2, |ranks| {
            let at = ranks.rank() as usize;
            let share = Share::from(Bodies::from_slices([&x[at..=at], &[0.0]], &radii[at..=at]));
            let share = share.moving([&moves[at..=at], &[0.0]]);
            DistributedFinder::serial().find_in_place(ranks, share).expect("sound bodies").len()
        });
        assert_eq!(counts.iter().sum::<usize>(), 1, "{x:?} by {moves:?}");
    }
}

/// A set in `f32` that is widened meets a set in `f64` as it does in one process.
#[test]
fn two_precisions_by_widening() {
    let (narrow, other) = (scene::<2>(Kind::Uniform, 500, 11), scene::<2>(Kind::Dense, 500, 12));
    let wide = |scene: &Scene<2>, factor: f64| {
        let of = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x) * factor).collect();
        Wide { centers: scene.centers.each_ref().map(of), radii: of(&scene.radii) }
    };
    let second = wide(&other, 1.000_000_123);
    let mut finder = PairFinder::new();
    let found = finder.on(Threads::Serial).find(Input::between(narrow.view(), second.view())).expect("sound bodies");
    let mut expected: Vec<Hit> =
        found.pairs().iter().map(|pair| hit_between::<2>(pair.map(u64::from), [0; 2])).collect();
    sort_hits(&mut expected);
    let found = ThreadRanks::run(4, |ranks| {
        let [(a, a_ids), (b, b_ids)] = [part(&narrow, Deal::Round, ranks), part(&other, Deal::Runs, ranks)];
        let (a, b) = (wide(&a, 1.0), wide(&b, 1.000_000_123));
        let [a, b] = [Share::from(a.view()).ids(&a_ids), Share::from(b.view()).ids(&b_ids)];
        let mut finder = DistributedFinder::serial();
        let found = finder.find(ranks, DistributedInput::between(a, b)).expect("sound bodies");
        found.hits().map(|found| hit_between(found.ids, found.image_shift)).collect::<Vec<_>>()
    });
    let mut found = found.concat();
    sort_hits(&mut found);
    assert!(found == expected && !found.is_empty(), "{} and {}", found.len(), expected.len());
}
