//! Neighbour lists within a set or of one set among another, and lists that are kept while bodies move by less than a
//! margin.

use jostle::{Bodies, LinearTree, NeighborLists, PairFinder, Rows, Search, Skin, Threads, between};
use jostle_testkit::Scene;
use jostle_testkit::oracle::{self, overlaps};

use crate::crowd::{Crowd, is_sound};
use crate::number::Number;
use crate::ways::agreed;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        /// The bodies that are the neighbours, if not those of `crowd`.
        other: Option<Crowd>,
        in_space: bool,
        isa: u8,
        half: bool,
        from_tree: bool,
        /// The distance of neighbours, instead of overlaps.
        distance: Option<Number>,
        margin: Option<Number>,
        /// Only pairs whose ids differ in one of these bits are kept.
        only: Option<u8>,
        /// How far bodies move while the lists are kept.
        moves: Vec<Number>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

impl Input {
    fn view<'a, const D: usize>(&self, scene: &'a Scene<D>) -> Bodies<'a, D> {
        let view = scene.view().with_margin(self.margin.map_or(0.0, Number::value));
        self.distance.map_or(view, |distance| view.within(distance.value()))
    }

    /// Returns whether bodies are too many for a double loop, or pairs too many to list.
    fn is_large(&self) -> bool {
        self.crowd.in_company() || self.other.as_ref().is_some_and(Crowd::in_company)
    }

    fn keeps(&self, [a, b]: [u32; 2]) -> bool {
        self.only.is_none_or(|only| (a ^ b) & u32::from(only) != 0)
    }
}

/// Rows, and distances as bits.
type List = (Vec<usize>, Vec<u32>, Vec<u32>);

fn check<const D: usize>(input: &Input) {
    if input.is_large() && (input.distance.is_some() || input.margin.is_some()) {
        return;
    }
    let scene: Scene<D> = input.crowd.scene();
    let other: Option<Scene<D>> = input.other.as_ref().map(Crowd::scene);
    let view = input.view(&scene);
    let other_view = other.as_ref().map(|other| input.view(other));
    let mut tree = LinearTree::new();
    let from_tree = input.from_tree && tree.build(view, Threads::Serial).is_ok();
    let among: jostle::Input<'_, D> = match (other_view, from_tree) {
        (None, false) => view.into(),
        (None, true) => (&tree).into(),
        (Some(other), false) => between(view, other),
        (Some(other), true) => between(&tree, other),
    };
    let rows = if input.half { Rows::Half } else { Rows::Full };
    let keeps = |a: u32, b: u32| input.keeps([a, b]);
    let mut finder = PairFinder::new();
    let list = |search: Search<'_, '_, D>, mut lists: NeighborLists| -> Option<List> {
        let search = if input.only.is_some() { search.only(&keeps) } else { search };
        let stats = search.neighbors(among, rows, &mut lists).ok()?;
        assert_eq!(stats.pairs, lists.neighbors().len() as u64);
        let distances2 = lists.distances2().iter().map(|x| x.to_bits()).collect();
        Some((lists.offsets().to_vec(), lists.neighbors().to_vec(), distances2))
    };
    let found = agreed(&mut finder, input.isa, |search| list(search, NeighborLists::with_distances()));
    let plain = agreed(&mut finder, input.isa, |search| list(search, NeighborLists::new()));
    assert!(plain == found.clone().map(|(offsets, neighbors, _)| (offsets, neighbors, Vec::new())), "plain rows");
    let accepted = is_sound(view) && other_view.is_none_or(is_sound);
    assert_eq!(found.is_some(), accepted, "refused, or not, against what is documented");
    if let Some(found) = found.filter(|_| !input.is_large()) {
        assert!(found == expected(input, view, other_view), "other rows than the double loop");
    }
    if accepted && !input.is_large() && input.distance.is_none() {
        check_skin(input, &scene, &mut finder);
    }
}

fn expected<const D: usize>(input: &Input, view: Bodies<'_, D>, other: Option<Bodies<'_, D>>) -> List {
    let (mut offsets, mut neighbors, mut distances2) = (vec![0], Vec::new(), Vec::new());
    let among = other.unwrap_or(view);
    for a in 0..view.len() {
        for b in 0..among.len() {
            let (p, q) = (view.center(a), among.center(b));
            let in_row = other.is_some() || if input.half { b > a } else { b != a };
            let hit = in_row && overlaps(p, view.radius(a), q, among.radius(b));
            if hit && input.keeps([a as u32, b as u32]) {
                neighbors.push(b as u32);
                let dx = q[0] - p[0];
                let distance2: f32 = (1..D).fold(dx * dx, |sum, axis| sum + (q[axis] - p[axis]) * (q[axis] - p[axis]));
                distances2.push(distance2.to_bits());
            }
        }
        offsets.push(neighbors.len());
    }
    (offsets, neighbors, distances2)
}

/// Checks that a list that is said to be valid still holds every pair.
fn check_skin<const D: usize>(input: &Input, scene: &Scene<D>, finder: &mut PairFinder<D>) {
    let margin = input.margin.map_or(0.0, Number::value);
    let (mut skin, mut moved) = (Skin::default(), scene.clone());
    skin.keep(scene.view().with_margin(margin)).expect("it was accepted");
    let kept = finder.find(scene.view().with_margin(margin)).expect("it was accepted").pairs().to_vec();
    let mine = margin > 0.0;
    assert!(skin.still_valid(scene.view()), "nothing has moved");
    for (at, number) in input.moves.iter().enumerate() {
        let (axis, id) = (at % (D + 1), at / (D + 1));
        let column = if axis == D { &mut moved.radii } else { &mut moved.centers[axis] };
        if let Some(x) = column.get_mut(id) {
            *x += number.value() * margin;
        }
    }
    let valid = skin.still_valid(moved.view());
    assert!(!mine || valid == finder.still_valid(moved.view()), "another list than that of the finder");
    if valid && oracle::check(moved.view()).is_ok() {
        let now = oracle::pairs(moved.view());
        assert!(now.iter().all(|pair| kept.contains(pair)), "a pair that the kept list has not");
    }
}
