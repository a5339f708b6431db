//! What the examples print, computed in Rust.

use std::fmt::Write;

use engine::{
    Boxes64, Capsules64, Circles, Circles64, CoherentFinder, ContactTracker, Input, NeighborLists, PairFinder,
    PreparedSet, Rows, Space, Spheres64, Threads, contacts_f64,
};

/// Numbers from 0 to 1, as the examples make them.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.0 >> 8) / 16_777_216.0
    }
}

pub(crate) fn pairs_c() -> String {
    let mut text = agents_in_structs();
    text.push_str(&drifting_grains());
    text.push_str(&owned_atoms_and_ghosts());
    text
}

fn agents_in_structs() -> String {
    let (mut numbers, mut text) = (Numbers(1), String::new());
    let [mut x, mut y, mut radius] = [const { Vec::<f32>::new() }; 3];
    for _ in 0..40_000 {
        x.push((numbers.next() * 200.0) as f32);
        y.push((numbers.next() * 200.0) as f32);
        radius.push((0.25 + numbers.next() * 0.5) as f32);
    }
    let mut finder = PairFinder::new();
    let pairs = finder.find(Circles::new(&x, &y, &radius)).unwrap().pairs().to_vec();
    let terms = (1..).zip(&pairs).map(|(at, &[a, b])| u64::from(a) * at + u64::from(b));
    writeln!(text, "pairs {}, checksum {}", pairs.len(), terms.sum::<u64>()).unwrap();
    writeln!(text, "visited {}", pairs.len()).unwrap();
    let periodic = Input::within(Circles::new(&x, &y, &radius)).periodic([Some([0.0, 200.0]), None]);
    writeln!(text, "periodic {}", finder.count(periodic).unwrap()).unwrap();

    let keys = (1000..41_000).collect::<Vec<u64>>();
    let mut tracker = ContactTracker::new();
    tracker.update(&pairs, &keys).unwrap();
    x.iter_mut().step_by(2).for_each(|x| *x += 0.125);
    let found = finder.find(Circles::new(&x, &y, &radius)).unwrap();
    let changes = tracker.update(found, &keys).unwrap();
    let [begin, persist, end] = [changes.begin(), changes.persist(), changes.end()].map(|contacts| contacts.len());
    writeln!(text, "contacts {begin} begin, {persist} persist, {end} end").unwrap();
    writeln!(text, "refused 1, the first is 7").unwrap();
    text
}

fn drifting_grains() -> String {
    let (mut numbers, [mut x, mut y, mut drift]) = (Numbers(5), [const { Vec::<f64>::new() }; 3]);
    for _ in 0..20_000 {
        x.push(numbers.next() * 150.0);
        y.push(numbers.next() * 150.0);
        drift.push((numbers.next() - 0.5) / 256.0);
    }
    let (mut finder, mut list, mut sum, mut deepest) = (CoherentFinder::new(), Vec::new(), 0, 0.0_f64);
    let differ = |a: u32, b: u32| a.is_multiple_of(3) != b.is_multiple_of(3);
    for _ in 0..10 {
        x.iter_mut().zip(&drift).for_each(|(x, drift)| *x += drift);
        let grains = Circles64::new(&x, &y, 0.5);
        let found = finder.only(&differ).find(grains).unwrap();
        contacts_f64(found, grains, Threads::Serial, &mut list).unwrap();
        sum += list.len();
        deepest = list.iter().map(|contact| contact.depth).fold(deepest, f64::max);
    }
    format!("10 frames, {} from scratch: {sum} contacts, the deepest {deepest:.6}\n", finder.rebuilds())
}

