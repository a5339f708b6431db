"""Jostle beside vesin, matscipy, ASE, freud and scipy: one process, one thread each unless said, by turns; medians.

    pip install ase freud-analysis matplotlib matscipy scipy vesin
    python crates/jostle-python/benchmarks/compare.py [--rounds 7] [--task NAME ...] [--plot peers.svg]

Where an answer has another number of rows than Jostle's, that is shown. Prints a table in Markdown.
"""

import argparse
import os
import statistics
import time

for variable in ("OMP_NUM_THREADS", "TBB_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
# Threads of OpenMP that wait by spinning would take the core of the next.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np

import jostle
import jostle.ase

CUTOFF = 4.7
PEERS = ["jostle", "vesin", "matscipy", "ASE", "freud", "scipy"]
# Calls that take longer are not repeated.
PATIENCE = 1.0


def fcc(cells, lattice=3.6, angle=90.0):
    """Positions and vectors of a crystal that shivers, in a cell whose vectors have this angle with each other."""
    basis = np.array([[0, 0, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]])
    steps = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), -1).reshape(
        -1, 1, 3
    )
    fractions = ((steps + basis).reshape(-1, 3)) / cells
    cos = np.cos(np.radians(angle))
    unit = np.linalg.cholesky(np.full((3, 3), cos) + np.diag([1 - cos] * 3))
    # As many atoms in a volume, whatever the angle.
    unit *= lattice / np.linalg.det(unit) ** (1 / 3)
    cell = unit * np.array(cells)[:, None]
    shivers = np.random.default_rng(1).normal(0, 0.05, fractions.shape)
    return fractions @ cell + shivers, cell


def as_atoms(positions, cell):
    import ase

    return ase.Atoms(
        numbers=np.full(len(positions), 29), positions=positions, cell=cell, pbc=True
    )


def vesin(positions, cell, quantities, full, threads=1, **options):
    from vesin import NeighborList

    search = NeighborList(cutoff=CUTOFF, full_list=full, n_threads=threads, **options)
    return lambda: search.compute(positions, cell, True, quantities, copy=False)


def freud(positions, cell):
    """Its own lists, sorted by the first, with distances and vectors, in float32."""
    import freud

    freud.set_num_threads(1)
    box = (
        freud.box.Box.from_matrix(cell.T) if np.allclose(cell, np.tril(cell)) else None
    )
    if box is None:
        return None
    points = box.wrap(positions.astype(np.float32))

    def search():
        query = freud.locality.AABBQuery(box, points).query(
            points, {"r_max": CUTOFF, "exclude_ii": True}
        )
        found = query.toNeighborList()
        return (
            found.query_point_indices,
            found.point_indices,
            found.distances,
            found.vectors,
        )

    return search


def crystal(quantities, full, cells=(30, 30, 28), angle=90.0, threads=1):
    """One task: for each peer a call without arguments that returns arrays with a row a pair."""
    import ase.neighborlist
    import matscipy.neighbours

    positions, cell = fcc(np.array(cells), angle=angle)
    atoms, finder = as_atoms(positions, cell), jostle.Finder()
    if not full:
        from scipy.spatial import cKDTree

        wrapped = positions % np.diag(cell)
        return {
            "jostle": lambda: [
                finder.pairs(positions, cutoff=CUTOFF, cell=cell, threads=threads)
            ],
            "vesin": vesin(positions, cell, "ij", False, threads),
            "scipy": lambda: [
                cKDTree(wrapped, boxsize=np.diag(cell)).query_pairs(
                    CUTOFF, output_type="ndarray"
                )
            ],
        }
    calls = {
        "jostle": lambda: finder.neighbor_list(
            quantities, positions, CUTOFF, cell=cell, threads=threads
        ),
        "vesin": vesin(positions, cell, quantities, True, threads, sorted=True),
        "vesin, unsorted": vesin(positions, cell, quantities, True, threads),
    }
    if threads > 1:
        calls["jostle, one thread"] = lambda: finder.neighbor_list(
            quantities, positions, CUTOFF, cell=cell, threads=1
        )
        return calls
    calls["jostle.ase"] = lambda: jostle.ase.neighbor_list(
        quantities, atoms, CUTOFF, threads=1
    )
    calls["matscipy"] = lambda: matscipy.neighbours.neighbour_list(
        quantities, atoms, CUTOFF
    )
    if len(positions) < 1000 or quantities == "ijdDS":
        calls["ASE"] = lambda: ase.neighborlist.neighbor_list(quantities, atoms, CUTOFF)
    if cells[-1] > 6:  # it takes no reach that is more than half of the cell
        calls["freud"] = freud(positions, cell)
    return {name: call for name, call in calls.items() if call}


