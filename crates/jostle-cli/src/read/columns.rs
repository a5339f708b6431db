//! Which columns of a file hold the centres and the radius, or the corners of boxes.

use anyhow::{Result, bail, ensure};

use super::corners;
use crate::args::InputArgs;
use crate::report::counted;
use crate::shown;

/// The shape of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Circles or spheres.
    Ball,
    /// Boxes with sides along the axes.
    Box,
}

/// The names looked for when the command line gives none: the axes, and the radius.
const AXES: [&str; 3] = ["x", "y", "z"];
const RADIUS: &str = "r";

/// The names of the columns of velocities, whatever the command line says.
pub(crate) const VELOCITIES: [&str; 3] = ["vx", "vy", "vz"];

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Wanted {
    dim: Option<usize>,
    radius: Option<f64>,
    names: Option<Vec<String>>,
    /// Whether the command line says that bodies are boxes.
    boxes: bool,
    /// Whether text begins with names, if the command line says.
    header: Option<bool>,
    velocities: bool,
}

/// The columns to read, found among those of a file. For balls: one an axis, then that of the radii unless one radius
/// serves all. For boxes: one an axis for each corner, the lower corner first. Last those of the velocities, if they
/// were asked for and are there.
#[derive(Debug, PartialEq)]
pub(crate) struct Picked {
    pub(crate) shape: Shape,
    pub(crate) dim: usize,
    /// The radius of all bodies, if given.
    pub(crate) radius: Option<f64>,
    /// Position in the file, and name.
    pub(crate) columns: Vec<(usize, String)>,
}

impl Picked {
    /// The number of columns before those of the velocities.
    pub(crate) fn of_bodies(&self) -> usize {
        match self.shape {
            Shape::Ball => self.dim + usize::from(self.radius.is_none()),
            Shape::Box => 2 * self.dim,
        }
    }
}

impl Wanted {
    /// Reads velocities too, if a file has them.
    pub(crate) fn with_velocities(self) -> Self {
        Self { velocities: true, ..self }
    }

    /// Reads the command line. Columns named there decide the number of axes, and must agree with `--dim` if it is
    /// given.
    pub(crate) fn new(args: &InputArgs) -> Result<Self> {
        let wanted = Self {
            dim: args.dim.map(usize::from),
            radius: args.radius,
            names: args.columns.clone(),
            boxes: args.boxes || args.columns.iter().any(|names| corners::are_chosen(names.iter().map(String::as_str))),
            header: args.header,
            velocities: false,
        };
        if let (Some(names), true) = (&wanted.names, wanted.boxes) {
            let (given, count) = (names.join(","), names.len());
            let agree = wanted.dim.map_or(count == 4 || count == 6, |dim| count == 2 * dim);
            ensure!(
                agree,
                "--columns {given}: circles have three columns, as in x,y,r, boxes have four, {}, or six, {}",
                corners::joined(2),
                corners::joined(3)
            );
            ensure!(
                wanted.radius.is_none(),
                "--columns {given} with --radius: boxes have no radius; circles have two columns then, as in x,y"
            );
            corners::check_order(names.iter().map(String::as_str))?;
        } else if let Some(names) = &wanted.names {
            let axes = wanted.axes(names.len());
            ensure!(
                names.len() != 2 || wanted.radius.is_some() || wanted.dim == Some(3),
                "--columns {}: two columns, where x,y,r are needed; give a third, or --radius R",
                names.join(",")
            );
            // If one radius serves all, the last column may be that of the radii, which the one radius replaces.
            let spare = usize::from(wanted.radius.is_some());
            let agree = wanted.dim.map_or((2..=3).contains(&axes), |dim| (dim..=dim + spare).contains(&axes));
            let with = if wanted.radius.is_some() { "with --radius" } else { "without --radius" };
            let noun = if axes == 1 { "axis" } else { "axes" };
            let hint = if matches!(names.len(), 4 | 6) { " (--boxes takes corners)" } else { "" };
            ensure!(agree, "--columns {}: {axes} {noun} {with}, which does not fit{hint}", names.join(","));
        }
        Ok(wanted)
    }

    /// Returns how many of `columns` columns are axes.
    fn axes(&self, columns: usize) -> usize {
        columns - usize::from(self.radius.is_none()).min(columns)
    }

