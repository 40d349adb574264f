"""ALCOVE (Kruschke, 1992): its equations, a published trace, and the six types.

Reference figures: the trace of a learning run with four dimensions and sixteen nodes, which needs
the data folder (`MERCER_DATA`), and the six types of Shepard, Hovland & Jenkins (1961) as learned
by 40 people each (Nosofsky, Gluck, Palmeri, McKinley & Glauthier, 1994).
"""

import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from mercer.cognition.experiments.designs import shj, shj_human
from mercer.cognition.learners.alcove import ALCOVE
from mercer.kernels import Shepard

FOLDER = Path(os.environ.get("MERCER_DATA", "")) / "cogsci"
METRICS = [(1, 1), (2, 1), (2, 2), (1, 2), (1.5, 1), (3, 0.7)]
STANDARD = ALCOVE(
    sensitivity=5.8219, choice=1.9539, association_rate=0.0754, attention_rate=0.9856
)


def trials(n=40, d=3, nodes=7, categories=3, seed=0):
    rng = np.random.default_rng(seed)
    X, H = rng.normal(size=(n, d)), rng.normal(size=(nodes, d))
    y = np.arange(n) % categories
    H[0], H[1] = X[3], X[8]  # nodes on stimuli, at distance zero
    return X, y, H


def similarities(x, H, alpha, c, r, q):
    D = [sum(al * abs(h - u) ** r for al, h, u in zip(alpha, row, x, strict=True)) for row in H]
    return D, [math.exp(-c * total ** (q / r)) for total in D]


def naive(X, y, H, c, phi, rate, attention_rate, r, q, teacher, rule, noise):
    """The equations, one number at a time."""
    J, K, d = len(H), int(max(y)) + 1, len(H[0])
    w, alpha, trace = [[0.0] * J for _ in range(K)], [1 / d] * d, []
    for x, label in zip(X, y, strict=True):
        D, a = similarities(x, H, alpha, c, r, q)
        o = [sum(w[k][j] * a[j] for j in range(J)) for k in range(K)]
        strengths = [math.exp(phi * value) + noise for value in o]
        trace.append([s / sum(strengths) for s in strengths])
        t = [1.0 if k == label else -1.0 for k in range(K)]
        if teacher == "humble":
            t = [max(1.0, o[k]) if k == label else min(-1.0, o[k]) for k in range(K)]
        change = [0.0] * d
        for i in range(d):
            for j in range(J):
                back = sum((t[k] - o[k]) * w[k][j] for k in range(K))
                u = abs(H[j][i] - x[i])
                slope = c * u
                if rule == "gradient":
                    slope = c * (q / r) * D[j] ** (q / r - 1) * u**r if D[j] > 0 else 0.0
                change[i] -= attention_rate * back * a[j] * slope
        for k in range(K):
            for j in range(J):
                w[k][j] += rate * (t[k] - o[k]) * a[j]
        alpha = [max(al + step, 0.0) for al, step in zip(alpha, change, strict=True)]
    return np.array(trace), np.array(w).T, np.array(alpha)


@pytest.mark.parametrize(("r", "q"), METRICS)
@pytest.mark.parametrize("teacher", ["humble", "strict"])
@pytest.mark.parametrize("rule", ["gradient", "simple"])
def test_learning_is_that_of_the_equations(r, q, teacher, rule):
    X, y, H = trials()
    model = ALCOVE(1.3, 1.7, 0.2, 0.05, r, q, teacher, rule, noise=0.3).fit(X, y, H)
    trace, w, alpha = naive(X, y, H, 1.3, 1.7, 0.2, 0.05, r, q, teacher, rule, 0.3)
    np.testing.assert_allclose(model.trace_, trace, rtol=1e-11)
    np.testing.assert_allclose(model.association_, w, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.attention_, alpha, rtol=1e-10, atol=1e-12)
    assert np.ptp(model.attention_) > 0.01, "attention has not moved"


def learned(model, X, y, H):
    model.fit(X, y, H)
    return model.association_, model.attention_


@pytest.mark.parametrize(("r", "q"), METRICS)
def test_both_updates_go_down_the_gradient_of_the_squared_error(r, q):
    X, y, H = trials(12)
    rates = {"association_rate": 0.1, "attention_rate": 0.01}
    model = ALCOVE(0.8, 1.0, **rates, order=r, exponent=q, teacher="strict")
    for n in (3, 8):  # the next trial is on a node, at distance zero
        before, after = (learned(model, X[:m], y[:m], H) for m in (n, n + 1))
        x, t = X[n], np.where(np.arange(3) == y[n], 1.0, -1.0)

        def error(w, alpha, x=x, t=t):
            a = np.array(similarities(x, H, alpha, 0.8, r, q)[1])
            return 0.5 * np.sum((t - a @ w) ** 2)

        (w, alpha), (w_after, alpha_after) = before, after
        assert (alpha_after > 0).all()
        h = 1e-6
        for i in range(3):
            step = h * np.eye(3)[i]
            slope = (error(w, alpha + step) - error(w, alpha - step)) / (2 * h)
            moved = (alpha_after - alpha)[i]
            assert moved == pytest.approx(-0.01 * slope, rel=1e-6, abs=1e-10)
        for j, k in np.ndindex(w.shape):
            step = np.zeros_like(w)
            step[j, k] = h
            slope = (error(w + step, alpha) - error(w - step, alpha)) / (2 * h)
            assert (w_after - w)[j, k] == pytest.approx(-0.1 * slope, rel=1e-6, abs=1e-9)


