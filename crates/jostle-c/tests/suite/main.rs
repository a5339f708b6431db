//! The header is that of the source, and programs in C and C++ find what Rust finds.

mod examples;
mod expected;
mod header;
