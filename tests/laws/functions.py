"""Functions that users would write, importable so that they can be pickled."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.models import (
    AspectModel,
    FromLogDensity,
    FromSciPy,
    GaussianDensity,
    GaussianMixtureModel,
    HiddenMarkovModel,
    MarkovChain,
    MultinomialMixture,
    from_log_density,
)

__all__ = ["FUNCTIONS"]


def shared(a: Any, b: Any) -> float:
    """Count what two sets, or two words as sets of letters, have in common: ⟨1_a, 1_b⟩."""
    return float(len(set(a) & set(b)))


def closeness(a: str, b: str) -> float:
    """Compare the lengths of words in a way that is not positive semi-definite."""
    return 1.0 - abs(len(a) - len(b))


def damping(x: Any) -> float:
    """Give rows near the axis more weight, some of it negative."""
    return 1.5 - float(x[0]) * float(x[0])


def length(word: Any) -> float:
    return float(len(word))


def letters(word: str) -> list[float]:
    """Return numbers that describe a word."""
    return [float(len(word)), float(word.count("a")), float(len(set(word)))]


def folded(x: Any) -> list[float]:
    """Map a row of numbers to two coordinates."""
    return [abs(float(x[0])), float(x[0]) * float(x[1])]


def polar(X: Any) -> np.ndarray:
    """Map rows of numbers to unit circles, all at once."""
    return np.concatenate([np.cos(X), np.sin(X)], axis=1)


def one(x: Any) -> float:
    return 1.0


def first(x: Any) -> float:
    return float(x[0])


def square(x: Any) -> float:
    return float(x[0]) * float(x[0])


def frequency(word: str, rate: float = 0.5) -> float:
    """Return the logarithm of how often a word is used: long ones less, with an A more."""
    return -rate * rate * len(word) + 0.5 * rate * word.count("a")


def popularity(word: str, u: np.ndarray) -> np.ndarray:
    """Return the logarithm of how often a word is used by people of different taste."""
    return -np.sum((u - 0.2 * len(word)) ** 2, axis=1) / 4 - len(word)


FUNCTIONS = {
    function.__name__: function
    for function in (
        frequency,
        popularity,
        AspectModel,
        FromLogDensity,
        FromSciPy,
        GaussianDensity,
        GaussianMixtureModel,
        HiddenMarkovModel,
        MarkovChain,
        MultinomialMixture,
        from_log_density,
        shared,
        closeness,
        damping,
        length,
        letters,
        folded,
        polar,
        one,
        first,
        square,
    )
}
