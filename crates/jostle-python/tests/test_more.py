"""Spaces, contacts, questions, frames, threads, and pictures."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable

import numpy as np
import pytest
from scipy.spatial import cKDTree
from test_search import as_set, scene

import jostle


def images(cell, reach):
    """Whole steps along each vector of a cell that may lead to neighbours within reach."""
    heights = 1 / np.linalg.norm(np.linalg.inv(cell), axis=0)
    most = np.ceil(reach / heights).astype(int) + 1
    return np.stack(
        np.meshgrid(*(np.arange(-m, m + 1) for m in most), indexing="ij"), -1
    ).reshape(-1, len(cell))


@pytest.mark.parametrize("turned", [False, True])
def test_find_tells_shifts(turned):
    cell = np.array([[5.0, 0.0], [2.0, 4.0]])[:: -1 if turned else 1]
    points = scene(40, 2, side=20.0)
    found = jostle.find(points, 0.7, cell=cell)
    apart = points[found.pairs[:, 1]] + found.shifts @ cell - points[found.pairs[:, 0]]
    assert (np.linalg.norm(apart, axis=1) <= 1.4).all()
    inside = points - np.floor(points @ np.linalg.inv(cell)) @ cell
    steps = images(cell, 1.4) @ cell
    near = (
        np.linalg.norm(inside[:, None, None] + steps - inside[None, :, None], axis=-1)
        <= 1.4
    )
    assert 2 * len(found) == near.sum() - len(points)
    np.testing.assert_array_equal(found.pairs, jostle.pairs(points, 0.7, cell=cell))
    assert jostle.find(points, 0.7).shifts is None
    moved = jostle.find(points + 3.0, 0.7, cell=cell, origin=[3.0, 3.0])
    assert as_set(moved.pairs) == as_set(found.pairs)


def test_find_tells_times_and_sets():
    flies = jostle.Bodies(
        np.array([[0.0, 0.0], [10.0, 0.0]]),
        1.0,
        displacements=np.array([[16.0, 0.0], [0.0, 0.0]]),
    )
    found = jostle.find(flies)
    assert found.pairs.tolist() == [[0, 1]] and found.times.tolist() == [0.5]
    sets = [jostle.Bodies(scene(n, 2, seed=n), 0.3) for n in (50, 60, 70)]
    found = jostle.find(jostle.among(sets, [(1, 0), (2, 2)]))
    np.testing.assert_array_equal(
        found.between(0, 1), jostle.pairs(jostle.between(*sets[:2]))
    )
    assert as_set(found.between(2, 2)) == as_set(jostle.pairs(sets[2]))
    assert len(found.between(1, 1)) == 0 and "Found" in repr(found)


def test_margins_hold_for_a_while():
    finder, points = jostle.Finder(), scene(200, 2)
    finder.neighbors(jostle.Bodies(points, 0.3, margin=0.1))
    assert finder.still_valid(points + 0.05, 0.3)
    assert not finder.still_valid(points + 0.2, 0.3)
    finder.pairs(jostle.Boxes(points, points + 1, margin=0.1))
    assert finder.still_valid(jostle.Boxes(points - 0.05, points + 1.05))
    assert not finder.still_valid(jostle.Boxes(points - 0.2, points + 1))
    finder.pairs(jostle.Capsules(points, points + 1, 0.3, margin=0.1))
    assert finder.still_valid(jostle.Capsules(points + 0.05, points + 0.95, 0.3))
    assert not finder.still_valid(jostle.Capsules(points, points + 1, 0.45))


def test_coherent_frames_are_those_of_a_search():
    frames, rows, points = (
        jostle.CoherentFinder(),
        jostle.CoherentFinder(),
        scene(2000, 2, np.float32),
    )
    steps = np.random.default_rng(1).normal(0, 1e-3, (10, 2000, 2)).astype(np.float32)
    for step in steps:
        points += step
        assert as_set(frames.pairs(points, 0.1)) == as_set(jostle.pairs(points, 0.1))
        ours, theirs = rows.neighbors(points, 0.2), jostle.neighbors(points, 0.2)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.distances, theirs.distances)
    assert frames.rebuilds < 10 and frames.margin > 0
    frames.forget()
    frames.find(points, 0.1)


def test_prepared_sets_meet_and_answer():
    points, asked = scene(1000, 3), scene(50, 3, seed=2)
    places = jostle.PreparedSet(points, 0.5)
    assert len(places) == 1000 and "1000 spheres of float64" in repr(places)
    assert as_set(jostle.pairs(places)) == as_set(jostle.pairs(points, 0.5))
    np.testing.assert_array_equal(
        jostle.pairs(jostle.between(jostle.Bodies(asked, 0.1), places)),
        jostle.pairs(
            jostle.between(jostle.Bodies(asked, 0.1), jostle.Bodies(points, 0.5))
        ),
    )
    tree = cKDTree(points)
    nearest = places.nearest(asked, 3)
    distances, rows = tree.query(asked, 3)
    np.testing.assert_array_equal(nearest.indices.reshape(-1, 3), rows)
    np.testing.assert_allclose(nearest.distances.reshape(-1, 3), distances)
    others = places.nearest(points, 2, exclude=np.arange(1000))
    np.testing.assert_array_equal(
        others.indices.reshape(-1, 2), tree.query(points, 3)[1][:, 1:]
    )
    for answers, reach in [
        (places.points(asked), 0.5),
        (places.circles(asked, 0.25), 0.75),
    ]:
        for question, expected in enumerate(tree.query_ball_point(asked, reach)):
            assert answers[question].tolist() == sorted(expected)
    inside = places.boxes([[0.0, 0.0, 0.0]], [[10.0, 10.0, 10.0]])
    assert len(inside) == 1 and len(inside[0]) == 1000
    hits = places.rays(asked, np.ones_like(asked))
    first = places.first_hits(asked, np.ones_like(asked))
    starts = hits.offsets[:-1][np.diff(hits.offsets) > 0]
    np.testing.assert_array_equal(first.indices, hits.indices[starts])
    assert hits.shifts is None
    with pytest.raises(jostle.InputError, match="direction zero") as error:
        places.rays(asked[:2], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert error.value.ids == [1]
    with pytest.raises(TypeError, match=r"shape \(q, 3\)"):
        places.points([[0.0, 0.0]])


def test_prepared_sets_keep_their_cell():
    points = np.array([[0.5, 0.5], [9.5, 0.5]])
    places = jostle.PreparedSet(points, 0.6, cell=[10, 10])
    assert jostle.count(places) == 1
    answers = places.circles([[0.0, 0.5]], 0.1)
    assert answers.indices.tolist() == [0, 1] and answers.shifts.tolist() == [
        [0, 0],
        [-1, 0],
    ]
    left_handed = jostle.PreparedSet(points, 0.6, cell=[[0, 10], [10, 0]])
    assert left_handed.circles([[0.0, 0.5]], 0.1).shifts.tolist() == [[0, 0], [0, -1]]


def test_prepared_sets_have_the_margin_that_they_were_prepared_with():
    apart = np.array([[0.0, 0.0], [3.0, 0.0]])
    grown = jostle.PreparedSet(jostle.Bodies(apart, 1.0, margin=0.5))
    assert jostle.count(grown) == jostle.count(jostle.Bodies(grown, category=1)) == 1
    for margin in [1.0, -1.0, np.nan]:
        with pytest.raises(TypeError, match="a margin of a prepared set"):
            jostle.Bodies(jostle.PreparedSet(apart, 1.0), margin=margin)


def test_contacts_begin_persist_and_end():
    tracker = jostle.ContactTracker()
    tracker.update([[0, 1], [1, 2]], [70, 50, 60])
    changes = tracker.update(
        np.array([[0, 1], [0, 2]]), np.array([70, 50, 80], np.uint64)
    )
    assert changes.persist.keys.tolist() == [[50, 70]]
    assert changes.begin.keys.tolist() == [
        [70, 80]
    ] and changes.begin.pairs.tolist() == [[0, 2]]
    assert changes.end.keys.tolist() == [[50, 60]] and len(changes.end) == 1
    assert len(changes.pair_slots) == 2 and changes.slots == tracker.slots >= 2
    between = jostle.ContactTracker()
    assert between.update([[0, 0]], ([5], [6])).begin.keys.tolist() == [[5, 6]]
    by_rows = jostle.ContactTracker()
    assert by_rows.update(jostle.find(np.zeros((2, 2)), 1.0)).begin.keys.tolist() == [
        [0, 1]
    ]
    with pytest.raises(jostle.InputError, match="repeated") as error:
        tracker.update([[0, 1]], [7, 7])
    assert error.value.ids == [1]
    with pytest.raises(TypeError, match=r"integers \(uint32\), not float64"):
        tracker.update([[0.5, 1.5]], [1, 2])


def test_contacts_tell_images_apart_where_there_are_several():
    points, tracker = np.array([[0.5, 0.5], [1.0, 0.5]]), jostle.ContactTracker()
    found = jostle.find(points, 0.8, cell=[2.0, 9.0])
    assert len(tracker.update(found).begin) == len(found) > 1


def test_contacts_persist_whether_or_not_there_are_several_images():
    # The third body touches nobody, but could touch images of others where it is large.
    points, tracker = np.array([[0.5, 0.5], [1.4, 0.5], [5.0, 5.0]]), jostle.ContactTracker()
    changes = [tracker.update(jostle.find(points, np.array([0.5, 0.5, r]), cell=10.0)) for r in [0.5, 2.6, 0.5]]
    assert [(len(c.begin), len(c.persist), len(c.end)) for c in changes] == [(1, 0, 0), (0, 1, 0), (0, 1, 0)]


@pytest.mark.parametrize("turned", [False, True])
def test_contacts_have_a_geometry(turned):
    cell = np.array([[5.0, 0.0], [0.0, 9.0]])[:: -1 if turned else 1]
    points = np.array([[0.0, 0.0], [3.0, 0.0]])
    found = jostle.find(points, [2.0, 1.5], cell=cell)
    geometry = jostle.contacts(found, points, [2.0, 1.5], cell=cell)
    by_depth = np.argsort(geometry.depths)
    touching = (found.pairs == [0, 1]).all(axis=1)[by_depth]
    assert geometry.depths[by_depth][touching].tolist() == [0.5, 1.5]
    assert geometry.normals[by_depth][touching].tolist() == [[1, 0], [-1, 0]]
    open_space = jostle.contacts([[0, 1]], points, [2.0, 1.5])
    assert open_space.points.tolist() == [[1.75, 0.0]] and len(open_space) == 1


def test_threads_of_python_share_a_finder_and_the_interpreter_is_free():
    points, finder, results = scene(200_000, 2, np.float32, 300), jostle.Finder(), []
    expected = len(jostle.pairs(points, 0.3))
    threads = [
        threading.Thread(target=lambda: results.append(len(finder.pairs(points, 0.3))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_an_interrupt_is_honoured_after_the_call():
    points, finder = scene(100_000, 2, np.float32, 200), jostle.Finder()
    # A process in the background of a shell begins with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            # Begun in here: this thread may be held up for longer than the timer waits.
            threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT)).start()
            for _ in range(10_000):
                finder.pairs(points, 0.3)
    finally:
        signal.signal(signal.SIGINT, before)


def count_in_child(points):
    return jostle.count(points, 0.3, threads=2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    points = scene(100_000, 2, np.float32, 200)
    expected = count_in_child(points)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert (
            pool.map_async(count_in_child, [points] * 2).get(timeout=60)
            == [expected] * 2
        )


def test_plot_draws_what_it_is_given():
    pytest.importorskip("matplotlib").use("Agg")
    points = scene(30, 2)
    axes = jostle.plot(points, 0.5, jostle.pairs(points, 0.5))
    again = jostle.plot(points, 0.5, jostle.find(points, 0.5))
    assert [len(a.collections[0].get_segments()) for a in (axes, again)] == [
        len(jostle.pairs(points, 0.5))
    ] * 2
    assert len(axes.collections) == 2 and axes.get_xlim()[0] < points[:, 0].min()
    with pytest.raises(TypeError, match=r"\(n, 2\) to be drawn"):
        jostle.plot(scene(3, 3), 0.5)


def test_help_is_worth_reading():
    for name in jostle.__all__:
        thing = getattr(jostle, name)
        if name not in ("__version__", "ase"):
            assert len(thing.__doc__) > 60, name
    assert (
        "uint32" in jostle.pairs.__doc__
        and "threads=None" in jostle.pairs.__text_signature__
    )
    assert (
        repr(jostle.Bodies(np.zeros((2, 3)), 1.0))
        == "jostle.Bodies(2 spheres of float64, radii=1)"
    )


def test_memory_of_results_comes_back_when_nobody_has_them():
    points, finder = scene(20_000, 3, side=1.0), jostle.Finder()
    cutoff, where = 0.06, lambda array: array.__array_interface__["data"][0]

    def search(scale=1.0):
        return finder.neighbor_list("ijdDS", points * scale, cutoff, cell=[1, 1, 1])

    first = search()
    kept = [array.copy() for array in first]
    addresses = {where(array) for array in first}
    second = search(0.999)  # the first is still here
    assert not addresses & {where(array) for array in second}
    for array, copy in zip(first, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    vectors = first[3][10:20]  # a view keeps what it is of
    holds = finder.nbytes
    del first, array
    assert finder.nbytes > holds
    third = search()
    assert len(addresses & {where(array) for array in third}) >= 3
    np.testing.assert_array_equal(vectors, kept[3][10:20])
    for array, copy in zip(third, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    third[0][:] = 7  # as any array of numpy's
    del third, array
    assert vectors.flags.writeable
    np.testing.assert_array_equal(vectors, kept[3][10:20])


def test_memory_of_pairs_comes_back():
    points, finder = scene(50_000, 2, "f4", side=100.0), jostle.Finder()
    expected = finder.pairs(points, 0.4).copy()
    for search in [finder.pairs, lambda *what: finder.find(*what).pairs]:
        first = search(points, 0.4)
        address = first.__array_interface__["data"][0]
        second = search(points, 0.4)
        np.testing.assert_array_equal(first, second)
        assert address != second.__array_interface__["data"][0]
        assert len(finder.pairs(points[:100], 0.4)) < 100
        del first
        search(points, 0.4)
        third = search(points, 0.4)
        assert third.flags.writeable and third.shape == expected.shape
        np.testing.assert_array_equal(second, expected)
        np.testing.assert_array_equal(third, expected)


def test_memory_comes_back_of_lists_of_any_number_and_length():
    finder = jostle.Finder()
    for n, dtype in [(20_000, "f4"), (30_000, "f8"), (1000, "f8"), (25_000, "f4")]:
        points = scene(n, 2, dtype, side=1.0)
        for cutoff in [0.01, 0.015, 0.005]:
            lists = finder.neighbors(points, cutoff, vectors=True, shifts=True, cell=1)
            fresh = jostle.Finder().neighbors(
                points, cutoff, vectors=True, shifts=True, cell=1
            )
            for name in ["offsets", "indices", "distances", "vectors", "shifts"]:
                np.testing.assert_array_equal(
                    getattr(lists, name), getattr(fresh, name)
                )
            i, d, S = finder.neighbor_list(
                "idS", points, np.full(n, cutoff / 2), cell=1
            )
            assert len(i) == len(d) == len(S) and (d < cutoff).all()
    indices = lists.indices.copy()
    del finder  # before its results
    np.testing.assert_array_equal(lists.indices, indices)


def test_contacts_of_many_sets_are_those_of_all_bodies_in_one():
    points = scene(300, 2, side=6.0)
    tracker, whole = jostle.ContactTracker(), jostle.ContactTracker()
    parts = [slice(0, 100), slice(100, 150), slice(150, 300)]
    keys = np.random.default_rng(4).permutation(300).astype(np.uint64)
    of_sets = [keys[part] for part in parts]
    meetings = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    known = set()
    for frame in range(4):
        bodies = [jostle.Bodies(points[part], 0.2) for part in parts]
        changes = tracker.update(jostle.find(jostle.among(bodies, meetings)), of_sets)
        expected = whole.update(jostle.find(points, 0.2), keys)
        for name in ["begin", "persist", "end"]:
            assert as_set(getattr(changes, name).keys) == as_set(
                getattr(expected, name).keys
            )
            assert getattr(expected, name).sets is None
            of = getattr(changes, name)
            for sets, pair, key in zip(of.sets, of.pairs, of.keys):
                assert {of_sets[s][row] for s, row in zip(sets, pair)} == set(key)
        known |= as_set(changes.begin.keys)
        points += 0.01 * (frame + 1) * (points[::-1] - 3)
    assert known
    sets = jostle.among([jostle.Bodies(points[part], 0.2) for part in parts], meetings)
    found = jostle.find(sets)
    depths = jostle.contacts(found, sets).depths
    alone = jostle.contacts(jostle.find(points, 0.2), points, 0.2).depths
    np.testing.assert_allclose(np.sort(depths), np.sort(alone))
    with pytest.raises(TypeError, match="a sequence of arrays"):
        tracker.update(found, 7)
    with pytest.raises(ValueError):
        tracker.update(found, of_sets[:2])


def test_rows_are_keys_of_each_set():
    a, b = np.array([[0.0, 0.0], [5.0, 5.0]]), np.array([[0.5, 0.0], [9.0, 9.0]])
    sets, tracker = (
        [jostle.Bodies(a, 0.5), jostle.Bodies(b, 0.5)],
        jostle.ContactTracker(),
    )
    changes = tracker.update(jostle.find(jostle.between(*sets)))
    assert changes.begin.keys.tolist() == [[0, 0]]
    changes = jostle.ContactTracker().update(
        jostle.find(jostle.among(sets, [(0, 1), (1, 1)]))
    )
    assert changes.begin.keys.tolist() == [[0, 0]]


def test_results_are_pickled_and_copied():
    points, tracker = scene(60, 2), jostle.ContactTracker()
    places = jostle.PreparedSet(points, 0.5)
    moving = jostle.Bodies(points, 0.5, displacements=points[::-1].copy(), category=1)
    found = jostle.find(moving)
    results = [
        found,
        jostle.neighbors(points, 1.0, cell=10.0, vectors=True, shifts=True),
        places.nearest(points[:5], 3),
        tracker.update(found),
        jostle.contacts(found, moving),
    ]
    for result in results:
        copies = [copy.deepcopy(result)]
        copies += [pickle.loads(pickle.dumps(result, n)) for n in range(2, 6)]
        for again in copies:
            assert type(again) is type(result) and repr(again) == repr(result)
            for name in [n for n in dir(result) if not n.startswith("_")]:
                one, other = getattr(result, name), getattr(again, name)
                if isinstance(one, jostle.Contacts):
                    one, other = one.keys, other.keys
                if not callable(one):
                    np.testing.assert_array_equal(one, other)
    again = pickle.loads(pickle.dumps(moving))
    np.testing.assert_array_equal(jostle.find(again).pairs, found.pairs)
    assert repr(again) == repr(moving)
    sets = jostle.among([moving, moving], [(0, 1), (1, 1)])
    found = jostle.find(sets)
    of_sets = copy.deepcopy(found)
    np.testing.assert_array_equal(of_sets.between(0, 1), found.between(0, 1))
    assert len(tracker.update(of_sets).begin) == len(found)
    arguments = found.__getnewargs__()
    for meetings in [[], [([0, 0], [9, 0])], [([0, 2**40], [0, len(found)])]]:
        with pytest.raises(ValueError, match="not all pairs"):
            jostle.Found(arguments[0], meetings, *arguments[2:])


def test_rows_are_iterated():
    points = scene(50, 2)
    lists, answers = jostle.neighbors(points, 2.0), jostle.PreparedSet(points, 1.0).points(points)
    for rows in [lists, answers]:
        assert len(rows) == 50 and isinstance(rows, Iterable)
        for at, row in enumerate(rows):
            np.testing.assert_array_equal(row, rows[at])
        assert at == 49


def test_questions_that_are_refused_for_whom_they_leave_out_are_named():
    # Nobody is left to be the nearest, at any of a great many images: in the first slice of questions, and beyond it.
    alone = jostle.PreparedSet([[1.0, 1.0]], 0.1, cell=5.0)
    with pytest.raises(jostle.InputError, match="images of the cell") as refused:
        alone.nearest([[1.0, 2.0], [3.0, 3.0]], reach=1e4, exclude=[-1, 0])
    assert refused.value.ids == [1] and refused.value.count == 1
    questions, exclude = np.ones((40_000, 2)), np.full(40_000, -1)
    exclude[[20_000, 39_999]] = 0
    with pytest.raises(jostle.InputError, match="images of the cell") as refused:
        alone.nearest(questions, reach=1e4, exclude=exclude)
    assert refused.value.ids == [20_000, 39_999] and refused.value.count == 2
    for reach in [3.0, np.inf]:
        answers = alone.nearest(questions, reach=reach, exclude=exclude)
        assert len(answers) == 40_000 and len(answers.indices) == 39_998


def test_questions_leave_out_the_body_that_asks():
    line = np.stack([np.arange(40.0), np.zeros(40)], axis=1)
    places, ids = jostle.PreparedSet(line, 0.75), np.arange(40)
    ahead, up = np.tile([1.0, 0.0], (40, 1)), np.tile([0.0, 1.0], (40, 1))
    assert places.first_hits(line, ahead).indices.tolist() == list(range(40))
    hits = places.first_hits(line, ahead, exclude=ids)
    assert hits.indices.tolist() == list(range(1, 40)) and hits[39].tolist() == []
    assert (hits.distances == 0.25).all()
    assert places.rays(line, up, exclude=ids)[7].tolist() == []
    for answers in [
        places.points(line + [0.5, 0.0], exclude=ids),
        places.circles(line + [0.5, 0.0], 0.0, exclude=ids),
        places.boxes(line + [0.5, 0.0], line + [0.5, 0.0], exclude=ids),
    ]:
        assert answers.indices.tolist() == list(range(1, 40))
    assert places.nearest(line[:3], 1, exclude=1).indices.tolist() == [0, 0, 2]
    some = places.nearest(line[:3], 1, exclude=np.array([-1, 1, -1], np.int8))
    assert some.indices.tolist() == [0, 0, 2]
    with pytest.raises(jostle.InputError, match="40 bodies, and row 2") as refused:
        places.nearest(line[:3], 1, exclude=[0, 1, 40])
    assert refused.value.ids == [2] and refused.value.count == 1
    with pytest.raises(ValueError, match="exclude is 40"):
        places.nearest(line[:3], 1, exclude=40)
    with pytest.raises(TypeError, match="exclude must be"):
        places.nearest(line[:3], 1, exclude=[0, 1])
    with pytest.raises(TypeError, match="exclude must be integers"):
        places.nearest(line[:3], 1, exclude=[0.5, 1, 2])


FINALIZERS = """
import gc, sys
import numpy as np, jostle

