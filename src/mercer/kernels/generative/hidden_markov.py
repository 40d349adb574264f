"""The hidden Markov kernel: alike because the same hidden path explains both sequences.

The sum over all paths shrinks with every step far below the range of floating-point numbers, so it
is kept in an extended one. Where exponents do not agree, sums are aligned state by state: a path
that is hopeless now is not given up, because what comes later may be possible on that path only.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mercer.compiled import compiled
from mercer.domains import Points, Series, Vectors
from mercer.domains.points import RowIndex
from mercer.engine.block import Block
from mercer.engine.tiles import quiet
from mercer.errors import ValidityError
from mercer.kernels.base import kernel
from mercer.kernels.extended_range import LOG_UNIT, NOTHING, lowered, rescaled
from mercer.kernels.generative.model_kernel import ModelKernel, flag, warn_of_impossible
from mercer.kernels.proof import Proof, proved
from mercer.values import Identity

__all__ = ["HiddenMarkov"]


@kernel
class HiddenMarkov(ModelKernel):
    """Σ_Z p(x|Z)·p(z|Z)·p(Z) over all hidden paths Z of a hidden Markov model (6.31).

    Two sequences are alike if both may well have been emitted along the same path. The sum has as
    many terms as there are paths, but is computed step by step, as the forward algorithm does for
    one sequence.

    Sequences may have different lengths. A path goes on as long as the longer one, and the shorter
    one says nothing about the steps beyond its end, as if these were missing observations, which
    every state emits with probability 1. Valid for any lengths: let L be the largest among some
    sequences. Then k(x, z) = Σ √p(Z)·p(x|Z) · √p(Z)·p(z|Z) over the paths Z of length L, an inner
    product, because the steps of Z on which neither depends sum to 1.

    The sums of long sequences are far below all floating-point numbers, so they are computed as
    logarithms and normalized, k(x, z)/√(k(x, x)·k(z, z)), which is right for ten thousands of
    steps. A pair takes time proportional to the longer length and to the number of possible
    transitions. A sequence that is impossible under the model is 0 to everything, itself included;
    a warning says which.

    Parameters
    ----------
    model : HiddenMarkovModel
    fit_model : bool
        Whether the model is fitted to the items on which the kernel is resolved: the training
        items of each fold.
    normalized : bool
        False gives the sum itself, which is 0 by underflow for sequences of some hundred steps.

    Examples
    --------
    >>> from mercer.models import HiddenMarkovModel
    >>> model = HiddenMarkovModel(
    ...     2,
    ...     start=[0.5, 0.5],
    ...     transition=[[0.9, 0.1], [0.1, 0.9]],
    ...     emission=[[0.8, 0.2], [0.2, 0.8]],
    ...     alphabet="ab",
    ... )
    >>> HiddenMarkov(model)(["aaaa", "aaab", "bb"]).round(3)
    array([[1.   , 0.655, 0.076],
           [0.655, 1.   , 0.1  ],
           [0.076, 0.1  , 1.   ]])
    """

    model: Any
    fit_model: bool = False
    normalized: bool = True
    costly: ClassVar[bool] = True
    arrays: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalize("normalized", flag(self, "normalized", self.normalized))
        if not hasattr(self.model, "emission_logs"):
            raise ValidityError(
                f"model of HiddenMarkov must be a hidden Markov model, found {self.model!r}"
            )

    def pair(self, x: object, z: object) -> float:
        log = self._log_sum(x, z)
        if self.normalized:
            own = self._log_sum(x, x) + self._log_sum(z, z)
            log = log - own / 2 if own > -math.inf else -math.inf
        return math.exp(log) if log < 709 else math.inf

    def _log_sum(self, x: object, z: object) -> float:
        """Return the logarithm of the sum over all paths, by its recursion in logarithms."""
        points: Any = self.domain.admit([x, z])
        logs, shifts = relative(self.model.emission_logs(points), points.starts)
        end = points.starts[1]
        start, step = self._log_chain()
        alpha = start
        for t in range(max(end, len(logs) - end)):
            if t > 0:
                alpha = np.logaddexp.reduce(alpha[:, None] + step, axis=0)
            for side in (logs[:end], logs[end:]):
                if t < len(side):
                    alpha = alpha + side[t]
        return float(np.logaddexp.reduce(alpha)) + (0.0 if self.normalized else sum(shifts))

    def _log_chain(self) -> tuple[np.ndarray, np.ndarray]:
        with quiet():
            return np.log(self.model.start), np.log(self.model.transition)

    # ---- the fast form ----------------------------------------------------------------------

    def logarithms(self, block: Block) -> np.ndarray:
        left, right = self._emitted(block.left), self._emitted(block.right)
        K = block.empty()
        logarithms(*left.arrays(), *right.arrays(), self._links, block.symmetric, K)
        if not self.normalized:
            K += left.shifts[:, None]
            K += right.shifts[None, :]
            return K
        for own in (self._own(block.left)[:, None], self._own(block.right)[None, :]):
            K -= np.where(np.isneginf(own), 0.0, own / 2)
        return K

    def log_diagonal(self, points: Points) -> np.ndarray:
        own = self._own(points)
        if not self.normalized:
            return own + 2 * self._emitted(points).shifts
        return np.where(np.isneginf(own), own, 0.0)

    def encode(self, points: Points) -> None:
        self._own(points)

    def _own(self, points: Points) -> np.ndarray:
        """Return the logarithm of the sum over all paths of each sequence with itself, of which
        its `shifts` are no part."""
        view = points.view(("own paths", Identity(self.model)), self._sum_own)
        return view.array[:, 0]  # type: ignore[attr-defined]

    def _sum_own(self, points: Points) -> Vectors:
        logs = np.empty(len(points))
        own_logarithms(*self._emitted(points).arrays(), self._links, logs)
        warn_of_impossible(self.model, logs)
        return Vectors(logs[:, None])

    def _emitted(self, points: Points) -> Emitted:
        """Return how probable each state makes each step, computed once."""
        return points.view(("emissions", Identity(self.model)), self._emit)  # type: ignore[return-value]

    def _emit(self, points: Any) -> Emitted:
        self.model.require_fitted()
        starts = np.asarray(points.starts, dtype=np.int64)
        logs, shifts = relative(self.model.emission_logs(points), starts)
        mantissas, exponents = split(logs)
        return Emitted(Series(mantissas, starts), Series(exponents, starts), shifts)

    @cached_property
    def _links(self) -> Any:
        return chain(*self._log_chain())

    def prove(self) -> Proof:
        return proved(
            self,
            "it is a sum over paths of products p(x|Z)p(z|Z) with weights p(Z) ≥ 0 (6.29, 6.31), "
            "in which steps beyond the end of both sequences sum to 1",
        )


class Emitted(Points):
    """How probable each state makes each step of some sequences: numbers m·2^(512e).

    The most probable state of each step counts as 1; the logarithm of all that this leaves out is
    the `shift` of a sequence.
    """

    def __init__(self, mantissas: Series, exponents: Series, shifts: np.ndarray) -> None:
        super().__init__()
        self.mantissas = mantissas
        self.exponents = exponents
        self.shifts = shifts

    def __len__(self) -> int:
        return len(self.mantissas)

    def take(self, rows: RowIndex) -> Emitted:
        parts = self.mantissas.take(rows), self.exponents.take(rows)
        return Emitted(*parts, self.shifts[rows])

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mantissas, exponents, and where each sequence begins."""
        return self.mantissas.steps, self.exponents.steps, self.mantissas.starts


