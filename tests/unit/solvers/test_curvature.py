"""Curvature: what is seen of a matrix that nobody has proved to be positive semi-definite."""

import numpy as np
import pytest

from mercer.gram import Blocked, Dense, GramRanges
from mercer.kernels import Gaussian, from_function
from mercer.solvers import Problem
from mercer.solvers import curvature as module
from mercer.solvers.curvature import examine, listed, negative_direction
from mercer.solvers.ridge.cholesky import Stored


def random_matrix(rng, order, lowest):
    Q, _ = np.linalg.qr(rng.normal(size=(order, order)))
    values = np.concatenate([[lowest], rng.uniform(0.1, 5.0, order - 1)])
    return (Q * values) @ Q.T


@pytest.mark.parametrize("lowest", [-1.0, -1e-4, 0.0, 0.5])
def test_all_items_that_are_looked_at_prove_or_refute(lowest):
    rng = np.random.default_rng(0)
    K = random_matrix(rng, 60, lowest)
    found = examine(Dense((K + K.T) / 2))
    assert found.complete
    assert found.negative == (lowest < 0)
    if lowest < 0:
        assert found.lowest == pytest.approx(lowest, rel=1e-6)
        assert len(found.items) == 3
    else:
        assert -1e-10 < found.lowest <= 0 and not found.doubt


def test_rounding_of_single_precision_is_no_witness():
    K = Gaussian(3.0)(np.random.default_rng(0).normal(size=(300, 2))).astype(np.float32)
    found = examine(Dense(K.astype(float)))
    assert np.linalg.eigvalsh(K.astype(float))[0] < -1e-7
    assert not found.negative and found.lowest < -1e-7


def test_only_directions_that_keep_the_sums_count():
    x = np.random.default_rng(0).normal(size=50)
    K = Dense(-np.abs(np.subtract.outer(x, x)))
    assert examine(K).negative
    assert not examine(K, groups=[slice(0, 50)]).negative
    assert not examine(K, groups=[slice(0, 20), slice(20, 50)]).negative
    cubes = Dense(-(np.abs(np.subtract.outer(x, x)) ** 3))
    assert examine(cubes, groups=[slice(0, 50)]).negative


def test_of_many_items_a_part_and_a_few_steps(monkeypatch):
    monkeypatch.setattr(module, "COMPLETE_ITEMS", 50)
    monkeypatch.setattr(module, "SAMPLED_ITEMS", 40)
    rng = np.random.default_rng(0)
    K = random_matrix(rng, 200, -2.0)  # one direction, of which no part of the items shows much
    K = (K + K.T) / 2
    for gram in (Dense(K), GramRanges(K), Stored(Problem(Dense(K.copy())))):
        found = examine(gram)
        assert found.negative and not found.complete
        assert found.lowest >= np.linalg.eigvalsh(K)[0] - 1e-9
    valid = examine(Dense(random_matrix(rng, 200, 0.1)))
    assert not valid.negative and "40 of the items" in valid.doubt


def test_support_vectors_are_looked_at_first(monkeypatch):
    monkeypatch.setattr(module, "COMPLETE_ITEMS", 10)
    monkeypatch.setattr(module, "SAMPLED_ITEMS", 4)
    k = from_function(lambda a, b: 2.0 if {a, b} == {17, 18} else float(a == b))
    gram = Blocked(k, k.admit(list(range(40))))
    assert not examine(gram).negative
    assert examine(gram, np.array([17, 18])).items[:2] in ((17, 18), (18, 17))


def test_ritz_values_are_rayleigh_quotients():
    rng = np.random.default_rng(1)
    K = random_matrix(rng, 100, -0.5)
    value, largest, way = negative_direction(lambda v: K @ v, 100)
    assert way @ K @ way / (way @ way) == pytest.approx(value, rel=1e-9)
    assert np.linalg.eigvalsh(K)[0] - 1e-12 <= value < 0 < largest


def test_a_matrix_of_zeros_has_no_negative_direction():
    assert not examine(Dense(np.zeros((3, 3)))).negative


def test_one_item_is_named_alone():
    assert listed([4]) == "item 4"
    assert listed([4, 2]) == "items 4 and 2"
