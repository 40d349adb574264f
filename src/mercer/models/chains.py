"""Markov chains: each symbol depends on the few before it."""

from __future__ import annotations

import itertools
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Domain
from mercer.errors import DomainError, ValidityError
from mercer.memory import afford
from mercer.models.base import Model, model
from mercer.models.parameter_arrays import (
    draw_outcomes,
    probabilities,
    probability_names,
    probability_scores,
    smoothed_frequencies,
)
from mercer.models.sequences import (
    SymbolDomain,
    Symbols,
    admit_alphabet,
    alphabet_codes,
    decode,
    lengths_of,
)
from mercer.values import positive, whole

__all__ = ["MarkovChain"]


@model
class MarkovChain(Model):
    """A Markov chain of symbols: p(x) = Π p(xₜ|xₜ₋ₘ … xₜ₋₁), for an order m.

    The first symbols depend on as many as there are before them, so that there is a row of
    probabilities for each context of 0, 1, …, m symbols. A sequence has the length that it has:
    ln p(x) is given that length, and the empty sequence has probability 1. The free parameters are
    the logarithms of odds against the last possible symbol.

    Parameters
    ----------
    order : int
        How many symbols are remembered; 0 for independent ones.
    probabilities : array of shape (contexts, symbols), optional
        A row for the context of no symbols, then for those of one symbol, and so on; contexts of
        one length in the order of the alphabet, as a dictionary has them. None until learned.
    alphabet : sequence, optional
        The symbols, by default 0, 1, ... for given probabilities; otherwise those of the items
        that it is first fitted to. Any other symbol is refused.
    smoothing : float
        Added to each count in fitting. With zero, what was not seen in training is impossible. A
        context that was never seen allows all symbols alike.

    Examples
    --------
    >>> chain = MarkovChain().fit(["aab", "aba"])
    >>> chain.probabilities  # at the beginning, after a, after b
    array([[1.        , 0.        ],
           [0.33333333, 0.66666667],
           [1.        , 0.        ]])
    >>> chain.parameter_names
    ["transition['a', 'a']"]
    """

    order: int = 1
    probabilities: Any = None
    alphabet: Any = None
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        self._normalize("order", whole(self, "order", self.order, least=0))
        if self.order > 50:
            raise ValidityError(
                f"order of MarkovChain must be at most 50, found {self.order}: no memory "
                "holds so many contexts"
            )
        self._normalize("smoothing", positive(self, "smoothing", self.smoothing, zero=True))
        if self.alphabet is not None:
            self._normalize("alphabet", admit_alphabet(self, self.alphabet))
        if self.probabilities is None:
            return
        table = probabilities(self, "probabilities", self.probabilities, (None, None))
        if self.alphabet is None:
            self._normalize("alphabet", tuple(range(table.shape[1])))
        size = len(self.alphabet)
        if table.shape != (_contexts(size, self.order), size):
            raise ValidityError(
                f"probabilities of MarkovChain must have the shape "
                f"{_contexts(size, self.order)} × {size} for {size} symbols and order "
                f"{self.order}, found {table.shape[0]} × {table.shape[1]}"
            )
        self._normalize("probabilities", table)

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return SymbolDomain(gaps=False)

    @property
    def fitted(self) -> bool:
        return self.probabilities is not None

    def _cells(self, points: Symbols, alphabet: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the item and the cell of the table that each symbol of each item belongs to."""
        size, codes = len(alphabet), alphabet_codes(points, alphabet, self)[points.codes]
        item = np.repeat(np.arange(len(points)), points.lengths)
        before = np.arange(len(codes)) - points.starts[item]
        context = np.zeros(len(codes), dtype=np.int64)
        for back in range(1, self.order + 1):
            late = np.flatnonzero(before >= back)
            context[late] += codes[late - back] * size ** (back - 1)
        first = np.array([_contexts(size, length - 1) for length in range(self.order + 1)])
        row = first[np.minimum(before, self.order)] + context
        return item, row * size + codes

    def log_densities(self, points: Symbols) -> np.ndarray:
        item, cell = self._cells(points, self.alphabet)
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities).ravel()[cell]
        return np.bincount(item, logs, len(points))

    def scores(self, points: Symbols) -> np.ndarray:
        item, cell = self._cells(points, self.alphabet)
        n, table = len(points), self.probabilities
        afford(16 * n * table.size, f"the counts of {n} items", "use a lower order or fewer items")
        counts = np.bincount(item * table.size + cell, minlength=n * table.size)
        found = probability_scores(counts.reshape(n, *table.shape).astype(np.float64), table)
        impossible = np.bincount(item, table.ravel()[cell] == 0, n) > 0
        found[impossible] = np.nan
        return found

    @property
    def parameter_names(self) -> list[str]:
        self.require_fitted()
        size = range(len(self.alphabet))
        contexts = [
            decode(np.array(codes, dtype=int), self.alphabet)
            for length in range(self.order + 1)
            for codes in itertools.product(size, repeat=length)
        ]
        return probability_names("transition", self.probabilities, contexts, self.alphabet)

    def learn(self, points: Symbols, weights: np.ndarray | None, seed: int) -> Self:
        alphabet = points.alphabet if self.alphabet is None else self.alphabet
        if not alphabet:
            raise DomainError("X has no symbols at all, so there is nothing to learn from")
        size, w = len(alphabet), np.ones(len(points)) if weights is None else weights
        shape = _contexts(size, self.order), size
        afford(24 * shape[0] * size, f"a chain of order {self.order}", "use a lower order")
        item, cell = self._cells(points, alphabet)
        counts = np.bincount(cell, w[item], shape[0] * size).reshape(shape)
        table = smoothed_frequencies(counts, self.smoothing)
        return self.set_params(probabilities=table, alphabet=alphabet)

    def sample(self, count: int, seed: int = 0, length: ArrayLike = 100) -> list[Any]:
        """Draw `count` sequences of a length, or of one length for each."""
        self.require_fitted()
        rng, lengths = np.random.default_rng(seed), lengths_of(count, length)
        size, codes = len(self.alphabet), np.zeros((count, max([0, *lengths])), dtype=np.int64)
        for t in range(codes.shape[1]):
            known = min(t, self.order)
            context = codes[:, t - known : t] @ size ** np.arange(known)[::-1]
            row = _contexts(size, known - 1) + context
            codes[:, t] = draw_outcomes(self.probabilities[row], rng)
        return [decode(row[:end], self.alphabet) for row, end in zip(codes, lengths, strict=True)]


def _contexts(size: int, order: int) -> int:
    """Return how many contexts of at most `order` symbols there are."""
    return sum(size**length for length in range(order + 1))
