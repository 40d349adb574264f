"""Slopes of SUSTAIN: how each trial's answers change with the parameters, winners as they are.

Which cluster wins, and when one is recruited, changes by jumps; between the jumps probabilities
are smooth, and these are their derivatives. Forward mode, as in `trial_slopes`.
"""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.trial_loops import RESET, TRANSFER
from mercer.cognition.learners.trial_slopes import slope_responses
from mercer.compiled import compiled

__all__ = ["slope_sustain"]


@compiled(error_model="numpy")
def _slope_clusters(
    x, starts, scale, rule, seeds, H, d_H, count, tuning, d_tuning, act, d_act, mu, d_mu, winner
):
    """Let act and mu be those of `_compete`, with derivatives, for a winner that is known."""
    d, Q = d_tuning.shape
    share, d_share, weights, d_weights = np.empty(d), np.empty((d, Q)), 0.0, np.zeros(Q)
    d_gap = np.empty(Q)
    for i in range(d):
        share[i] = tuning[i] ** rule[0]
        weights += share[i]
        for s in range(Q):
            grown = seeds[0, s] * math.log(tuning[i]) + rule[0] * d_tuning[i, s] / tuning[i]
            d_share[i, s] = share[i] * grown if tuning[i] > 0.0 else 0.0
            d_weights[s] += d_share[i, s]
    for j in range(count):
        total, d_act[j] = 0.0, 0.0
        for i in range(d):
            gap, d_gap[:] = 0.0, 0.0
            for p in range(starts[i], starts[i + 1]):
                side = x[p] - H[j, p]
                gap += abs(side)
                for s in range(Q):
                    if side != 0.0:
                        d_gap[s] -= d_H[j, p, s] if side > 0.0 else -d_H[j, p, s]
            near = math.exp(-tuning[i] * scale[i] * gap)
            total += share[i] * near
            for s in range(Q):
                far = scale[i] * (d_tuning[i, s] * gap + tuning[i] * d_gap[s])
                d_act[j, s] += (d_share[i, s] - share[i] * far) * near
            if j == winner:
                mu[i] = scale[i] * gap
                for s in range(Q):
                    d_mu[i, s] = scale[i] * d_gap[s]
        act[j] = total / weights
        for s in range(Q):
            d_act[j, s] = (d_act[j, s] - act[j] * d_weights[s]) / weights


@compiled(error_model="numpy")
def _slope_output(beta, d_beta, act, d_act, count, winner, d_out):
    """Return the output of a winner (equation 6), and let d_out be its derivatives."""
    rivals = 0.0
    for j in range(count):
        rivals += (act[j] / act[winner]) ** beta
    for s in range(len(d_out)):
        change = 0.0
        own = d_act[winner, s] / act[winner]
        for j in range(count):
            ratio = act[j] / act[winner]
            if ratio == 0.0:
                continue
            grown = d_beta[s] * math.log(ratio) + beta * (d_act[j, s] / act[j] - own)
            change += ratio**beta * grown
        d_out[s] = (d_act[winner, s] - act[winner] * change / rivals) / rivals
    return act[winner] / rivals


@compiled(error_model="numpy")
def slope_sustain(
    stimuli, targets, starts, scale, order, control, rule, seeds, winners, most, trace, slopes
):
    """Let SUSTAIN learn with the winners that it had, and slopes be ∂trace/∂parameters.

    Parameters
    ----------
    stimuli, targets, starts, scale, order, control, rule
        As in `learn_sustain`, supervised.
    seeds : float64 array of shape (5, parameters)
        Derivatives of the numbers of the rule.
    winners : int64 array of shape (trials, 2)
        From `learn_sustain`.
    most : int
        Largest number of clusters.
    trace : float64 array of shape (trials, categories)
        From `learn_sustain`.
    slopes : float64 array of shape (trials, categories, parameters)
        Changed.
    """
    beta, choice, rate = rule[1], rule[2], rule[3]
    d, K, Q, count = len(scale), targets.shape[1], seeds.shape[1], 0
    H, w, tuning = np.zeros((most, stimuli.shape[1])), np.zeros((most, K)), np.ones(d)
    d_H, d_w, d_tuning = np.zeros((*H.shape, Q)), np.zeros((*w.shape, Q)), np.zeros((d, Q))
    act, mu, o = np.empty(most), np.zeros(d), np.zeros(K)
    d_act, d_mu, d_o = np.empty((most, Q)), np.zeros((d, Q)), np.zeros((K, Q))
    d_out, none, output = np.zeros(Q), np.zeros(Q), 0.0
    for t in range(len(order)):
        x, wanted = stimuli[order[t]], targets[order[t]]
        if control[t] == RESET:
            count, tuning[:], d_tuning[:] = 0, 1.0, 0.0
        o[:], d_o[:] = 0.0, 0.0
        answered, winner = winners[t, 0], winners[t, 1]
        if answered >= 0:
            _slope_clusters(
                x, starts, scale, rule, seeds, H, d_H, count, tuning, d_tuning, act, d_act, mu,
                d_mu, answered,
            )  # fmt: skip
            output = _slope_output(beta, seeds[1], act, d_act, count, answered, d_out)
            for k in range(K):
                o[k] = w[answered, k] * output
                for s in range(Q):
                    d_o[k, s] = d_w[answered, k, s] * output + w[answered, k] * d_out[s]
        slope_responses(o, d_o, choice, seeds[2], 0.0, none, trace[t], slopes[t])
        if control[t] == TRANSFER:
            continue
        if winner != answered:
            count = winner + 1
            H[winner], d_H[winner], w[winner], d_w[winner] = x, 0.0, 0.0, 0.0
            o[:], d_o[:] = 0.0, 0.0
            _slope_clusters(
                x, starts, scale, rule, seeds, H, d_H, count, tuning, d_tuning, act, d_act, mu,
                d_mu, winner,
            )  # fmt: skip
            output = _slope_output(beta, seeds[1], act, d_act, count, winner, d_out)
        for k in range(K):
            goal = max(o[k], 1.0) if wanted[k] == 1.0 else min(o[k], 0.0)
            error = goal - o[k]
            for s in range(Q):
                d_error = 0.0 if goal == o[k] else -d_o[k, s]
                learned = d_error * output + error * d_out[s]
                d_w[winner, k, s] += seeds[3, s] * error * output + rate * learned
            w[winner, k] += rate * error * output
        for p in range(len(x)):
            gap = x[p] - H[winner, p]
            for s in range(Q):
                d_H[winner, p, s] += seeds[3, s] * gap - rate * d_H[winner, p, s]
            H[winner, p] += rate * gap
        for i in range(d):
            m = tuning[i] * mu[i]
            near = math.exp(-m)
            value = tuning[i] + rate * near * (1.0 - m)
            for s in range(Q):
                d_m = d_tuning[i, s] * mu[i] + tuning[i] * d_mu[i, s]
                change = seeds[3, s] * near * (1.0 - m) - rate * near * d_m * (2.0 - m)
                d_tuning[i, s] = d_tuning[i, s] + change if value > 0.0 else 0.0
            tuning[i] = max(value, 0.0)
