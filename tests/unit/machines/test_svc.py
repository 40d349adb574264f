"""Support vector classification: hard margins, plans, certificates, and what users bring."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import SVC, NuSVC, Plan
from mercer.errors import (
    ConvergenceWarning,
    DomainError,
    PlanError,
    SolveError,
    ValidityError,
)
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid, assume_psd, from_function
from mercer.machines.multiclass import votes

TIGHT = 1e-9


@pytest.fixture(autouse=True)
def two_cores(use_cores):
    use_cores(2)


def separable(n=30, d=2, seed=0, gap=0.3):
    rng = np.random.default_rng(seed)
    a, X = rng.normal(size=d), rng.normal(size=(6 * n, d))
    scores = X @ a / np.linalg.norm(a) + 0.2
    far = np.abs(scores) > gap
    return X[far][:n], (scores[far][:n] > 0).astype(int)


def overlapping(n=80, d=3, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + 1.5 * np.eye(max(d, classes))[y][:, :d], y


def coefficients(machine, n):
    """Return zα of all items."""
    beta = np.zeros(n)
    beta[machine.support_] = machine.dual_coef_[0]
    return beta


# ---- the lecture's hard margin -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial(2, 1.0)], ids=repr)
def test_the_hard_margin_keeps_the_lectures_formulas(kernel):
    X, y = separable()
    z = 2 * y - 1
    machine = SVC(kernel, np.inf).fit(X, y)
    beta, K = coefficients(machine, len(y)), kernel(X)
    values = K @ beta
    square = beta @ K @ beta
    assert square == pytest.approx(np.abs(beta).sum(), rel=1e-6)
    assert machine.squared_norm_ == pytest.approx(square, rel=1e-9)
    assert machine.margin_ == pytest.approx(1 / np.sqrt(square), rel=1e-9)
    w0 = -(values[z > 0].min() + values[z < 0].max()) / 2
    assert machine.intercept_[0] == pytest.approx(w0, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(machine.decision_function(X), values + w0, atol=1e-9)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Polynomial(2, 1.0)], ids=repr)
def test_an_item_has_a_coefficient_or_a_distance_from_the_hard_margin_but_not_both(kernel):
    X, y = separable()
    z = 2 * y - 1
    machine = SVC(kernel, np.inf).fit(X, y)
    a, beyond = np.abs(coefficients(machine, len(y))), z * machine.decision_function(X) - 1
    assert (beyond >= -1e-6).all()
    np.testing.assert_allclose(a * beyond, 0.0, atol=1e-6 * max(1.0, a.max()))
    assert machine.dual_coef_.sum() == pytest.approx(0.0, abs=1e-9)


def test_the_margin_is_the_distance_of_the_nearest_items_from_the_hyperplane():
    X, y = separable()
    machine = SVC("linear", np.inf).fit(X, y)
    w = machine.dual_coef_[0] @ machine.support_vectors_
    distances = np.abs(X @ w + machine.intercept_) / np.linalg.norm(w)
    assert machine.margin_ == pytest.approx(distances.min(), rel=1e-6)
    assert np.sum(distances < distances.min() * (1 + 1e-5)) == len(machine.support_)


def test_exclusive_or_in_the_space_of_products():
    """With (1 + xᵀz)² and corners ±1 all four αs are 1/8, and the margin is √2 (Haykin, 6.6)."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    machine = SVC(Polynomial(2, 1.0), np.inf).fit(X, [-1, 1, 1, -1])
    np.testing.assert_allclose(coefficients(machine, 4), [-1 / 8, 1 / 8, 1 / 8, -1 / 8], rtol=1e-6)
    assert machine.margin_ == pytest.approx(np.sqrt(2), rel=1e-6)
    np.testing.assert_allclose(machine.decision_function(X), -X[:, 0] * X[:, 1], atol=1e-6)


