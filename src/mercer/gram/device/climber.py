"""Working sets on a device: many quadratic programs on one Gram matrix, solved in rounds at once.

A round takes, of each program that is not solved yet, the variables that violate optimality most
and those that are free, climbs on them (`mercer.gram.device.pairs`), and lets the slopes of all
its variables follow. All of that stays on the device; the host sees one number of each program a
round. The whole matrix is stored there if it fits, and all programs read their rows from it: pairs
of classes, folds, values of C. If not, rows are computed as they are needed, which costs no more
than a pass over them with fused products.

A program's slopes are computed anew, in double precision, before it is called solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import ValidityError
from mercer.gram.climbing import BoxProgram, Climbed
from mercer.gram.device.devices import (
    Tensor,
    allocate,
    empty_cache,
    free_bytes,
    is_full,
    is_lost,
    warn_lost,
)
from mercer.gram.device.pairs import optimize_sets, take_from_slopes
from mercer.gram.stored import GramRanges

__all__ = [
    "ArrayOnDevice",
    "Climber",
    "DeviceGram",
    "RowsGram",
    "StoredGram",
    "climb_on",
    "fits",
    "whole_matrix",
]

MAX_WORKING = 1024  # variables in a working set, of many programs
MAX_WORKING_ALONE = 2048  # of one or a few, where rows are computed as they are needed
FEW_PROGRAMS = 8
MIN_WORKING = 32
STEPS_A_VARIABLE = 30  # of a working set, after which others are looked at
IDLE_ROUNDS = 5  # without a larger objective, after which a program is given up
SMALLEST_RISE = 1e-13  # share of the objective; less is rounding
MATRIX_SHARE = 0.6  # of the free memory, for a stored matrix
BLOCK_SHARE = 0.25  # of the free memory, for the matrices of working sets
STRIPE_ENTRIES = 1 << 28  # of a stored matrix that are in double precision at a time
NOT_FINITE = "in this precision they, or their sums, are not finite; scale the features"
DENSE_PROGRAMS = 64  # with so many on the same items, slopes follow by a product of matrices


class DeviceGram(Protocol):
    """Similarities on a device, as a climber asks for them."""

    device: Any
    order: int

    def block(self, items: Tensor) -> Any:
        """Return K[items, items] for each row of a matrix of items."""

    def follow(self, F: Tensor, items: Tensor, rows: Tensor, change: Tensor) -> None:
        """Take K[items, rows] @ change from the slopes of each program."""

    def values(self, C: Tensor) -> Any:
        """Return KC in double precision."""


class StoredGram:
    """A Gram matrix in a device's memory, in single or double precision."""

    def __init__(self, array: Tensor) -> None:
        self.array, self.device, self.order = array, array.device, len(array)

    def block(self, items: Tensor) -> Any:
        return self.array[items[:, :, None], items[:, None, :]]

    def follow(self, F: Tensor, items: Tensor, rows: Tensor, change: Tensor) -> None:
        take_from_slopes(F, self.array, items, rows, change)

    def values(self, C: Tensor) -> Any:
        import torch

        found = torch.empty_like(C)
        height = max(STRIPE_ENTRIES // self.order, 1)
        for start in range(0, self.order, height):
            rows = slice(start, start + height)
            found[rows] = self.array[rows].double() @ C
        return found


class Climber:
    """Programs on one Gram matrix, and how far they are.

    Parameters
    ----------
    gram : DeviceGram
    programs : sequence of BoxProgram
    tol : float
    steps : int
        The most steps of a program.
    """

    def __init__(
        self, gram: DeviceGram, programs: Sequence[BoxProgram], tol: float, steps: int
    ) -> None:
        import torch

        self.gram, self.programs, self.tol, self.limit = gram, programs, tol, steps
        count, width = len(programs), max(program.count for program in programs)
        self.working = self._working(width)
        # Places without a variable have a box of width zero, so that nothing moves there.
        width = max(width, self.working)

        def table(name: str, dtype: Any) -> Any:
            found = np.zeros((count, width), dtype=dtype)
            for row, program in zip(found, programs, strict=True):
                row[: program.count] = getattr(program, name)
            return torch.from_numpy(found).to(gram.device)

        self.items = table("items", np.int32)
        self.target, self.lower = table("target", np.float64), table("lower", np.float64)
        self.upper, self.beta = table("upper", np.float64), table("start", np.float64)
        groups = any(program.group.any() for program in programs)
        self.group: Any = table("group", np.int32) if groups else None
        self.F = self.target.clone()
        self.taken = np.zeros(count, dtype=np.int64)
        self.histories: list[list[float]] = [[] for _ in programs]
        # Programs of all items in their order share what their slopes are computed from.
        self.shared = bool(
            width == gram.order
            and (self.items == torch.arange(width, device=gram.device, dtype=torch.int32)).all()
        )

    def _working(self, width: int) -> int:
        most = MAX_WORKING_ALONE if len(self.programs) <= FEW_PROGRAMS else MAX_WORKING
        return int(min(most, max(MIN_WORKING, 1 << (width - 1).bit_length())))

    # ---- the way up ---------------------------------------------------------------------------

    def run(self) -> list[Climbed]:
        """Climb until all programs are solved, or have given up."""
        import torch

        count = len(self.programs)
        best = np.full(count, -np.inf)
        idle = np.zeros(count, dtype=np.int64)
        exact = ~to_numpy((self.beta != 0).any(dim=1))  # of nothing the slopes are known
        if not exact.all():
            self.renew(np.flatnonzero(~exact))
            exact[:] = True
        live = np.arange(count)
        while len(live):
            places = torch.as_tensor(live, device=self.gram.device)
            violation, objective = to_numpy(self.state_of(places))
            if not np.isfinite(objective).all():
                raise ValidityError(f"similarities are too large: {NOT_FINITE}")
            for p, v in zip(live, violation, strict=True):
                self.histories[p].append(float(v))
            risen = objective > best[live] + SMALLEST_RISE * np.abs(objective)
            best[live] = np.maximum(best[live], objective)
            idle[live] = np.where(risen, 0, idle[live] + 1)
            ended = violation <= self.tol
            ended |= (self.taken[live] >= self.limit) | (idle[live] > IDLE_ROUNDS)
            again = live[ended & ~exact[live]]
            if len(again):
                self.renew(again)
                exact[again] = True
                still = to_numpy(self.state_of(torch.as_tensor(again, device=self.gram.device)))[0]
                best[again] = -np.inf  # of slopes that had drifted
                ended[np.isin(live, again[still > self.tol])] = False
                ended |= (self.taken[live] >= self.limit) | (idle[live] > IDLE_ROUNDS)
            live, goal = live[~ended], violation[~ended]
            for part in self._portions(live, goal):
                self.round(*part)
                exact[part[0]] = False
        return [self._result(p) for p in range(count)]

    def round(self, which: np.ndarray, violation: np.ndarray) -> None:
        """Climb on a working set of each of some programs."""
        import torch

        device, w = self.gram.device, self.working
        places = torch.as_tensor(which, device=device)
        chosen = self.select(places)
        here = places[:, None]
        items = self.items[here, chosen]
        K = self.gram.block(items.long())
        F, beta = self.F[here, chosen], self.beta[here, chosen]
        before = beta.clone()
        group = None if self.group is None else self.group[here, chosen].contiguous()
        goals = np.maximum(0.5 * self.tol, 0.1 * violation)
        room = int(max(min((self.limit - self.taken[which]).max(), STEPS_A_VARIABLE * w), 1))
        steps = optimize_sets(
            K, F, beta, self.lower[here, chosen], self.upper[here, chosen], group,
            torch.as_tensor(goals, device=device), room,
        )  # fmt: skip
        self.beta[here, chosen] = beta
        self._follow(places, items, beta - before)
        self.taken[which] += to_numpy(steps)

    def select(self, places: Tensor) -> Any:
        """Return the variables of the next round, a row for each program."""
        import torch

        w, m = self.working, self.F.shape[1]
        if m == w:
            return torch.arange(w, device=places.device).expand(len(places), w)
        rank = torch.zeros((len(places), m), dtype=torch.float32, device=places.device)
        F, beta = self.F[places], self.beta[places]
        grows, shrinks = beta < self.upper[places], beta > self.lower[places]
        rank += (grows & shrinks) * 0.5  # the free ones fill what is left
        groups = [None] if self.group is None else [0, 1]
        half = w // (2 * len(groups))
        for g in groups:
            inside = True if g is None else self.group[places] == g
            up = torch.where(grows & inside, F, -torch.inf)
            low = torch.where(shrinks & inside, -F, -torch.inf)
            tops = up.amax(dim=1), low.amax(dim=1)
            for gain, other in ((up, tops[1]), (low, tops[0])):
                value, where = gain.topk(half, dim=1)
                violates = value > -other[:, None]
                old = rank.gather(1, where)
                rank.scatter_(1, where, torch.where(violates, 1.0, old))
        return rank.topk(w, dim=1, sorted=False).indices.sort(dim=1).values

    def violations(self, places: Tensor) -> Any:
        """Return the largest violation of each of some programs."""
        import torch

        F, beta = self.F[places], self.beta[places]
        up = torch.where(beta < self.upper[places], F, -torch.inf)
        low = torch.where(beta > self.lower[places], F, torch.inf)
        if self.group is None:
            return (up.amax(dim=1) - low.amin(dim=1)).clamp(min=0.0)
        group = self.group[places]
        found = [
            torch.where(group == g, up, -torch.inf).amax(dim=1)
            - torch.where(group == g, low, torch.inf).amin(dim=1)
            for g in (0, 1)
        ]
        return torch.stack(found).amax(dim=0).clamp(min=0.0)

    def state_of(self, places: Tensor) -> Any:
        """Return the violation and the objective of each of some programs, in two rows."""
        import torch

        beta, F = self.beta[places], self.F[places]
        objective = torch.linalg.vecdot(beta, self.target[places] + F) / 2
        return torch.stack([self.violations(places), objective])

    # ---- slopes -------------------------------------------------------------------------------

    def _follow(self, places: Tensor, items: Tensor, change: Tensor) -> None:
        import torch

        if self.shared and len(places) >= DENSE_PROGRAMS:
            C = torch.zeros(
                (len(places), self.gram.order), dtype=torch.float64, device=self.F.device
            )
            C.scatter_add_(1, items.long(), change)
            self.F[places] -= self.gram.values(C.T).T
            return
        F = self.F[places]
        self.gram.follow(
            F, self.items[places].contiguous(), items.contiguous(), change.contiguous()
        )
        self.F[places] = F

    def renew(self, which: np.ndarray) -> None:
        """Compute slopes from β alone, in double precision."""
        import torch

        n = self.gram.order
        size = max(STRIPE_ENTRIES // (2 * n), 1)
        for start in range(0, len(which), size):
            places = torch.as_tensor(which[start : start + size], device=self.F.device)
            C = torch.zeros((len(places), n), dtype=torch.float64, device=self.F.device)
            items = self.items[places].long()
            C.scatter_add_(1, items, self.beta[places])
            values = self.gram.values(C.T.contiguous()).T
            self.F[places] = self.target[places] - values.gather(1, items)

    def _portions(
        self, live: np.ndarray, violation: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Cut programs into portions whose working sets' matrices fit."""
        each = 12 * self.working**2 + 64 * self.F.shape[1]
        size = int(max(BLOCK_SHARE * free_bytes(self.gram.device) / each, 1))
        cuts = range(0, len(live), size)
        return [(live[s : s + size], violation[s : s + size]) for s in cuts]

    def _result(self, p: int) -> Climbed:
        m = self.programs[p].count
        beta, slopes = (to_numpy(values[p, :m].cpu()) for values in (self.beta, self.F))
        return Climbed(beta, slopes, int(self.taken[p]), tuple(self.histories[p]))


class RowsGram:
    """A Gram matrix whose parts are computed as they are needed, from rows that stay.

    Parameters
    ----------
    gram : OnDevice
    """

    def __init__(self, gram: Any) -> None:
        self.gram, self.device, self.order = gram, gram.device, gram.order
        self.rows = gram.rows.all()
        self.left = gram.engine.ready(self.rows, "first")
        self.exact = gram.engine if gram.precision == "double" else gram.in_double().engine

    def block(self, items: Tensor) -> Any:
        import torch

        dtype = torch.float64 if self.gram.precision == "double" else torch.float32
        found = [self.gram.similarities(self.rows[some], None).to(dtype) for some in items]
        return torch.stack(found)

    def follow(self, F: Tensor, items: Tensor, rows: Tensor, change: Tensor) -> None:
        engine = self.gram.engine
        for p in range(len(F)):
            moved = change[p] != 0
            right = engine.ready(self.rows[rows[p][moved].long()], "second")
            values = engine.multiply(self.left, right, change[p][moved][:, None])
            F[p] -= values[items[p].long(), 0]

    def values(self, C: Tensor) -> Any:
        import torch

        used = torch.nonzero((C != 0).any(dim=1)).ravel()
        left, right = self.exact.ready(self.rows, "first"), self.rows[used]
        return self.exact.multiply(left, self.exact.ready(right, "second"), C[used])


def climb_on(
    gram: Any, array: Any, programs: Sequence[BoxProgram], tol: float, steps: int
) -> list[Climbed] | None:
    """Solve programs on a device as far as its memory allows; None if there is no room at all.

    Parameters
    ----------
    gram : OnDevice or None
        Rows from which parts of the matrix can be computed.
    array : callable
        () ↦ the whole matrix on the device, or None if it does not fit.
    programs : sequence of BoxProgram
    tol : float
    steps : int
    """
    whole: Any = None
    ways = [array, None] if gram is not None else [array]
    for way in ways:
        at_once = len(programs)
        while at_once:
            try:
                if way is None:
                    whole = RowsGram(gram)
                elif whole is None:
                    whole = way()
                if whole is None:
                    break
                found: list[Climbed] = []
                for start in range(0, len(programs), at_once):
                    some = programs[start : start + at_once]
                    found += Climber(whole, some, tol, steps).run()
                return found
            except Exception as error:
                if is_lost(error):
                    device = gram.device if whole is None else whole.device
                    warn_lost("steps of pairs of variables", device, str(error).splitlines()[0])
                    return None
                if not is_full(error):
                    raise
            # Outside of the except clause, because the error holds the tensors of its frames.
            empty_cache()
            at_once = at_once // 2 if whole is not None else 0
        whole = None
        empty_cache()
    return None


def whole_matrix(gram: Any, each: int) -> StoredGram | None:
    """Return the whole matrix of rows on a device, in numbers of so many bytes, if it fits.

    Raises `ValidityError` if such numbers cannot hold it.
    """
    import torch

    n = gram.order
    if not fits(n, each, gram.device):
        return None
    K = allocate((n, n), torch.float32 if each == 4 else torch.float64, gram.device)
    gram.fill_there(K)
    if not bool(torch.isfinite(torch.stack(torch.aminmax(K))).all()):
        raise ValidityError(f"similarities are too large: {NOT_FINITE}")
    return StoredGram(K)


def fits(order: int, each: int, device: Tensor) -> bool:
    """Tell whether a matrix may be stored on a device."""
    return each * order**2 <= MATRIX_SHARE * free_bytes(device)


class ArrayOnDevice:
    """A Gram matrix of the host, climbed on in a device's memory.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> z = np.array([1.0, -1.0])
    >>> program = BoxProgram(
    ...     np.arange(2), z, np.minimum(9 * z, 0), np.maximum(9 * z, 0), 0 * z, np.zeros(2, int)
    ... )
    >>> K = ArrayOnDevice(np.array([[1.0, -1.0], [-1.0, 1.0]]), torch.device("cpu"))
    >>> K.climb([program], 1e-3, 1000)[0].beta
    array([ 0.5, -0.5])
    """

    def __init__(self, array: np.ndarray, device: Tensor) -> None:
        self.array, self.device = array, device

    @property
    def pieces(self) -> GramRanges:
        return GramRanges(self.array)

    def climb(
        self, programs: Sequence[BoxProgram], tol: float, steps: int
    ) -> list[Climbed] | None:
        def whole() -> StoredGram | None:
            each = self.array.dtype.itemsize
            room = fits(len(self.array), each, self.device)
            return stored(self.array, self.device) if room else None

        return climb_on(None, whole, programs, tol, steps)


def stored(array: np.ndarray, device: Tensor) -> StoredGram:
    """Return a matrix of the host on a device, copied in stripes."""
    import torch

    n = len(array)
    dtype = torch.float32 if array.dtype == np.float32 else torch.float64
    found = allocate((n, n), dtype, device)
    height = max(STRIPE_ENTRIES // n, 1)
    for start in range(0, n, height):
        rows = np.ascontiguousarray(array[start : start + height])
        found[start : start + height] = torch.from_numpy(rows).to(device)
    return StoredGram(found)