def test_the_published_simplification_is_the_gradient_for_city_blocks_only():
    X, y, H = trials()

    def trace(rule, r):
        return ALCOVE(1.0, 1.0, 0.2, 0.1, r, attention_rule=rule).fit(X, y, H).trace_

    np.testing.assert_allclose(trace("simple", 1), trace("gradient", 1), rtol=1e-12)
    assert np.abs(trace("simple", 2) - trace("gradient", 2)).max() > 1e-3


# ---- Reference 3: a published trace ------------------------------------------------------------


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the data folder MERCER_DATA")
@pytest.mark.parametrize("how", ["control", "predict"])
def test_reference_3_the_trace_of_a_learning_run(how):
    given = json.loads((FOLDER / "test_slpalcove_params.json").read_text())
    with (FOLDER / "test_slpalcove_trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    expected = np.loadtxt(FOLDER / "test_slpalcove_expected.csv")
    X = np.array([[float(row[f"x{i}"]) for i in range(1, 5)] for row in rows])
    y = np.array([1 if float(row["t1"]) == 1 else 2 for row in rows])
    control = np.array([float(row["ctrl"]) for row in rows])
    c, phi, lw, la, r, q = (given[name][0] for name in ("c", "phi", "lw", "la", "r", "q"))
    assert (r, q) == (2, 1)
    model = ALCOVE(c, phi, lw, la, r, q, attention_rule="simple")
    if how == "control":
        found = model.fit(X, y, np.transpose(given["h"]), control=control).trace_
    else:
        n = int(np.argmax(control == 2))
        model.fit(X[:n], y[:n], np.transpose(given["h"]))
        found = np.vstack([model.trace_, model.predict_proba(X[n:])])
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-12)


# ---- Reference 4: the six types ----------------------------------------------------------------


@pytest.fixture(scope="module")
def six_types():
    """Curves of 1,000 subjects for each type: (types, subjects, blocks)."""
    return np.array(
        [STANDARD.simulate(shj(kind), 1000, seed=1, return_subjects=True) for kind in range(1, 7)]
    )


@pytest.mark.slow
def test_reference_4_mean_errors_of_the_six_types(six_types):
    means = six_types.mean(axis=2)
    # The printed means are those of 100 subjects, ours of 1,000, so the difference of two means
    # has this standard error; and they are printed to four decimals.
    error = means.std(axis=1) * np.sqrt(1 / 100 + 1 / 1000)
    printed = [0.0349, 0.0560, 0.1216, 0.1219, 0.1228, 0.1249]
    assert (np.abs(means.mean(axis=1) - printed) < 3 * error + 0.00005).all()
    assert error.max() < 0.002


@pytest.mark.slow
def test_reference_4_squared_error_to_the_human_table(six_types):
    # The printed value is that of 100 subjects: here are ten times as many, in ten groups.
    groups = six_types.reshape(6, 10, 100, 16).mean(axis=2)
    sse = ((groups - shj_human()[:, None]) ** 2).sum(axis=(0, 2))
    assert sse.std() < 0.002
    assert abs(sse.mean() - 0.142) < 3 * sse.std() + 0.0005


def test_the_order_of_difficulty_is_that_of_people(six_types):
    human, model = shj_human().mean(axis=1), six_types.mean(axis=(1, 2))
    for one, two, *middle, six in (human, model):
        assert one < two < min(middle) <= max(middle) < six
    # Not by chance: the same orders are learned for all types, so differences are within subjects.
    means = six_types.mean(axis=2)
    for easier, harder in [(0, 1), (1, 2), (1, 3), (1, 4), (2, 5), (3, 5), (4, 5)]:
        difference = means[harder] - means[easier]
        assert difference.mean() > 4 * difference.std() / np.sqrt(1000)


def test_without_attention_type_II_is_no_longer_easy():
    blind = ALCOVE(5.8219, 1.9539, 0.0754, attention_rate=0.0)
    II, III, IV = (blind.simulate(shj(kind)).mean() for kind in ("II", "III", "IV"))
    assert II > max(III, IV)


# ---- The kernel view ---------------------------------------------------------------------------


