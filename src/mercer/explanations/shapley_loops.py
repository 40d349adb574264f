"""Loops that divide a sum of products among its factors, exactly.

The Shapley value of factor j in v(S) = Π_{d∈S} p_d Π_{d∉S} q_d is an integral over the diagonal of
the game's multilinear extension (Owen, 1972):

    φ_j = (p_j − q_j) ∫₀¹ Π_{d≠j} (t p_d + (1 − t) q_d) dt

The integrand is a polynomial of degree D − 1, so that ⌈D/2⌉ nodes of Gauss and Legendre give it
without an error. With q = 1 it is the sum over elementary symmetric polynomials of PKeX-Shapley
(Mohammadi, Chau & Muandet, 2025, arXiv 2505.16516) in other words, but without divisions and
alternating signs: the products without one factor come from both ends, no factor is divided by,
and where factors are not negative nothing cancels.
"""

from __future__ import annotations

import numpy as np

from mercer.compiled import compiled

__all__ = ["divide", "nodes"]

LANES = 32  # known items that are looked at together: their factors stay in the first cache


def nodes(factors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1] that integrate products of all factors but one.

    Examples
    --------
    >>> t, w = nodes(3)
    >>> round(float(w @ t**2), 12)
    0.333333333333
    """
    t, w = np.polynomial.legendre.leggauss(max(-(-factors // 2), 1))
    return (t + 1) / 2, w / 2


@compiled(fastmath={"reassoc", "contract", "nsz"})
def divide(P, Q, W, t, w, shares, base):
    """Add Σᵢ W[r, i] φ_d of the factors P[d, r, i], Q[d, i] to shares[r, d].

    Σᵢ W[r, i] Π_d Q[d, i], which is nobody's, is added to base[r].
    """
    depth, rows, count = P.shape
    factor, before = np.empty((depth, LANES)), np.empty((depth, LANES))
    total, after = np.empty((depth, LANES)), np.empty(LANES)
    for r in range(rows):
        for first in range(0, count, LANES):
            lanes = min(LANES, count - first)
            total[:, :] = 0.0
            for node in range(len(t)):
                after[:] = 1.0
                for d in range(depth):
                    p, q = P[d, r, first : first + lanes], Q[d, first : first + lanes]
                    for c in range(lanes):
                        before[d, c] = after[c]
                        factor[d, c] = q[c] + t[node] * (p[c] - q[c])
                        after[c] *= factor[d, c]
                after[:] = w[node]
                for d in range(depth - 1, -1, -1):
                    for c in range(lanes):
                        total[d, c] += before[d, c] * after[c]
                        after[c] *= factor[d, c]
            after[:] = 1.0
            for d in range(depth):
                p, q = P[d, r, first : first + lanes], Q[d, first : first + lanes]
                share = 0.0
                for c in range(lanes):
                    share += W[r, first + c] * (p[c] - q[c]) * total[d, c]
                    after[c] *= q[c]
                shares[r, d] += share
            rest = 0.0
            for c in range(lanes):
                rest += W[r, first + c] * after[c]
            base[r] += rest
