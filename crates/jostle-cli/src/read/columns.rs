//! Which columns of a file hold the centres and the radius.

use anyhow::{Context, Result, ensure};

use crate::args::InputArgs;

/// The names looked for when the command line gives none: the axes, and the radius.
const AXES: [&str; 3] = ["x", "y", "z"];
const RADIUS: &str = "r";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    dim: Option<usize>,
    radius: Option<f32>,
    names: Option<Vec<String>>,
}

/// The columns to read, found among those of a file: one an axis, then that of the radii unless one serves all.
#[derive(Debug, PartialEq)]
pub(crate) struct Picked {
    pub(crate) dim: usize,
    /// The radius of all bodies, if given.
    pub(crate) radius: Option<f32>,
    /// Position in the file, and name.
    pub(crate) columns: Vec<(usize, String)>,
}

impl Wanted {
    /// Columns named on the command line decide the number of axes.
    pub(crate) fn new(args: &InputArgs) -> Result<Self> {
        let mut dim = args.dim.map(usize::from);
        let (radius, names) = (args.radius, args.columns.clone());
        if let Some(names) = &names {
            let axes = names.len() - usize::from(radius.is_none()).min(names.len());
            let agree = dim.map_or((2..=3).contains(&axes), |dim| dim == axes);
            let with = if radius.is_some() { "with --radius" } else { "without --radius" };
            ensure!(agree, "--columns {}: {axes} axes {with}, which does not fit", names.join(","));
            dim = Some(axes);
        }
        Ok(Self { dim, radius, names })
    }

    pub(crate) fn by_name(&self) -> bool {
        self.names.is_some()
    }

    /// Finds the columns among the names that a file has.
    pub(crate) fn pick(&self, present: &[String]) -> Result<Picked> {
        let has = |name: &str| present.iter().any(|have| have == name);
        let dim = self.dim.unwrap_or(if has(AXES[2]) { 3 } else { 2 });
        let names = match &self.names {
            Some(names) => names.clone(),
            None => {
                let radius = self.radius.is_none().then_some(RADIUS);
                AXES[..dim].iter().copied().chain(radius).map(str::to_owned).collect()
            }
        };
        let columns = names.into_iter().map(|name| Ok((position(present, &name)?, name)));
        Ok(Picked { dim, radius: self.radius, columns: columns.collect::<Result<_>>()? })
    }

    /// The columns of an array, which have no names: x, y[, z], r, or x, y[, z] when one radius serves all.
    pub(crate) fn pick_unnamed(&self, count: usize) -> Result<Picked> {
        let axes = count - usize::from(self.radius.is_none()).min(count);
        let layout = if self.radius.is_some() { "x, y or x, y, z with --radius" } else { "x, y, r or x, y, z, r" };
        ensure!((2..=3).contains(&axes), "{count} columns, where {layout} were expected");
        let mut present: Vec<_> = AXES[..axes].iter().map(|&name| name.to_owned()).collect();
        present.extend(self.radius.is_none().then(|| RADIUS.to_owned()));
        self.pick(&present)
    }
}

fn position(present: &[String], name: &str) -> Result<usize> {
    present.iter().position(|have| have == name).with_context(|| {
        let hint = if name == RADIUS { "--radius or --columns" } else { "--columns" };
        format!("no column {name:?} among {}; {hint} may help", present.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Picked, Wanted};

    fn wanted(dim: Option<usize>, radius: Option<f32>) -> Wanted {
        Wanted { dim, radius, names: None }
    }

    fn positions(picked: Picked) -> Vec<usize> {
        picked.columns.into_iter().map(|(at, _)| at).collect()
    }

    fn present(names: &str) -> Vec<String> {
        names.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn a_column_z_makes_spheres_unless_told_otherwise() {
        let names = present("name,z,r,x,y");
        assert_eq!(positions(wanted(None, None).pick(&names).unwrap()), [3, 4, 1, 2]);
        assert_eq!(positions(wanted(Some(2), None).pick(&names).unwrap()), [3, 4, 2]);
        assert_eq!(positions(wanted(None, Some(1.0)).pick(&names).unwrap()), [3, 4, 1]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = wanted(Some(3), None).pick(&present("x,y,r")).unwrap_err().to_string();
        assert_eq!(error, "no column \"z\" among x, y, r; --columns may help");
    }

    #[test]
    fn arrays_are_read_by_position() {
        assert_eq!(positions(wanted(None, None).pick_unnamed(4).unwrap()), [0, 1, 2, 3]);
        assert_eq!(positions(wanted(Some(2), None).pick_unnamed(4).unwrap()), [0, 1, 3]);
        assert_eq!(positions(wanted(None, Some(1.0)).pick_unnamed(2).unwrap()), [0, 1]);
        for (radius, count) in [(None, 2), (None, 5), (None, 0), (Some(1.0), 1), (Some(1.0), 4)] {
            assert!(wanted(None, radius).pick_unnamed(count).is_err());
        }
    }
}
