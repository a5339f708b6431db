"""Neighbour lists on one thread and on two, in turns of twenty calls; medians. The first two calls of a turn are not counted:
their memory is still in the cache of the core that wrote it last.

    python crates/jostle-python/benchmarks/threads.py
"""

import statistics
import time

import numpy as np
from compare import CUTOFF, fcc

import jostle

TURNS = 4
CALLS = 22


def main():
    positions, cell = fcc(np.array((30, 30, 28)))
    for quantities in ("ij", "ijdDS"):
        finder, times = jostle.Finder(), {1: [], 2: []}
        for _ in range(TURNS):
            for threads in times:
                for call in range(CALLS):
                    started = time.perf_counter()
                    answer = finder.neighbor_list(
                        quantities, positions, CUTOFF, cell=cell, threads=threads
                    )
                    took = time.perf_counter() - started
                    del answer
                    if call >= CALLS - 20:
                        times[threads].append(1e3 * took)
        one, two = (statistics.median(times[threads]) for threads in (1, 2))
        print(f"{quantities}: {one:.1f} ms, two threads {two:.1f}: {one / two:.2f}")


if __name__ == "__main__":
    main()
