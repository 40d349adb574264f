"""Generative models: Fisher vectors of a mixture, the forward pass of hidden Markov models.

Fisher vectors are held against the responsibilities that scikit-learn computes for the same items,
which are a small part of what Fisher vectors need: the result alone is a hundred times larger. The
forward pass is held against hmmlearn's, which works with logarithms by default and can also scale
probabilities; both are measured, with all sequences in one call and with a call for each.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from mercer.bench.measure import Row, at_least, at_most, best_of
from mercer.models import HiddenMarkovModel, as_model

ITEMS, COLUMNS, COMPONENTS = 20_000, 50, 50
STATES, SYMBOLS, CHANNELS = 5, 20, 3
SEQUENCES, LENGTH = 100, 1000
MILLISECONDS = "{:.1f} ms"


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [*mixture_rows(), *hidden_markov_rows()]


def mixture_rows() -> list[Row]:
    """Fisher vectors of a diagonal mixture, against one responsibility computation."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(COMPONENTS, COLUMNS))
    X = rng.normal(size=(ITEMS, COLUMNS)) + centers[rng.integers(COMPONENTS, size=ITEMS)]
    peer = GaussianMixture(COMPONENTS, covariance_type="diag", max_iter=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        peer.fit(X)
    model = as_model(peer)
    assert np.allclose(model.responsibilities(X), peer.predict_proba(X))
    mine, other = best_of(lambda: model.score(X), lambda: peer.predict_proba(X), repeats=9)
    task = f"Fisher vectors, {COMPONENTS} components, {ITEMS} × {COLUMNS}, against predict_proba"
    return [Row(task, _shown(mine), _shown(other), mine / other, at_most(3.0))]


def hidden_markov_rows() -> list[Row]:
    """ln p of sequences, against hmmlearn, if it is installed."""
    if find_spec("hmmlearn") is None:
        return []
    found = []
    for kind in ("discrete", "gaussian"):
        model = planted(kind)
        items = [np.asarray(item) for item in model.sample(SEQUENCES, length=LENGTH)]
        for way, bar in (("log", 5.0), ("scaling", 1.0)):
            peer = adopted(model, way)
            found += [_together(model, peer, items, way, bar), _alone(model, peer, items, way)]
    return found


def _together(model: HiddenMarkovModel, peer: Any, items: list[Any], way: str, bar: float) -> Row:
    X, lengths = np.concatenate([_column(item) for item in items]), [len(item) for item in items]
    assert np.isclose(peer.score(X, lengths), model.log_density(items).sum())
    mine, other = best_of(
        lambda: model.log_density(items), lambda: peer.score(X, lengths), repeats=15
    )
    return _row(f"{model.emissions}, hmmlearn {way!r}", mine, other, bar)


def _alone(model: HiddenMarkovModel, peer: Any, items: list[Any], way: str) -> Row:
    columns = [_column(item) for item in items]

    def ours() -> None:
        for item in items:
            model.log_density([item])

    def theirs() -> None:
        for column in columns:
            peer.score(column)

    mine, other = best_of(ours, theirs, repeats=9)
    return _row(f"{model.emissions}, hmmlearn {way!r}, a call for each", mine, other, 1.0)


def _row(task: str, mine: float, other: float, bar: float) -> Row:
    task = f"forward of {SEQUENCES} × {LENGTH} steps, {task}"
    return Row(task, _shown(mine), _shown(other), other / mine, at_least(bar))


def _column(item: np.ndarray) -> np.ndarray:
    return item if item.ndim == 2 else item[:, None]


def planted(kind: str) -> HiddenMarkovModel:
    """Return a model with random parameters."""
    rng = np.random.default_rng(0)
    chain = {
        "start": rng.dirichlet(np.ones(STATES)),
        "transition": rng.dirichlet(np.ones(STATES), size=STATES),
    }
    if kind == "discrete":
        emission = rng.dirichlet(np.ones(SYMBOLS), size=STATES)
        return HiddenMarkovModel(STATES, kind, **chain, emission=emission)
    means = 2 * rng.normal(size=(STATES, CHANNELS))
    return HiddenMarkovModel(
        STATES, kind, **chain, means=means, covariances=np.ones((STATES, CHANNELS))
    )


def adopted(model: HiddenMarkovModel, implementation: str) -> Any:
    """Return hmmlearn's model with the same parameters."""
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM

    if model.emissions == "discrete":
        peer = CategoricalHMM(STATES, implementation=implementation)
        peer.emissionprob_ = model.emission
    else:
        peer = GaussianHMM(STATES, implementation=implementation)
        peer.means_, peer.covars_ = model.means, model.covariances
    peer.startprob_, peer.transmat_ = model.start, model.transition
    return peer


def _shown(seconds: float) -> str:
    return MILLISECONDS.format(1000 * seconds)
