"""What is refused, and what refusals name."""

import pickle

import numpy as np
import pytest
from test_search import scene

import jostle

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def refused(function, *arguments, **named):
    """The message of a refusal, the rows that it names, and how many there are."""
    with pytest.raises(jostle.InputError) as error:
        function(*arguments, **named)
    return str(error.value), error.value.ids, error.value.count


def test_rows_of_contacts_are_rows():
    tracker = jostle.ContactTracker()
    for wrong, value in [(-1, "-1"), (2**32, "4294967296"), (2**63, str(2**63))]:
        kind = np.uint64 if wrong > 0 else np.int64
        pairs = np.array([[0, 1], [1, wrong], [wrong, wrong]], kind)
        for search in [tracker.update, lambda p: jostle.contacts(p, SQUARE, 1.0)]:
            message, ids, count = refused(search, pairs)
            assert f"row 1 has {value}" in message and (ids, count) == ([1, 2], 2)
    shifts = np.array([[0, 0], [0, 2**32]])
    message, ids, _ = refused(
        jostle.contacts, [[0, 1], [1, 2]], SQUARE, 1.0, cell=2.0, shifts=shifts
    )
    assert "shifts" in message and "row 1 has 4294967296" in message and ids == [1]
    assert len(jostle.contacts([], SQUARE, 1.0)) == 0


def test_rows_far_apart_are_keys():
    far, tracker, near = 4_000_000_000, jostle.ContactTracker(), [[0, 1], [1, 2]]
    changes = tracker.update(np.array([[0, far], [7, far - 1]]))
    assert changes.begin.keys.tolist() == [[0, far], [7, far - 1]]
    assert changes.begin.pairs.tolist() == [[0, far], [7, far - 1]]
    changes = tracker.update(np.array([[7, far - 1], [5, far], *near]))
    assert changes.persist.pairs.tolist() == [[7, far - 1]]
    assert changes.begin.pairs.tolist() == [[5, far], *near]
    assert changes.end.pairs.tolist() == changes.end.keys.tolist() == [[0, far]]
    changes = tracker.update(near)  # so few rows have a key each
    assert changes.persist.pairs.tolist() == near and len(changes.begin) == 0
    assert changes.end.pairs.tolist() == [[7, far - 1], [5, far]]
    message, ids, _ = refused(tracker.update, [[1, 2], [far, 3]])
    assert f"pair 1 is [{far}, 3]" in message and ids == [1]


def test_tracked_rows_are_those_of_plain_sets():
    rng, tracker, last = np.random.default_rng(3), jostle.ContactTracker(), set()
    for most in [2**32, 2**32, 100, 2**20, 2**32, 50]:
        rows = np.concatenate([np.arange(9), rng.integers(9, most, 9)])
        ends = np.sort(rng.choice(np.unique(rows), (40, 2)), axis=1)
        pairs = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
        changes, now = tracker.update(pairs), set(map(tuple, pairs.tolist()))
        for name, expected in [
            ("begin", now - last),
            ("persist", now & last),
            ("end", last - now),
        ]:
            contacts = getattr(changes, name)
            assert set(map(tuple, contacts.pairs.tolist())) == expected
            assert set(map(tuple, contacts.keys.tolist())) == expected
        last = now


def test_keys_of_sets():
    sets = [jostle.Bodies(SQUARE, 0.6), jostle.Bodies(SQUARE + 0.1, 0.6)]
    found, keys = jostle.find(jostle.between(*sets)), [np.arange(4), np.arange(4) + 9]
    as_list = jostle.ContactTracker().update(found, keys).begin.keys
    as_tuple = jostle.ContactTracker().update(found, tuple(keys)).begin.keys
    np.testing.assert_array_equal(as_list, as_tuple)
    update = jostle.ContactTracker().update
    with pytest.raises(TypeError, match="two arrays of integers"):
        update(found, np.arange(4))
    with pytest.raises(TypeError, match="keys of one set"):
        update(jostle.find(sets[0]), keys)
    many = jostle.find(jostle.among(sets, [(0, 0), (0, 1)]))
    message, ids, count = refused(update, many, [np.arange(4), np.arange(4) - 2])
    assert "keys of set 1" in message and "row 0 has -2" in message
    assert (ids, count) == ([0, 1], 2)
    with pytest.raises(TypeError, match=r"one for each body, not of shape \(4, 2\)"):
        update([[0, 1]], np.zeros((4, 2), int))
    message, ids, _ = refused(update, [[0, 1], [0, 2]], [5, 6])
    assert message.startswith("2 keys were given") and ids == [1]


