"""The loops of mixtures and of the aspect model, compiled by Numba, so imported only when needed.

The topics of a document are found by expectation maximization, whose steps are extrapolated
(Varadhan and Roland, 2008): two steps say where many would lead. An extrapolation that loses
likelihood is taken back. Documents are a tuple (starts, places, numbers): which words each has,
and how often.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["add_up", "diagonal_scores", "fold_in", "spread"]

NEGLIGIBLE_SHARE = 1e-20  # of a component in an item


@njit(cache=True, nogil=True)
def diagonal_scores(X, R, means, precisions, excess, out):
    """Write all scores of a mixture with independent columns: first those of the weights, which
    are in `excess`, then γ(x − μ)/σ² of the means, then γ((x − μ)²/σ² − 1) of log deviations.

    `R` holds the γ and `precisions` 1/σ²; `out` is zero before. What is written is much more than
    what is read, and the memory is touched for the first time, so each row is written at once
    from end to end. Most components have nothing to do with an item. Those below 10⁻²⁰ are left
    out: beside what the others contribute they are zero in all digits, at any distance.
    """
    components, width = means.shape
    begin = excess.shape[1]
    half = begin + components * width
    for i in range(len(X)):
        x = X[i]
        out[i, :begin] = excess[i]
        for k in range(components):
            g, mean, precision = R[i, k], means[k], precisions[k]
            if g < NEGLIGIBLE_SHARE:
                continue
            first = out[i, begin + k * width : begin + (k + 1) * width]
            second = out[i, half + k * width : half + (k + 1) * width]
            for c in range(width):
                d = x[c] - mean[c]
                pull = d * precision[c]
                first[c] = g * pull
                second[c] = g * (d * pull - 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def fold_in(documents, words, prior, tolerance, limit, topics, out):
    """Find the topics of each document, beginning with those in `topics`, and write
    Σⱼ xⱼ ln Σ_z πz·words[j, z] + Σ_z prior[z]·ln πz into `out`.

    It ends when no share changes by more than `tolerance` any more, after `limit` rounds at most.
    """
    starts, count = documents[0], len(prior)
    one, two, far = np.empty(count), np.empty(count), np.empty(count)
    for i in range(len(starts) - 1):
        places = documents[1][starts[i] : starts[i + 1]]
        numbers = documents[2][starts[i] : starts[i + 1]]
        pi = topics[i]
        for _ in range(limit):
            _step(places, numbers, words, prior, pi, one)
            value = _step(places, numbers, words, prior, one, two)
            if np.max(np.abs(two - one)) <= tolerance:
                pi[:] = two
                break
            better = _extrapolated(pi, one, two, far)
            if better and _step(places, numbers, words, prior, far, one) >= value:
                pi[:] = one
            else:
                pi[:] = two
        out[i] = _step(places, numbers, words, prior, pi, one)


@njit(cache=True, nogil=True, error_model="numpy")
def add_up(documents, words, topics, weights, total):
    """Add up how often each word was due to each topic in all documents, by their weights."""
    starts, places, numbers = documents
    share = np.empty(words.shape[1])
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            scale = weights[i] * numbers[p] / _due(topics[i], words[places[p]], share)
            for z in range(len(share)):
                total[places[p], z] += scale * share[z]


@njit(cache=True, nogil=True, error_model="numpy")
def spread(documents, words, topics, out):
    """Write how often each word was due to each topic: documents × topics × words."""
    starts, places, numbers = documents
    share = np.empty(words.shape[1])
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            scale = numbers[p] / _due(topics[i], words[places[p]], share)
            for z in range(len(share)):
                out[i, z, places[p]] = scale * share[z]


@njit(cache=True, nogil=True, error_model="numpy")
def _due(pi, word, share):
    """Write how much each topic has to do with a word, and return the sum."""
    total = 0.0
    for z in range(len(pi)):
        share[z] = pi[z] * word[z]
        total += share[z]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _step(places, numbers, words, prior, pi, after):
    """Write the topics after one step, and return the value of those before it."""
    value, whole = 0.0, 0.0
    for z in range(len(pi)):
        after[z] = prior[z]
        whole += prior[z]
        if prior[z] > 0.0:
            value += prior[z] * math.log(pi[z])
    for p in range(len(places)):
        total = 0.0
        for z in range(len(pi)):
            total += pi[z] * words[places[p], z]
        value += numbers[p] * math.log(total)
        whole += numbers[p]
        scale = numbers[p] / total if total > 0.0 else 0.0
        for z in range(len(pi)):
            after[z] += scale * pi[z] * words[places[p], z]
    for z in range(len(pi)):
        after[z] = after[z] / whole if whole > 0.0 else pi[z]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _extrapolated(start, one, two, far):
    """Write where steps from `start` over `one` to `two` lead; tell whether that is inside."""
    first, bend = 0.0, 0.0
    for z in range(len(start)):
        r = one[z] - start[z]
        v = two[z] - one[z] - r
        first += r * r
        bend += v * v
    if bend == 0.0:
        return False
    length = math.sqrt(first / bend)
    if length <= 1.0:
        return False
    total = 0.0
    for z in range(len(start)):
        r = one[z] - start[z]
        v = two[z] - one[z] - r
        far[z] = start[z] + 2.0 * length * r + length * length * v
        if far[z] <= 0.0:
            return False
        total += far[z]
    for z in range(len(start)):
        far[z] /= total
    return True
