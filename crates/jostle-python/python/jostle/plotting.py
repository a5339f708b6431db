"""Pictures of circles and their pairs."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ._jostle import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from . import Found


def _refuse(at_fault: ArrayLike, what: str) -> None:
    """Refuses rows, and names the first sixteen."""
    rows = np.flatnonzero(at_fault)
    if len(rows):
        first = rows[:16].tolist()
        error = InputError(f"{what}: {len(rows)} rows, the first {first}")
        error.ids, error.count = first, len(rows)
        raise error


def plot(
    positions: ArrayLike,
    radii: ArrayLike,
    pairs: "Found | ArrayLike | None" = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draws circles, those that are in a pair orange, and a line between the centres of each pair.

    Parameters
    ----------
    positions : (n, 2) array
    radii : float or (n,) array
    pairs : Found, or (m, 2) array of int, optional
        What ``jostle.find`` or ``jostle.pairs`` returned. Lines are drawn of those that meet where they stand, not at an image.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a figure of its own unless given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> jostle.plot(xy, r, jostle.pairs(xy, r)).figure.savefig("pairs.png")
    """
    try:
        from matplotlib import pyplot
        from matplotlib.collections import EllipseCollection, LineCollection
    except ImportError as missing:
        raise ImportError(
            "jostle.plot needs matplotlib: pip install matplotlib"
        ) from missing
    positions = np.asarray(positions, float)
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise TypeError(
            f"positions must have shape (n, 2) to be drawn, not {positions.shape}"
        )
    radii = np.broadcast_to(np.asarray(radii, float), len(positions))
    finite = np.isfinite(positions).all(axis=1) & np.isfinite(radii)
    _refuse(~finite, "positions or radii that are not finite")
    if pairs is not None:
        pairs = np.asarray(getattr(pairs, "pairs", pairs))
        if pairs.size == 0:
            pairs = np.empty((0, 2), int)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise TypeError(
                "pairs must be integers of shape (m, 2), "
                f"not {pairs.dtype} of shape {pairs.shape}"
            )
        strange = (pairs < 0) | (pairs >= len(positions))
        _refuse(strange.any(axis=1), f"pairs of others than {len(positions)} circles")
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    in_pair = np.zeros(len(positions), bool)
    if pairs is not None:
        in_pair[pairs.ravel()] = True
        ends = positions[pairs]
        reach = radii[pairs].sum(axis=1)
        near = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) <= reach * (1 + 1e-6)
        ax.add_collection(
            LineCollection(ends[near], colors="black", linewidths=0.6, zorder=3)
        )
    # Colours of Okabe and Ito, which people of any colour vision tell apart.
    colors = np.where(
        in_pair[:, None], [0.902, 0.624, 0.0, 0.7], [0.337, 0.706, 0.914, 0.7]
    )
    diameters = 2 * radii
    circles = EllipseCollection(
        diameters,
        diameters,
        0,
        units="xy",
        offsets=positions,
        offset_transform=ax.transData,
        facecolors=colors,
    )
    ax.add_collection(circles)
    if len(positions):
        reach = radii[:, None]
        ax.set_xlim((positions - reach)[:, 0].min(), (positions + reach)[:, 0].max())
        ax.set_ylim((positions - reach)[:, 1].min(), (positions + reach)[:, 1].max())
    ax.set_aspect("equal")
    return ax
