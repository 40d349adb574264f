"""Responses: how often each category was answered, and how well a model says so.

With pᵢₖ the probability of answer k to stimulus i and nᵢₖ its count, the log-likelihood is
Σ nᵢₖ log pᵢₖ, without the multinomial constant, which no parameter changes. The sum of squared
errors Σ(oᵢₖ − pᵢₖ)² compares proportions; of two categories only one is counted, as in published
tables, because the other repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import is_frame, real_numbers
from mercer.errors import DomainError

__all__ = [
    "LOSSES",
    "Responses",
    "admit_responses",
    "log_softmax",
    "pooled_responses",
]

LOSSES = ("likelihood", "sse")


@dataclass(frozen=True)
class Responses:
    """Counts of the answers to each stimulus, or their proportions.

    Attributes
    ----------
    counts : ndarray of shape (m, categories)
    """

    counts: np.ndarray

    @cached_property
    def totals(self) -> np.ndarray:
        return self.counts.sum(axis=1, keepdims=True)

    @cached_property
    def total(self) -> float:
        """Number of responses."""
        return float(self.counts.sum())

    @cached_property
    def shares(self) -> np.ndarray:
        """Proportions; zero where nothing was asked."""
        return self.counts / np.where(self.totals > 0, self.totals, 1.0)

    @cached_property
    def are_counts(self) -> bool:
        """Whether all are whole numbers, so that they have a likelihood."""
        return bool((self.counts == np.round(self.counts)).all())

    def log_likelihood(self, log_p: np.ndarray) -> float:
        """Return Σ nᵢₖ log pᵢₖ; NaN for proportions, as nobody knows of how many."""
        if not self.are_counts:
            return float("nan")
        return float(np.sum(self.counts * np.where(self.counts > 0, log_p, 0.0)))

    def sse(self, log_p: np.ndarray) -> float:
        """Return the sum of squared errors."""
        return float(np.sum(self._errors(log_p) ** 2)) / self._repeats

    def likelihood_loss(self, log_p: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean negative log-likelihood, and its slopes for the scores log p + const."""
        p = np.exp(log_p)
        value = -float(np.vdot(self.counts, log_p)) / self.total
        return value, (self.totals * p - self.counts) / self.total

    def sse_loss(self, log_p: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the sum of squared errors, and its slopes for the scores log p + const."""
        p, E = np.exp(log_p), self._errors(log_p)
        value = float(np.vdot(E, E)) / self._repeats
        pE = p * E
        return value, 2 / self._repeats * (pE - p * pE.sum(axis=1, keepdims=True))

    @property
    def _repeats(self) -> int:
        return 2 if self.counts.shape[1] == 2 else 1

    def _errors(self, log_p: np.ndarray) -> np.ndarray:
        return np.where(self.totals > 0, np.exp(log_p) - self.shares, 0.0)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Return log probabilities that are proportional to the exponentials of the scores."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def admit_responses(
    responses: ArrayLike, stimuli: int, classes: np.ndarray, loss: str = "likelihood"
) -> list[Responses]:
    """Return the responses of each subject, refusing what are no counts.

    Parameters
    ----------
    responses : array of shape (stimuli, categories) or (subjects, stimuli, categories)
        A DataFrame whose columns are named like the categories may have them in any order.
    stimuli : int
        How many there are.
    classes : ndarray
        The categories that have exemplars.
    loss : {"likelihood", "sse"}
        "sse" allows proportions.
    """
    array = _undo_rounding(real_numbers(_arrange(responses, stimuli, classes), "responses"))
    if array.ndim not in (2, 3):
        raise DomainError(
            "responses must be of shape (stimuli, categories), or (subjects, stimuli, "
            f"categories), found {array.shape}"
        )
    _check_shape(array, stimuli, classes)
    many = array if array.ndim == 3 else array[None]
    for subject, counts in enumerate(many):
        who = f"subject {subject}, " if array.ndim == 3 else ""
        _check_numbers(counts, classes, who)
        _check_whole(counts, classes, who, loss)
    _check_present(many, array.ndim == 3)
    return [Responses(counts) for counts in many]


def pooled_responses(subjects: list[Responses]) -> Responses:
    """Return the responses of all subjects together: sums of counts, or means of proportions.

    Examples
    --------
    >>> one, two = Responses(np.array([[0.7, 0.3]])), Responses(np.array([[0.3, 0.7]]))
    >>> pooled_responses([one, two]).counts
    array([[0.5, 0.5]])
    """
    if all(one.are_counts for one in subjects):
        return Responses(np.sum([one.counts for one in subjects], axis=0))
    for subject, one in enumerate(subjects):
        if one.are_counts and one.totals.max() > 1:
            raise DomainError(
                f"subject {subject} has counts, but others have proportions; give counts, or "
                "proportions of all"
            )
    asked = np.sum([one.totals > 0 for one in subjects], axis=0)
    return Responses(np.sum([one.shares for one in subjects], axis=0) / np.maximum(asked, 1))


def _undo_rounding(array: np.ndarray) -> np.ndarray:
    """Undo rounding errors: 0.29 times 100 responses are meant to be 29."""
    near = np.round(array)
    return np.where(np.isclose(array, near, rtol=1e-9, atol=0.0), near, array)


def _arrange(responses: ArrayLike, stimuli: int, classes: np.ndarray) -> Any:
    """Put the columns of DataFrames, one or one for each subject, into the categories' order."""
    if not isinstance(responses, list | tuple) or np.ndim(responses[0] if responses else 0) != 2:
        return _order_columns(responses, classes)
    parts = [_order_columns(one, classes) for one in responses]
    for subject, one in enumerate(parts):
        if len(one) != stimuli:
            raise DomainError(
                f"subject {subject} has {len(one)} rows of responses, but there are {stimuli} "
                "stimuli"
            )
    return parts


def _order_columns(responses: Any, classes: np.ndarray) -> Any:
    """Put the columns of a DataFrame into the order of the categories, if they have names."""
    if not is_frame(responses):
        return responses
    names, known = list(responses.columns), classes.tolist()
    if names == list(range(len(names))) and set(names) != set(known):
        return responses.to_numpy()  # numbered, not named
    if not set(names) & set(known):  # numbers that a file has made into text, or the reverse
        names = [str(name) for name in names]
        known = [str(name) for name in known]
        responses = responses.set_axis(names, axis=1)
    for name in names:
        if name not in known:
            raise DomainError(
                f"responses have a column {name!r}, but there are no exemplars of that category, "
                "so nothing can be similar to it; leave the column out, or add exemplars"
            )
    for name in known:
        if name not in names:
            raise DomainError(f"responses have no column for the category {name!r}")
    return responses[known].to_numpy()


def _check_shape(array: np.ndarray, stimuli: int, classes: np.ndarray) -> None:
    if array.ndim == 3 and len(array) == 0:
        raise DomainError("responses have no subjects")
    if array.shape[-2] != stimuli:
        raise DomainError(
            f"responses have {array.shape[-2]} rows, but there are {stimuli} stimuli"
        )
    if array.shape[-1] != len(classes):
        names = ", ".join(repr(name) for name in classes.tolist())
        more = array.shape[-1] > len(classes)
        advice = "; a category without exemplars cannot be predicted" if more else ""
        raise DomainError(
            f"responses have {array.shape[-1]} columns, but the exemplars have {len(classes)} "
            f"categories ({names}), and one column is needed for each{advice}"
        )


def _check_numbers(counts: np.ndarray, classes: np.ndarray, who: str) -> None:
    wrong = ~np.isfinite(counts) | (counts < 0)
    if wrong.any():
        _complain(counts, wrong, classes, f"responses must be counts: {who}")


def _check_whole(counts: np.ndarray, classes: np.ndarray, who: str, loss: str) -> None:
    broken = counts != np.round(counts)
    if not broken.any():
        return
    if loss == "likelihood":
        advice = '; multiply proportions by the number of responses, or use loss="sse"'
        _complain(counts, broken, classes, f"responses must be counts: {who}", advice)
    sums = counts.sum(axis=1)
    slack = 0.006 * len(classes)  # printed proportions are rounded
    off = np.flatnonzero((sums > 0) & (np.abs(sums - 1) > slack))
    if len(off):
        row = int(off[0])
        raise DomainError(
            f"responses must be counts, or proportions that sum to 1: {who}row {row} sums to "
            f"{sums[row]:.6g}"
        )


def _complain(
    counts: np.ndarray, wrong: np.ndarray, classes: np.ndarray, what: str, advice: str = ""
) -> None:
    row, column = (int(place) for place in np.argwhere(wrong)[0])
    name = classes.tolist()[column]
    raise DomainError(f"{what}row {row}, category {name!r} holds {counts[row, column]}{advice}")


def _check_present(many: np.ndarray, several: bool) -> None:
    """Refuse subjects and stimuli without responses; one subject may miss some stimuli."""
    silent = np.flatnonzero(many.sum(axis=(1, 2)) == 0)
    if several and len(silent):
        raise DomainError(f"subject {int(silent[0])} has no responses; leave that subject out")
    unasked = np.flatnonzero(many.sum(axis=(0, 2)) == 0)
    if len(unasked):
        raise DomainError(
            f"stimulus {int(unasked[0])} (row {int(unasked[0])} of the responses) has no "
            "responses; leave that stimulus out"
        )
