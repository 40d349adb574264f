"""Steps of pairs of variables on a device: small quadratic programs, many at the same time.

Each program has a working set of the same size and a dense matrix of its own. The steps are those
of `mercer.solvers.smo`: of a group, variable i is the one that may grow and wants to most, and j
the one that may shrink and promises the largest increase. With Triton an instance of one kernel
has a program in its registers and goes on alone, so that no step waits for another program or for
the host. Without it Torch takes one step of all programs at a time, which is slow on a GPU, and
what tests compare the kernel with.
"""

from __future__ import annotations

from typing import Any

from mercer.gram.device.devices import Tensor
from mercer.gram.device.fused import available, compiled, on_device

__all__ = ["optimize_sets", "optimize_sets_by_torch", "take_from_slopes"]

# As in `mercer.solvers.smo`: curvatures below these shares of Kᵢᵢ + Kⱼⱼ are rounding.
MIN_CURVATURE = 1e-12
TINY = 1e-30
CANNOT_MOVE = 1e300
COLUMNS_AT_ONCE = 512  # slopes that one instance of a kernel updates


def optimize_sets(
    K: Tensor,
    F: Tensor,
    beta: Tensor,
    lower: Tensor,
    upper: Tensor,
    group: Tensor,
    goals: Tensor,
    limit: int,
) -> Any:
    """Move pairs of variables until none of a program violates optimality by more than its goal.

    Parameters
    ----------
    K : tensor of shape (programs, w, w)
    F, beta : tensor of shape (programs, w), double precision
        Changed.
    lower, upper : tensor of shape (programs, w), double precision
    group : tensor of shape (programs, w), int32
        Or None where all variables are of one group.
    goals : tensor of shape (programs,), double precision
    limit : int
        The most steps of a program.

    Returns
    -------
    tensor of shape (programs,), int64
        The steps.
    """
    import torch

    width = int(F.shape[1])
    if not available(str(F.device)) or width & (width - 1):
        return optimize_sets_by_torch(K, F, beta, lower, upper, group, goals, limit)
    diagonal = torch.diagonal(K, dim1=1, dim2=2).double().contiguous()
    steps = torch.zeros(len(F), dtype=torch.int64, device=F.device)
    groups = 1 if group is None else 2
    given = steps if group is None else group
    kernel = compiled(CLIMB, "climb")
    with on_device(F.device):
        kernel[(len(F),)](
            K, F, beta, lower, upper, given, diagonal, goals, steps, limit,
            W=width, GROUPS=groups, num_warps=max(min(width // 128, 16), 1),
        )  # fmt: skip
    return steps


def optimize_sets_by_torch(
    K: Tensor,
    F: Tensor,
    beta: Tensor,
    lower: Tensor,
    upper: Tensor,
    group: Tensor,
    goals: Tensor,
    limit: int,
) -> Any:
    """Do the same with Torch, one step of all programs at a time."""
    import torch

    count = len(F)
    diagonal = torch.diagonal(K, dim1=1, dim2=2).double()
    steps = torch.zeros(count, dtype=torch.int64, device=F.device)
    here = torch.arange(count, device=F.device)
    none = torch.full_like(F, CANNOT_MOVE)
    for _ in range(limit):
        up = torch.where(beta < upper, F, -none)
        low = torch.where(beta > lower, F, none)
        top, i = up.max(dim=1)
        left = top - low.amin(dim=1)
        if group is not None:
            found = [torch.where(group == g, up, -none).max(dim=1) for g in (0, 1)]
            bottoms = [torch.where(group == g, low, none).amin(dim=1) for g in (0, 1)]
            lefts = torch.stack([a.values - b for a, b in zip(found, bottoms, strict=True)])
            left, which = lefts.max(dim=0)
            top = torch.where(which == 0, found[0].values, found[1].values)
            i = torch.where(which == 0, found[0].indices, found[1].indices)
            low = torch.where(group == which[:, None], low, none)
        live = left > goals
        if not bool(live.any()):
            break
        row = K[here, i].double()
        lengths = diagonal[here, i][:, None] + diagonal
        curvature = (lengths - 2 * row).clamp(min=0.0)
        curvature = torch.maximum(curvature, MIN_CURVATURE * lengths + TINY)
        rise = (top[:, None] - low).clamp(min=0.0)
        gain, j = (rise * rise / curvature).max(dim=1)
        live &= gain > 0
        step = (top - F[here, j]) / curvature[here, j]
        room = torch.minimum((upper - beta)[here, i], (beta - lower)[here, j])
        step = torch.where(live, torch.minimum(step, room), torch.zeros_like(step))
        F -= step[:, None] * (row - K[here, j].double())
        grown, shrunk = beta[here, i] + step, beta[here, j] - step
        full = live & (step >= (upper - beta)[here, i])
        empty = live & (step >= (beta - lower)[here, j])
        beta[here, j] = torch.where(empty, lower[here, j], shrunk)
        beta[here, i] = torch.where(full, upper[here, i], torch.where(live, grown, beta[here, i]))
        steps += live
    return steps


def take_from_slopes(F: Tensor, K: Tensor, items: Tensor, rows: Tensor, change: Tensor) -> None:
    """Take K[items, rows] @ change from the slopes of each program.

    Parameters
    ----------
    F : tensor of shape (programs, m), double precision
        Changed.
    K : tensor of shape (n, n)
    items : tensor of shape (programs, m), int32
    rows : tensor of shape (programs, w), int32
    change : tensor of shape (programs, w), double precision
    """
    if available(str(F.device)):
        kernel = compiled(TAKE, "take")
        count, m = map(int, F.shape)
        with on_device(F.device):
            kernel[(count, -(-m // COLUMNS_AT_ONCE))](
                F, K, items, rows, change, K.stride(0), m, int(rows.shape[1]),
                BN=COLUMNS_AT_ONCE, num_warps=4,
            )  # fmt: skip
        return
    for p in range(len(F)):
        moved = change[p] != 0
        part = K[rows[p][moved].long()].double()
        F[p] -= (change[p][moved] @ part)[items[p].long()]


CLIMB = """@triton.jit
def _higher(f, i, b, g, other_f, other_i, other_b, other_g):
    first = (f > other_f) | ((f == other_f) & (i < other_i))
    lowest = tl.where(g < other_g, g, other_g)
    return (tl.where(first, f, other_f), tl.where(first, i, other_i),
            tl.where(first, b, other_b), lowest)

@triton.jit
def _better(gain, j, f, b, other_gain, other_j, other_f, other_b):
    first = (gain > other_gain) | ((gain == other_gain) & (j < other_j))
    return (tl.where(first, gain, other_gain), tl.where(first, j, other_j),
            tl.where(first, f, other_f), tl.where(first, b, other_b))

@triton.jit
def climb(K, F, B, L, U, G, D, goals, steps, limit, W: tl.constexpr, GROUPS: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    w = tl.arange(0, W)
    K += p * W * W
    L += p * W
    U += p * W
    D += p * W
    f = tl.load(F + p * W + w)
    b = tl.load(B + p * W + w)
    lower = tl.load(L + w)
    upper = tl.load(U + w)
    heights = tl.load(D + w)
    if GROUPS == 2:
        g = tl.load(G + p * W + w)
    goal = tl.load(goals + p)
    count = 0
    going = count < limit
    while going:
        if GROUPS == 1:
            up = tl.where(b < upper, f, -1e300)
            low = tl.where(b > lower, f, 1e300)
            top, i, bi, bottom = tl.reduce((up, w, b, low), 0, _higher)
        else:
            up = tl.where((b < upper) & (g == 0), f, -1e300)
            low = tl.where((b > lower) & (g == 0), f, 1e300)
            top, i, bi, bottom = tl.reduce((up, w, b, low), 0, _higher)
            up = tl.where((b < upper) & (g == 1), f, -1e300)
            low1 = tl.where((b > lower) & (g == 1), f, 1e300)
            top1, i1, bi1, bottom1 = tl.reduce((up, w, b, low1), 0, _higher)
            second = top1 - bottom1 > top - bottom
            top = tl.where(second, top1, top)
            bottom = tl.where(second, bottom1, bottom)
            i = tl.where(second, i1, i)
            bi = tl.where(second, bi1, bi)
            low = tl.where(second, low1, low)
        row = tl.load(K + i * W + w).to(tl.float64)
        height = tl.load(D + i)
        lengths = height + heights
        curvature = tl.maximum(lengths - 2.0 * row, 0.0)
        curvature = tl.maximum(curvature, 1e-12 * lengths + 1e-30)
        rise = tl.maximum(top - low, 0.0)
        gains = (rise * rise / curvature).to(tl.float32)
        gain, j, fj, bj = tl.reduce((gains, w, f, b), 0, _better)
        going = (top - bottom > goal) & (gain > 0.0)
        if going:
            kij = tl.load(K + i * W + j).to(tl.float64)
            length = height + tl.load(D + j)
            curve = tl.maximum(length - 2.0 * kij, 0.0)
            curve = tl.maximum(curve, 1e-12 * length + 1e-30)
            ui = tl.load(U + i)
            lj = tl.load(L + j)
            room = ui - bi
            other = bj - lj
            step = tl.minimum((top - fj) / curve, tl.minimum(room, other))
            grown = tl.where(step >= room, ui, bi + step)
            shrunk = tl.where(step >= other, lj, bj - step)
            f -= step * (row - tl.load(K + j * W + w).to(tl.float64))
            b = tl.where(w == j, shrunk, b)
            b = tl.where(w == i, grown, b)
            count += 1
            going = count < limit
    tl.store(F + p * W + w, f)
    tl.store(B + p * W + w, b)
    tl.store(steps + p, count.to(tl.int64))
"""


TAKE = """@triton.jit
def take(F, K, items, rows, change, stride, m, w, BN: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    here = j < m
    columns = tl.load(items + p * m + j, mask=here, other=0).to(tl.int64)
    total = tl.zeros([BN], tl.float64)
    for k in range(0, w, 4):
        for q in tl.static_range(4):
            c = tl.load(change + p * w + k + q)
            row = tl.load(rows + p * w + k + q).to(tl.int64)
            total += c * tl.load(K + row * stride + columns).to(tl.float64)
    f = tl.load(F + p * m + j, mask=here, other=0.0)
    tl.store(F + p * m + j, f - total, mask=here)
"""
