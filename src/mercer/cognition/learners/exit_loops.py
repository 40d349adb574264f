"""The loops of EXIT: rapid shifts of attention, which exemplars remember."""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.trial_loops import RESET, TRANSFER, _respond
from mercer.compiled import compiled

__all__ = ["learn_exit", "respond_exit", "simulate_exit"]


@compiled(error_model="numpy")
def _attend(g, capacity, alpha):
    """Let alpha be g/‖g‖_P; return that norm (equation 5)."""
    total = 0.0
    for i in range(len(g)):
        total += g[i] ** capacity
    norm = total ** (1.0 / capacity)
    for i in range(len(g)):
        alpha[i] = g[i] / norm if norm > 0.0 else 0.0
    return norm


@compiled(error_model="numpy")
def _out(alpha, x, w, o):
    """Let o be the outputs (equation 1)."""
    o[:] = 0.0
    for i in range(len(x)):
        for k in range(len(o)):
            o[k] += alpha[i] * x[i] * w[i, k]


@compiled(error_model="numpy")
def respond_exit(x, nodes, salience, rule, w, v, active, g, alpha, o):
    """Let `active` be the exemplars, g the gains (equations 3, 4), o the outputs; return ‖g‖."""
    for j in range(len(nodes)):
        gap = 0.0
        for i in range(len(x)):
            gap += salience[i] * abs(nodes[j, i] - x[i])
        active[j] = math.exp(-rule[0] * gap)
    for i in range(len(x)):
        pull = 0.0
        for j in range(len(nodes)):
            pull += v[j, i] * active[j]
        g[i] = x[i] * salience[i] * math.exp(pull)
    norm = _attend(g, rule[1], alpha)
    _out(alpha, x, w, o)
    return norm


@compiled(error_model="numpy")
def learn_exit(stimuli, codes, order, control, nodes, salience, rule, iterations, w, v, trace):
    """Let EXIT learn trial by trial; return the first trial that is not finite, or −1.

    Parameters
    ----------
    stimuli : float64 array of shape (n, cues)
        With the context cue, if there is one.
    codes, order, control : int64 arrays
    nodes : float64 array of shape (exemplars, cues)
    salience : float64 array of shape (cues,)
    rule : (c, P, φ, λ_g, λ_w, λ_x)
    iterations : int
    w : float64 array of shape (cues, categories)
    v : float64 array of shape (exemplars, cues)
        From exemplars to gains.
    trace : float64 array of shape (trials, categories)
        The last three are changed.
    """
    _, capacity, choice, shift_rate, rate, gain_rate = rule
    d, K = w.shape
    g, first, alpha = np.empty(d), np.empty(d), np.empty(d)
    o, active = np.empty(K), np.empty(len(nodes))
    for t in range(len(order)):
        if control[t] == RESET:
            w[:], v[:] = 0.0, 0.0
        x = stimuli[order[t]]
        norm = respond_exit(x, nodes, salience, rule, w, v, active, g, alpha, o)
        _respond(o, choice, 0.0, trace[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        correct = codes[order[t]]
        for i in range(d):
            first[i] = g[i]
        for _ in range(iterations):  # equation 7
            for i in range(d):
                change = 0.0
                for k in range(K):
                    error = (1.0 if k == correct else 0.0) - o[k]
                    change += error * (w[i, k] * x[i] - alpha[i] ** (capacity - 1.0) * o[k])
                if x[i] > 0.0 and norm > 0.0:
                    g[i] = max(g[i] + shift_rate * change / norm, 0.0)
            norm = _attend(g, capacity, alpha)
            _out(alpha, x, w, o)
        for i in range(d):
            for k in range(K):  # equation 8
                error = (1.0 if k == correct else 0.0) - o[k]
                w[i, k] += rate * error * alpha[i] * x[i]
            for j in range(len(nodes)):  # equation 9
                v[j, i] += gain_rate * (g[i] - first[i]) * active[j] * nodes[j, i] * first[i]
    return -1


@compiled(error_model="numpy")
def simulate_exit(stimuli, codes, orders, nodes, classes, salience, rule, iterations, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T, d = orders.shape[1], stimuli.shape[1]
    w, v, trace = np.empty((d, classes)), np.empty((len(nodes), d)), np.empty((T, classes))
    control = np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        w[:], v[:] = 0.0, 0.0
        stop = learn_exit(
            stimuli, codes, orders[s], control, nodes, salience, rule, iterations, w, v, trace
        )
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan
