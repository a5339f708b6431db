//! How long a list of boxes and capsules with a margin is said to hold: up to the margin, not beyond, and never for
//! another search.

use core::array::from_fn;

use jostle::{Boxes, Boxes64, Capsules, Capsules64, Circles, Input, PairFinder, Set, Skin, Space, between};

use crate::embed::oracle::{Random, ascending};
use crate::embed::skin::lattice;

const WIDTH: f64 = 20.0;

const MARGIN: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Boxes,
    Boxes64,
    Capsules,
    Capsules64,
}

use Form as F;

const FORMS: [Form; 4] = [F::Boxes, F::Boxes64, F::Capsules, F::Capsules64];

impl Form {
    fn is_of_boxes(self) -> bool {
        matches!(self, F::Boxes | F::Boxes64)
    }
}

/// Lower corners or first ends, and upper corners or second ends, radii, and displacements.
#[derive(Debug, Clone)]
struct Bodies<const D: usize> {
    form: Form,
    ends: [[Vec<f64>; D]; 2],
    radii: Vec<f64>,
    by: Option<[Vec<f64>; D]>,
}

impl<const D: usize> Bodies<D> {
    fn random(form: Form, n: usize, moving: bool, random: &mut Random) -> Self {
        let mut unit = || random.below(1 << 20) as f64 / f64::from(1 << 20);
        let from: [Vec<f64>; D] = from_fn(|_| (0..n).map(|_| unit() * WIDTH).collect());
        let to = from.each_ref().map(|column| column.iter().map(|x| x + 2.0 * unit()).collect());
        let radii = (0..n).map(|_| unit()).collect();
        let by = moving.then(|| from_fn(|_| (0..n).map(|_| 2.0 * unit() - 1.0).collect()));
        Self { form, ends: [from, to], radii, by }
    }

    fn len(&self) -> usize {
        self.radii.len()
    }

    /// Hands over the bodies as a set.
    fn ask<R>(&self, margin: f64, with: impl FnOnce(Set<'_, D>) -> R) -> R {
        let single = |column: &Vec<f64>| column.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let singles = self.ends.each_ref().map(|columns| columns.each_ref().map(single));
        let [lo, hi] = singles.each_ref().map(|columns| columns.each_ref());
        let [lo64, hi64] = self.ends.each_ref().map(|columns| columns.each_ref());
        let radii = single(&self.radii);
        let set: Set<'_, D> = match self.form {
            F::Boxes => Boxes::new(lo, hi).with_margin(margin as f32).into(),
            F::Boxes64 => Boxes64::new(lo64, hi64).with_margin(margin).into(),
            F::Capsules => Capsules::new(lo, hi, &radii).with_margin(margin as f32).into(),
            F::Capsules64 => Capsules64::new(lo64, hi64, &self.radii).with_margin(margin).into(),
        };
        with(match &self.by {
            Some(by) => set.moving(by.each_ref()),
            None => set,
        })
    }

    /// The same bodies, each end or corner moved by as much as `by` says of the body, the end and the axis.
    fn moved(&self, by: impl Fn(usize, usize, usize) -> f64) -> Self {
        let mut moved = self.clone();
        for (side, columns) in moved.ends.iter_mut().enumerate() {
            for (axis, column) in columns.iter_mut().enumerate() {
                column.iter_mut().enumerate().for_each(|(id, x)| *x += by(id, side, axis));
            }
        }
        moved
    }

    fn grown(&self, by: f64) -> Self {
        let mut grown = self.clone();
        if self.form.is_of_boxes() {
            return self.moved(|_, side, _| if side == 0 { -by } else { by });
        }
        grown.radii.iter_mut().for_each(|radius| *radius += by);
        grown
    }
}

fn spaces<const D: usize>() -> [Space<D>; 3] {
    [Space::open(), Space::periodic([Some([0.0, WIDTH]); D]), lattice(WIDTH)]
}

