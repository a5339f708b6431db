//! The bodies of a file: as they are searched, and as they are shown.

use jostle::{Circles, Circles64, InputError, LinearTree, PairFinder, Spheres, Spheres64, Threads};
use jostle_cli::Table;
use jostle_view::Shown;

/// Circles, or spheres. Searched in 32-bit floats where these hold all values, else in 64, as by `jostle pairs`.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// As they are shown: 64-bit values less a common origin, so that what lies far off is still told apart, and rounded.
    axes: Vec<Vec<f32>>,
    radius: Vec<f32>,
    exact: Option<Exact>,
}

/// Values that 32 bits do not hold.
#[derive(Debug)]
struct Exact {
    axes: Vec<Vec<f64>>,
    radius: Vec<f64>,
}

/// What searches are kept in from file to file.
#[derive(Debug, Default)]
pub(crate) struct Finders {
    plane: PairFinder<2>,
    space: PairFinder<3>,
    /// Of the bodies as they are shown, where they are searched in 64 bits.
    plane_tree: LinearTree<2>,
    space_tree: LinearTree<3>,
}

impl Bodies {
    /// The circles or spheres of a table.
    pub(crate) fn of(table: &Table) -> Self {
        let mut axes = vec![Vec::with_capacity(table.len()); table.dim() + 1];
        for row in (0..table.len()).map(|id| table.row(id)) {
            axes.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
        }
        let radius = axes.pop().unwrap_or_default();
        let is_single = |&x: &f64| f64::from(x as f32) == x;
        let narrow = |column: &Vec<f64>, origin: f64| column.iter().map(|&x| (x - origin) as f32).collect();
        if axes.iter().flatten().chain(&radius).all(is_single) {
            return Self {
                axes: axes.iter().map(|axis| narrow(axis, 0.0)).collect(),
                radius: narrow(&radius, 0.0),
                exact: None,
            };
        }
        let middle = |axis: &Vec<f64>| {
            let ends = axis.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], &x| [lo.min(x), hi.max(x)]);
            // One that is not finite is refused by the search.
            Some(ends[0] / 2.0 + ends[1] / 2.0).filter(|middle| middle.is_finite()).unwrap_or(0.0)
        };
        Self {
            axes: axes.iter().map(|axis| narrow(axis, middle(axis))).collect(),
            radius: narrow(&radius, 0.0),
            exact: Some(Exact { axes, radius }),
        }
    }

    /// As they are shown, spheres along their third axis.
    pub(crate) fn view(&self) -> Circles<'_> {
        let axis = |axis: usize| self.axes.get(axis).map_or(&[][..], Vec::as_slice);
        Circles::new(axis(0), axis(1), &self.radius)
    }

    fn heights(&self) -> Option<&[f32]> {
        self.axes.get(2).map(Vec::as_slice)
    }

    /// Searches them.
    ///
    /// # Errors
    /// As a search of them, or of what is shown of them.
    pub(crate) fn find(&self, finders: &mut Finders) -> Result<(), InputError> {
        let view = self.view();
        match (&self.exact, self.heights()) {
            (None, None) => drop(finders.plane.find(view)?),
            (None, Some(z)) => drop(finders.space.find(Spheres::new(&self.axes[0], &self.axes[1], z, &self.radius))?),
            (Some(Exact { axes, radius }), None) => {
                finders.plane.find(Circles64::new(&axes[0], &axes[1], radius))?;
                finders.plane_tree.build(view, Threads::Current)?;
            }
            (Some(Exact { axes, radius }), Some(z)) => {
                finders.space.find(Spheres64::new(&axes[0], &axes[1], &axes[2], radius))?;
                let shown = Spheres::new(&self.axes[0], &self.axes[1], z, &self.radius);
                finders.space_tree.build(shown, Threads::Current)?;
            }
        }
        Ok(())
    }

    /// What was found last, when that was a search of these bodies.
    pub(crate) fn shown<'a>(&'a self, finders: &'a Finders) -> Shown<'a> {
        match (&self.exact, self.heights()) {
            (None, None) => (&finders.plane.last()).into(),
            (None, Some(z)) => Shown::from(&finders.space.last()).with_heights(z),
            (Some(_), None) => Shown::from(&finders.plane.last()).with_tree(&finders.plane_tree),
            (Some(_), Some(z)) => {
                Shown::from(&finders.space.last()).with_tree_in_space(&finders.space_tree).with_heights(z)
            }
        }
    }
}
