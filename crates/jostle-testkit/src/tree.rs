//! Checks of trees, and the box of bodies by all ways to it: compiled with this crate, since tests are compiled without
//! optimization.

use jostle_core::bounds::bounds_on;
use jostle_core::tree::{Broken, LEAF, Level};
use jostle_core::{Aabb, Bodies, LinearTree, RadiusField, ViewError, Workers};

use crate::Scene;
use crate::axes::compiled_here;

/// Checks that the bodies at their ranks are those of the scene, and that the padding and the levels are what the
/// kernels count on.
///
/// # Panics
/// When a check fails.
pub fn assert_holds<const D: usize>(tree: &LinearTree<D>, scene: &Scene<D>, name: &str) {
    assert_is_of(tree, scene, &name.to_owned());
}

compiled_here! {
    /// Calls [`LinearTree::validate`].
    ///
    /// # Errors
    /// The first invariant found broken.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    pub fn validate<const D: usize>(tree: &LinearTree<D>) -> Result<(), Broken> {
        tree.validate()
    }

    /// Returns whether two trees say the same, but for NaN padding.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    pub fn same_trees<const D: usize>(a: &LinearTree<D>, b: &LinearTree<D>) -> bool {
        parts(a) == parts(b)
    }

    /// Returns the box of all centres of a scene, by one thread and by several, from slices and from the same bodies in
    /// structs.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    pub fn bounds_of_all_ways<const D: usize>(
        scene: &Scene<D>,
        bodies: &Vec<[f32; 4]>,
    ) -> [(&'static str, Result<Aabb<D>, ViewError>); 4] {
        let structs = Bodies::<D>::from_structs(bodies, core::array::from_fn(|axis| 4 * axis), RadiusField::At(12));
        let (slices, structs) = (scene.view(), structs.expect("f32 fields"));
        [
            ("slices, one thread", bounds_on(slices, Workers::Serial)),
            ("slices, several threads", bounds_on(slices, Workers::Rayon)),
            ("structs, one thread", bounds_on(structs, Workers::Serial)),
            ("structs, several threads", bounds_on(structs, Workers::Rayon)),
        ]
    }

    fn assert_is_of<const D: usize>(tree: &LinearTree<D>, scene: &Scene<D>, name: &String) {
        assert_eq!((tree.len(), tree.is_empty()), (scene.len(), scene.is_empty()), "{name}");
        assert_eq!(tree.ids().count(), scene.len(), "{name}");
        for leaf in 0..tree.leaves() {
            let places = tree.leaf_places(leaf);
            assert_eq!(places.len(), tree.leaf(leaf).len(), "{name}");
            for place in places.clone() {
                let (center, radius, id) = body(tree, place);
                let expected = (scene.view().center(id as usize), scene.radii[id as usize]);
                assert!((center, radius) == expected, "{name}: body at {place}");
            }
            let mut padding = (places.end..(leaf + 1) * LEAF).map(|place| body(tree, place));
            assert!(padding.all(|(center, ..)| center.iter().all(|x| x.is_nan())), "{name}: padding");
        }
        let levels = tree.levels();
        assert_eq!(levels.is_empty(), scene.is_empty(), "{name}");
        assert_eq!(levels.first().map_or(0, |level| level.len()), tree.leaves(), "{name}");
        for level in levels {
            assert_eq!(level.nodes().len(), level.len().div_ceil(LEAF), "{name}");
            let mut padding = (level.len()..level.nodes().len() * LEAF).map(|i| level.aabb(i));
            assert!(padding.all(|aabb| aabb.lo[0] == f32::INFINITY), "{name}: padding of a level");
        }
        assert!(levels.windows(2).all(|pair| pair[1].len() == pair[0].len().div_ceil(LEAF)), "{name}");
    }
}

/// Returns centre, radius and id of the body at a place.
fn body<const D: usize>(tree: &LinearTree<D>, place: usize) -> ([f32; D], f32, u32) {
    let (leaf, lane) = (place / LEAF, place % LEAF);
    let bodies = &tree.bodies()[leaf];
    let mut center = [0.0; D];
    for axis in 0..D {
        center[axis] = bodies.centers[axis].0[lane];
    }
    (center, bodies.radii.0[lane], tree.leaf_ids()[leaf].0[lane])
}

/// Returns everything that a tree says, but NaN padding.
fn parts<const D: usize>(tree: &LinearTree<D>) -> impl PartialEq {
    let places = (0..tree.leaves()).flat_map(|leaf| tree.leaf_places(leaf));
    let bodies: Vec<_> = places.map(|place| body(tree, place)).collect();
    let boxes = |level: &Level<D>| (0..level.len()).map(|i| level.aabb(i)).collect::<Vec<_>>();
    let levels: Vec<_> = tree.levels().iter().map(boxes).collect();
    (tree.bounds(), bodies, tree.leaf_starts().to_vec(), levels)
}
