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
from mercer.cognition.choices.gcm import GCM
from mercer.cognition.experiments.designs import Design, five_four, medin_schaffer, shj
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.learners.alcove import ALCOVE
from mercer.cognition.learners.sustain import SUSTAIN
from mercer.cognition.people.population import fit_people
from mercer.cognition.people.posterior import Posterior, posterior
from mercer.cognition.people.simulation import simulate_people

SUBJECTS, FEW = 1000, 20
STARTS = 50
SECONDS = "{:.2f} s"


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    return [*alcove_rows(), *sustain_rows(), *gcm_rows(), *people_rows()]


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


def sustain_rows() -> list[Row]:
    """Simulate learners of one type with SUSTAIN. The plain loop is timed on a few."""
    model, design = SUSTAIN(9.01245, 1.252233, 16.924073, 0.092327), shj("IV")
    (ours,) = best_of(lambda: model.simulate(design, SUBJECTS), repeats=3)
    peer = seconds(lambda: plain_sustain(model, design, FEW)) * SUBJECTS / FEW
    gap = np.abs(plain_sustain(model, design, FEW) - model.simulate(design, FEW)).max()
    task = f"{SUBJECTS} SUSTAIN learners, type IV, 256 trials ({peer / ours:.0f}x)"
    return [
        Row(task, SECONDS.format(ours), SECONDS.format(peer), ours, at_most(2.0, SECONDS)),
        Row("how many times faster", "", "", ours / peer, at_most(1 / 50, "{:.1e} of the peer")),
        Row("largest difference of the curves", "", "", float(gap), at_most(1e-12, "{:.0e}")),
    ]


def people_rows() -> list[Row]:
    """Fit and sample a population of people who follow the generalized context model."""
    cube = np.array([[i >> k & 1 for k in (3, 2, 1, 0)] for i in range(16)], dtype=float)
    learned = five_four()
    asked = Experiment(learned.stimuli, learned.categories, cube, None)
    made = simulate_people(GCM(5.0), asked, subjects=100, trials=31, seed=1)
    (fit,) = best_of(lambda: fit_people(GCM(), made.experiment), repeats=1)
    found: list[Posterior] = []
    drawn = seconds(lambda: found.append(posterior(GCM(), made.experiment)))
    who = "100 people, 496 trials each"
    return [
        Row(f"GCM, {who}: population", SECONDS.format(fit), "", fit, at_most(20.0, SECONDS)),
        Row(f"GCM, {who}: posterior", SECONDS.format(drawn), "", drawn, at_most(300.0, SECONDS)),
        Row("largest R-hat", "", "", found[0].rhat, at_most(1.02, "{:.3f}")),
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


def plain_sustain(model: SUSTAIN, design: Design, subjects: int) -> np.ndarray:
    """Return the mean errors per block, by a loop over subjects and trials."""
    r, beta, d, eta = model.focus, model.competition, model.choice, model.rate
    code = np.concatenate([design.stimuli[:, :, None] == v for v in (0, 1)], axis=2).astype(float)
    right = (design.categories == "B").astype(int)
    curves = []
    for order in design.orders(subjects, seed=0):
        H, W, tuning, wrong = np.zeros((0, 3, 2)), np.zeros((0, 2)), np.ones(3), []

        def compete(x, H, tuning):
            mu = 0.5 * np.abs(H - x).sum(axis=2)
            act = (tuning**r * np.exp(-tuning * mu)).sum(axis=1) / (tuning**r).sum()
            return mu, act, act ** (beta + 1) / (act**beta).sum()

        for i in order:
            x, k, C = code[i], right[i], np.zeros(2)
            if len(H):
                mu, act, out = compete(x, H, tuning)
                win = int(act.argmax())
                C = W[win] * out[win]
            p = np.exp(d * C)
            wrong.append(1 - p[k] / p.sum())
            if not len(H) or (C[1 - k] >= C[k] and mu[win].sum() > 0):
                H, W = np.concatenate([H, x[None]]), np.vstack([W, np.zeros(2)])
                win, C = len(H) - 1, np.zeros(2)
                mu, act, out = compete(x, H, tuning)
            t = np.where(np.arange(2) == k, np.maximum(C, 1), np.minimum(C, 0))
            W[win] += eta * (t - C) * out[win]
            H[win] += eta * (x - H[win])
            tuning = tuning + eta * np.exp(-tuning * mu[win]) * (1 - tuning * mu[win])
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
