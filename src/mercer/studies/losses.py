"""Losses: what a wrong answer costs, and so what an error is.

Usually all mistakes count alike. With a table of costs an error is what a row costs on average,
and with ordered classes how many steps the answer is off; then a machine says, of all classes, the
one that is expected to cost least by its probabilities, which were calibrated inside folds. Of
numbers errors are roots of mean squares, or mean distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.errors import DomainError, ValidityError, suggestion
from mercer.machines.calibrated import probabilities_of_scores

__all__ = ["MEASURES", "Loss", "loss_of"]

# What --measure may be, for classes and for numbers.
MEASURES = {"classify": ("error", "balanced", "auc", "logloss"), "regress": ("rmse", "mae")}


@dataclass(frozen=True, eq=False)
class Loss:
    """What is lost by an answer.

    Attributes
    ----------
    name : str
        What the mean loss is called.
    classes, matrix : ndarray or None
        What each answer (column) costs for each true class (row); None where all mistakes count
        alike, and for numbers.
    share : bool
        Whether errors are shares of rows, to be written in percent.
    absolute : bool
        Of numbers, whether distances are counted instead of squares.
    by : {"loss", "ranking", "surprise"}
        What chooses kernels, parameters and machines.
    kind : {"", "cost", "steps", "balanced"}
        Where the matrix comes from.

    Examples
    --------
    >>> steps = loss_of("classify", np.array(["low", "high", "mid"]), order=["low", "mid", "high"])
    >>> steps.of(np.array(["low", "mid"]), np.array(["high", "mid"]))
    array([2., 0.])
    """

    name: str
    classes: np.ndarray | None = None
    matrix: np.ndarray | None = None
    share: bool = False
    absolute: bool = False
    by: str = "loss"
    kind: str = ""

    def of(self, truth: np.ndarray, answer: np.ndarray) -> np.ndarray:
        """Return what is lost in each row; squares of numbers."""
        if truth.dtype.kind == "f":
            off = truth - answer.astype(np.float64)
            return np.abs(off) if self.absolute else off**2
        if self.matrix is None:
            return (truth != answer).astype(np.float64)
        return self.matrix[self._codes(truth), self._codes(answer)]

    @property
    def special(self) -> bool:
        """Whether errors are means of something else than mistakes or squares."""
        return self.matrix is not None or self.absolute

    @property
    def rooted(self) -> bool:
        """Whether the error is the root of a mean."""
        return self.name == "root mean squared error"

    def part(self, classes: np.ndarray) -> np.ndarray:
        """Return the costs among some of the classes."""
        assert self.matrix is not None
        codes = self._codes(classes)
        return self.matrix[np.ix_(codes, codes)]

    def constant(self, y: np.ndarray, weights: np.ndarray) -> Any:
        """Return the one answer that loses least."""
        if y.dtype.kind == "f":
            if self.absolute:
                order = np.argsort(y, kind="stable")
                half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
                return float(y[order][half])
            return float(np.average(y, weights=weights))
        classes, codes = np.unique(y, return_inverse=True)
        shares = np.bincount(codes, weights)
        if self.matrix is None:
            return classes[shares.argmax()]
        return classes[(shares @ self.part(classes)).argmin()]

    def of_scores(
        self, scores: np.ndarray, codes: np.ndarray, classes: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> float:  # fmt: skip
        """Return what is lost with the scores of held-out rows, after calibrating them.

        A calibration has one parameter or two, so that it hardly flatters on the same rows. Rows
        count by their weights, in calibrating and in what is lost.
        """
        if self.by == "ranking":
            return 1 - _mean_area(scores, codes, weights)
        P = probabilities_of_scores(scores, codes, weights)
        if self.by == "surprise":
            surprise = -np.log(np.maximum(P[np.arange(len(P)), codes], 1e-12))
            return float(np.average(surprise, weights=weights))
        costs = self.part(classes)
        return float(np.average(costs[codes, (P @ costs).argmin(axis=1)], weights=weights))

    def thresholds(self) -> list[tuple[str, float]]:
        """Return from which probability on each of two classes is said."""
        if self.matrix is None or self.classes is None or len(self.classes) != 2:
            return []
        C = self.matrix
        gains = [C[0, 1] - C[0, 0], C[1, 0] - C[1, 1]]  # of saying the class where it is true
        total = sum(gains)
        if total <= 0:
            return []
        return [(str(label), float(gains[1 - k] / total)) for k, label in enumerate(self.classes)]

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        assert self.classes is not None
        place = {label: k for k, label in enumerate(self.classes.tolist())}
        return np.array([place[label] for label in labels.tolist()], dtype=np.intp)


def _mean_area(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the area under ROC, of more than two classes the mean of each against the rest."""
    from sklearn.metrics import roc_auc_score

    if scores.ndim == 1 or scores.shape[1] == 1:
        return float(roc_auc_score(codes, scores.reshape(-1), sample_weight=weights))
    there = [k for k in range(scores.shape[1]) if 0 < np.sum(codes == k) < len(codes)]
    # Scores of different classes are compared in one row, so that common shifts do not count.
    rest = scores - (scores.sum(axis=1, keepdims=True) - scores) / (scores.shape[1] - 1)
    areas = [roc_auc_score(codes == k, rest[:, k], sample_weight=weights) for k in there]
    return float(np.mean(areas))


