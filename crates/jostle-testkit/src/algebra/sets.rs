//! Sets as plain vectors.

use std::sync::Arc;

use jostle_core::LinearTree;
use jostle_core::axes::from_axes;
use jostle_pairs::PreparedSet;

use crate::Scene;

/// The radius of every body.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainRadii<T> {
    /// One radius for all bodies.
    All(T),
    /// One radius for each body.
    Each(Vec<T>),
    /// Bodies are points, two of which are a pair within this distance.
    Cutoff(T),
}

/// Centres, one vector an axis, and radii, in one of two precisions.
#[derive(Debug, Clone, PartialEq)]
pub enum Columns<const D: usize> {
    /// In `f32`.
    Single {
        /// Coordinates.
        centers: [Vec<f32>; D],
        /// Radii.
        radii: PlainRadii<f32>,
        /// What is added to each radius, but not to a cutoff.
        margin: f32,
    },
    /// In `f64`.
    Double {
        /// Coordinates.
        centers: [Vec<f64>; D],
        /// Radii.
        radii: PlainRadii<f64>,
        /// What is added to each radius, but not to a cutoff.
        margin: f64,
    },
}

/// Which bodies may meet: a value for each body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainLayers {
    /// What each body is.
    pub category: Vec<u32>,
    /// What each body meets.
    pub mask: Vec<u32>,
    /// Bodies of one group other than 0 meet if the group is positive, and do not if it is negative.
    pub group: Vec<i32>,
}

impl PlainLayers {
    /// Returns whether two bodies of two sets meet. Either set may have no layers.
    #[must_use]
    pub fn meet(layers: [Option<&Self>; 2], pair: [u32; 2]) -> bool {
        let row = |side: usize| {
            let id = pair[side] as usize;
            layers[side].map_or((u32::MAX, u32::MAX, 0), |it| (it.category[id], it.mask[id], it.group[id]))
        };
        let ((category, mask, group), other) = (row(0), row(1));
        if group != 0 && group == other.2 { group > 0 } else { category & other.1 != 0 && other.0 & mask != 0 }
    }
}

/// How far each body moves over the step, one vector an axis, in one of two precisions.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainMoves<const D: usize> {
    /// In `f32`.
    Single([Vec<f32>; D]),
    /// In `f64`.
    Double([Vec<f64>; D]),
}

/// One set.
#[derive(Debug, Clone)]
pub struct PlainSet<const D: usize> {
    /// The bodies.
    pub bodies: Columns<D>,
    /// How they move.
    pub moves: Option<PlainMoves<D>>,
    /// Which bodies may meet.
    pub layers: Option<PlainLayers>,
    /// A tree that the engine is given in place of the bodies.
    pub tree: Option<LinearTree<D>>,
    /// A prepared set that the engine is given in place of the bodies.
    pub prepared: Option<Arc<PreparedSet<D>>>,
}

impl<const D: usize> PlainSet<D> {
    /// Makes a set of bodies at rest that meet all.
    #[must_use]
    pub fn new(bodies: Columns<D>) -> Self {
        Self { bodies, moves: None, layers: None, tree: None, prepared: None }
    }

    /// Makes a set of the bodies of a scene.
    #[must_use]
    pub fn of(scene: &Scene<D>) -> Self {
        let radii = PlainRadii::Each(scene.radii.clone());
        Self::new(Columns::Single { centers: scene.centers.clone(), radii, margin: 0.0 })
    }

    /// Makes a set in `f64`, with a radius for each body.
    #[must_use]
    pub fn doubles(centers: [Vec<f64>; D], radii: Vec<f64>) -> Self {
        Self::new(Columns::Double { centers, radii: PlainRadii::Each(radii), margin: 0.0 })
    }

    /// Makes a set of the bodies of a scene in `f64`, of another size and elsewhere.
    #[must_use]
    pub fn placed(scene: &Scene<D>, origin: f64, scale: f64) -> Self {
        let place = |x: &f32| origin + f64::from(*x) * scale;
        let centers = scene.centers.each_ref().map(|column| column.iter().map(place).collect());
        Self::doubles(centers, scene.radii.iter().map(|r| f64::from(*r) * scale).collect())
    }

    /// Returns the set with bodies and margin rounded to `f32`.
    #[must_use]
    pub fn narrowed(self) -> Self {
        let Columns::Double { centers, radii, margin } = self.bodies else { return self };
        let narrow = |column: Vec<f64>| column.into_iter().map(|x| x as f32).collect();
        let radii = match radii {
            PlainRadii::All(radius) => PlainRadii::All(radius as f32),
            PlainRadii::Each(radii) => PlainRadii::Each(narrow(radii)),
            PlainRadii::Cutoff(distance) => PlainRadii::Cutoff(distance as f32),
        };
        Self { bodies: Columns::Single { centers: centers.map(narrow), radii, margin: margin as f32 }, ..self }
    }

    /// Returns the set with this margin, in the precision of the bodies.
    #[must_use]
    pub fn with_margin(mut self, to: f64) -> Self {
        match &mut self.bodies {
            Columns::Single { margin, .. } => *margin = to as f32,
            Columns::Double { margin, .. } => *margin = to,
        }
        self
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.bodies {
            Columns::Single { centers, .. } => centers[0].len(),
            Columns::Double { centers, .. } => centers[0].len(),
        }
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a centre, widened.
    #[must_use]
    pub fn center(&self, id: usize) -> [f64; D] {
        match &self.bodies {
            Columns::Single { centers, .. } => from_axes(|axis| centers[axis][id].into()),
            Columns::Double { centers, .. } => from_axes(|axis| centers[axis][id]),
        }
    }

    /// Returns a radius with the margin, added in the precision of the bodies, then widened.
    #[must_use]
    pub fn radius(&self, id: usize) -> f64 {
        match &self.bodies {
            Columns::Single { radii, margin, .. } => match radii {
                PlainRadii::All(radius) => radius + margin,
                PlainRadii::Each(radii) => radii[id] + margin,
                PlainRadii::Cutoff(distance) => distance / 2.0,
            }
            .into(),
            Columns::Double { radii, margin, .. } => match radii {
                PlainRadii::All(radius) => radius + margin,
                PlainRadii::Each(radii) => radii[id] + margin,
                PlainRadii::Cutoff(distance) => distance / 2.0,
            },
        }
    }

    /// Returns a displacement; zero where nothing moves.
    #[must_use]
    pub fn displacement(&self, id: usize) -> [f64; D] {
        match &self.moves {
            None => [0.0; D],
            Some(PlainMoves::Single(columns)) => from_axes(|axis| columns[axis][id].into()),
            Some(PlainMoves::Double(columns)) => from_axes(|axis| columns[axis][id]),
        }
    }
}
