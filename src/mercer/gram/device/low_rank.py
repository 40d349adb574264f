"""A factor of low rank near a Gram matrix, made and kept on a device.

The columns are drawn as in `mercer.solvers.pivoted_cholesky`, a block at a time with rejection,
but blocks are larger, and everything whose size is that of the items stays on the device: the
factor, in double precision, and the products with it. Where its memory is full, the factor has
fewer columns: the steps that it preconditions are then more, and their answer is the same.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import PlanWarning
from mercer.gram.device.blocks import in_parts
from mercer.gram.device.devices import allocate, empty_cache, free_bytes, is_full
from mercer.gram.device.streaming import tensor
from mercer.gram.low_rank import LinearMap, accept_columns

__all__ = ["DeviceFactor", "factor_bytes", "pivoted_on_device", "rank_on_device"]

DRAWN_AT_ONCE = 512  # columns
MIN_COLUMNS = 64  # of a factor that is worth its while
MAX_COLUMNS = 8000  # with more, their own system takes longer than the steps that they save
STRIPE_ENTRIES = 1 << 27  # of a block of columns in double precision, before it is orthogonal
MAX_SHARE = 0.6  # of the free memory, for the factor


class DeviceFactor:
    """F with FFᵀ near K, on a device, a row of the tensor for each column of F.

    Attributes
    ----------
    rows : tensor of shape (rank, n)
    left : ndarray of shape (n,)
        The diagonal of K − FFᵀ.
    """

    def __init__(self, rows: Any, left: np.ndarray) -> None:
        self.rows, self.left = rows, left

    @property
    def rank(self) -> int:
        return int(self.rows.shape[0])

    def inverse(self, penalty: float, roots: np.ndarray | None = None) -> LinearMap | None:
        """Return V ↦ (SFFᵀS + λI)⁻¹V, or None if there is none; `roots` are the diagonal of S."""
        import torch

        if not self.rank:
            return lambda V: V / penalty
        F, device = self.rows, self.rows.device
        s = None if roots is None else tensor(roots, device)[:, None]
        G = torch.zeros((self.rank, self.rank), dtype=F.dtype, device=device)

        def add(some: slice) -> None:
            part = F[:, some] if s is None else F[:, some] * s[some].T
            G.addmm_(part, part.T)

        in_parts(int(F.shape[1]), max(STRIPE_ENTRIES // self.rank, 1), add)
        G.diagonal().add_(penalty)
        if not bool(torch.isfinite(G).all()):
            return None
        L, info = torch.linalg.cholesky_ex(G)
        if int(info) != 0:
            return None

        def inverse(V: np.ndarray) -> np.ndarray:
            v = tensor(V, device)
            seen = v if s is None else s * v
            found = F.T @ torch.cholesky_solve(F @ seen, L)
            return to_numpy((v - (found if s is None else s * found)) / penalty)

        return inverse


def factor_bytes(items: int, rank: int) -> int:
    """Return what a factor takes of a device's memory, with its system and a block of columns."""
    stripes = min(STRIPE_ENTRIES, DRAWN_AT_ONCE * items)
    return 8 * items * rank + 24 * rank**2 + 4 * 8 * stripes


def rank_on_device(items: int, free: int) -> int:
    """Return how many columns are worth their while and fit."""
    room = MAX_SHARE * free - factor_bytes(items, 0)
    return int(max(min(room / (8 * items), MAX_COLUMNS, items), min(MIN_COLUMNS, items)))


def pivoted_on_device(gram: Any, rank: int, enough: float, seed: int) -> DeviceFactor:
    """Return a factor of at most this rank, of fewer columns if no more fit.

    Parameters
    ----------
    gram : OnDevice
    rank : int
    enough : float
        Stops as soon as the trace of what is left is no more than this.
    seed : int
    """
    asked = rank = min(rank, gram.order, rank_on_device(gram.order, free_bytes(gram.device)))
    while True:
        try:
            return _pivoted(gram, rank, enough, seed)
        except Exception as error:
            if not is_full(error):
                raise
        empty_cache()
        rank //= 2
        if rank < MIN_COLUMNS:
            raise MemoryError(
                f"a preconditioner of {gram.order} items does not fit into the memory of "
                f"{gram.device}, not even with {MIN_COLUMNS} columns"
            )
        warnings.warn(
            f"a preconditioner with {asked} columns does not fit into the memory of "
            f"{gram.device}; it has {rank}, which means more steps and the same answer",
            PlanWarning,
            stacklevel=2,
        )


def _pivoted(gram: Any, rank: int, enough: float, seed: int) -> DeviceFactor:
    import torch

    n, rng, device = gram.order, np.random.default_rng(seed), gram.device
    left = tensor(gram.diagonal(), device)
    floor = 1e-13 * float(left.max())  # what is left below it is noise
    F = allocate((rank, n), torch.float64, device)
    done, idle = 0, 0
    while done < rank and idle < 5:  # blocks in a row without an accepted column
        left[left < floor] = 0.0
        sums = torch.cumsum(left, 0)
        total = float(sums[-1])
        if total <= enough or total <= 0:
            break
        drawn = _drawn(rng, sums, min(DRAWN_AT_ONCE, n))
        H = _block(gram, F[:done], drawn)
        before = to_numpy(left[torch.as_tensor(drawn, device=device)])
        kept, L = accept_columns(to_numpy(H), before, floor, rng, rank - done)
        if not len(kept):
            idle += 1
            continue
        idle = 0
        _append(gram, F, done, drawn[kept], tensor(L, device), left)
        left.clamp_(min=0.0)
        left[torch.as_tensor(drawn[kept], device=device)] = 0.0
        done += len(kept)
    return DeviceFactor(F[:done], to_numpy(left))


def _drawn(rng: np.random.Generator, sums: Any, count: int) -> np.ndarray:
    """Return items drawn with probabilities whose sums are given, each once, in their order."""
    import torch

    chances = tensor(rng.random(count), sums.device) * sums[-1]
    found = to_numpy(torch.searchsorted(sums, chances, right=True)).clip(0, len(sums) - 1)
    return found[np.sort(np.unique(found, return_index=True)[1])]


def _block(gram: Any, F: Any, items: np.ndarray) -> Any:
    """Return what is left of K at some items."""
    import torch

    rows = gram._some(items).double()
    chosen = F[:, torch.as_tensor(items, device=F.device)]
    return gram.similarities(rows, rows) - chosen.T @ chosen


def _append(gram: Any, F: Any, done: int, items: np.ndarray, L: Any, left: Any) -> None:
    """Write the columns of some items, made orthogonal, into F, and update what is left."""
    import torch

    rows = gram._some(items).double()
    chosen = F[:done, torch.as_tensor(items, device=F.device)].T.contiguous()

    def use(some: slice) -> None:
        new = gram.similarities(rows, gram.rows.all()[some].double())
        if done:
            new = new.addmm_(chosen, F[:done, some], alpha=-1.0)
        new = torch.linalg.solve_triangular(L, new, upper=False)
        F[done : done + len(items), some] = new
        left[some] -= torch.linalg.vecdot(new, new, dim=0)

    in_parts(gram.order, max(STRIPE_ENTRIES // len(items), 256), use)
