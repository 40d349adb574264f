"""The loops of hidden Markov models, compiled by Numba when they are first called.

Probabilities of long sequences are far below the range of floating-point numbers. So the states
are weighed anew at each step, their weights summing to one, and the logarithms of what was divided
by are added up: plain arithmetic, without logarithms inside the sums (Rabiner, 1989). That is
right as long as no weight gets lost. A state that is hopeless now may be the only possible one
later, so a sequence with a weight below 10⁻²⁰⁰ is computed again with logarithms, which lose
nothing. From there on backwards nothing can get lost that matters: what is computed are
probabilities given the whole sequence, of which too small ones may be zero.

All functions take the hidden chain as a tuple (start, step, log_start, log_step, plain), where
`plain` tells whether the first way may be tried; and what each step says of each state as
(table, shift, logs, rows): step t has the probabilities exp(shift[r])·table[r] with r = rows[t],
whose logarithms are logs[r].
"""

from __future__ import annotations

import math

import numpy as np

from mercer.compiled import compiled

__all__ = [
    "count_symbols",
    "forward_backward",
    "forward_logs",
    "moments",
    "normal_logs",
    "spreads",
    "viterbi_paths",
]

SMALLEST_WEIGHT = 1e-200  # of a state; with a smaller one the sequence needs logarithms
RESCALED_BELOW = 1e-30  # sums of weights by which these are divided
FEW_STATES = 12  # for which sums of products are faster than sums of rows


@compiled(error_model="numpy")
def forward_logs(hidden, seen, starts, out):
    """Write ln p of each sequence into `out`."""
    room, turned = np.empty((2, len(hidden[0]))), np.ascontiguousarray(hidden[1].T)
    for s in range(len(starts) - 1):
        rows = seen[3][starts[s] : starts[s + 1]]
        value, kept = 0.0, hidden[4]
        if kept:
            value, kept = _density(
                hidden[0], hidden[1], turned, seen[0], seen[1], rows, room[0], room[1]
            )
        if not kept:
            value = _log_density(hidden[2], hidden[3], seen[2], rows, room)
        out[s] = value


@compiled(error_model="numpy")
def forward_backward(hidden, seen, starts, out, gamma, xi):
    """Write ln p of each sequence into `out`, the probability of each state at each step into
    `gamma`, and the expected numbers of transitions of each sequence into `xi`.

    All are NaN for a sequence that is impossible.
    """
    states = len(hidden[0])
    room = np.empty((2, states))
    for s in range(len(starts) - 1):
        a, b = starts[s], starts[s + 1]
        rows, g = seen[3][a:b], gamma[a:b]
        xi[s] = 0.0
        value, kept = 0.0, hidden[4]
        if kept:
            scales = np.empty(b - a)
            value, kept = _forward(hidden[0], hidden[1], seen[0], seen[1], rows, g, scales)
            if kept and value > -np.inf:
                _backward(hidden[1], seen[0], rows, scales, g, xi[s], room)
        if not kept:
            value = _log_forward(hidden[2], hidden[3], seen[2], rows, g, room)
            if value > -np.inf:
                _log_backward(hidden[3], seen[2], rows, value, g, xi[s], room)
        out[s] = value
        if value == -np.inf:
            g[:] = np.nan
            xi[s] = np.nan


@compiled(error_model="numpy")
def viterbi_paths(hidden, seen, starts, out, path):
    """Write the most probable hidden path of each sequence, and ln of its probability together
    with the sequence (Viterbi); of equally probable states the first."""
    states = len(hidden[0])
    log_start, log_step, logs = hidden[2], hidden[3], seen[2]
    room = np.empty((2, states))
    for s in range(len(starts) - 1):
        rows = seen[3][starts[s] : starts[s + 1]]
        come = np.empty((len(rows), states), np.int32)
        here = 0
        for t in range(len(rows)):
            there = 1 - here
            for k in range(states):
                best, origin = log_start[k], 0
                if t > 0:
                    best = -np.inf
                    for i in range(states):
                        value = room[here, i] + log_step[i, k]
                        if value > best:
                            best, origin = value, i
                room[there, k] = best + logs[rows[t], k]
                come[t, k] = origin
            here = there
        out[s] = 0.0
        if len(rows):
            state = np.argmax(room[here])
            out[s] = room[here, state]
            for t in range(len(rows) - 1, -1, -1):
                path[starts[s] + t] = state
                state = come[t, state]


