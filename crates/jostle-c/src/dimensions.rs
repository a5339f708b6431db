//! Two dimensions or three, chosen when a handle is made.

use crate::prepared::PreparedOf;
use crate::sets::Dimensional;
use crate::status::{Failure, Status};

/// A value that exists in two dimensions or in three.
#[derive(Debug)]
pub(crate) enum Either<Two, Three> {
    Two(Two),
    Three(Three),
}

impl<Two, Three> Either<Two, Three> {
    pub(crate) fn make(
        dimensions: u32,
        two: impl FnOnce() -> Two,
        three: impl FnOnce() -> Three,
    ) -> Result<Self, Failure> {
        match dimensions {
            2 => Ok(Self::Two(two())),
            3 => Ok(Self::Three(three())),
            _ => Err(Failure::new(Status::Dimensions, format_args!("{dimensions} dimensions: 2 or 3"))),
        }
    }
}

/// Evaluates the same expression in two dimensions or in three.
macro_rules! in_either {
    ($of:expr, $one:ident => $body:expr) => {
        match $of {
            $crate::dimensions::Either::Two($one) => $body,
            $crate::dimensions::Either::Three($one) => $body,
        }
    };
}
pub(crate) use in_either;

pub(crate) fn differ() -> Failure {
    Failure::new(Status::Dimensions, "one handle is of 2 dimensions, the other of 3: make both of the same")
}

impl Dimensional<2> for () {
    fn prepared(of: &PreparedOf) -> Result<&engine::PreparedSet<2>, Failure> {
        if let Either::Two(set) = of { Ok(set) } else { Err(differ()) }
    }
}

impl Dimensional<3> for () {
    fn prepared(of: &PreparedOf) -> Result<&engine::PreparedSet<3>, Failure> {
        if let Either::Three(set) = of { Ok(set) } else { Err(differ()) }
    }
}
