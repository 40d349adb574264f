"""The linear programming machine: sparse, certified, and content with any similarity."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from mercer.errors import ConvergenceWarning, DomainError, PlanError, SolveError, ValidityError
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Polynomial,
    Sigmoid,
    from_function,
    precomputed,
)
from mercer.machines.lp import LPSVC
from mercer.rkhs import Function
from mercer.solvers.linear_program import LinearSolution, separate


def data(n=60, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, 2)) + 2.5 * rng.normal(size=(classes, 2))[codes]
    return X, np.array(["ant", "bee", "cat", "dog"])[codes]


def signs(y, positive):
    return np.where(y == positive, 1.0, -1.0)


def test_two_classes_are_one_linear_program():
    X, y = data()
    machine = LPSVC(Gaussian(1.0), 2.0).fit(X, y)
    program = separate(Gaussian(1.0)(X), signs(y, "bee"), 2.0)
    assert isinstance(machine.solution_, LinearSolution)
    assert machine.solution_.objective == program.objective
    np.testing.assert_array_equal(machine.support_, np.flatnonzero(program.coefficients))
    scores = Gaussian(1.0)(X) @ program.coefficients + program.intercept
    np.testing.assert_allclose(machine.decision_function(X), scores, atol=1e-12)
    np.testing.assert_array_equal(machine.predict(X), np.where(scores > 0, "bee", "ant"))
    assert isinstance(machine.intercept_, float) and machine.coef_ is None


def test_what_was_learned_is_a_function_on_few_items():
    X = np.random.default_rng(0).normal(size=(150, 2))
    y = np.where(
        X[:, 0] * X[:, 1] + np.random.default_rng(1).normal(0, 0.3, 150) > 0, "bee", "ant"
    )
    machine = LPSVC(Gaussian(1.5)).fit(X, y)
    assert isinstance(machine.function_, Function)
    assert len(machine.function_) == len(machine.support_) < 15
    np.testing.assert_array_equal(machine.function_.points.array, X[machine.support_])
    np.testing.assert_array_equal(machine.function_.coefficients, machine.dual_coef_)
    assert (machine.dual_coef_ * signs(y[machine.support_], "bee") > 0).all()
    dense = SVC(gamma=1 / (2 * 1.5**2)).fit(X, y)
    assert len(machine.support_) < len(dense.support_) / 4
    assert abs(machine.score(X, y) - dense.score(X, y)) < 0.05


def test_the_lectures_program_as_on_paper():
    X, y = [[-2.0], [-1.0], [1.0], [3.0]], ["no", "no", "yes", "yes"]
    machine = LPSVC("linear", np.inf).fit(X, y)
    assert machine.support_.tolist() == [3]
    assert machine.dual_coef_ == pytest.approx([1 / 3])
    np.testing.assert_allclose(machine.decision_function(X), [-2, -1, 1, 3], atol=1e-14)


def test_without_slack_every_item_is_beyond_the_margin():
    X, y = data()
    machine = LPSVC(Gaussian(0.5), np.inf).fit(X, y)
    assert (signs(y, "bee") * machine.decision_function(X)).min() > 1 - 1e-9
    assert machine.solution_.violation < 1e-9


def test_without_slack_classes_must_be_separable():
    X, y = data()
    y = y.copy()
    y[0] = "bee"
    machine = LPSVC("linear", np.inf)
    with pytest.raises(SolveError, match=r"'ant' and 'bee': the classes are not separable"):
        machine.fit(X[:, :1], y)
    assert not [name for name in vars(machine) if name.endswith("_")]
    with pytest.raises(SolveError, match=r"'ant' and the rest: .* finite C"):
        LPSVC("linear", np.inf, multiclass="ovr").fit([[0.0], [0.0], [1.0]], ["ant", "bee", "cat"])


@pytest.mark.parametrize("kernel", [Sigmoid(1.0, -1.0), Polynomial(2, -1.0), -0.5], ids=repr)
def test_a_kernel_need_not_be_valid(kernel):
    X, y = data()
    if kernel == -0.5:  # a similarity that falls below zero with the distance
        machine = LPSVC(from_function(lambda x, z: -float(np.abs(x - z).sum())))
    else:
        assert kernel.proof().verdict == "refuted"
        machine = LPSVC(kernel)
    machine.fit(X, y)
    assert np.linalg.eigvalsh(machine.kernel_(X))[0] < -0.1
    assert machine.solution_.certificate < 1e-9
    assert machine.score(X, y) > 0.8


def test_each_pair_of_classes_votes():
    X, y = data(80, classes=4)
    machine = LPSVC(Gaussian(1.0)).fit(X, y)
    scores = machine.function_(X) + machine.intercept_
    assert scores.shape == (80, 6) and len(machine.solution_) == 6
    votes = np.zeros((80, 4))
    for column, (i, j) in enumerate(itertools.combinations(range(4), 2)):
        names = machine.classes_[[i, j]]
        rows = np.isin(y, names)
        pair = LPSVC(Gaussian(1.0)).fit(X[rows], y[rows])
        np.testing.assert_allclose(scores[:, column], -pair.decision_function(X), atol=1e-9)
        votes[np.arange(80), np.where(pair.predict(X) == names[0], i, j)] += 1
    np.testing.assert_array_equal(machine.decision_function(X), votes)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[votes.argmax(axis=1)])
    assert machine.score(X, y) > 0.8


def test_among_equal_votes_the_first_class_wins():
    # a beats b, c beats a, b beats c.
    machine = LPSVC("linear").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    machine.function_ = Function(Linear(), [[1.0]], [[1.0, -1.0, 1.0]])
    machine.intercept_ = np.zeros(3)
    assert machine.decision_function([[1.0]]).tolist() == [[1.0, 1.0, 1.0]]
    assert machine.predict([[1.0]]).tolist() == ["a"]


def test_each_class_is_separated_from_the_rest():
    X, y = data(80, classes=4)
    machine = LPSVC(Gaussian(1.0), multiclass="ovr").fit(X, y)
    scores = machine.decision_function(X)
    assert scores.shape == (80, 4)
    for column, name in enumerate(machine.classes_):
        alone = LPSVC(Gaussian(1.0)).fit(X, y == name)
        np.testing.assert_allclose(scores[:, column], alone.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[scores.argmax(axis=1)])
    assert machine.score(X, y) > 0.8


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_is_as_many_copies_and_zero_is_none(classes, scheme):
    X, y = data(48, classes)
    times = np.arange(48) // classes % 4
    rows = np.repeat(np.arange(48), times)
    machine = LPSVC(Gaussian(1.0), 0.7, multiclass=scheme)
    weighted = clone(machine).fit(X, y, sample_weight=times)
    copies = clone(machine).fit(X[rows], y[rows])
    pairs = [m.function_(X) + m.intercept_ for m in (weighted, copies)]
    np.testing.assert_allclose(*pairs, atol=1e-9)
    assert (times[weighted.support_] > 0).all()
    np.testing.assert_array_equal(weighted.predict(X), copies.predict(X))


def test_weights_do_not_matter_without_slack_unless_they_are_zero():
    X, y = data()
    w = np.linspace(0.5, 3.0, 60)
    one, other = (LPSVC(Gaussian(1.0), np.inf).fit(X, y, weights) for weights in (None, w))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-8)
    w[3] = 0.0
    assert 3 not in LPSVC(Gaussian(0.1), np.inf).fit(X, y, w).support_


def test_class_weights_multiply_sample_weights():
    X, y = data()
    share = {"ant": 0.5, "bee": 3.0}
    by_class = LPSVC(Gaussian(1.0), class_weight=share).fit(X, y)
    by_item = LPSVC(Gaussian(1.0)).fit(X, y, [share[label] for label in y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_item.decision_function(X))


def test_a_low_price_buys_no_coefficients():
    X, y = data(61)
    machine = LPSVC(Gaussian(1.0), 1e-4).fit(X, y)
    assert len(machine.support_) == len(machine.dual_coef_) == 0
    np.testing.assert_array_equal(machine.decision_function(X), -1.0)  # 31 ants, 30 bees
    assert (LPSVC(Gaussian(1.0), 1e-4).fit(X[:60], y[:60]).decision_function(X) == 0).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_precomputed_matrix_gives_the_same_answers(classes):
    X, y = data(classes=classes)
    k, w = Gaussian(1.0), np.arange(60) // classes % 3 + 0.0
    direct = LPSVC(k).fit(X, y, w)
    given = LPSVC(precomputed()).fit(k(X), y, w)
    np.testing.assert_array_equal(given.support_, direct.support_)
    new = X[:5] + 0.1
    pairs = given.function_(k(new, X)), direct.function_(new)
    np.testing.assert_allclose(*pairs, atol=1e-9)
    np.testing.assert_array_equal(given.predict(k(new, X)), direct.predict(new))


def test_tables_words_and_other_labels():
    X, y = data()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 0] > 0, "x", "z")})
    kernel = Gaussian(1.0).on("a", "b") + Categorical().on("c")
    machine = LPSVC(kernel).fit(frame, y)
    assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
    assert machine.score(frame, y) > 0.9
    words = ["cat", "hat", "bat", "dig", "big", "pig"]
    machine = LPSVC(from_function(lambda a, b: float(len(set(a) & set(b))))).fit(
        words, [7] * 3 + [5] * 3
    )
    assert machine.predict(["rat", "wig"]).tolist() == [7, 5]


def test_machines_come_back_from_pickles_and_grids():
    X, y = data(classes=3)
    machine = LPSVC(Gaussian(1.0)).fit(X, y)
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.decision_function(X), machine.decision_function(X))
    grid = {"C": [0.1, 10.0], "multiclass": ["ovo", "ovr"], "kernel": [Gaussian(1.0), "linear"]}
    assert GridSearchCV(LPSVC(), grid, cv=3).fit(X, y).best_score_ > 0.7


@pytest.mark.parametrize(
    "C", [-1.0, 0.0, float("nan"), -float("inf"), "large", "1.0", None, [1.0]]
)
def test_a_price_is_a_positive_number(C):
    X, y = data()
    with pytest.raises(ValidityError, match="C must be a positive number, or infinity"):
        LPSVC(C=C).fit(X, y)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"multiclass": "ovro"}, ValidityError, "multiclass cannot be 'ovro'; did you mean 'ovr'"),
        ({"tol": 0.0}, ValidityError, "tol"),
        ({"class_weight": {"cow": 1.0}}, DomainError, "cow"),
        ({"class_weight": {"ant": 0.0}}, DomainError, "'ant' have weight zero"),
        ({"kernel": "gausian"}, ValidityError, "gaussian"),
    ],
)
def test_bad_parameters_are_refused(changes, error, message):
    X, y = data()
    with pytest.raises(error, match=message):
        LPSVC().set_params(**changes).fit(X, y)


def test_a_fit_that_would_not_fit_is_refused_with_its_bytes(monkeypatch, free_memory):
    X, y = data()
    machine = LPSVC().fit(X, y)
    before = machine.decision_function(X)
    free_memory(1000)
    with pytest.raises(PlanError, match=r"60 of 60 items needs 496.8 kB, but 1.0 kB"):
        machine.fit(X + 1, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(machine.decision_function(X), before)


def test_an_answer_that_is_not_accurate_is_a_warning_with_the_classes():
    X, y = data(200)
    with pytest.warns(ConvergenceWarning, match=r"'ant' and 'bee': .* relative gap") as caught:
        machine = LPSVC(Gaussian(50.0), 1e5, tol=1e-18).fit(X, y)
    assert caught[0].filename == __file__
    assert machine.solution_.status == "stalled"
