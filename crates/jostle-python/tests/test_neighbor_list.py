"""`neighbor_list` and `jostle.ase`, against ASE, matscipy and vesin."""

import ase.neighborlist
import numpy as np
import pytest
import vesin
from ase import Atoms
from ase.build import bulk, graphene, molecule

import jostle
import jostle.ase

try:
    import matscipy.neighbours as matscipy
except ImportError:  # it has no wheel for every Python
    matscipy = None


def rattled(atoms, by=0.1, seed=0):
    atoms.rattle(by, seed=seed)
    return atoms


def gas(n, cell, pbc=True, seed=0, spread=1):
    """Atoms anywhere in a cell, or in `spread` cells around it."""
    atoms = Atoms(["H", "C", "O"] * (n // 3), cell=cell, pbc=pbc)
    fractions = np.random.default_rng(seed).random((len(atoms), 3))
    atoms.set_scaled_positions(fractions)
    atoms.positions += (
        np.floor(fractions[:, ::-1] * spread) - spread // 2
    ) @ atoms.cell
    return atoms


SKEWED = [(4.0, 0.5, 0.3), (1.4, 5.1, 1.6), (-1.3, 2.0, 6.1)]
LEFT_HANDED = [(0.2, 1.2, 1.4), (1.4, 0.1, 1.6), (1.3, 2.0, -0.1)]
SOME_PBC = [(p, q, r) for p in (0, 1) for q in (0, 1) for r in (0, 1)]

CASES = {
    "two atoms": (Atoms("CC", [[0.5] * 3, [1.0] * 3], cell=[10] * 3, pbc=True), 1.1),
    "crystal": (rattled(bulk("Cu", cubic=True) * 4), 4.0),
    "primitive cell": (bulk("Al"), 9.0),
    "one atom, many images": (Atoms("C", cell=[1, 1, 1], pbc=True), 3.7),
    "exact distances": (Atoms("C", cell=[2, 2, 2], pbc=True) * 3, 4.0),
    "slab": (graphene(size=(3, 3, 1), vacuum=None), 3.0),
    "molecule": (molecule("C6H6"), 1.5),
    "far outside": (gas(60, [8, 9, 10], spread=9), 3.0),
    "skewed": (gas(30, SKEWED), 5.0),
    "left-handed": (gas(9, LEFT_HANDED, spread=3), 2.5),
    "thin": (gas(30, [1, 12, 12]), 2.5),
    "empty": (Atoms(), 1.0),
    "by pairs of elements": (
        gas(60, SKEWED),
        {("H", "C"): 1.2, (6, 6): 2.5, ("O", "O"): 0.0},
    ),
    "by elements that are not there": (gas(9, SKEWED), {("U", "U"): 5.0}),
    "by radii": (gas(60, [7, 7, 7]), np.linspace(0, 1.5, 60)),
    "by a list of radii": (gas(9, [7, 7, 7]), [0.5] * 9),
}
for pbc in SOME_PBC:
    CASES[f"gas, periodic {pbc}"] = (gas(90, [6, 7, 8], pbc, spread=3), 2.5)
    CASES[f"skewed, periodic {pbc}"] = (gas(12, LEFT_HANDED, pbc, spread=3), 2.0)


def assert_same(ours, theirs):
    """Equal as sets of (i, j, S), with the same d and D."""
    order = [np.lexsort((*S.T, j, i)) for i, j, _, _, S in (ours, theirs)]
    for one, other in zip(ours, theirs, strict=True):
        one, other = one[order[0]], np.asarray(other)[order[1]]
        assert one.shape == other.shape
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, atol=1e-10)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_as_ase(case, itself):
    atoms, cutoff = CASES[case]
    ours = jostle.ase.neighbor_list("ijdDS", atoms, cutoff, itself)
    theirs = ase.neighborlist.neighbor_list(
        "ijdDS", atoms, cutoff, self_interaction=itself
    )
    assert [column.dtype for column in ours] == [column.dtype for column in theirs]
    i, j = ours[:2]
    assert np.all(np.diff(i) >= 0) and np.all((np.diff(i) > 0) | (np.diff(j) >= 0))
    assert_same(ours, theirs)


@pytest.mark.skipif(matscipy is None, reason="matscipy is not installed")
@pytest.mark.parametrize(
    "case", [case for case in CASES if case not in ("empty", "left-handed")]
)
def test_as_matscipy(case):
    atoms, cutoff = CASES[case]
    if (
        isinstance(cutoff, (dict, list))
        or atoms.cell.rank != 3
        or atoms.cell.handedness < 0
    ):
        pytest.skip("matscipy takes no such cell or cutoff")
    ours = jostle.ase.neighbor_list("ijdDS", atoms, cutoff)
    assert_same(ours, matscipy.neighbour_list("ijdDS", atoms, cutoff))


@pytest.mark.parametrize("case", CASES)
def test_as_vesin(case):
    atoms, cutoff = CASES[case]
    if not isinstance(cutoff, (int, float)) or len(atoms) == 0:
        pytest.skip("vesin takes one cutoff alone")
    ours = jostle.neighbor_list(
        "ijdDS", atoms.positions, cutoff, cell=atoms.cell, pbc=atoms.pbc
    )
    search = vesin.NeighborList(cutoff=cutoff, full_list=True)
    i, j, d, D, S = search.compute(
        points=atoms.positions,
        box=atoms.cell.array,
        periodic=atoms.pbc,
        quantities="ijdDS",
    )
    assert_same(ours, (i.astype(int), j.astype(int), d, D, S))


def test_ases_own_tests(monkeypatch):
    cases = pytest.importorskip("ase.test.neighbor.test_neighbor_kernel")
    monkeypatch.setattr(cases, "neighbor_list", jostle.ase.neighbor_list)
    monkeypatch.setattr(
        cases, "primitive_neighbor_list", jostle.ase.primitive_neighbor_list
    )
    cases.test_neighbor_kernel()


@pytest.mark.parametrize("threads", [1, 2, None])
def test_large_ones_on_threads(threads):
    atoms = rattled(bulk("Cu", cubic=True) * 20)
    quantities = "SDjid"
    once = jostle.ase.neighbor_list(quantities, atoms, 3.0, threads=1)
    again = jostle.ase.neighbor_list(quantities, atoms, 3.0, threads=threads)
    for one, other in zip(once, again, strict=True):
        np.testing.assert_array_equal(one, other)
    i, d, D = jostle.neighbor_list(
        "idD",
        atoms.positions,
        np.full(len(atoms), 1.5),
        cell=atoms.cell,
        threads=threads,
    )
    np.testing.assert_array_equal(i, once[3])
    np.testing.assert_array_equal(D, once[1])
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), d)


