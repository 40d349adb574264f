"""Learners: models that are told the category after every trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.stimuli import admit_categories, admit_stimuli, named_columns
from mercer.domains import Items, admit_labels
from mercer.errors import DomainError, SolveError, ValidityError, suggestion
from mercer.threads import cores, in_threads
from mercer.values import whole

__all__ = [
    "Learner",
    "Trials",
    "admit_new",
    "admit_trials",
    "after_criterion",
    "distinct_rows",
    "per_block",
    "softmax",
]

CONTROLS = {0: "learn", 1: "reset, then learn", 2: "do not learn"}


@dataclass(frozen=True)
class Trials:
    """What is shown in each trial: stimuli with the codes of their categories, by number.

    A stimulus that is shown with two categories is there twice.
    """

    stimuli: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    order: np.ndarray
    control: np.ndarray
    columns: tuple[str, ...] | None = None  # names of the dimensions


class Learner(ClassifierMixin, BaseEstimator):
    """What learners share: trial by trial through one sequence, or many simulated subjects.

    A subclass says how one subject learns (`_learn`), how many do (`_prepare`, `_simulate`), and
    what the learned function gives for new stimuli (`_outputs`, `_choose`).
    """

    saved: ClassVar[tuple[str, ...]] = ("_columns",)  # in model files

    classes_: np.ndarray
    trace_: np.ndarray
    search_: Any  # how the parameters were found, if by `fit_curves`

    # Parameters that can be fitted to answers or learning curves, and where they are looked for.
    fittable: ClassVar[dict[str, tuple[float, float]]] = {}

    # The numbers of the loop's rule, by name, with respect to which it can be differentiated;
    # None for those with respect to which it cannot. Empty for learners without slopes.
    sloped: ClassVar[tuple[str | None, ...]] = ()

    # Whether the likelihood jumps where a parameter changes what the model does; whether it is
    # simulated, with a grain that small steps would see.
    jumps: ClassVar[bool] = False
    rough: ClassVar[bool] = False

    def fit(self, X: Items, categories: ArrayLike, *, control: ArrayLike | None = None) -> Self:
        """Learn trial by trial, in the order of the rows.

        Parameters
        ----------
        X : array of shape (trials, dimensions)
            The stimulus of each trial.
        categories : sequence of shape (trials,)
            The right answer of each trial.
        control : sequence of int, optional
            What each trial does: 0 (learn, the default), 1 (forget everything, then learn) or 2
            (answer without learning).
        """
        self._check()
        return self._learn(admit_trials(X, categories, control))

    def simulate(
        self,
        design: Design,
        subjects: int = 100,
        seed: int = 0,
        return_subjects: bool = False,
        *,
        criterion: tuple[int, int] | None = None,
    ) -> np.ndarray:
        """Return the mean probability of an error in each block of a design.

        Each subject starts anew and has its own random order of trials. The model need not be
        fitted, and is not changed.

        Parameters
        ----------
        design : Design
            Such as `shj("II")`.
        subjects : int
        seed : int
            Same seed, same answer, on one thread or many.
        return_subjects : bool
            Whether to return the curve of each subject, a row for each, instead of their mean.
        criterion : (int, int), optional
            ``(8, 4)`` lets who answers four runs of eight trials in a row without an error stop
            there, and make no more errors, as in many experiments. The answers are drawn at
            random with the probabilities of the model.
        """
        if not isinstance(design, Design):
            raise DomainError(f"design must be a Design, such as shj('II'), found {design!r}")
        errors = self.errors(design, design.orders(subjects, seed))
        if criterion is not None:
            errors = np.where(after_criterion(errors, criterion, seed), 0.0, errors)
        curves = per_block(design, errors)
        lost = np.flatnonzero(~np.isfinite(curves).all(axis=1))
        if len(lost):
            raise SolveError(
                f"the learning of subject {lost[0]} diverged; lower the learning rates of {self!r}"
            )
        return curves if return_subjects else curves.mean(axis=0)

    def errors(self, design: Design, orders: np.ndarray) -> np.ndarray:
        """Return the probability of an error in each trial (columns) of each subject (rows).

        Parameters
        ----------
        design : Design
        orders : array of shape (subjects, trials)
            Numbers of stimuli, as `design.orders` draws them. Rows of subjects whose learning
            diverged are NaN.
        """
        self._check()
        codes, classes = admit_labels(design.categories, len(design.stimuli))
        errors = np.empty(orders.shape)
        parts = np.array_split(np.arange(len(orders)), min(4 * cores(), len(orders)))
        task = self._prepare(design.stimuli)

        def some(rows: np.ndarray) -> None:
            here = slice(rows[0], rows[-1] + 1)
            self._simulate(task, codes, len(classes), orders[here], errors[here])

        in_threads(some, parts)
        return errors

    def slopes(
        self,
        X: Items,
        categories: ArrayLike,
        names: Sequence[str],
        *,
        control: ArrayLike | None = None,
    ) -> np.ndarray:
        """Return how the answers of each trial change with parameters: ∂trace_/∂parameter.

        All that is carried from trial to trial is differentiated along with it (forward mode), so
        that the slopes are exact; where a model jumps or has a corner they are those of its side.

        Parameters
        ----------
        X, categories, control
            As in `fit`, which need not have been called.
        names : sequence of str
            Parameters.

        Returns
        -------
        ndarray of shape (trials, categories, names)

        Examples
        --------
        >>> from mercer.cognition import DeltaRule
        >>> model = DeltaRule(rate=0.1, choice=2.0)
        >>> model.slopes([[0, 1], [1, 0], [0, 1]], ["A", "B", "A"], ["rate"])[:, 0, 0].round(2)
        array([0. , 0.5, 0.4])
        """
        self._check()
        trials = admit_trials(X, categories, control)
        stop, _, slopes = self._slopes(trials, self.seeds(names))
        if stop >= 0 or not np.isfinite(slopes).all():
            stop = stop if stop >= 0 else int(np.argmin(np.isfinite(slopes).all(axis=(1, 2))))
            raise SolveError(
                f"learning diverged at trial {stop}; lower the learning rates of {self!r}"
            )
        return slopes

    def seeds(self, names: Sequence[str]) -> np.ndarray:
        """Return the derivatives of the numbers of the loop's rule: 1 where one is a parameter.

        Examples
        --------
        >>> from mercer.cognition import DeltaRule
        >>> DeltaRule(0.1).seeds(["choice"]).ravel()
        array([0., 1.])
        """
        known = {name for name in self.sloped if name is not None and hasattr(self, name)}
        for name in names:
            if name not in known:
                hint = suggestion(name, known) if known else ": it has no slopes"
                raise ValidityError(f"{type(self).__name__} has no slope for {name!r}{hint}")
        return np.array([[float(one == name) for name in names] for one in self.sloped])

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each category, in the order of `classes_`."""
        check_is_fitted(self, "trace_")
        rows = admit_new(X, "X", self.n_features_in_, self._columns)
        return self._choose(self._outputs(rows))

    def predict(self, X: Items) -> np.ndarray:
        """Return the most probable category; of equal ones the first."""
        winners = self.predict_proba(X).argmax(axis=1)
        return self.classes_[winners]

    def _finish(self, trials: Trials, trace: np.ndarray, stop: int, *learned: np.ndarray) -> Self:
        """Keep what every learner has, unless numbers have left the range of floats."""
        if stop < 0 and not all(np.isfinite(values).all() for values in learned):
            stop = len(trials.order) - 1
        if stop >= 0:
            raise SolveError(
                f"learning diverged at trial {stop}; lower the learning rates of {self!r}"
            )
        self.classes_, self.trace_ = trials.classes, trace
        self.n_features_in_, self._columns = trials.stimuli.shape[1], trials.columns
        return self

    def _check(self) -> None:
        """Refuse parameters that make no sense."""
        raise NotImplementedError

    def _learn(self, trials: Trials) -> Self:
        """Learn from trials that were admitted, with parameters that were checked."""
        raise NotImplementedError

    def _chances(self, trials: Trials, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each trial's answer (a category's number, or −1 for none)."""
        return self._learn(trials).trace_[np.arange(len(answers)), np.maximum(answers, 0)]

    def _slopes(self, trials: Trials, seeds: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the first trial that is not finite or −1, the trace, and its derivatives."""
        raise NotImplementedError

    def _prepare(self, stimuli: np.ndarray) -> Any:
        """Return what all subjects of a design share."""
        raise NotImplementedError

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        """Fill in the errors of some subjects."""
        raise NotImplementedError

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        """Return the outputs of the categories, a column for each."""
        raise NotImplementedError

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        """Return the probabilities of the categories."""
        raise NotImplementedError


