"""Slopes of the associative learners: how each trial's answers change with the parameters.

Forward mode, as in `trial_slopes`.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.associative_loops import MACKINTOSH, PEARCE_HALL
from mercer.cognition.learners.trial_loops import RESET, TRANSFER, _respond
from mercer.cognition.learners.trial_slopes import slope_responses
from mercer.compiled import compiled

__all__ = ["slope_associations"]


@compiled(error_model="numpy")
def _strengthen(kind, xi, goal, beta, d_beta, salience, o, d_o, V, d_V, alpha, d_alpha):
    """Change the strength of a cue for one outcome; return its new value, d_V changed in place."""
    error, alone = goal - o, V * xi
    for s in range(len(d_V)):
        d_alone = d_V[s] * xi
        if kind == MACKINTOSH:
            change = (d_alpha[s] * beta + alpha * d_beta[s]) * (goal - alone)
            change -= alpha * beta * d_alone
        elif kind == PEARCE_HALL:
            grows = goal if error >= 0.0 else error
            change = (d_alpha[s] * beta + alpha * d_beta[s]) * grows
            change -= alpha * beta * d_o[s] if error < 0.0 else 0.0
        else:
            change = d_beta[s] * error - beta * d_o[s]
        d_V[s] += salience * change * xi
    if kind == MACKINTOSH:
        return V + alpha * salience * beta * (goal - alone) * xi
    if kind == PEARCE_HALL:
        return V + alpha * salience * beta * (goal if error >= 0.0 else error) * xi
    return V + salience * beta * error * xi


@compiled(error_model="numpy")
def _sign(value):
    return 1.0 if value > 0.0 else (-1.0 if value < 0.0 else 0.0)


@compiled(error_model="numpy")
def _update_slopes(kind, x, correct, rule, seeds, salience, o, d_o, V, d_V, alpha, d_alpha):
    """Change strengths, associabilities and their derivatives after one trial."""
    rate, absent, attention_rate, lowest = rule[0], rule[1], rule[2], rule[3]
    K, Q = d_o.shape
    d_beta, d_surprise, d_better = np.empty(Q), np.empty(Q), np.empty(Q)
    for i in range(len(x)):
        if x[i] == 0.0:
            continue
        surprise, better = 0.0, 0.0
        d_surprise[:], d_better[:] = 0.0, 0.0
        for k in range(K):
            goal = 1.0 if k == correct else 0.0
            beta = rate if k == correct else rate * absent
            alone = V[i, k] * x[i]
            others = goal - (o[k] - alone)
            surprise += abs(goal - o[k]) / K
            better += (abs(others) - abs(goal - alone)) / K
            for s in range(Q):
                d_beta[s] = seeds[0, s]
                if k != correct:
                    d_beta[s] = seeds[0, s] * absent + rate * seeds[1, s]
                d_alone = d_V[i, k, s] * x[i]
                d_surprise[s] -= _sign(goal - o[k]) * d_o[k, s] / K
                d_better[s] += _sign(others) * (d_alone - d_o[k, s]) / K
                d_better[s] += _sign(goal - alone) * d_alone / K
            V[i, k] = _strengthen(
                kind, x[i], goal, beta, d_beta, salience[i], o[k], d_o[k], V[i, k], d_V[i, k],
                alpha[i], d_alpha[i],
            )  # fmt: skip
        if kind == MACKINTOSH:
            value = alpha[i] + attention_rate * better
            for s in range(Q):
                d_alpha[i, s] += seeds[2, s] * better + attention_rate * d_better[s]
                if value > 1.0:
                    d_alpha[i, s] = 0.0
                elif value < lowest:
                    d_alpha[i, s] = seeds[3, s]
            alpha[i] = min(max(value, lowest), 1.0)
        elif kind == PEARCE_HALL:
            gap = surprise - alpha[i]
            for s in range(Q):
                change = attention_rate * (d_surprise[s] - d_alpha[i, s])
                d_alpha[i, s] += seeds[2, s] * gap + change
            alpha[i] += attention_rate * gap


@compiled(error_model="numpy")
def slope_associations(
    kind, stimuli, codes, order, control, rule, seeds, salience, start, trace, slopes
):
    """Let cues learn, and slopes be ∂trace/∂parameters; return the first trial that is not finite.

    `rule` is that of `learn_associations` and the choice, with the derivatives `seeds`; the rest
    is as there and in `slope_alcove`.
    """
    F, K, Q = stimuli.shape[1], trace.shape[1], seeds.shape[1]
    V, alpha = np.zeros((F, K)), np.full(F, start)
    d_V, d_alpha = np.zeros((F, K, Q)), np.zeros((F, Q))
    o, d_o, none = np.empty(K), np.empty((K, Q)), np.zeros(Q)
    for t in range(len(order)):
        if control[t] == RESET:
            V[:], alpha[:], d_V[:], d_alpha[:] = 0.0, start, 0.0, 0.0
        x = stimuli[order[t]]
        o[:], d_o[:] = 0.0, 0.0
        for i in range(F):
            for k in range(K):
                o[k] += V[i, k] * x[i]
                for s in range(Q):
                    d_o[k, s] += d_V[i, k, s] * x[i]
        _respond(o, rule[4], 0.0, trace[t])
        slope_responses(o, d_o, rule[4], seeds[4], 0.0, none, trace[t], slopes[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] != TRANSFER:
            _update_slopes(
                kind, x, codes[order[t]], rule, seeds, salience, o, d_o, V, d_V, alpha, d_alpha
            )
    return -1
