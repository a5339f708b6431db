//! Errors are collective: if one rank refuses, all ranks return the same error, and no rank waits for another.

use jostle::{InputError, Reason};

use crate::transport::Transport;

/// Why ranks refused to search; the same on every rank, but for [`DistributedError::Input`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributedError {
    /// Bodies with values outside the contract.
    #[error("rank {rank}: body {id}: {reason} ({count} bodies at fault on all ranks)")]
    Body {
        /// The first rank that has such a body.
        rank: u32,
        /// The global id of its first such body.
        id: u64,
        /// What is wrong with that body.
        reason: Reason,
        /// How many such bodies there are on all ranks.
        count: u64,
    },
    /// The input of a rank, or what it found, was refused as a whole.
    #[error("rank {rank}: {message}")]
    Rank {
        /// The first rank that refused.
        rank: u32,
        /// What that rank said.
        message: String,
    },
    /// The space of the search was refused; [`DistributedError::Rank`] on ranks that gave a sound one.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// What is wrong on this rank.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    Body { id: u64, reason: Reason, count: u64 },
    Whole(String),
}

impl Fault {
    pub(crate) fn of(error: &impl core::fmt::Display) -> Self {
        Self::Whole(error.to_string())
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Whole(message) => [&[0], message.as_bytes()].concat(),
            Self::Body { id, reason, .. } => {
                let (kind, axis) = match *reason {
                    Reason::CenterNotFinite { axis } => (1, axis),
                    Reason::RadiusNotFinite => (2, 0),
                    Reason::RadiusNegative => (3, 0),
                    Reason::TooFar { axis } => (4, axis),
                    Reason::TooFar64 { axis } => (5, axis),
                    _ => return [&[0], reason.to_string().as_bytes()].concat(),
                };
                [&[kind, axis], id.to_ne_bytes().as_slice()].concat()
            }
        }
    }
}

impl DistributedError {
    fn from_bytes(rank: u32, bytes: &[u8], count: u64) -> Self {
        let body = |reason| {
            let id = bytes[2..].try_into().map_or(0, u64::from_ne_bytes);
            Self::Body { rank, id, reason, count }
        };
        match bytes {
            [1, axis, ..] => body(Reason::CenterNotFinite { axis: *axis }),
            [2, ..] => body(Reason::RadiusNotFinite),
            [3, ..] => body(Reason::RadiusNegative),
            [4, axis, ..] => body(Reason::TooFar { axis: *axis }),
            [5, axis, ..] => body(Reason::TooFar64 { axis: *axis }),
            _ => {
                let message = String::from_utf8_lossy(bytes.get(1..).unwrap_or_default()).into_owned();
                Self::Rank { rank, message }
            }
        }
    }
}

/// Lets all ranks agree whether to go on. At no extra cost, each of `values` becomes the greatest of all ranks on the
/// way.
///
/// # Errors
/// On every rank, the error of the first rank that has a fault.
pub(crate) fn agree(ranks: &impl Transport, fault: Option<&Fault>, values: &mut [f64]) -> Result<(), DistributedError> {
    // This value falls with the rank, so the first faulty rank has the greatest; 0 means that all is well.
    let first = if fault.is_some() { f64::from(ranks.size() - ranks.rank()) } else { 0.0 };
    let mut all: Vec<f64> = [&[first], &*values].concat();
    ranks.max(&mut all);
    values.copy_from_slice(&all[1..]);
    if all[0] == 0.0 {
        return Ok(());
    }
    let mut count = [match fault {
        Some(Fault::Body { count, .. }) => *count,
        _ => 0,
    }];
    ranks.sum(&mut count);
    let rank = ranks.size() - all[0] as u32;
    let said = ranks.broadcast(rank, &fault.map(Fault::to_bytes).unwrap_or_default());
    Err(DistributedError::from_bytes(rank, &said, count[0]))
}
