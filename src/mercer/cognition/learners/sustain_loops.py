"""The loops of SUSTAIN: clusters that compete, are recruited and move."""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.chance import begin, coin, mix
from mercer.cognition.learners.trial_loops import RESET, TRANSFER, _respond
from mercer.compiled import compiled

__all__ = ["learn_sustain", "simulate_sustain"]


@compiled(error_model="numpy")
def _compete(x, starts, scale, focus, beta, H, count, tuning, share, mu, act, state):
    """Return the winner, its output and its activation; let `mu` be its distances.

    Equations 4 to 6 of Love, Medin & Gureckis (2004).
    """
    d, best, ties = len(tuning), 0, 0
    weights = 0.0
    for i in range(d):
        share[i] = tuning[i] ** focus
        weights += share[i]
    for j in range(count):
        total = 0.0
        for i in range(d):
            gap = 0.0
            for p in range(starts[i], starts[i + 1]):
                gap += abs(x[p] - H[j, p])
            # Most are the same, and the exponential is what takes time.
            near = 1.0 if gap == 0.0 else math.exp(-tuning[i] * scale[i] * gap)
            total += share[i] * near
        act[j] = total / weights
        if j == 0 or act[j] > act[best]:
            best, ties = j, 1
        elif act[j] == act[best]:
            ties += 1
    if ties > 1 and state != np.uint64(0):
        # One of those that are equally active, by chance.
        place, seen = int(coin(state) * ties), 0
        for j in range(count):
            if act[j] == act[best]:
                if seen == place:
                    best = j
                    break
                seen += 1
    rivals = 0.0
    for j in range(count):
        rivals += (act[j] / act[best]) ** beta
    for i in range(d):
        mu[i] = 0.0
        for p in range(starts[i], starts[i + 1]):
            mu[i] += scale[i] * abs(x[p] - H[best, p])
    return best, act[best] / rivals, act[best]


@compiled(error_model="numpy")
def learn_sustain(
    stimuli, targets, starts, scale, order, control, rule, options, H, w, tuning, trace, winners
):
    """Let SUSTAIN learn trial by trial.

    Parameters
    ----------
    stimuli : float64 array of shape (n, positions)
        Coded: of a nominal dimension as many positions as it has values.
    targets : float64 array of shape (n, outputs)
        1 for the right category, or, without supervision, the stimuli again.
    starts : int64 array of shape (dimensions + 1,)
        Where the positions of each dimension begin.
    scale : float64 array of shape (dimensions,)
        ½ for nominal dimensions, 1 for continuous ones.
    order, control : int64 arrays of shape (trials,)
    rule : (r, β, d, η, τ)
    options : (supervised, chance among equals, seed, largest number of clusters)
    H, w : float64 arrays of shape (clusters, positions) and (clusters, outputs)
    tuning : float64 array of shape (dimensions,)
    trace : float64 array of shape (trials, outputs)
    winners : int64 array of shape (trials, 2)
        Who answered, −1 before there is a cluster, and who learned. The last five are changed.

    Returns
    -------
    (int, int)
        The first trial that is not finite, or −1; and the number of clusters.
    """
    focus, beta, choice, rate, threshold = rule
    supervised, random, seed, most = options
    d, K, count = len(tuning), w.shape[1], 0
    mu, act, o, share = np.zeros(d), np.zeros(len(H)), np.zeros(K), np.empty(d)
    chance = begin(seed, order) if random else np.uint64(0)
    tuning[:] = 1.0
    for t in range(len(order)):
        x, wanted = stimuli[order[t]], targets[order[t]]
        if random:
            chance = mix(chance, t)
        if control[t] == RESET:
            count, tuning[:] = 0, 1.0
        winner, output, active = -1, 0.0, 0.0
        o[:] = 0.0
        if count > 0:
            winner, output, active = _compete(
                x, starts, scale, focus, beta, H, count, tuning, share, mu, act, chance
            )
            for k in range(K):
                o[k] = w[winner, k] * output
        _respond(o, choice, 0.0, trace[t])
        winners[t] = winner  # learns too, unless another is recruited
        if not (math.isfinite(trace[t, 0]) and math.isfinite(output)):
            return t, count
        if control[t] == TRANSFER:
            continue
        surprised = winner < 0
        if winner >= 0 and supervised:
            # Equation 10: another output than that of the right category is the largest. On top
            # of a cluster there is no use for another one.
            best, apart = -np.inf, 0.0
            for k in range(K):
                if wanted[k] != 1.0:
                    best = max(best, o[k])
            for i in range(d):
                apart += mu[i]
            for k in range(K):
                if wanted[k] == 1.0 and best >= o[k] and apart > 0.0:
                    surprised = True
        elif winner >= 0:
            surprised = active < threshold  # equation 11
        if surprised and count < most:
            winner, count = count, count + 1
            for p in range(len(x)):
                H[winner, p] = x[p]
            for k in range(K):
                w[winner, k], o[k] = 0.0, 0.0
            # It is where the stimulus is, so that nothing is more active; it competes with others.
            rivals = 0.0
            _compete(x, starts, scale, focus, beta, H, count, tuning, share, mu, act, np.uint64(0))
            for j in range(count):
                rivals += act[j] ** beta
            output = act[winner] ** (beta + 1.0) / rivals
            mu[:] = 0.0
        winners[t, 1] = winner
        for k in range(K):  # equations 9 and 14: a humble teacher
            goal = max(o[k], 1.0) if wanted[k] == 1.0 else min(o[k], 0.0)
            if not supervised and wanted[k] != 0.0 and wanted[k] != 1.0:
                goal = wanted[k]  # of a continuous dimension
            w[winner, k] += rate * (goal - o[k]) * output
        for p in range(len(x)):  # equation 12
            H[winner, p] += rate * (x[p] - H[winner, p])
        for i in range(d):  # equation 13
            near = 1.0 if mu[i] == 0.0 else math.exp(-tuning[i] * mu[i])
            tuning[i] = max(tuning[i] + rate * near * (1.0 - tuning[i] * mu[i]), 0.0)
    return -1, count


@compiled(error_model="numpy")
def simulate_sustain(stimuli, targets, starts, scale, codes, orders, rule, options, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T, K = orders.shape[1], targets.shape[1]
    control, winners = np.zeros(T, dtype=np.int64), np.zeros((T, 2), dtype=np.int64)
    H, w = np.empty((T, stimuli.shape[1])), np.empty((T, K))
    tuning, trace = np.empty(len(scale)), np.empty((T, K))
    for s in range(len(orders)):
        stop, _ = learn_sustain(
            stimuli, targets, starts, scale, orders[s], control, rule, options,
            H, w, tuning, trace, winners,
        )  # fmt: skip
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan
