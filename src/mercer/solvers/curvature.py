"""Curvature: whether a similarity that nobody has proved is valid on the items at hand.

A duality gap bounds what is missing, a small gradient means a minimum, and a principal component
is one, only where the Gram matrix has no negative eigenvalue. For a kernel with a proof that is
known. For any other it is looked at: a Cholesky factor of K + δI, with δ at the level of rounding,
shows that no eigenvalue is below −δ. Where there is none, the eigenvector of the smallest one is a
witness.

Of many items some are taken: a principal submatrix with a negative eigenvalue refutes the whole
matrix, one without says little. Of a matrix that is stored a few Lanczos steps on all of it look
for more (Golub & Van Loan, Matrix Computations, 10.1); their Ritz values are Rayleigh quotients,
so that a negative one is a witness as well, and none is nothing.

A program that keeps the sum of its variables moves in directions of sum zero only. There −|x − z|
is as good as a valid kernel (Schölkopf, 2000), so that only those directions are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh, eigvalsh, lapack

from mercer.lapack import EPS

__all__ = [
    "COMPLETE_ITEMS", "Curvature", "bytes_to_examine", "examine", "listed", "negative_direction",
]  # fmt: skip

COMPLETE_ITEMS = 2000  # of which all are looked at; a factor of them takes a tenth of a second
SAMPLED_ITEMS = 1000
LANCZOS_STEPS = 24
# A negative eigenvalue above this share of the largest one is what similarities in single
# precision leave; what follows from it is in the certificate.
MAX_NEGATIVE_SHARE = 1e-7
SHOWN_ITEMS = 3  # of a witness


class Blocks(Protocol):
    """A symmetric matrix of which parts can be had."""

    @property
    def order(self) -> int: ...

    def block(self, items: np.ndarray, out: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Curvature:
    """What has been seen of the eigenvalues of a Gram matrix.

    Attributes
    ----------
    lowest : float
        No eigenvalue that was seen lies below; minus the level of rounding, or what was found.
    largest : float
        About the largest one.
    complete : bool
        Whether all directions were looked at, so that `lowest` bounds every eigenvalue.
    checked : int
        How many items were looked at together.
    items : tuple of int
        Those that weigh most in a negative direction, the heaviest first.
    """

    lowest: float
    largest: float
    complete: bool
    checked: int
    items: tuple[int, ...] = ()

    @property
    def negative(self) -> bool:
        """Whether there is a witness, beyond what rounding of similarities explains."""
        return self.lowest < -MAX_NEGATIVE_SHARE * self.largest

    @property
    def rounded(self) -> bool:
        """Whether what was seen of negative eigenvalues is rounding of double precision."""
        return self.lowest >= -8 * self.checked * EPS * self.largest

    def refusal(self, subject: str = "the kernel") -> str:
        """Say what the witness is and what to do."""
        return (
            f"{subject} is not positive semi-definite on these items: their Gram matrix has an "
            f"eigenvalue of {self.lowest:.3g} or less, the largest being {self.largest:.3g}, in a "
            f"direction in which {listed(self.items)} weigh most; use a valid kernel"
        )

    @property
    def doubt(self) -> str:
        """What is not known, or nothing where all of it is."""
        if self.complete:
            return ""
        return (
            f"whether the kernel is valid was looked for on {self.checked} of the items only; "
            "assume_psd(kernel) gives your word that it is"
        )


def bytes_to_examine(order: int) -> int:
    """Return the bytes of looking at so many items: their block and copies of it.

    Examples
    --------
    >>> bytes_to_examine(1000)
    24000000
    """
    return 24 * min(order, COMPLETE_ITEMS) ** 2


def listed(items: Sequence[int]) -> str:
    """Return items in words.

    Examples
    --------
    >>> listed((3, 1, 2))
    'items 3, 1 and 2'
    """
    *some, last = map(str, items)
    return f"items {', '.join(some)} and {last}" if some else f"item {last}"


def examine(
    gram: Blocks, first: np.ndarray | None = None, groups: Sequence[slice] = ()
) -> Curvature:
    """Look for a negative eigenvalue of a Gram matrix.

    Parameters
    ----------
    gram : Gram operator
    first : int array, optional
        Items to look at before others, where there are too many for all: support vectors.
    groups : sequence of slice, optional
        Groups of items whose sums are kept: only directions that do so are looked at.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> examine(Dense(np.array([[1.0, 2.0], [2.0, 1.0]]))).lowest
    -1.0
    >>> distance = Dense(-np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))))
    >>> examine(distance).negative, examine(distance, groups=[slice(0, 4)]).negative
    (True, False)
    """
    n = gram.order
    if n <= COMPLETE_ITEMS:
        return _of_block(gram, np.arange(n), groups, True)
    items = _sample(n, first)
    found = _of_block(gram, items, [] if not groups else _groups_of(items, groups), False)
    multiply = _product_with(gram)
    if found.negative or multiply is None:
        return found
    value, largest, way = negative_direction(multiply, n, groups)
    if value < min(-MAX_NEGATIVE_SHARE * largest, found.lowest):
        return Curvature(value, largest, False, n, _heaviest(np.arange(n), way))
    return found


def negative_direction(
    multiply: Callable[[np.ndarray], np.ndarray],
    order: int,
    groups: Sequence[slice] = (),
    steps: int = LANCZOS_STEPS,
    seed: int = 0,
) -> tuple[float, float, np.ndarray]:
    """Return the smallest and the largest Ritz value of a few Lanczos steps, and the way down.

    Examples
    --------
    >>> value, largest, _ = negative_direction(lambda v: np.diag([5.0, 1.0, -2.0]) @ v, 3)
    >>> round(value, 9), round(largest, 9)
    (-2.0, 5.0)
    """
    q = _without_means(np.random.default_rng(seed).standard_normal(order), groups)
    Q, images, size = [q / np.linalg.norm(q)], [], 0.0
    for _ in range(min(steps, order)):
        image = _without_means(np.asarray(multiply(Q[-1])), groups)
        images.append(image)
        rest = image.copy()
        for _ in range(2):  # the second time takes away what rounding left
            rest -= np.stack(Q).T @ (np.stack(Q) @ rest)
        length, size = float(np.linalg.norm(rest)), max(size, float(np.linalg.norm(image)))
        if not length > order * EPS * size:  # what is left is rounding, and not orthogonal
            break
        Q.append(rest / length)
    V = np.stack(Q[: len(images)])
    T = V @ np.stack(images).T
    values, S = np.linalg.eigh((T + T.T) / 2)
    return float(values[0]), float(np.abs(values).max()), S[:, 0] @ V


def _product_with(gram: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return v ↦ Kv of a matrix that is stored; of another one it would take too long."""
    if getattr(gram, "array", None) is None:
        return None
    if hasattr(gram, "multiply"):  # a matrix that shares its place with a factor
        return lambda v: gram.multiply(v[:, None])[:, 0]
    if hasattr(gram, "__matmul__"):
        return lambda v: gram @ v
    every = np.arange(gram.order)
    return lambda v: gram.combine(every, v)


