//! zvxryb-broadphase: boxes cut into cells of a quadtree or octree, sorted along the Morton curve, and one scan.

use cgmath::{Point2, Point3};
use jostle_testkit::Scene;
use zvxryb_broadphase::{Bounds, Index64_2D, Index64_3D, Layer, LayerBuilder};

use super::{corners, overlap};
use crate::rivals::hits::Hits;
use crate::rivals::{Rival, center};

macro_rules! broadphase {
    ($name:ident, $index:ty, $point:ident, $d:literal) => {
        /// The layer is emptied and filled anew for each search, with the exact predicate as its filter.
        #[derive(Default)]
        pub(crate) struct $name {
            layer: Option<Layer<$index, u32>>,
            hits: Hits,
        }

        impl Rival<$d> for $name {
            fn name(&self) -> &'static str {
                "zvxryb-broadphase"
            }

            fn package(&self) -> &'static str {
                "zvxryb-broadphase"
            }

            fn prepare(&mut self, scene: &Scene<$d>) {
                // Depth as documented: 0 on one thread; on several, -log2(largest body / world), and never too high.
                let world = world(scene);
                let largest = scene.radii.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
                let widest = world.1.iter().zip(world.0).map(|(hi, lo)| hi - lo).fold(0.0, f32::max);
                let depth = (widest / (2.0 * largest)).log2().floor().clamp(0.0, 8.0);
                let depth = if rayon::current_num_threads() == 1 { 0 } else { depth as u32 };
                self.layer = Some(LayerBuilder::new().with_min_depth(depth).build());
            }

            fn find(&mut self, scene: &Scene<$d>) -> &[[u32; 2]] {
                let bounds = |(lo, hi): ([f32; $d], [f32; $d])| Bounds::new($point::from(lo), $point::from(hi));
                let layer = self.layer.get_or_insert_with(|| LayerBuilder::new().build());
                layer.clear();
                let bodies =
                    (0..scene.len()).map(|id| (bounds(corners(center(scene, id), scene.radii[id])), id as u32));
                layer.extend(bounds(world(scene)), bodies);
                let found = if rayon::current_num_threads() == 1 {
                    layer.scan_filtered(|a, b| overlap(scene, a, b))
                } else {
                    layer.par_scan_filtered(|a, b| overlap(scene, a, b))
                };
                self.hits.clear();
                // A pair may be found as (a, b) and as (b, a) where bodies lie in several cells.
                found.iter().for_each(|&(a, b)| self.hits.push(a, b));
                self.hits.pairs()
            }
        }
    };
}

broadphase!(Broadphase2, Index64_2D, Point2, 2);
broadphase!(Broadphase3, Index64_3D, Point3, 3);

/// The box of all boxes.
fn world<const D: usize>(scene: &Scene<D>) -> ([f32; D], [f32; D]) {
    let mut world = ([f32::INFINITY; D], [f32::NEG_INFINITY; D]);
    for id in 0..scene.len() {
        let (lo, hi) = corners(center(scene, id), scene.radii[id]);
        for axis in 0..D {
            world.0[axis] = world.0[axis].min(lo[axis]);
            world.1[axis] = world.1[axis].max(hi[axis]);
        }
    }
    world
}
