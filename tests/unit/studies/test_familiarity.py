"""Familiarity: rows of the same source are seldom far, others are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import mercer
from mercer.errors import DomainError
from mercer.kernels import Categorical, Exponential, Gaussian, Linear, Spectrum, normalize
from mercer.machines import Encode
from mercer.studies.familiarity import FAR, KNOWN_ROWS, Familiarity, known_rows

KERNELS = [Gaussian("median"), Linear(), Exponential("median") + Gaussian("median")]


def familiarity(kernel, rows):
    return Familiarity.of(mercer.KernelRidge(kernel, 0.1).fit(rows, rows[:, 0]), known_rows(rows))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("width", [2, 20])
def test_rows_of_the_same_source_are_far_as_seldom_as_promised(kernel, width):
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        known = familiarity(kernel, rng.normal(size=(600, width)))
        found.append(known.far(rng.normal(size=(2000, width))).mean())
    assert np.mean(found) < 3 * FAR


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_from_elsewhere_are_far_however_far_they_are(kernel):
    rng = np.random.default_rng(0)
    known = familiarity(kernel, rng.normal(size=(300, 4)))
    for shift in (10.0, 100.0, 1e6):
        assert known.far(rng.normal(size=(50, 4)) + shift).all()


def test_shares_are_p_values():
    rng = np.random.default_rng(1)
    known = familiarity(Gaussian("median"), rng.normal(size=(500, 3)))
    shares = known.shares(rng.normal(size=(4000, 3)))
    for level in (0.02, 0.1, 0.5):
        assert abs(np.mean(shares <= level) - level) < 0.3 * level + 0.01


def test_distances_are_those_of_a_naive_loop():
    rng = np.random.default_rng(2)
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    squares = ((new[:, None] - X) ** 2).sum(axis=2)
    assert np.allclose(familiarity(Linear(), X).distances(new), squares.min(axis=1))
    assert np.allclose(familiarity(Gaussian(1.5), X).distances(new), squares.min(axis=1) / 4.5)
    assert (familiarity(Linear(), X).nearest(new) == squares.argmin(axis=1)).all()
    own = ((X[:, None] - X) ** 2).sum(axis=2) + np.diag(np.full(30, np.inf))
    assert np.allclose(familiarity(Linear(), X).own, np.sort(own.min(axis=1)))


def test_a_pipeline_sees_raw_rows():
    rng = np.random.default_rng(3)
    size = rng.normal(size=200)
    kinds = ["ab"[i] for i in rng.integers(2, size=200)]
    table = pd.DataFrame({"size": size, "kind": kinds})
    model = make_pipeline(Encode(), mercer.KernelRidge("gaussian", 0.1)).fit(table, size)
    known = Familiarity.of(model, known_rows(table))
    new = pd.DataFrame({"size": [0.1, 50.0], "kind": ["a", "a"]})
    assert known.far(new).tolist() == [False, True]


def test_strings_that_share_nothing_with_the_known_ones_are_far():
    rng = np.random.default_rng(4)
    words = ["".join("acgt"[i] for i in rng.integers(4, size=30)) for _ in range(200)]
    machine = mercer.KernelRidge(normalize(Spectrum(2)), 0.1).fit(words, np.arange(200.0))
    assert Familiarity.of(machine).far(["acgtacgtggctaacg", "zzzzzzzz"]).tolist() == [False, True]


def test_known_things_without_any_spread_leave_nothing_but_equal_ones():
    machine = mercer.KernelRidge(Categorical(), 0.1).fit([["a"], ["b"]] * 20, np.ones(40))
    assert Familiarity.of(machine).far([["a"], ["c"]]).tolist() == [False, True]


def test_too_few_known_rows_say_nothing():
    machine = mercer.KernelRidge("linear", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
    assert not Familiarity.of(machine).far([[1e9]]).any()


def test_of_many_rows_a_sample_is_kept_the_same_each_time():
    rows = np.arange(3.0 * KNOWN_ROWS)[:, None]
    assert len(known_rows(rows)) == KNOWN_ROWS
    assert np.array_equal(known_rows(rows, 5), known_rows(rows, 5))


def test_what_keeps_no_kernel_is_refused():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(DomainError, match="keeps nothing to compare"):
        Familiarity.of(LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]))
