//! What a call returns, and what is known of a call that failed.

use core::fmt;
use std::ffi::c_char;

use engine::{ContactError, InputError, QueryError, QueryReason, RangeFault, ViewError};

/// What a function returns: 0 when it has done its work. Otherwise the call has changed nothing, answers of earlier
/// calls stand, but for what the rules at the top of this header except, and jostle_last_error tells more.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All is well.
    Ok = 0,
    /// A pointer that has to lead somewhere is null.
    NullPointer = 1,
    /// A pointer to structs or to integers is not aligned as its type asks. Coordinates and radii need no alignment.
    Misaligned = 2,
    /// The size that a struct begins with is not that of this version of the library: write sizeof of the struct there.
    StructSize = 3,
    /// An integer that chooses an option has a value that this version does not know.
    UnknownValue = 4,
    /// So many values so far apart do not fit into memory: is the stride in bytes, and the count that of the bodies?
    Overflow = 5,
    /// A stride is negative, or so short that values overlap.
    Stride = 6,
    /// A handle is not of the kind that the function takes.
    WrongHandle = 7,
    /// The handle is in use by another call, of another thread or of the caller of this function.
    Busy = 8,
    /// Dimensions are neither 2 nor 3, those of two handles differ, or z is given in 2.
    Dimensions = 9,
    /// Bodies have values outside the contract; jostle_last_error names them.
    Bodies = 10,
    /// A number is out of its range.
    Parameter = 11,
    /// The space is not one that bodies can be in: borders do not ascend, vectors lie in one plane, or bodies reach
    /// over too many images.
    Space = 12,
    /// Parts of a search do not go together.
    Combination = 13,
    /// A query is outside the contract.
    Query = 14,
    /// Pairs or keys of contacts are at fault; jostle_last_error names them.
    Contacts = 15,
    /// Threads could not be started.
    Threads = 16,
    /// A defect of the library. The handle stays usable; please report it with its message.
    Panic = 17,
    /// There are more pairs or neighbours than jostle_finder_set_max_pairs allows, or than memory holds. After
    /// jostle_find, the finder's list is empty; neighbour lists may be, by a finder of coherent frames.
    TooManyPairs = 18,
}

impl Status {
    /// Returns one line for a person, which ends with a zero byte.
    fn text(self) -> &'static core::ffi::CStr {
        match self {
            Self::Ok => c"all is well",
            Self::NullPointer => c"a pointer that has to lead somewhere is null",
            Self::Misaligned => c"a pointer is not aligned as its type asks",
            Self::StructSize => c"a struct does not begin with its size: write sizeof of the struct there",
            Self::UnknownValue => c"an integer that chooses is none of those known",
            Self::Overflow => c"values so many and so far apart do not fit into memory",
            Self::Stride => c"a stride is negative, or so short that values overlap",
            Self::WrongHandle => c"a handle is not of the kind that the function takes",
            Self::Busy => c"the handle is in use by another call",
            Self::Dimensions => c"dimensions are neither 2 nor 3, those of two handles differ, or z is given in 2",
            Self::Bodies => c"bodies have values outside the contract",
            Self::Parameter => c"a number is out of its range",
            Self::Space => c"the space is none that bodies can be in",
            Self::Combination => c"parts of a search do not go together",
            Self::Query => c"a query is outside the contract",
            Self::Contacts => c"pairs or keys of contacts are at fault",
            Self::Threads => c"threads could not be started",
            Self::Panic => c"a defect of the library",
            Self::TooManyPairs => c"more pairs than the finder may list, or than memory holds",
        }
    }

    fn of(number: i32) -> Option<Self> {
        use Status::*;
        let all = [
            Ok,
            NullPointer,
            Misaligned,
            StructSize,
            UnknownValue,
            Overflow,
            Stride,
            WrongHandle,
            Busy,
            Dimensions,
            Bodies,
            Parameter,
            Space,
            Combination,
            Query,
            Contacts,
            Threads,
            Panic,
            TooManyPairs,
        ];
        all.into_iter().find(|&status| status as i32 == number)
    }
}

/// Returns one line on what a status means, known or unknown. The text lives for ever. jostle_last_error tells why a
/// certain call has failed.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_status_text(status: i32) -> *const c_char {
    Status::of(status).map_or(c"an unknown status", Status::text).as_ptr()
}

