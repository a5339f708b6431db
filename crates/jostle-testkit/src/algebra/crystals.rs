//! Unit cells whose neighbours another program has counted.

use super::{Case, Columns, PlainRadii, PlainSet, PlainSpace};

/// Atoms in a cell, and how many neighbours they have.
#[derive(Debug, Clone, Copy)]
pub struct Crystal {
    /// The name of the crystal.
    pub name: &'static str,
    /// The vectors of the cell.
    pub vectors: [[f64; 3]; 3],
    /// The places of the atoms, some of them outside the cell.
    pub atoms: &'static [[f64; 3]],
    /// Whether the cell repeats along each vector.
    pub periodic: [bool; 3],
    /// For each cutoff, the neighbours of all atoms, and the sum of all squared components of their shifts.
    pub counts: &'static [(f64, usize, i64)],
}

impl Crystal {
    /// Returns the search for atoms within a cutoff of each other.
    #[must_use]
    pub fn case(&self, cutoff: f64) -> Case<3> {
        let centers = core::array::from_fn(|axis| self.atoms.iter().map(|atom| atom[axis]).collect());
        let atoms = PlainSet::new(Columns::Double { centers, radii: PlainRadii::Cutoff(cutoff), margin: 0.0 });
        let space = PlainSpace::Lattice { origin: [0.0; 3], vectors: self.vectors, periodic: self.periodic };
        Case::within(atoms, space)
    }
}

/// Counted by ASE 3.29.0: `i, S = ase.neighborlist.primitive_neighbor_list("iS", periodic, vectors, atoms, cutoff)`, then
/// `len(i)` and `(S * S).sum()`. No distance is nearer than 0.001 to its cutoff, and all numbers are as they stand here.
#[allow(clippy::approx_constant, reason = "a coordinate is near 1 / pi by chance")]
pub const CRYSTALS: &[Crystal] = &[
    Crystal {
        name: "sc",
        vectors: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        atoms: &[[0.0, 0.0, 0.0]],
        periodic: [true, true, true],
        counts: &[(1.1, 6, 6), (1.5, 18, 30), (3.05, 122, 708)],
    },
    Crystal {
        name: "bcc",
        vectors: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        atoms: &[[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]],
        periodic: [true, true, true],
        counts: &[(0.9, 16, 24), (1.2, 28, 36), (3.05, 516, 3264)],
    },
    Crystal {
        name: "fcc",
        vectors: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        atoms: &[[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]],
        periodic: [true, true, true],
        counts: &[(0.75, 48, 48), (1.1, 72, 72), (3.05, 1832, 10704)],
    },
    Crystal {
        name: "diamond",
        vectors: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        atoms: &[
            [0.0, 0.0, 0.0],
            [0.0, 0.5, 0.5],
            [0.5, 0.0, 0.5],
            [0.5, 0.5, 0.0],
            [0.25, 0.25, 0.25],
            [0.25, 0.75, 0.75],
            [0.75, 0.25, 0.75],
            [0.75, 0.75, 0.25],
        ],
        periodic: [true, true, true],
        counts: &[(0.45, 32, 24), (0.75, 128, 120), (2.9, 6400, 34968)],
    },
    Crystal {
        name: "fcc, primitive",
        vectors: [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]],
        atoms: &[[0.0, 0.0, 0.0]],
        periodic: [true, true, true],
        counts: &[(0.75, 12, 18), (1.1, 18, 36), (2.05, 140, 1044)],
    },
    Crystal {
        name: "30 degrees",
        vectors: [[1.0, 0.0, 0.0], [0.866, 0.5, 0.0], [0.866, 0.2321, 0.4429]],
        atoms: &[[0.865, 0.855, 0.811]],
        periodic: [true, true, true],
        counts: &[(0.6, 6, 12), (1.4, 54, 348)],
    },
    Crystal {
        name: "150 degrees",
        vectors: [[1.1, 0.0, 0.0], [0.0, 0.9, 0.0], [-1.1258, 0.0, 0.65]],
        atoms: &[[-0.778, 0.069, 0.615], [-0.35, 0.002, 0.592]],
        periodic: [true, true, true],
        counts: &[(1.0, 22, 36), (2.5, 410, 3512)],
    },
    Crystal {
        name: "triclinic",
        vectors: [[1.0, 0.0, 0.0], [-1.0392, 0.6, 0.0], [0.2071, 0.0808, 0.7685]],
        atoms: &[[0.856, 0.238, 0.625], [-0.204, 0.329, 0.628], [-0.105, 0.32, 0.09]],
        periodic: [true, true, true],
        counts: &[(0.9, 54, 120), (2.37, 1092, 11280)],
    },
    Crystal {
        name: "far outside",
        vectors: [[1.0, 0.0, 0.0], [0.866, 0.5, 0.0], [-0.1307, 0.7474, 1.294]],
        atoms: &[
            [6.211, -3.406, -5.863],
            [12.36, 4.829, 0.893],
            [13.055, -1.886, -10.944],
            [9.966, -0.942, -8.913],
            [-4.724, 3.443, 5.178],
        ],
        periodic: [true, true, true],
        counts: &[(0.8, 74, 8244), (1.97, 1232, 140934)],
    },
    Crystal {
        name: "slab",
        vectors: [[1.2, 0.0, 0.0], [0.1736, 0.9848, 0.0], [0.3078, 0.4027, 0.7437]],
        atoms: &[
            [0.641, 0.293, -0.629],
            [1.215, -0.351, -0.579],
            [2.534, 1.112, 0.273],
            [1.32, 0.175, -0.465],
            [1.571, 1.718, 0.917],
            [1.661, 2.498, 1.366],
            [1.909, 0.034, -0.146],
        ],
        periodic: [true, true, false],
        counts: &[(0.7, 16, 14), (2.6, 740, 3288)],
    },
    Crystal {
        name: "wire",
        vectors: [[1.2, 0.0, 0.0], [-0.342, 0.9397, 0.0], [0.3078, -0.3668, 0.762]],
        atoms: &[
            [-0.486, 1.078, -1.035],
            [-0.245, 0.502, -1.519],
            [0.318, -1.056, 1.412],
            [-2.222, 1.012, 1.245],
            [1.266, -1.603, 0.888],
            [-1.174, -0.918, 0.507],
            [-0.548, 0.142, -0.6],
            [-1.629, -1.003, 0.996],
        ],
        periodic: [false, false, true],
        counts: &[(0.7, 8, 52), (2.2, 182, 1100)],
    },
    Crystal {
        name: "thin",
        vectors: [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]],
        atoms: &[
            [1.66, 0.243, 0.553],
            [0.708, 1.197, 0.988],
            [1.618, 1.521, 0.507],
            [1.834, 1.125, 0.782],
            [1.459, 2.212, 0.456],
            [1.371, 2.512, 0.296],
        ],
        periodic: [true, true, true],
        counts: &[(0.5, 2, 0), (2.89, 600, 1576)],
    },
];