def test_integers_are_in_range():
    for name, values in [("category", [-1, 2**32, 2**63, 2**64]), ("group", [2**31])]:
        for value in values:
            message, _, _ = refused(jostle.Bodies, SQUARE, 1.0, **{name: value})
            assert message.startswith(f"{name} is {value}: ")
    for name, wrong in [
        ("category", np.array([1, -1, 1, 2**40])),
        ("group", np.array([1, 2**64 - 1, 1, 2**31], np.uint64)),
    ]:
        message, ids, count = refused(jostle.Bodies, SQUARE, 1.0, **{name: wrong})
        assert f"row 1 has {wrong[1]}; row 3 has {wrong[3]}" in message
        assert (ids, count) == ([1, 3], 2)
    for category in [np.array(1), np.uint32(1), np.full(4, 1, np.uint64)]:
        assert len(jostle.Bodies(SQUARE, 1.0, category=category)) == 4
    with pytest.raises(TypeError, match="must be integers.*not float64"):
        jostle.Bodies(SQUARE, 1.0, category=1.0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_of_one_is_an_array():
    atom, radius = np.zeros((1, 3)), np.array([1.5])
    for cutoff in [radius, [1.5]]:
        assert len(jostle.neighbor_list("i", atom, cutoff, cell=2.0)) == 18
    with pytest.raises(TypeError, match="cutoff must be a number, not of type ndarray"):
        jostle.count(SQUARE, cutoff=np.array([1.0]))
    with pytest.raises(TypeError, match=r"shape \(4,\)"):
        jostle.count(SQUARE, np.array([1.0]))
    with pytest.raises(TypeError, match=r"shape \(2,\), one for each row of the cent"):
        jostle.PreparedSet(SQUARE, 1.0).circles(SQUARE[:2], np.array([1.0]))
    for number in [np.float32(0.5), np.array(0.5), np.float64(0.5), 0.5]:
        assert jostle.count(SQUARE, number) == jostle.count(SQUARE, cutoff=1.0) == 4


def test_what_is_no_array_of_numbers():
    with pytest.raises(TypeError, match="radii cannot be made an array .* str"):
        jostle.pairs(SQUARE, "0.5")
    for pbc in ["ab", 1, 2, ["a", "b"], [0.5, 0], np.array(True), [True] * 3]:
        with pytest.raises(TypeError, match="pbc must be a bool, or 2 of them"):
            jostle.pairs(SQUARE, 0.5, cell=3.0, pbc=pbc)
    for pbc in [True, np.True_, [1, 0], np.array([1, 0]), np.array([True, False])]:
        assert jostle.count(SQUARE, 0.5, cell=3.0, pbc=pbc) == 4
    masked = np.ma.masked_array(SQUARE, mask=[[1, 1]] + [[0, 0]] * 3)
    for search in [
        lambda: jostle.pairs(masked, 0.5),
        lambda: jostle.pairs(SQUARE, masked[:, 0]),
        lambda: jostle.Bodies(SQUARE, 1.0, group=np.ma.masked_array([1] * 4)),
        lambda: jostle.ContactTracker().update(np.ma.masked_array([[0, 1]])),
    ]:
        with pytest.raises(TypeError, match="masked"):
            search()


def test_lengths_name_themselves():
    single = SQUARE.astype(np.float32)
    assert "cutoff is 1e39, too large for float32" in refused(
        jostle.pairs, single, cutoff=1e39
    )[0]
    assert "radius is 1e39, too large" in refused(jostle.pairs, single, 1e39)[0]
    assert "cutoff is inf: " in refused(jostle.neighbor_list, "i", SQUARE, np.inf)[0]
    assert "the radius is -1: " in refused(jostle.pairs, SQUARE, -1)[0]
    with pytest.raises(TypeError, match="quantities must be letters.*ndarray"):
        jostle.neighbor_list(SQUARE, "ij", 1.0)
    with pytest.raises(TypeError, match=r"types must have shape \(4,\)"):
        jostle.neighbor_list("i", SQUARE, {(1, 1): 1.0}, types=[1])


def test_prepared_sets_of_two_cells():
    points = scene(60, 3, side=3.0)
    cells = {cell: jostle.PreparedSet(points, 0.5, cell=cell) for cell in [3.0, 4.0]}
    cells[None] = jostle.PreparedSet(points, 0.5)
    for a, b in [(3.0, 4.0), (4.0, 3.0), (3.0, None), (None, 3.0)]:
        both = jostle.between(cells[a], cells[b])
        assert "different cells: give cell=" in refused(jostle.count, both)[0]
        alone = jostle.count(jostle.between(*[jostle.Bodies(points, 0.5)] * 2), cell=3)
        assert jostle.count(both, cell=3.0) == alone
    assert jostle.count(jostle.between(cells[3.0], cells[3.0])) == alone


def test_refusals_speak_of_python():
    moves = np.ones((4, 2))
    for search in [
        lambda: jostle.PreparedSet(jostle.Bodies(SQUARE, 1.0, displacements=moves)),
        lambda: jostle.contacts([[0, 1]], SQUARE, 1.0, cell=3.0),
        lambda: jostle.pairs(np.full((1, 2), 1e30, np.float32), 1.0),
    ]:
        message = refused(search)[0]
        for rust in ["::", "`", "f64", "activation"]:
            assert rust not in message
    assert jostle.InputError.ids == [] and jostle.InputError("x").count == 0


def test_errors_say_whose_bodies_are_at_fault():
    good, bad = np.zeros((3, 2)), np.array([[0.0, 0.0], [np.nan, 0.0]])
    for sets, at in [((good, bad), 1), ((bad, good), 0)]:
        with pytest.raises(jostle.InputError, match=f"^set {at}: 1 body refused") as refused:
            jostle.count(jostle.between(jostle.Bodies(sets[0], 1.0), jostle.Bodies(sets[1], 1.0)))
        assert (refused.value.set, refused.value.ids, refused.value.count) == (at, [1], 1)
    with pytest.raises(jostle.InputError) as refused:
        jostle.count(bad, 1.0)
    assert refused.value.set is None and refused.value.ids == [1]


@pytest.mark.parametrize("finder", [jostle.Finder, jostle.CoherentFinder])
def test_more_pairs_than_allowed_are_counted_and_refused(finder):
    limited = finder(max_pairs=100)
    points, few = np.zeros((50, 2)), np.zeros((10, 2))
    assert len(limited.find(few, 1.0)) == 45
    with pytest.raises(jostle.InputError, match="1225 pairs .* the 100 that max_pairs= allows: take count or for_each"):
        limited.find(points, 1.0)
    with pytest.raises(jostle.InputError, match="2450 pairs or neighbours"):
        limited.neighbors(points, radii=1.0)
    assert len(limited.find(few, 1.0)) == 45
    assert len(finder().find(points, 1.0)) == 1225


def test_numbers_and_sets_are_refused_by_name():
    places = jostle.PreparedSet(SQUARE, 0.1)
    for name, search in [
        ("margin", lambda: jostle.Bodies(SQUARE, 0.1, margin="x")),
        ("margin", lambda: jostle.Boxes(SQUARE, SQUARE, margin=None)),
        ("margin", lambda: jostle.Capsules(SQUARE, SQUARE, 0.1, margin=[1.0])),
        ("reach", lambda: places.nearest(SQUARE, reach="x")),
    ]:
        with pytest.raises(TypeError, match=f"{name} must be a number, not of type"):
            search()
    assert len(jostle.Bodies(SQUARE, 0.1, margin=np.float32(0.5))) == 4
    for cell in [-1, [2.0, -1]]:
        assert "a length of the cell is -1" in refused(jostle.count, SQUARE, 0.1, cell=cell)[0]
    assert jostle.count(SQUARE, 0.5, cell=[[0, 3], [3, 0]]) == 4


def test_sets_that_are_not_there_have_no_pairs():
    sets = [jostle.Bodies(SQUARE, 0.6)] * 4
    found = jostle.find(jostle.among(sets, [(0, 1)]))
    assert len(found.between(1, 0)) == len(found) > 0 and len(found.between(2, 3)) == 0
    for result, i, j, count in [
        (found, 0, 5, 4),
        (pickle.loads(pickle.dumps(found)), 4, 0, 4),
        (jostle.find(jostle.between(*sets[:2])), 0, 2, 2),
        (jostle.find(SQUARE, 0.6), 0, 1, 1),
    ]:
        message = refused(result.between, i, j)[0]
        assert message == f"pairs of sets {i} and {j}, but there are {count} sets, from 0 on"


def test_plots_refuse_what_cannot_be_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    for pairs in [[[0, 1], [1, -1]], [[0, 1], [4, 1]]]:
        message, ids, count = refused(jostle.plot, SQUARE, 0.5, pairs)
        assert message.startswith("pairs of others than 4 circles") and (ids, count) == ([1], 1)
    message, ids, _ = refused(jostle.plot, [[0.0, 0.0], [np.nan, 0.0]], 0.5)
    assert "not finite" in message and ids == [1]
    with pytest.raises(TypeError, match="pairs must be integers of shape"):
        jostle.plot(SQUARE, 0.5, [[0.5, 1.0]])
    assert jostle.plot(SQUARE, 0.5, []) is not None