    /// Finds the columns among the names that a file has.
    pub(crate) fn pick(&self, present: &[String]) -> Result<Picked> {
        let mut picked = self.pick_bodies(present)?;
        let names = &VELOCITIES[..picked.dim];
        let has = |name: &&str| present.iter().any(|have| have.eq_ignore_ascii_case(name));
        if self.velocities && names.iter().any(has) {
            let hint = "; a velocity for each axis, or for none, may help";
            let found = names.iter().map(|&name| Ok((position(present, name, hint)?, name.to_owned())));
            picked.columns.extend(found.collect::<Result<Vec<_>>>()?);
        }
        Ok(picked)
    }

    fn pick_bodies(&self, present: &[String]) -> Result<Picked> {
        let Some(names) = &self.names else {
            if self.reads_boxes(present)? {
                let dim = self.dim.unwrap_or_else(|| corners::axes(present));
                let column = |name| Ok((position(present, name, "; --columns may help")?, name.to_owned()));
                let columns = corners::names(dim).map(column).collect::<Result<_>>()?;
                return Ok(Picked { shape: Shape::Box, dim, radius: None, columns });
            }
            let has_z = present.iter().any(|have| have.eq_ignore_ascii_case(AXES[2]));
            let dim = self.dim.unwrap_or(if has_z { 3 } else { 2 });
            let names = AXES[..dim].iter().copied().chain(self.radius.is_none().then_some(RADIUS));
            let hint = |name| if name == RADIUS { "; --radius or --columns may help" } else { "; --columns may help" };
            let column = |name| Ok((position(present, name, hint(name))?, name.to_owned()));
            let columns = names.map(column).collect::<Result<_>>()?;
            return Ok(Picked { shape: Shape::Ball, dim, radius: self.radius, columns });
        };
        let column = |name: &String| {
            let named = position(present, name, "");
            let at = named.or_else(|error| by_position(present.len(), name)?.ok_or(error))?;
            Ok((at, shown::text(&present[at])))
        };
        self.pick_named(names.iter().map(column).collect::<Result<_>>()?)
    }

    /// Returns whether the columns of a file are those of boxes. If they may be circles too, the error asks the user.
    fn reads_boxes(&self, present: &[String]) -> Result<bool> {
        let Some(corner) = corners::first(present) else { return Ok(self.boxes) };
        let radius = present.iter().find(|have| have.eq_ignore_ascii_case(RADIUS));
        let (why, how) = match (radius, self.radius) {
            _ if self.boxes => return Ok(true),
            (_, Some(_)) => (format!("--radius and a column {corner}"), "--columns x,y with --radius"),
            (Some(radius), None) => (format!("columns {radius} and {corner}"), "--columns x,y,r"),
            (None, None) => return Ok(true),
        };
        let boxes = corners::joined(self.dim.unwrap_or_else(|| corners::axes(present)));
        bail!("{why}: are the bodies circles (say {how}), or boxes (say --columns {boxes}, without a radius)?")
    }

    /// Returns whether the first line of text is a body like the others, not names. If it may be either, the error asks
    /// the user.
    ///
    /// # Errors
    /// When the line has numbers for names, or may be either.
    pub(crate) fn first_is_body(&self, first: &[String], is_number: impl Fn(&str) -> bool) -> Result<bool> {
        if let Some(header) = self.header {
            return Ok(!header);
        }
        let named = self.names.as_deref().unwrap_or_default();
        let by_position = !named.is_empty() && named.iter().all(|name| name.parse::<usize>().is_ok());
        let numbers = if by_position {
            let field = |name: &String| first.get(name.parse::<usize>().ok()?.checked_sub(1)?);
            named.iter().all(|name| field(name).is_some_and(|field| is_number(field)))
        } else {
            !first.is_empty() && first.iter().all(|field| is_number(field))
        };
        let line = shown::list(first);
        ensure!(
            by_position || !numbers,
            "the first line holds numbers, not names: {line}; if it is a body, say --header no, or give positions as in \
             --columns 1,2,3"
        );
        let counts = |from: usize| first.iter().zip(from..).all(|(field, at)| *field == at.to_string());
        ensure!(
            !numbers || !counts(0) && !counts(1),
            "the first line is {line}: if these are names, say --header yes, if it is a body, --header no"
        );
        Ok(numbers)
    }

