//! The fuzz targets. Each is a function of bytes that checks a search or a reader against a plain loop, one thread
//! against three, and bad input against what is documented of it. No target needs a fuzzer: an ordinary test runs the
//! committed cases again, and `.ci/fuzz` builds the same functions for libFuzzer.

/// Declares structs whose fields are read one after the other. (The derive macro of `arbitrary` does no more, but asks
/// so much of the parser of all derive macros that every crate of the workspace would be built once more.)
macro_rules! arbitrary {
    ($($(#[$of:meta])* $see:vis struct $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty,)* })*) => { $(
        $(#[$of])*
        $see struct $name { $($(#[$about])* $field: $kind,)* }

        impl<'a> ::arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(bytes: &mut ::arbitrary::Unstructured<'a>) -> ::arbitrary::Result<Self> {
                Ok(Self { $($field: bytes.arbitrary()?,)* })
            }
        }
    )* };
}

mod algebra;
mod codes;
mod coherent;
mod contacts;
mod crowd;
mod double;
#[cfg(feature = "readers")]
mod files;
mod find;
mod layering;
mod messages;
mod neighbors;
mod number;
mod periodic;
mod queries;
mod sets;
mod shapes;
mod sort;
mod swept;
mod ways;

use arbitrary::{Arbitrary, Unstructured};

/// A target: a function of bytes that panics where something is wrong.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("algebra", algebra::run),
    ("codes", codes::run),
    ("coherent", coherent::run),
    ("contacts", contacts::run),
    #[cfg(feature = "readers")]
    ("csv", files::csv::run),
    ("f64", double::run),
    ("find", find::run),
    ("messages", messages::run),
    ("neighbors", neighbors::run),
    #[cfg(feature = "readers")]
    ("npy", files::npy::run),
    #[cfg(feature = "readers")]
    ("parquet", files::parquet::run),
    ("periodic", periodic::run),
    ("queries", queries::run),
    ("sets", sets::run),
    ("shapes", shapes::run),
    ("sort", sort::run),
    ("swept", swept::run),
];

/// Runs a target on some bytes.
///
/// # Panics
/// When there is no such target, and where the target finds something wrong.
pub fn run(name: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    let (_, target) = found.unwrap_or_else(|| panic!("no target {name}"));
    target(bytes);
}

/// Checks the input that some bytes spell, if they spell one.
fn with<'a, I: Arbitrary<'a>>(bytes: &'a [u8], check: impl FnOnce(&I)) {
    if let Ok(input) = I::arbitrary(&mut Unstructured::new(bytes)) {
        check(&input);
    }
}