def relative(logs: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms relative to the largest of each step, and their sums for each sequence.

    What is common to all states cancels when the kernel is normalized. Left in, it would take
    digits with it.
    """
    top = logs.max(axis=1)
    top = np.where(np.isneginf(top), 0.0, top)
    count = len(starts) - 1
    shifts = np.bincount(np.repeat(np.arange(count), np.diff(starts)), top, minlength=count)
    return logs - top[:, None], shifts


class Chain(NamedTuple):
    """The hidden chain: mantissas and exponents of where it starts and how it goes on."""

    start: np.ndarray
    start_e: np.ndarray
    step: np.ndarray  # from row to column
    step_e: np.ndarray
    plain: bool  # whether all exponents of `step` are 0, or the number is


def split(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mantissas and exponents of numbers that are given by their logarithms."""
    # What is below counts as −∞, so that exponents cannot overflow.
    some = logs > -1e14
    exponents = np.where(some, np.rint(np.where(some, logs, 0.0) / LOG_UNIT), NOTHING)
    mantissas = np.where(some, np.exp(np.where(some, logs - exponents * LOG_UNIT, 0.0)), 0.0)
    return np.ascontiguousarray(mantissas), exponents.astype(np.int64)


def chain(log_start: np.ndarray, log_step: np.ndarray) -> Chain:
    """Return a hidden chain by the logarithms of its probabilities."""
    start, start_e = split(log_start)
    step, step_e = split(log_step)
    return Chain(start, start_e, step, step_e, bool((step_e[step > 0] == 0).all()))


@compiled
def logarithms(X, X_e, x_starts, Z, Z_e, z_starts, links, symmetric, out):
    """Write ln k of all pairs into `out`, or only those on and above the diagonal.

    Parameters
    ----------
    X, X_e, Z, Z_e : array of shape (steps, states)
        How probable each step of each side is in each state: mantissas and exponents of all
        sequences of each side, one after the other.
    x_starts, z_starts : array of int
        Where each of them begins, and where the last one ends.
    links : Chain
    """
    states = len(links.start)
    room, room_e = np.empty((2, states)), np.empty((2, states), np.int64)
    for i in range(len(x_starts) - 1):
        a, b = x_starts[i], x_starts[i + 1]
        for j in range(i if symmetric else 0, len(z_starts) - 1):
            c, d = z_starts[j], z_starts[j + 1]
            out[i, j] = _shared(X[a:b], X_e[a:b], Z[c:d], Z_e[c:d], links, room, room_e)
            if symmetric:
                out[j, i] = out[i, j]


@compiled
def own_logarithms(X, X_e, starts, links, out):
    """Write ln k(x, x) of each sequence into `out`."""
    states = len(links.start)
    room, room_e = np.empty((2, states)), np.empty((2, states), np.int64)
    for i in range(len(starts) - 1):
        a, b = starts[i], starts[i + 1]
        out[i] = _shared(X[a:b], X_e[a:b], X[a:b], X_e[a:b], links, room, room_e)


@compiled
def _shared(x, x_e, z, z_e, links, room, room_e):
    """Return the logarithm of Σ p(x|path)·p(z|path)·p(path), where the shorter sequence, at its
    end, has nothing more to say."""
    states = len(links.start)
    here = 0
    for s in range(states):
        room[0, s], room_e[0, s] = links.start[s], links.start_e[s]
    for t in range(max(len(x), len(z))):
        if t > 0:
            _walk(room, room_e, here, links.step, links.step_e, links.plain)
            here = 1 - here
        for s in range(states):
            m, e = room[here, s], room_e[here, s]
            if t < len(x):
                m, e = rescaled(m * x[t, s], e + x_e[t, s])
            if t < len(z):
                m, e = rescaled(m * z[t, s], e + z_e[t, s])
            room[here, s], room_e[here, s] = m, e
    highest, total = NOTHING, 0.0
    for s in range(states):
        highest = max(highest, room_e[here, s])
    for s in range(states):
        total += lowered(room[here, s], room_e[here, s], highest)
    if total == 0.0:
        return -np.inf
    return math.log(total) + LOG_UNIT * highest


@compiled
def _walk(room, room_e, here, step, step_e, plain):
    """Let the chain go one step, from one row of `room` to the other."""
    states, there = room.shape[1], 1 - here
    common = NOTHING
    for s in range(states):
        common = max(common, room_e[here, s])
    even = plain
    for s in range(states):
        even = even and (room_e[here, s] == common or room[here, s] == 0.0)
    for r in range(states):
        total, highest = 0.0, common
        if even:
            for s in range(states):
                total += room[here, s] * step[s, r]
        else:
            highest = NOTHING
            for s in range(states):
                _, e = rescaled(room[here, s] * step[s, r], room_e[here, s] + step_e[s, r])
                highest = max(highest, e)
            for s in range(states):
                m, e = rescaled(room[here, s] * step[s, r], room_e[here, s] + step_e[s, r])
                total += lowered(m, e, highest)
        room[there, r], room_e[there, r] = rescaled(total, highest)
