"""The loops of the associative learners: strengths of cues, and what is learned about them."""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.trial_loops import RESET, TRANSFER, _respond
from mercer.compiled import compiled

__all__ = ["MACKINTOSH", "PEARCE_HALL", "RESCORLA_WAGNER", "learn_associations", "simulate_cues"]

RESCORLA_WAGNER, MACKINTOSH, PEARCE_HALL = 0, 1, 2


@compiled(error_model="numpy")
def _update(kind, x, correct, rule, salience, o, V, alpha):
    """Change strengths and associabilities after one trial, both from what they were before."""
    rate, absent, attention_rate, lowest = rule
    K = len(o)
    # For each cue: how badly the others predict, less how badly it does (Mackintosh).
    for i in range(len(x)):
        if x[i] == 0.0:
            continue
        surprise, better = 0.0, 0.0
        for k in range(K):
            goal = 1.0 if k == correct else 0.0
            beta = rate if k == correct else rate * absent
            error = goal - o[k]
            surprise += abs(error) / K
            if kind == MACKINTOSH:
                alone = V[i, k] * x[i]
                better += (abs(goal - (o[k] - alone)) - abs(goal - alone)) / K
                V[i, k] += alpha[i] * salience[i] * beta * (goal - alone) * x[i]
            elif kind == PEARCE_HALL:
                # Excitation grows with the outcome, inhibition with an outcome that was expected.
                grows = goal if error >= 0.0 else error
                V[i, k] += alpha[i] * salience[i] * beta * grows * x[i]
            else:
                V[i, k] += salience[i] * beta * error * x[i]
        if kind == MACKINTOSH:
            alpha[i] = min(max(alpha[i] + attention_rate * better, lowest), 1.0)
        elif kind == PEARCE_HALL:
            alpha[i] += attention_rate * (surprise - alpha[i])


@compiled(error_model="numpy")
def learn_associations(
    kind, stimuli, codes, order, control, rule, salience, start, choice, V, alpha, trace
):
    """Let cues learn; return the first trial that is not finite, or −1.

    Parameters
    ----------
    kind : RESCORLA_WAGNER, MACKINTOSH or PEARCE_HALL
    stimuli : float64 array of shape (n, cues)
    codes, order, control : int64 arrays
    rule : (β, β of absent outcomes as a share of it, rate of associability, its least value)
    salience : float64 array of shape (cues,)
    start : float
        Associability of all cues at the beginning.
    choice : float
    V : float64 array of shape (cues, categories)
    alpha : float64 array of shape (cues,)
    trace : float64 array of shape (trials, categories)
        The last three are changed.
    """
    o = np.empty(V.shape[1])
    V[:] = 0.0
    alpha[:] = start
    for t in range(len(order)):
        if control[t] == RESET:
            V[:] = 0.0
            alpha[:] = start
        x = stimuli[order[t]]
        o[:] = 0.0
        for i in range(len(x)):
            for k in range(len(o)):
                o[k] += V[i, k] * x[i]
        _respond(o, choice, 0.0, trace[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] != TRANSFER:
            _update(kind, x, codes[order[t]], rule, salience, o, V, alpha)
    return -1


@compiled(error_model="numpy")
def simulate_cues(kind, stimuli, codes, orders, classes, rule, salience, start, choice, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T = orders.shape[1]
    V, alpha = np.empty((stimuli.shape[1], classes)), np.empty(stimuli.shape[1])
    trace, control = np.empty((T, classes)), np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        stop = learn_associations(
            kind, stimuli, codes, orders[s], control, rule, salience, start, choice,
            V, alpha, trace,
        )  # fmt: skip
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan
