//! One finder, and nobody else: in a pool of all cores, in larger pools, and by each way to receive the pairs.

use std::hint::black_box;

use jostle::{Circles, PairFinder, Threads};

use super::ground::{Ground, SOUND, name};
use super::line::Line;
use crate::race::{Case, race};
use crate::scaling::independent;

/// Times a search in a pool of all cores, often enough to tell its worst time.
pub(super) fn quiet(ground: &Ground) -> Vec<Line> {
    let pool = &ground.pools[0];
    let mut cases = [Threads::Pool(pool), Threads::Serial].map(|threads| ground.crowd.case(threads));
    let timings = race(&mut cases, &ground.plan());
    let [here, one] = [timings[0], timings[1]];
    let case = |what: &str| format!("{}, {what}", name(pool));
    vec![
        Line::new(case("median"), here.median, "ms"),
        Line::new(case("90th percentile"), here.p90, "ms"),
        Line::new(case("worst"), here.worst, "ms").besides(format!("of {}", here.rounds)),
        Line::new(case("speed-up"), one.median / here.median, "times").besides(format!(
            "one thread {:.4} ms; loops that share nothing {:.2} times",
            one.median,
            independent::speed_up(pool)
        )),
    ]
}

/// Times the same search in pools of more threads than cores.
pub(super) fn crowded(ground: &Ground) -> Vec<Line> {
    let mut cases: Vec<_> = ground.pools.iter().map(|pool| ground.crowd.case(Threads::Pool(pool))).collect();
    let timings = race(&mut cases, &ground.plan());
    let even = timings[0].median;
    let line = |(pool, timing): (_, &crate::race::Timing)| {
        let besides = format!("{:.4} ms, p90 {:.4}, worst {:.4}", timing.median, timing.p90, timing.worst);
        Line::new(name(pool), timing.median / even, "times").besides(besides)
    };
    let lines = ground.pools.iter().zip(&timings).map(line);
    lines.enumerate().map(|(at, line)| if at == 0 { line } else { line.at_most(1.25) }).collect()
}

/// A way to receive the pairs. It returns their number.
type Answer = fn(&mut PairFinder<2>, Circles<'_>, Threads<'_>) -> usize;

/// All ways that take no memory besides the finder's. The first is the list, which the others are compared with.
const ANSWERS: [(&str, Answer); 4] = [
    ("find", |finder, circles, threads| finder.on(threads).find(circles).expect(SOUND).pairs().len()),
    ("count", |finder, circles, threads| finder.on(threads).count(circles).expect(SOUND) as usize),
    ("for_each_pair", |finder, circles, threads| {
        let visit = |a: u32, b: u32| {
            black_box(a ^ b);
        };
        finder.on(threads).for_each_pair(circles, visit).expect(SOUND).pairs as usize
    }),
    ("fold", |finder, circles, threads| {
        let op = |count: &mut usize, _, _| *count += 1;
        finder.on(threads).fold(circles, || 0, op, |left, right| left + right).expect(SOUND)
    }),
];

/// Measures how much faster all cores give each answer than one thread does, over the same ratio of the list.
pub(super) fn answers(ground: &Ground) -> Vec<Line> {
    let crowd = &ground.crowd;
    let case = |(_, answer): (&str, Answer), threads| {
        let mut finder = PairFinder::new();
        Case::of(move || {
            assert_eq!(answer(&mut finder, crowd.scene.view(), threads), crowd.pairs, "another number of pairs");
        })
    };
    let both = [Threads::Serial, Threads::Pool(&ground.pools[0])];
    let mut cases: Vec<_> = ANSWERS.iter().flat_map(|&row| both.map(|threads| case(row, threads))).collect();
    let timings = race(&mut cases, &ground.plan());
    let speed_up = |row: usize| timings[2 * row].median / timings[2 * row + 1].median;
    let line = |(row, (name, _)): (usize, &(&str, Answer))| {
        let [one, all] = [timings[2 * row], timings[2 * row + 1]];
        let besides = format!("{:.2} times: {:.4} ms, one thread {:.4}", speed_up(row), all.median, one.median);
        Line::new(*name, speed_up(row) / speed_up(0), "times").besides(besides)
    };
    let lines = ANSWERS.iter().enumerate().map(line);
    lines.enumerate().map(|(row, line)| if row == 0 { line } else { line.at_least(0.95) }).collect()
}
