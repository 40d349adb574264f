"""Sketching: learning with fewer functions than items, and how far that is from the exact answer.

A machine whose plan is approximate brings its items as `SampledItems`, in memory or read in
passes, gets a sketch of them, and lets a solver work on that. What comes out is a function of the
centers (or of random features), with an estimate of its error: both answers, the exact one and the
approximate one, are learned from a sample of the items, and compared on other items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.domains import InMemory, Items, Points, Rows, Stream, Streamed, Vectors, is_stream
from mercer.domains.partitions import is_collection
from mercer.engine.tiles import fill, working_bytes
from mercer.errors import DomainError, ValidityError
from mercer.gram import (
    Blocked,
    Dense,
    assemble_features,
    assemble_sketch,
    surveying_engine,
)
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.kernels.features import RandomFeatures
from mercer.machines.centers import means_of
from mercer.machines.chunks import as_container
from mercer.plans import Decision, Nystrom, Random, Size, requested
from mercer.plans.ridge import decide_sketch
from mercer.rkhs import Featured, Function
from mercer.solvers.curvature import examine
from mercer.solvers.pivoted_cholesky import pivoted_cholesky
from mercer.solvers.ridge.solver import Approximation
from mercer.solvers.sketched_ridge import COMPARED_ITEMS, EXACT_SAMPLE, MAX_CANDIDATES

__all__ = [
    "MIN_SAMPLE_WEIGHT",
    "Learner",
    "SampledItems",
    "Sketching",
    "TrainingSet",
    "decide_approximation",
    "in_memory",
    "plan_sketched_fit",
    "read_training_set",
    "relative_difference",
    "resolve_on_sample",
    "weight_share",
]  # fmt: skip

MIN_SPREAD_SHARE = 1e-9  # share of predictions' size below which they do not vary but for rounding
MIN_SAMPLE_WEIGHT = 1e-12  # the least weight of an item of a sample, all of which have some
PIECE_ITEMS = 2**16  # items in memory that are worked on at once

# From a Gram matrix of some items to coefficients and intercept.
Learner = Callable[[Dense, np.ndarray], tuple[np.ndarray, Any] | None]


@dataclass(frozen=True)
class SampledItems:
    """What a machine learns from.

    Attributes
    ----------
    rows : Rows
        All items, in pieces.
    sample : Points
        Some of them, at random, in their order; all of them if they are few.
    places : ndarray of int
        Which.
    points : Points or None
        All items, if they are in memory.
    piece : int or None
        Bytes of the largest chunk, if they are not.
    row : float
        Bytes of an item.
    """

    rows: Rows
    sample: Points
    places: np.ndarray
    points: Points | None = None
    piece: int | None = None
    row: float = 8.0

    @property
    def count(self) -> int:
        return self.rows.count

    def size(self, kernel: Kernel, targets: int, weighted: bool = False, judging: int = 2) -> Size:
        """Return how large the problem is, for a plan."""
        tiles = working_bytes(kernel, self.sample, products=True)
        return Size(
            self.count, self.row, None, targets, tiles, weighted, piece=self.piece, judging=judging
        )


def in_memory(points: Points, seed: int = 0) -> SampledItems:
    """Return items that are in memory, with a sample of them.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> in_memory(VECTORS.admit([[1.0], [2.0]])).count
    2
    """
    places = np.arange(len(points))
    if len(points) > MAX_CANDIDATES:
        rng = np.random.default_rng(seed)
        places = np.sort(rng.choice(len(points), MAX_CANDIDATES, replace=False))
    sample = points if len(places) == len(points) else points[places]
    row = points.bytes / max(len(points), 1)
    return SampledItems(InMemory(points, PIECE_ITEMS), sample, places, points, row=row)


@dataclass(frozen=True)
class TrainingSet:
    """What a fit was given, in memory or as a stream.

    Attributes
    ----------
    X : rows
        In which scikit-learn finds the number and the names of columns.
    items : SampledItems
    y, weights : array or None
    """

    X: Any
    items: SampledItems
    y: Any
    weights: Any


def read_training_set(machine: Any, X: Items, y: Any, weights: Any) -> TrainingSet:
    """Return what a fit was given; of a stream, targets and a sample are kept."""
    if not is_stream(X):
        return TrainingSet(X, in_memory(machine._admit(X)), y, weights)
    stream = X if isinstance(X, Stream) else None
    if is_collection(X):  # which has its targets and weights in partitions too
        stream, y, weights = Stream.rows(X, y, weights), None, None
    stream = stream or Stream.rows(X)
    domain = named(machine.kernel).domain
    engine = surveying_engine(requested(machine.follow, sketches=True).device)
    if engine is None:
        rows = Streamed(stream, domain, stream.survey(domain, MAX_CANDIDATES))
    else:
        rows = engine.survey(stream, domain, MAX_CANDIDATES)
    survey = rows.survey
    items = SampledItems(
        rows, survey.sample, survey.places,
        piece=int(survey.largest * survey.bytes), row=survey.bytes,
    )  # fmt: skip
    y = survey.target if y is None else y
    return TrainingSet(
        as_container(survey.sample), items, y, survey.weights if weights is None else weights
    )


def resolve_on_sample(
    machine: BaseEstimator, items: SampledItems, weights: np.ndarray | None
) -> Kernel:
    """Return the kernel with its heuristics resolved on a sample of the items."""
    some = None if weights is None else weights[items.places]
    return machine._resolve(items.sample, some if some is not None and some.any() else None)


def decide_approximation(
    follow: Any,
    kernel: Kernel,
    items: SampledItems,
    size: Size,
    newton: bool = False,
    whole: bool = False,
) -> Decision:
    """Return the decision for an approximate answer, with its device."""
    request = requested(follow, sketches=True)
    return decide_sketch(request, kernel, items.sample, size, newton, whole)


def plan_sketched_fit(
    machine: Any,
    X: Items,
    targets: int,
    newton: bool = False,
    whole: bool = False,
    judging: int = 2,
) -> Decision:
    """Return the decision for an approximate fit, without the fit; a stream is surveyed."""
    items = read_training_set(machine, X, None, None).items
    kernel = machine._resolve(items.sample)
    machine._require_valid(kernel, "error")
    size = items.size(kernel, targets, judging=judging)
    return decide_approximation(machine.follow, kernel, items, size, newton, whole)


@dataclass(frozen=True)
class Sketching:
    """A sketch of items, and the function that coefficients stand for."""

    kernel: Kernel
    how: Nystrom | Random
    sketch: Any  # Sketch, or DeviceSketch
    items: SampledItems
    centers: Points | None = None
    features: RandomFeatures | None = None
    doubt: str = ""  # what is not known of the kernel's validity

    @classmethod
    def of(cls, kernel: Kernel, items: SampledItems, decision: Decision) -> Sketching:
        """Return the sketch that was decided on; a kernel that is seen not to be valid has none.

        Without a proof the sample is looked at, and centers that are not from it.
        """
        how, rows = decision.approximate, items.rows
        if isinstance(how, Random):
            features: Any = kernel.random_features(how.features, how.seed)
            features(items.sample[:1])  # refuses other kernels before work starts
            sketch: Any = assemble_features(features, rows, how.features, decision)
            return cls(kernel, how, sketch, items, features=features)
        doubt = _require_curvature(kernel, items.sample)
        centers = centers_for(kernel, items, how)
        if how.given:
            _require_curvature(kernel, centers)
        uniform = how.choose == "uniform" and not how.given
        precision = decision.gram_precision
        sketch = assemble_sketch(kernel, rows, centers, decision, precision, uniform)
        return cls(kernel, how, sketch, items, centers, doubt=doubt)

    def function(self, coefficients: np.ndarray) -> Function | Featured:
        """Return what was learned."""
        if self.centers is not None:
            return Function(self.kernel, self.centers, coefficients)
        assert self.features is not None
        return Featured(self.features, coefficients)

    def describe(self) -> str:
        """Say in words what this is."""
        return self.how.describe(self.sketch.count)

    def estimate_error(
        self,
        learn: Learner,
        white: Whitening,
        exact: Learner | None = None,
        method: str = "",
        differ: Callable[[np.ndarray, np.ndarray], float] | None = None,
        weights: np.ndarray | None = None,
    ) -> Approximation:
        """Return how far from the exact answer this is, by learning both from a sample.

        Parameters
        ----------
        learn : callable
            From the Gram matrix of some items, and their places, to coefficients and intercept;
            or to None, if these items do not suffice.
        white : Whitening
            Of the sketch.
        exact : callable, optional
            The same for the exact answer, if that is learned in another way.
        method : str
            What else is approximate, in words.
        differ : callable, optional
            How predictions are compared; by default by `relative_difference`.
        weights : ndarray, optional
            Of all items; from items without a weight nothing is learned.
        """
        sample, count = self.items.sample, self.items.count
        few = count <= EXACT_SAMPLE
        # The centers were drawn with the seed itself; these draws must know nothing of them.
        order = np.random.default_rng([self.how.seed, 1]).permutation(len(sample))
        counted = order if weights is None else order[weights[self.items.places[order]] > 0]
        taught = np.sort(order if few or not len(counted) else counted[:EXACT_SAMPLE])
        asked = taught if few else np.sort(order[-COMPARED_ITEMS:])
        S, T = sample[taught], sample[asked]
        near, far = (self._features(points, white) for points in (S, T))
        places, error = self.items.places[taught], float("nan")
        K = np.asarray(fill(self.kernel, S, dtype=np.float64))
        one = (exact or learn)(Dense(K), places) if len(counted) else None
        if one is not None:
            across = K if few else np.asarray(fill(self.kernel, T, S, dtype=np.float64))
            expected = across @ one[0] + one[1]
            del K, across  # before there is another one
            other = learn(Dense(near @ near.T), places)
            if other is not None:
                found = far @ (near.T @ other[0]) + other[1]
                error = (relative_difference if differ is None else differ)(expected, found)
        unseen = None
        if self.centers is not None:
            whole = np.asarray(self.kernel.evaluate_diagonal(T), dtype=np.float64)
            seen = np.einsum("ij,ij->i", far, far)
            shares = 1 - np.divide(seen, whole, out=np.ones_like(seen), where=whole > 0)
            unseen = float(np.mean(np.clip(shares, 0.0, 1.0)))
        return Approximation(self.describe() + method, error, unseen, len(taught))

    def _features(self, points: Points, white: Whitening) -> np.ndarray:
        """Return features of some items whose dot products are the approximate kernel."""
        if self.features is not None:
            return np.asarray(self.features(points))
        return white.back(np.asarray(fill(self.kernel, points, self.centers, np.float64)).T).T


def _require_curvature(kernel: Kernel, points: Points) -> str:
    """Refuse a kernel that is seen not to be valid; return what is not known."""
    if kernel.proof().verdict == "proved":
        return ""
    seen = examine(Blocked(kernel, points))
    if seen.negative:
        raise ValidityError(f"{seen.refusal(repr(kernel))}; an approximation has no other way")
    return seen.doubt


def weight_share(places: np.ndarray, weights: np.ndarray | None, count: int) -> float:
    """Return the share of some items, by their weights: that of the penalty they learn with.

    Examples
    --------
    >>> weight_share(np.array([0]), None, 4), weight_share(np.array([0]), np.array([1.0, 1.0]), 2)
    (0.25, 0.5)
    """
    if weights is None:
        return len(places) / count
    return float(weights[places].sum() / weights.sum())


def relative_difference(exact: np.ndarray, approximate: np.ndarray) -> float:
    """Return how much predictions differ, relative to how much the exact ones vary.

    Examples
    --------
    >>> relative_difference(np.array([0.0, 2.0]), np.array([0.1, 1.9]))
    0.1...
    """
    size = float(np.linalg.norm(exact))
    spread = float(np.linalg.norm(exact - exact.mean(axis=0)))
    if spread <= MIN_SPREAD_SHARE * size:
        spread = size
    apart = float(np.linalg.norm(exact - approximate))
    return apart / spread if spread else apart


def centers_for(kernel: Kernel, items: SampledItems, how: Nystrom) -> Points:
    """Return the centers that an approximation asks for."""
    if how.given:
        centers = kernel.admit(how.centers, "centers")
        same_width(items.sample, centers)
        return centers
    count = min(how.count, items.count)
    sample = items.sample
    if how.choose == "uniform":
        rng = np.random.default_rng(how.seed)
        if items.points is not None:
            return items.points[np.sort(rng.choice(items.count, count, replace=False))]
        _require_candidates(count, len(sample))
        return sample[np.sort(rng.choice(len(sample), count, replace=False))]
    _require_candidates(count, len(sample))
    if how.choose == "pivoted":
        return sample[
            np.sort(pivoted_cholesky(Blocked(kernel, sample), count, seed=how.seed).pivots)
        ]
    if not isinstance(sample, Vectors):
        raise DomainError(
            'choose="k-means" takes means, which only vectors have; use "uniform" or "pivoted"'
        )
    return means_of(kernel, sample, count, how.seed, quick=True)


def _require_candidates(count: int, there: int) -> None:
    if count > there:
        raise ValidityError(
            f"{count} centers are to be chosen, but only a sample of {there} items is looked at; "
            "use fewer centers, or give them"
        )
