"""Davidson: a few of the largest eigenvalues, from few products with a matrix never stored.

A product with such a matrix computes all similarities again, so everything else is cheap beside
it. A factor F of low rank with FFᵀ near K, made of few columns of K, serves twice:

- its leading vectors are where the iteration begins, close to the answer;
- the residual r = Kv − θv of a vector is turned by (θ − FFᵀ)⁻¹ into the correction that would
  end the iteration if K were FFᵀ. It gains the more digits, the less K − FFᵀ is beside θ.

The corrections extend the basis in which the best vectors are sought (Davidson, 1975; Morgan &
Scott, 1986). The products of K with the basis are kept, so that residuals, also the last ones,
are true ones and cost nothing.

Residuals prove that there are eigenvalues near those that were found, not that these are the
largest. A unit vector that is orthogonal to those with which the iteration began has vᵀKv ≤ c =
d + t, where d is the largest eigenvalue of FFᵀ that was left out and t the trace of K − FFᵀ. An
eigenvalue above the last one asked for, θ, could still be made of both: of such vectors and of
those in the basis that were not asked for, with values Θ and residuals R. By Schur's complement
there is none if no eigenvalue of (θ − Θ)^(−½) RᵀR (θ − Θ)^(−½) is larger than θ − c. The iteration
goes on until that holds. Where c is not below θ, or the matrix may have negative eigenvalues, a
few vectors that begin at random are multiplied again and again beside the others, as in Lanczos'
method, and find what the factor has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mercer.gram import Operator
from mercer.gram.centered import Centered
from mercer.lapack import EPS
from mercer.progress import convergence
from mercer.solvers.cost import (
    FLOP_SECONDS,
    Cost,
    Requirements,
    Size,
    item_bytes,
    product_seconds,
)
from mercer.solvers.eigenpairs import Eigenpairs, certify_eigenpairs
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.pivoted_cholesky import BLOCK_COLUMNS, MIN_RANK, pivoted_cholesky
from mercer.solvers.ridge.solver import ended
from mercer.threads import one_blas_thread
from mercer.values import Seed

__all__ = ["Davidson"]

RANDOM_PROBES = 8  # vectors that look for what the factor may have missed
MIN_PROBE_PRODUCTS = 5  # products with them before the iteration may end
# Leading vectors of the factor in the first block, for each that is asked for: at least, at most.
MIN_LEADING, MAX_LEADING = 2, 4
MIN_GAP_SHARE = 0.1  # values of the factor at least this share below θ are told apart from it
RESIDUAL_ROWS = 4096  # of residuals that are computed at a time


@dataclass(frozen=True)
class Davidson:
    """Find the largest eigenvalues by Davidson's method with a factor of low rank.

    Parameters
    ----------
    rank : int
        Columns of the factor, at most.
    tol : float
        Stop when every |Kv − λv| ≤ tol·λ, or is at the level of rounding.
    passes : int, optional
        Stop after this many products, whatever the residuals are.
    max_passes : int
    random_state : int, RandomState or None
        For the factor's columns and the vectors that look for what it has missed.
    definite : bool
        Whether the matrix is known to be positive semi-definite. Nothing can be concluded from
        the factor of one that is not.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> gram = Dense(np.diag(np.arange(100.0)))
    >>> Davidson(rank=50, random_state=0).solve(gram, 3).values.round(9)
    array([99., 98., 97.])
    """

    rank: int = 1000
    tol: float = 1e-10
    passes: int | None = None
    max_passes: int = 300
    random_state: Seed = None
    definite: bool = True

    requires: ClassVar[Requirements] = Requirements(similarities=True)

    def cost(self, size: Size) -> Cost:
        """Return what the factor of low rank and the basis take."""
        n, count, rank = size.items, size.components or 0, min(self.rank, size.items)
        factor = 8 * n * rank + 32 * rank**2
        made = 8 * n * 5 * min(BLOCK_COLUMNS, n)  # five blocks of columns beside those made
        # 40 vectors for each that is asked for: the basis, products with it, and what is beside.
        basis = 8 * n * 40 * (count + 2)
        needed = item_bytes(size) + factor + size.tiles + max(basis, made)
        width = Lanczos(passes=self.passes).width(count)
        seconds = product_seconds(n * rank, size.row) + 3 * n * rank**2 * FLOP_SECONDS
        seconds += 6 * product_seconds(n**2 / 2, size.row, 2 * width)  # the usual products
        return Cost(needed, seconds)

    def rank_within(self, size: Size, memory: int | None) -> int:
        """Return how many columns of the matrix pay and fit, or 0 if too few do."""
        n = size.items
        # More columns than one for 50 items would take longer than they save.
        useful = min(self.rank, max(int(0.02 * n), MIN_RANK), n)
        if memory is None:
            return useful
        room = memory - replace(self, rank=1).cost(size).bytes
        fits = int(room / (8 * n + 32 * useful))
        return min(fits, useful) if fits >= min(MIN_RANK, n) else 0

    @property
    def name(self) -> str:
        return "partial" if self.passes is None else "randomized"

    def solve(self, gram: Operator, count: int) -> Eigenpairs:
        """Return the `count` largest eigenvalues and their vectors.

        If the user interrupts, the best vectors so far are returned, with their residuals.
        """
        with one_blas_thread:
            return self._solve(gram, count)

    def _solve(self, gram: Operator, count: int) -> Eigenpairs:
        rng, n = check_random_state(self.random_state), gram.order
        near = LowRankModel(gram, self.rank, int(rng.randint(2**31 - 1)), count)
        proof = near.complete and self.definite
        probes, least = (0, 1) if proof else (RANDOM_PROBES, MIN_PROBE_PRODUCTS)
        width = count + RANDOM_PROBES
        # Six further blocks before the basis is restarted.
        room = min(n, max(MAX_LEADING, MIN_LEADING + 6) * width) + width
        found = RitzBasis(n, count, room, near.bound)
        beside = rng.standard_normal((n, max(probes, 1)))
        W = found.orthonormalize(np.hstack([near.leading, beside]))
        if W.shape[1] < count:  # the factor has hardly any rank
            W = found.orthonormalize(np.hstack([W, rng.standard_normal((n, count))]))
        history: list[float] = []
        stop, doubts = "", 0
        with convergence("principal components", self.tol) as report:
            try:
                while W.shape[1]:  # otherwise the basis is the whole space, to rounding
                    KW = gram @ W
                    KW /= near.scale
                    found.extend(W, KW)
                    left, enough = found.residuals(), found.tolerances(self.tol)
                    history.append(float(np.max(left / enough)) * self.tol)
                    report(history[-1])
                    going = np.flatnonzero(left > enough)
                    if not len(going) and len(history) >= least:
                        going, doubts = found.unproved(self.tol, not probes), doubts + 1
                        if not len(going) or doubts > 2 * MIN_PROBE_PRODUCTS:
                            break
                        if doubts == MIN_PROBE_PRODUCTS and not probes:  # no proof is in sight
                            probes, least = RANDOM_PROBES, len(history) + MIN_PROBE_PRODUCTS
                    if len(history) >= (self.passes or self.max_passes):
                        if self.passes is None:
                            stop = (
                                f"not converged in {len(history)} products; use the dense solver"
                            )
                        break
                    if found.size + len(going) + probes > found.room:
                        found.restart(MIN_LEADING * width, going)
                    fixed = near.correct(found.residual_vectors(going), found.ritz_values[going])
                    W = found.orthonormalize(
                        np.hstack([fixed, KW @ rng.standard_normal((KW.shape[1], probes))])
                    )
            except KeyboardInterrupt:
                if not history:
                    raise
                stop = f"interrupted after {len(history)} products"
        return certify_eigenpairs(
            gram, found.values * near.scale, found.vectors, ended(stop),
            self.name, images=found.images * near.scale, history=tuple(history), message=stop,
        )  # fmt: skip


class LowRankModel:
    """A matrix FFᵀ near a Gram matrix over its scale, with the spectrum of FᵀF = VDVᵀ.

    Attributes
    ----------
    scale : float
        The largest similarity of an item to itself, so that no square is too large or too small.
    leading : ndarray
        Its leading eigenvectors, not normalized, more than are asked for. Where many eigenvalues
        are hardly smaller than those, their vectors are taken too, because the iteration would be
        slow to tell them apart.
    bound : float
        No unit vector orthogonal to these has a larger vᵀKv.
    complete : bool
        Whether that is no more than the last eigenvalue asked for.
    """

    def __init__(self, gram: Operator, rank: int, seed: int, count: int) -> None:
        inside: Any = gram.gram if isinstance(gram, Centered) else gram
        diagonal = inside.diagonal()
        self.scale = float(np.max(np.abs(diagonal), initial=0.0)) or 1.0
        enough = 1e-13 * float(np.sum(diagonal))  # of which more columns gain nothing
        factor = pivoted_cholesky(inside, rank, enough, seed)
        self.F = factor.columns
        self.F /= np.sqrt(self.scale)
        if isinstance(gram, Centered):
            self.F -= self.F.mean(axis=0)
        D, V = np.linalg.eigh(self.F.T @ self.F)
        self.D, self.V = D[::-1], V[:, ::-1]
        # Eigenvalues of FFᵀ are not larger than those of K, since their difference is positive.
        last = self.D[count - 1] if count <= len(D) else 0.0
        # Values above half of the last one that is asked for are hard to tell from it.
        low = np.flatnonzero(self.D[: MAX_LEADING * count] < 0.5 * last)
        taken = max(MIN_LEADING * count, low[0] if len(low) else 0)
        self.leading = self.F @ self.V[:, :taken]
        beyond = self.D[taken] if taken < len(D) else 0.0
        self.bound = float(beyond + factor.left.sum() / self.scale)
        self.complete = self.bound <= last

    def correct(self, R: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Return (θ − FFᵀ)⁻¹r of each residual, up to its length.

        Values of FFᵀ near θ or above belong to vectors that the basis has already, and residuals
        are orthogonal to it. So it does not matter what becomes of them, if only the inverse
        stays positive.
        """
        theta = np.maximum(theta, EPS * self.D.max(initial=0.0) + np.finfo(float).tiny)
        gaps = np.maximum(theta - self.D[:, None], MIN_GAP_SHARE * theta)
        return R + self.F @ (self.V @ (self.V.T @ (self.F.T @ R) / gaps))