def loss_of(
    task: str, y: np.ndarray, *, measure: str | None = None, costs: Any = None,
    order: Sequence[str] | str | None = None, weights: np.ndarray | None = None,
) -> Loss:  # fmt: skip
    """Return what is lost by wrong answers, as a user has said it.

    Parameters
    ----------
    task : {"classify", "regress"}
    y : ndarray
    measure : str, optional
        One of `MEASURES`.
    costs : mapping, DataFrame or text, optional
        ``{("ill", "well"): 10, ("well", "ill"): 1}``, by the true class and the answer, or
        ``{"ill": 10, "well": 1}`` by the true class alone; as text ``ill:well=10,well:ill=1``.
    order : sequence of str, optional
        All classes from the lowest to the highest; as text ``low,mid,high``.
    weights : ndarray, optional
        How much each row counts.
    """
    asked = [name for name, one in (("cost", costs), ("order", order)) if one is not None]
    if len(asked) == 2 or (asked and measure in ("balanced", "auc", "logloss")):
        names = " and ".join(f"--{name}" for name in [*asked, *(["measure"] if measure else [])])
        raise ValidityError(f"{names} each say what an error is; give one of them")
    if asked and task != "classify":
        raise ValidityError(
            f"--{asked[0]} / {asked[0]} is about classes, but the target has numbers; "
            "--kind classify / task='classify' says otherwise"
        )
    if measure is not None and measure not in MEASURES[task]:
        what = "classes" if task == "classify" else "numbers"
        raise ValidityError(
            f"--measure / measure cannot be {measure!r} where {what} are predicted; choose among "
            f"{', '.join(MEASURES[task])}"
        )
    if task == "regress":
        absolute = measure == "mae"
        return Loss("mean absolute error" if absolute else "root mean squared error",
                    absolute=absolute)  # fmt: skip
    if costs is not None:
        classes = np.unique(y)
        return Loss("mean cost", classes, cost_matrix(costs, classes.tolist()), kind="cost")
    if order is not None:
        labels = ordered(order, np.unique(y).tolist())
        place = np.arange(len(labels), dtype=np.float64)
        return Loss("mean steps off", np.array(labels), np.abs(place[:, None] - place),
                    kind="steps")  # fmt: skip
    plain = Loss("misclassification rate", share=True)
    if measure == "balanced":
        classes, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, weights)
        weight = counts.sum() / (len(classes) * np.where(counts > 0, counts, np.inf))
        matrix = weight[:, None] * (1 - np.eye(len(classes)))
        return Loss("balanced error", classes, matrix, share=True, kind="balanced")
    return replace(plain, by={"auc": "ranking", "logloss": "surprise"}.get(measure or "", "loss"))


def ordered(order: Sequence[str] | str, classes: Sequence[str]) -> list[str]:
    """Return the classes in their order; refuse one that misses some or names one twice.

    Examples
    --------
    >>> ordered("low,mid,high", ["high", "low"])
    ['low', 'mid', 'high']
    """
    labels = [str(one).strip() for one in (order.split(",") if isinstance(order, str) else order)]
    twice = sorted({one for one in labels if labels.count(one) > 1})
    if twice:
        raise DomainError(f"--order / order names {twice[0]!r} twice")
    for label in classes:
        if label not in labels:
            raise DomainError(
                f"--order / order says nothing of the class {label!r}{suggestion(label, labels)}; "
                f"name all classes, such as --order {','.join(map(str, sorted(classes)))}"
            )
    return labels


def cost_matrix(costs: Any, classes: Sequence[str]) -> np.ndarray:
    """Return what each answer (column) costs for each true class (row).

    Examples
    --------
    >>> cost_matrix("ill=10,well=1", ["ill", "well"]).tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    """
    matrix = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    place = {label: k for k, label in enumerate(classes)}

    def where(label: object) -> int:
        name = str(label).strip()
        if name not in place:
            raise DomainError(
                f"--cost / cost: there is no class {name!r}{suggestion(name, place)}"
            )
        return place[name]

    for key, cost in _said(costs).items():
        number = _number(cost, key)
        if isinstance(key, tuple):
            matrix[where(key[0]), where(key[1])] = number
        else:
            row = where(key)
            matrix[row, [k for k in range(len(classes)) if k != row]] = number
    if np.isnan(matrix).any():
        row, column = (int(k) for k in np.argwhere(np.isnan(matrix))[0])
        raise DomainError(
            f"--cost / cost does not say what it costs to answer {classes[column]!r} where "
            f"{classes[row]!r} is true; name every mistake, such as "
            f"{classes[row]}:{classes[column]}=1, or {classes[row]}=1 for all mistakes about it"
        )
    if not (matrix > 0).any():
        raise DomainError("--cost / cost: all costs are 0, so every answer is as good")
    return matrix


def _said(costs: Any) -> dict[Any, Any]:
    """Return costs by the true class and the answer, or by the true class alone."""
    if isinstance(costs, Mapping):
        return dict(costs)
    if hasattr(costs, "columns") and hasattr(costs, "iloc"):  # rows are true classes
        return {
            (str(row), str(column)): costs.iloc[i, j]
            for i, row in enumerate(costs.index)
            for j, column in enumerate(costs.columns)
        }
    found: dict[Any, Any] = {}
    for piece in str(costs).split(","):
        key, sign, number = piece.rpartition("=")
        if not sign or not key.strip():
            raise DomainError(
                f"--cost {str(costs)!r} is no table of costs; write TRUTH:ANSWER=COST, for "
                "example --cost ill:well=10,well:ill=1, or the name of a file with a row for each "
                "true class and a column for each answer"
            )
        truth, colon, answer = key.partition(":")
        found[(truth.strip(), answer.strip()) if colon else key.strip()] = number
    return found


def _number(cost: object, key: object) -> float:
    try:
        number = float(str(cost))
    except ValueError:
        number = float("nan")
    if not (np.isfinite(number) and number >= 0):
        what = ":".join(key) if isinstance(key, tuple) else str(key)
        raise DomainError(f"--cost / cost of {what!r} must be a number from 0 on, found {cost!r}")
    return number
