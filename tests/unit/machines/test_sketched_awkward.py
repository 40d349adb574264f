"""Approximate machines where something is awkward: refits, tables, weights, rounding, plans."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import (
    SVC,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    Nystrom,
    Plan,
    Random,
    Stream,
)
from mercer.errors import ConvergenceWarning, DomainError, SelectionError, ValidityError
from mercer.gram import sketch as sketches
from mercer.kernels import Categorical, Gaussian, Laplacian
from mercer.machines.sketching import relative_difference
from mercer.selection import MarginPath, RidgePath, search

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
TWO = np.where(y > 0, "up", "down")
THREE = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
K = Gaussian(1.5)
SOME = Plan(approximate=Nystrom(30))
MACHINES = [
    (KernelRidge(K, 0.1), y),
    (KernelRidgeClassifier(K, 0.1), THREE),
    (KernelLogistic(K, 0.1), TWO),
    (SVC(K, 2.0), THREE),
    (KernelPCA(K, 3), None),
]


@pytest.mark.parametrize(("machine", "target"), MACHINES)
@pytest.mark.parametrize("how", [Nystrom(30), Random(40)], ids=["Nystrom", "Random"])
def test_nothing_remains_of_an_earlier_fit_of_the_other_kind(machine, target, how):
    exact = clone(machine).fit(X, target)
    near = clone(machine).set_params(follow=Plan(approximate=how)).fit(X, target)
    refitted = clone(machine).fit(X, target).set_params(follow=near.follow).fit(X, target)
    assert set(vars(refitted)) == set(vars(near))
    refitted.set_params(follow=None).fit(X, target)
    assert set(vars(refitted)) == set(vars(exact))
    assert "approximate" not in repr(refitted)


@pytest.mark.parametrize(("machine", "target"), MACHINES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_plan_is_what_a_fit_does(machine, target, stream):
    machine = clone(machine).set_params(follow=SOME)
    data = Stream.rows(X, target, size=70) if stream else X
    classes = {} if target is None or target is y else {"classes": len(set(target))}
    if isinstance(machine, KernelRidgeClassifier):
        classes = {"targets": 3}
    plan = machine.plan(data, **classes)
    machine.fit(data) if stream else machine.fit(X, target)
    assert plan.is_approximate and plan.explain().startswith("APPROXIMATE")
    assert (plan.route, plan.rank, plan.direct) == ("nystrom", 30, machine.plan_.direct)
    assert plan.bytes == pytest.approx(machine.plan_.bytes, rel=0.01)


def test_components_are_never_planned_by_steps():
    plan = KernelPCA(K, 3, follow=Plan(approximate=Nystrom(2000))).plan(np.zeros((3000, 2)))
    assert plan.direct and "added up" in plan.explain()


@pytest.mark.parametrize("bandwidth", [30.0, 1000.0])
@pytest.mark.parametrize("stream", [False, True])
def test_rounding_does_not_drown_small_components(bandwidth, stream):
    # The similarities of such centers are all near 1, and their whitening magnifies rounding.
    count = 6 if bandwidth == 30.0 else 3
    exact = KernelPCA(Gaussian(bandwidth), count).fit(X)
    near = KernelPCA(Gaussian(bandwidth), count, follow=SOME)
    near.fit(Stream.rows(X, size=100) if stream else X)
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    variances = np.sum(near.transform(X) ** 2, axis=0)
    np.testing.assert_allclose(variances, near.eigenvalues_, rtol=1e-5)


def test_components_that_are_not_what_they_are_called_are_noticed(monkeypatch):
    moments = sketches.Sketch.moments_and_adjoint

    def disturbed(self, V, weights=None):
        H, sums = moments(self, V, weights)
        return H + 10.0 * np.eye(len(H)), sums

    monkeypatch.setattr(sketches.Sketch, "moments_and_adjoint", disturbed)
    with pytest.warns(ConvergenceWarning, match="components have the residual"):
        machine = KernelPCA(K, 3, follow=SOME).fit(X)
    assert machine.solution_.certificate > 1e-3


@pytest.mark.parametrize("count", [None, 2])
def test_items_that_are_all_the_same_have_no_components(count):
    with pytest.raises(DomainError, match="are the same"):
        KernelPCA(K, count, follow=SOME).fit(np.ones((50, 2)))


@pytest.mark.parametrize("kernel", [K.on("a", "b") + Laplacian(1.0).on("c"), K])
def test_streams_of_tables_are_predicted_too(kernel):
    frame = pd.DataFrame(X, columns=list("abc"))
    machine = KernelRidge(kernel, 0.1, follow=SOME).fit(Stream.rows(frame, y, size=70))
    expected = machine.predict(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = machine.predict(Stream.rows(frame, size=90))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(DomainError):
        machine.predict(Stream.rows(frame[["c", "b", "a"]].rename(columns={"a": "x"}), size=90))


@pytest.mark.slow
def test_centers_may_be_rows_of_a_table_with_categories():
    kinds = pd.Categorical(np.random.default_rng(1).choice(["u", "v"], 300))
    table = pd.DataFrame({"a": X[:, 0], "kind": kinds})
    kernel = K.on("a") + Categorical().on("kind")
    # Similarities of such centers have few directions, so that their systems are nearly singular.
    for machine, target in ((KernelLogistic(kernel, 1e-6), THREE), (SVC(kernel), TWO)):
        machine.set_params(follow=Plan(approximate=Nystrom(table[:20])))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert machine.fit(table, target).score(table, target) > 0.4


def test_no_centers_are_refused():
    with pytest.raises(ValidityError, match="empty"):
        Nystrom([])
    with pytest.raises(ValidityError, match="empty"):
        Nystrom(X[:0])


@pytest.mark.parametrize(("machine", "target"), MACHINES[:4])
def test_heuristics_count_weights_as_repetitions(machine, target):
    w = np.random.default_rng(2).integers(0, 3, 300)
    rows = np.repeat(np.arange(300), w)
    machine = clone(machine).set_params(kernel=Gaussian("median"), follow=SOME)
    weighted = clone(machine).fit(Stream.rows(X, target, w.astype(float), size=100))
    repeated = clone(machine).fit(Stream.rows(X[rows], target[rows], size=100))
    assert weighted.kernel_.bandwidth == pytest.approx(repeated.kernel_.bandwidth)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_few_weights_among_many_zeros_are_found(direct, intercept):
    rng = np.random.default_rng(3)
    many = rng.standard_normal((30_000, 2))
    target, weights = np.sin(many[:, 0]), np.zeros(30_000)
    kept = rng.choice(30_000, 40, replace=False)
    weights[kept] = 1.0
    follow = Plan(approximate=Nystrom(many[kept]), memory=None)
    machine = KernelRidge(Gaussian(1.0), 0.1, intercept=intercept, follow=follow)
    if not direct:
        machine._fit_sketch = _by_steps(machine)
    machine.fit(many, target, weights)
    few = KernelRidge(Gaussian(1.0), 0.1, intercept=intercept).fit(many[kept], target[kept])
    np.testing.assert_allclose(machine.predict(X[:, :2]), few.predict(X[:, :2]), atol=1e-4)
    # The sample may hold none of them; then the error is not known, and otherwise it is small.
    error = machine.solution_.approximation.error
    assert np.isnan(error) or error < 1e-3


def _by_steps(machine):
    from dataclasses import replace

    fit = type(machine)._fit_sketch

    def stepped(data, kernel, items, task, plan):
        return fit(machine, data, kernel, items, task, replace(plan, direct=False))

    return stepped


def test_predictions_that_hardly_vary_are_compared_by_their_size():
    exact = 3.0 + 1e-13 * RNG.standard_normal(50)
    assert relative_difference(exact, exact + 1e-12) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("count", [2001, 2500])
def test_an_error_is_not_guessed_from_a_handful_of_items(count):
    data = np.random.default_rng(4).standard_normal((count, 2))
    target = np.sin(2 * data[:, 0]) + data[:, 1]
    near = KernelRidge(K, 0.01, follow=Plan(approximate=Nystrom(15))).fit(data, target)
    exact = KernelRidge(K, 0.01).fit(data, target)
    true = relative_difference(exact.predict(data), near.predict(data))
    assert near.solution_.approximation.error == pytest.approx(true, rel=0.3)


@pytest.mark.slow
def test_the_judges_know_nothing_of_the_centers():
    data = np.random.default_rng(5).standard_normal((6000, 4))
    machine = KernelRidge(Gaussian(0.3), 1.0, follow=Plan(approximate=Nystrom(600)))
    told = machine.fit(data, data[:, 0]).solution_.approximation
    fresh = np.random.default_rng(6).standard_normal((4000, 4))
    white = np.linalg.inv(np.linalg.cholesky(np.asarray(Gaussian(0.3)(machine.function_.points))))
    seen = np.sum((white @ np.asarray(Gaussian(0.3)(machine.function_.points, fresh))) ** 2, 0)
    # A tenth of the items are centers, which are seen whole.
    assert told.unseen == pytest.approx(0.9 * np.mean(1 - seen), abs=0.03)


@pytest.mark.parametrize("how", [Nystrom(30), Random(40)], ids=["Nystrom", "Random"])
def test_paths_are_for_exact_answers_and_say_so(how):
    follow = Plan(approximate=how)
    with pytest.raises(SelectionError, match="approximate plan"):
        RidgePath(KernelRidge(K, follow=follow)).fit(X, y)
    with pytest.raises(SelectionError, match="approximate plan"):
        search(KernelRidge(K, follow=follow), X, y)
    with pytest.raises(SelectionError, match="approximate plan"):
        MarginPath(SVC(K, follow=follow)).fit(X, TWO)


class Stopped:
    """Chunks that stop in the middle of a pass."""

    def __init__(self, target, stop, error):
        self.target, self.stop, self.error, self.passes = target, stop, error, 0

    def __call__(self):
        self.passes += 1
        for start in range(0, 300, 50):
            if self.passes == self.stop and start == 150:
                raise self.error
            part = slice(start, start + 50)
            yield X[part] if self.target is None else (X[part], self.target[part])


@pytest.mark.parametrize(("machine", "target"), MACHINES)
@pytest.mark.parametrize("error", [OSError("gone"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
@pytest.mark.parametrize("stop", [1, 2])
def test_a_fit_that_fails_before_anything_was_found_changes_nothing(machine, target, error, stop):
    machine = clone(machine).set_params(follow=SOME).fit(X[:200], _part(target, 200))
    before = dict(vars(machine))
    with pytest.raises(type(error)):
        machine.fit(Stream(Stopped(target, stop, error), ahead=False))
    assert vars(machine).keys() == before.keys()
    assert all(vars(machine)[name] is value for name, value in before.items())


@pytest.mark.parametrize(("machine", "target"), MACHINES)
def test_an_error_in_a_late_pass_changes_nothing(machine, target):
    machine = clone(machine).set_params(follow=SOME)
    source = Stopped(target, 0, None)
    machine.fit(Stream(source))
    before = dict(vars(machine))
    with pytest.raises(OSError, match="gone"):
        machine.fit(Stream(Stopped(target, source.passes, OSError("gone"))))
    assert all(vars(machine)[name] is value for name, value in before.items())


@pytest.mark.parametrize(("machine", "target"), MACHINES[2:4])
def test_interrupting_newton_keeps_the_last_point(machine, target):
    machine = clone(machine).set_params(follow=SOME)
    source = Stopped(target, 0, None)
    machine.fit(Stream(source))
    best = machine.score(X, target)
    half = Stopped(target, source.passes // 2, KeyboardInterrupt())
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine.fit(Stream(half, ahead=False))
    assert machine.solution_.status == "interrupted"
    assert machine.score(X, target) > best - 0.1


def _part(target, count):
    return None if target is None else target[:count]
