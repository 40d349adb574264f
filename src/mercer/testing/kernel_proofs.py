"""Laws about validity: what a kernel claims of itself is what its matrices show."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import MercerError, ValidityError
from mercer.testing.containers import count, take
from mercer.testing.kernel_case import KernelCase
from mercer.testing.law import Inapplicable, agree, identical

__all__ = ["LAWS", "positive"]

# Entries of a Gram matrix carry a relative error of some units in the last place; exponentials and
# high powers multiply it. A hundred of them per row is far below any eigenvalue with a meaning.
ROUNDINGS = 100
RANDOM = 20_000


def spectrum(case: KernelCase) -> None:
    """A kernel that is proved valid has no negative eigenvalue."""
    if case.resolved.proof().verdict != "proved":
        raise Inapplicable("its validity is not proved")
    positive(case.gram)


def refutation(case: KernelCase) -> None:
    """The witness of a refuted kernel has the negative eigenvalue that the proof says."""
    proof = case.resolved.proof()
    if proof.verdict != "refuted":
        assert proof.witness is None, f"a {proof.verdict} kernel has a witness"
        raise Inapplicable("it is not refuted")
    assert proof.witness is not None, "it is refuted without a witness"
    K = np.asarray(case.resolved(proof.witness.points))
    smallest = float(np.linalg.eigvalsh(K)[0])
    error = ROUNDINGS * len(K) * np.finfo(float).eps * np.abs(K).max()
    assert smallest < -error, f"the witness has only the eigenvalue {smallest:.3g}"
    agree(proof.witness.eigenvalue, smallest, "claimed and true eigenvalue", 1e-6)


def derivation(case: KernelCase) -> None:
    """A proof speaks about its kernel, names the parts, and stands on proved premises."""
    proof = case.kernel.proof()
    assert proof.kernel == case.kernel, f"the proof is about {proof.kernel!r}"
    assert proof.verdict in ("proved", "refuted", "unknown"), f"verdict {proof.verdict!r}"
    assert str(proof).startswith(repr(case.kernel)), f"it prints as {proof}"
    assumed = repr(case.kernel).startswith("assume_psd")
    if proof.verdict == "proved" and not assumed:
        verdicts = [premise.verdict for premise in proof.premises]
        assert set(verdicts) <= {"proved"}, f"proved from premises that are {verdicts}"


def features(case: KernelCase) -> None:
    """Explicit features have the kernel as their inner product."""
    feature_map = _feature_map(case, case.items)
    Phi = _dense(case.resolved.features(case.items))
    assert Phi.shape == (len(case.gram), feature_map.count), f"shape {Phi.shape}"
    case.agree(Phi @ Phi.T, case.gram, "features @ featuresᵀ and k(A)", case.items, case.items)


def features_of_new_items(case: KernelCase) -> None:
    """Features fixed by old items give the similarity of new items to old ones."""
    feature_map = _feature_map(case, case.left)
    old, new = _dense(feature_map(case.left)), _dense(feature_map(case.right))
    assert new.shape[1] == old.shape[1] == feature_map.count, "the columns are not fixed"
    expected = case.resolved(case.right, case.left)
    case.agree(new @ old.T, expected, "features of new and old", case.right, case.left)


def random_features(case: KernelCase) -> None:
    """Random features approximate the kernel, exactly so on the diagonal, the same each time.

    The mean of m/2 cosines has a standard deviation of at most √(2/m); five of them are allowed.
    """
    try:
        Z = case.resolved.random_features(RANDOM, seed=0)(case.items)
    except MercerError as error:
        raise Inapplicable(f"it has no random features: {error}") from error
    assert Z.shape == (count(case.items), RANDOM), f"shape {Z.shape}"
    height = float(np.max(case.resolved.diagonal(case.items)))
    allowed = 5 * np.sqrt(2 / RANDOM)
    agree(Z @ Z.T, case.gram, "Z Zᵀ and k(A)", allowed, height)
    agree(np.sum(Z**2, axis=1), np.diag(case.gram), "diagonal of Z Zᵀ", 1e-10, height)
    again = case.resolved.random_features(RANDOM, seed=0)
    identical(again(case.items), Z, "two draws with the same seed")
    n = count(case.items)
    part = again(take(case.items, slice(n // 2, n)))
    agree(part, Z[n // 2 :], "features of a part and of the whole", 1e-10, np.sqrt(height))
    other = case.resolved.random_features(RANDOM, seed=1)(case.items)
    constant = np.ptp(case.gram) == 0.0
    assert constant or not np.array_equal(other, Z), "another seed gives the same features"


def positive(K: np.ndarray) -> None:
    """Assert that a matrix is positive semi-definite up to the rounding of its entries."""
    values = np.linalg.eigvalsh(np.asarray(K, dtype=np.float64))
    allowed = ROUNDINGS * len(values) * np.finfo(float).eps * float(np.abs(values).max())
    assert values[0] >= -allowed, f"eigenvalue {values[0]:.3g}, rounding explains {-allowed:.3g}"


def _feature_map(case: KernelCase, items: Any) -> Any:
    try:
        return case.resolved.feature_map(items)
    except ValidityError as error:
        raise Inapplicable(f"it has no finite features: {error}") from error


def _dense(features: Any) -> np.ndarray:
    return features.toarray() if hasattr(features, "toarray") else np.asarray(features)


LAWS = {
    law.__name__: law
    for law in (
        spectrum,
        refutation,
        derivation,
        features,
        features_of_new_items,
        random_features,
    )
}
