//! What the trees refuse, what they bound, and what they give back one layer at a time.

use jostle_classics::{Body, DynamicQuadtree, Limits, LooseQuadtree, SetupError};
use jostle_core::{Aabb, Reason, ViewError};

use crate::dynamic::WORLD;
use crate::dynamic::tree::Tree;

fn at(x: f32, y: f32) -> Body<2> {
    Body { center: [x, y], radius: 0.5 }
}

fn refuses<T: Tree>() {
    let nothing = Aabb { lo: [0.0, 0.0], hi: [1.0, f32::NAN] };
    assert!(matches!(T::make(nothing, Limits::default()).err(), Some(SetupError::World { .. })));
    let mut tree = T::make(WORLD, Limits::default()).expect("a world");
    let bad = Body { center: [0.0, 0.0], radius: -1.0 };
    let error = Err(ViewError::Bodies { count: 1, first: vec![(42, Reason::RadiusNegative)] });
    assert_eq!(tree.insert(42, bad).map(|_| ()), error);
    let index = tree.insert(42, at(1.0, 1.0)).expect("a good body");
    assert_eq!(tree.move_to(index, bad).map(|_| ()), error);
    assert_eq!((tree.get(index), tree.len()), (Some(at(1.0, 1.0)), 1));
    tree.remove(index);
    let other = tree.insert(43, at(2.0, 2.0)).expect("a good body");
    assert_eq!(tree.remove(index), None, "the slot has been given to another");
    assert_eq!(tree.remove(other), Some(at(2.0, 2.0)));
}

fn finds_nothing_where_nothing_is_asked<T: Tree>() {
    let mut tree = T::make(WORLD, Limits::default()).expect("a world");
    tree.insert(1, at(1.0, 1.0)).expect("a good body");
    let (mut ids, mut near) = (vec![5], Vec::new());
    tree.query(&Aabb { lo: [f32::NAN, 0.0], hi: [9.0, 9.0] }, None, &mut ids);
    assert!(ids.is_empty());
    tree.query(&Aabb::EMPTY, None, &mut ids);
    assert!(ids.is_empty());
    tree.nearest([f32::NAN, 0.0], 3, &mut near);
    assert!(near.is_empty());
    tree.nearest([f32::INFINITY, 0.0], usize::MAX, &mut near);
    assert_eq!(near.len(), 1);
    let all = Aabb { lo: [f32::NEG_INFINITY; 2], hi: [f32::INFINITY; 2] };
    tree.query(&all, None, &mut ids);
    assert_eq!(ids, [1]);
}

/// A pile in one place goes down to the greatest depth. Once the pile is gone, each call takes a layer back.
fn piles_are_bounded_and_cleaned_up_layer_by_layer<T: Tree>() {
    let mut tree = T::make(WORLD, Limits::default()).expect("a world");
    let pile: Vec<_> = (0..50).map(|id| tree.insert(id, at(10.3, 10.3)).expect("a good body")).collect();
    let deepest = |tree: &T| tree.leaves().0.iter().map(|leaf| leaf.0).max();
    assert_eq!(deepest(&tree), Some(8));
    assert!(pile.into_iter().all(|index| tree.remove(index).is_some()));
    for left in (0..8).rev() {
        tree.cleanup();
        tree.validate().expect("sound");
        assert_eq!(deepest(&tree), Some(left));
    }
    assert_eq!(tree.leaves(), (vec![(0, Vec::new())], 0));
}

fn all<T: Tree>() {
    refuses::<T>();
    finds_nothing_where_nothing_is_asked::<T>();
    piles_are_bounded_and_cleaned_up_layer_by_layer::<T>();
}

#[test]
fn dynamic_quadtree() {
    all::<DynamicQuadtree>();
}

#[test]
fn loose_quadtree() {
    all::<LooseQuadtree>();
}

/// A body that covers the whole of a leaf is no reason to split the leaf.
#[test]
fn giants_do_not_split_the_leaves_that_they_cover() {
    let mut tree = DynamicQuadtree::new(WORLD).expect("a world");
    for id in 0..1000 {
        Tree::insert(&mut tree, id, Body { center: [50.0, 50.0], radius: 100.0 }).expect("a good body");
    }
    assert_eq!(tree.leaves().1, 0);
    tree.validate().expect("sound");
}
