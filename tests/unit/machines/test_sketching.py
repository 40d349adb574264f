"""Machines that learn approximately: in memory, in passes, from centers and from features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import mercer
from mercer import KernelRidge, KernelRidgeClassifier, Plan, Stream
from mercer.errors import DomainError, PlanError, ValidityError
from mercer.kernels import Gaussian, Polynomial, Sigmoid, Spectrum
from mercer.machines.sketching import relative_difference
from mercer.plans import Nystrom, Random
from mercer.rkhs import Featured
from mercer.selection import GridSearchCV

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
NEW = RNG.standard_normal((100, 3))
WAYS = [Nystrom(150), Nystrom(150, "pivoted"), Nystrom(150, "k-means"), Nystrom(X[:150]),
        Random(600)]  # fmt: skip


def name(value):
    return f"{type(value).__name__}-{value.count}" if hasattr(value, "count") else str(value)


def fitted(how, data=X, target=y, **options):
    options.setdefault("penalty", 0.01)
    return KernelRidge(Gaussian(2.0), follow=Plan(approximate=how), **options).fit(data, target)


@pytest.mark.parametrize("how", WAYS, ids=name)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_error_that_is_told_is_that_against_the_exact_answer(how, intercept):
    machine = fitted(how, intercept=intercept)
    exact = KernelRidge(Gaussian(2.0), 0.01, intercept=intercept).fit(X, y)
    told = machine.solution_.approximation
    # With few items the sample is all of them, so that the estimate is exact.
    assert told.error == pytest.approx(
        relative_difference(exact.predict(X), machine.predict(X)), rel=1e-3
    )
    assert told.error < 0.2
    assert told.sample == 600


@pytest.mark.slow
def test_for_many_items_the_error_is_near_the_true_one():
    rng = np.random.default_rng(1)
    many = rng.standard_normal((8000, 3))
    target = np.sin(2 * many[:, 0]) + many[:, 1] * many[:, 2] + 0.1 * rng.standard_normal(8000)
    machine = fitted(Nystrom(60), many, target, penalty=0.1)
    exact = KernelRidge(Gaussian(2.0), 0.1).fit(many, target)
    true = relative_difference(exact.predict(NEW), machine.predict(NEW))
    assert 1 / 2 < machine.solution_.approximation.error / true < 2


@pytest.mark.parametrize("how", WAYS[:1] + WAYS[-1:], ids=name)
def test_an_approximate_answer_is_called_approximate(how):
    machine = fitted(how)
    assert "approximate" in repr(machine)
    assert "pproximat" in repr(machine.solution_)
    assert machine.plan_.explain().startswith("APPROXIMATE")
    assert machine.plan_.is_approximate
    assert "approximate" not in repr(KernelRidge().fit(X, y))
    assert "approximate" not in repr(clone(machine)).replace("approximate=", "")


def test_the_function_is_one_of_the_centers():
    machine = fitted(Nystrom(150))
    assert len(machine.function_) == 150
    assert machine.dual_coef_.shape == (150,)
    rows = {tuple(row) for row in X}
    assert all(tuple(row) in rows for row in machine.function_.points.array)
    given = fitted(Nystrom(NEW[:7]))
    np.testing.assert_array_equal(given.function_.points.array, NEW[:7])


def test_random_features_give_a_function_of_features():
    machine = fitted(Random(600), intercept=True)
    assert isinstance(machine.function_, Featured)
    Phi = Gaussian(2.0).random_features(600, 0)
    expected = Phi(NEW) @ machine.function_.weights + machine.intercept_
    np.testing.assert_allclose(machine.predict(NEW), expected)
    A = np.hstack([Phi(X), np.ones((600, 1))])
    R = np.diag([0.01] * 600 + [0.0])
    np.testing.assert_allclose(
        machine.predict(X), A @ np.linalg.solve(A.T @ A + R, A.T @ y), atol=5e-5
    )
    with pytest.raises(ValidityError, match="shift-invariant"):
        KernelRidge(Polynomial(2), follow=Plan(approximate=Random(10))).fit(X, y)


@pytest.mark.parametrize("how", [Nystrom(50), Nystrom(50, "pivoted"), Random(40)], ids=name)
def test_the_same_seed_gives_the_same_answer(how):
    assert np.array_equal(fitted(how).dual_coef_, fitted(how).dual_coef_)
    other = how.set_params(seed=1)
    assert not np.array_equal(fitted(how).predict(NEW), fitted(other).predict(NEW))


@pytest.mark.parametrize("how", [Nystrom(X[:50]), Random(40)], ids=name)
@pytest.mark.parametrize("size", [7, 250, 600])
def test_a_stream_gives_what_memory_gives(how, size):
    one = fitted(how, intercept=True)
    stream = Stream.rows(X, y, size=size)
    other = KernelRidge(Gaussian(2.0), 0.01, intercept=True, follow=Plan(approximate=how))
    other.fit(stream)
    # Sums of other pieces are rounded otherwise, and the system is solved to 1e-7.
    np.testing.assert_allclose(one.predict(NEW), other.predict(NEW), atol=2e-6)
    np.testing.assert_allclose(
        other.predict(Stream.rows(NEW, size=size)), other.predict(NEW), atol=1e-12
    )
    assert other.n_features_in_ == 3
    assert "read in passes" in other.plan_.explain()


def test_targets_come_from_chunks_or_beside_the_stream():
    how = Nystrom(X[:50])
    beside = KernelRidge(Gaussian(2.0), follow=Plan(approximate=how)).fit(Stream.rows(X), y)
    inside = KernelRidge(Gaussian(2.0), follow=Plan(approximate=how)).fit(Stream.rows(X, y))
    np.testing.assert_allclose(beside.dual_coef_, inside.dual_coef_)
    with pytest.raises(DomainError):
        KernelRidge(Gaussian(2.0), follow=Plan(approximate=how)).fit(Stream.rows(X))


def test_frames_in_a_stream_keep_their_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    machine = KernelRidge(Gaussian(2.0)).fit(Stream(lambda: iter([frame[:300], frame[300:]])), y)
    assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(DomainError, match="feature names"):
        machine.predict(frame.rename(columns={"a": "z"}))


def test_labels_in_a_stream():
    labels = np.where(y > 0, "up", np.where(X[:, 0] > 0, "middle", "down"))
    how = Plan(approximate=Nystrom(X[:200]))
    machine = KernelRidgeClassifier(Gaussian(2.0), 0.01, follow=how)
    one = clone(machine).fit(X, labels)
    other = clone(machine).fit(Stream.rows(X, labels, size=100))
    assert machine.follow is how
    assert one.score(X, labels) > 0.9
    assert np.array_equal(one.predict(NEW), other.predict(NEW))
    assert np.array_equal(other.predict(Stream.rows(NEW, size=30)), other.predict(NEW))


def test_a_mapped_file_is_read_in_passes_only_where_that_is_needed(tmp_path):
    path = tmp_path / "rows.bin"
    data = np.memmap(path, np.float64, "w+", shape=(2_000_000, 5))
    data[:] = 1.0
    small = np.memmap(path, np.float64, "r", shape=(600, 3))
    assert not KernelRidge(Gaussian(2.0))._needs_passes(data[:20_000])
    assert KernelRidge(Gaussian(2.0))._needs_passes(data)
    assert KernelRidge(Gaussian(2.0), follow=Plan(approximate=Nystrom(5)))._needs_passes(
        data[:20_000]
    )
    exact = KernelRidge(Gaussian(2.0)).fit(small, y)
    assert exact.solution_.approximation is None


def broken(chunk):
    def chunks():
        for number in range(10):
            part = X[60 * number : 60 * number + 60].copy()
            if number == 7:
                part = chunk(part)
            yield part, y[60 * number : 60 * number + len(part)]

    return Stream(chunks)


def missing(part):
    part[12, 1] = np.nan
    return part


@pytest.mark.parametrize("bad", [missing, lambda part: part[:, :2]], ids=["NaN", "width"])
def test_a_bad_chunk_is_named_and_nothing_is_half_fitted(bad):
    machine = fitted(Nystrom(50))
    before = dict(vars(machine))
    with pytest.raises(DomainError, match=r"chunk 7, rows 420 to 479"):
        machine.fit(broken(bad))
    assert vars(machine) == before


def test_a_file_that_shrinks_between_passes_is_named(tmp_path, monkeypatch):
    path = tmp_path / "rows.bin"
    np.random.default_rng(0).standard_normal((20_000, 3)).tofile(path)
    data = np.memmap(path, np.float64, "r", shape=(20_000, 3))
    machine = KernelRidge(Gaussian(2.0), follow=Plan(approximate=Nystrom(20)))
    stream = Stream.rows(data, np.zeros(20_000) + np.arange(20_000) % 2, size=1000)
    survey = stream.survey

    def then_shrink(*args, **options):
        found = survey(*args, **options)
        with open(path, "r+b") as file:
            file.truncate(8 * 3 * 10_500)
        return found

    monkeypatch.setattr(stream, "survey", then_shrink)
    with pytest.raises(DomainError, match=r"chunk 10.*rows 10000 to 10999"):
        machine.fit(stream)
    assert not hasattr(machine, "function_")


def test_a_plan_approximates_only_what_would_take_too_long():
    machine = KernelRidge(Gaussian(2.0))
    assert not machine.plan(np.zeros((1000, 3))).is_approximate
    hasty = KernelRidge(Gaussian(2.0), follow=Plan(patience=1e-3)).plan(np.zeros((1000, 3)))
    assert hasty.is_approximate
    assert "would take about" in hasty.explain()
    never = Plan(patience=1e-3, approximate="never")
    assert not KernelRidge(Gaussian(2.0), follow=never).plan(np.zeros((1000, 3))).is_approximate
    little = Plan(memory=150_000_000)
    assert KernelRidge(Gaussian(2.0), follow=little).plan(np.zeros((200_000, 1))).is_approximate


def test_what_cannot_be_approximated_says_so():
    how = Plan(approximate=Nystrom(10))
    with pytest.raises(ValidityError, match="positive penalty"):
        KernelRidge(Gaussian(2.0), 0.0, follow=how).fit(X, y)
    with pytest.raises(ValidityError, match="approximat"):
        KernelRidge(Sigmoid(1.0, -1.0), indefinite="clip", follow=how).fit(X, y)
    with pytest.raises(PlanError, match="read in passes"):
        KernelRidge(Gaussian(2.0), follow=Plan(approximate="never")).fit(Stream.rows(X, y))
    with pytest.raises(PlanError, match="fewer"):
        fitted_in = Plan(approximate=Nystrom(500), memory=3_000_000)
        KernelRidge(Gaussian(2.0), follow=fitted_in).fit(X, y)
    with pytest.raises(ValidityError, match="k-means"):
        Nystrom(10, "kmeans")
    with pytest.raises(ValidityError, match="even"):
        Random(7)
    with pytest.raises(ValidityError, match="approximate of a plan"):
        Plan(approximate="yes")
    with pytest.raises(DomainError, match="columns"):
        fitted(Nystrom(X[:5, :2]))


def test_more_centers_than_items_are_all_items():
    machine = fitted(Nystrom(5000))
    assert len(machine.function_) == 600
    assert machine.solution_.approximation.error < 1e-4


def test_strings_have_centers_too():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(80)]
    target = np.array([word.count("ab") for word in words], float)
    for how in (Nystrom(30), Nystrom(30, "pivoted"), Nystrom(words[:20])):
        machine = KernelRidge(Spectrum(2), 0.1, follow=Plan(approximate=how)).fit(words, target)
        assert machine.score(words, target) > 0.9
    with pytest.raises(DomainError, match="means"):
        follow = Plan(approximate=Nystrom(30, "k-means"))
        KernelRidge(Spectrum(2), 0.1, follow=follow).fit(words, target)


def test_a_grid_search_refits_approximate_machines():
    machine = KernelRidge(Gaussian(2.0), follow=Plan(approximate=Nystrom(X[:40])))
    search = GridSearchCV(machine, {"penalty": [0.01, 1.0]}, cv=3).fit(X, y)
    fold = clone(machine).set_params(penalty=0.01).fit(X[200:], y[200:])
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(
        fold.score(X[:200], y[:200]), abs=1e-8
    )


@pytest.mark.parametrize("how", [Nystrom(30), Random(40), Nystrom(X[:5])], ids=name)
def test_approximate_machines_are_saved_and_loaded(how, tmp_path):
    machine = fitted(how, intercept=True)
    mercer.save(machine, tmp_path / "machine")
    again = mercer.load(tmp_path / "machine")
    assert np.array_equal(machine.predict(NEW), again.predict(NEW))
    assert again.solution_.approximation == machine.solution_.approximation
    assert again.follow == machine.follow
