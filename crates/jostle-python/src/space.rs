//! The space that bodies are in: open, or a cell that repeats.

use engine::Space;
use pyo3::prelude::*;

use crate::errors::{type_error, value_error};

/// The space as the caller describes it.
#[derive(Default)]
pub(crate) struct AskedSpace<'py> {
    pub(crate) cell: Option<Bound<'py, PyAny>>,
    pub(crate) pbc: Option<Bound<'py, PyAny>>,
    pub(crate) origin: Option<Bound<'py, PyAny>>,
}

/// A cell, and whether its first vector was turned round to make it right-handed: shifts by this vector count the other
/// way.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Cell<const D: usize> {
    pub(crate) space: Space<D>,
    pub(crate) turned: bool,
}

/// Returns the shape and the numbers, row by row, of whatever numpy can make an array of.
fn numbers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<(Vec<usize>, Vec<f64>)> {
    let array = crate::arrays::as_array(object, name)?;
    let array =
        array.call_method1("astype", ("f8",)).map_err(|_| type_error(format_args!("{name} must be numbers")))?;
    Ok((array.getattr("shape")?.extract()?, array.call_method0("ravel")?.call_method0("tolist")?.extract()?))
}

/// Puts a vector of length 1 that lies across all others in the place of each vector of length zero whose direction
/// does not repeat: as ASE completes its cells.
fn complete<const D: usize>(vectors: &mut [[f64; D]; D], repeats: [bool; D]) {
    for k in 0..D {
        if vectors[k] != [0.0; D] || repeats[k] {
            continue;
        }
        // The other vectors are taken off each axis. The axis of which most is left gives the vector.
        let mut basis: Vec<[f64; D]> = Vec::new();
        let less = |mut v: [f64; D], basis: &[[f64; D]]| {
            for b in basis {
                let along: f64 = (0..D).map(|axis| v[axis] * b[axis]).sum();
                (0..D).for_each(|axis| v[axis] -= along * b[axis]);
            }
            v
        };
        let length = |v: &[f64; D]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        for other in (0..D).filter(|&other| vectors[other] != [0.0; D]) {
            let left = less(vectors[other], &basis);
            let size = length(&left);
            basis.push(left.map(|x| x / size));
        }
        // The vector's own axis comes first: it is chosen where it is free.
        let axes = (0..D).map(|step| {
            let mut axis = [0.0; D];
            axis[(k + step) % D] = 1.0;
            less(axis, &basis)
        });
        let mut best = [0.0; D];
        for left in axes {
            if length(&left) > length(&best) + 1e-6 {
                best = left;
            }
        }
        let size = length(&best);
        vectors[k] = best.map(|x| x / size);
    }
}

fn determinant<const D: usize>(v: &[[f64; D]; D]) -> f64 {
    if D == 2 {
        v[0][0] * v[1][1] - v[0][1] * v[1][0]
    } else {
        let minor = |a: usize, b: usize| v[1][a] * v[2][b] - v[1][b] * v[2][a];
        v[0][0] * minor(1, 2) - v[0][1] * minor(0, 2) + v[0][2] * minor(0, 1)
    }
}

impl AskedSpace<'_> {
    /// Whether the caller has given a cell, or said where space repeats.
    pub(crate) fn is_asked(&self) -> bool {
        self.cell.is_some() || self.pbc.is_some()
    }

    fn repeats<const D: usize>(&self) -> PyResult<[bool; D]> {
        let Some(pbc) = &self.pbc else { return Ok([self.cell.is_some(); D]) };
        if let Ok(all) = pbc.extract::<bool>() {
            return Ok([all; D]);
        }
        let wanted = || type_error(format_args!("pbc must be a bool, or {D} of them, one for each vector of the cell"));
        let repeats = |one: PyResult<Bound<'_, PyAny>>| {
            let one = one.ok()?;
            one.extract().ok().or_else(|| one.extract::<i64>().ok().map(|one| one != 0))
        };
        let each: Option<Vec<bool>> = pbc.try_iter().map_err(|_| wanted())?.map(repeats).collect();
        each.and_then(|each| each.try_into().ok()).ok_or_else(wanted)
    }

    fn vectors<const D: usize>(cell: &Bound<'_, PyAny>) -> PyResult<[[f64; D]; D]> {
        let (shape, numbers) = numbers(cell, "cell")?;
        let mut vectors = [[0.0; D]; D];
        if let Some(length) = numbers.iter().find(|&&length| length < 0.0 && shape != [D, D]) {
            return Err(value_error(format_args!("a length of the cell is {length}: it must not be negative")));
        }
        if shape == [D] {
            (0..D).for_each(|axis| vectors[axis][axis] = numbers[axis]);
        } else if shape == [D, D] {
            vectors.as_flattened_mut().copy_from_slice(&numbers);
        } else if shape.is_empty() {
            (0..D).for_each(|axis| vectors[axis][axis] = numbers[0]);
        } else {
            let shape = crate::arrays::show(&shape);
            return Err(type_error(format_args!(
                "cell must be a number, {D} lengths, or an array of {D} vectors, one a row, not of shape {shape}"
            )));
        }
        Ok(vectors)
    }

    pub(crate) fn space<const D: usize>(&self) -> PyResult<Cell<D>> {
        let repeats = self.repeats::<D>()?;
        let Some(cell) = &self.cell else {
            if repeats != [false; D] {
                return Err(value_error("pbc without a cell: give its lengths or vectors, cell=..."));
            }
            if self.origin.is_some() {
                return Err(value_error("origin without a cell: give its lengths or vectors, cell=..."));
            }
            return Ok(Cell { space: Space::open(), turned: false });
        };
        let mut vectors = Self::vectors::<D>(cell)?;
        let mut origin = [0.0; D];
        if let Some(asked) = &self.origin {
            let (shape, numbers) = numbers(asked, "origin")?;
            if shape != [D] {
                return Err(type_error(format_args!("origin must be {D} numbers, the corner of the cell")));
            }
            origin.copy_from_slice(&numbers);
        }
        if repeats == [false; D] {
            return Ok(Cell { space: Space::open(), turned: false });
        }
        complete(&mut vectors, repeats);
        let turned = determinant(&vectors) < 0.0;
        if turned {
            vectors[0] = vectors[0].map(|x| -x);
        }
        Ok(Cell { space: Space::lattice(vectors, repeats).at(origin), turned })
    }
}
