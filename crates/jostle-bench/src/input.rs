//! The scenes that are timed, in the order asked for.

use core::fmt;
use core::str::FromStr;

use jostle::PairFinder;
use jostle_testkit::scene::{self, UnknownKind};
use jostle_testkit::{Kind, Scene};

/// How the ids of a scene lie in space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Order {
    /// At random.
    Shuffled,
    /// Along the Morton curve, as in a simulation that sorts its arrays now and then.
    Morton,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Shuffled => "shuffled",
            Self::Morton => "morton",
        })
    }
}

/// Kinds of scenes: `all`, or a list such as `uniform,dense`.
#[derive(Debug, Clone)]
pub(crate) struct Kinds(pub(crate) Vec<Kind>);

impl FromStr for Kinds {
    type Err = UnknownKind;

    fn from_str(list: &str) -> Result<Self, UnknownKind> {
        if list == "all" {
            return Ok(Self(Kind::ALL.into()));
        }
        list.split(',').map(|name| name.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

/// A scene of `n` bodies in the order asked for.
pub(crate) fn scene<const D: usize>(kind: Kind, n: usize, seed: u64, order: Order) -> Scene<D> {
    let shuffled = scene::scene(kind, n, seed);
    match order {
        Order::Shuffled => shuffled,
        Order::Morton => sorted(&shuffled),
    }
}

/// The bodies along the Morton curve.
pub(crate) fn sorted<const D: usize>(scene: &Scene<D>) -> Scene<D> {
    let mut finder = PairFinder::new();
    let found = finder.find(scene.view()).expect("scenes keep to the contract");
    let body = |id: u32| (scene.view().center(id as usize), scene.radii[id as usize]);
    found.rank_to_id().map(body).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kinds, Order, scene};
    use jostle_testkit::Kind;

    #[test]
    fn sorting_keeps_the_bodies() {
        let [shuffled, morton] =
            [Order::Shuffled, Order::Morton].map(|order| scene::<2>(Kind::Uniform, 300, 1, order).radii);
        assert_ne!(shuffled, morton);
        let ascending = |mut radii: Vec<f32>| {
            radii.sort_unstable_by(f32::total_cmp);
            radii
        };
        assert_eq!(ascending(shuffled), ascending(morton));
    }

    #[test]
    fn kinds_are_named() {
        assert_eq!("all".parse::<Kinds>().unwrap().0.len(), 4);
        assert_eq!("dense, uniform".parse::<Kinds>().unwrap().0, [Kind::Dense, Kind::Uniform]);
        assert!("denser".parse::<Kinds>().is_err());
    }
}