def test_other_positions():
    atoms = rattled(bulk("Cu", cubic=True) * 3)
    d = jostle.neighbor_list(
        "d", atoms.positions.astype(np.float32), 3.0, cell=atoms.cell
    )
    assert d.dtype == np.float32 and (d < 3).all()
    square = np.array([[0.0, 0.0], [1.0, 0.0]])
    i, D = jostle.neighbor_list("iD", square, 1.5, cell=2.0, pbc=[True, False])
    assert i.tolist() == [0, 0, 1, 1]
    assert sorted(D.tolist()) == [[-1, 0], [-1, 0], [1, 0], [1, 0]]
    names = jostle.neighbor_list(
        "i", square, {("ion", "water"): 1.5}, types=["ion", "water"]
    )
    assert names.tolist() == [0, 1]
    scaled = jostle.ase.primitive_neighbor_list(
        "d",
        [1, 1, 1],
        np.eye(3) * 4,
        np.array([[0, 0, 0], [0, 0, 0.75]]),
        1.5,
        use_scaled_positions=True,
    )
    assert scaled.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cutoff", [0.1, 1.0, 1.42, 2.5, 3.0])
def test_distances_of_the_last_bit(cutoff):
    angle = np.random.default_rng(0).random(100) * 2 * np.pi
    points = np.zeros((200, 3))
    points[:, 2] = np.repeat(np.arange(100) * 3 * cutoff, 2)
    points[1::2, :2] = cutoff * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    distances = np.linalg.norm(points[1::2] - points[::2], axis=1)
    expected = 2 * (distances < cutoff).sum()
    assert 0 < expected < 200
    atoms = Atoms(numbers=np.ones(200), positions=points)
    assert len(ase.neighborlist.neighbor_list("i", atoms, cutoff)) == expected
    i, d = jostle.ase.neighbor_list("id", atoms, cutoff)
    assert len(i) == expected and (d < cutoff).all()
    assert len(jostle.neighbor_list("i", points, cutoff)) == expected
    single = points.astype(np.float32)
    near = jostle.neighbors(single, 1.1 * cutoff).distances.astype(float) < cutoff
    assert len(jostle.neighbor_list("i", single, cutoff)) == near.sum() > 0


@pytest.mark.parametrize("lattice", ["fcc", "bcc", "diamond", "sc"])
def test_crystals_at_the_distance_of_neighbours(lattice):
    to_neighbour = {"fcc": 0.5**0.5, "bcc": 0.75**0.5, "diamond": 0.1875**0.5, "sc": 1}
    for side in np.arange(2.5, 6.0, 0.25):
        atoms, cutoff = bulk("X", lattice, a=side, cubic=True), side * to_neighbour[lattice]
        theirs = ase.neighborlist.neighbor_list("i", atoms, cutoff)
        assert len(jostle.ase.neighbor_list("i", atoms, cutoff)) == len(theirs)


def test_errors():
    points = np.zeros((3, 3))
    with pytest.raises(ValueError, match="no quantity 'x'"):
        jostle.neighbor_list("ix", points, 1.0)
    with pytest.raises(ValueError, match="cutoff is -1"):
        jostle.neighbor_list("i", points, -1)
    with pytest.raises(
        TypeError, match=r"shape \(3,\), or a dict, not of shape \(2,\)"
    ):
        jostle.neighbor_list("i", points, [1.0, 2.0])
    with pytest.raises(TypeError, match="need types="):
        jostle.neighbor_list("i", points, {(1, 1): 1.0})
    with pytest.raises(ValueError, match="length zero"):
        jostle.ase.neighbor_list("i", Atoms("H", pbc=True), 1.0)
