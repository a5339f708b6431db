"""Pairs, counts and rows, against scipy's cKDTree."""

import signal
import threading
import time

import numpy as np
import pytest
from scipy.spatial import cKDTree

import jostle


def scene(n, dimensions, dtype=np.float64, side=10.0, seed=0):
    return (np.random.default_rng(seed).random((n, dimensions)) * side).astype(dtype)


def as_set(pairs):
    return {tuple(sorted(pair)) for pair in np.asarray(pairs).tolist()}


def by_scipy(points, cutoff, side=None):
    return as_set(
        cKDTree(points, boxsize=side).query_pairs(cutoff, output_type="ndarray")
    )


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_those_of_scipy(dimensions, dtype):
    points = scene(2000, dimensions, dtype)
    found = jostle.pairs(points, cutoff=0.5)
    assert found.dtype == np.uint32 and found.shape[1:] == (2,)
    assert (found[:, 0] < found[:, 1]).all()
    assert len(found) == len(as_set(found)) == jostle.count(points, cutoff=0.5)
    assert as_set(found) == by_scipy(points, 0.5)
    assert as_set(jostle.pairs(points % 10, cutoff=0.5, cell=10)) == by_scipy(
        points % 10, 0.5, 10
    )


def test_own_radii_are_those_of_a_double_loop():
    points, radii = scene(500, 2), scene(500, 2, side=0.4)[:, 0]
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    expected = np.argwhere(np.triu(apart <= radii[:, None] + radii, 1))
    assert as_set(jostle.pairs(points, radii)) == as_set(expected)


def test_rows_are_those_of_scipy():
    points = scene(1500, 3)
    lists = jostle.neighbors(points, 1.0, cell=10, vectors=True, shifts=True)
    assert len(lists) == 1500 and lists.offsets[-1] == len(lists.indices)
    tree = cKDTree(points, boxsize=10)
    for row, expected in enumerate(tree.query_ball_point(points, 1.0)):
        assert lists[row].tolist() == sorted(set(expected) - {row})
    i = np.repeat(np.arange(1500), np.diff(lists.offsets))
    vectors = points[lists.indices] - points[i] + lists.shifts * 10
    np.testing.assert_allclose(lists.vectors, vectors, atol=1e-14)
    np.testing.assert_allclose(
        lists.distances, np.linalg.norm(vectors, axis=1), rtol=1e-14
    )
    half = jostle.neighbors(points, 1.0, cell=10, half=True, distances=False)
    assert half.distances is None and 2 * len(half.indices) == len(lists.indices)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_layout_is_read(dtype):
    points = scene(300, 3, dtype)
    expected = jostle.pairs(points, cutoff=1.0)
    structs = np.zeros(
        300, dtype=[("name", "S3"), ("position", dtype, 3), ("mass", "f4")]
    )
    structs["position"] = points
    wide = np.zeros((600, 5), dtype)
    wide[::2, 1:4] = points
    layouts = [
        np.asfortranarray(points),
        structs["position"],  # between other fields, and not aligned
        wide[::2, 1:4],
        np.ascontiguousarray(points[::-1])[::-1],  # backwards: copied
        points.tolist() if dtype is np.float64 else points,
    ]
    for layout in layouts:
        np.testing.assert_array_equal(jostle.pairs(layout, cutoff=1.0), expected)
    radii = np.full(300, 0.5, dtype)
    for same in [
        0.5,
        radii,
        np.broadcast_to(radii[:1], 300),
        np.repeat(radii, 2)[::2],
        radii.tolist(),
    ]:
        np.testing.assert_array_equal(
            jostle.pairs(points, same), jostle.pairs(points, 0.5)
        )


def test_results_do_not_depend_on_threads_and_stay():
    points, finder = scene(60_000, 2, np.float32, 100), jostle.Finder()
    first = finder.pairs(points, 0.3, threads=1)
    kept = first.copy()
    for threads in [None, 1, 2, 3]:
        np.testing.assert_array_equal(finder.pairs(points, 0.3, threads=threads), kept)
    finder.pairs(points[:100], 5.0)
    np.testing.assert_array_equal(first, kept)
    assert first.base is not None and first.flags.writeable


def test_sets_meet():
    a, b = scene(200, 2), scene(300, 2, np.float32, seed=1)
    bodies = [jostle.Bodies(a, 0.2), jostle.Bodies(b, 0.3)]
    apart = np.linalg.norm(a[:, None] - b.astype(float), axis=-1)
    found = jostle.pairs(jostle.between(*bodies))
    assert set(map(tuple, found.tolist())) == set(
        map(tuple, np.argwhere(apart <= 0.2 + np.float64(np.float32(0.3))).tolist())
    )
    within = jostle.count(bodies[0]) + jostle.count(bodies[1])
    assert jostle.count(jostle.among(bodies, [(0, 0), (0, 1), (1, 1)])) == within + len(
        found
    )


