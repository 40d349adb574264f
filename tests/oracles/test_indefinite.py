"""Kernels that are not valid: the three repairs of Chen et al. (JMLR 2009) as NumPy formulas.

With K = VΛVᵀ, clip uses max(Λ, 0), flip |Λ|, shift Λ − min Λ. Clip and flip are K̃ = KT with
T = V·sign·Vᵀ, and T is applied to the similarities of new items too. Shift changes only an item's
similarity to itself, which new items do not have; they are projected as by clip.
"""

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier, Plan
from mercer.errors import MercerError, ValidityError
from mercer.kernels import Gaussian, Sigmoid, assume_psd, from_function

POLICIES = ["clip", "flip", "shift"]
KERNEL = Sigmoid(0.5, -0.3)


def items(n=18, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def repaired(K, policy):
    """Return K̃, and T which maps the similarities of new items."""
    values, V = np.linalg.eigh(K)
    if policy == "clip":
        return (V * np.maximum(values, 0)) @ V.T, (V * (values > 0)) @ V.T
    if policy == "flip":
        return (V * np.abs(values)) @ V.T, (V * np.sign(values)) @ V.T
    return K - values[0] * np.eye(len(K)), (V * (values > 0)) @ V.T


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("penalty", [0.01, 1.0])
def test_predictions_are_those_of_the_formula(policy, penalty):
    X, new = items(), items(9, seed=1)
    y = X[:, 0]
    K = KERNEL(X)
    assert np.linalg.eigvalsh(K)[0] < -0.05  # otherwise nothing is shown
    repair, T = repaired(K, policy)
    a = np.linalg.solve(repair + penalty * np.eye(18), y)
    machine = KernelRidge(KERNEL, penalty, indefinite=policy).fit(X, y)
    np.testing.assert_allclose(machine.predict(new), KERNEL(new, X) @ T @ a, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("policy", ["clip", "flip"])
def test_a_training_item_is_treated_like_a_new_one(policy):
    """The repaired similarities of the training items are the rows of K̃."""
    X = items()
    y, K = X[:, 0], KERNEL(X)
    repair, _ = repaired(K, policy)
    fitted = repair @ np.linalg.solve(repair + 0.1 * np.eye(18), y)
    machine = KernelRidge(KERNEL, 0.1, indefinite=policy).fit(X, y)
    np.testing.assert_allclose(machine.predict(X), fitted, rtol=1e-8, atol=1e-10)
    one_by_one = np.concatenate([machine.predict(X[i : i + 1]) for i in range(18)])
    np.testing.assert_allclose(one_by_one, fitted, rtol=1e-8, atol=1e-10)


@pytest.mark.filterwarnings("ignore::mercer.errors.ConvergenceWarning")
@pytest.mark.parametrize("policy", ["clip", "flip"])
def test_an_answer_of_little_accuracy_is_still_that_of_the_repaired_kernel(policy):
    """With a tiny penalty all training items are fitted, whatever the residual's last digits."""
    X = items(60)
    y = X[:, 0]
    repair, _ = repaired(KERNEL(X), policy)
    values, V = np.linalg.eigh(repair)
    values = np.maximum(values, 0.0)
    for penalty in (1e-6, 1e-9, 1e-11):
        machine = KernelRidge(KERNEL, penalty, indefinite=policy).fit(X, y)
        smoothed = V @ (values / (values + penalty) * (V.T @ y))
        allowed = 1e-8 + 20 * np.finfo(float).eps * values[-1] / penalty
        np.testing.assert_allclose(machine.predict(X), smoothed, atol=allowed)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_precomputed_matrix_is_repaired_in_the_same_way(policy):
    X, new = items(), items(9, seed=1)
    direct = KernelRidge(KERNEL, 0.1, indefinite=policy).fit(X, X[:, 0])
    given = KernelRidge("precomputed", 0.1, indefinite=policy).fit(KERNEL(X), X[:, 0])
    np.testing.assert_allclose(
        given.predict(KERNEL(new, X)), direct.predict(new), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_with_an_intercept(policy):
    X, new = items(), items(9, seed=1)
    y = X[:, 0] + 4.0
    repair, T = repaired(KERNEL(X), policy)
    ones = np.ones((18, 1))
    M = np.block([[repair + 0.1 * np.eye(18), ones], [ones.T, np.zeros((1, 1))]])
    *a, b = np.linalg.solve(M, np.append(y, 0.0))
    machine = KernelRidge(KERNEL, 0.1, intercept=True, indefinite=policy).fit(X, y)
    np.testing.assert_allclose(machine.predict(new), KERNEL(new, X) @ T @ a + b, rtol=1e-8)
    assert machine.intercept_ == pytest.approx(b, rel=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_weight_counts_like_repetitions(policy):
    X, new = items(10), items(6, seed=1)
    counts = np.array([1, 2, 1, 3, 1, 1, 2, 1, 1, 4])
    machine = KernelRidge(KERNEL, 0.1, indefinite=policy)
    weighted = machine.fit(X, X[:, 0], sample_weight=counts).predict(new)
    many = np.repeat(X, counts, axis=0)
    repeated = machine.fit(many, many[:, 0]).predict(new)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_several_targets_are_those_one_by_one(policy):
    X, new = items(), items(9, seed=1)
    machine = KernelRidge(KERNEL, 0.1, indefinite=policy)
    together = machine.fit(X, X).predict(new)
    apart = [machine.fit(X, X[:, j]).predict(new) for j in range(3)]
    np.testing.assert_allclose(together, np.column_stack(apart), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_kernel_of_unknown_validity_that_is_valid_is_left_as_it_is(policy):
    X, new = items(), items(9, seed=1)
    k = Gaussian(1.0)
    unknown = from_function(lambda x, z: k.pair(x, z))
    assert unknown.proof().verdict == "unknown"
    plain = KernelRidge(k, 0.1).fit(X, X[:, 0]).predict(new)
    repaired = KernelRidge(unknown, 0.1, indefinite=policy).fit(X, X[:, 0])
    np.testing.assert_allclose(repaired.predict(new), plain, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_proved_kernel_is_not_repaired(policy):
    machine = KernelRidge(Gaussian(1.0), indefinite=policy).fit(items(), items()[:, 0])
    assert machine.plan_.solver == "cholesky"


@pytest.mark.parametrize("policy", POLICIES)
def test_the_plan_says_that_the_spectrum_is_repaired(policy):
    machine = KernelRidge(KERNEL, indefinite=policy)
    assert machine.plan(items()).solver == "eigen"
    assert "repaired" in machine.plan(items()).explain()


def test_a_classifier_with_a_sigmoid_kernel():
    X = items(40)
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    for policy in POLICIES:
        machine = KernelRidgeClassifier(KERNEL, 0.1, indefinite=policy).fit(X, y)
        assert machine.score(X, y) > 0.9


# ---- "error" ------------------------------------------------------------------------------------


def test_a_refuted_kernel_is_refused_before_any_work():
    for machine in (KernelRidge(KERNEL), KernelRidgeClassifier(KERNEL)):
        with pytest.raises(ValidityError, match=r"needs a positive semi-definite kernel"):
            machine.fit(items(), np.arange(18) % 2)
        assert not [name for name in vars(machine) if name.endswith("_")]


def test_a_word_of_the_user_does_not_outweigh_a_witness():
    with pytest.raises(ValidityError, match=r"needs a positive semi-definite kernel"):
        KernelRidge(assume_psd(KERNEL)).fit(items(), items()[:, 0])


@pytest.mark.parametrize("solver", ["cholesky", "eigen"])
def test_a_matrix_that_turns_out_to_be_indefinite_is_refused(solver):
    """Its "solution" with a small penalty is a saddle point, not a minimum."""
    K = np.diag([2.0, 1.0, 1.0, -1.0])
    machine = KernelRidge("precomputed", 0.1, follow=Plan(solver=solver))
    with pytest.raises(MercerError):
        machine.fit(K, [1.0, 2.0, 3.0, 4.0])
    assert not [name for name in vars(machine) if name.endswith("_")]


def test_an_unknown_policy_is_refused_with_the_close_match():
    with pytest.raises(ValidityError, match=r"indefinite cannot be 'clipp'; did you mean 'clip'"):
        KernelRidge(KERNEL, indefinite="clipp").fit(items(), items()[:, 0])
