//! Each stage alone, against its definition, on ugly input and on any threads.

mod aabb;
mod bounds;
mod morton;
mod radix;
mod strided;
mod tree;