def test_layers_and_groups():
    points = np.zeros((4, 2))
    shots = jostle.Bodies(
        points, 1.0, category=[1, 2, 2, 1], mask=[3, 1, 1, 3], group=[-1, -1, -2, -2]
    )
    assert as_set(jostle.pairs(shots)) == {(0, 2), (0, 3), (1, 3)}


def test_bodies_follow_their_arrays():
    points = np.array([[0.0, 0.0], [5.0, 0.0]])
    bodies = jostle.Bodies(points, 1.0)
    assert len(bodies) == 2 and jostle.count(bodies) == 0
    points[1, 0] = 1.5
    assert jostle.count(bodies) == 1
    flies = jostle.Bodies(
        np.array([[0.0, 0.0], [5.0, 0.0]]),
        1.0,
        displacements=np.array([[9.0, 0.0], [0.0, 0.0]]),
    )
    assert jostle.count(flies) == 1


def test_errors_name_the_bodies_and_the_remedy():
    points = np.zeros((5, 2))
    points[2, 1], points[4, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match="id 2: centre not finite on axis 1") as error:
        jostle.pairs(points, 1.0)
    assert isinstance(error.value, jostle.InputError)
    assert error.value.ids == [2, 4] and error.value.count == 2
    with pytest.raises(jostle.InputError, match="threads is 0"):
        jostle.pairs(points, 1.0, threads=0)
    with pytest.raises(ValueError, match="pbc without a cell"):
        jostle.pairs(points, 1.0, pbc=True)
    with pytest.raises(ValueError, match="origin without a cell"):
        jostle.pairs(points, 1.0, origin=[0, 0])
    with pytest.raises(ValueError, match="length zero"):
        jostle.pairs(points, 1.0, cell=[1, 0])
    for arguments, message in [
        ((np.zeros((3, 4)), 1.0), r"shape \(n, 2\) or \(n, 3\), not \(3, 4\)"),
        ((np.zeros((3, 2), int), 1.0), "float32 or float64.*not int64"),
        (
            (np.zeros((3, 2)), np.ones(3, np.float32)),
            r"radii are float32.*radii.astype\(np.float64\)",
        ),
        ((np.zeros((3, 2)), np.ones(4)), r"shape \(3,\)"),
        ((np.zeros((3, 2)),), "radii .* missing"),
        (("abc", 1.0), "cannot be made an array"),
    ]:
        with pytest.raises(TypeError, match=message):
            jostle.pairs(*arguments)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("cell", [None, 10.0, [[0, 10], [10, 0]]])
def test_blocks_are_all_pairs(threads, cell):
    points, blocks, shifts = scene(40_000, 2), [], []

    def keep(pairs, *shift):
        blocks.append(pairs)
        shifts.extend(shift)

    jostle.for_each(keep, points, 0.03, block=1000, cell=cell, threads=threads)
    found = jostle.find(points, 0.03, cell=cell)
    assert max(map(len, blocks)) == 1000 and len(blocks) >= len(found) / 1000
    together, expected = np.concatenate(blocks), found.pairs
    if cell is not None:
        together = np.hstack([together, np.concatenate(shifts)])
        expected = np.hstack([expected, found.shifts])
    if threads > 1:
        together = together[np.lexsort(together.T)]
        expected = expected[np.lexsort(expected.T)]
    np.testing.assert_array_equal(together, expected)


def test_what_is_raised_in_a_block_is_raised():
    points, calls = scene(20_000, 2), []

    def fail(pairs):
        calls.append(jostle.count(points[pairs[0]], cutoff=0.1, threads=1))
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        jostle.for_each(fail, points, cutoff=0.1, block=10)
    assert calls == [1]
    with pytest.raises(TypeError, match="calls a function, not int"):
        jostle.for_each(7, points, cutoff=0.1)
    with pytest.raises(ValueError, match="block is 0"):
        jostle.for_each(fail, points, cutoff=0.1, block=0)
    jostle.for_each(fail, points[:1], cutoff=0.1)


