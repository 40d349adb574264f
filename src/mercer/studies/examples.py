"""Examples: rows worth looking at, and the rows that the chosen kernel finds most like them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from mercer.domains import Items, to_numpy
from mercer.explanations.terms import unwrap
from mercer.kernels import Kernel
from mercer.studies.case import number
from mercer.studies.folds import portion, rare
from mercer.studies.results import Example, HeldOutPredictions, Neighbor

__all__ = ["find_examples"]

MAX_COMPARED = 2000  # rows among which the typical ones are found; of more, a sample
MAX_CLASSES, MAX_CONFUSED, NEIGHBORS = 6, 8, 3  # that are shown
DIGITS = 12  # beyond which similarities are equal, so that rounding decides nothing

Similarity = Callable[[np.ndarray, np.ndarray], np.ndarray]
Chosen = tuple[int, str]  # a place and the reason


def find_examples(
    machine: BaseEstimator, X: Items, y: np.ndarray, held_out: HeldOutPredictions, seed: int
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Return the rows that are most typical, and those about which the machine was most wrong.

    The most typical row of a class is most like its own class and least like the others, by the
    mean of k(x, z)/√(k(x, x)·k(z, z)), among those that were predicted right. For numbers there is
    one row each for low, middle and high targets. The most confused rows are those for which a
    wrong class was most probable, or whose predicted number is farthest off.

    Parameters
    ----------
    machine : fitted machine
        Or a pipeline that ends with one.
    X : rows
        As for ``machine.predict``.
    y : ndarray
        Strings for classes, float64 for numbers.
    held_out : HeldOutPredictions
    seed : int
        Draws the rows that are compared if there are more than 2000. Neighbors are searched among
        all rows.
    """
    rows = held_out.rows
    if len(rows) < len(y):  # of very many rows some judge, and these are shown
        X, y = _safe_indexing(X, rows), y[rows]
    typical, confused = _examples(machine, X, y, held_out, seed)
    return _in_study(typical, rows), _in_study(confused, rows)


def _in_study(found: tuple[Example, ...], rows: np.ndarray) -> tuple[Example, ...]:
    """Return examples with their places among all rows of the study."""

    def neighbors(example: Example) -> tuple[Neighbor, ...]:
        return tuple(replace(one, place=int(rows[one.place])) for one in example.neighbors)

    return tuple(
        replace(one, place=int(rows[one.place]), neighbors=neighbors(one)) for one in found
    )


