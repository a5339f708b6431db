from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from . import ase as ase
from .plotting import plot as plot

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

__version__: str

_Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
"""Of the precision of the positions."""

_Number: TypeAlias = SupportsFloat | SupportsIndex
"""Of Python's or of numpy's."""

class InputError(ValueError):
    ids: list[int]
    count: int
    set: int | None

@final
class Bodies:
    def __new__(
        cls,
        positions: ArrayLike | PreparedSet,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        margin: _Number = 0.0,
        displacements: ArrayLike | None = None,
        category: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    @property
    def positions(self) -> _Floats | PreparedSet: ...
    def __len__(self) -> int: ...

@final
class Boxes:
    def __new__(
        cls,
        lo: ArrayLike,
        hi: ArrayLike,
        *,
        margin: _Number = 0.0,
        displacements: ArrayLike | None = None,
        category: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    @property
    def lo(self) -> _Floats: ...
    @property
    def hi(self) -> _Floats: ...
    def __len__(self) -> int: ...

@final
class Capsules:
    def __new__(
        cls,
        a: ArrayLike,
        b: ArrayLike,
        radii: ArrayLike,
        *,
        margin: _Number = 0.0,
        displacements: ArrayLike | None = None,
        category: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    @property
    def a(self) -> _Floats: ...
    @property
    def b(self) -> _Floats: ...
    def __len__(self) -> int: ...

@final
class Sets: ...

_Set: TypeAlias = Bodies | Boxes | Capsules | PreparedSet

_What: TypeAlias = ArrayLike | _Set | Sets
"""What is searched: positions, or sets that say more of themselves."""

def between(a: _Set, b: _Set) -> Sets: ...
def among(
    sets: Sequence[_Set], meetings: Sequence[Sequence[SupportsIndex]]
) -> Sets: ...

@final
class NeighborLists:
    def __new__(
        cls,
        offsets: NDArray[np.int64],
        indices: NDArray[np.uint32],
        distances: _Floats | None,
        vectors: NDArray[np.float64] | None,
        shifts: NDArray[np.int32] | None,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[np.uint32]: ...
    @property
    def distances(self) -> _Floats | None: ...
    @property
    def vectors(self) -> NDArray[np.float64] | None: ...
    @property
    def shifts(self) -> NDArray[np.int32] | None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, row: SupportsIndex, /) -> NDArray[np.uint32]: ...
    def __iter__(self) -> Iterator[NDArray[np.uint32]]: ...

@final
class Found:
    def __new__(
        cls,
        columns: tuple[Any, Any, Any],
        meetings: Any,
        relation_and_sets: tuple[int, int],
        by_image: bool,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def pairs(self) -> NDArray[np.uint32]: ...
    @property
    def shifts(self) -> NDArray[np.int32] | None: ...
    @property
    def times(self) -> NDArray[np.float64] | None: ...
    def between(self, i: SupportsIndex, j: SupportsIndex) -> NDArray[np.uint32]: ...
    def __len__(self) -> int: ...

def pairs(
    positions: _What,
    radii: ArrayLike | None = None,
    *,
    cutoff: _Number | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> NDArray[np.uint32]: ...
def find(
    positions: _What,
    radii: ArrayLike | None = None,
    *,
    cutoff: _Number | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> Found: ...
def count(
    positions: _What,
    radii: ArrayLike | None = None,
    *,
    cutoff: _Number | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> int: ...
def for_each(
    function: Callable[..., object],
    positions: _What,
    radii: ArrayLike | None = None,
    *,
    block: SupportsIndex = ...,
    cutoff: _Number | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> None: ...
def neighbors(
    positions: _What,
    cutoff: _Number | None = None,
    *,
    radii: ArrayLike | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    half: bool = False,
    distances: bool = True,
    vectors: bool = False,
    shifts: bool = False,
    threads: SupportsIndex | None = None,
) -> NeighborLists: ...
def neighbor_list(
    quantities: str,
    positions: ArrayLike,
    cutoff: ArrayLike | dict[tuple[Any, Any], Any],
    *,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    types: ArrayLike | None = None,
    self_interaction: bool = False,
    threads: SupportsIndex | None = None,
) -> Any: ...

@final
class Finder:
    def __new__(cls, *, max_pairs: SupportsIndex | None = None) -> Self: ...
    def pairs(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> NDArray[np.uint32]: ...
    def find(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Found: ...
    def count(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> int: ...
    def for_each(
        self,
        function: Callable[..., object],
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        block: SupportsIndex = ...,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> None: ...
    def neighbors(
        self,
        positions: _What,
        cutoff: _Number | None = None,
        *,
        radii: ArrayLike | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        half: bool = False,
        distances: bool = True,
        vectors: bool = False,
        shifts: bool = False,
        threads: SupportsIndex | None = None,
    ) -> NeighborLists: ...
    def neighbor_list(
        self,
        quantities: str,
        positions: ArrayLike,
        cutoff: ArrayLike | dict[tuple[Any, Any], Any],
        *,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        types: ArrayLike | None = None,
        self_interaction: bool = False,
        threads: SupportsIndex | None = None,
    ) -> Any: ...
    def still_valid(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> bool: ...
    @property
    def nbytes(self) -> int: ...

@final
class CoherentFinder:
    def __new__(cls, *, max_pairs: SupportsIndex | None = None) -> Self: ...
    def pairs(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> NDArray[np.uint32]: ...
    def find(
        self,
        positions: _What,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Found: ...
    def neighbors(
        self,
        positions: _What,
        cutoff: _Number | None = None,
        *,
        radii: ArrayLike | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        half: bool = False,
        distances: bool = True,
        vectors: bool = False,
        shifts: bool = False,
        threads: SupportsIndex | None = None,
    ) -> NeighborLists: ...
    @property
    def margin(self) -> float: ...
    @property
    def rebuilds(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def forget(self) -> None: ...

@final
class PreparedSet:
    def __new__(
        cls,
        positions: ArrayLike | Bodies | Boxes | Capsules,
        radii: ArrayLike | None = None,
        *,
        cutoff: _Number | None = None,
        cell: ArrayLike | None = None,
        pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
        origin: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Self: ...
    def points(
        self,
        points: ArrayLike,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def circles(
        self,
        centers: ArrayLike,
        radii: ArrayLike,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def boxes(
        self,
        lo: ArrayLike,
        hi: ArrayLike,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def rays(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        reach: ArrayLike | None = None,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def first_hits(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        reach: ArrayLike | None = None,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def nearest(
        self,
        points: ArrayLike,
        k: SupportsIndex = 1,
        reach: _Number = ...,
        *,
        exclude: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Answers: ...
    def __len__(self) -> int: ...

@final
class Answers:
    def __new__(
        cls,
        offsets: NDArray[np.int64],
        indices: NDArray[np.uint32],
        distances: NDArray[np.float64] | None,
        shifts: NDArray[np.int32] | None,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def indices(self) -> NDArray[np.uint32]: ...
    @property
    def distances(self) -> NDArray[np.float64] | None: ...
    @property
    def shifts(self) -> NDArray[np.int32] | None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, question: SupportsIndex, /) -> NDArray[np.uint32]: ...
    def __iter__(self) -> Iterator[NDArray[np.uint32]]: ...

@final
class ContactTracker:
    def __new__(cls) -> Self: ...
    def update(
        self,
        pairs: Found | ArrayLike,
        keys: ArrayLike | Sequence[ArrayLike] | None = None,
        *,
        shifts: ArrayLike | None = None,
        threads: SupportsIndex | None = None,
    ) -> Changes: ...
    @property
    def slots(self) -> int: ...

@final
class Changes:
    def __new__(
        cls,
        begin: Contacts,
        persist: Contacts,
        end: Contacts,
        pair_slots: NDArray[np.uint32],
        slots: int,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def begin(self) -> Contacts: ...
    @property
    def persist(self) -> Contacts: ...
    @property
    def end(self) -> Contacts: ...
    @property
    def pair_slots(self) -> NDArray[np.uint32]: ...
    @property
    def slots(self) -> int: ...

@final
class Contacts:
    def __new__(
        cls,
        keys: NDArray[np.uint64],
        pairs: NDArray[np.uint32],
        slots: NDArray[np.uint32],
        sets: NDArray[np.uint32] | None = None,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def keys(self) -> NDArray[np.uint64]: ...
    @property
    def pairs(self) -> NDArray[np.uint32]: ...
    @property
    def slots(self) -> NDArray[np.uint32]: ...
    @property
    def sets(self) -> NDArray[np.uint32] | None: ...
    def __len__(self) -> int: ...

@final
class ContactGeometry:
    def __new__(
        cls,
        depths: NDArray[np.float64],
        normals: NDArray[np.float64],
        points: NDArray[np.float64],
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def depths(self) -> NDArray[np.float64]: ...
    @property
    def normals(self) -> NDArray[np.float64]: ...
    @property
    def points(self) -> NDArray[np.float64]: ...
    def __len__(self) -> int: ...

def contacts(
    pairs: Found | ArrayLike,
    positions: _What,
    radii: ArrayLike | None = None,
    *,
    cutoff: _Number | None = None,
    cell: ArrayLike | None = None,
    pbc: bool | Sequence[bool] | NDArray[np.bool_] | None = None,
    origin: ArrayLike | None = None,
    shifts: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> ContactGeometry: ...