fn thresholds<const D: usize>() {
    let (less, more) = (0.999 * MARGIN, 1.001 * MARGIN);
    let cases = FORMS.iter().flat_map(|&form| [false, true].map(|moving| (form, moving)));
    for ((form, moving), space) in cases.flat_map(|case| spaces::<D>().map(|space| (case, space))) {
        let bodies = Bodies::<D>::random(form, 150, moving, &mut Random(7));
        let (mut finder, mut skin) = (PairFinder::<D>::new(), Skin::<D>::default());
        bodies.ask(MARGIN, |set| {
            let input = Input::within(set).space(space);
            finder.find(input).expect("sound bodies");
            skin.keep(input).expect("sound bodies");
        });
        let valid = |now: &Bodies<D>| {
            now.ask(0.0, |set| {
                let valid = skin.still_valid(Input::within(set).space(space));
                assert_eq!(finder.still_valid(Input::within(set).space(space)), valid, "{form:?}");
                valid
            })
        };
        let name = format!("{form:?}, moving {moving}, {space:?}");
        assert!(valid(&bodies) && valid(&bodies.grown(-1e-3)), "{name}");
        assert!(valid(&bodies.grown(less)) && !valid(&bodies.grown(more)), "{name}");
        // Along an axis, as a whole and one end alone.
        for axis in 0..D {
            let along = |by: f64| bodies.moved(|_, _, k| if k == axis { by } else { 0.0 });
            assert!(valid(&along(less)) && valid(&along(-less)), "{name}");
            assert!(!valid(&along(more)) && !valid(&along(-more)), "{name}");
            let end = |by: f64| bodies.moved(|id, side, k| if (id, side, k) == (77, 1, axis) { by } else { 0.0 });
            assert!(valid(&end(less)) && !valid(&end(more)) && !valid(&end(f64::NAN)) && !valid(&end(f64::INFINITY)));
        }
        // Along all axes at once, a box may move by its margin on each.
        let across = |by: f64| bodies.moved(|_, _, axis| if axis == 0 { by } else { -by });
        assert_eq!(valid(&across(less)), form.is_of_boxes(), "{name}");
        assert!(valid(&across(less / (D as f64).sqrt())) && !valid(&across(more)), "{name}");
        // Sides that move inwards are within the box that was listed.
        if form.is_of_boxes() {
            let thinner = bodies.moved(|id, side, axis| {
                let width = bodies.ends[1][axis][id] - bodies.ends[0][axis][id];
                if side == 0 { width / 2.0 } else { 0.0 }
            });
            assert!(valid(&thinner), "{name}");
        }
        if let Some(by) = &bodies.by {
            let turned = |by_more: f64| {
                let mut now = bodies.clone();
                now.by = Some(by.each_ref().map(|column| column.iter().map(|x| x + by_more).collect()));
                now
            };
            let part = if form.is_of_boxes() { 1.0 } else { (D as f64).sqrt() };
            assert!(valid(&turned(less / part)) && valid(&turned(-less / part)), "{name}");
            assert!(!valid(&turned(more / part)) && !valid(&turned(-more / part)), "{name}");
            assert!(!valid(&Bodies { by: None, ..bodies.clone() }), "{name}");
        }
    }
}

#[test]
fn lists_of_shapes_hold_up_to_their_margins() {
    thresholds::<2>();
    thresholds::<3>();
}

#[test]
fn no_list_of_shapes_answers_for_another() {
    let bodies = |form, n| Bodies::<2>::random(form, n, false, &mut Random(3));
    for kept in FORMS {
        let mut finder = PairFinder::<2>::new();
        bodies(kept, 50).ask(MARGIN, |set| finder.count(set).expect("sound bodies"));
        for form in FORMS {
            let valid = |n: usize| bodies(form, n).ask(0.0, |set| finder.still_valid(set));
            assert_eq!((valid(50), valid(49)), (form == kept, false), "{kept:?}, {form:?}");
        }
        assert!(!finder.still_valid(Circles::new(&[0.0; 50], &[0.0; 50], 0.5)));
        assert!(!bodies(kept, 50).ask(0.0, |set| finder.still_valid(between(set, set))));
    }
}

/// Without a margin, boxes and capsules that stay where they are keep their list; one that grows by the least does not.
#[test]
fn lists_without_a_margin_hold_while_nothing_moves() {
    let far = [[1e6, 3e6], [-2e6, 5e6]];
    let farther = far.map(|column| column.map(|x| x + 4.0));
    for form in FORMS {
        let ends = [far, farther].map(|columns| columns.map(Vec::from));
        let bodies = Bodies { form, ends, radii: vec![1.0; 2], by: None };
        let mut skin = Skin::default();
        bodies.ask(0.0, |set| skin.keep(set).expect("sound bodies"));
        for (by, valid) in [(0.0, true), (-0.5, true), (0.5, false)] {
            assert_eq!(bodies.grown(by).ask(0.0, |set| skin.still_valid(set)), valid, "{form:?} {by}");
        }
    }
}

