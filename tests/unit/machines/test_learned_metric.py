"""A machine that learns how much each column matters."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import (
    SVC,
    GaussianProcess,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    LearnedMetric,
    Standardize,
)
from mercer.errors import ValidityError
from mercer.kernels import Exponential, Gaussian, Laplacian, Linear, Spectrum

SUM = Exponential(order=1) + Exponential()


def waves(count=160, width=6, noise=0.05, seed=0):
    """Return rows of which columns 1 and 4 matter, and what they say together."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (count, width))
    return X, np.sin(2 * X[:, 1]) * X[:, 4] + noise * rng.normal(size=count)


def rmse(machine, X, y):
    return float(np.sqrt(np.mean((machine.predict(X) - y) ** 2)))


@pytest.mark.parametrize("kernel", [Exponential(), Laplacian(), Gaussian(), SUM])
def test_columns_that_matter_get_the_attention_and_the_error_falls(kernel):
    X, y = waves(200)
    new, truth = waves(200, seed=1)
    learned = LearnedMetric(KernelRidge(kernel, intercept=True), rounds=3).fit(X, y)
    plain = LearnedMetric(KernelRidge(kernel, intercept=True), rounds=0).fit(X, y)
    assert learned.attention_["x1"] + learned.attention_["x4"] > 0.7
    assert rmse(learned, new, truth) < 0.8 * rmse(plain, new, truth)
    assert learned.rounds_ >= 1 and "less error on folds" in learned.reason_
    assert plain.metric_ is None and "no rounds" in plain.reason_


def test_a_direction_needs_a_full_metric():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 6))
    y = np.sin(X @ [1.0, -1.0, 1.0, -1.0, 0.0, 0.0])
    learned = LearnedMetric(KernelRidge(Gaussian()), rounds=3).fit(X, y)
    assert learned.kind_ == "full" and learned.metric_.shape == (6, 6)
    direction = np.linalg.eigh(learned.metric_)[1][:, -1]
    assert abs(direction @ [0.5, -0.5, 0.5, -0.5, 0.0, 0.0]) > 0.95


def test_terms_of_a_sum_may_have_metrics_of_different_kinds():
    X, y = waves(150)
    kernel = Exponential(order=1) + Exponential()
    learned = LearnedMetric(KernelRidge(kernel), 2, ("diagonal", "full")).fit(X, y)
    assert learned.kind_ == "diagonal + full"
    left, right = learned.kernel_.left, learned.kernel_.right
    assert np.ndim(left.metric) == 1 and np.ndim(right.metric) == 2
    assert np.allclose(left.metric, np.sqrt(np.diag(learned.metric_)))


def test_noise_teaches_no_metric():
    rng = np.random.default_rng(3)
    learned = LearnedMetric(KernelRidge(SUM, intercept=True), rounds=2)
    learned.fit(rng.normal(size=(120, 5)), rng.normal(size=120))
    kinds = {trial.kind: trial.error for trial in learned.history_}
    assert min(kinds.values()) >= 0.9 * kinds["none"]


def test_held_out_predictions_are_of_paths_that_have_not_seen_the_items():
    X, y = waves(90)
    shuffled = np.random.default_rng(0).permutation(y)
    learned = LearnedMetric(KernelRidge(SUM), rounds=2).fit(X, shuffled)
    held = learned.held_out_items_
    error = np.mean((learned.held_out_[:, 0] - shuffled[held]) ** 2)
    best = min(trial.error for trial in learned.history_)
    assert error == pytest.approx(best, rel=1e-9) or error < best * 1.01
    assert error > 0.8 * np.var(shuffled)  # nothing can be known of shuffled targets


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidgeClassifier(Exponential(), 0.1),
        KernelLogistic(Gaussian(), 0.1),
        SVC(Gaussian()),
        SVC("gaussian"),
    ],
)
def test_classifiers_learn_metrics(machine):
    X, new = waves(160)[0], waves(160, seed=1)[0]

    def ring(X):
        return np.where(X[:, 1] ** 2 + X[:, 4] ** 2 > 2.5, "high", "low")

    learned = LearnedMetric(machine, rounds=2).fit(X, ring(X))
    assert learned.attention_["x1"] + learned.attention_["x4"] > 0.5
    assert learned.score(new, ring(new)) > 0.8
    assert set(learned.predict(new)) == {"low", "high"}
    assert list(learned.classes_) == ["high", "low"]


def test_many_classes_and_a_gaussian_process():
    X, y = waves(150)
    codes = np.digitize(y, [-0.7, 0.7])
    learned = LearnedMetric(KernelRidgeClassifier(Exponential()), rounds=1).fit(X, codes)
    assert learned.score(X, codes) > 0.9
    process = LearnedMetric(GaussianProcess(Exponential(), 0.1), rounds=1).fit(X, y)
    mean, deviation = process.machine_.predict(X, return_std=True)
    assert np.allclose(mean, process.predict(X)) and (deviation > 0).all()


def test_weights_count_like_repetitions_in_the_search():
    X, y = waves(60)
    heavy = np.ones(60)
    heavy[:20] = 0.0
    given = LearnedMetric(KernelRidge(Exponential()), rounds=1).fit(X, y, sample_weight=heavy)
    without = LearnedMetric(KernelRidge(Exponential()), rounds=1).fit(X[20:], y[20:])
    assert np.allclose(given.predict(X), without.predict(X), atol=1e-8)


