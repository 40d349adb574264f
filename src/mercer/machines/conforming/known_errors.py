"""Known errors: held-out errors that are kept beside a machine, and make its answers intervals.

`Conformal` keeps the machines of its folds. A model that was judged by nested cross-validation
keeps only how wrong those were: its own answer is taken to be as wrong as theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Items
from mercer.machines.conforming.guarantees import guarantee
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.label_scores import label_scores
from mercer.machines.conforming.levels import check_level

__all__ = ["SETS", "KnownErrors"]

SETS = "adaptive"


@dataclass(frozen=True, eq=False)
class KnownErrors:
    """What is known about the errors of a machine on new rows.

    Attributes
    ----------
    kept : HeldOutScores
        Of the rows that were held out.
    sizes : machine or None
        Predicts the logarithm of the size of an error, for rows as the machine takes them.
    scale : ndarray or None
        The size that it expected for each held-out row, without having seen it.
    ordered : bool
        Whether the past predicted the future.

    Examples
    --------
    >>> kept = KnownErrors(HeldOutScores(np.arange(1.0, 10.0), np.zeros(9, dtype=int)))
    >>> kept.intervals([[0.0]], np.array([20.0]), 0.8)
    array([[12., 28.]])
    """

    kept: HeldOutScores
    sizes: Any = None
    scale: np.ndarray | None = None
    ordered: bool = False

    def intervals(self, X: Items, prediction: np.ndarray, level: float) -> np.ndarray:
        """Return an interval around each prediction, of shape (rows, 2)."""
        level = check_level(level)
        center = np.asarray(prediction, dtype=np.float64)[:, None]
        scale = None if self.sizes is None else np.exp(self.sizes.predict(X))[:, None]
        return self.kept.intervals(center, center, scale, level)

    def sets(self, P: np.ndarray, level: float) -> np.ndarray:
        """Return which labels are in the set of each row, by their probabilities.

        The likeliest always is.
        """
        level = check_level(level)
        found = self.kept.sets(label_scores(P, SETS)[:, None, :], level)
        bare = np.flatnonzero(~found.any(axis=1))
        found[bare, P[bare].argmax(axis=1)] = True
        return found

    def guarantee(self, level: float) -> str:
        """Say what is promised, and what that assumes."""
        said = guarantee(self.kept, "held out", check_level(level), None, False)
        if not self.ordered:
            return said
        return (
            f"{said} The rows have an order in time: where things change from now on, fewer "
            "targets will be inside."
        )
