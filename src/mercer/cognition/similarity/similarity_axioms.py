"""Is it a similarity? The axioms that geometric models take for granted, checked on data.

A distance in a space is symmetric, smallest from a thing to itself, and satisfies the triangle
inequality. Human judgments can violate each (Tversky, 1977). A kernel needs something else:
positive definiteness, without which no feature space has these inner products. With s = e^−d the
triangle inequality d_ik ≤ d_ij + d_jk reads s_ik·s_max ≥ s_ij·s_jk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains.targets import real_numbers
from mercer.errors import DomainError

__all__ = [
    "Finding",
    "SimilarityCheck",
    "admit_square",
    "check_similarity",
    "first_true",
    "name_items",
]


@dataclass(frozen=True)
class Finding:
    """What was found about one axiom.

    Attributes
    ----------
    name : str
    holds : bool or None
        None if it cannot be asked of these numbers.
    share : float
        Of the pairs or triples that violate it.
    items : tuple
        The worst offender, by labels.
    worst : float
        By how much.
    words : str
        The same as a sentence.

    Examples
    --------
    >>> print(Finding("symmetry", True, 0.0, (), 0.0, "all pairs are the same both ways"))
    symmetry holds: all pairs are the same both ways
    """

    name: str
    holds: bool | None
    share: float
    items: tuple
    worst: float
    words: str

    def __str__(self) -> str:
        verdict = {True: "holds", False: "fails", None: "cannot be asked"}[self.holds]
        return f"{self.name} {verdict}: {self.words}"


@dataclass(frozen=True)
class SimilarityCheck:
    """What `check_similarity` found, as numbers and (printed) in words.

    Attributes
    ----------
    symmetry, minimality, triangle, definiteness : Finding
    eigenvalues : ndarray
        Of the matrix averaged over both directions, ascending.
    witness : dict
        If it is not positive definite, weights of the fewest items found for which
        Σ vᵢvⱼsᵢⱼ < 0.

    Examples
    --------
    >>> found = check_similarity([[1.0, 0.5], [0.5, 1.0]])
    >>> found.eigenvalues, found.witness
    (array([0.5, 1.5]), {})
    """

    symmetry: Finding
    minimality: Finding
    triangle: Finding
    definiteness: Finding
    eigenvalues: np.ndarray
    witness: dict[Any, float]

    @property
    def metric(self) -> bool:
        """Whether −log similarity could be a distance."""
        return all(one.holds for one in (self.symmetry, self.minimality, self.triangle))

    @property
    def kernel(self) -> bool:
        """Whether the matrix could be a Gram matrix."""
        return bool(self.symmetry.holds and self.definiteness.holds)

    def __str__(self) -> str:
        found = (self.symmetry, self.minimality, self.triangle, self.definiteness)
        return "\n".join(map(str, found))


def check_similarity(
    similarities: ArrayLike,
    labels: Sequence[object] | None = None,
    *,
    distances: ArrayLike | None = None,
    tolerance: float = 1e-9,
) -> SimilarityCheck:
    """Check a similarity matrix for symmetry, minimality, triangles and definiteness.

    Parameters
    ----------
    similarities : array of shape (n, n), or DataFrame with labels
        Row i, column j: how similar i is to j, or how often i was taken for j.
    labels : sequence, optional
    distances : array of shape (n, n), optional
        For the triangle inequality; by default −log(s / the largest s).
    tolerance : float
        Violations up to this share of the largest entry are rounding.

    Returns
    -------
    SimilarityCheck
        A finding about each axiom, printed in words.

    Examples
    --------
    >>> s = [[1.0, 0.9, 0.1], [0.7, 1.0, 0.8], [0.1, 0.8, 1.0]]
    >>> print(check_similarity(s, labels=["moon", "ball", "lamp"]))
    symmetry fails: 1 of 3 pairs, most ball and moon, 0.7 one way and 0.9 the other
    minimality holds: nothing is more similar to another than to itself
    triangle inequality fails: 2 of 6 triples, most moon and lamp by way of ball: ...
    positive definiteness fails: the smallest eigenvalue is ...; witness ...
    """
    S, known = admit_square(similarities, labels, "similarities")
    small = tolerance * float(np.abs(S).max())
    values, witness = _spectrum(S, known)
    return SimilarityCheck(
        _symmetry(S, known, small),
        _minimality(S, known, small),
        _triangle(S, known, distances, tolerance),
        _definiteness(values, witness),
        values,
        witness,
    )


def _symmetry(S: np.ndarray, known: tuple, small: float) -> Finding:
    gap = np.triu(np.abs(S - S.T), 1)
    bad, pairs = int(np.sum(gap > small)), len(S) * (len(S) - 1) // 2
    if not bad:
        return Finding("symmetry", True, 0.0, (), 0.0, "all pairs are the same both ways")
    i, j = _argmax(gap)
    if S[i, j] > S[j, i]:
        i, j = j, i
    words = (
        f"{bad} of {pairs} pairs, most {name_items((i, j), known)}, {S[i, j]:.4g} one way and "
        f"{S[j, i]:.4g} the other"
    )
    return Finding("symmetry", False, bad / pairs, (known[i], known[j]), float(gap.max()), words)


def _minimality(S: np.ndarray, known: tuple, small: float) -> Finding:
    """Self-similarity is the largest of its row and column, and the same for all."""
    own = np.diag(S)
    both = np.maximum(S, S.T) - own[:, None]
    np.fill_diagonal(both, -np.inf)
    bad = int(np.sum((both > small).any(axis=1)))
    if bad:
        i, j = _argmax(both)
        s = max(S[i, j], S[j, i])
        words = (
            f"for {bad} of {len(S)} items, most {known[i]}: {own[i]:.4g} to itself and {s:.4g} "
            f"to {known[j]}"
        )
        items = (known[i], known[j])
        return Finding("minimality", False, bad / len(S), items, float(both[i, j]), words)
    least, most = int(np.argmin(own)), int(np.argmax(own))
    if own[most] - own[least] > small:
        words = (
            f"self-similarity differs, from {own[least]:.4g} of {known[least]} to "
            f"{own[most]:.4g} of {known[most]}"
        )
        items = (known[least], known[most])
        return Finding("minimality", False, 0.0, items, float(own[most] - own[least]), words)
    words = "nothing is more similar to another than to itself"
    return Finding("minimality", True, 0.0, (), 0.0, words)


def _triangle(
    S: np.ndarray, known: tuple, distances: ArrayLike | None, tolerance: float
) -> Finding:
    """All ordered triples of different items, d_ik ≤ d_ij + d_jk."""
    name, n = "triangle inequality", len(S)
    if n < 3:
        return Finding(name, None, 0.0, (), 0.0, "there are fewer than three items")
    if distances is not None:
        D, _ = admit_square(distances, known, "distances")
    elif (S < 0).any():
        i, j = _argmax(-S)
        words = f"the similarity of {name_items((i, j), known)} is negative; give distances"
        return Finding(name, None, 0.0, (known[i], known[j]), 0.0, words)
    else:
        with np.errstate(divide="ignore"):
            D = -np.log(S / S.max()) if S.any() else np.zeros_like(S)
    bad, worst, triple = 0, 0.0, (0, 0, 0)
    finite = D[np.isfinite(D)]
    small = tolerance * max(float(np.abs(finite).max(initial=0.0)), 1.0)
    for j in range(n):
        rest = np.delete(np.arange(n), j)
        way = D[rest, j][:, None] + D[j, rest]
        direct = D[np.ix_(rest, rest)]
        # Two things that are never confused have an infinite distance; ∞ ≤ ∞ holds.
        excess = np.where(np.isinf(way), 0.0, direct - np.where(np.isinf(way), 0.0, way))
        np.fill_diagonal(excess, 0.0)
        bad += int(np.sum(excess > small))
        if excess.max() > worst:
            i, k = _argmax(excess)
            worst, triple = float(excess.max()), (int(rest[i]), j, int(rest[k]))
    count = n * (n - 1) * (n - 2)
    if not bad:
        return Finding(name, True, 0.0, (), 0.0, f"no way around is shorter, of {count} triples")
    i, j, k = triple
    words = (
        f"{bad} of {count} triples, most {name_items((i, k), known)} by way of {known[j]}: "
        f"{D[i, k]:.4g} > {D[i, j]:.4g} + {D[j, k]:.4g}"
    )
    items = (known[i], known[j], known[k])
    return Finding(name, False, bad / count, items, worst, words)


def _definiteness(values: np.ndarray, witness: dict[Any, float]) -> Finding:
    smallest = float(values[0])
    words = f"the smallest eigenvalue is {smallest:.4g}"
    if not witness:
        return Finding("positive definiteness", True, 0.0, (), 0.0, words)
    named = sorted(witness.items(), key=lambda pair: -abs(pair[1]))
    parts = [f"{weight:+.2f} {label}" for label, weight in named[:4]]
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    words += f"; witness {', '.join(parts)}{more}"
    share = float(np.mean(values < 0))
    return Finding("positive definiteness", False, share, tuple(witness), -smallest, words)


def _spectrum(S: np.ndarray, known: tuple) -> tuple[np.ndarray, dict[Any, float]]:
    """Return eigenvalues and, if one is negative, weights of few items that show it."""
    M = (S + S.T) / 2
    values, vectors = np.linalg.eigh(M)
    limit = -len(M) * np.finfo(float).eps * float(np.abs(values).max())
    if values[0] >= limit:
        return values, {}
    # Items join by their weight until they have a negative eigenvalue; those not needed leave.
    order = np.argsort(-np.abs(vectors[:, 0]), kind="stable")
    count = next(m for m in range(1, len(M) + 1) if _smallest_eigenvalue(M, order[:m]) < limit)
    chosen = list(order[:count])
    for item in reversed(order[:count].tolist()):
        rest = [other for other in chosen if other != item]
        if rest and _smallest_eigenvalue(M, rest) < limit:
            chosen = rest
    chosen.sort()
    vector = np.linalg.eigh(M[np.ix_(chosen, chosen)])[1][:, 0]
    vector *= np.sign(vector[np.argmax(np.abs(vector))])
    return values, {known[i]: float(v) for i, v in zip(chosen, vector, strict=True)}


def _smallest_eigenvalue(M: np.ndarray, items: Any) -> float:
    return float(np.linalg.eigvalsh(M[np.ix_(items, items)])[0])


def _argmax(M: np.ndarray) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(M)), M.shape)
    return int(row), int(column)


def admit_square(
    matrix: ArrayLike, labels: Sequence[object] | None = None, name: str = "matrix"
) -> tuple[np.ndarray, tuple]:
    """Return a square matrix as float64 and the names of its items.

    Names are those given, or the columns of a data frame, or places from 0 on.

    Examples
    --------
    >>> admit_square([[1.0, 0.5], [0.5, 1.0]], ["red", "blue"])[1]
    ('red', 'blue')
    >>> admit_square([[1.0, 0.5]])
    Traceback (most recent call last):
    mercer.errors.DomainError: matrix must have a row and a column per item, found shape (1, 2)
    """
    M = real_numbers(matrix, name)
    if M.ndim != 2 or M.shape[0] != M.shape[1] or M.shape[0] < 2:
        shape = "one item" if M.shape == (1, 1) else f"shape {M.shape}"
        raise DomainError(f"{name} must have a row and a column per item, found {shape}")
    if labels is None:
        labels = _columns(matrix, name)
    known = tuple(range(len(M))) if labels is None else tuple(labels)
    if len(known) != len(M):
        raise DomainError(f"{name} has {len(M)} items, but there are {len(known)} labels")
    if len(set(known)) < len(known):
        twice = next(label for label in known if known.count(label) > 1)
        raise DomainError(f"two items have the label {twice!r}")
    if not np.isfinite(M).all():
        pair = name_items(first_true(~np.isfinite(M)), known)
        raise DomainError(f"{name} is not a finite number for {pair}")
    return M, known


def _columns(matrix: ArrayLike, name: str) -> Any:
    """Return the column names of a data frame whose rows have the same names or none."""
    columns, index = getattr(matrix, "columns", None), getattr(matrix, "index", None)
    if columns is None or index is None:
        return None
    rows, known = [str(label) for label in index], [str(label) for label in columns]
    if rows != [str(i) for i in range(len(rows))]:
        for row, column in zip(rows, known, strict=True):
            if row != column:
                raise DomainError(
                    f"rows and columns of {name} must be the same items in the same order, found "
                    f"the row {row!r} where the column is {column!r}"
                )
    return list(columns)


def first_true(where: np.ndarray) -> tuple[int, int]:
    """Return the place of the first entry that is true."""
    row, column = np.argwhere(where)[0]
    return int(row), int(column)


def name_items(places: Sequence[int], labels: tuple) -> str:
    """Name some items, for a message."""
    words = [str(labels[place]) for place in places]
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