/// What is wrong with one body, query, key or pair.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// See the message.
    Other = 0,
    /// A coordinate, of a body or a query, is NaN or infinite; for a capsule, that of either end.
    CoordinateNotFinite = 1,
    /// The radius is NaN or infinite.
    RadiusNotFinite = 2,
    /// The radius is below zero.
    RadiusNegative = 3,
    /// The body or query is so far from the origin, or so large, that squares would overflow: beyond 2^60 in float,
    /// 2^500 in double.
    TooFar = 4,
    /// The body is so many cells from the origin that they cannot be counted.
    TooManyPeriods = 5,
    /// The displacement is NaN or infinite, or leads too far away.
    Displacement = 6,
    /// An earlier body has the same key, or an earlier pair is the same.
    Repeated = 7,
    /// A pair has an id that no body has.
    NoSuchId = 8,
    /// The first id of a pair is not the lesser.
    NotAscending = 9,
    /// A corner of a box is NaN, or infinite on the wrong side.
    Corner = 10,
    /// The lower corner of a box, of a body or a query, lies above the upper one.
    CornersSwapped = 11,
    /// A box reaches to infinity where space repeats.
    Endless = 12,
}

/// A body, query, key or pair at fault.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offender {
    /// The id of the body, or the number of the query or pair.
    pub id: u64,
    /// A jostle_reason.
    pub reason: i32,
    /// 0 for x, 1 for y, 2 for z; -1 where the reason concerns no axis.
    pub axis: i32,
}

/// The error of a call, before C is told of it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
    /// How many bodies, queries, keys or pairs are at fault.
    pub(crate) count: usize,
    /// The first offenders.
    pub(crate) first: Vec<Offender>,
    /// The set of the input that is at fault, where there are several.
    pub(crate) set: Option<usize>,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl fmt::Display) -> Self {
        Self { status, message: message.to_string(), count: 0, first: Vec::new(), set: None }
    }

    /// The failure of an integer that chooses an option, but has an unknown value.
    pub(crate) fn unknown(what: &str, value: impl fmt::Display) -> Self {
        Self::new(Status::UnknownValue, format_args!("{what} is {value}, which this version does not know"))
    }

    /// Adds the set of the input that the failure is about.
    pub(crate) fn in_set(self, number: usize) -> Self {
        Self { message: format!("set {number}: {}", self.message), set: Some(number), ..self }
    }

    fn naming<I, R>(self, count: usize, first: &[(I, R)], of: impl Fn(&I, &R) -> Offender) -> Self {
        Self { count, first: first.iter().map(|(id, reason)| of(id, reason)).collect(), ..self }
    }
}

impl From<ViewError> for Failure {
    fn from(refused: ViewError) -> Self {
        InputError::from(refused).into()
    }
}

impl From<InputError> for Failure {
    fn from(refused: InputError) -> Self {
        let (set, fault) = refused.by_set();
        let status = match fault {
            InputError::Bodies { .. } | InputError::Range { .. } => Status::Bodies,
            InputError::View(ViewError::Stride { .. }) => Status::Stride,
            InputError::View(ViewError::Base { .. }) => Status::Overflow,
            InputError::Lattice(_) | InputError::Images { .. } | InputError::Parameter { .. } => Status::Space,
            InputError::Combination { .. } => Status::Combination,
            InputError::TooManyPairs { .. } => Status::TooManyPairs,
            _ => Status::Parameter,
        };
        let set = set.or((status == Status::Bodies).then_some(0));
        let failure = Self { set, ..Self::new(status, in_c(&refused)) };
        match fault {
            InputError::Bodies { count, first } => failure.naming(*count, first, |&id, &reason| of_body(id, reason)),
            InputError::Range { count, first } => failure.naming(*count, first, |&id, &fault| out_of_range(id, fault)),
            _ => failure,
        }
    }
}

impl From<QueryError> for Failure {
    fn from(refused: QueryError) -> Self {
        let failure = Self::new(Status::Query, &refused);
        match &refused {
            QueryError::Queries { count, first } => failure.naming(*count, first, |&at, &reason| of_query(at, reason)),
            QueryError::Query(reason) => Self { count: 1, first: vec![of_query(0, *reason)], ..failure },
            _ => failure,
        }
    }
}