points = np.random.default_rng(1).random((50, 2))
tracker, frames, finder = jostle.ContactTracker(), jostle.CoherentFinder(), jostle.Finder()
calls = [
    lambda: finder.find(points, 0.1, cell=[1, 1]),
    lambda: finder.neighbors(points, 0.1),
    lambda: tracker.update(finder.find(points, 0.1)),
    lambda: frames.find(points, 0.1),
    lambda: finder.pairs(points, -1.0),
    lambda: frames.pairs(points * np.nan, 0.1),
]
counts, refused, sys.unraisablehook = [], [], lambda about: refused.append(about.exc_type)

class Body:
    def __init__(self, call):
        self.self, self.call = self, call
    def __del__(self):
        counts.append(finder.count(points, 0.1))
        self.call()

def run(call):
    try:
        call()
    except ValueError:
        pass

# What is imported when it is first needed is not what this tests.
gc.disable()
list(map(run, calls))
gc.enable()
gc.set_threshold(1)
for call in calls * 50:
    Body(call)
    run(call)
gc.set_threshold(0)
assert len(set(counts)) == 1 and len(counts) > 100, counts
assert set(refused) <= {RuntimeError, jostle.InputError}, refused
print("done")
"""


def test_finalizers_may_search_while_a_search_makes_its_results():
    ended = subprocess.run([sys.executable, "-c", FINALIZERS], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "done\n", ended.stderr