    /// Picks the columns of an array, which have no names: those at the positions of the command line, or all. All
    /// columns are x, y[, z], r, or x, y[, z] when one radius serves all.
    pub(crate) fn pick_unnamed(&self, count: usize) -> Result<Picked> {
        if let Some(names) = &self.names {
            let column = |name: &String| match by_position(count, name)? {
                Some(at) => Ok((at, (at + 1).to_string())),
                None => bail!("--columns {name}: the columns have no names, but positions from 1 to {count}"),
            };
            return self.pick_named(names.iter().map(column).collect::<Result<_>>()?);
        }
        if self.boxes {
            let dim = self.dim.unwrap_or(count / 2);
            let fits = matches!(count, 4 | 6) && 2 * dim <= count;
            ensure!(
                fits,
                "{}, where boxes have {} or {}; --columns picks some, as in 1,2,3,4",
                counted(count as u64, "columns"),
                corners::joined(2),
                corners::joined(3)
            );
            let corner = |first: usize| (first..first + dim).map(|at| (at, (at + 1).to_string()));
            let columns = corner(0).chain(corner(count / 2)).collect();
            return Ok(Picked { shape: Shape::Box, dim, radius: None, columns });
        }
        let axes = self.axes(count);
        let layout = if self.radius.is_some() { "x, y or x, y, z with --radius" } else { "x, y, r or x, y, z, r" };
        ensure!(
            (2..=3).contains(&axes),
            "{}, where {layout} were expected; --columns picks some, as in 1,2,3{}",
            counted(count as u64, "columns"),
            if matches!(count, 4 | 6) { ", --boxes takes corners" } else { "" }
        );
        let clear = self.radius.is_none() || axes == 2 || self.dim.is_some();
        ensure!(
            clear,
            "{count} columns with --radius: are they x, y, z (say --dim 3), or x, y, r with --radius in place of r (say \
             --dim 2)?"
        );
        let dim = self.dim.unwrap_or(axes);
        ensure!(dim <= axes, "{count} columns are x, y, r: spheres (--dim 3) need x, y, z, r, or --radius");
        let radius = self.radius.is_none().then(|| (axes, RADIUS.to_owned()));
        let columns = AXES[..dim].iter().map(|&name| name.to_owned()).enumerate().chain(radius);
        Ok(Picked { shape: Shape::Ball, dim, radius: self.radius, columns: columns.collect() })
    }

    fn check_named_once(&self, columns: &[(usize, String)]) -> Result<()> {
        let is_before =
            |&(at, (place, _)): &(usize, &(usize, _))| columns[..at].iter().any(|(other, _)| other == place);
        if let Some((_, (_, name))) = columns.iter().enumerate().find(is_before) {
            let names = self.names.as_deref().unwrap_or_default();
            bail!("--columns {}: the column {name} is named twice", names.join(","));
        }
        Ok(())
    }

    /// Picks columns that the command line names. If the last of three may be the third axis or the radius, the error
    /// asks the user.
    fn pick_named(&self, mut columns: Vec<(usize, String)>) -> Result<Picked> {
        self.check_named_once(&columns)?;
        // Corners may be chosen by position too.
        let names = columns.iter().map(|(_, name)| name.as_str());
        if self.boxes || matches!(columns.len(), 4 | 6) && corners::are_chosen(names.clone()) {
            corners::check_order(names)?;
            return Ok(Picked { shape: Shape::Box, dim: columns.len() / 2, radius: None, columns });
        }
        if let (None, [(_, x), _, (_, third)]) = (self.dim, &columns[..]) {
            let names: Vec<_> = self.names.iter().flatten().map(String::as_str).collect();
            let names = names.join(",");
            if self.radius.is_some() {
                ensure!(
                    is_z(third, x),
                    "--columns {names} with --radius: is {third} the third axis (say --dim 3), or a radius that --radius \
                     takes the place of (say --dim 2)?"
                );
            } else {
                ensure!(
                    !is_z(third, x),
                    "--columns {names} without --radius: is {third} the radius of circles (say --dim 2), or the third axis \
                     of spheres (name a fourth column for their radii, or give --radius)?"
                );
            }
        }
        let dim = self.dim.unwrap_or(self.axes(columns.len()));
        if self.radius.is_some() {
            columns.truncate(dim);
        }
        Ok(Picked { shape: Shape::Ball, dim, radius: self.radius, columns })
    }
}

