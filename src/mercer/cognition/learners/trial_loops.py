"""Loops over trials, compiled by Numba when a model first learns.

Subjects are independent of each other and each has a row of its own in the result, so the answer
does not depend on how they are spread over threads.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.compiled import compiled

__all__ = [
    "LEARN",
    "RESET",
    "TRANSFER",
    "learn_alcove",
    "learn_delta_rule",
    "simulate_alcove",
    "simulate_delta_rule",
]

# What a trial does to the learner.
LEARN, RESET, TRANSFER = 0, 1, 2


@compiled(error_model="numpy")
def _respond(o, slope, noise, p):
    """Let p be (e^{φo} + b) / Σ(e^{φo} + b), without overflow."""
    top = 0.0 if noise > 0.0 else slope * o[0]
    for k in range(len(o)):
        top = max(top, slope * o[k])
    background = noise * math.exp(-top) if noise > 0.0 else 0.0
    total = 0.0
    for k in range(len(o)):
        p[k] = math.exp(slope * o[k] - top) + background
        total += p[k]
    for k in range(len(o)):
        p[k] /= total


@compiled(error_model="numpy")
def _respond_by_shares(o, noise, p):
    """Let p be (max(o, 0) + b) / Σ(max(o, 0) + b)."""
    total = 0.0
    for k in range(len(o)):
        p[k] = max(o[k], 0.0) + noise
        total += p[k]
    for k in range(len(o)):
        p[k] = p[k] / total if total > 0.0 else 1.0 / len(o)


@compiled(error_model="numpy")
def _power(u, r):
    if r == 1.0:
        return u
    return u * u if r == 2.0 else u**r


@compiled(error_model="numpy")
def _activate(x, nodes, alpha, c, r, q, a, slopes):
    """Let a be the similarities of x to the nodes, slopes what ∂a/∂αᵢ has in common: minus the
    true one is slopes·|h − x|^r.
    """
    for j in range(len(nodes)):
        D = 0.0
        for i in range(len(x)):
            D += alpha[i] * _power(abs(nodes[j, i] - x[i]), r)
        root = D if q == r else (math.sqrt(D) if 2.0 * q == r else D ** (q / r))
        a[j] = math.exp(-c * root)
        if q == r:
            slopes[j] = a[j] * c
        else:
            # At D = 0 a node on the stimulus has slope 0. So gets one that differs only where
            # there is no attention left: its slope, for q < r, would be infinite.
            slopes[j] = a[j] * c * (q / r) * root / D if D > 0.0 else 0.0


@compiled(error_model="numpy")
def _teach(o, correct, humble, absent, error):
    """Let error be t − o, with t = 1 for the right category and `absent` for others."""
    for k in range(len(o)):
        t = 1.0 if k == correct else absent
        if humble:
            t = max(t, o[k]) if k == correct else min(t, o[k])
        error[k] = t - o[k]


@compiled(error_model="numpy")
def _constrain(alpha, before, constraint):
    """Keep attention in its set: α ≥ 0 (0), with sum 1 by division (1), or by projection (2)."""
    if constraint == 2:
        # The nearest point of the simplex is max(α − τ, 0). τ is the mean excess of the positive
        # ones, of which there are fewer in every pass until none is lost (Michelot, 1986).
        kept, tau = len(alpha) + 1, -np.inf
        while True:
            total, count = 0.0, 0
            for i in range(len(alpha)):
                if alpha[i] > tau:
                    total += alpha[i]
                    count += 1
            if count == kept or count == 0:
                break
            kept, tau = count, (total - 1.0) / count
        for i in range(len(alpha)):
            alpha[i] -= tau
    total = 0.0
    for i in range(len(alpha)):
        alpha[i] = max(alpha[i], 0.0)
        total += alpha[i]
    if constraint == 1:
        for i in range(len(alpha)):
            # Attention that would vanish everywhere stays as it was.
            alpha[i] = alpha[i] / total if total > 0.0 else before[i]


@compiled(error_model="numpy")
def learn_alcove(stimuli, codes, order, control, nodes, rule, options, w, alpha, trace):
    """Let ALCOVE learn trial by trial; return the first trial that is not finite, or −1.

    Parameters
    ----------
    stimuli : float64 array of shape (n, dimensions)
    codes : int64 array of shape (n,)
        Category of each stimulus.
    order : int64 array of shape (trials,)
    control : int64 array of shape (trials,)
        LEARN, RESET or TRANSFER.
    nodes : float64 array of shape (nodes, dimensions)
    rule : (c, φ, λ_w, λ_α, r, q, b, target of other categories)
    options : (humble, simple, constraint, whether b is the noise of a ratio of outputs)
    w : float64 array of shape (nodes, categories)
    alpha : float64 array of shape (dimensions,)
    trace : float64 array of shape (trials, categories)
        The last three are changed.
    """
    c, phi, rate, attention_rate, r, q, noise, absent = rule
    humble, simple, constraint, shares = options
    J, K, d = w.shape[0], w.shape[1], len(alpha)
    a, slopes, o, error, before = np.empty(J), np.empty(J), np.empty(K), np.empty(K), np.empty(d)
    for t in range(len(order)):
        if control[t] == RESET:
            w[:], alpha[:] = 0.0, 1.0 / d
        x = stimuli[order[t]]
        _activate(x, nodes, alpha, c, r, q, a, slopes)
        o[:] = 0.0
        for j in range(J):
            for k in range(K):
                o[k] += w[j, k] * a[j]
        if shares:
            _respond_by_shares(o, noise, trace[t])
        else:
            _respond(o, phi, noise, trace[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        _teach(o, codes[order[t]], humble, absent, error)
        before[:] = alpha
        for j in range(J):
            pull = 0.0
            for k in range(K):
                pull += error[k] * w[j, k]
                w[j, k] += rate * error[k] * a[j]
            if attention_rate > 0.0:
                pull *= attention_rate * (a[j] * c if simple else slopes[j])
                for i in range(d):
                    u = abs(nodes[j, i] - x[i])
                    alpha[i] -= pull * (u if simple else _power(u, r))
        if attention_rate > 0.0:
            _constrain(alpha, before, constraint)
    return -1


@compiled(error_model="numpy")
def simulate_alcove(stimuli, codes, orders, nodes, classes, rule, options, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    J, d, T = len(nodes), stimuli.shape[1], orders.shape[1]
    w, alpha, trace = np.empty((J, classes)), np.empty(d), np.empty((T, classes))
    control = np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        w[:], alpha[:] = 0.0, 1.0 / d
        stop = learn_alcove(
            stimuli, codes, orders[s], control, nodes, rule, options, w, alpha, trace
        )
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan


@compiled(error_model="numpy")
def learn_delta_rule(rows, codes, order, control, dual, rate, slope, w, trace):
    """Let cues learn by the delta rule; return the first trial that is not finite, or −1.

    The output is Σ wᶠ rows[i, f]. The weights are those of cues, which move by λ(t − o) times the
    cue, or, if `dual`, coefficients of the stimuli with the rows of their Gram matrix, of which
    only that of the shown stimulus moves, by λ(t − o).
    """
    F, K = w.shape
    o, error = np.empty(K), np.empty(K)
    for t in range(len(order)):
        if control[t] == RESET:
            w[:] = 0.0
        i = order[t]
        o[:] = 0.0
        for f in range(F):
            for k in range(K):
                o[k] += w[f, k] * rows[i, f]
        _respond(o, slope, 0.0, trace[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        _teach(o, codes[i], False, -1.0, error)
        for k in range(K):
            if dual:
                w[i, k] += rate * error[k]
            else:
                for f in range(F):
                    w[f, k] += rate * error[k] * rows[i, f]
    return -1


@compiled(error_model="numpy")
def simulate_delta_rule(rows, codes, orders, dual, classes, rate, slope, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T = orders.shape[1]
    w, trace = np.empty((rows.shape[1], classes)), np.empty((T, classes))
    control = np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        w[:] = 0.0
        stop = learn_delta_rule(rows, codes, orders[s], control, dual, rate, slope, w, trace)
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan
