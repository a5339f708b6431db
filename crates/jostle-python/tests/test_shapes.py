"""Boxes and capsules, against double loops of numpy."""

import copy
import pickle

import numpy as np
import pytest

import jostle


def boxes(n, dimensions, dtype, seed=3):
    random = np.random.default_rng(seed)
    lo = random.random((n, dimensions)) * 10
    return lo.astype(dtype), (lo + random.random((n, dimensions))).astype(dtype)


def capsules(n, dimensions, dtype, seed=4):
    a, _ = boxes(n, dimensions, dtype, seed)
    b = a + np.random.default_rng(seed).normal(0, 0.5, a.shape).astype(dtype)
    return a, b, np.random.default_rng(seed).random(n).astype(dtype) * 0.5


def segments_apart(a, b, c, d):
    """How far each segment from a to b is from each from c to d, by closest points on clamped lines (Ericson, 5.1.9)."""
    a, b = a[:, None].astype(float), b[:, None].astype(float)
    c, d = c[None].astype(float), d[None].astype(float)
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    flat = uu * vv - uv * uv
    s = np.clip(np.where(flat > 0, (uv * vw - uw * vv) / np.where(flat > 0, flat, 1), 0), 0, 1)
    t = np.clip((uv * s + vw) / np.where(vv > 0, vv, 1), 0, 1)
    s = np.clip((uv * t - uw) / np.where(uu > 0, uu, 1), 0, 1)
    return np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1)


def overlap(lo, hi, other_lo, other_hi):
    return ((lo[:, None] <= other_hi) & (other_lo <= hi[:, None])).all(-1)


def same(pairs, expected):
    order = np.lexsort(pairs.T[::-1])
    np.testing.assert_array_equal(pairs[order], np.argwhere(expected))


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_boxes_meet_boxes_and_circles(dimensions, dtype):
    lo, hi = boxes(400, dimensions, dtype)
    within = np.triu(overlap(lo, hi, lo, hi), 1)
    assert within.sum() > 50
    same(jostle.pairs(jostle.Boxes(lo, hi)), within)
    assert jostle.count(jostle.Boxes(lo, hi)) == within.sum()
    lists = jostle.neighbors(jostle.Boxes(lo, hi))
    np.testing.assert_array_equal(np.diff(lists.offsets), (within | within.T).sum(1))
    assert not lists.distances.any()
    centers = np.random.default_rng(5).random((300, dimensions)) * 10
    apart = np.linalg.norm(np.clip(centers[:, None], lo, hi) - centers[:, None], axis=-1)
    met = jostle.between(jostle.Bodies(centers, 0.5), jostle.Boxes(lo, hi))
    same(jostle.pairs(met), apart <= 0.5)
    lists = jostle.neighbors(met, vectors=True)
    row = np.repeat(np.arange(300), np.diff(lists.offsets))
    np.testing.assert_allclose(lists.distances, apart[row, lists.indices], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(lists.vectors, axis=1), lists.distances, atol=1e-6)
    prepared = jostle.PreparedSet(jostle.Boxes(lo, hi))
    same(jostle.pairs(jostle.between(jostle.Bodies(centers, 0.5), prepared)), apart <= 0.5)
    answers = prepared.points(centers)
    np.testing.assert_array_equal(np.diff(answers.offsets), (apart == 0).sum(1))
    assert repr(prepared) == f"jostle.PreparedSet(400 boxes of {np.dtype(dtype)})"


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_capsules_meet_capsules(dimensions, dtype):
    a, b, radii = capsules(300, dimensions, dtype)
    apart = segments_apart(a, b, a, b)
    sums = radii[:, None].astype(float) + radii
    assert (np.abs(apart - sums)[np.triu_indices(300, 1)] > 1e-6).all()
    within = np.triu(apart <= sums, 1)
    assert within.sum() > 50
    set = jostle.Capsules(a, b, radii)
    found = jostle.find(set)
    same(found.pairs, within)
    depths = jostle.contacts(found, set).depths
    apart, sums = apart[tuple(found.pairs.T)], sums[tuple(found.pairs.T)]
    cross = apart < 1e-9  # then the shortest way apart is longer than the radii
    np.testing.assert_allclose(depths[~cross], (sums - apart)[~cross], atol=1e-9)
    assert (depths[cross] >= sums[cross] - 1e-9).all()
    within = np.triu(segments_apart(a, b, a, b) <= 2 * float(dtype(0.1)), 1)
    same(jostle.pairs(jostle.Capsules(a, b, 0.1)), within)


def test_shapes_meet_at_every_image_by_a_table_and_by_layers():
    lo, hi = boxes(300, 2, np.float64)
    a, b, radii = capsules(200, 2, np.float64)
    category = np.arange(300, dtype=np.uint32) % 2 + 1
    layered = jostle.Boxes(lo, hi, category=category, mask=1)
    odd = np.triu(overlap(lo, hi, lo, hi), 1) & (category == 1) & (category == 1)[:, None]
    same(jostle.pairs(layered), odd)
    sets = [jostle.Boxes(lo, hi), jostle.Capsules(a, b, radii), jostle.Bodies(a, 0.2)]
    found = jostle.find(jostle.among(sets, [(0, 0), (0, 1), (1, 2)]), cell=10.0)
    for i, j in [(0, 0), (0, 1), (1, 2)]:
        alone = sets[i] if i == j else jostle.between(sets[i], sets[j])
        assert len(found.between(i, j)) == len(jostle.pairs(alone, cell=10.0)) > 0
    images = sum(
        np.triu(overlap(lo, hi, lo + [x, y], hi + [x, y]), 1).sum()
        for x in (-10, 0, 10)
        for y in (-10, 0, 10)
    )
    assert jostle.count(sets[0], cell=10.0) == images
    same(jostle.pairs(jostle.Boxes(lo, hi, margin=0.25)), np.triu(overlap(lo - 0.25, hi + 0.25, lo - 0.25, hi + 0.25), 1))
    endless = jostle.Boxes([[-np.inf, 5.0]], [[np.inf, 6.0]])
    same(jostle.pairs(jostle.between(endless, sets[0])), overlap(*np.array([[[-np.inf, 5.0]], [[np.inf, 6.0]]]), lo, hi))


def test_sets_follow_their_arrays_and_are_copied():
    lo, hi = np.zeros((2, 2)), np.ones((2, 2))
    flat, round = jostle.Boxes(lo, hi, group=-1), jostle.Capsules(lo, hi, np.ones(2), margin=0.5)
    assert flat.lo is lo and flat.hi is hi and round.a is lo and round.b is hi
    assert repr(flat) == "jostle.Boxes(2 boxes of float64, with layers)"
    assert repr(round) == "jostle.Capsules(2 capsules of float64, radii of their own, margin=0.5)"
    assert repr(jostle.Capsules(lo, hi, 0.5)) == "jostle.Capsules(2 capsules of float64, radii=0.5)"
    for set, pairs in [(flat, 0), (round, 1)]:
        for made in [set, copy.deepcopy(set), pickle.loads(pickle.dumps(set))]:
            assert len(made) == 2 and jostle.count(made) == pairs and repr(made) == repr(set)
    lo += 100
    hi[0] += 200
    assert len(jostle.pairs(round)) == 1


def test_refusals_name_boxes_and_say_what_to_do():
    lo, hi = boxes(20, 2, np.float64)
    lo[7, 1], hi[9, 0] = 99, np.nan
    with pytest.raises(jostle.InputError) as refused:
        jostle.pairs(jostle.Boxes(lo, hi))
    assert refused.value.ids == [7, 9]
    with pytest.raises(TypeError, match=r"lo is \(20, 2\) of float64, but hi is \(19, 2\) of float64: both must"):
        jostle.Boxes(lo, hi[1:])
    with pytest.raises(TypeError, match=r"a is \(20, 2\) of float32, but b is \(20, 2\) of float64"):
        jostle.Capsules(lo.astype(np.float32), hi, 1.0)
    with pytest.raises(TypeError, match="radii are float32, but a float64"):
        jostle.Capsules(lo, lo, np.ones(20, np.float32))
    with pytest.raises(ValueError, match="the radius is -1: it must be finite and not negative"):
        jostle.Capsules(lo, lo, -1.0)
    with pytest.raises(ValueError, match="the margin is 1e39, too large for float32: give positions in float64"):
        jostle.Boxes(lo.astype(np.float32), lo.astype(np.float32), margin=1e39)
    sound = jostle.Boxes(*boxes(20, 2, np.float64))
    with pytest.raises(TypeError, match="radii or a cutoff beside sets"):
        jostle.pairs(sound, 1.0)
    with pytest.raises(TypeError, match="a set must be jostle.Bodies.*, jostle.Boxes, jostle.Capsules or"):
        jostle.between(sound, lo)


def test_coherent_frames_of_shapes_are_those_of_a_search():
    frames, finder = jostle.CoherentFinder(), jostle.Finder()
    for frame in range(4):
        lo, hi = boxes(300, 2, np.float64)
        rods = jostle.Capsules(lo, hi, 0.1)
        searched = jostle.between(rods, jostle.Boxes(lo, hi + 0.01 * frame))
        assert np.array_equal(frames.pairs(searched), finder.pairs(searched))


def test_shapes_that_move_tell_when_they_touch():
    wall = jostle.Boxes([[4.0, -1.0]], [[4.5, 1.0]])
    shots = jostle.Bodies([[0.0, 0.0], [0.0, 2.0]], 0.5, displacements=[[14.0, 0.0]] * 2)
    found = jostle.find(jostle.between(shots, wall))
    assert (found.pairs.tolist(), found.times.tolist()) == ([[0, 0]], [0.25])
    contact = jostle.contacts(found, jostle.between(shots, wall))
    assert (contact.normals.tolist(), contact.points.tolist()) == ([[1.0, 0.0]], [[4.0, 0.0]])
    crates = jostle.Boxes([[0.0, 0.0], [3.0, 4.0]], [[1.0, 1.0], [4.0, 5.0]], displacements=[[4.0, 4.0], [0.0, 0.0]])
    assert jostle.find(crates).times.tolist() == [0.75]
    rods = jostle.Capsules([[0.0, -3.0]], [[0.0, 3.0]], 0.25, displacements=[[8.0, 0.0]])
    found = jostle.find(jostle.between(rods, wall))
    assert (found.pairs.tolist(), found.times.tolist()) == ([[0, 0]], [3.75 / 8])
    assert repr(rods) == "jostle.Capsules(1 capsules of float64, radii=0.25, moving)"
    again = pickle.loads(pickle.dumps(rods))
    assert jostle.find(jostle.between(again, wall)).times.tolist() == [3.75 / 8]
    with pytest.raises(TypeError, match=r"displacements must have the shape of lo, \(1, 2\), not \(2, 2\)"):
        jostle.Boxes([[0.0, 0.0]], [[1.0, 1.0]], displacements=[[0.0, 0.0]] * 2)