@compiled
def count_symbols(gamma, codes, starts, counts):
    """Add up how often each state emits each symbol in each sequence; code −1 is missing."""
    for s in range(len(starts) - 1):
        for t in range(starts[s], starts[s + 1]):
            if codes[t] >= 0:
                for k in range(gamma.shape[1]):
                    counts[s, k, codes[t]] += gamma[t, k]


@compiled
def normal_logs(steps, means, precisions, constants, logs, shift, rest):
    """Write ln p of each step in each state, of channels that are independent; NaN is missing.

    The largest of a step goes to `shift`, and what the others are below it to `rest`.
    `precisions` are 1/σ², `constants` ln σ + ½ ln 2π of each state and channel.
    """
    for t in range(len(steps)):
        top = -np.inf
        for k in range(len(means)):
            total = 0.0
            for c in range(steps.shape[1]):
                d = steps[t, c] - means[k, c]
                if not math.isnan(d):
                    total += 0.5 * d * d * precisions[k, c] + constants[k, c]
            logs[t, k] = -total
            top = max(top, -total)
        shift[t] = top if top > -np.inf else 0.0  # so far away that it is impossible
        for k in range(len(means)):
            rest[t, k] = logs[t, k] - shift[t]


@compiled
def moments(gamma, Y, starts, count, first, second):
    """Add up Σγ, Σγy and Σγy² of each sequence, state and channel; NaN is missing."""
    for s in range(len(starts) - 1):
        for t in range(starts[s], starts[s + 1]):
            for k in range(gamma.shape[1]):
                g = gamma[t, k]
                for c in range(Y.shape[2]):
                    y = Y[t, k, c]
                    if not math.isnan(y):
                        count[s, k, c] += g
                        first[s, k, c] += g * y
                        second[s, k, c] += g * y * y


@compiled
def spreads(gamma, Y, starts, count, first, second):
    """Add up Σγ, Σγy and Σγyyᵀ of each sequence and state; a step with NaN is missing."""
    for s in range(len(starts) - 1):
        for t in range(starts[s], starts[s + 1]):
            if math.isnan(Y[t, 0, 0]):
                continue
            for k in range(gamma.shape[1]):
                g = gamma[t, k]
                count[s, k] += g
                for c in range(Y.shape[2]):
                    y = g * Y[t, k, c]
                    first[s, k, c] += y
                    for d in range(Y.shape[2]):
                        second[s, k, c, d] += y * Y[t, k, d]


# ---- weights that sum to one -------------------------------------------------------------------


@compiled(error_model="numpy")
def _weigh(weights, b):
    """Multiply weights with what a step says; return their sum, or −1 if one was too small."""
    total, kept = 0.0, True
    for k in range(len(weights)):
        value = weights[k] * b[k]
        if value < SMALLEST_WEIGHT and weights[k] > 0.0 and b[k] > 0.0:
            kept = False
        weights[k] = value
        total += value
    return total if kept else -1.0


@compiled(error_model="numpy")
def _divide(weights, total):
    scale = 1.0 / total
    for k in range(len(weights)):
        weights[k] *= scale


@compiled(error_model="numpy")
def _walk(before, step, after):
    """Let the chain go one step."""
    for k in range(len(after)):
        after[k] = 0.0
    for i in range(len(before)):
        weight = before[i]
        for k in range(len(after)):
            after[k] += weight * step[i, k]


@compiled(error_model="numpy")
def _density(start, step, turned, table, shift, rows, weights, room):
    """Return ln p of a sequence, and whether nothing got lost.

    Weights are divided by their sum only now and then, because a division and a logarithm take as
    long as a step; for the same reason it is all one loop.
    """
    states = len(start)
    value, total = 0.0, 1.0
    for t in range(len(rows)):
        row = rows[t]
        if t == 0:
            for k in range(states):
                room[k] = start[k]
        elif states <= FEW_STATES:
            for k in range(states):
                total = 0.0
                for i in range(states):
                    total += weights[i] * turned[k, i]
                room[k] = total
        else:
            _walk(weights, step, room)
        total, kept = 0.0, True
        for k in range(states):
            weight = room[k] * table[row, k]
            if weight < SMALLEST_WEIGHT and room[k] > 0.0 and table[row, k] > 0.0:
                kept = False
            weights[k] = weight
            total += weight
        if total <= 0.0 or not kept:
            return -np.inf, kept
        value += shift[row]
        if total < RESCALED_BELOW:
            value += math.log(total)
            _divide(weights, total)
            total = 1.0
    return value + math.log(total), True