def test_a_large_enough_price_of_slack_gives_the_hard_margin():
    X, y = separable()
    hard = SVC("linear", np.inf).fit(X, y)
    soft = SVC("linear", 2 * np.abs(hard.dual_coef_).max(), tol=TIGHT).fit(X, y)
    np.testing.assert_array_equal(hard.support_, soft.support_)
    np.testing.assert_allclose(hard.dual_coef_, soft.dual_coef_, rtol=1e-4)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_every_pair_of_classes_has_its_hard_margin(multiclass):
    X, y = overlapping(60, classes=3)
    machine = SVC(Gaussian(0.5), np.inf, multiclass=multiclass).fit(X, y)
    totals = [np.abs(optimum.coefficients).sum() for optimum in machine.solution_]
    np.testing.assert_allclose(machine.squared_norm_, totals, rtol=1e-6)
    np.testing.assert_allclose(machine.margin_, 1 / np.sqrt(totals), rtol=1e-6)
    assert machine.score(X, y) == 1.0


def opposite_twins():
    X, y = separable()
    return np.vstack([X, X[:1]]), np.append(y, 1 - y[0])


INSEPARABLE = {
    "between": (Linear(), np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])),
    "twins": (Gaussian(0.3), *opposite_twins()),
    "overlap": (Linear(), *overlapping(200)),
    "small overlap": (Linear(), np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2),
    "polynomial": (Polynomial(2, 1.0), *overlapping(100)),
    "many dimensions": (Linear(), np.random.default_rng(0).normal(size=(300, 50)),
                        np.arange(300) % 2),
    "twins in many dimensions": (Linear(), np.eye(60)[np.r_[0:60, 0]],
                                 np.r_[np.arange(60) % 2, 1]),
    "nothing": (Linear(), np.zeros((2, 1)), np.array([0, 1])),
}  # fmt: skip


@pytest.mark.parametrize("name", INSEPARABLE)
def test_classes_that_overlap_have_no_hard_margin_and_are_told_so(name):
    kernel, X, y = INSEPARABLE[name]
    machine = SVC(kernel, np.inf, max_iter=1_000_000)
    with pytest.raises(SolveError, match=r"not separable.*finite C.*richer kernel"):
        machine.fit(X, y)
    assert not hasattr(machine, "support_")


def test_it_is_said_which_classes_are_not_separable():
    X = [[0.0], [1.0], [0.0], [2.0], [3.0]]
    with pytest.raises(SolveError, match=r"'ant' and 'bee': the classes are not separable"):
        SVC("linear", np.inf).fit(X, ["ant", "ant", "bee", "cat", "cat"])
    with pytest.raises(SolveError, match=r"'ant' and the rest: the classes are not separable"):
        SVC("linear", np.inf, multiclass="ovr").fit(X, ["ant", "ant", "bee", "cat", "cat"])


def test_many_items_have_a_hard_margin_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6800, 2))
    X = X[np.abs(X[:, 0]) > 0.1]
    y = (X[:, 0] > 0).astype(int)
    assert len(X) > 6000
    machine = SVC("linear", np.inf, follow=Plan(route="dual")).fit(X, y)
    assert machine.score(X, y) == 1.0
    assert machine.squared_norm_ == pytest.approx(np.abs(machine.dual_coef_).sum(), rel=1e-6)


# ---- kernels that are not valid ----------------------------------------------------------------


def lookup(table):
    return from_function(lambda a, b: table[a, b])


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 1], list("ccaabb")])
def test_two_items_at_a_negative_squared_distance_are_named(labels):
    table = np.eye(6)
    table[1, 4] = table[4, 1] = 5.0
    with pytest.raises(ValidityError, match=r"items (1 and 4|4 and 1) .*negative.*indefinite="):
        SVC(lookup(table), 10.0).fit(list(range(6)), labels)
    with pytest.raises(ValidityError, match=r"items (1 and 4|4 and 1) .*negative.*indefinite="):
        SVC("precomputed", 10.0).fit(table, labels)


def test_a_negative_kernel_is_refused_as_invalid_and_not_for_lack_of_items():
    items = [np.array([1.0, i]) for i in range(6)]
    kernel = from_function(lambda a, b: -float(a @ b))
    with pytest.raises(ValidityError, match="not positive semi-definite on these items"):
        SVC(kernel).fit(items, [0, 1, 0, 1, 0, 1])


def test_a_refuted_kernel_is_refused_with_its_witness():
    with pytest.raises(ValidityError, match=r"SVC needs .*\n(.*\n)*.*witness.*\n.*indefinite="):
        SVC(Sigmoid(1.0, -1.0)).fit(*overlapping())


REPAIRS = {
    "clip": lambda values: np.maximum(values, 0.0),
    "flip": np.abs,
    "shift": lambda values: values - values.min(),
}


@pytest.mark.parametrize("policy", REPAIRS)
def test_a_repaired_spectrum_is_learned_from_as_if_it_had_been_given(policy):
    X, y = overlapping()
    kernel = Sigmoid(0.5, -1.0)
    values, V = np.linalg.eigh(kernel(X))
    repaired = (V * REPAIRS[policy](values)) @ V.T
    machine = SVC(kernel, 2.0, indefinite=policy, tol=TIGHT).fit(X, y)
    direct = SVC("precomputed", 2.0, tol=TIGHT).fit((repaired + repaired.T) / 2, y)
    np.testing.assert_array_equal(machine.support_, direct.support_)
    np.testing.assert_allclose(machine.dual_coef_, direct.dual_coef_, atol=1e-6)
    assert machine.solution_.objective == pytest.approx(direct.solution_.objective, rel=1e-8)
    if policy != "shift":  # which changes the training items, not the similarity of others
        expected = direct.decision_function(repaired)
        np.testing.assert_allclose(machine.decision_function(X), expected, atol=1e-6)


# ---- what users bring --------------------------------------------------------------------------


def test_strings_with_a_function_of_two_of_them():
    kernel = assume_psd(from_function(lambda a, b: float(len(set(a) & set(b)))))
    words = ["tea", "eat", "ate", "dog", "god", "fog"]
    machine = SVC(kernel, 10.0).fit(words, ["drink"] * 3 + ["animal"] * 3)
    assert machine.predict(["tee", "dig"]).tolist() == ["drink", "animal"]
    assert set(machine.support_vectors_) <= set(words)


def test_a_data_frame_is_its_numbers_with_names():
    X, y = overlapping()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    machine = SVC(Gaussian(1.0)).fit(frame, pd.Series(y))
    same = SVC(Gaussian(1.0)).fit(X, y)
    np.testing.assert_array_equal(machine.decision_function(frame), same.decision_function(X))
    assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(DomainError, match="feature names"):
        machine.predict(frame[["b", "a", "c"]])


@pytest.mark.parametrize("classes", [2, 3])
def test_precomputed_similarities_to_the_support_vectors_are_enough(classes):
    X, y = overlapping(classes=classes)
    new = overlapping(20, seed=1)[0]
    k = Gaussian(1.0)
    machine = SVC("precomputed", 3.0).fit(k(X), y)
    expected = SVC(k, 3.0).fit(X, y).decision_function(new)
    assert 0 < len(machine.support_) < len(X)
    everything = k(new, X)
    np.testing.assert_allclose(machine.decision_function(everything), expected, atol=1e-10)
    some = everything[:, machine.support_]
    np.testing.assert_allclose(machine.decision_function(some), expected, atol=1e-10)
    holes = np.full_like(everything, np.nan)
    holes[:, machine.support_] = some
    np.testing.assert_allclose(machine.decision_function(holes), expected, atol=1e-10)
    with pytest.raises(DomainError, match=r"has 7 features.*similarities to all training items"):
        machine.predict(everything[:, :7])
    some[3, 2] = np.nan
    with pytest.raises(DomainError, match="NaN"):
        machine.predict(some)


