"""Every overlapping pair of N moving circles or spheres, and neighbour lists: found in parallel, exactly, in a fixed order.

>>> import jostle
>>> pairs = jostle.pairs(xy, r)                                  # (m, 2) uint32
>>> lists = jostle.neighbors(xyz, 3.0)                           # lists.offsets, lists.indices, lists.distances

- ``pairs`` and ``count``: overlapping circles and spheres, or points within a cutoff.
- ``neighbors``: for each body its neighbours, as compressed sparse rows.
- ``Finder``: the same, with memory that is kept from call to call.
- ``Bodies``, ``between``, ``among``: sets with layers, margins and displacements, and which of them meet.

Positions are arrays of shape (n, 2) or (n, 3) in float32 or float64, read in place. Space is open, or a cell that repeats in some
directions (``cell=``, ``pbc=``). The interpreter is free while a search runs, so do not write to its arrays from another thread.
"""

from . import ase
from ._jostle import (
    Bodies,
    Finder,
    InputError,
    NeighborLists,
    Sets,
    __version__,
    among,
    between,
    count,
    neighbor_list,
    neighbors,
    pairs,
)

__all__ = [
    "Bodies",
    "Finder",
    "InputError",
    "NeighborLists",
    "Sets",
    "__version__",
    "among",
    "ase",
    "between",
    "count",
    "neighbor_list",
    "neighbors",
    "pairs",
]
