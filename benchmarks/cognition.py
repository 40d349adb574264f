"""Models of categorization: simulated subjects, and maximum likelihood from many starts.

No other package of this language has these models, so the peers are the plain loops that a modeler
writes: ALCOVE in NumPy, one subject and one trial after the other, and the generalized context
model with SciPy's optimizer and gradients by differences. The bars are seconds of ours; how many
times longer the peer takes stands behind the task.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from mercer.bench.measure import Row, at_most, best_of, seconds
from mercer.cognition.alcove import ALCOVE
from mercer.cognition.designs import Design, medin_schaffer, shj
from mercer.cognition.gcm import GCM
from mercer.cognition.responses import Experiment

SUBJECTS, FEW = 1000, 20
STARTS = 50
SECONDS = "{:.2f} s"


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [*alcove_rows(), *gcm_rows()]


def alcove_rows() -> list[Row]:
    """Simulate learners of one type. The plain loop is timed on a few, and counted up."""
    model, design = ALCOVE(5.8219, 1.9539, 0.0754, 0.9856), shj("IV")
    (ours,) = best_of(lambda: model.simulate(design, SUBJECTS), repeats=3)
    peer = seconds(lambda: plain_alcove(model, design, FEW)) * SUBJECTS / FEW
    gap = np.abs(plain_alcove(model, design, FEW) - model.simulate(design, FEW)).max()
    task = f"{SUBJECTS} ALCOVE subjects, type IV, 256 trials ({peer / ours:.0f}x)"
    return [
        Row(task, SECONDS.format(ours), SECONDS.format(peer), ours, at_most(1.0, SECONDS)),
        Row("largest difference of the curves", "", "", float(gap), at_most(1e-12, "{:.0e}")),
    ]


def gcm_rows() -> list[Row]:
    """Fit the generalized context model to the 5-4 data by likelihood."""
    shown = medin_schaffer(counts=True)

    def ours() -> float:
        model = GCM(starts=STARTS)
        model.fit(shown.exemplars, shown.categories, shown.stimuli, shown.responses)
        return float(model.log_likelihood_)

    mine, other = best_of(ours, lambda: plain_gcm(shown), repeats=2)
    task = f"GCM by likelihood, 5-4 data, {STARTS} starts ({other / mine:.0f}x)"
    difference = plain_gcm(shown) - ours()
    return [
        Row(task, SECONDS.format(mine), SECONDS.format(other), mine, at_most(2.0, SECONDS)),
        Row("log-likelihood that the peer has more", "", "", difference, at_most(1e-6, "{:.0e}")),
    ]


def plain_alcove(model: ALCOVE, design: Design, subjects: int) -> np.ndarray:
    """Return the mean errors per block, by a loop over subjects and trials."""
    c, phi = model.sensitivity, model.choice
    X, T = design.stimuli, np.where(design.categories[:, None] == ["A", "B"], 1.0, -1.0)
    curves = []
    for order in design.orders(subjects, seed=0):
        w, alpha, wrong = np.zeros((8, 2)), np.full(3, 1 / 3), []
        for i in order:
            u = np.abs(X - X[i])
            a = np.exp(-c * (u @ alpha))
            o = a @ w
            p = np.exp(phi * o)
            wrong.append(1 - p[T[i] > 0][0] / p.sum())
            error = np.where(T[i] > 0, np.maximum(1, o), np.minimum(-1, o)) - o
            change = -model.attention_rate * (w @ error * a * c) @ u
            w += model.association_rate * np.outer(a, error)
            alpha = np.maximum(alpha + change, 0)
        curves.append(np.reshape(wrong, (design.blocks, -1)).mean(axis=1))
    return np.mean(curves, axis=0)


def plain_gcm(shown: Experiment, seed: int = 0) -> float:
    """Return the best log-likelihood of many starts, with gradients by differences."""
    X, Z, counts = shown.stimuli, shown.exemplars, shown.responses
    member = np.asarray(shown.categories)[:, None] == ["A", "B"]
    gaps = np.abs(X[:, None] - Z[None])

    def loss(v: np.ndarray) -> float:
        w = np.exp(v[1:] - v[1:].max())
        s = np.exp(-np.exp(v[0]) * (gaps @ (w / w.sum())))
        P = s @ member
        P /= P.sum(axis=1, keepdims=True)
        return -float(np.sum(counts * np.log(P)))

    rng = np.random.default_rng(seed)
    starts = rng.normal(size=(STARTS, 5)) + np.array([1.5, 0, 0, 0, 0])
    with np.errstate(all="ignore"):  # some starts run away, and are not the best
        ends = [minimize(loss, start, method="L-BFGS-B").fun for start in starts]
    return -float(np.nanmin(ends))