def test_balanced_classes_have_the_same_total_weight():
    X, y = overlapping()
    y = (np.arange(80) % 4 == 0).astype(int)
    w = np.linspace(0.5, 2.0, 80)
    machine = SVC(Gaussian(1.0), class_weight="balanced", tol=TIGHT).fit(X, y, sample_weight=w)
    by_hand = w * np.where(y == 1, 1 / w[y == 1].sum(), 1 / w[y == 0].sum()) * w.sum() / 2
    same = SVC(Gaussian(1.0), tol=TIGHT).fit(X, y, sample_weight=by_hand)
    np.testing.assert_allclose(machine.dual_coef_, same.dual_coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": 0.0}, "C must be a positive number"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"C": np.nan}, "C must be a positive number"),
        ({"C": "1"}, "C must be a positive number"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter must be a positive whole number"),
        ({"max_iter": 2.5}, "max_iter must be a positive whole number"),
        ({"multiclass": "ovx"}, "multiclass cannot be 'ovx'.*did you mean"),
        ({"decision_function_shape": "square"}, "decision_function_shape cannot be 'square'"),
        ({"probability": "platt"}, "probability cannot be 'platt'"),
        ({"break_ties": True, "decision_function_shape": "ovo"}, "break_ties must be False"),
        ({"indefinite": "cut"}, "indefinite cannot be 'cut'"),
        ({"follow": "dual"}, "follow must be a Plan"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValidityError, match=message):
        SVC().set_params(**changes).fit(*overlapping(20))


def test_a_failed_fit_leaves_the_machine_as_it_was():
    X, y = overlapping()
    machine = SVC(Gaussian(1.0)).fit(X, y)
    before = machine.decision_function(X)
    with pytest.raises(SolveError):
        machine.set_params(kernel="linear", C=np.inf).fit([[0.0], [1.0], [0.0]], [0, 0, 1])
    np.testing.assert_array_equal(machine.decision_function(X), before)


# ---- certificates ------------------------------------------------------------------------------


def test_the_history_goes_from_the_first_violation_to_the_last():
    machine = SVC(Gaussian(1.0), 10.0, tol=1e-6).fit(*overlapping())
    found = machine.solution_
    assert found.status == "solved" and found.message == ""
    assert found.history[0] == 2.0
    assert found.history[-1] == found.violation <= 1e-6
    assert found.steps == machine.n_iter_[0] > 0


def test_too_few_steps_are_a_warning_with_the_gap_and_what_to_do():
    X, y = overlapping()
    machine = SVC(Gaussian(1.0), 10.0, max_iter=5)
    with pytest.warns(
        ConvergenceWarning, match=r"after 5 steps.*duality gap of .*max_iter"
    ) as all_:
        machine.fit(X, y)
    found = machine.solution_
    assert found.status == "stalled" and found.steps == 5
    assert f"{found.gap:.3g}" in str(all_[0].message)
    assert machine.predict(X).shape == (80,)


def test_the_warning_says_which_classes_it_is_about():
    X, y = overlapping(classes=3)
    with pytest.warns(ConvergenceWarning) as found:
        SVC(Gaussian(1.0), 10.0, max_iter=5).fit(X, np.array(["ant", "bee", "cat"])[y])
    starts = [str(warning.message).split(":")[0] for warning in found]
    assert starts == ["'ant' and 'bee'", "'ant' and 'cat'", "'bee' and 'cat'"]


def test_a_hard_margin_has_a_finite_gap():
    machine = SVC("linear", np.inf).fit(*separable())
    assert machine.solution_.gap <= 1e-3 * machine.solution_.objective


# ---- warm start --------------------------------------------------------------------------------


def test_starting_from_the_last_solution_saves_steps_along_ascending_prices():
    X, y = overlapping(200)
    machine = SVC(Gaussian(1.0), warm_start=True, tol=1e-6)
    warm = cold = 0
    for C in 10 ** np.linspace(-1, 2, 13):
        machine.set_params(C=C).fit(X, y)
        alone = SVC(Gaussian(1.0), C, tol=1e-6).fit(X, y)
        difference = machine.solution_.objective - alone.solution_.objective
        assert abs(difference) <= machine.solution_.gap + alone.solution_.gap
        np.testing.assert_allclose(
            machine.decision_function(X), alone.decision_function(X), atol=2e-5
        )
        warm, cold = warm + machine.n_iter_[0], cold + alone.n_iter_[0]
    assert warm < cold


@pytest.mark.parametrize("classes", [2, 3])
def test_a_warm_start_along_descending_prices_or_with_other_data_is_right(classes):
    X, y = overlapping(classes=classes)
    machine = SVC(Gaussian(1.0), warm_start=True, tol=TIGHT)
    for C, rows, labels in (
        (100.0, slice(None), y), (1.0, slice(None), y), (0.01, slice(None), y),
        (1.0, slice(50), y), (1.0, slice(50), (y + 1) % classes),
    ):  # fmt: skip
        machine.set_params(C=C).fit(X[rows], labels[rows])
        alone = SVC(Gaussian(1.0), C, tol=TIGHT).fit(X[rows], labels[rows])
        np.testing.assert_allclose(
            machine.decision_function(X), alone.decision_function(X), atol=1e-6
        )


# ---- plans -------------------------------------------------------------------------------------


def test_the_plan_is_the_one_that_a_fit_follows():
    X, y = overlapping(300)
    machine = SVC(Gaussian(1.0), follow=Plan(memory=10**9))
    assert machine.plan(X) == machine.fit(X, y).plan_
    assert machine.plan_.stored and machine.plan_.precision == "double"
    assert "the whole Gram matrix" in machine.plan_.explain()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_too_little_memory_for_the_matrix_means_working_sets_and_the_same_answer(
    multiclass, classes
):
    X, y = overlapping(1400, classes=classes)
    machine = SVC(Gaussian(1.0), 5.0, multiclass=multiclass, tol=1e-6)
    stored = clone(machine).fit(X, y)
    little = Plan(memory=machine.plan(X, classes).bytes - 1)
    sets = clone(machine).set_params(follow=little).fit(X, y)
    assert stored.plan_.stored and not sets.plan_.stored
    assert sets.plan_.bytes <= little.memory
    assert "it does not fit" in sets.plan_.explain()
    np.testing.assert_array_equal(stored.support_, sets.support_)
    np.testing.assert_allclose(
        stored.decision_function(X[:100]), sets.decision_function(X[:100]), atol=1e-5
    )


def test_too_little_memory_for_anything_is_an_error_before_work_starts():
    X, y = overlapping(300)
    machine = SVC(Gaussian(1.0), follow=Plan(memory=1000))
    for work in (lambda: machine.plan(X), lambda: machine.fit(X, y)):
        with pytest.raises(PlanError, match=r"300 items needs .*1.0 kB are available"):
            work()


def test_explicit_features_give_the_same_answer():
    X, y = overlapping(500)
    dual = SVC("linear", 0.5, tol=1e-8, follow=Plan(route="dual")).fit(X, y)
    primal = SVC("linear", 0.5, tol=1e-8, follow=Plan(route="primal")).fit(X, y)
    assert primal.plan_.route == "primal" and not primal.plan_.stored
    np.testing.assert_array_equal(dual.support_, primal.support_)
    np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), atol=1e-6)