def per_block(design: Design, errors: np.ndarray) -> np.ndarray:
    """Return the mean over the trials of each block, for each row.

    Examples
    --------
    >>> design = Design([[0.0], [1.0]], ["a", "b"], schedule=((1,), (1,)))
    >>> per_block(design, np.array([[1.0, 0.5, 0.5, 0.0]]))
    array([[0.75, 0.25]])
    """
    starts = np.cumsum(design.lengths) - design.lengths
    return np.add.reduceat(errors, starts, axis=1) / design.lengths


def after_criterion(errors: np.ndarray, criterion: tuple[int, int], seed: int) -> np.ndarray:
    """Return which trials (columns) come after a criterion that simulated answers have met.

    Examples
    --------
    >>> after_criterion(np.zeros((1, 5)), (2, 2), seed=0)
    array([[False, False, False, False,  True]])
    """
    length, runs = (whole("a criterion", "each number", n) for n in criterion)
    subjects, trials = errors.shape
    done = np.zeros((subjects, trials), dtype=bool)
    children = np.random.SeedSequence([int(seed), 1]).spawn(subjects)
    for row, child in enumerate(children):
        wrong = np.random.default_rng(child).random(trials) < errors[row]
        full = trials // length
        perfect = ~wrong[: full * length].reshape(full, length).any(axis=1)
        streak = 0
        for run, good in enumerate(perfect):
            streak = streak + 1 if good else 0
            if streak == runs:
                done[row, (run + 1) * length :] = True
                break
    return done