def test_calls_of_one_for_each_come_one_at_a_time():
    points, inside, most, total = scene(40_000, 2), 0, 0, 0

    def keep(pairs):
        nonlocal inside, most, total
        inside += 1
        most, before = max(most, inside), total
        time.sleep(1e-4)  # the interpreter goes to other threads
        total = before + len(pairs)
        inside -= 1

    jostle.for_each(keep, points, 0.03, block=500, threads=4)
    assert most == 1 and total == jostle.count(points, 0.03)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_functions_of_for_each_may_search(threads):
    points, few, counts, inner = scene(40_000, 2), scene(40_000, 2, seed=1), [], []

    def outer(pairs):
        counts.append(jostle.count(few, 0.02, threads=threads))
        if len(counts) < 5:
            here = []
            add = lambda pairs: here.append(len(pairs))  # noqa: E731
            jostle.for_each(add, few, 0.02, block=500, threads=threads)
            inner.append(sum(here))

    def search():
        jostle.for_each(outer, points, 0.03, block=4000, threads=threads)

    callers = [threading.Thread(target=search) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(counts) > 5 and set(counts) == set(inner) == {jostle.count(few, 0.02)}


@pytest.mark.parametrize("cell", [None, 10.0])
def test_blocks_of_many_sets_say_which(cell):
    sets = [jostle.Bodies(scene(3000, 2, seed=seed), 0.05) for seed in range(2)]
    moves = scene(3000, 2, side=0.1)
    sets.append(jostle.Bodies(scene(3000, 2, seed=2), 0.04, displacements=moves))
    finder, blocks, times = jostle.Finder(), [], []

    def keep(pairs, *beside):
        shifts = beside[0] if cell else np.zeros_like(pairs)
        blocks.append(np.hstack([pairs, beside[-2], shifts]))
        times.append(beside[-1])
        # The finder may be called meanwhile.
        assert len(finder.pairs(sets[0])) == finder.count(sets[0])

    together = jostle.among(sets, [(0, 1), (1, 1), (1, 2)])
    finder.for_each(keep, together, cell=cell, block=500, threads=1)
    assert len(blocks) > 3
    blocks, found = np.vstack(blocks), finder.find(together, cell=cell)
    np.testing.assert_array_equal(blocks[:, :2], found.pairs)
    for i, j in [(0, 1), (1, 1), (1, 2)]:
        of = (blocks[:, 2:4] == [i, j]).all(1)
        np.testing.assert_array_equal(blocks[of, :2], found.between(i, j))
    if cell:
        np.testing.assert_array_equal(blocks[:, 4:], found.shifts)
    np.testing.assert_array_equal(np.concatenate(times), found.times)


@pytest.mark.parametrize("cell", [None, 1.0])
@pytest.mark.parametrize("half", [False, True])
def test_lists_of_many_sets_number_all_bodies(cell, half):
    parts = [scene(n, 2, side=1.0, seed=n) for n in (300, 0, 70, 150)]
    starts = np.cumsum([0] + [len(part) for part in parts])
    sets = jostle.among([jostle.Bodies(part, 0.03) for part in parts], [(0, 0), (0, 2), (3, 2), (3, 3)])
    found = jostle.find(sets, cell=cell)
    pairs = [found.between(i, j) + starts[[i, j]] for i, j in [(0, 0), (0, 2), (2, 3), (3, 3)]]
    pairs = np.vstack(pairs if half else pairs + [some[:, ::-1] for some in pairs])
    lists = jostle.neighbors(sets, cell=cell, half=half, vectors=True)
    rows = np.repeat(np.arange(len(lists)), np.diff(lists.offsets))
    assert len(lists) == starts[-1] and len(pairs) > 100
    np.testing.assert_array_equal(np.column_stack([rows, lists.indices]), pairs[np.lexsort(pairs.T[::-1])])
    x = np.concatenate(parts)
    if cell is None:
        np.testing.assert_array_equal(lists.vectors, x[lists.indices] - x[rows])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("cell", [None, 1.0])
def test_a_search_stops_where_its_function_raises(threads, cell):
    points, calls = scene(20_000, 2, side=1e-3), []  # two hundred million pairs

    def fail(*some):
        calls.append(len(some))
        raise KeyError("enough")

    for _ in range(3):  # a search that was cut short leaves nothing behind
        begin = time.process_time()
        with pytest.raises(KeyError, match="enough"):
            jostle.for_each(fail, points, cutoff=0.4, cell=cell, threads=threads)
        assert time.process_time() - begin < 1.0
        assert jostle.count(points, cutoff=1e-5, threads=threads) == len(
            jostle.pairs(points, cutoff=1e-5)
        )
    assert len(calls) == 3


def test_an_interrupt_stops_a_search_for_each():
    points, calls = scene(20_000, 2, side=1e-3), iter(range(10**9))

    def interrupt(some):
        next(calls)
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            jostle.for_each(interrupt, points, cutoff=0.4, threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert next(calls) == 1
