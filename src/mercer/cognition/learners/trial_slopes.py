"""Slopes of learning: how the answers of every trial would change with the parameters.

Forward mode: beside each number that a learner carries from trial to trial goes its derivative
with respect to each parameter, and every update is differentiated with it. A parameter enters by
`seeds`, with ∂(number of the rule)/∂(parameter). Where the equations have a corner (attention that
reaches zero, a humble teacher who is content) the slope is that of the side on which they are.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.trial_loops import (
    RESET,
    TRANSFER,
    _activate,
    _constrain,
    _power,
    _respond,
    _respond_by_shares,
    _teach,
)
from mercer.compiled import compiled

__all__ = ["slope_alcove", "slope_delta_rule"]


@compiled(error_model="numpy")
def slope_responses(o, d_o, slope, d_slope, noise, d_noise, p, d_p):
    """Let d_p be the derivatives of the p of `_respond`, a column for each parameter."""
    K, Q = d_o.shape
    top = 0.0 if noise > 0.0 else slope * o[0]
    for k in range(K):
        top = max(top, slope * o[k])
    total = K * noise * math.exp(-top) if noise > 0.0 else 0.0
    for k in range(K):
        total += math.exp(slope * o[k] - top)
    for q in range(Q):
        background, change = d_noise[q] * math.exp(-top), 0.0
        for k in range(K):
            grown = math.exp(slope * o[k] - top) * (d_slope[q] * o[k] + slope * d_o[k, q])
            d_p[k, q] = grown + background
            change += d_p[k, q]
        for k in range(K):
            d_p[k, q] = (d_p[k, q] - p[k] * change) / total


@compiled(error_model="numpy")
def _slope_shares(o, d_o, noise, d_noise, p, d_p):
    """Let d_p be the derivatives of the p of `_respond_by_shares`."""
    K, Q = d_o.shape
    total = 0.0
    for k in range(K):
        total += max(o[k], 0.0) + noise
    d_p[:] = 0.0
    if total <= 0.0:
        return
    for q in range(Q):
        change = 0.0
        for k in range(K):
            d_p[k, q] = (d_o[k, q] if o[k] > 0.0 else 0.0) + d_noise[q]
            change += d_p[k, q]
        for k in range(K):
            d_p[k, q] = (d_p[k, q] - p[k] * change) / total


@compiled(error_model="numpy")
def _slope_attention(alpha, before, d_before, constraint, d_alpha):
    """Let d_alpha be what is left of it when `_constrain` has made `alpha` of what it was."""
    d, Q = d_alpha.shape
    total, kept = 0.0, 0
    for i in range(d):
        if alpha[i] > 0.0:
            kept += 1
            total += before[i]
        else:
            d_alpha[i] = 0.0
    for q in range(Q):
        change = 0.0
        for i in range(d):
            change += d_alpha[i, q]
        for i in range(d):
            if constraint == 1 and total > 0.0:
                d_alpha[i, q] = (d_alpha[i, q] - alpha[i] * change) / total
            elif constraint == 1:
                d_alpha[i, q] = d_before[i, q]
            elif constraint == 2 and alpha[i] > 0.0:
                d_alpha[i, q] -= change / kept


@compiled(error_model="numpy")
def _slope_activations(x, nodes, alpha, d_alpha, rule, seeds, simple, a, pulls, d_a, d_pulls):
    """Let d_a and d_pulls be the derivatives of what `_activate` gives: a, and c·a·∂D^{q/r}/∂D."""
    c, r, q = rule[0], rule[4], rule[5]
    Q = d_a.shape[1]
    for j in range(len(nodes)):
        D = 0.0
        for i in range(len(x)):
            D += alpha[i] * _power(abs(nodes[j, i] - x[i]), r)
        root = D if q == r else D ** (q / r)
        inner = 1.0
        if q != r:
            inner = (q / r) * root / D if D > 0.0 else 0.0
        for s in range(Q):
            d_D = 0.0
            for i in range(len(x)):
                d_D += d_alpha[i, s] * _power(abs(nodes[j, i] - x[i]), r)
            d_a[j, s] = -a[j] * (seeds[0, s] * root + c * inner * d_D)
            d_c = d_a[j, s] * c + a[j] * seeds[0, s]
            if simple:
                d_pulls[j, s] = d_c
            else:
                turn = (q / r - 1.0) * inner / D * d_D if q != r and D > 0.0 else 0.0
                d_pulls[j, s] = d_c * inner + a[j] * c * turn
        pulls[j] = a[j] * c if simple else a[j] * c * inner


@compiled(error_model="numpy")
def slope_alcove(stimuli, codes, order, control, nodes, rule, options, seeds, trace, slopes):
    """Let ALCOVE learn, and slopes be ∂trace/∂parameters; return the first trial that is not
    finite, or −1.

    Parameters
    ----------
    stimuli, codes, order, control, nodes, rule, options
        As in `learn_alcove`.
    seeds : float64 array of shape (8, parameters)
        Derivatives of the numbers of the rule; those of r and q must be zero.
    trace : float64 array of shape (trials, categories)
    slopes : float64 array of shape (trials, categories, parameters)
        The last two are changed.
    """
    c, phi, rate, attention_rate, r, q, noise, absent = rule
    humble, simple, constraint, shares = options
    J, K, d, Q = len(nodes), trace.shape[1], stimuli.shape[1], seeds.shape[1]
    w, alpha, before = np.zeros((J, K)), np.full(d, 1.0 / d), np.empty(d)
    d_w, d_alpha, d_before = np.zeros((J, K, Q)), np.zeros((d, Q)), np.empty((d, Q))
    a, pulls, o, error = np.empty(J), np.empty(J), np.empty(K), np.empty(K)
    d_a, d_pulls = np.empty((J, Q)), np.empty((J, Q))
    d_o, d_error, d_pull = np.empty((K, Q)), np.empty((K, Q)), np.empty(Q)
    for t in range(len(order)):
        if control[t] == RESET:
            w[:], alpha[:], d_w[:], d_alpha[:] = 0.0, 1.0 / d, 0.0, 0.0
        x, right = stimuli[order[t]], codes[order[t]]
        _activate(x, nodes, alpha, c, r, q, a, pulls)
        _slope_activations(x, nodes, alpha, d_alpha, rule, seeds, simple, a, pulls, d_a, d_pulls)
        o[:], d_o[:] = 0.0, 0.0
        for j in range(J):
            for k in range(K):
                o[k] += w[j, k] * a[j]
                for s in range(Q):
                    d_o[k, s] += d_w[j, k, s] * a[j] + w[j, k] * d_a[j, s]
        if shares:
            _respond_by_shares(o, noise, trace[t])
            _slope_shares(o, d_o, noise, seeds[6], trace[t], slopes[t])
        else:
            _respond(o, phi, noise, trace[t])
            slope_responses(o, d_o, phi, seeds[1], noise, seeds[6], trace[t], slopes[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        _teach(o, right, humble, absent, error)
        for k in range(K):
            content = humble and error[k] == 0.0
            for s in range(Q):
                goal = 0.0 if k == right else seeds[7, s]
                d_error[k, s] = 0.0 if content else goal - d_o[k, s]
        before[:], d_before[:] = alpha, d_alpha
        for j in range(J):
            pull, d_pull[:] = 0.0, 0.0
            for k in range(K):
                pull += error[k] * w[j, k]
                for s in range(Q):
                    d_pull[s] += d_error[k, s] * w[j, k] + error[k] * d_w[j, k, s]
                    learned = d_error[k, s] * a[j] + error[k] * d_a[j, s]
                    d_w[j, k, s] += seeds[2, s] * error[k] * a[j] + rate * learned
                w[j, k] += rate * error[k] * a[j]
            for i in range(d):
                u = abs(nodes[j, i] - x[i])
                gap = u if simple else _power(u, r)
                for s in range(Q):
                    moved = d_pull[s] * pulls[j] + pull * d_pulls[j, s]
                    moved = attention_rate * moved + seeds[3, s] * pull * pulls[j]
                    d_alpha[i, s] -= moved * gap
                alpha[i] -= attention_rate * pull * pulls[j] * gap
        if attention_rate > 0.0:
            raw = alpha.copy()
            _constrain(alpha, before, constraint)
            _slope_attention(alpha, raw, d_before, constraint, d_alpha)
    return -1


@compiled(error_model="numpy")
def slope_delta_rule(rows, codes, order, control, dual, rule, seeds, trace, slopes):
    """Let cues learn by the delta rule, and slopes be ∂trace/∂parameters.

    `rule` is (λ, slope of the choice); the rest is as in `learn_delta_rule` and `slope_alcove`.
    """
    rate, choice = rule
    F, K, Q = rows.shape[1], trace.shape[1], seeds.shape[1]
    w, d_w = np.zeros((F, K)), np.zeros((F, K, Q))
    o, error, d_o, none = np.empty(K), np.empty(K), np.empty((K, Q)), np.zeros(Q)
    for t in range(len(order)):
        if control[t] == RESET:
            w[:], d_w[:] = 0.0, 0.0
        i = order[t]
        o[:], d_o[:] = 0.0, 0.0
        for f in range(F):
            for k in range(K):
                o[k] += w[f, k] * rows[i, f]
                for s in range(Q):
                    d_o[k, s] += d_w[f, k, s] * rows[i, f]
        _respond(o, choice, 0.0, trace[t])
        slope_responses(o, d_o, choice, seeds[1], 0.0, none, trace[t], slopes[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        _teach(o, codes[i], False, -1.0, error)
        for k in range(K):
            for f in range(F):
                cue = (1.0 if f == i else 0.0) if dual else rows[i, f]
                for s in range(Q):
                    d_w[f, k, s] += (seeds[0, s] * error[k] - rate * d_o[k, s]) * cue
                w[f, k] += rate * error[k] * cue
    return -1
