//! The ugly scenes.

use jostle_testkit::ugly::{all, large};
use jostle_testkit::{oracle, sweep};

fn within_the_contract<const D: usize>() {
    for (name, scene) in all::<D>().into_iter().chain(large()) {
        assert_eq!(oracle::check(scene.view()), Ok(()), "{name}");
    }
}

#[test]
fn all_are_within_the_contract() {
    within_the_contract::<2>();
    within_the_contract::<3>();
}

#[test]
fn names_are_distinct() {
    let mut names: Vec<_> = all::<3>().into_iter().chain(large()).map(|(name, _)| name).collect();
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n);
}

#[test]
#[ignore = "prints the number of pairs of each scene"]
fn print_pairs() {
    fn print<const D: usize>() {
        for (name, scene) in all::<D>().into_iter().chain(large()) {
            println!("{D}D {name}: {} bodies, {} pairs", scene.len(), sweep::pairs(scene.view()).len());
        }
    }
    print::<2>();
    print::<3>();
}