/// Returns whether a name is clearly that of the third axis: `z`, or the name `x` of the first axis with a z where an x
/// was.
fn is_z(name: &str, x: &str) -> bool {
    let (name, x) = (name.to_ascii_lowercase(), x.to_ascii_lowercase());
    name == AXES[2]
        || x.match_indices(AXES[0]).any(|(at, _)| format!("{}{}{}", &x[..at], AXES[2], &x[at + 1..]) == name)
}

/// Returns the position of the column of that name, or else of the only column of that name in whatever case.
///
/// # Errors
/// When there is no such column (the message then ends in `hint`), or more than one.
pub(crate) fn position(present: &[String], name: &str, hint: &str) -> Result<usize> {
    let all = |same: &dyn Fn(&str) -> bool| -> Vec<usize> {
        present.iter().enumerate().filter(|(_, have)| same(have)).map(|(at, _)| at).collect()
    };
    let exact = all(&|have| have == name);
    let found = if exact.is_empty() { all(&|have| have.eq_ignore_ascii_case(name)) } else { exact };
    match found[..] {
        [at] => Ok(at),
        [] => bail!("no column {} among {}{hint}", shown::quoted(name), shown::list(present)),
        _ => bail!("{} columns are called {} among {}", found.len(), shown::quoted(name), shown::list(present)),
    }
}

/// Returns the column at a position, counted from 1; `None` if `given` is no position.
fn by_position(count: usize, given: &str) -> Result<Option<usize>> {
    let Ok(position) = given.parse::<usize>() else { return Ok(None) };
    let there = (1..=count).contains(&position);
    ensure!(
        there,
        "--columns {given}: positions are counted from 1, and the input has {}",
        counted(count as u64, "columns")
    );
    Ok(Some(position - 1))
}

#[cfg(test)]
mod tests {
    use super::{Picked, Wanted};

    fn wanted(dim: Option<usize>, radius: Option<f64>) -> Wanted {
        Wanted { dim, radius, names: None, boxes: false, header: None, velocities: false }
    }

    fn named(names: &str, dim: Option<usize>, radius: Option<f64>) -> Wanted {
        Wanted { names: Some(present(names)), ..wanted(dim, radius) }
    }

    fn positions(picked: Picked) -> Vec<usize> {
        picked.columns.into_iter().map(|(at, _)| at).collect()
    }