def admit_trials(X: Items, categories: ArrayLike, control: ArrayLike | None) -> Trials:
    """Return a sequence of trials, one for each row, refusing what cannot be learned."""
    stimuli = admit_stimuli(X, "X")
    n = len(stimuli)
    codes, classes = admit_categories(categories, n)
    what = np.zeros(n, dtype=np.int64) if control is None else np.asarray(control)
    if what.shape != (n,):
        raise DomainError(f"there are {n} trials, but control has the shape {what.shape}")
    known = np.isin(what, list(CONTROLS))
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        means = ", ".join(f"{key} ({value})" for key, value in CONTROLS.items())
        raise DomainError(f"control of trial {row} is {what[row]!r}; it must be one of {means}")
    taught = np.isin(np.arange(len(classes)), codes[what != 2])
    if not taught.all():
        row = int(np.flatnonzero(~taught[codes])[0])
        raise DomainError(
            f"category {classes[codes[row]].item()!r} of trial {row} is never taught: it occurs "
            "only in trials without learning"
        )
    first, order = _number_rows(np.column_stack([stimuli, codes]))
    shown = np.ascontiguousarray(stimuli[first])
    numbers, known_columns = codes[first].astype(np.int64), named_columns(X)
    return Trials(shown, numbers, classes, order, what.astype(np.int64), known_columns)


def admit_new(
    rows: Items, name: str, width: int, columns: tuple[str, ...] | None = None
) -> np.ndarray:
    """Return rows of numbers as float64, refusing another number of dimensions than learned.

    Examples
    --------
    >>> admit_new([[0, 1, 1]], "X", width=2)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: row 0 of X has 3 dimensions, but the stimuli of the trials have 2
    """
    array = np.ascontiguousarray(admit_stimuli(rows, name, None, columns))
    if array.shape[1] != width:
        raise DomainError(
            f"row 0 of {name} has {array.shape[1]} dimensions, but the stimuli of the trials have "
            f"{width}"
        )
    return array


def distinct_rows(stimuli: np.ndarray) -> np.ndarray:
    """Return the distinct rows in the order in which they first appear.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0], [0.0], [1.0]]))
    array([[1.],
           [0.]])
    """
    return np.ascontiguousarray(stimuli[_number_rows(stimuli)[0]])


def _number_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where distinct rows appear first, and the number of each row among them."""
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return np.sort(first), rank[inverse.ravel()].astype(np.int64)


def softmax(scores: np.ndarray, noise: float = 0.0) -> np.ndarray:
    """Return (e^z + b) / Σ(e^z + b) in each row, b being the background noise.

    Examples
    --------
    >>> softmax(np.array([[0.0, 1000.0]]), noise=0.0)
    array([[0., 1.]])
    """
    top = scores.max(axis=1, keepdims=True)
    terms = np.exp(scores - top)
    if noise > 0:
        # Measured from the larger of the scores and 0, neither part can overflow.
        top = np.maximum(top, 0.0)
        terms = np.exp(scores - top) + noise * np.exp(-top)
    return terms / terms.sum(axis=1, keepdims=True)
