//! Box2D 3: the dynamic tree of its broad phase, and a query for each body.
//!
//! The raw bindings are called, since the tree of the crate `boxdd` keeps to the thread that made it. Their build
//! leaves the library's assertions in, which take 4% of the time at 20,000 circles.
#![allow(unsafe_code, reason = "the library is called by its C interface")]

use core::ffi::{c_int, c_void};

use boxdd_sys::ffi::{
    b2AABB, b2DynamicTree, b2DynamicTree_Create, b2DynamicTree_CreateProxy, b2DynamicTree_Destroy,
    b2DynamicTree_EnlargeProxy, b2DynamicTree_QueryAll, b2DynamicTree_Rebuild, b2Vec2,
};
use jostle_testkit::Scene;

use super::{corners, overlap};
use crate::rivals::hits::Gather;
use crate::rivals::{Rival, center};

/// Bodies whose queries make a task.
const TASK: usize = 1024;

/// The tree, made anew for each search: proxies go in one by one, then the whole tree is rebuilt. The library has no
/// call to empty a tree.
#[derive(Default)]
pub(crate) struct Box2d {
    search: Search,
}

impl Rival<2> for Box2d {
    fn name(&self) -> &'static str {
        "Box2D tree"
    }

    fn package(&self) -> &'static str {
        "boxdd-sys"
    }

    fn find(&mut self, scene: &Scene<2>) -> &[[u32; 2]] {
        let tree = Tree::of(scene).0;
        self.search.pairs(&tree, scene)
    }
}

/// The tree, kept: proxies get their new boxes, then the changed parts are rebuilt, as in a step of Box2D. Boxes have
/// no margin. A margin would spare some of this work and give the queries more to reject.
#[derive(Default)]
pub(crate) struct Box2dUpdated {
    tree: Option<Tree>,
    /// The proxy of each body, by id.
    proxies: Vec<c_int>,
    search: Search,
}

impl Rival<2> for Box2dUpdated {
    fn name(&self) -> &'static str {
        "Box2D tree updated"
    }

    fn package(&self) -> &'static str {
        "boxdd-sys"
    }

    fn prepare(&mut self, scene: &Scene<2>) {
        let (tree, proxies) = Tree::of(scene);
        (self.tree, self.proxies) = (Some(tree), proxies);
    }

    fn find(&mut self, scene: &Scene<2>) -> &[[u32; 2]] {
        if self.proxies.len() != scene.len() {
            self.prepare(scene);
        }
        let tree = self.tree.get_or_insert_with(|| Tree::with_capacity(0));
        for (id, &proxy) in self.proxies.iter().enumerate() {
            tree.place(proxy, aabb(scene, id));
        }
        tree.rebuild(false);
        self.search.pairs(tree, scene)
    }
}

/// A query for each body.
#[derive(Debug, Default)]
struct Search {
    order: Vec<u32>,
    gather: Gather,
}

impl Search {
    fn pairs(&mut self, tree: &Tree, scene: &Scene<2>) -> &[[u32; 2]] {
        // In the order of the tree, so that successive queries find what they share in the cache.
        let order = &mut self.order;
        order.clear();
        tree.query(EVERYWHERE, |id| order.push(id));
        self.gather.run(order.len().div_ceil(TASK), |task, hits| {
            for &a in &order[task * TASK..order.len().min((task + 1) * TASK)] {
                tree.query(aabb(scene, a as usize), |b| {
                    if a < b && overlap(scene, a, b) {
                        hits.push(a, b);
                    }
                });
            }
        })
    }
}

/// A box that holds everything.
pub(crate) const EVERYWHERE: b2AABB =
    b2AABB { lowerBound: b2Vec2 { x: f32::MIN, y: f32::MIN }, upperBound: b2Vec2 { x: f32::MAX, y: f32::MAX } };

fn aabb(scene: &Scene<2>, id: usize) -> b2AABB {
    aabb_of(corners(center(scene, id), scene.radii[id]))
}

/// A box by its lower and its upper corner.
pub(crate) fn aabb_of(([x, y], [x2, y2]): ([f32; 2], [f32; 2])) -> b2AABB {
    b2AABB { lowerBound: b2Vec2 { x, y }, upperBound: b2Vec2 { x: x2, y: y2 } }
}

/// The library's tree, whose proxies bear ids.
pub(crate) struct Tree(b2DynamicTree);

// SAFETY: the tree owns what it points to, and the library ties it to no thread.
unsafe impl Send for Tree {}

// SAFETY: only the query takes a shared tree, and it only reads the tree. Box2D itself queries from many threads at
// once.
unsafe impl Sync for Tree {}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: the tree was made by the library, and is not used again.
        unsafe { b2DynamicTree_Destroy(&mut self.0) };
    }
}

impl Tree {
    pub(crate) fn with_capacity(proxies: usize) -> Self {
        // SAFETY: any capacity will do.
        Self(unsafe { b2DynamicTree_Create(proxies as c_int) })
    }

    /// Makes the tree of all bodies of a scene, and returns their proxies by id.
    fn of(scene: &Scene<2>) -> (Self, Vec<c_int>) {
        let mut tree = Self::with_capacity(scene.len());
        let proxies = (0..scene.len()).map(|id| tree.insert(aabb(scene, id), id as u32)).collect();
        tree.rebuild(true);
        (tree, proxies)
    }

    pub(crate) fn insert(&mut self, aabb: b2AABB, id: u32) -> c_int {
        // SAFETY: the tree was made by the library.
        unsafe { b2DynamicTree_CreateProxy(&mut self.0, aabb, u64::MAX, id.into()) }
    }

    /// Gives a proxy of this tree another box. The tree is fit to be queried after the next rebuild.
    fn place(&mut self, proxy: c_int, aabb: b2AABB) {
        // SAFETY: the proxy is one that `insert` has returned; it stays a leaf of the tree when that is rebuilt.
        unsafe { b2DynamicTree_EnlargeProxy(&mut self.0, proxy, aabb) };
    }

    pub(crate) fn rebuild(&mut self, full: bool) {
        // SAFETY: the tree was made by the library.
        unsafe { b2DynamicTree_Rebuild(&mut self.0, full) };
    }

    /// Visits the ids of all proxies whose boxes meet this one.
    #[inline(always)]
    pub(crate) fn query<F: FnMut(u32)>(&self, aabb: b2AABB, mut visit: F) {
        unsafe extern "C" fn found<F: FnMut(u32)>(_: c_int, id: u64, visit: *mut c_void) -> bool {
            // SAFETY: the query below is given a visitor of this type, which nobody else holds while it runs.
            let visit = unsafe { &mut *visit.cast::<F>() };
            visit(id as u32);
            true
        }
        // SAFETY: the tree was made by the library, and the visitor outlives the call.
        unsafe { b2DynamicTree_QueryAll(&self.0, aabb, Some(found::<F>), (&raw mut visit).cast()) };
    }
}
