"""Conjugate gradients in the kernel's own inner product.

The operator λ + HK, with any positive semi-definite H, is not symmetric as a matrix, but it is in
the inner product ⟨u, v⟩ = uᵀKv of the functions Σ uᵢ k(·, xᵢ): there it is λ + Σ Hᵢ k(·, xᵢ)⊗k(·,
xᵢ). Conjugate gradients (Hestenes & Stiefel, 1952) need only that. What they minimize is a
quadratic function on the kernel's space, so it falls with each step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer.gram import Operator

__all__ = ["Map", "conjugate"]

Map = Callable[[np.ndarray], np.ndarray]


def conjugate(
    gram: Operator,
    apply: Callable[[np.ndarray, np.ndarray], np.ndarray],
    right: np.ndarray,
    accuracy: float,
    limit: int,
    precondition: Map | None = None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Solve A x = right by conjugate gradients in the inner product uᵀKv.

    `apply(p, Kp)` returns Ap; a preconditioner P⁻¹ must have P ≥ A. Stops when the norm of the
    residual, in the preconditioner's metric, has fallen to `accuracy` times its first value.
    Returns x, Kx and the number of steps.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[4.0], [5.0]])
    >>> x, Kx, steps = conjugate(Dense(K), lambda p, Kp: p + Kp, y, 1e-12, 10)
    >>> x.ravel().round(9), steps
    (array([0.875, 1.375]), 2)
    """
    near = precondition or (lambda rest: rest)
    rest = right.copy()
    x, Kx = np.zeros_like(right), np.zeros_like(right)
    z = near(rest)
    Kz = gram @ z
    p, Kp = z.copy(), Kz
    size = first = float(np.sum(rest * Kz))
    count = 0
    while count < limit and size > 0:
        Ap = apply(p, Kp)
        curved = float(np.sum(Kp * Ap))
        if curved <= 0:
            break
        t = size / curved
        x += t * p
        Kx += t * Kp
        rest -= t * Ap
        count += 1
        z = near(rest)
        Kz = gram @ z
        size, before = float(np.sum(rest * Kz)), size
        if size <= accuracy**2 * first:
            break
        p = z + (size / before) * p
        Kp = Kz + (size / before) * Kp
    if precondition is None:
        return x, Kx, count
    # Coefficients along directions that K does not see are left to this last step.
    return x + z, Kx + Kz, count
