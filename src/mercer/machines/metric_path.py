"""Paths of metrics: fit, look at the gradients, change the metric, fit again.

A ridge-like machine learns f on some items; the mean outer product G of the gradients of f says
along which directions f changes. With G as the metric of its kernel the machine learns again
(recursive feature machines, Radhakrishnan et al., Science 2024). In each round bandwidths and
penalty are those with the smallest exact leave-one-out error. That error is too good as a judge of
the metric, which has seen the targets of all items; so rounds and kinds of metrics are compared on
folds that had no part in the metric either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from mercer.domains import Points
from mercer.kernels import Kernel
from mercer.machines.abilities import able
from mercer.machines.metric_search import FACTORS, HeldOutErrors, Place, RidgeTargets, first_place
from mercer.machines.metric_terms import (
    add_terms,
    metric_terms,
    multiply_bandwidth,
    set_metric,
    takes_matrix,
)
from mercer.rkhs import Function, gradient_outer_product

__all__ = ["MetricRound", "is_ridge", "rounds_of"]

GRADIENTS = 2000  # whose outer products are averaged
MIN_GRADIENT_ITEMS = 250  # where they are taken, however many outputs there are
MEDIAN_ITEMS = 400  # that tell the unit of a search, whose steps are factors of 2
# One of so many items tells bandwidths after the first round, where there are enough of them.
COARSE_SHARE, MIN_COARSE = 3, 250


@dataclass(frozen=True, eq=False)
class MetricRound:
    """One round of a path.

    Attributes
    ----------
    kernel : Kernel
        Resolved, with its metric.
    outer : ndarray of shape (d,) or (d, d), or None
        G divided by its largest entry; None in the first round.
    penalty : float or None
        None of machines that are not searched.
    error : float
        The leave-one-out error that chose bandwidth and penalty; NaN if nothing was chosen.
    function : Function
    offset : float or ndarray
    place : tuple of int
        Of penalty and bandwidths on the grid, where the next round begins.
    machine : machine or None
        That has learned, if it is not ridge-like.
    """

    kernel: Kernel
    outer: np.ndarray | None
    penalty: float | None
    error: float
    function: Any
    offset: Any
    place: Place
    machine: Any = None

    def values(self, points: Any) -> np.ndarray:
        """Return what is predicted for items, (n, targets); of other machines, (n, 1)."""
        if self.machine is not None:
            return np.asarray(self.machine.predict(points.array), dtype=float).reshape(-1, 1)
        return (np.asarray(self.function(points)) + self.offset).reshape(len(points), -1)


def is_ridge(machine: BaseEstimator) -> bool:
    """Tell whether leave-one-out errors of a machine are known in closed form."""
    return able(machine, "closed-form folds") and machine.closed_form_applies


def rounds_of(
    machine: BaseEstimator,
    points: Points,
    targets: Any,
    kinds: Sequence[str],
    search: bool,
    guide: Sequence[MetricRound] = (),
    blocks: Sequence[np.ndarray] | None = None,
) -> Iterator[MetricRound]:
    """Yield the rounds of a path without end, the one without a metric first.

    Where gradients vanish, so that no metric is left, the last round is yielded again.

    Parameters
    ----------
    machine : machine
    points : Points
        What is learned from.
    targets : RidgeTargets or ndarray
        Of ridge-like machines; of others, what `fit` takes.
    kinds : sequence of {"diagonal", "full"}
        The metric of each term of the kernel.
    search : bool
        Whether bandwidths and penalty are searched.
    guide : sequence of MetricRound
        A path whose bandwidths and penalties are taken instead, round by round.
    blocks : sequence of ndarray, optional
        Items that are left out together by the errors that choose bandwidths and penalty; by
        default one at a time.
    """
    terms = metric_terms(machine.kernel) or []
    ridge = isinstance(targets, RidgeTargets)
    learn = partial(_ridge_round, blocks=blocks) if ridge else _machine_round
    place, outer, number = first_place(terms, search), None, 0
    measured = points  # whose median distances are the units of bandwidths
    if search and len(points) > MEDIAN_ITEMS:
        some = np.linspace(0, len(points) - 1, MEDIAN_ITEMS).astype(np.int64)
        measured = points[some]
    while True:
        own = [
            set_metric(term, outer, kind, measured)
            for term, kind in zip(terms, kinds, strict=True)
        ]
        if number < len(guide):
            place = guide[number].place
        one = learn(machine, points, targets, own, place, search, number < len(guide), not number)
        one = replace(one, outer=outer)
        yield one
        full = any(k == "full" and takes_matrix(t) for t, k in zip(terms, kinds, strict=True))
        weights = targets.weights if isinstance(targets, RidgeTargets) else None
        following = normalized_outer_product(one.function, points, weights, not full)
        while following is None:
            yield one
        place, outer, number = one.place, following, number + 1


def normalized_outer_product(
    function: Any, points: Points, weights: np.ndarray | None, diagonal: bool
) -> np.ndarray | None:
    """Return G divided by its largest entry; None if all of it is zero or it has no size.

    Of a function with several outputs every output has a gradient, so that fewer items do.
    """
    outputs = np.shape(getattr(function, "coefficients", ()))[1:]
    most = max(GRADIENTS // int(np.prod(outputs, dtype=int)), MIN_GRADIENT_ITEMS)
    if len(points) > most:
        some = np.linspace(0, len(points) - 1, most).astype(np.int64)
        points, weights = points[some], None if weights is None else weights[some]
    G = gradient_outer_product(function, points, weights, diagonal=diagonal)
    largest = float(np.abs(G).max(initial=0.0))
    if not math.isfinite(largest) or largest <= 0:
        return None
    G = G / largest
    return G if diagonal else (G + G.T) / 2


def _ridge_round(
    machine: BaseEstimator, points: Points, targets: RidgeTargets, terms: list[Kernel],
    place: Place, search: bool, guided: bool, first: bool,
    blocks: Sequence[np.ndarray] | None = None,
) -> MetricRound:  # fmt: skip
    """Learn with the bandwidths and the penalty of the smallest leave-one-out error."""
    errors = HeldOutErrors(terms, points, targets, None if search else machine.penalty, blocks)
    best = place
    if search and not guided:
        coarse = not first and blocks is None and len(points) >= COARSE_SHARE * MIN_COARSE
        if coarse:
            place = _coarse_place(terms, points, targets, place)
        best = errors.search(place, axes=1 if coarse else None)
    inverse = errors.inverse(best)
    kernel = add_terms(errors.kernels(best))
    roots = 1.0 if targets.weights is None else np.sqrt(targets.weights)[:, None]
    function = Function(kernel, points, inverse.alpha / inverse.unit * roots)
    return MetricRound(
        kernel, None, errors.penalty(best), errors([best])[0], function, inverse.offset, best
    )


def _coarse_place(
    terms: list[Kernel], points: Points, targets: RidgeTargets, place: Place
) -> Place:
    """Return the best place for some of the items, from which only the penalty is searched on.

    A factor of a third of the items takes a 27th of the time. What a metric changes is how far
    each term reaches, which few items tell; how much noise there is, and so the penalty, all do.
    """
    count = max(len(points) // COARSE_SHARE, MIN_COARSE)
    some = np.sort(np.random.default_rng(len(points)).permutation(len(points))[:count])
    return HeldOutErrors(terms, points[some], targets[some]).search(place)


def _machine_round(
    machine: Any, points: Any, y: Sequence[Any], terms: list[Kernel], place: Place,
    search: bool, guided: bool, first: bool,
) -> MetricRound:  # fmt: skip
    """Learn with a machine that has no closed form; only the metric changes."""
    pairs = zip(terms, place[1:], strict=True)
    kernel = add_terms([multiply_bandwidth(term, FACTORS[at]) for term, at in pairs])
    fitted = clone(machine).set_params(kernel=kernel).fit(points.array, y)
    offset = getattr(fitted, "intercept_", 0.0)
    return MetricRound(kernel, None, None, float("nan"), fitted.function_, offset, place, fitted)
