"""Known errors: held-out errors that are kept beside a machine, and make its answers intervals.

`Conformal` keeps the machines of its folds. A model that was judged by nested cross-validation
keeps only how wrong those were: its own answer is taken to be as wrong as theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.domains import Items
from mercer.machines.conforming.guarantees import guarantee
from mercer.machines.conforming.held_out_scores import HeldOutScores
from mercer.machines.conforming.label_scores import label_scores
from mercer.machines.conforming.levels import check_level
from mercer.machines.target_powers import backward, forward

__all__ = ["SETS", "KnownErrors"]

SETS = "adaptive"


@dataclass(frozen=True, eq=False)
class KnownErrors:
    """What is known about the errors of a machine on new rows.

    Attributes
    ----------
    kept : HeldOutScores
        Of the rows that were held out; its ratio is how much each of them counts.
    sizes : machine or None
        Predicts the logarithm of the size of an error, for rows as the machine takes them.
    scale : ndarray or None
        The size that it expected for each held-out row, without having seen it.
    ordered : bool
        Whether the past predicted the future.
    target : str
        The scale on which errors are told and intervals are even, one of
        `mercer.machines.target_powers.POWERS`.
    least : float
        The smallest known target: predictions below it count as it, which has any power.

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
    target: str = "none"
    least: float = 0.0

    def intervals(self, X: Items, prediction: np.ndarray, level: float) -> np.ndarray:
        """Return an interval around each prediction, of shape (rows, 2)."""
        level = check_level(level)
        scale = None if self.sizes is None else np.exp(self.sizes.predict(X))[:, None]
        return self.around(prediction, scale, level)

    def around(self, prediction: np.ndarray, scale: np.ndarray | None, level: float) -> np.ndarray:
        """Return an interval around each prediction, where the size of its error is known."""
        center = self.on_scale(np.asarray(prediction, dtype=np.float64))[:, None]
        found = self.kept.intervals(center, center, scale, level)
        return found if self.target == "none" else backward(found, self.target)

    def on_scale(self, answers: np.ndarray) -> np.ndarray:
        """Return predictions or targets on the scale on which errors are told."""
        if self.target == "none":
            return answers
        return forward(np.maximum(answers, self.least), self.target)

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
        bare = replace(self.kept, ratio=None)
        said = guarantee(bare, "held out", check_level(level), None, False)
        if self.kept.ratio is not None:
            said += " Rows count by their weights: the level is that of the weighted share."
        if not self.ordered:
            return said
        return (
            f"{said} The rows have an order in time: where things change from now on, fewer "
            "targets will be inside."
        )