# ---- single precision --------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_single_precision_agrees_with_double_within_the_tolerance(classes):
    X, y = overlapping(2200, classes=classes, d=5)
    single = SVC(Gaussian(2.0), 2.0).fit(X, y)
    double = SVC(Gaussian(2.0), 2.0, follow=Plan(precision="double")).fit(X, y)
    assert single.plan_.precision == "mixed" and double.plan_.precision == "double"
    pairs = zip(np.atleast_1d(single.solution_), np.atleast_1d(double.solution_), strict=True)
    for one, two in pairs:
        assert 0 < one.rounding < 1e-4
        assert two.rounding == 0
        assert one.objective == pytest.approx(two.objective, rel=1e-6)
    ours, exact = (m.set_params(decision_function_shape="ovo") for m in (single, double))
    np.testing.assert_allclose(ours.decision_function(X), exact.decision_function(X), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("C", "tol"), [(100.0, 1e-5), (1000.0, 1e-3)])
def test_where_rounding_of_single_precision_would_show_double_is_planned(C, tol):
    X, y = overlapping(2000, d=5)
    assert SVC(Gaussian(2.0), 1.0).plan(X).precision == "mixed"
    machine = SVC(Gaussian(2.0), C, tol=tol)
    assert machine.plan(X).precision == "double"
    machine.fit(X, y)
    found = machine.solution_
    assert machine.plan_.precision == "double" and found.rounding == 0
    assert found.status == "solved" and found.violation <= tol


