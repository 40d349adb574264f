"""All laws of kernels: those of `kernel_numbers` and `kernel_arrays`, and two groups of its own.

One is about validity: what a kernel claims of itself is what its matrices show. The other is about
a kernel as a value: it is nothing but its parameters, and cannot be changed.
"""

from __future__ import annotations

import builtins
import copy
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np

import mercer.kernels
from mercer.domains import Items
from mercer.errors import MercerError, ValidityError
from mercer.kernels import Kernel
from mercer.testing import kernel_arrays, kernel_numbers
from mercer.testing.cases import KernelCase
from mercer.testing.law import (
    Inapplicable,
    agree,
    apply_all,
    by_name,
    count,
    identical,
    refused,
    take,
)

__all__ = ["KERNEL_LAWS", "check_kernel", "positive"]

# Entries of a Gram matrix carry a relative error of some units in the last place; exponentials and
# high powers multiply it. A hundred of them per row is far below any eigenvalue with a meaning.
ROUNDING_ERRORS = 100


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
    error = ROUNDING_ERRORS * len(K) * np.finfo(float).eps * np.abs(K).max()
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
    m = 20_000
    try:
        Z = case.resolved.random_features(m, seed=0)(case.items)
    except MercerError as error:
        raise Inapplicable(f"it has no random features: {error}") from error
    assert Z.shape == (count(case.items), m), f"shape {Z.shape}"
    height = float(np.max(case.resolved.diagonal(case.items)))
    allowed = 5 * np.sqrt(2 / m)
    agree(Z @ Z.T, case.gram, "Z Zᵀ and k(A)", allowed, height)
    agree(np.sum(Z**2, axis=1), np.diag(case.gram), "diagonal of Z Zᵀ", 1e-10, height)
    again = case.resolved.random_features(m, seed=0)
    identical(again(case.items), Z, "two draws with the same seed")
    n = count(case.items)
    part = again(take(case.items, slice(n // 2, n)))
    agree(part, Z[n // 2 :], "features of a part and of the whole", 1e-10, np.sqrt(height))
    other = case.resolved.random_features(m, seed=1)(case.items)
    constant = np.ptp(case.gram) == 0.0
    assert constant or not np.array_equal(other, Z), "another seed gives the same features"


def positive(K: np.ndarray) -> None:
    """Assert that a matrix is positive semi-definite up to the rounding of its entries."""
    values = np.linalg.eigvalsh(np.asarray(K, dtype=np.float64))
    allowed = ROUNDING_ERRORS * len(values) * np.finfo(float).eps * float(np.abs(values).max())
    assert values[0] >= -allowed, f"eigenvalue {values[0]:.3g}, rounding explains {-allowed:.3g}"


def _feature_map(case: KernelCase, items: Items) -> Any:
    try:
        return case.resolved.feature_map(items)
    except ValidityError as error:
        raise Inapplicable(f"it has no finite features: {error}") from error


def _dense(features: Any) -> np.ndarray:
    return features.toarray() if hasattr(features, "toarray") else np.asarray(features)


def formula(case: KernelCase) -> None:
    """`repr` is the formula in code: it evaluates to an equal kernel with the same formula."""
    again = evaluated(case)
    assert again == case.kernel, f"{case.kernel!r} evaluates to {again!r}"
    assert repr(again) == repr(case.kernel), f"its formula becomes {again!r}"


def pickling(case: KernelCase) -> None:
    """A kernel comes back from a pickle as it was."""
    again = pickle.loads(pickle.dumps(case.kernel))
    assert again == case.kernel and repr(again) == repr(case.kernel), f"it comes back as {again!r}"
    _require_immutable(again)


def copies(case: KernelCase) -> None:
    """Copies and scikit-learn's clones are equal to the kernel, and as unchangeable."""
    from sklearn.base import clone

    for make in (copy.copy, copy.deepcopy, clone):
        again = make(case.kernel)
        assert again == case.kernel, f"{make.__name__} gives {again!r}"
        _require_immutable(again)


def hashing(case: KernelCase) -> None:
    """Equal kernels have equal hashes, and are not equal to what they are not."""
    same, k = k_copy(case.kernel), case.kernel
    assert same == k and hash(same) == hash(k), "a copy has another hash"
    assert len({k, same}) == 1, "a set holds it twice"
    assert k != 2.0 * k and k != repr(k), "it is equal to something else"


def immutability(case: KernelCase) -> None:
    """No parameter can be set, deleted or added, nor an array among them be written into."""
    _require_immutable(case.kernel)


def parameters(case: KernelCase) -> None:
    """`get_params` tells all that a kernel is; `set_params` returns a copy and changes nothing."""
    k, before = case.kernel, repr(case.kernel)
    assert type(k)(**k.get_params(deep=False)) == k, "its parameters do not make it again"
    assert k.set_params(**k.get_params()) == k, "setting its parameters to themselves changes it"
    for path, value in k.get_params().items():
        if isinstance(value, float) and np.isfinite(value):
            other = 1.5 * abs(value) + 0.5
            changed = k.set_params(**{path: other})
            assert changed.get_params()[path] == other, f"{path} was not set"
            assert changed != k, f"another {path} makes an equal kernel"
    assert repr(k) == before, f"it was changed to {k!r}"


def unknown_parameters(case: KernelCase) -> None:
    """A misspelled parameter is refused, with the one that was meant."""
    k = case.kernel
    refused(ValidityError, "a parameter that does not exist", k.set_params, nonsense=1.0)
    for path in k.get_params():
        message = refused(ValidityError, f"{path}e", k.set_params, **{path + "e": 1.0})
        meant = path.rpartition("__")[2]
        assert f"did you mean {meant!r}" in message, f"{path}e: {message}"


def evaluated(case: KernelCase) -> Any:
    """Evaluate a kernel's formula with the public names of `mercer.kernels` and nothing more."""
    public = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    return eval(repr(case.kernel), {"__builtins__": builtins, **public, **case.names})


def k_copy(k: Kernel) -> Kernel:
    """Return an equal kernel that is another object, made from the parameters."""
    return type(k)(
        **{
            name: k_copy(value) if isinstance(value, Kernel) else value
            for name, value in k.get_params(deep=False).items()
        }
    )


def _require_immutable(k: Kernel) -> None:
    for name, value in {**k.get_params(deep=False), "something_new": 1.0}.items():
        refused(AttributeError, f"setting {name}", setattr, k, name, 1.0)
        refused(AttributeError, f"deleting {name}", delattr, k, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, f"the array {name} can be written into"
        if isinstance(value, Kernel):
            _require_immutable(value)


LAWS = by_name(
    spectrum, refutation, derivation, features, features_of_new_items, random_features,
    formula, pickling, copies, hashing, immutability, parameters, unknown_parameters,
)  # fmt: skip
KERNEL_LAWS = {**kernel_numbers.LAWS, **LAWS, **kernel_arrays.LAWS}


def check_kernel(
    kernel: Kernel,
    items: Items,
    *,
    names: Mapping[str, Any] | None = None,
    tolerance: float = 1e-10,
) -> list[str]:
    """Hold all laws of kernels against one; return the names of those that apply.

    Parameters
    ----------
    kernel : Kernel
    items : sequence, array or DataFrame
        At least eight things that it compares; the stranger, the better.
    names : mapping, optional
        Functions that the kernel's `repr` mentions, by name.
    tolerance : float
        Allowed rounding error, relative to the larger self-similarity of a pair.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from mercer.kernels import from_function
    >>> def longer(a, b):
    ...     return float(len(a) > len(b))
    >>> check_kernel(from_function(longer), ["a", "bb", "ccc"] * 3, names={"longer": longer})
    Traceback (most recent call last):
        ...
    AssertionError: symmetry does not hold for from_function(longer) on 9 items: k(A, B) and ...
    """
    return apply_all(KERNEL_LAWS, KernelCase(kernel, items, names or {}, tolerance))
