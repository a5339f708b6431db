//! The values of one column, in `f32` as long as `f32` rounds none of them.

/// Values in the narrower of two forms that holds all of them exactly.
#[derive(Debug, Clone)]
pub(crate) enum Column {
    F32(Vec<f32>),
    F64 {
        values: Vec<f64>,
        /// Position of the first value that `f32` would round.
        first: usize,
    },
}

impl Default for Column {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

impl Column {
    pub(crate) fn push(&mut self, value: f64) {
        match self {
            Self::F32(values) if is_exact(value) => values.push(value as f32),
            Self::F64 { values, .. } => values.push(value),
            Self::F32(values) => {
                let first = values.len();
                let mut values: Vec<f64> = values.iter().copied().map(f64::from).collect();
                values.push(value);
                *self = Self::F64 { values, first };
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64 { values, .. } => values.len(),
        }
    }

    /// Position and value of the first value that `f32` would round.
    pub(crate) fn first_inexact(&self) -> Option<(usize, f64)> {
        match self {
            Self::F32(_) => None,
            Self::F64 { values, first } => Some((*first, values[*first])),
        }
    }

    pub(crate) fn into_f64(self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.into_iter().map(f64::from).collect(),
            Self::F64 { values, .. } => values,
        }
    }

    /// Returns all values rounded to `f32`.
    ///
    /// # Errors
    /// Position and value of the first value that is finite, but beyond the largest `f32`.
    pub(crate) fn into_f32(self) -> Result<Vec<f32>, (usize, f64)> {
        match self {
            Self::F32(values) => Ok(values),
            Self::F64 { values, .. } => {
                let narrow = |(at, &value): (usize, &f64)| round(value).ok_or((at, value));
                values.iter().enumerate().map(narrow).collect()
            }
        }
    }
}

/// Returns whether `f32` holds a number as it is. Infinities and NaN count as held, since `f32` has them too.
pub(crate) fn is_exact(value: f64) -> bool {
    !value.is_finite() || f64::from(value as f32) == value
}

/// The nearest `f32`; `None` when the number is finite and its nearest `f32` is not.
pub(crate) fn round(value: f64) -> Option<f32> {
    let narrow = value as f32;
    (narrow.is_finite() || !value.is_finite()).then_some(narrow)
}

#[cfg(test)]
mod tests {
    use super::{Column, round};

    #[test]
    fn a_value_that_is_not_exact_widens_the_column() {
        let mut column = Column::default();
        [0.5, f64::NAN, -3.0, f64::INFINITY].into_iter().for_each(|value| column.push(value));
        assert!(matches!(column, Column::F32(_)) && column.first_inexact().is_none());
        column.push(0.1);
        column.push(1e-60);
        assert_eq!((column.len(), column.first_inexact()), (6, Some((4, 0.1))));
        assert_eq!(column.clone().into_f64()[2..], [-3.0, f64::INFINITY, 0.1, 1e-60]);
        assert_eq!(column.clone().into_f32().unwrap()[2..], [-3.0, f32::INFINITY, 0.1, 0.0]);
        column.push(-4e38);
        assert_eq!(column.into_f32(), Err((6, -4e38)));
        assert_eq!(round(f64::NEG_INFINITY), Some(f32::NEG_INFINITY));
    }
}