fn owned_atoms_and_ghosts() -> String {
    const OWNED: usize = 3000;
    let (mut numbers, mut columns) = (Numbers(2), [const { Vec::new() }; 3]);
    for _ in 0..OWNED + 1500 {
        columns.iter_mut().for_each(|column| column.push(numbers.next() * 16.0));
    }
    let [x, y, z] = &columns;
    let found = PairFinder::new().find(Spheres64::new(x, y, z, 0.0).within(1.25)).unwrap().pairs().to_vec();
    let owned = found.iter().filter(|pair| pair.iter().all(|&id| (id as usize) < OWNED)).count();
    let ghosts = found.iter().filter(|&&[a, b]| (a as usize) < OWNED && b as usize >= OWNED).count();
    let neighbors = 2 * owned + ghosts;
    format!("atoms {}: {owned} owned, {ghosts} with ghosts\nneighbours {neighbors}\n", owned + ghosts)
}

pub(crate) fn pairs_cpp() -> String {
    let make = |count, seed| {
        let (mut numbers, mut columns) = (Numbers(seed), [const { Vec::<f64>::new() }; 3]);
        for _ in 0..count {
            columns[0].push(numbers.next() * 100.0);
            columns[1].push(numbers.next() * 100.0);
            columns[2].push(0.25 + numbers.next() * 0.5);
        }
        columns
    };
    let ([x, y, radius], [wall_x, wall_y, wall_radius], mut text) = (make(10_000, 3), make(1000, 4), String::new());
    let (crowd, walls) = (Circles64::new(&x, &y, &radius), Circles64::new(&wall_x, &wall_y, &wall_radius));
    let mut finder = PairFinder::new();
    let found = finder.find(crowd).unwrap();
    let hash = |sum: u64, id: &[u32; 2]| sum.wrapping_mul(31).wrapping_add(id[0].into()).wrapping_add(id[1].into());
    let (count, sum) = (found.pairs().len(), found.pairs().iter().fold(0, hash));
    writeln!(text, "pairs {count}, checksum {sum}").unwrap();
    let mut standing = PreparedSet::new();
    standing.build(walls, Space::open(), Threads::Serial).unwrap();
    writeln!(text, "at the walls {}", finder.count(Input::between(crowd, &standing)).unwrap()).unwrap();
    let mut houses = [const { Vec::new() }; 4];
    for (x, y) in x.iter().zip(&y).step_by(10) {
        let [left, lower, right, upper] = &mut houses;
        for (side, at) in [(left, x - 1.0), (lower, y - 0.5), (right, x + 1.0), (upper, y + 0.5)] {
            side.push(at);
        }
    }
    let [left, lower, right, upper] = &houses;
    let (boxes, shot) =
        (Boxes64::new([left, lower], [right, upper]), Capsules64::new([&[0.0]; 2], [&[100.0]; 2], 0.25));
    let mut met = |input: Input<'_, 2>| finder.find(input).unwrap().pairs().len();
    let met = [met(boxes.into()), met(Input::between(shot, boxes)), met(Input::between(crowd, boxes))];
    writeln!(text, "boxes {}, in the way of a shot {}, of the crowd {}", met[0], met[1], met[2]).unwrap();
    let nearest = [[50.0, 50.0], [10.0, 90.0]].map(|at| {
        let wall = standing.queries().nearest_one(at, f64::INFINITY).unwrap().unwrap();
        format!("{} at {:.6}", wall.body.id, wall.distance)
    });
    writeln!(text, "nearest walls {}", nearest.join(", ")).unwrap();
    writeln!(text, "visited {count}\nthrown: enough").unwrap();
    let near = Input::within(crowd).periodic([Some([0.0, 100.0]), None]);
    let found = finder.only(&|a, b| a / 10 != b / 10).find(near).unwrap();
    let across = found.image_shifts().filter(|shift| *shift != [0, 0]).count();
    writeln!(text, "of other groups {}, {across} across the border", found.pairs().len()).unwrap();
    let mut lists = NeighborLists::new();
    finder.neighbors(crowd, Rows::Full, &mut lists).unwrap();
    writeln!(text, "neighbours {}\ncontacts begin {count}", lists.neighbors().len()).unwrap();
    writeln!(text, "refused 2, the first is 5").unwrap();
    text
}
