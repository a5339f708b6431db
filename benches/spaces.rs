//! One crystal in every space and precision, by turns in one process on one thread: 100,800 atoms of fcc copper with a
//! cutoff of 4.75, which 42 neighbours of each atom are within, displaced at random. And clusters a million times
//! smaller than what is between them. Prints the lower quartile of each row, and ratios.

use std::time::Instant;

use jostle::{Input, NeighborLists, PairFinder, Rows, Spheres, Spheres64, Threads};
use jostle_testkit::random::Random;

/// Unit cells along each axis, and their side.
const CELLS: [usize; 3] = [30, 30, 28];
const SIDE: f64 = 3.61;

/// Bodies of a cluster, and the side of its cube.
const CLUSTER: (usize, f64) = (12_500, 23.2);
const CUTOFF: f64 = 4.75;

/// Rounds, in each of which everything is timed once.
const ROUNDS: usize = 25;

/// How much is timed: cells of the crystal, bodies of a cluster with the side of its cube, and rounds.
type Size = ([usize; 3], (usize, f64), usize);

/// Everything once, and little of it, unless `cargo bench` runs this.
fn size() -> Size {
    let is_bench = std::env::args().any(|word| word == "--bench");
    if is_bench { (CELLS, CLUSTER, ROUNDS) } else { ([4; 3], (100, 4.64), 1) }
}

/// The atoms of a scene, in both precisions.
struct Atoms {
    double: [Vec<f64>; 3],
    single: [Vec<f32>; 3],
    cutoff: f64,
}

impl Atoms {
    fn new(points: &[[f64; 3]], cutoff: f64) -> Self {
        let column = |axis: usize| points.iter().map(move |point| point[axis]);
        Self {
            double: [0, 1, 2].map(|axis| column(axis).collect()),
            single: [0, 1, 2].map(|axis| column(axis).map(|x| x as f32).collect()),
            cutoff,
        }
    }

    fn single(&self) -> Input<'_, 3> {
        let [x, y, z] = &self.single;
        Spheres::new(x, y, z, 0.0).within(self.cutoff as f32).into()
    }

    fn double(&self) -> Input<'_, 3> {
        let [x, y, z] = &self.double;
        Spheres64::new(x, y, z, 0.0).within(self.cutoff).into()
    }
}

/// Makes the crystal and its cell, whose second vector leans by so much of the first.
fn copper(cells: [usize; 3], lean: f64) -> (Atoms, [[f64; 3]; 3]) {
    let (mut random, mut points) = (Random(1), Vec::new());
    for cell in 0..cells.iter().product::<usize>() {
        let corner = [cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]];
        for basis in [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]] {
            let mut point = [0.0; 3];
            for axis in 0..3 {
                point[axis] = SIDE * (corner[axis] as f64 + basis[axis] + 0.25) + 0.1 * (random.unit() - 0.5);
            }
            points.push(point);
        }
    }
    let length = cells.map(|cells| cells as f64 * SIDE);
    // The same crystal, seen in a cell with slanted walls: bodies beyond one wall come in at the other.
    for point in &mut points {
        let shear = lean * point[1] / length[1];
        if point[0] < shear * length[0] {
            point[0] += length[0];
        }
    }
    (Atoms::new(&points, CUTOFF), [[length[0], 0.0, 0.0], [lean * length[0], length[1], 0.0], [0.0, 0.0, length[2]]])
}

/// Makes eight clusters of bodies that touch a dozen others. Clusters stand `gap` cutoffs apart.
fn clusters((bodies, side): (usize, f64), gap: f64) -> Atoms {
    let (mut random, mut points) = (Random(2), Vec::new());
    for cluster in 0..8_usize {
        for _ in 0..bodies {
            let mut point = [0.0; 3];
            for axis in 0..3 {
                point[axis] = gap * (cluster >> axis & 1) as f64 + side * random.unit();
            }
            points.push(point);
        }
    }
    Atoms::new(&points, 1.0)
}

/// What is timed.
struct Row<'a> {
    name: &'a str,
    input: Input<'a, 3>,
    rows: Option<(Rows, NeighborLists)>,
    finder: PairFinder<3>,
    found: usize,
    times: Vec<f64>,
}

