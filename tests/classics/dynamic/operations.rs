//! Random sequences of operations. Each operation is checked against the list, and every invariant after each.

use jostle_classics::{Body, DynamicQuadtree, Limits, LooseQuadtree};
use jostle_core::Aabb;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::dynamic::WORLD;
use crate::dynamic::list::{List, sorted};
use crate::dynamic::tree::Tree;

#[derive(Debug, Clone)]
enum Operation {
    Insert(Body<2>),
    Remove(usize),
    Move(usize, Body<2>),
    RemoveWhatIsGone(usize, Body<2>),
    Query(Aabb<2>, usize),
    Nearest([f32; 2], usize),
    Cleanup,
    Clear,
}

/// Draws coordinates anywhere in the world and around it, in a few places again and again, on borders of nodes, and far
/// outside.
fn coordinates() -> impl Strategy<Value = f32> {
    let often_the_same = prop::sample::select(vec![0.0_f32, 50.0, 25.0, 99.99, 100.0, 33.3]);
    let far = prop::sample::select(vec![-1e18_f32, 1e18, 1e7, -3.0, 250.0, 1e-40]);
    prop_oneof![6 => 0.0_f32..100.0, 1 => -20.0_f32..120.0, 3 => often_the_same, 1 => far]
}

fn points() -> impl Strategy<Value = [f32; 2]> {
    [coordinates(), coordinates()]
}

fn bodies() -> impl Strategy<Value = Body<2>> {
    let giants = prop::sample::select(vec![60.0_f32, 200.0, 1e17]);
    let radii = prop_oneof![6 => 0.0_f32..2.0, 2 => Just(0.0), 1 => 5.0_f32..30.0, 1 => giants];
    (points(), radii).prop_map(|(center, radius)| Body { center, radius })
}

fn operations() -> impl Strategy<Value = Operation> {
    let which = || any::<prop::sample::Index>().prop_map(|index| index.index(1 << 20));
    prop_oneof![
        8 => bodies().prop_map(Operation::Insert),
        4 => which().prop_map(Operation::Remove),
        4 => (which(), bodies()).prop_map(|(i, body)| Operation::Move(i, body)),
        1 => (which(), bodies()).prop_map(|(i, body)| Operation::RemoveWhatIsGone(i, body)),
        2 => (points(), points(), which()).prop_map(|(lo, hi, i)| Operation::Query(Aabb { lo, hi }, i)),
        2 => (points(), 0_usize..12).prop_map(|(point, k)| Operation::Nearest(point, k)),
        3 => Just(Operation::Cleanup),
        1 => Just(Operation::Clear),
    ]
}

/// A tree and the list that it must agree with.
struct Both<T> {
    tree: T,
    list: List,
    next_id: u32,
}

impl<T: Tree> Both<T> {
    fn apply(&mut self, operation: Operation) -> TestCaseResult {
        match operation {
            Operation::Insert(body) => self.insert(body),
            Operation::Remove(i) => self.remove(i),
            Operation::Move(i, body) => self.move_to(i, body),
            Operation::RemoveWhatIsGone(i, body) => self.remove_what_is_gone(i, body),
            Operation::Query(rect, i) => self.query(rect, i),
            Operation::Nearest(point, k) => self.nearest(point, k),
            Operation::Cleanup => {
                self.tree.cleanup();
                Ok(())
            }
            Operation::Clear => {
                self.tree.clear();
                self.list.gone.extend(self.list.elements.drain(..).map(|(index, _)| index));
                Ok(())
            }
        }
    }

    fn insert(&mut self, body: Body<2>) -> TestCaseResult {
        let index = self.tree.insert(self.next_id, body).expect("a good body");
        prop_assert_eq!(index.id(), self.next_id);
        self.next_id += 1;
        self.list.elements.push((index, body));
        Ok(())
    }

    fn remove(&mut self, i: usize) -> TestCaseResult {
        if let Some(i) = i.checked_rem(self.list.elements.len()) {
            let (index, body) = self.list.elements.swap_remove(i);
            prop_assert_eq!(self.tree.get(index), Some(body));
            prop_assert_eq!(self.tree.remove(index), Some(body));
            self.list.gone.push(index);
        }
        Ok(())
    }

    fn move_to(&mut self, i: usize, body: Body<2>) -> TestCaseResult {
        if let Some(i) = i.checked_rem(self.list.elements.len()) {
            let (index, before) = self.list.elements[i];
            prop_assert_eq!(self.tree.move_to(index, body), Ok(Some(before)));
            self.list.elements[i].1 = body;
        }
        Ok(())
    }

    fn remove_what_is_gone(&mut self, i: usize, body: Body<2>) -> TestCaseResult {
        if let Some(i) = i.checked_rem(self.list.gone.len()) {
            let index = self.list.gone[i];
            prop_assert_eq!(self.tree.get(index), None);
            prop_assert_eq!(self.tree.remove(index), None);
            prop_assert_eq!(self.tree.move_to(index, body), Ok(None));
        }
        Ok(())
    }

    fn query(&mut self, rect: Aabb<2>, i: usize) -> TestCaseResult {
        let omit = i.checked_rem(self.list.elements.len()).map(|i| self.list.elements[i].0);
        let mut ids = vec![77];
        for omit in [None, omit] {
            self.tree.query(&rect, omit, &mut ids);
            prop_assert_eq!(&ids, &self.list.query(&rect, omit));
        }
        Ok(())
    }

    fn nearest(&mut self, point: [f32; 2], k: usize) -> TestCaseResult {
        let mut found = Vec::new();
        self.tree.nearest(point, k, &mut found);
        let found: Vec<_> = found.iter().map(|neighbor| (neighbor.distance2, neighbor.id)).collect();
        prop_assert_eq!(found, self.list.nearest(point, k));
        Ok(())
    }

    /// Checks what must hold at any time.
    fn agree(&mut self) -> TestCaseResult {
        prop_assert_eq!(self.tree.validate(), Ok(()));
        prop_assert_eq!(self.tree.len(), self.list.elements.len());
        let (leaves, branches) = self.tree.leaves();
        prop_assert_eq!(leaves.len(), 3 * branches + 1);
        let mut listed = sorted(leaves.into_iter().flat_map(|(_, ids)| ids).collect());
        listed.dedup();
        prop_assert_eq!(listed, self.list.ids());
        prop_assert_eq!(sorted(self.tree.pairs()), self.list.pairs());
        Ok(())
    }
}

fn agrees_with_a_list<T: Tree>(limits: Limits, operations: Vec<Operation>) -> TestCaseResult {
    let mut both = Both { tree: T::make(WORLD, limits).expect("a world"), list: List::default(), next_id: 100 };
    for operation in operations {
        both.apply(operation)?;
        both.agree()?;
    }
    Ok(())
}

fn limits() -> impl Strategy<Value = Limits> {
    let small = (1_u32..4, 0_u32..6).prop_map(|(max_elements, max_depth)| Limits { max_elements, max_depth });
    prop_oneof![Just(Limits::default()), small]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn dynamic_quadtree(limits in limits(), operations in prop::collection::vec(operations(), 1..120)) {
        agrees_with_a_list::<DynamicQuadtree>(limits, operations)?;
    }

    #[test]
    fn loose_quadtree(limits in limits(), operations in prop::collection::vec(operations(), 1..120)) {
        agrees_with_a_list::<LooseQuadtree>(limits, operations)?;
    }
}
