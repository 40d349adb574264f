"""Judgment: the error of held-out predictions, its uncertainty, and that of knowing nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["baseline", "pooled"]


def pooled(truths: Sequence[np.ndarray], answers: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the error of all held-out rows together, and its standard error.

    The error is the share of wrong labels, or the root mean squared error. Its standard error is
    that of the mean over folds, weighted by their rows, but at least that of as many rows drawn
    one by one: folds may agree by luck, and must where classes are dealt evenly and all rows get
    the same answer. For the root, it is multiplied by its derivative.

    Examples
    --------
    >>> a, b = np.array(["x", "x"], dtype=object), np.array(["x", "y"], dtype=object)
    >>> pooled([a, a], [a, b])
    (0.25, 0.25)
    """
    numbers = truths[0].dtype.kind == "f"
    scale = 1.0
    if numbers:  # so that neither the squares of huge numbers nor those of tiny ones are lost
        off = [truth - answer for truth, answer in zip(truths, answers, strict=True)]
        scale = float(max(np.abs(one).max(initial=0.0) for one in off)) or 1.0
        losses = [(one / scale) ** 2 for one in off]
    else:
        losses = [(t != a).astype(float) for t, a in zip(truths, answers, strict=True)]
    sizes = np.array([len(loss) for loss in losses], dtype=float)
    means = np.array([loss.mean() for loss in losses])
    every = np.concatenate(losses)
    total = float(every.mean())
    folds = len(losses)
    share = sizes / sizes.sum()
    spread = np.sqrt(np.sum(share**2 * (means - total) ** 2) * folds / max(folds - 1, 1))
    spread = max(float(spread), float(np.sqrt(every.var() / max(len(every) - 1, 1))))
    if numbers:
        root = float(np.sqrt(total))
        return scale * root, scale * spread / (2 * root) if root else 0.0
    return total, spread


def baseline(y: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the error of an answer that looks at nothing: the most frequent class, or the mean.

    The mean is that of the training rows of each split. The most frequent class is that of all
    rows: where classes are balanced, that of the training rows is by construction one of which
    fewer are held out, so that its error would be too large.

    Examples
    --------
    >>> y = np.array(["a", "a", "a", "b"], dtype=object)
    >>> baseline(y, [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))])
    0.25
    """
    if y.dtype.kind != "f":
        return float(1 - np.unique(y, return_counts=True)[1].max() / len(y))
    answers = [np.full(len(test), y[train].mean()) for train, test in splits]
    return pooled([y[test] for _, test in splits], answers)[0]