class RitzBasis:
    """An orthonormal basis Q with KQ, and the best approximate eigenvectors in its span.

    Attributes
    ----------
    ritz_values : ndarray
        The values of all of them, descending.
    bound : float
        No unit vector v outside the span has a larger vᵀKv.
    """

    def __init__(self, order: int, count: int, room: int, bound: float) -> None:
        self.count, self.room, self.size, self.bound = count, room, 0, bound
        self._Q = np.empty((order, room), order="F")
        self._KQ = np.empty((order, room), order="F")
        self._T = np.zeros((room, room))

    def extend(self, W: np.ndarray, KW: np.ndarray) -> None:
        """Append a block, and find the best vectors again."""
        old, self.size = self.size, self.size + W.shape[1]
        self._Q[:, old : self.size], self._KQ[:, old : self.size] = W, KW
        C = self._Q[:, : self.size].T @ KW
        self._T[: self.size, old : self.size] = C
        self._T[old : self.size, : self.size] = C.T
        values, S = np.linalg.eigh(self._T[: self.size, : self.size])
        self.ritz_values, self._S = values[::-1], S[:, ::-1]

    @property
    def values(self) -> np.ndarray:
        return self.ritz_values[: self.count]

    @property
    def vectors(self) -> np.ndarray:
        return self._Q[:, : len(self._S)] @ self._S[:, : self.count]

    @property
    def images(self) -> np.ndarray:
        """K times the vectors."""
        return self._KQ[:, : len(self._S)] @ self._S[:, : self.count]

    def residual_vectors(self, which: np.ndarray) -> np.ndarray:
        """Return Kv − θv of some of the vectors."""
        S = self._S[:, which]
        return self._KQ[:, : self.size] @ S - self._Q[:, : self.size] @ (
            S * self.ritz_values[which]
        )

    def residuals(self) -> np.ndarray:
        """Return |Kv − θv| of each."""
        return np.linalg.norm(self.residual_vectors(np.arange(len(self.values))), axis=0)

    def tolerances(self, tol: float) -> np.ndarray:
        """Return the residuals that need not be made smaller."""
        rounding = 4 * np.sqrt(len(self._Q)) * EPS * abs(self.values[0])
        return tol * np.abs(self.values) + rounding + np.finfo(float).tiny

    def orthonormalize(self, W: np.ndarray) -> np.ndarray:
        """Return orthonormal vectors for what of the span of W lies outside that of the basis."""
        Q = self._Q[:, : self.size]
        for _ in range(2):  # the second time takes away what rounding left
            lengths = np.linalg.norm(W, axis=0)
            W = W[:, lengths > np.finfo(float).tiny] / lengths[lengths > np.finfo(float).tiny]
            W = W - Q @ (Q.T @ W)
        if not W.shape[1]:
            return W
        W, R = np.linalg.qr(W)
        U, s, _ = np.linalg.svd(R)
        W = W @ U[:, : len(s)][:, s > 1e-10]  # of a unit vector; less is rounding
        W -= Q @ (Q.T @ W)
        return np.linalg.qr(W[:, : len(Q) - self.size])[0]

    def unproved(self, tol: float, proof: bool) -> np.ndarray:
        """Return the further vectors that leave room for an eigenvalue above the last asked for.

        If there are none, no eigenvalue larger than that by more than the tolerance is missing.
        Where there is no bound to prove it, only those are looked at that are near the last one.
        """
        last = self.values[-1] + self.tolerances(tol)[-1]
        others = np.arange(self.count, self.size)
        if not proof:
            others = others[self.ritz_values[others] > (1 - MIN_GAP_SHARE) * last]
        elif last <= self.bound:
            return others[:RANDOM_PROBES]
        G = self._coupling(others)
        gaps = np.sqrt(last - self.ritz_values[others])
        G /= np.outer(gaps, gaps)
        room = last - self.bound if proof else last / 2
        if not len(others) or np.linalg.eigvalsh(G)[-1] <= room:
            return others[:0]
        return others[np.sort(np.argsort(-G.diagonal(), kind="stable")[:RANDOM_PROBES])]

    def _coupling(self, which: np.ndarray) -> np.ndarray:
        """Return RᵀR of the residuals of some of the vectors."""
        S, G = self._S[:, which], np.zeros((len(which), len(which)))
        for first in range(0, len(self._Q), RESIDUAL_ROWS):
            rows = slice(first, first + RESIDUAL_ROWS)
            R = self._KQ[rows, : self.size] @ S - self._Q[rows, : self.size] @ (
                S * self.ritz_values[which]
            )
            G += R.T @ R
        return G

    def restart(self, kept: int, going: np.ndarray) -> None:
        """Replace the basis by its best vectors, those that go on among them.

        The bound then holds for those that are dropped too.
        """
        kept = min(max(kept, int(going.max(initial=0)) + 1), self.size)
        dropped = np.arange(kept, self.size)
        if len(dropped):
            a, b = self.ritz_values[kept], np.linalg.norm(self._coupling(dropped), 2)
            middle, half = (a + self.bound) / 2, (a - self.bound) / 2
            self.bound = float(middle + np.sqrt(half**2 + b))
        S = self._S[:, :kept]
        self._Q[:, :kept] = self._Q[:, : self.size] @ S
        self._KQ[:, :kept] = self._KQ[:, : self.size] @ S
        self.size = kept
        self._T[...] = 0.0
        np.fill_diagonal(self._T[:kept, :kept], self.ritz_values[:kept])
        self._S = np.eye(kept)
        self.ritz_values = self.ritz_values[:kept]