impl From<ContactError> for Failure {
    fn from(refused: ContactError) -> Self {
        use engine::PairFault;
        let failure = Self::new(Status::Contacts, in_c(&refused));
        let offender = |id, reason: Reason| Offender { id, reason: reason as i32, axis: -1 };
        match refused {
            ContactError::Bodies(refused) => refused.into(),
            ContactError::ImageShifts { .. } => {
                let message = "open space only: these pairs have no image shifts; search in this space, and use \
                               jostle_find_contact_geometry";
                Self::new(Status::Combination, message)
            }
            ContactError::Sets { sets: None, .. } => {
                let message = "pairs of your own do not say which sets they are of: give the pairs of two sets at a \
                               time, or those of the last list";
                Self { message: message.to_owned(), ..failure }
            }
            ContactError::Keys { group, count, first } => {
                let first = first.iter().map(|key| offender(key.id.into(), Reason::Repeated)).collect();
                Self { count, first, set: Some(group as usize), ..failure }
            }
            ContactError::Pairs { count, first } => {
                let reason = |fault| match fault {
                    PairFault::NoSuchId { .. } => Reason::NoSuchId,
                    PairFault::NotAscending => Reason::NotAscending,
                    PairFault::Repeated => Reason::Repeated,
                    _ => Reason::Other,
                };
                let first = first.iter().map(|bad| offender(bad.at as u64, reason(bad.fault))).collect();
                Self { count, first, ..failure }
            }
            _ => failure,
        }
    }
}

/// What messages of the engine say in terms of Rust, and how C says it.
const PHRASES: [(&str, &str); 2] = [
    ("search in f64 (`Circles64`, `Spheres64`)", "take JOSTLE_NUMBER_DOUBLE"),
    ("`set_max_pairs`", "jostle_finder_set_max_pairs"),
];

fn in_c(message: &impl fmt::Display) -> String {
    PHRASES.iter().fold(message.to_string(), |message, (rust, c)| message.replace(rust, c))
}

fn of_body(id: u32, reason: engine::Reason) -> Offender {
    let (reason, axis) = match reason {
        engine::Reason::CenterNotFinite { axis } | engine::Reason::EndNotFinite { axis } => {
            (Reason::CoordinateNotFinite, axis.into())
        }
        engine::Reason::CornerNotNumber { axis } => (Reason::Corner, axis.into()),
        engine::Reason::CornersSwapped { axis } => (Reason::CornersSwapped, axis.into()),
        engine::Reason::RadiusNotFinite => (Reason::RadiusNotFinite, -1),
        engine::Reason::RadiusNegative => (Reason::RadiusNegative, -1),
        engine::Reason::TooFar { axis } | engine::Reason::TooFar64 { axis } => (Reason::TooFar, axis.into()),
        _ => (Reason::Other, -1),
    };
    Offender { id: id.into(), reason: reason as i32, axis }
}

fn out_of_range(id: u32, fault: RangeFault) -> Offender {
    let (reason, axis) = match fault {
        RangeFault::TooManyPeriods { axis } => (Reason::TooManyPeriods, axis.into()),
        RangeFault::Displacement { axis } => (Reason::Displacement, axis.into()),
        RangeFault::Endless { axis } => (Reason::Endless, axis.into()),
        _ => (Reason::Other, -1),
    };
    Offender { id: id.into(), reason: reason as i32, axis }
}

fn of_query(at: usize, reason: QueryReason) -> Offender {
    let (reason, axis) = match reason {
        QueryReason::CoordinateNotFinite { axis } => (Reason::CoordinateNotFinite, axis.into()),
        QueryReason::RadiusNotFinite => (Reason::RadiusNotFinite, -1),
        QueryReason::RadiusNegative => (Reason::RadiusNegative, -1),
        QueryReason::LoAboveHi { axis } => (Reason::CornersSwapped, axis.into()),
        QueryReason::TooFar { axis } | QueryReason::TooFar64 { axis } => (Reason::TooFar, axis.into()),
        _ => (Reason::Other, -1),
    };
    Offender { id: at as u64, reason: reason as i32, axis }
}
