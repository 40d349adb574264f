"""Scores of labels: how strange a label would be, given the probabilities of all.

Least ambiguous: one minus its probability, which makes sets as small as they can be on average
(Sadinle, Lei & Wasserman, 2019). Adaptive: the probability of all labels that are likelier, and a
part of its own, so that sets grow where the answer is open, and the level holds more evenly
(Romano, Sesia & Candès, 2020). The part is drawn by chance there; here the probabilities
themselves decide it, so that a row has the same set each time, wherever it stands in a table. Any
function of the row keeps the guarantee.
"""

from __future__ import annotations

import numpy as np

__all__ = ["KINDS", "label_scores", "parts"]

KINDS = ("adaptive", "least ambiguous")
# Digits of the probabilities beyond these decide the part; those beyond rounding must not.
STRETCH = 2.0**24


def label_scores(P: np.ndarray, kind: str, part: np.ndarray | None = None) -> np.ndarray:
    """Return the score of each label, of the shape of the probabilities.

    Parameters
    ----------
    P : ndarray of shape (rows, labels)
    kind : {"adaptive", "least ambiguous"}
    part : ndarray of shape (rows,), optional
        Of a label's own probability that counts. Where several machines are asked about a row it
        must be the same for all: `parts` of the probabilities of one of them.

    Examples
    --------
    >>> P = np.array([[0.7, 0.2, 0.1]])
    >>> label_scores(P, "least ambiguous").round(1)
    array([[0.3, 0.8, 0.9]])
    >>> label_scores(P, "adaptive").argsort(axis=1)
    array([[0, 1, 2]])
    """
    if kind == "least ambiguous":
        return 1 - P
    order = np.argsort(-P, axis=1, kind="stable")
    ranked = np.take_along_axis(P, order, axis=1)
    sums = (
        np.cumsum(ranked, axis=1) - ranked + (parts(P) if part is None else part)[:, None] * ranked
    )
    found = np.empty_like(P)
    np.put_along_axis(found, order, sums, axis=1)
    return found


def parts(P: np.ndarray) -> np.ndarray:
    """Return a number between 0 and 1 for each row, evenly spread where rows differ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = parts(rng.dirichlet(np.ones(3), size=2000))
    >>> bool(abs(found.mean() - 0.5) < 0.03 and 0 <= found.min() and found.max() < 1)
    True
    """
    # Multiples of the golden section, each of another size, so that no label is like another.
    steps = 1 + np.modf(np.arange(1, P.shape[1] + 1) * (np.sqrt(5) - 1) / 2)[0]
    return np.modf(STRETCH * (P @ steps))[0]