# ---- refits and pickles ------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_refit_gives_the_same_numbers_to_the_last_digit(classes):
    X, y = overlapping(400, classes=classes)
    one, two = (SVC(Gaussian(1.0), 3.0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_a_pickle_holds_the_support_vectors_and_not_the_other_items():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 40))
    X[:, 0] += np.where(X[:, 0] > 0, 1.0, -1.0)
    y = (X[:, 0] > 0).astype(int)
    machine = SVC("linear", 10.0).fit(X, y)
    copy = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(copy.predict(X), machine.predict(X))
    assert len(machine.support_) < 300
    vectors = machine.support_vectors_.nbytes
    assert len(pickle.dumps(machine)) < 3 * vectors + 50 * len(y)


# ---- nu ----------------------------------------------------------------------------------------


def test_nu_and_its_price_of_slack_are_the_same_machine():
    X, y = overlapping()
    one = NuSVC(Gaussian(1.0), 0.4, tol=1e-10).fit(X, y)
    two = SVC(Gaussian(1.0), 1 / one.rho_, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-6)
    assert one.margin_ == pytest.approx(two.margin_, rel=1e-6)


def test_nu_above_what_the_smaller_class_allows_is_refused_with_the_largest_that_it_allows():
    X, _ = overlapping()
    y = (np.arange(80) < 20).astype(int)
    with pytest.raises(ValidityError, match=r"nu is infeasible.*below 0.5"):
        NuSVC(Gaussian(1.0), 0.6).fit(X, y)
    assert NuSVC(Gaussian(1.0), 0.5).fit(X, y).solution_.status == "solved"


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("nu", [0.05, 0.1, 0.15, 0.2])
def test_reduced_hulls_that_overlap_have_no_margin_and_need_a_larger_nu(nu, tol):
    X, y = overlapping(80, 2)
    y = y ^ (np.arange(80) % 7 == 0)
    with pytest.warns(ConvergenceWarning, match=r"no width.*larger nu"):
        machine = NuSVC(Polynomial(2, 1.0), nu, tol=tol).fit(X, y)
    assert machine.rho_ == machine.solution_.violation


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, np.nan, "half"])
def test_nu_is_a_share(nu):
    with pytest.raises(ValidityError, match="nu must"):
        NuSVC(nu=nu).fit(*overlapping(20))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_labels_from_single_precision_are_those_of_the_double_scores(classes, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 6)) + shift
    y = (np.argsort(np.argsort(X[:, 0] + 0.5 * rng.normal(size=2400))) * classes) // 2400
    machine = SVC(Gaussian(2.0), 5.0).fit(X, y)
    assert machine.plan_.precision == "mixed"
    new = rng.normal(size=(5000, 6)) + shift
    scores = machine.function_(new) + machine.intercept_
    if classes == 2:
        expected = machine.classes_[(scores > 0).astype(int)]
    else:
        expected = machine.classes_[votes(scores, classes).argmax(axis=1)]
    np.testing.assert_array_equal(machine.predict(new), expected)
