"""Hidden states that emit symbols. A part of `HiddenMarkovModel`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mercer.domains import Domain
from mercer.errors import DomainError, ValidityError
from mercer.models import simplex
from mercer.models.arrays import probabilities
from mercer.models.emissions import Seen, spelled, symbols, tabulated
from mercer.models.sequences import SymbolDomain, Symbols, places

__all__ = ["Letters"]


class Letters:
    """Symbols of an alphabet, each state with probabilities of its own."""

    fields = ("emission",)

    def __init__(self, model: Any) -> None:
        self.model = model

    @staticmethod
    def domain(model: Any) -> Domain:
        return SymbolDomain(missing=model.missing)

    @staticmethod
    def check(model: Any) -> dict[str, Any]:
        """Return the cleaned parameters of a model."""
        clean: dict[str, Any] = {}
        if model.emission is not None:
            shape = (model.states, None)
            clean["emission"] = probabilities(model, "emission", model.emission, shape)
        if model.alphabet is not None:
            clean["alphabet"] = symbols(model, model.alphabet)
            if model.missing in clean["alphabet"]:
                raise ValidityError(
                    f"{model.missing!r} is in the alphabet of HiddenMarkovModel, but stands for "
                    "what is missing; say missing=None if nothing is"
                )
        elif clean:
            clean["alphabet"] = tuple(range(clean["emission"].shape[1]))
        if "emission" in clean and len(clean["alphabet"]) != clean["emission"].shape[1]:
            raise ValidityError(
                f"HiddenMarkovModel has {len(clean['alphabet'])} symbols in its alphabet, but "
                f"emission has {clean['emission'].shape[1]} columns"
            )
        return clean

    @cached_property
    def _table(self) -> Seen:
        with np.errstate(divide="ignore"):
            logs = np.log(self.model.emission.T)
        # Last comes what is missing: every state emits it with probability 1.
        return tabulated(np.vstack([logs, np.zeros(self.model.states)]), np.empty(0, np.int64))

    def observations(self, points: Symbols) -> np.ndarray:
        """Return the places of all symbols in this alphabet, −1 where one is missing."""
        return places(points, self.model.alphabet, self.model)[points.codes]

    def seen(self, codes: np.ndarray) -> Seen:
        """Return what these observations say of the states."""
        return self._table._replace(rows=np.where(codes < 0, len(self.model.alphabet), codes))

    def statistics(self, codes: np.ndarray, gamma: np.ndarray, starts: np.ndarray) -> tuple:
        """Return expected counts of emissions: sequences × states × symbols."""
        from mercer.models.hmm_loops import count_symbols

        counts = np.zeros((len(starts) - 1, *self.model.emission.shape))
        count_symbols(gamma, codes, starts, counts)
        return (counts,)

    def scores(self, counts: np.ndarray) -> np.ndarray:
        """Return the scores of each sequence."""
        return simplex.surplus(counts, self.model.emission)

    @property
    def names(self) -> list[str]:
        model = self.model
        return simplex.names("emission", model.emission, range(model.states), model.alphabet)

    def learned(self, points: Symbols, w: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
        """Return the best parameters, given the expected counts of all sequences."""
        counts = counts + self.model.smoothing
        totals = counts.sum(axis=1, keepdims=True)
        used = totals > 0  # a state that emits nothing stays as it is
        emission = np.where(used, counts / np.where(used, totals, 1.0), self.model.emission)
        return {"emission": emission}

    def bonus(self) -> float:
        """Return what smoothing adds to the log likelihood."""
        if not self.model.smoothing:
            return 0.0
        with np.errstate(divide="ignore"):
            return self.model.smoothing * float(np.log(self.model.emission).sum())

    @staticmethod
    def begin(model: Any, points: Symbols, w: np.ndarray, rng: np.random.Generator) -> dict:
        """Return parameters to begin with: the frequencies of symbols, disturbed at random.

        If the model has no alphabet, it gets all symbols of the points.
        """
        alphabet = points.alphabet if model.alphabet is None else model.alphabet
        codes = places(points, alphabet, model)[points.codes]
        each = np.repeat(w, points.lengths)[codes >= 0]
        counts = np.bincount(codes[codes >= 0], each, len(alphabet)) + model.smoothing
        if not counts.any():
            raise DomainError("X has no symbols that count, so there is nothing to learn from")
        noise = rng.dirichlet(np.ones(len(alphabet)), size=model.states)
        emission = (counts / counts.sum() + noise) * (counts > 0)
        emission /= emission.sum(axis=1, keepdims=True)
        return {"emission": emission, "alphabet": alphabet}

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what these states emit: places in the alphabet."""
        return choose(self.model.emission[states], rng)

    def shown(self, drawn: np.ndarray) -> Any:
        """Return drawn symbols as a user would have them."""
        return spelled(drawn, self.model.alphabet)


def choose(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an outcome from each row of probabilities."""
    edges = np.cumsum(p, axis=1)
    # The last edge is 1 up to rounding, and an outcome without probability is never drawn.
    return (rng.random(len(p))[:, None] * edges[:, -1:] >= edges).sum(axis=1)