def _of_block(
    gram: Blocks, items: np.ndarray, groups: Sequence[slice], complete: bool
) -> Curvature:
    K = np.array(gram.block(items, np.empty((len(items), len(items)))), dtype=np.float64)
    height = float(np.abs(K).max(initial=0.0))
    shift = 4 * len(K) * EPS * height
    known = Curvature(-shift, height, complete, len(items))
    if _definite(K, shift):
        return known
    if groups:
        K = _without_means(_without_means(K, groups).T, groups)
        if _definite(K, shift):
            return known
    values, V = eigh(K, subset_by_index=[0, 0])
    largest = float(eigvalsh(K, subset_by_index=[len(K) - 1, len(K) - 1])[0])
    largest = max(largest, height)
    lowest = min(float(values[0]), -shift)
    return Curvature(lowest, largest, complete, len(items), _heaviest(items, V[:, 0]))


def _definite(K: np.ndarray, shift: float) -> bool:
    if shift == 0:  # a matrix of zeros
        return True
    M = K.copy()
    M[np.diag_indices(len(M))] += shift
    return bool(lapack.dpotrf(M.T, lower=1, overwrite_a=1, clean=0)[1] == 0)


def _without_means(vectors: np.ndarray, groups: Sequence[slice]) -> np.ndarray:
    """Return vectors from whose entries the mean of their group is taken away."""
    result = vectors.copy() if groups else vectors
    for group in groups:
        result[group] -= result[group].mean(axis=0)
    return result


def _groups_of(items: np.ndarray, groups: Sequence[slice]) -> list[slice]:
    """Return the groups of some items, which are in ascending order."""
    ends = [int(np.searchsorted(items, group.stop)) for group in groups]
    return [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True) if b > a]


def _sample(order: int, first: np.ndarray | None) -> np.ndarray:
    """Return some items in ascending order, half of them those that come first."""
    chosen = np.linspace(0, order - 1, SAMPLED_ITEMS).astype(int)
    if first is not None and len(first):
        places = np.linspace(0, len(first) - 1, min(len(first), SAMPLED_ITEMS)).astype(int)
        chosen = np.concatenate([first[places], chosen])
    return np.unique(chosen)


def _heaviest(items: np.ndarray, way: np.ndarray) -> tuple[int, ...]:
    order = np.argsort(-np.abs(way), kind="stable")[:SHOWN_ITEMS]
    return tuple(int(item) for item in items[order])
