//! The Python interface of [`engine`]: the module `jostle._jostle`, of which `python/jostle` makes the package
//! `jostle`.
//!
//! Files: `errors`; `arrays` (numpy's arrays, read in place, and vectors that become arrays); `space`; `threads`;
//! `bodies`, `shapes`, `prepared` and `input` (the input of a search); `dimensions`, `finder`, `found`, `visit` and `coherent`;
//! `lists`; `neighbor_list` and `table` (neighbour lists as ASE has them); `contacts` and `geometry`; `memory` (large pages for large
//! vectors) and `freed` (memory of results, for the next results).

mod answers;
mod arrays;
mod bodies;
mod coherent;
mod contacts;
mod dimensions;
mod errors;
mod finder;
mod found;
mod freed;
mod geometry;
mod held;
mod input;
mod lists;
mod memory;
mod neighbor_list;
mod prepared;
mod shapes;
mod space;
mod table;
mod threads;
mod visit;

use pyo3::prelude::*;
use pyo3::types::PyList;

/// The compiled part of the package `jostle`.
#[pymodule]
fn _jostle(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let refusal = module.py().get_type::<errors::InputError>();
    refusal.setattr("ids", PyList::empty(module.py()))?;
    refusal.setattr("count", 0)?;
    refusal.setattr("set", module.py().None())?;
    module.add("InputError", refusal)?;
    module.add_class::<bodies::Bodies>()?;
    module.add_class::<shapes::Boxes>()?;
    module.add_class::<shapes::Capsules>()?;
    module.add_class::<input::Sets>()?;
    module.add_class::<finder::Finder>()?;
    module.add_class::<lists::NeighborLists>()?;
    module.add_class::<found::Found>()?;
    module.add_class::<coherent::CoherentFinder>()?;
    module.add_class::<contacts::ContactTracker>()?;
    module.add_class::<contacts::Changes>()?;
    module.add_class::<contacts::Contacts>()?;
    module.add_class::<geometry::ContactGeometry>()?;
    module.add_class::<prepared::PreparedSet>()?;
    module.add_class::<answers::Answers>()?;
    module.add_function(wrap_pyfunction!(input::between, module)?)?;
    module.add_function(wrap_pyfunction!(input::among, module)?)?;
    module.add_function(wrap_pyfunction!(finder::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(finder::find, module)?)?;
    module.add_function(wrap_pyfunction!(finder::count, module)?)?;
    module.add_function(wrap_pyfunction!(visit::for_each, module)?)?;
    module.add_function(wrap_pyfunction!(geometry::contacts, module)?)?;
    module.add_function(wrap_pyfunction!(finder::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(neighbor_list::neighbor_list, module)?)?;
    module.add_function(wrap_pyfunction!(neighbor_list::ase_neighbor_list, module)?)?;
    Ok(())
}
