"""The loops of the rational model: clusters with counts, filled one stimulus at a time."""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.chance import begin, coin, mix
from mercer.cognition.learners.trial_loops import RESET, TRANSFER
from mercer.compiled import compiled

__all__ = ["LOCAL_MAP", "PARTICLE", "learn_rational", "predict_rational", "simulate_rational"]

LOCAL_MAP, PARTICLE = 0, 1


@compiled(error_model="numpy")
def _weigh(x, sizes, alpha, label_alpha, new, counts, labels, members, count, log_w, p):
    """Let log_w be log P(cluster) P(x | cluster) for all clusters and a new one, p the answers."""
    K = len(p)
    top = -np.inf
    for j in range(count + 1):
        size = float(members[j]) if j < count else 0.0
        total = math.log(size) if j < count else math.log(new)
        for i in range(len(x)):
            here = float(counts[j, i, x[i]]) if j < count and x[i] < sizes[i] else 0.0
            total += math.log((here + alpha) / (size + alpha * sizes[i]))
        log_w[j] = total
        top = max(top, total)
    p[:] = 0.0
    whole = 0.0
    for j in range(count + 1):
        weight = math.exp(log_w[j] - top)
        whole += weight
        size = float(members[j]) if j < count else 0.0
        for k in range(K):
            here = float(labels[j, k]) if j < count else 0.0
            p[k] += weight * (here + label_alpha) / (size + label_alpha * K)
    for k in range(K):
        p[k] /= whole


@compiled(error_model="numpy")
def learn_rational(
    stimuli, codes, order, control, sizes, rule, how, seed, counts, labels, members, trace, parts
):
    """Let clusters be filled trial by trial; return how many there are.

    Parameters
    ----------
    stimuli : int64 array of shape (n, dimensions)
        Numbers of values.
    codes, order, control : int64 arrays
    sizes : int64 array of shape (dimensions,)
        How many values each dimension has.
    rule : (weight of a new cluster, α of values, α of categories)
    how : LOCAL_MAP or PARTICLE
    seed : int
    counts : int64 array of shape (clusters, dimensions, values)
    labels : int64 array of shape (clusters, categories)
    members : int64 array of shape (clusters,)
    trace : float64 array of shape (trials, categories)
    parts : int64 array of shape (trials,)
        The cluster of each trial. The last five are changed.
    """
    new, alpha, label_alpha = rule
    K, count = labels.shape[1], 0
    log_w = np.empty(len(members) + 1)
    chance = begin(seed, order)
    for t in range(len(order)):
        chance = mix(chance, t)
        if control[t] == RESET:
            count = 0
        x, k = stimuli[order[t]], codes[order[t]]
        _weigh(x, sizes, alpha, label_alpha, new, counts, labels, members, count, log_w, trace[t])
        parts[t] = -1
        if control[t] == TRANSFER:
            continue
        # The category is one more dimension of the stimulus that is put into a cluster.
        for j in range(count + 1):
            size = float(members[j]) if j < count else 0.0
            here = float(labels[j, k]) if j < count else 0.0
            log_w[j] += math.log((here + label_alpha) / (size + label_alpha * K))
        best = 0
        for j in range(1, count + 1):
            if log_w[j] > log_w[best] + 1e-9:  # of equals the oldest, whatever was rounded
                best = j
        if how == PARTICLE:
            total = 0.0
            for j in range(count + 1):
                total += math.exp(log_w[j] - log_w[best])
            left, top = coin(chance) * total, log_w[best]
            for j in range(count + 1):
                left -= math.exp(log_w[j] - top)
                best = j
                if left <= 0.0:
                    break
        if best == count:
            members[best] = 0
            for k2 in range(K):
                labels[best, k2] = 0
            for i in range(counts.shape[1]):
                for value in range(counts.shape[2]):
                    counts[best, i, value] = 0
            count += 1
        members[best] += 1
        labels[best, k] += 1
        for i in range(len(x)):
            counts[best, i, x[i]] += 1
        parts[t] = best
    return count


@compiled(error_model="numpy")
def predict_rational(stimuli, sizes, rule, counts, labels, members, P):
    """Let P be the probabilities of the categories for some stimuli."""
    new, alpha, label_alpha = rule
    log_w = np.empty(len(members) + 1)
    for row in range(len(stimuli)):
        _weigh(
            stimuli[row], sizes, alpha, label_alpha, new, counts, labels, members, len(members),
            log_w, P[row],
        )  # fmt: skip


@compiled(error_model="numpy")
def simulate_rational(stimuli, codes, orders, classes, sizes, rule, how, seed, choice, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T, d = orders.shape[1], stimuli.shape[1]
    counts = np.zeros((T, d, np.max(sizes)), dtype=np.int64)
    labels = np.zeros((T, classes), dtype=np.int64)
    members, parts = np.zeros(T, dtype=np.int64), np.zeros(T, dtype=np.int64)
    control, trace = np.zeros(T, dtype=np.int64), np.empty((T, classes))
    for s in range(len(orders)):
        learn_rational(
            stimuli, codes, orders[s], control, sizes, rule, how, seed,
            counts, labels, members, trace, parts,
        )  # fmt: skip
        for t in range(T):
            total = 0.0
            for k in range(classes):
                total += trace[t, k] ** choice
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] ** choice / total
