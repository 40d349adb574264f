"""One row at a time: the way of few rows gives what a batch gives, and refuses what it refuses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import mercer
from mercer.errors import DomainError
from mercer.kernels import Gaussian, Laplacian, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5)) + 3.0
LABELS = np.where(X[:, 0] + np.sin(X[:, 1]) > 3.0, "yes", "no")
NUMBERS = X[:, 0] * X[:, 1]
NEW = RNG.normal(size=(40, 5)) + 3.0

CLASSIFIERS = [
    mercer.SVC("gaussian"),
    mercer.NuSVC("gaussian"),
    mercer.LPSVC("gaussian"),
    mercer.KernelRidgeClassifier("gaussian", 0.1),
    mercer.KernelLogistic("gaussian", 0.1),
    mercer.KernelDiscriminant("gaussian", 0.1),
    mercer.Perceptron("gaussian"),
    mercer.PrototypeClassifier("gaussian"),
    mercer.ExemplarClassifier("gaussian"),
    mercer.KernelNeighbors("gaussian"),
]
REGRESSORS = [
    mercer.SVR(Laplacian(2.0)),
    mercer.KernelRidge(Gaussian(2.0) + Linear(), 0.1),
    mercer.GaussianProcess(Gaussian(2.0), 0.1),
    mercer.ExemplarRegressor("gaussian"),
    mercer.KernelRidge("linear", 0.1),
]


@pytest.mark.parametrize("machine", [*CLASSIFIERS, *REGRESSORS], ids=lambda m: repr(m)[:40])
def test_a_row_alone_gets_the_answer_that_it_gets_among_others(machine):
    machine.fit(X, LABELS if machine in CLASSIFIERS else NUMBERS)
    rows = np.concatenate([NEW, X[:20]])  # known rows are at distance zero
    together = machine.predict(rows)
    alone = np.concatenate([machine.predict(rows[[i]]) for i in range(len(rows))])
    if together.dtype.kind == "f":
        assert np.allclose(alone, together, rtol=1e-12, atol=1e-12)
    else:
        assert (alone == together).all()


def test_a_row_alone_has_the_score_of_the_textbook():
    machine = mercer.SVC(Gaussian(1.5)).fit(X, LABELS)
    f = machine.function_
    for row in NEW[:5]:
        pairs = [f.kernel.pair(row, z) for z in f.points.items()]
        expected = float(np.dot(pairs, f.coefficients) + machine.intercept_[0])
        assert np.isclose(machine.decision_function(row[None])[0], expected, rtol=1e-12)


def test_what_was_kept_for_the_next_row_is_no_part_of_the_machine():
    machine = mercer.KernelRidge(Gaussian(1.5), 0.1).fit(X, NUMBERS)
    before = len(pickle.dumps(machine))
    first = machine.predict(NEW[:1])
    assert len(pickle.dumps(machine)) == before
    for again in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine)):
        assert again.predict(NEW[:1]) == first
    machine.fit(X[:60], NUMBERS[:60])
    assert machine.predict(NEW[:1]) == pytest.approx(
        mercer.KernelRidge(Gaussian(1.5), 0.1).fit(X[:60], NUMBERS[:60]).predict(NEW[:1]),
        rel=1e-12,
    )


def test_one_row_is_refused_as_many_are():
    machine = mercer.SVC("gaussian").fit(X, LABELS)
    for bad in (X[:1, :4], np.full((1, 5), np.nan), [[1.0, 2.0]], X[0]):
        with pytest.raises(DomainError):
            machine.predict(bad)
    with pytest.raises(NotFittedError):
        mercer.SVC("gaussian").predict(X[:1])


def test_names_of_columns_are_still_compared():
    names = list("abcde")
    machine = mercer.KernelRidge("gaussian", 0.1).fit(pd.DataFrame(X, columns=names), NUMBERS)
    row = pd.DataFrame(NEW[:1], columns=names)
    assert np.isfinite(machine.predict(row)).all()
    with pytest.raises(DomainError, match="feature names"):
        machine.predict(row[names[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        machine.predict(NEW[:1])


def test_equal_kernels_have_one_hash_before_and_after_it_was_asked_for():
    one, two = Gaussian(1.0) + Linear(), Gaussian(1.0) + Linear()
    assert hash(one) == hash(two) == hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert one == two and one.set_params(left__bandwidth=2.0) != one
    assert hash(one.set_params(left__bandwidth=2.0)) != hash(one)
