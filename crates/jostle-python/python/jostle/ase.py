"""Neighbour lists of ASE's atoms, in the place of those of ``ase.neighborlist``.

>>> from jostle.ase import neighbor_list
>>> i, j, d, D, S = neighbor_list("ijdDS", atoms, 5.0)
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import _jostle

if TYPE_CHECKING:
    from ase import Atoms

Element: TypeAlias = int | str
Cutoff: TypeAlias = float | dict[tuple[Element, Element], float] | ArrayLike

__all__ = ["neighbor_list", "primitive_neighbor_list"]


def neighbor_list(
    quantities: str,
    a: "Atoms",
    cutoff: Cutoff,
    self_interaction: bool = False,
    max_nbins: Any = None,
    *,
    threads: int | None = None,
) -> Any:
    """Pairs of atoms nearer than a cutoff, each from both sides: as ``ase.neighborlist.neighbor_list``.

    Parameters
    ----------
    quantities : str
        What is returned, some of these letters in any order: ``i`` and ``j``, the two of a pair; ``d``, their distance;
        ``D``, the vector from i to j; ``S``, the shift of j, so that ``D = a.positions[j] - a.positions[i] + S @ a.cell``.
    a : ase.Atoms
    cutoff : float, dict or (n,) array
        How near they are, less than which is meant: for all; for pairs of elements, ``{("C", "H"): 1.3, (6, 6): 1.85}``,
        and none for others; or as the radius of each atom, where the distance is less than their sum.
    self_interaction : bool, default False
        Each atom is a neighbour of its own, at distance 0. (Of its images it is in any case.)
    max_nbins
        Taken for the sake of ASE's signature; there are no bins.
    threads : int, optional
        As many as there are cores unless said otherwise. The result does not depend on it.

    Returns
    -------
    tuple of arrays, or one array
        i and j : (m,) int64; d : (m,) float64; D : (m, 3) float64; S : (m, 3) int64. Sorted by i, then by j.
    """
    return primitive_neighbor_list(
        quantities,
        a.pbc,
        a.cell.array,
        a.positions,
        cutoff,
        numbers=a.numbers,
        self_interaction=self_interaction,
        threads=threads,
    )


def primitive_neighbor_list(
    quantities: str,
    pbc: ArrayLike,
    cell: ArrayLike,
    positions: ArrayLike,
    cutoff: Cutoff,
    numbers: ArrayLike | None = None,
    self_interaction: bool = False,
    use_scaled_positions: bool = False,
    max_nbins: Any = None,
    *,
    threads: int | None = None,
) -> Any:
    """As ``neighbor_list``, of what atoms are made of: as ``ase.neighborlist.primitive_neighbor_list``.

    Parameters
    ----------
    pbc : (3,) array of bool
    cell : (3, 3) array
        Vectors, one a row; those of directions that do not repeat may be zero.
    positions : (n, 3) array of float32 or float64
    numbers : (n,) array of int, optional
        The elements that keys of ``cutoff`` speak of.
    use_scaled_positions : bool, default False
        Positions count in vectors of the cell.
    """
    if use_scaled_positions:
        positions = np.asarray(positions) @ np.asarray(cell)
    types = None
    if isinstance(cutoff, dict):
        if numbers is None:
            # As in ASE, where elements are not known the longest cutoff is that of all.
            cutoff = max(cutoff.values())
        else:
            cutoff = {(_number(a), _number(b)): c for (a, b), c in cutoff.items()}
            types = numbers
    return _jostle.ase_neighbor_list(
        quantities, positions, cutoff, cell, pbc, types, self_interaction, threads
    )


def _number(element: Element) -> int:
    """The atomic number of an element, which may be given by its symbol."""
    if not isinstance(element, str):
        return element
    from ase.data import atomic_numbers

    return atomic_numbers[element]
