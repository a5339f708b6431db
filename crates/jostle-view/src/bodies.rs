//! The bodies of a file: as they are searched, and as they are shown.

use jostle::{Boxes, Boxes64, Circles, Circles64, InputError, LinearTree, PairFinder, Spheres, Spheres64, Threads};
use jostle_cli::Table;
use jostle_view::{Shown, View};

/// Circles, spheres, or boxes in the plane. They are searched in 32-bit floats if these hold all values, else in 64-bit
/// ones, as by `jostle pairs`.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    shape: Shape,
    /// The columns as they are shown: 64-bit values less a common origin, so that bodies far off are still told apart,
    /// and rounded.
    columns: Vec<Vec<f32>>,
    /// All columns, if 32 bits do not hold all values.
    exact: Option<Vec<Vec<f64>>>,
}

/// Which columns there are.
#[derive(Debug, Default, Clone, Copy)]
enum Shape {
    /// x, y, r.
    #[default]
    Circles,
    /// x, y, z, r.
    Spheres,
    /// Lower corners, x and y, then upper ones.
    Boxes,
}

/// The finders and trees of searches, kept from file to file.
#[derive(Debug, Default)]
pub(crate) struct Finders {
    plane: PairFinder<2>,
    space: PairFinder<3>,
    /// Trees of the bodies as they are shown, if the bodies are searched in 64 bits.
    plane_tree: LinearTree<2>,
    space_tree: LinearTree<3>,
    boxes: PairFinder<2>,
}

impl Bodies {
    /// Takes the bodies of a table, whose boxes lie in the plane.
    pub(crate) fn of(table: &Table) -> Self {
        let shape = match table.dim() {
            _ if table.is_of_boxes() => Shape::Boxes,
            2 => Shape::Circles,
            _ => Shape::Spheres,
        };
        let mut columns = vec![Vec::with_capacity(table.len()); if table.is_of_boxes() { 4 } else { table.dim() + 1 }];
        for row in (0..table.len()).map(|id| table.row(id)) {
            columns.iter_mut().zip(row).for_each(|(column, x)| column.push(x));
        }
        let narrow = |column: &Vec<f64>, origin: f64| column.iter().map(|&x| (x - origin) as f32).collect();
        let is_single = |&x: &f64| f64::from(x as f32) == x;
        if columns.iter().flatten().all(is_single) {
            return Self { shape, columns: columns.iter().map(|column| narrow(column, 0.0)).collect(), exact: None };
        }
        let middle = |columns: &[&Vec<f64>]| {
            // The search refuses values that are not finite, or they are sides that a box does not have.
            let finite = columns.iter().flat_map(|column| column.iter()).filter(|x| x.is_finite());
            let [lo, hi] = finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], &x| [lo.min(x), hi.max(x)]);
            if lo <= hi { lo / 2.0 + hi / 2.0 } else { 0.0 }
        };
        let origins: Vec<_> = match (shape, &columns[..]) {
            (Shape::Boxes, [x0, y0, x1, y1]) => [middle(&[x0, x1]), middle(&[y0, y1])].repeat(2),
            // Radii, which come last, have no origin.
            (_, [axes @ .., _]) => axes.iter().map(|axis| middle(&[axis])).chain([0.0]).collect(),
            (_, []) => Vec::new(),
        };
        let shown = columns.iter().zip(origins).map(|(column, origin)| narrow(column, origin)).collect();
        Self { shape, columns: shown, exact: Some(columns) }
    }

    fn column(&self, number: usize) -> &[f32] {
        self.columns.get(number).map_or(&[], Vec::as_slice)
    }

    /// The bodies as they are shown, spheres along their third axis.
    pub(crate) fn view(&self) -> View<'_> {
        let column = |number| self.column(number);
        match self.shape {
            Shape::Circles => Circles::new(column(0), column(1), column(2)).into(),
            Shape::Spheres => Circles::new(column(0), column(1), column(3)).into(),
            Shape::Boxes => self.boxes().into(),
        }
    }

    fn boxes(&self) -> Boxes<'_, 2> {
        Boxes::new([self.column(0), self.column(1)], [self.column(2), self.column(3)])
    }

    /// Searches the bodies.
    ///
    /// # Errors
    /// Those of a search of the bodies, or of the bodies as they are shown.
    pub(crate) fn find(&self, finders: &mut Finders) -> Result<(), InputError> {
        let column = |number| self.column(number);
        let circles = Circles::new(column(0), column(1), column(2));
        let spheres = || Spheres::new(column(0), column(1), column(2), column(3));
        match (self.shape, self.exact.as_deref()) {
            (Shape::Circles, Some([x, y, r])) => {
                finders.plane.find(Circles64::new(x, y, r))?;
                finders.plane_tree.build(circles, Threads::Current)?;
            }
            (Shape::Spheres, Some([x, y, z, r])) => {
                finders.space.find(Spheres64::new(x, y, z, r))?;
                finders.space_tree.build(spheres(), Threads::Current)?;
            }
            (Shape::Boxes, Some([x0, y0, x1, y1])) => {
                finders.plane.find(Boxes64::new([x0, y0], [x1, y1]))?;
                finders.boxes.count(self.boxes())?;
            }
            (Shape::Circles, _) => drop(finders.plane.find(circles)?),
            (Shape::Spheres, _) => drop(finders.space.find(spheres())?),
            (Shape::Boxes, _) => drop(finders.plane.find(self.boxes())?),
        }
        Ok(())
    }

    /// What the last search found, if that was a search of these bodies.
    pub(crate) fn shown<'a>(&'a self, finders: &'a Finders) -> Shown<'a> {
        match (self.shape, &self.exact) {
            (Shape::Circles | Shape::Boxes, None) => (&finders.plane.last()).into(),
            (Shape::Spheres, None) => Shown::from(&finders.space.last()).with_heights(self.column(2)),
            (Shape::Circles, Some(_)) => Shown::from(&finders.plane.last()).with_tree(&finders.plane_tree),
            (Shape::Boxes, Some(_)) => Shown::from(&finders.plane.last()).with_tree_of(&finders.boxes.last()),
            (Shape::Spheres, Some(_)) => {
                let shown = Shown::from(&finders.space.last()).with_tree_in_space(&finders.space_tree);
                shown.with_heights(self.column(2))
            }
        }
    }
}