def discs():
    """A million discs; scipy's are of equal radii, as it takes one reach for all."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(2)
    points = rng.random((1_000_000, 2), dtype=np.float32) * 1000
    radii = rng.uniform(0.2, 0.6, len(points)).astype(np.float32)
    finder = jostle.Finder()
    return {
        "jostle": lambda: [finder.pairs(points, radii, threads=1)],
        "jostle, two threads": lambda: [finder.pairs(points, radii, threads=2)],
        "scipy": lambda: [cKDTree(points).query_pairs(0.8, output_type="ndarray")],
    }


def price(count):
    """A call from Python, of so many discs, by what it takes."""
    points = np.random.default_rng(3).random((count, 2), dtype=np.float32) * count**0.5
    finder = jostle.Finder()
    return {
        "jostle": lambda: [finder.pairs(points, 0.4, threads=1)],
        "jostle, count": lambda: [range(finder.count(points, 0.4, threads=1))],
    }


TASKS = {
    "half ij": (lambda: crystal("ij", False), 20),
    "full ij": (lambda: crystal("ij", True), 45),
    "full ijdDS": (lambda: crystal("ijdDS", True), 90),
    "full ijdDS, 60 degrees": (lambda: crystal("ijdDS", True, (29, 29, 30), 60.0), 95),
    "full ijdDS, two threads": (lambda: crystal("ijdDS", True, threads=2), None),
    "200 atoms, ijdDS": (lambda: crystal("ijdDS", True, (5, 5, 2)), None),
    "1M discs, float32": (discs, 40),
    "2 discs": (lambda: price(2), None),
    "100k discs, float32": (lambda: price(100_000), None),
}


def measure(calls, rounds):
    """Milliseconds of each call, the median of calls by turns."""
    times, counts = {name: [] for name in calls}, {}
    quick = True
    for number in range(-1, rounds):
        for name, call in calls.items():
            if times[name] and min(times[name]) > PATIENCE:
                continue
            # Of what takes microseconds, many at once.
            repeats = 1 if number < 0 or not quick else 50
            started = time.perf_counter()
            for _ in range(repeats):
                answer = call()
            took = (time.perf_counter() - started) / repeats
            counts[name] = len(answer[0])
            del answer
            if number >= 0 or took > PATIENCE:
                times[name].append(took)
            quick = quick and took < 0.002
    return {name: 1e3 * statistics.median(each) for name, each in times.items()}, counts


def shown(times, peer):
    """A cell of the table."""
    variants = [name for name in times if name.split(",")[0] == peer]
    cells = [
        f"{times[name]:,.3g}{name[len(peer) :].replace(',', '')}" for name in variants
    ]
    return ", ".join(cells) or "–"


def plot(results, path):
    from matplotlib import pyplot

    names = [task for task in results if len(set(PEERS) & set(results[task])) > 1]
    pyplot.rcParams["svg.fonttype"] = "none"
    figure, ax = pyplot.subplots(
        figsize=(8, 0.7 * len(names) + 1), layout="constrained"
    )
    markers = dict(zip(PEERS, "osD^vP", strict=True))
    for peer in PEERS:
        shown = [
            (results[task][peer], at)
            for at, task in enumerate(names)
            if peer in results[task]
        ]
        if shown:
            ax.plot(*zip(*shown, strict=True), markers[peer], label=peer, markersize=8)
    ax.set_xscale("log")
    ax.set_xlabel("milliseconds, one thread each unless said")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(axis="x", which="both", alpha=0.3)
    ax.legend(
        ncols=len(PEERS), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False
    )
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--task",
        action="append",
        choices=TASKS,
        help="one of the tasks; may be given again",
    )
    parser.add_argument(
        "--skip",
        action="append",
        default=[],
        help="a peer that is left out; may be given again",
    )
    parser.add_argument("--plot", help="where to draw the table")
    arguments = parser.parse_args()
    results = {}
    for task in arguments.task or TASKS:
        calls = {
            name: call
            for name, call in TASKS[task][0]().items()
            if name not in arguments.skip
        }
        results[task], counts = measure(calls, arguments.rounds)
        bar = TASKS[task][1]
        print(f"{task}{f' (bar {bar} ms)' if bar else ''}: {counts['jostle']:,} rows")
        for name, milliseconds in results[task].items():
            odd = (
                "" if counts[name] == counts["jostle"] else f"   {counts[name]:,} rows"
            )
            print(f"    {name:22} {milliseconds:10.3f} ms{odd}", flush=True)
    print("\n| task |", " | ".join(PEERS), "|\n|---|" + "---:|" * len(PEERS))
    for task, times in results.items():
        print(f"| {task} |", " | ".join(shown(times, peer) for peer in PEERS), "|")
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