def test_the_same_seed_gives_the_same_answer_and_a_sample_is_drawn_by_it():
    X, y = waves(200)
    one, two = (LearnedMetric(KernelRidge(SUM), 1, sample=80).fit(X, y) for _ in range(2))
    assert np.array_equal(one.predict(X), two.predict(X))
    other = LearnedMetric(KernelRidge(SUM), 1, sample=80, random_state=5).fit(X, y)
    assert len(one.held_out_items_) == 80
    assert not np.array_equal(one.held_out_items_, other.held_out_items_)
    assert len(one.function_.points) == 200


def test_without_a_search_the_penalty_is_the_machines_own():
    X, y = waves(80)
    learned = LearnedMetric(KernelRidge(Gaussian(), 0.37), 1, search=False).fit(X, y)
    assert learned.machine_.penalty == 0.37


def test_a_frame_gives_the_names_of_columns():
    X, _ = waves(120)
    frame = pd.DataFrame(X[:, :3], columns=["wind", "rain", "sun"])
    learned = LearnedMetric(KernelRidge(Gaussian()), 1).fit(frame, np.sin(2 * X[:, 1]))
    assert max(learned.attention_, key=learned.attention_.get) == "rain"


def test_clone_pipeline_pickle_and_file_keep_it(tmp_path):
    X, y = waves(80)
    learned = LearnedMetric(KernelRidge(SUM), 1, ("diagonal", "full")).fit(X, y)
    assert clone(learned).get_params()["machine__kernel"] == SUM
    piped = make_pipeline(Standardize(), LearnedMetric(KernelRidge(SUM), 1)).fit(X, y)
    assert np.isfinite(piped.predict(X)).all()
    again = pickle.loads(pickle.dumps(learned))
    assert np.array_equal(again.predict(X), learned.predict(X))
    mercer.save(learned, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(loaded.predict(X), learned.predict(X))
    assert loaded.attention_ == learned.attention_ and loaded.reason_ == learned.reason_


def test_a_plan_counts_the_search():
    small = LearnedMetric(KernelRidge(Gaussian())).plan(np.zeros((5000, 4)))
    large = LearnedMetric(KernelRidge(Gaussian()), sample=4000).plan(np.zeros((5000, 4)))
    assert large.bytes > small.bytes and "metric is learned from 4000 items" in large.explain()


@pytest.mark.parametrize(
    ("machine", "options", "words"),
    [
        (KernelRidge(Linear()), {}, "takes no metric"),
        (KernelRidge(Spectrum(2)), {}, "takes no metric"),
        (KernelPCA(Gaussian()), {}, "predicts neither"),
        ("ridge", {}, "must be a mercer machine"),
        (KernelRidge(), {"metric": "ful"}, "did you mean 'full'"),
        (KernelRidge(), {"metric": ("full", "full")}, "each of the 1 terms"),
        (KernelRidge(), {"rounds": -1}, "rounds must be a whole number from 0 on"),
        (KernelRidge(), {"folds": 1}, "folds must be"),
        (KernelRidge(), {"sample": True}, "sample must be"),
    ],
)
def test_what_cannot_work_is_refused_by_name(machine, options, words):
    X, y = waves(20)
    with pytest.raises(ValidityError, match=words):
        LearnedMetric(machine, **options).fit(X, y)


def test_one_column_constant_columns_and_targets_without_a_slope():
    X, y = waves(60)
    one = LearnedMetric(KernelRidge(Gaussian()), 2).fit(X[:, [1]], y)
    assert one.metric_ is None and "one column" in one.reason_
    X[:, 0] = 3.0
    flat = LearnedMetric(KernelRidge(SUM, intercept=True), 2).fit(X, y)
    assert flat.attention_["x0"] == 0.0 or flat.metric_ is None
    same = LearnedMetric(KernelRidge(SUM, intercept=True), 2).fit(X, np.full(60, 4.0))
    assert np.allclose(same.predict(X), 4.0)


def test_few_rows_of_many_columns_get_weights_at_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 400))
    learned = LearnedMetric(KernelRidge(Exponential(), intercept=True), 2)
    learned.fit(X, X[:, 0] + 0.1 * rng.normal(size=80))
    assert learned.kind_ in ("none", "diagonal")
    assert "80 items are too few for a matrix of 400²" in learned.reason_


def test_duplicates_with_contradicting_targets_are_learned_as_their_mean():
    X, y = waves(40)
    both = np.vstack([X, X])
    learned = LearnedMetric(KernelRidge(SUM, intercept=True), 1)
    learned.fit(both, np.concatenate([y + 1, y - 1]))
    assert np.isfinite(learned.predict(X)).all()
    assert abs(np.mean(learned.predict(X) - y)) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("machine", [KernelRidge(Exponential()), KernelRidgeClassifier(SUM)])
def test_scikit_learns_checks_pass(machine):
    learned = LearnedMetric(machine, rounds=1)
    # A weight of two is a repetition for the regression, but not for the folds that choose.
    checks = ("dense_data", "sparse_data")
    why = "folds are dealt to items, not to weights"
    unequal = {f"check_sample_weight_equivalence_on_{check}": why for check in checks}
    check_estimator(learned, on_skip=None, expected_failed_checks=unequal)
