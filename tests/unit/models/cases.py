"""Models of all kinds with known parameters, things that they are about, and their neighbors.

`moved` changes one named parameter of a model a little. It knows only what the names promise, not
how scores are computed, so that differences of log densities are an independent check of them.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
from scipy import sparse

from mercer.models import (
    AspectModel,
    FromLogDensity,
    FromSciPy,
    GaussianDensity,
    GaussianMixtureModel,
    HiddenMarkovModel,
    MarkovChain,
    MultinomialMixture,
)

rng = np.random.default_rng(7)
ROOT = np.array([[1.0, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.5, 1.2]])
MATRIX = ROOT @ ROOT.T
MATRICES = np.array([MATRIX, np.diag([0.5, 2.0, 1.0]), MATRIX[::-1, ::-1]])
MEANS = np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5], [-2.0, -1.0, 1.0]])
ROWS = rng.normal(size=(6, 3)) * 1.5
NUMBERS = np.array([[0.3], [1.0], [2.5], [4.0]])
WHOLE = np.array([[0.0], [1.0], [3.0], [7.0]])
SHARES = np.array([[0.25], [0.5], [0.9]])
WORDS = np.array([[3, 0, 1, 0], [0, 2, 2, 5], [1, 1, 1, 1], [0, 0, 0, 4], [0, 0, 0, 0]], float)

START = np.array([0.6, 0.3, 0.1])
STEP = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]])
EMISSION = np.array([[0.5, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.25, 0.75]])
STRINGS = ["ACGT", "", "TTAC?G", "A", "GGGT", "???"]
SERIES = [[0.1, 2.0, -1.0, 0.5], [1.0], [], [np.nan, 3.0, np.nan]]
TRACKS = [rng.normal(size=(5, 3)), rng.normal(size=(1, 3)) + 1, rng.normal(size=(3, 3))]
GAPPED = [np.where(rng.random((4, 3)) < 0.3, np.nan, rng.normal(size=(4, 3))) for _ in range(3)]


def log_cauchy(x: Any, middle: float, log_scale: float) -> float:
    """Return the log density of a Cauchy distribution, as a user would write it."""
    z = (np.asarray(x) - middle) / np.exp(log_scale)
    return float(np.sum(-np.log(np.pi) - log_scale - np.log1p(z * z)))


def log_independent(X: Any, means: np.ndarray) -> np.ndarray:
    """Return log densities of all rows at once, with an array of parameters."""
    return -0.5 * ((X - means) ** 2).sum(axis=1) - 1.5 * np.log(2 * np.pi)


def mixture(covariance: str, covariances: Any, count: int = 3) -> GaussianMixtureModel:
    weights = np.array([0.5, 0.2, 0.3])[:count] / np.sum([0.5, 0.2, 0.3][:count])
    return GaussianMixtureModel(count, covariance, weights, MEANS[:count], covariances)


def markov(**emitted: Any) -> HiddenMarkovModel:
    kind = "discrete" if "emission" in emitted else "gaussian"
    return HiddenMarkovModel(3, kind, start=START, transition=STEP, **emitted)


VARIANCES = np.array([[1.0, 0.5, 2.0], [0.3, 1.5, 1.0], [2.0, 2.0, 0.7]])
CHAIN = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.3, 0.7, 0.0]])
SECOND = rng.dirichlet(np.ones(2), size=7)

# Each: a model whose parameters are known, and items.
CASES: dict[str, tuple[Any, Any]] = {
    "own": (FromLogDensity(log_cauchy, {"middle": 0.5, "log_scale": -0.2}), NUMBERS),
    "own, all at once": (FromLogDensity(log_independent, {"means": MEANS[0]}, True), ROWS),
    "normal": (GaussianDensity(MEANS[0], MATRIX), ROWS),
    "normal, fixed covariance": (GaussianDensity(MEANS[0], MATRIX, "covariance"), ROWS),
    "normal, fixed mean": (GaussianDensity(MEANS[0], MATRIX, ("mean",)), ROWS),
    "norm": (FromSciPy("norm", {"loc": 1.0, "scale": 2.0}), NUMBERS),
    "expon": (FromSciPy("expon", {"scale": 2.0}), NUMBERS),
    "gamma": (FromSciPy("gamma", {"a": 2.5, "scale": 0.7}), NUMBERS),
    "beta": (FromSciPy("beta", {"a": 2.0, "b": 3.0}), SHARES),
    "poisson": (FromSciPy("poisson", {"mu": 2.5}), WHOLE),
    "binom": (FromSciPy("binom", {"n": 9, "p": 0.3}), WHOLE),
    "gumbel": (FromSciPy("gumbel_r", {"loc": 1.0, "scale": 2.0}), NUMBERS),
    "negative binomial": (FromSciPy("nbinom", {"n": 2.5, "p": 0.4}, "p"), WHOLE),
    "full mixture": (mixture("full", MATRICES), ROWS),
    "tied mixture": (mixture("tied", MATRIX), ROWS),
    "diag mixture": (mixture("diag", VARIANCES), ROWS),
    "spherical mixture": (mixture("spherical", [0.5, 1.0, 2.0]), ROWS),
    "one full": (mixture("full", MATRICES[:1], 1), ROWS),
    "one tied": (mixture("tied", MATRIX, 1), ROWS),
    "one diag": (mixture("diag", VARIANCES[:1], 1), ROWS),
    "one spherical": (mixture("spherical", [0.5], 1), ROWS),
    "multinomial mixture": (
        MultinomialMixture(2, [0.3, 0.7], [[0.1, 0.2, 0.3, 0.4], [0.5, 0.2, 0.2, 0.1]]),
        WORDS,
    ),
    "multinomial mixture of sparse rows with zeros": (
        MultinomialMixture(2, [0.3, 0.7], [[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.5, 0.5]]),
        sparse.csr_array(WORDS),
    ),
    "aspects": (
        AspectModel(2, [[0.1, 0.2, 0.3, 0.4], [0.5, 0.2, 0.2, 0.1]], [0.3, 0.7], 1.5),
        WORDS,
    ),
    "aspects without a prior": (
        AspectModel(2, [[0.1, 0.2, 0.3, 0.4], [0.5, 0.2, 0.2, 0.1]], strength=0.0),
        sparse.csr_array(WORDS),
    ),
    "chain": (MarkovChain(1, CHAIN, "abc"), ["abcab", "", "c", "ccbba"][:3]),
    "chain of order 2": (MarkovChain(2, SECOND, "ab"), ["abba", "", "b", "bbbab"]),
    "chain without memory": (MarkovChain(0, [[0.2, 0.8]]), [[0, 1, 1], [], [0]]),
    "hidden symbols": (markov(emission=EMISSION, alphabet="ACGT"), STRINGS),
    "hidden numbers": (
        markov(means=MEANS[:, :1], covariances=VARIANCES[:, :1]),
        SERIES,
    ),
    "hidden rows": (markov(means=MEANS, covariances=VARIANCES), TRACKS + GAPPED),
    "hidden correlated rows": (
        markov(means=MEANS, covariances=MATRICES, covariance="full"),
        [*TRACKS, np.vstack([TRACKS[0], np.full((1, 3), np.nan)])],
    ),
}

FIELDS = {
    "weight": "weights",
    "word": "probabilities",
    "proportion": "proportions",
    "start": "start",
    "transition": "transition",
    "emission": "emission",
}


def moved(model: Any, name: str, h: float) -> Any:
    """Return the model with one of its parameters larger by `h`."""
    if hasattr(model, "theta"):
        return _moved_theta(model, name, h)
    label, inside = re.fullmatch(r"(\w+)\[(.*)\]", name).groups()
    place = eval(f"({inside},)")
    if label == "mean":
        field = "means" if hasattr(model, "means") else "mean"
        array = getattr(model, field).copy()
        array[place] += h
        return model.set_params(**{field: array})
    if "factor" in label or "deviation" in label:
        return _moved_covariance(model, label, place, h)
    field = FIELDS[label]
    if isinstance(model, AspectModel) and label == "word":
        field = "words"
    if isinstance(model, MarkovChain):
        field, place = "probabilities", _cell(model, *place)
    if label == "emission":
        place = place[0], model.alphabet.index(place[1])
    table = getattr(model, field).copy()
    row = table if len(place) == 1 else table[place[:-1]]
    row[place[-1]] *= np.exp(h)
    row /= row.sum()
    return model.set_params(**{field: table})


def _moved_theta(model: Any, name: str, h: float) -> Any:
    theta = {key: np.array(value) for key, value in model.theta}
    label, _, inside = name.partition("[")
    if inside:
        theta[label][eval(f"({inside[:-1]},)")] += h
    else:
        theta[label] = theta[label] + h
    return model.set_params(theta=theta)


def _moved_covariance(model: Any, label: str, place: tuple[int, ...], h: float) -> Any:
    field = "covariances" if hasattr(model, "covariances") else "covariance"
    array = getattr(model, field).copy()
    if label == "log_deviation":
        array[place] *= np.exp(2 * h)
        return model.set_params(**{field: array})
    here, entry = ((), place) if array.ndim == 2 else (place[:1], place[1:])
    L = np.linalg.cholesky(array[here])
    if label == "log_factor":
        L[entry[0], entry[0]] *= np.exp(h)
    else:
        L[entry] += h
    array[here] = L @ L.T
    return model.set_params(**{field: array})


def _cell(chain: MarkovChain, context: Any, symbol: Any) -> tuple[int, int]:
    contexts = [
        tuple(found)
        for length in range(chain.order + 1)
        for found in itertools.product(chain.alphabet, repeat=length)
    ]
    return contexts.index(tuple(context)), chain.alphabet.index(symbol)