    fn present(names: &str) -> Vec<String> {
        names.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn a_column_z_makes_spheres_unless_told_otherwise() {
        for names in ["name,z,r,x,y", "NAME,Z,R,X,Y", "r,z,R,X,y,x"] {
            let names = present(names);
            let at = |name: &str| {
                let exact = names.iter().position(|have| have == name);
                exact.or(names.iter().position(|have| *have == name.to_uppercase())).unwrap()
            };
            let [x, y, z, r] = ["x", "y", "z", "r"].map(at);
            assert_eq!(positions(wanted(None, None).pick(&names).unwrap()), [x, y, z, r]);
            assert_eq!(positions(wanted(Some(2), None).pick(&names).unwrap()), [x, y, r]);
            assert_eq!(positions(wanted(None, Some(1.0)).pick(&names).unwrap()), [x, y, z]);
        }
    }

    #[test]
    fn what_is_missing_or_there_twice_is_named() {
        let error = wanted(Some(3), None).pick(&present("x,y,r")).unwrap_err().to_string();
        assert_eq!(error, "no column \"z\" among x, y, r; --columns may help");
        let error = wanted(None, None).pick(&present("x,y,r,x")).unwrap_err().to_string();
        assert_eq!(error, "2 columns are called \"x\" among x, y, r, x");
        let error = wanted(None, None).pick(&present("X,X,y,r")).unwrap_err().to_string();
        assert_eq!(error, "2 columns are called \"x\" among X, X, y, r");
    }

    #[test]
    fn columns_are_found_by_position() {
        let names = present("id,lon,lat,size");
        assert_eq!(positions(named("2,3,4", None, None).pick(&names).unwrap()), [1, 2, 3]);
        assert_eq!(positions(named("lon,3,size", None, None).pick(&names).unwrap()), [1, 2, 3]);
        assert_eq!(positions(named("3,1", None, Some(1.0)).pick_unnamed(4).unwrap()), [2, 0]);
        for bad in ["0,1,2", "1,2,5"] {
            let error = named(bad, None, None).pick_unnamed(4).unwrap_err().to_string();
            assert!(error.contains("positions are counted from 1, and the input has 4 columns"), "{error}");
        }
        assert!(named("1,lat,3", None, None).pick_unnamed(4).is_err());
        // A name that reads as a number is a name first.
        assert_eq!(positions(named("1,2,3", None, None).pick(&present("0,1,2,3")).unwrap()), [1, 2, 3]);
    }

    #[test]
    fn a_first_line_of_numbers_is_a_body_where_columns_are_positions() {
        let is_number = |field: &str| field.parse::<f64>().is_ok();
        let body = |wanted: Wanted, first: &str| wanted.first_is_body(&present(first), is_number);
        assert!(body(named("1,2,4", None, None), "5,7,north,2").unwrap());
        assert!(!body(named("1,2,4", None, None), "x,y,name,r").unwrap());
        assert!(!body(named("x,y,r", None, None), "x,y,r").unwrap());
        assert!(!body(wanted(None, None), "1,2,name").unwrap());
        assert!(body(wanted(None, None), "1,2,5").unwrap_err().to_string().contains("say --header no"));
        for names in ["0,1,2", "1,2,3"] {
            let error = body(named("1,2,3", None, None), names).unwrap_err().to_string();
            assert!(error.contains("if these are names, say --header yes"), "{error}");
            let told = |header| Wanted { header: Some(header), ..named("1,2,3", None, None) };
            assert!(body(told(false), names).unwrap() && !body(told(true), names).unwrap());
        }
    }

    #[test]
    fn arrays_are_read_by_position() {
        assert_eq!(positions(wanted(None, None).pick_unnamed(4).unwrap()), [0, 1, 2, 3]);
        assert_eq!(positions(wanted(Some(2), None).pick_unnamed(4).unwrap()), [0, 1, 3]);
        assert_eq!(positions(wanted(None, Some(1.0)).pick_unnamed(2).unwrap()), [0, 1]);
        for (radius, count) in [(None, 2), (None, 5), (None, 0), (Some(1.0), 1), (Some(1.0), 4)] {
            assert!(wanted(None, radius).pick_unnamed(count).is_err());
        }
        assert!(wanted(Some(3), None).pick_unnamed(3).is_err());
        assert!(wanted(Some(3), Some(1.0)).pick_unnamed(2).is_err());
    }

    #[test]
    fn three_columns_and_a_radius_are_asked_about() {
        let radius = Some(1.0);
        assert!(wanted(None, radius).pick_unnamed(3).is_err());
        assert_eq!(positions(wanted(Some(2), radius).pick_unnamed(3).unwrap()), [0, 1]);
        assert_eq!(positions(wanted(Some(3), radius).pick_unnamed(3).unwrap()), [0, 1, 2]);
        for (names, clear) in [("x,y,z", true), ("pos_X,pos_Y,pos_Z", true), ("x,y,r", false), ("lon,lat,alt", false)] {
            let columns = present(names);
            assert_eq!(named(names, None, radius).pick(&columns).is_ok(), clear, "{names}");
            assert_eq!(named("1,2,3", None, radius).pick(&columns).is_ok(), clear, "{names}");
            assert_eq!(named(names, None, None).pick(&columns).is_err(), clear, "{names} without --radius");
            assert_eq!(positions(named(names, Some(2), radius).pick(&columns).unwrap()), [0, 1]);
            assert_eq!(positions(named(names, Some(3), radius).pick(&columns).unwrap()), [0, 1, 2]);
            assert_eq!(positions(named(names, Some(2), None).pick(&columns).unwrap()), [0, 1, 2]);
        }
        assert!(named("1,2,3", None, radius).pick_unnamed(3).is_err());
    }

    #[test]
    fn velocities_are_read_for_each_axis_or_for_none() {
        let names = present("vz,VX,x,y,z,r,vy");
        let moving = |dim, names: &[String]| wanted(dim, None).with_velocities().pick(names);
        assert_eq!(positions(moving(None, &names).unwrap()), [2, 3, 4, 5, 1, 6, 0]);
        assert_eq!(positions(moving(Some(2), &names).unwrap()), [2, 3, 5, 1, 6]);
        assert_eq!(positions(wanted(None, None).pick(&names).unwrap()), [2, 3, 4, 5]);
        assert_eq!(moving(None, &present("x,y,r")).unwrap().of_bodies(), 3);
        let error = moving(None, &present("x,y,r,vx")).unwrap_err().to_string();
        assert_eq!(error, "no column \"vy\" among x, y, r, vx; a velocity for each axis, or for none, may help");
    }
}