def _examples(
    machine: BaseEstimator, X: Items, y: np.ndarray, held_out: HeldOutPredictions, seed: int
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Return examples with their places among the rows that were held out."""
    similar = _similarity(machine, X)
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(portion(y, MAX_COMPARED, rng))[:MAX_COMPARED])
    S = similar(some, some)
    if y.dtype.kind == "f":
        typical = _typical_numbers(S, some, y, held_out.prediction)
        confused = _far_off(y, held_out.prediction)
    else:
        typical = _typical_classes(S, some, y, held_out.prediction)
        wrong = np.flatnonzero(y != held_out.prediction)
        if held_out.probabilities is None:
            # Nobody knows how sure the machine was, so that similarities must tell.
            wrong = np.sort(rng.permutation(wrong)[:500])
            surety = _resemblance(similar(wrong, some), wrong, some, y, held_out.prediction)
        else:
            surety = _probability(machine.classes_, wrong, held_out)
        confused = _confused(wrong, surety, y, held_out)
    return _with_neighbors(similar, typical, len(y)), _with_neighbors(similar, confused, len(y))


def _similarity(machine: BaseEstimator, X: Items) -> Similarity:
    """Return the similarity of some rows to some others: at most 1, and 1 for equal ones."""
    machine, X = unwrap(machine, X)
    kernel = machine.kernel_

    def similar(some: np.ndarray, others: np.ndarray) -> np.ndarray:
        if not len(some):
            return np.zeros((0, len(others)))
        left, right = _safe_indexing(X, some), _safe_indexing(X, others)
        K = np.array(to_numpy(kernel(left, right)), dtype=np.float64)
        K /= _lengths(kernel, left)[:, None]
        K /= _lengths(kernel, right)[None, :]
        return np.round(K, DIGITS, out=K)

    return similar


def _lengths(kernel: Kernel, rows: Items) -> np.ndarray:
    """Return √k(x, x); what is not like itself is infinitely long, and so like nothing."""
    squares = np.asarray(to_numpy(kernel.diagonal(rows)), dtype=np.float64)
    return np.where(squares > 0, np.sqrt(np.maximum(squares, 0.0)), np.inf)


def _typical_classes(
    S: np.ndarray, some: np.ndarray, y: np.ndarray, prediction: np.ndarray
) -> list[Chosen]:
    classes, counts = np.unique(y[~rare(y)], return_counts=True)
    largest = classes[np.argsort(-counts, kind="stable")[:MAX_CLASSES]]
    found = []
    for label in largest:
        own = y[some] == label
        best = _most_typical(S, own, own & (prediction[some] == label))
        found.append((int(some[best]), f"most typical {str(label)!r}"))
    return found


def _typical_numbers(
    S: np.ndarray, some: np.ndarray, y: np.ndarray, prediction: np.ndarray
) -> list[Chosen]:
    found: list[Chosen] = []
    off = np.abs(y - prediction)[some]
    free = np.ones(len(some), dtype=bool)
    for word, level in (("low", 0.1), ("middle", 0.5), ("high", 0.9)):
        distance = np.abs(y[some] - np.quantile(y, level))
        count = max(5, round(0.1 * len(some)))  # rows whose targets are near the quantile
        own = np.zeros(len(some), dtype=bool)
        own[np.argsort(distance, kind="stable")[:count]] = True
        right = own & (off <= np.median(off[own]))
        best = _most_typical(S, own, right & free if (right & free).any() else own & free)
        free[best] = False
        found.append((int(some[best]), f"typical of {word} targets: {number(y[some[best]], 4)}"))
    return found


def _most_typical(S: np.ndarray, own: np.ndarray, preferred: np.ndarray) -> int:
    """Return the row that is most like its own group and least like the others."""
    inside = S[:, own].sum(axis=1) - np.where(own, S.diagonal(), 0.0)
    outside = S[:, ~own].sum(axis=1)
    typicality = inside / max(own.sum() - 1, 1) - outside / max((~own).sum(), 1)
    candidates = np.flatnonzero(preferred if preferred.any() else own)
    return int(candidates[np.argmax(np.round(typicality[candidates], DIGITS))])


def _probability(
    classes: np.ndarray, wrong: np.ndarray, held_out: HeldOutPredictions
) -> np.ndarray:
    """Return how probable the predicted class was."""
    assert held_out.probabilities is not None
    places = np.searchsorted(classes, held_out.prediction[wrong])
    return held_out.probabilities[wrong, places]


def _resemblance(
    S: np.ndarray, wrong: np.ndarray, some: np.ndarray, y: np.ndarray, prediction: np.ndarray
) -> np.ndarray:
    """Return how much more alike rows are to the class that was predicted than to their own."""
    classes, codes = np.unique(y, return_inverse=True)
    members = np.equal.outer(codes[some], np.arange(len(classes))).astype(float)
    others = np.not_equal.outer(wrong, some).astype(float)  # a row is no example of itself
    means = (S * others) @ members / np.maximum(others @ members, 1.0)
    row = np.arange(len(wrong))
    taken = np.searchsorted(classes, prediction[wrong])
    return np.round(means[row, taken] - means[row, codes[wrong]], DIGITS)


def _confused(
    wrong: np.ndarray, surety: np.ndarray, y: np.ndarray, held_out: HeldOutPredictions
) -> list[Chosen]:
    """Return the wrong rows of which the machine was surest, of different confusions if possible.

    Rows of classes that were too rare to be learned come last: they could not be right.
    """
    order = np.lexsort((wrong, -surety, rare(y)[wrong]))
    first: dict[tuple[str, str], int] = {}  # of each confusion
    for place, i in enumerate(wrong[order]):
        first.setdefault((y[i], held_out.prediction[i]), place)
    again = np.setdiff1d(np.arange(len(wrong)), list(first.values()))
    chosen = np.sort([*first.values(), *again][:MAX_CONFUSED]).astype(np.int64)
    found = []
    for i, sure in zip(wrong[order[chosen]], surety[order[chosen]], strict=True):
        reason = f"{str(y[i])!r}, taken for {str(held_out.prediction[i])!r}"
        if held_out.probabilities is not None:
            reason += f" ({100 * sure:.0f} %)" if sure < 0.995 else " (over 99 %)"
        found.append((int(i), reason))
    return found


def _far_off(y: np.ndarray, prediction: np.ndarray) -> list[Chosen]:
    """Return the rows with the largest residuals, as long as these can be seen."""
    worst = np.argsort(-np.abs(y - prediction), kind="stable")[:MAX_CONFUSED]
    said = [(int(i), number(y[i], 4), number(prediction[i], 4)) for i in worst]
    return [(i, f"{own}, predicted {answer}") for i, own, answer in said if own != answer]


def _with_neighbors(
    similar: Similarity, chosen: Sequence[Chosen], count: int
) -> tuple[Example, ...]:
    """Add the nearest of all rows, looked at in portions."""
    places = np.array([place for place, _ in chosen], dtype=np.int64)
    portions = np.array_split(np.arange(count), -(-count // MAX_COMPARED))
    S = np.concatenate([similar(places, part) for part in portions], axis=1)
    S[np.arange(len(places)), places] = -np.inf
    nearest = np.argsort(-S, axis=1, kind="stable")[:, : min(NEIGHBORS, count - 1)]
    return tuple(
        Example(place, reason, tuple(Neighbor(int(j), min(1.0, float(row[j]))) for j in near))
        for (place, reason), near, row in zip(chosen, nearest, S, strict=True)
    )
