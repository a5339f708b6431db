//! The shapes that are tested, sixteen at a time: the exact predicates, and what their rounding costs.

pub(crate) mod circles16;
