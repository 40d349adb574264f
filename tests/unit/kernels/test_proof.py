"""Proofs: three verdicts, witnesses that reproduce, derivations that print."""

from itertools import product

import numpy as np
import pytest

from mercer.kernels import (
    Categorical,
    Constant,
    Gaussian,
    Intersection,
    Linear,
    Polynomial,
    QuadraticForm,
    Shepard,
    Sigmoid,
    assume_psd,
    exp,
    from_function,
    gaussian_over,
    normalize,
    polynomial,
    precomputed,
    pullback,
    rescale,
)

BAD = Sigmoid(1.0, -1.0)


def reproduces(kernel):
    """Hold that a kernel is refuted by points that show it."""
    proof = kernel.proof()
    assert proof.verdict == "refuted"
    K = kernel(proof.witness.points)
    smallest = np.linalg.eigvalsh(K)[0]
    assert smallest < -1e-12 * np.abs(K).max()
    assert smallest == pytest.approx(proof.witness.eigenvalue, rel=1e-6)
    assert "not positive semi-definite" in str(proof).splitlines()[0]
    assert "witness: the Gram matrix of [[" in str(proof)
    return proof


@pytest.mark.parametrize(
    "kernel",
    [
        BAD,
        Polynomial(3, offset=-1.0),
        Polynomial(2, offset=1.0, scale=-1.0),
        Polynomial(3, scale=-1.0),
        Polynomial(1, offset=-2.0, scale=0.0),
        QuadraticForm([[0.0, 1.0], [1.0, 0.0]]),
        Shepard(order=1, exponent=2),
        Shepard(order=3, exponent=3),
        Shepard(order=2, exponent=2.5),
        2.0 * BAD,
        BAD + 0.01 * Linear(),
        BAD * Constant(2.0),
        BAD**3,
        assume_psd(BAD),
        BAD.on(0),
        Linear().on(0) + BAD.on(0),
    ],
    ids=repr,
)
def test_refutations_reproduce(kernel):
    reproduces(kernel)


@pytest.mark.parametrize("c", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("r", [0.5, 1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_shepard_is_proved_only_where_schoenberg_says_so(r, p, c):
    proof = Shepard(c, order=r, exponent=p).proof()
    if p <= r <= 2:
        assert proof.verdict == "proved"
        X = np.random.default_rng(0).normal(size=(60, 3)) * c ** (-1 / p)
        assert np.linalg.eigvalsh(Shepard(c, order=r, exponent=p)(X))[0] > -1e-12
    else:
        assert proof.verdict != "proved"
        if proof.verdict == "refuted":
            reproduces(Shepard(c, order=r, exponent=p))


def test_shepard_in_one_dimension_has_no_order():
    for r, p in product([0.5, 1.0, 3.0], [0.5, 1.0, 2.0]):
        assert Shepard(order=r, exponent=p, attention=(1.0,)).proof().verdict == "proved"
        assert Shepard(order=r, exponent=p, attention=(0.0, 2.0)).proof().verdict == "proved"
    reproduces(Shepard(order=1, exponent=2.5, attention=(1.0,)))


def test_shepard_in_the_plane_with_any_norm():
    assert Shepard(order=4, exponent=1, attention=(1.0, 2.0)).proof().verdict == "proved"
    assert Shepard(order=4, exponent=1).proof().verdict != "proved"


def test_a_user_may_vouch_but_not_against_a_witness():
    unknown = from_function(lambda a, b: 1.0)
    proof = assume_psd(unknown).proof()
    assert proof.verdict == "proved"
    assert "its user assumes so" in str(proof)
    assert "assume_psd(from_function(" in str(proof)
    assert proof.premises[0].verdict == "unknown"
    assert assume_psd(BAD).proof().verdict == "refuted"
    assert (assume_psd(unknown) + Linear()).proof().verdict == "proved"


@pytest.mark.parametrize(
    "kernel",
    [
        from_function(lambda a, b: 1.0),
        precomputed(),
        2.0 * from_function(lambda a, b: 1.0),
        exp(from_function(lambda a, b: 1.0)),
        Linear() * from_function(lambda a, b: 1.0),
    ],
    ids=repr,
)
def test_unknown_is_said(kernel):
    proof = kernel.proof()
    assert proof.verdict == "unknown"
    assert list(proof.witnesses()) == []
    assert "not known to be positive semi-definite because" in str(proof).splitlines()[0]


def test_a_rule_applied_to_a_refuted_part_decides_nothing_by_itself():
    """The square of −xᵀz is valid, so only a witness may refute a power of a refuted kernel."""
    assert (QuadraticForm([[-1.0]])).proof().verdict == "refuted"
    assert (QuadraticForm([[-1.0]]) ** 2).proof().verdict == "unknown"
    assert (0.0 * BAD).proof().verdict != "refuted"  # zero is valid


def test_a_kernel_on_other_things_is_not_refuted_by_points_it_cannot_take():
    """A witness against the inner kernel is a vector; φ and f may want words."""
    by_letter = pullback(BAD, lambda word: [float(ord(word[0]))])
    assert by_letter.proof().verdict == "unknown"
    weighted = rescale(BAD.on("height"), lambda row: row["height"])
    assert weighted.proof().verdict == "unknown"
    by_name = BAD.on("height") + Categorical().on("kind")
    assert by_name.proof().verdict == "unknown"
    amounts = Intersection() + Polynomial(3, scale=-1.0)  # refuted only by x and −x
    assert amounts.proof().verdict == "unknown"


def test_the_proof_of_every_part_is_in_the_tree():
    kernel = normalize(polynomial(Gaussian(1.0), [1.0, 2.0])) + gaussian_over(Linear(), 2.0)
    seen = []

    def walk(proof):
        seen.append(proof.kernel)
        for premise in proof.premises:
            walk(premise)

    walk(kernel.proof())
    assert seen == [
        kernel,
        kernel.left,
        kernel.left.kernel,
        Gaussian(1.0),
        kernel.right,
        Linear(),
    ]
    lines = str(kernel.proof()).splitlines()
    assert len(lines) == 6
    assert lines[1].startswith("├─ normalize(") and lines[2].startswith("│  └─ polynomial(")
    assert lines[4].startswith("└─ gaussian_over(") and lines[5].startswith("   └─ Linear()")


def test_a_proof_costs_no_data():
    """`proof` of a heuristic kernel works before it has seen any."""
    assert Gaussian("median").proof().verdict == "proved"
    assert (Gaussian("median") * Linear()).proof().verdict == "proved"
    assert (Gaussian("median") * BAD).proof().verdict == "unknown"