/// A box without an end stays valid while its other sides do, and is lost when a new end is gone.
#[test]
fn endless_boxes_are_kept() {
    let boxes = |left: f32, right: f32| {
        let mut finder = PairFinder::<2>::new();
        finder.find(Boxes::new([&[f32::NEG_INFINITY], &[0.0]], [&[1.0], &[1.0]]).with_margin(0.25)).expect("a box");
        finder.still_valid(Boxes::new([&[left], &[0.0]], [&[right], &[1.0]]))
    };
    assert!(boxes(f32::NEG_INFINITY, 1.0) && boxes(f32::NEG_INFINITY, 1.2) && boxes(-7.0, 1.2));
    assert!(!boxes(f32::NEG_INFINITY, 1.3) && !boxes(0.0, f32::INFINITY) && !boxes(f32::NAN, 1.0));
}

/// As long as a list is said to be valid, it misses no pair: of one set, or of two that share their margins.
fn lists_hold_all_pairs<const D: usize>() {
    let mut held = [0; 2];
    for turn in 0..400 {
        let mut random = Random(turn);
        let (x, y, z) = (random.below(4), random.below(4), random.below(2) == 1);
        let n = if D == 2 { 40 } else { 120 };
        let [a, b] = [x, y].map(|form| Bodies::<D>::random(FORMS[form], n, z, &mut random));
        let (space, two) = (spaces::<D>()[random.below(3)], random.below(2) == 1);
        let margins = if two { [[0.5, 0.5], [0.8, 0.2], [1.0, 0.0], [0.1, 0.1]][random.below(4)] } else { [0.4, 0.0] };
        // What one set leaves of its margin, the other may use.
        let shared = 0.95 * (margins[0] + margins[1]) * [0.5, 1.0, 0.6][random.below(3)];
        let first = [0.0, 0.3, 0.5, 1.0][random.below(4)];
        let parts = if two { [shared * first, shared * (1.0 - first)] } else { [0.99 * margins[0]; 2] };
        let mut step = |of: &Bodies<D>, by: f64| {
            let mut direction = [0.0; D];
            let steps: Vec<[f64; D]> = (0..of.len())
                .map(|_| {
                    direction = from_fn(|_| random.below(2001) as f64 / 1000.0 - 1.0);
                    let longest = if of.form.is_of_boxes() {
                        direction.iter().map(|x| x.abs()).fold(0.0, f64::max)
                    } else {
                        direction.iter().map(|x| x * x).sum::<f64>().sqrt()
                    };
                    direction.map(|x| by * x / longest.max(1e-3))
                })
                .collect();
            of.moved(|id, _, axis| steps[id][axis])
        };
        let [now_a, now_b] = [step(&a, parts[0]), step(&b, parts[1])];
        let mut finder = PairFinder::<D>::new();
        let within = |bodies: [&Bodies<D>; 2], margins: [f64; 2], with: &mut dyn FnMut(Input<'_, D>)| {
            bodies[0].ask(margins[0], |a| {
                if two {
                    bodies[1].ask(margins[1], |b| with(between(a, b).space(space)));
                } else {
                    with(Input::within(a).space(space));
                }
            });
        };
        let mut listed = Vec::new();
        within([&a, &b], margins, &mut |input| listed = ascending(finder.find(input).expect("sound bodies").pairs()));
        within([&now_a, &now_b], [0.0; 2], &mut |input| {
            if finder.still_valid(input) {
                held[usize::from(two)] += 1;
                let found = ascending(PairFinder::<D>::new().find(input).expect("sound bodies").pairs());
                let missing = found.iter().find(|&pair| listed.binary_search(pair).is_err());
                assert_eq!(missing, None, "{turn}: {:?} and {:?}, {space:?}", a.form, b.form);
            }
        });
    }
    assert!(held[0] > 150 && held[1] > 90, "{held:?}");
}

#[test]
fn valid_lists_of_shapes_hold_all_pairs() {
    lists_hold_all_pairs::<2>();
    lists_hold_all_pairs::<3>();
}
