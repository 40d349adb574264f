"""Curves: how errors fall and attention moves while people, or simulated ones, learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from mercer.cognition.experiments.experiment import Experiment
from mercer.domains import real_numbers
from mercer.errors import DomainError, ValidityError
from mercer.values import Seed, whole

__all__ = ["BlockCurve", "attention_over_trials", "learning_curve"]


@dataclass(frozen=True)
class BlockCurve:
    """Errors by block, with intervals over people.

    Attributes
    ----------
    table : DataFrame
        A row for each block: errors, low, high, people (how many had trials in it).
    persons : ndarray of shape (people, blocks)
        NaN where someone had no trials.

    Examples
    --------
    >>> found = learning_curve([[0.5, 0.25], [0.25, 0.0]])
    >>> found.table["people"].tolist(), found.persons.shape
    ([2, 2], (2, 2))
    """

    table: pd.DataFrame
    persons: np.ndarray


def learning_curve(
    data: Experiment | ArrayLike,
    length: int = 16,
    level: float = 0.95,
    samples: int = 2000,
    random_state: Seed = 0,
) -> BlockCurve:
    """Return the share of errors in each block, with bootstrap intervals over people.

    Parameters
    ----------
    data : Experiment, or array of shape (people, blocks)
        An experiment with trials whose category was told; or shares of errors, such as a learner's
        ``simulate(..., return_subjects=True)``.
    length : int
        Trials in a block, of an experiment.
    level : float
    samples : int
        Of people, drawn with replacement.
    random_state : int, Generator or None

    Returns
    -------
    BlockCurve
        A row for each block, with the shares of single people.

    Examples
    --------
    >>> learning_curve([[0.5, 0.25], [0.25, 0.0]]).table["errors"].tolist()
    [0.375, 0.125]
    """
    if not 0 < level < 1:
        raise ValidityError(f"level must be between 0 and 1, found {level!r}")
    if isinstance(data, Experiment):
        persons = _blocks(data, whole(learning_curve, "length", length))
    else:
        persons = real_numbers(data, "errors")
        if persons.ndim != 2:
            raise DomainError(f"errors must be of shape (people, blocks), found {persons.shape}")
    rng = np.random.default_rng(random_state)
    picks = rng.integers(len(persons), size=(samples, len(persons)))
    known = ~np.isnan(persons)
    filled = np.where(known, persons, 0.0)
    with np.errstate(invalid="ignore"):
        means = filled[picks].sum(axis=1) / known[picks].sum(axis=1)
    low, high = np.nanquantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    table = pd.DataFrame(
        {
            "errors": filled.sum(axis=0) / known.sum(axis=0),
            "low": low,
            "high": high,
            "people": known.sum(axis=0),
        },
        index=pd.RangeIndex(1, persons.shape[1] + 1, name="block"),
    )
    return BlockCurve(table, persons)


def _blocks(data: Experiment, length: int) -> np.ndarray:
    rows = []
    for one in data.sequences():
        told = np.array([category is not None for category in one.categories])
        scored = told & one.answered()
        if not scored.any():
            raise DomainError(
                f"subject {one.subject!r} has no trial with both an answer and its right category"
            )
        rows.append(
            [float(a != c) for a, c, ok in zip(one.answers, one.categories, scored, strict=True)
             if ok]
        )  # fmt: skip
    blocks = max(-(-len(row) // length) for row in rows)
    found = np.full((len(rows), blocks), np.nan)
    for person, row in enumerate(rows):
        for block in range(-(-len(row) // length)):
            found[person, block] = np.mean(row[block * length : (block + 1) * length])
    return found


def attention_over_trials(learner: Any, X: ArrayLike, categories: ArrayLike) -> np.ndarray:
    """Return a learner's attention after each trial, a row for each.

    Attention is `attention_` (ALCOVE), `tuning_` (SUSTAIN) or `associability_` (Mackintosh, Pearce
    & Hall). Each row is a fit to the trials so far. The first rows are NaN, until each category
    has been told once: before, a learner would not know what there is to tell apart.

    Parameters
    ----------
    learner : ALCOVE, SUSTAIN or another learner with attention
        Not fitted; its parameters are those of all fits.
    X : array of shape (trials, dimensions)
        The stimuli, in the order in which they were shown.
    categories : sequence of length trials
        What was told after each.

    Returns
    -------
    ndarray of shape (trials, dimensions)

    Examples
    --------
    >>> from mercer.cognition import ALCOVE, shj
    >>> problem = shj("I", blocks=2)
    >>> order = problem.trials(np.random.default_rng(0))
    >>> X, y = problem.stimuli[order], problem.categories[order]
    >>> path = attention_over_trials(ALCOVE(6.0, 2.0, 0.1, 0.5), X, y)
    >>> path.shape, path[-1].argmax()
    ((32, 3), np.int64(0))
    """
    X, y = np.asarray(X), np.asarray(categories)
    all_told = max(int(np.argmax(y == name)) for name in np.unique(y)) + 1
    found: list[np.ndarray] = []
    for t in range(all_told, len(X) + 1):
        control = np.repeat([0, 2], [t, len(X) - t])
        found.append(_attention(clone(learner).fit(X, y, control=control)))
    before = np.full((all_told - 1, len(found[0])), np.nan)
    return np.vstack([before, *found])


def _attention(model: Any) -> np.ndarray:
    for name in ("attention_", "tuning_", "associability_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name))
    raise DomainError(f"{type(model).__name__} learns no attention")