@compiled(error_model="numpy")
def _forward(start, step, table, shift, rows, alpha, scales):
    """Write the weights of the states after each step, and what they were divided by."""
    value = 0.0
    for t in range(len(rows)):
        if t == 0:
            alpha[t] = start
        else:
            _walk(alpha[t - 1], step, alpha[t])
        scales[t] = _weigh(alpha[t], table[rows[t]])
        if scales[t] <= 0.0:
            return -np.inf, scales[t] == 0.0
        _divide(alpha[t], scales[t])
        value += shift[rows[t]] + math.log(scales[t])
    return value, True


@compiled(error_model="numpy")
def _backward(step, table, rows, scales, gamma, xi, room):
    """Turn forward weights into posterior probabilities, and add up expected transitions."""
    states = len(step)
    beta, ahead = room[0], room[1]
    beta[:] = 1.0
    for t in range(len(rows) - 2, -1, -1):
        b = table[rows[t + 1]]
        for k in range(states):
            # What is impossible may have a factor that is too large.
            ahead[k] = b[k] * beta[k] / scales[t + 1] if gamma[t + 1, k] > 0.0 else 0.0
        for i in range(states):
            total = 0.0
            weight = gamma[t, i]
            for k in range(states):
                total += step[i, k] * ahead[k]
                xi[i, k] += weight * ahead[k]
            beta[i] = total
            gamma[t, i] = weight * total
    for i in range(states):
        for k in range(states):
            xi[i, k] *= step[i, k]


# ---- logarithms --------------------------------------------------------------------------------


@compiled(error_model="numpy")
def _log_sum(values):
    """Return ln Σ exp(v)."""
    top = np.max(values)
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += math.exp(value - top)
    return top + math.log(total)


@compiled(error_model="numpy")
def _log_walk(before, log_step, after, terms):
    for k in range(len(after)):
        for i in range(len(before)):
            terms[i] = before[i] + log_step[i, k]
        after[k] = _log_sum(terms)


@compiled(error_model="numpy")
def _log_density(log_start, log_step, logs, rows, room):
    terms, here = np.empty(len(log_start)), 0
    for t in range(len(rows)):
        there = 1 - here
        if t == 0:
            room[there] = log_start
        else:
            _log_walk(room[here], log_step, room[there], terms)
        room[there] += logs[rows[t]]
        here = there
    return _log_sum(room[here]) if len(rows) else 0.0


@compiled(error_model="numpy")
def _log_forward(log_start, log_step, logs, rows, alpha, room):
    for t in range(len(rows)):
        if t == 0:
            alpha[t] = log_start
        else:
            _log_walk(alpha[t - 1], log_step, alpha[t], room[0])
        alpha[t] += logs[rows[t]]
    return _log_sum(alpha[-1]) if len(rows) else 0.0


@compiled(error_model="numpy")
def _log_backward(log_step, logs, rows, value, gamma, xi, room):
    states = len(log_step)
    beta, ahead, terms = room[0], room[1], np.empty(states)
    beta[:] = 0.0
    for t in range(len(rows) - 2, -1, -1):
        for k in range(states):
            ahead[k] = logs[rows[t + 1], k] + beta[k]
        for k in range(states):  # of the step that is done with
            gamma[t + 1, k] = math.exp(gamma[t + 1, k] + beta[k] - value)
        for i in range(states):
            for k in range(states):
                terms[k] = log_step[i, k] + ahead[k]
                xi[i, k] += math.exp(gamma[t, i] + terms[k] - value)
            beta[i] = _log_sum(terms)
    for k in range(states):
        if len(rows):
            gamma[0, k] = math.exp(gamma[0, k] + beta[k] - value)
