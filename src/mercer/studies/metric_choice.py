"""The family of learned metrics: a sum of exponentials whose distances find out what matters.

City-block distances are good at steps and at columns that act alone, Euclidean ones at columns
that act together; a matrix finds directions. One ridge regression has all of them, and its exact
held-out errors say how wide each is. See `mercer.machines.LearnedMetric`.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from mercer.kernels import Exponential, Kernel
from mercer.machines import LearnedMetric
from mercer.machines.metric_terms import metric_terms
from mercer.studies.candidates import ModelFamily
from mercer.studies.grid_search import FamilyChoice, InnerFolds
from mercer.studies.results import Surface

__all__ = ["choose_metric"]

ROUNDS = 3  # later ones gain little; folds decide how many are used
FOLDS = 5  # as many as those of the other families, so that all learn from as many rows
MAX_MATRIX_WIDTH = 150  # columns, beyond which a matrix takes too long and overfits
MIN_ROWS_PER_COLUMN = 4  # for a matrix; with fewer it learns the rows by heart


def choose_metric(family: ModelFamily, inner: InnerFolds, seed: int) -> FamilyChoice:
    """Return the kernel with the metric that is best on folds of the rows that choose."""
    family = family.for_targets(inner.y)
    X: Any = inner.X
    terms, kinds = metric_kernels(*X.shape)
    machine = family.machine(reduce(add, terms), None)
    tied = inner.arrangement
    splits = None if tied.independent else inner.splits
    learned = LearnedMetric(
        machine, ROUNDS, kinds, sample=len(X), folds=FOLDS, random_state=seed
    ).fit(X, inner.y, tied.weights, splits=splits)
    kernel, penalty = learned.machine_.kernel, learned.machine_.penalty
    numbers = [trial.round for trial in learned.history_]
    errors = np.array([trial.error for trial in learned.history_])
    surface = Surface((learned.kind_,), "rounds", tuple(map(float, numbers)), errors[None, :])
    return FamilyChoice(
        family, kernel, _without_metric(kernel), penalty, _error(learned, inner), surface, (),
        "both", outer=learned.metric_, reason=learned.reason_,
    )  # fmt: skip


def metric_kernels(count: int, width: int) -> tuple[list[Kernel], tuple[str, ...]]:
    """Return the terms of the kernel and the kind of metric of each.

    Examples
    --------
    >>> metric_kernels(1000, 10)[1], metric_kernels(80, 3000)[1]
    (('diagonal', 'diagonal', 'full'), ('diagonal', 'diagonal'))
    """
    terms: list[Kernel] = [Exponential(order=1), Exponential()]
    if width <= MAX_MATRIX_WIDTH and count >= MIN_ROWS_PER_COLUMN * width:
        return [*terms, Exponential()], ("diagonal", "diagonal", "full")
    return terms, ("diagonal", "diagonal")


def _without_metric(kernel: Kernel) -> str:
    """Return the formula of a kernel without the numbers of its metric, which are many."""
    terms = [term.set_params(metric=None) for term in metric_terms(kernel) or []]
    return repr(reduce(add, terms))


def _error(learned: LearnedMetric, inner: InnerFolds) -> float:
    """Return the error on items that the chosen path had not seen, as for other families."""
    truth = inner.y[learned.held_out_items_]
    values = learned.held_out_
    if not len(values):
        return float("inf")
    tied = inner.arrangement.weights
    weights = None if tied is None else tied[learned.held_out_items_]
    loss = inner.loss
    if loss is not None and loss.absolute:
        return float(np.average(np.abs(values[:, 0] - truth), weights=weights))
    if truth.dtype.kind == "f":
        return float(np.sqrt(np.average((values[:, 0] - truth) ** 2, weights=weights)))
    classes = learned.classes_
    if inner.by_scores and loss is not None:
        return loss.of_scores(values, np.searchsorted(classes, truth), classes, weights)
    places = (values[:, 0] > 0).astype(int) if values.shape[1] == 1 else values.argmax(axis=1)
    return float(np.average(classes[places] != truth, weights=weights))