def strict(rate):
    return ALCOVE(1.3, 1.0, rate, attention_rate=0.0, teacher="strict")


def test_with_fixed_attention_it_is_kernel_lms_on_the_coefficients():
    X, y, H = trials()
    k = Shepard(1.3, 1, 1, (1 / 3,) * 3)
    T, K = np.where(y[:, None] == np.arange(3), 1.0, -1.0), k(X, H)
    w = np.zeros((len(H), 3))
    for a, t in zip(K, T, strict=True):
        w += 0.2 * np.outer(a, t - a @ w)
    model = strict(0.2).fit(X, y, H)
    np.testing.assert_allclose(model.association_, w, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(model.function_(X), K @ w, rtol=1e-11, atol=1e-14)
    assert model.kernel_ == k


def test_batch_dynamics_follow_the_squared_gram_matrix():
    design = shj("V")
    X, y = design.stimuli, design.categories
    K = Shepard(1.3, 1, 1, (1 / 3,) * 3)(X)
    t = np.where(y == "A", 1.0, -1.0)
    rate, epochs = 1e-4, 3000
    # One trial after the other is, for small rates, the batch: Δw = ηK(t − o), Δo = ηK²(t − o).
    model = strict(rate).fit(np.tile(X, (epochs, 1)), np.tile(y, epochs), X)
    values, V = np.linalg.eigh(K)
    expected = V @ ((1 - (1 - rate * values**2) ** epochs) * (V.T @ t))
    np.testing.assert_allclose(model.function_(X)[:, 0], expected, atol=3e-3)
    wrong = V @ ((1 - (1 - rate * values) ** epochs) * (V.T @ t))
    assert np.abs(wrong - expected).max() > 0.03


# ---- Background noise, as fitted in 1994 -------------------------------------------------------

# Nosofsky, Gluck, Palmeri, McKinley & Glauthier (1994): the best parameters of their version, with
# targets 0 and 1, attention divided by its sum, and background noise b instead of φ.
BACKGROUND = ALCOVE(
    6.33, 1.0, 0.179, 0.409, response="background", noise=0.011, absent=0.0,
    attention_constraint="sum",
)  # fmt: skip


def naive_background(X, y, H, c, b, rate, attention_rate):
    w, alpha, trace = [[0.0, 0.0] for _ in H], [1 / 3] * 3, []
    for x, k in zip(X, y, strict=True):
        a = [math.exp(-c * sum(al * abs(u - v) for al, u, v in zip(alpha, h, x, strict=True)))
             for h in H]  # fmt: skip
        o = [sum(w[j][m] * a[j] for j in range(len(H))) for m in range(2)]
        shares = [max(v, 0) + b for v in o]
        trace.append([s / sum(shares) for s in shares])
        t = [max(1, o[m]) if m == k else min(0, o[m]) for m in range(2)]
        before = [list(row) for row in w]
        for j in range(len(H)):
            for m in range(2):
                w[j][m] += rate * (t[m] - o[m]) * a[j]
        for i in range(3):
            for j in range(len(H)):
                back = sum((t[m] - o[m]) * before[j][m] for m in range(2))
                alpha[i] -= attention_rate * back * a[j] * c * abs(H[j][i] - x[i])
        alpha = [max(v, 0.0) for v in alpha]
        alpha = [v / sum(alpha) for v in alpha]
    return trace


def test_background_noise_is_that_of_the_equations():
    design = shj("IV", blocks=3)
    order = design.trials(np.random.default_rng(0))
    X, y = design.stimuli[order], design.categories[order]
    trace = naive_background(X, y == "B", design.stimuli, 6.33, 0.011, 0.179, 0.409)
    fitted = BACKGROUND.fit(X, y, design.stimuli)
    np.testing.assert_allclose(fitted.trace_, trace, rtol=1e-10)
    short = clone(BACKGROUND).fit(X[:40], y[:40], design.stimuli)
    np.testing.assert_allclose(short.predict_proba(X[40:]), trace_after(fitted, X, y, 40))


def trace_after(model, X, y, n):
    """Return the answers to the trials after the first n, without learning from them."""
    control = np.repeat([0, 2], [n, len(X) - n])
    return clone(model).fit(X, y, shj("I").stimuli, control=control).trace_[n:]


def test_with_background_noise_the_order_is_that_of_people():
    one, two, *middle, six = (BACKGROUND.simulate(shj(k), 300).mean() for k in range(1, 7))
    assert one < two < min(middle) <= max(middle) < six


@pytest.mark.slow
def test_background_noise_comes_closer_to_people_than_the_softmax():
    """Ours, for want of the printed figure: squared errors of 0.062, against 0.142 above."""
    curves = np.array([BACKGROUND.simulate(shj(k), 1000) for k in range(1, 7)])
    assert ((curves - shj_human()) ** 2).sum() == pytest.approx(0.062, abs=0.004)
