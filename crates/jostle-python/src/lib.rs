//! The Python interface of [`engine`]: the module `jostle._jostle`, of which `python/jostle` makes the package `jostle`.
//!
//! Files: `errors`; `arrays` (numpy's arrays, read in place, and vectors that become arrays); `space`; `threads`; `bodies` and
//! `input` (what a search is of); `finder`; `lists`; `neighbor_list` and `table` (as ASE has them); `memory` (where large vectors lie).

mod arrays;
mod bodies;
mod errors;
mod finder;
mod input;
mod lists;
mod memory;
mod neighbor_list;
mod space;
mod table;
mod threads;

use pyo3::prelude::*;

/// All that is compiled of the package `jostle`.
#[pymodule]
fn _jostle(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", module.py().get_type::<errors::InputError>())?;
    module.add_class::<bodies::Bodies>()?;
    module.add_class::<input::Sets>()?;
    module.add_class::<finder::Finder>()?;
    module.add_class::<lists::NeighborLists>()?;
    module.add_function(wrap_pyfunction!(input::between, module)?)?;
    module.add_function(wrap_pyfunction!(input::among, module)?)?;
    module.add_function(wrap_pyfunction!(finder::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(finder::count, module)?)?;
    module.add_function(wrap_pyfunction!(finder::neighbors, module)?)?;
    module.add_function(wrap_pyfunction!(neighbor_list::neighbor_list, module)?)?;
    module.add_function(wrap_pyfunction!(neighbor_list::ase_neighbor_list, module)?)?;
    Ok(())
}
