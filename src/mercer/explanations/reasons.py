"""Reasons: ask a fitted machine why."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.domains import to_numpy
from mercer.engine.block import Block
from mercer.engine.tiles import common_origin, fill
from mercer.errors import DomainError
from mercer.explanations.credit import credited
from mercer.explanations.explanation import Explanation
from mercer.explanations.voices import voices
from mercer.memory import afford
from mercer.rkhs import Function

__all__ = ["explain"]


def explain(machine: Any, X: Any, *, label: Any = None, output: int = 0) -> Explanation:
    """Return why a fitted machine decides about the items of `X` as it does.

    For every kernel: the exemplars that pulled the decision each way, with their share. For
    kernels with explicit features also the contribution of each k-mer, word, subtree or column,
    and of each letter, node or atom of the item. Everything adds up to the score.

    Parameters
    ----------
    machine : fitted machine
        Or a pipeline that ends with one, or a search that has fitted one. Of a `Calibrated`
        machine the scores are explained.
    X : items
        As for ``machine.predict``.
    label : optional
        The class whose score is explained, by default the one that is predicted.
    output : int
        Which of several numbers, for regression.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> from mercer.kernels import Spectrum
    >>> machine = KernelRidgeClassifier(Spectrum(2), penalty=0.1)
    >>> machine = machine.fit(["abab", "baba", "caca", "acac"], ["b", "b", "c", "c"])
    >>> why = explain(machine, ["xaby"])[0]
    >>> why.toward, why.features(1)["feature"].tolist()
    ('b', ['ab'])
    >>> why.units()["unit"].tolist()
    ['x', 'a', 'b', 'y']
    """
    machine, X = _last(machine, X)
    check_is_fitted(machine)
    function = getattr(machine, "function_", None)
    if not isinstance(function, Function) or hasattr(machine, "kneighbors"):
        raise DomainError(
            f"{type(machine).__name__} does not decide by a sum over its examples, so there is "
            "nothing to divide among them"
        )
    kernel = function.kernel
    points = machine._admit_new(X, kernel)
    afford(40 * len(points) * len(function), "an explanation", "explain fewer items at a time")
    voice = voices(machine, points, X, label, output)
    left, right = common_origin(kernel, points, function.points)
    K = np.asarray(to_numpy(fill(kernel, left, right)), dtype=np.float64)
    contributions = voice.weights * K
    exemplars = list(function.points.items())
    return Explanation(
        items=list(points.items()),
        toward=voice.toward,
        scores=contributions.sum(axis=1) + voice.offsets,
        offsets=voice.offsets,
        similarities=K,
        contributions=contributions,
        places=_places(machine, len(exemplars)),
        exemplars=exemplars,
        parts=credited(kernel, Block(left, right), voice.weights),
    )


def _last(machine: Any, X: Any) -> tuple[Any, Any]:
    """Return the machine inside a search, a calibration or a pipeline, and what it sees of X."""
    if hasattr(machine, "best_estimator_"):
        return _last(machine.best_estimator_, X)
    delegate = getattr(machine, "delegate", None)
    if delegate is not None:
        check_is_fitted(machine)
        return _last(getattr(machine, delegate), X)
    if hasattr(machine, "steps"):
        return _last(machine[-1], machine[:-1].transform(X) if len(machine.steps) > 1 else X)
    return machine, X


def _places(machine: Any, count: int) -> np.ndarray:
    """Return which training items the exemplars are; those of a repaired kernel are unknown."""
    support = getattr(machine, "support_", None)
    if support is None:
        return np.arange(count)
    return np.asarray(support) if len(support) == count else np.full(count, -1)