impl<'a> Row<'a> {
    fn new(name: &'a str, input: Input<'a, 3>, rows: Option<(Rows, NeighborLists)>) -> Self {
        Self { name, input, rows, finder: PairFinder::new(), found: 0, times: Vec::new() }
    }

    fn run(&mut self) {
        let search = self.finder.on(Threads::Serial);
        let started = Instant::now();
        self.found = match &mut self.rows {
            Some((rows, lists)) => {
                search.neighbors(self.input, *rows, lists).expect("a sound scene");
                lists.neighbors().len()
            }
            None => search.find(self.input).expect("a sound scene").pairs().len(),
        };
        self.times.push(started.elapsed().as_secs_f64() * 1e3);
    }

    fn quartile(&mut self) -> f64 {
        self.times.sort_by(f64::total_cmp);
        self.times[self.times.len() / 4]
    }
}

fn main() {
    let full = |lists: NeighborLists| Some((Rows::Full, lists));
    let (plain, told) = (NeighborLists::new, || NeighborLists::with_distances().and_image_shifts());
    let (cells, cluster, rounds) = size();
    let ((copper, cell), (slanted, skew)) = (copper(cells, 0.0), copper(cells, 0.5));
    let (near, wide) = (clusters(cluster, 30.0), clusters(cluster, 1e6));
    let lattice = |input: Input<'static, 3>, cell| input.lattice(cell, [true; 3]);
    let (copper, slanted, near, wide) = (leak(copper), leak(slanted), leak(near), leak(wide));
    let mut rows = [
        Row::new("open f32 pairs", copper.single(), None),
        Row::new("open f64 pairs", copper.double(), None),
        Row::new("periodic f32 pairs", lattice(copper.single(), cell), None),
        Row::new("periodic f64 pairs", lattice(copper.double(), cell), None),
        Row::new("open f32 full", copper.single(), full(plain())),
        Row::new("open f64 full", copper.double(), full(plain())),
        Row::new("periodic f32 full", lattice(copper.single(), cell), full(plain())),
        Row::new("periodic f64 full", lattice(copper.double(), cell), full(plain())),
        Row::new("periodic f64 full, told", lattice(copper.double(), cell), full(told())),
        Row::new("triclinic f64 full, told", lattice(slanted.double(), skew), full(told())),
        Row::new("periodic f64 full, told in f64", lattice(copper.double(), cell), {
            full(NeighborLists::new().and_distances_f64().and_image_shifts())
        }),
        Row::new("periodic f64 full, vectors too", lattice(copper.double(), cell), full(told().and_vectors())),
        Row::new("periodic f32 full, told", lattice(copper.single(), cell), full(told())),
        Row::new("near clusters f32 pairs", near.single(), None),
        Row::new("wide clusters f64 pairs", wide.double(), None),
    ];
    for _ in 0..rounds {
        rows.iter_mut().for_each(Row::run);
    }
    for row in &mut rows {
        let time = row.quartile();
        println!("{:32} {:>10} found {time:8.2} ms", row.name, row.found);
    }
    let [open, open64, box32, box64, rows32, rows64, box_rows32, box_rows64, told, skewed, ..] =
        rows.each_mut().map(Row::quartile);
    let [.., near, wide] = rows.each_mut().map(Row::quartile);
    for (name, ratio, bar) in [
        ("f64 of f32, open pairs", open64 / open, 1.3),
        ("f64 of f32, open rows", rows64 / rows32, 1.3),
        ("periodic of open, f32 pairs", box32 / open, 1.15),
        ("periodic of open, f32 rows", box_rows32 / rows32, 1.15),
        ("f64 of f32, periodic pairs", box64 / box32, 1.4),
        ("f64 of f32, periodic rows", box_rows64 / box_rows32, 1.4),
        ("triclinic of orthorhombic", skewed / told, 1.2),
        ("a million times wider of near", wide / near, 5.0),
        ("milliseconds told, of 50", told / 50.0, 1.0),
    ] {
        println!("{name:32} {ratio:6.3} (bar {bar})");
    }
}

/// Lends the atoms until the program ends.
fn leak(atoms: Atoms) -> &'static Atoms {
    Box::leak(Box::new(atoms))
}
