"""Comparison: several models of the same answers, in one table."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from mercer.cognition.choices.fitting import aic, bic
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.experiments.responses import Responses, admit_responses
from mercer.domains import admit_labels
from mercer.errors import DomainError, suggestion

__all__ = ["Comparison", "compare"]

HELD_OUT = ("subjects", "stimuli", "trials")
TRIAL_FOLDS = 5  # unless another number is asked for
SORTED = {"held_out": False, "log_likelihood": False, "aic": True, "bic": True, "sse": True}


@dataclass(frozen=True)
class Comparison:
    """Several models of one experiment; `plots.plot_observed` draws it.

    Attributes
    ----------
    table : DataFrame
        A row for each model, the best first: log_likelihood (without the multinomial constant),
        parameters (free ones), aic, bic, sse (of proportions), and, if something was held out,
        held_out (log-likelihood per held-out answer) with its standard_error.
    models : dict
        Fitted to all answers.
    observed : ndarray of shape (m, categories)
        Proportions.
    predicted : dict of ndarray of shape (m, categories)
    experiment : Experiment
    cv : str or None
        What was held out.
    by : str
        The column that decides which model is best.

    Examples
    --------
    >>> from mercer.cognition import GCM, PrototypeModel, medin_schaffer
    >>> models = {"exemplars": GCM(), "prototypes": PrototypeModel()}
    >>> found = compare(models, medin_schaffer(counts=True))
    >>> found.best, found.by, found.predicted["exemplars"].shape
    ('exemplars', 'aic', (16, 2))
    """

    table: pd.DataFrame
    models: dict[str, Any] = field(repr=False)
    observed: np.ndarray = field(repr=False)
    predicted: dict[str, np.ndarray] = field(repr=False)
    experiment: Experiment = field(repr=False)
    cv: str | None
    by: str

    @property
    def best(self) -> str:
        """Name of the best model."""
        return str(self.table.index[0])

    def __str__(self) -> str:
        known = {"log_likelihood": "{:.2f}", "parameters": "{:.0f}", "aic": "{:.2f}",
                 "bic": "{:.2f}", "sse": "{:.4f}", "held_out": "{:.4f}",
                 "standard_error": "{:.4f}"}  # fmt: skip
        table = self.table.dropna(axis=1, how="all")  # proportions have no likelihood
        heads = [name.replace("_", " ") for name in table.columns]
        rows = [
            [known[name].format(value) for name, value in row.items()]
            for _, row in table.iterrows()
        ]
        names = ["", *map(str, table.index)]
        width = max(map(len, names))
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = []
        for name, row in zip(names, [heads, *rows], strict=True):
            cells = (f"{cell:>{size}}" for cell, size in zip(row, widths, strict=True))
            lines.append(f"{name:<{width}}  {'  '.join(cells)}")
        return "\n".join([*lines, f"best by {self.by.replace('_', ' ')}: {self.best}"])


def compare(
    models: Any,
    data: Experiment,
    cv: str | None = None,
    *,
    folds: int | None = None,
    by: str | None = None,
) -> Comparison:
    """Fit several models to the same answers, and put their fits into one table.

    Parameters
    ----------
    models : dict of name to unfitted model, or sequence of models
        Models of this package, fitted to the answers; or any classifier with probabilities,
        which learns from the exemplars and has no parameters that answers could change.
    data : Experiment
        Answers of several subjects are added up.
    cv : {"subjects", "stimuli", "trials"}, optional
        Also predict answers that a fit has not seen: of held-out subjects to all stimuli, of all
        subjects to held-out stimuli, or single answers that are held out at random (always the
        same ones).
    folds : int, optional
        By default each subject, or stimulus, is held out alone; otherwise so many groups, each
        being every folds-th of them. Of trials there are five.
    by : str, optional
        Column to sort by. By default held_out, or aic, or sse, the first that is known.

    Returns
    -------
    Comparison
        The models fitted to all answers, and a table with a row for each, the best first.

    Examples
    --------
    >>> from mercer.cognition import GCM, PrototypeModel, medin_schaffer
    >>> models = {"exemplars": GCM(), "prototypes": PrototypeModel()}
    >>> print(compare(models, medin_schaffer(counts=True)))
                log likelihood  parameters     aic     bic     sse
    exemplars          -250.84           4  509.68  526.64  0.0643
    prototypes         -261.81           4  531.62  548.57  0.2120
    best by aic: exemplars
    """
    named = _named(models)
    _check(data)
    _, classes = admit_labels(data.categories, len(np.asarray(data.categories)))
    stimuli = np.asarray(data.stimuli)
    subjects = admit_responses(data.responses, len(stimuli), classes, "sse")
    plan = _plan(cv, folds, subjects, np.ndim(data.responses), len(stimuli))
    together = Responses(np.sum([one.counts for one in subjects], axis=0))
    rows, fitted, predicted = {}, {}, {}
    for name, model in named.items():
        fitted[name] = _fit(name, model, data, together.counts, classes)
        predicted[name] = _predict(name, fitted[name], stimuli, classes)
        rows[name] = _row(fitted[name], together, predicted[name])
        if plan:
            rows[name].update(_held_out(name, model, data, plan, classes))
    table = pd.DataFrame.from_dict(rows, orient="index")
    column = _column(by, table)
    table = table.sort_values(column, ascending=SORTED[column], kind="stable")
    return Comparison(table, fitted, together.shares, predicted, data, cv, column)


@dataclass(frozen=True)
class HeldOutAnswers:
    """Answers to fit, with their stimuli; and answers that were kept from the fit."""

    rows: np.ndarray
    counts: np.ndarray
    new_rows: np.ndarray
    new_counts: np.ndarray


def _plan(
    cv: str | None, folds: int | None, subjects: list[Responses], ndim: int, m: int
) -> list[HeldOutAnswers]:
    """Return what is fitted and what is predicted in each fold."""
    if cv is None:
        if folds is not None:
            raise DomainError(
                'folds need to know what to hold out: cv="subjects", "stimuli" or "trials"'
            )
        return []
    if cv not in HELD_OUT:
        raise DomainError(f"cv cannot be {cv!r}{suggestion(str(cv), HELD_OUT)}")
    counts = np.array([one.counts for one in subjects])
    if cv == "subjects" and (ndim != 3 or len(counts) < 2):
        raise DomainError(
            'cv="subjects" needs responses of shape (subjects, stimuli, categories) with two '
            f"subjects or more, found {counts.shape if ndim == 3 else counts.shape[1:]}"
        )
    if cv == "trials":
        return _trial_plan(counts.sum(axis=0), TRIAL_FOLDS if folds is None else folds)
    size = len(counts) if cv == "subjects" else m
    parts = size if folds is None else folds
    if not 2 <= parts <= size:
        raise DomainError(f"{size} {cv} can be held out in 2 to {size} folds, found {parts}")
    plan, everything = [], np.arange(m)
    for k in range(parts):
        out = np.arange(size) % parts == k
        if cv == "subjects":
            kept, new = counts[~out].sum(axis=0), counts[out].sum(axis=0)
            asked = kept.sum(axis=1) > 0  # a stimulus that only the others have seen
            plan.append(HeldOutAnswers(everything[asked], kept[asked], everything, new))
        else:
            total = counts.sum(axis=0)
            plan.append(HeldOutAnswers(everything[~out], total[~out], everything[out], total[out]))
    return plan


def _trial_plan(counts: np.ndarray, folds: int) -> list[HeldOutAnswers]:
    """Return folds to which single answers are dealt at random."""
    if (counts != np.round(counts)).any():
        raise DomainError(
            'cv="trials" needs counts; nobody knows how many answers proportions are'
        )
    total = int(counts.sum())
    if not 2 <= folds <= total:
        raise DomainError(f"{total} trials can be held out in 2 to {total} folds, found {folds}")
    cells = np.repeat(np.arange(counts.size), counts.astype(np.int64).ravel())
    fold = np.random.default_rng(0).permutation(np.arange(total) % folds)
    plan, everything = [], np.arange(len(counts))
    for k in range(folds):
        new = np.bincount(cells[fold == k], minlength=counts.size).reshape(counts.shape)
        kept = counts - new
        asked, tested = kept.sum(axis=1) > 0, new.sum(axis=1) > 0
        plan.append(
            HeldOutAnswers(everything[asked], kept[asked], everything[tested], new[tested])
        )
    return plan


def _held_out(
    name: str,
    model: BaseEstimator,
    data: Experiment,
    plan: list[HeldOutAnswers],
    classes: np.ndarray,
) -> dict[str, float]:
    """Return the log-likelihood per answer of what was held out, over all folds."""
    stimuli, sums, sizes = np.asarray(data.stimuli), [], []
    for fold in plan:
        part = Experiment(
            data.exemplars, data.categories, stimuli[fold.rows], fold.counts, data.strengths
        )
        fitted = _fit(name, model, part, fold.counts, classes)
        P = _predict(name, fitted, stimuli[fold.new_rows], classes)
        sums.append(_likelihood(fold.new_counts, P))
        sizes.append(float(fold.new_counts.sum()))
    total, means = sum(sizes), np.array(sums) / np.array(sizes)
    center = sum(sums) / total
    weights = np.array(sizes) / total
    spread = float(
        np.sqrt(np.sum(weights**2 * (means - center) ** 2) * len(plan) / (len(plan) - 1))
    )
    return {"held_out": center, "standard_error": spread}


def _row(model: BaseEstimator, seen: Responses, P: np.ndarray) -> dict[str, float]:
    """Return the criteria of one model, from its predictions."""
    with np.errstate(divide="ignore"):
        logs = np.log(P)
    found = _likelihood(seen.counts, P) if seen.are_counts else float("nan")
    count = _parameters(model)
    return {
        "log_likelihood": found,
        "parameters": count,
        "aic": aic(found, count),
        "bic": bic(found, count, seen.total),
        "sse": seen.sse(logs),
    }


def _likelihood(counts: np.ndarray, P: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        return float(np.sum(counts * np.log(P, where=counts > 0, out=np.zeros_like(P))))


def _parameters(model: BaseEstimator) -> int:
    """Return how many parameters were fitted to answers."""
    fit = getattr(model, "fit_", None)
    if fit is not None:
        return int(fit.parameters)
    if hasattr(model, "aic_") and hasattr(model, "log_likelihood_"):
        return round(model.aic_ / 2 + model.log_likelihood_)
    return 0


def _fit(
    name: str, model: BaseEstimator, data: Experiment, counts: np.ndarray, classes: np.ndarray
) -> Any:
    """Return a fitted copy of a model."""
    fresh = clone(model) if isinstance(model, BaseEstimator) else copy.deepcopy(model)
    takes = inspect.signature(fresh.fit).parameters
    try:
        if "responses" in takes:
            fresh.fit(
                data.exemplars, data.categories, stimuli=data.stimuli, responses=counts,
                strengths=data.strengths,
            )  # fmt: skip
        elif data.strengths is not None and "sample_weight" in takes:
            fresh.fit(data.exemplars, data.categories, sample_weight=data.strengths)
        else:
            fresh.fit(data.exemplars, data.categories)
    except DomainError as error:
        raise DomainError(f"{name}: {error}") from error
    if list(getattr(fresh, "classes_", classes)) != list(classes):
        raise DomainError(
            f"{name} knows the categories {list(fresh.classes_)}, the experiment has "
            f"{list(classes)}"
        )
    return fresh


def _predict(
    name: str, model: BaseEstimator, stimuli: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    P = np.asarray(model.predict_proba(stimuli), dtype=float)
    if P.shape != (len(stimuli), len(classes)) or np.abs(P.sum(axis=1) - 1).max() > 1e-6:
        raise DomainError(
            f"{name} must predict probabilities of {len(classes)} categories for each stimulus, "
            f"found shape {P.shape}"
        )
    return P


def _named(models: Any) -> dict[str, Any]:
    """Return models by name, those of a sequence by their class."""
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        several = list(models) if isinstance(models, list | tuple) else [models]
        kinds = [type(model).__name__ for model in several]
        counts = {kind: kinds.count(kind) for kind in kinds}
        named = {
            kind if counts[kind] == 1 else f"{kind} {kinds[: i + 1].count(kind)}": model
            for i, (kind, model) in enumerate(zip(kinds, several, strict=True))
        }
    if not named:
        raise DomainError("there are no models to compare")
    for name, model in named.items():
        if isinstance(model, type) or not hasattr(model, "fit"):
            raise DomainError(f"{name} is no model but {model!r}; give an unfitted estimator")
        if not hasattr(model, "predict_proba"):
            raise DomainError(f"{name} has no predict_proba, so its answers have no probability")
    return named


def _check(data: object) -> None:
    if not isinstance(data, Experiment):
        raise DomainError(
            "data must be an Experiment(exemplars, categories, stimuli, responses), found "
            f"{type(data).__name__}"
        )
    if data.stimuli is None or data.responses is None:
        raise DomainError("the experiment has no stimuli or no responses to compare with")


def _column(by: str | None, table: pd.DataFrame) -> str:
    """Return the column to sort by."""
    if by is not None:
        known = [name for name in SORTED if name in table]
        if by not in known:
            raise DomainError(f"by cannot be {by!r}{suggestion(str(by), known)}")
        return by
    if "held_out" in table:
        return "held_out"
    return "sse" if table["aic"].isna().any() else "aic"
