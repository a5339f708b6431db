"""Every overlapping pair of N moving circles or spheres, and neighbour lists: found in parallel, exactly, in a fixed order.

>>> import jostle
>>> pairs = jostle.pairs(xy, r)                                  # (m, 2) uint32
>>> lists = jostle.neighbors(xyz, 3.0)                           # lists.offsets, lists.indices, lists.distances

- ``pairs``, ``count`` and ``find``: overlapping circles and spheres, or points within a cutoff; ``for_each``: block by block.
- ``neighbors``: for each body its neighbours, as compressed sparse rows; ``neighbor_list``: as ASE has them.
- ``jostle.ase``: in the place of ``ase.neighborlist``.
- ``Finder``: the same, with memory that is kept from call to call; ``CoherentFinder``: for frames in which bodies move little.
- ``Bodies``, ``Boxes``, ``Capsules``, ``between``, ``among``: sets with layers, margins and displacements, and which of them meet.
- ``PreparedSet``: bodies sorted once, for many searches and for questions: points, boxes, circles, rays, nearest.
- ``ContactTracker`` and ``contacts``: which contacts begin, persist and end; how deep, along which normal, at which point.
- ``plot``: a picture, with matplotlib.

Positions are arrays of shape (n, 2) or (n, 3) in float32 or float64, read in place. Space is open, or a cell that repeats in some
directions (``cell=``, ``pbc=``). The interpreter is free while a search runs, so do not write to its arrays from another thread.
"""

from . import ase
from ._jostle import (
    Answers,
    Bodies,
    Boxes,
    Capsules,
    Changes,
    CoherentFinder,
    ContactGeometry,
    Contacts,
    ContactTracker,
    Finder,
    Found,
    InputError,
    NeighborLists,
    PreparedSet,
    Sets,
    __version__,
    among,
    between,
    contacts,
    count,
    find,
    for_each,
    neighbor_list,
    neighbors,
    pairs,
)
from .plotting import plot

__all__ = [
    "Answers",
    "Bodies",
    "Boxes",
    "Capsules",
    "Changes",
    "CoherentFinder",
    "ContactGeometry",
    "ContactTracker",
    "Contacts",
    "Finder",
    "Found",
    "InputError",
    "NeighborLists",
    "PreparedSet",
    "Sets",
    "__version__",
    "among",
    "ase",
    "between",
    "contacts",
    "count",
    "find",
    "for_each",
    "neighbor_list",
    "neighbors",
    "pairs",
    "plot",
]
