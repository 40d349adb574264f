"""The likelihood of COVIS: a particle filter over the rules and habits that nobody sees.

Each particle is a learner. Given what it is before a trial, h_P is normal, and the explicit system
answers where |h_P| is below a limit c, so that the answer is 1 where h_P lies above −c or c,
whichever its rule says: the probability of a person's answer is that of an interval, and the noise
under which the learner answers as the person did is normal within it. So no particle is ever
wrong, and weights differ only by how probable the answer was (a fully adapted filter, Pitt &
Shephard, 1999).
"""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.chance import begin, coin, mix, normal
from mercer.cognition.learners.covis_loops import (
    BOTH,
    EXPLICIT,
    activate_units,
    begin_covis,
    discriminant,
    teach_covis,
    widest_rule,
)
from mercer.cognition.learners.trial_loops import RESET, TRANSFER
from mercer.compiled import compiled

__all__ = ["filter_covis"]

TINY = 1e-300  # probability below which a quantile is not sought
FEW = 0.5  # share of particles that count, below which they are drawn anew


@compiled(error_model="numpy")
def normal_quantile(p):
    """Return z with Φ(z) = p, by Acklam's rational approximation: within 1.2e-9 of itself."""
    p = min(max(p, TINY), 1.0 - 1e-16)
    tail = min(p, 1.0 - p)
    if tail < 0.02425:
        q = math.sqrt(-2.0 * math.log(tail))
        top = -7.784894002430293e-03 * q - 3.223964580411365e-01
        top = ((top * q - 2.400758277161838) * q - 2.549732539343734) * q + 4.374664141464968
        top = top * q + 2.938163982698783
        down = 7.784695709041462e-03 * q + 3.224671290700398e-01
        down = ((down * q + 2.445134137142996) * q + 3.754408661907416) * q + 1.0
        return top / down if p < 0.5 else -top / down
    q = p - 0.5
    r = q * q
    top = -3.969683028665376e01 * r + 2.209460984245205e02
    top = ((top * r - 2.759285104469687e02) * r + 1.383577518672690e02) * r - 3.066479806614716e01
    top = top * r + 2.506628277459239
    down = -5.447609879822406e01 * r + 1.615858368580409e02
    down = ((down * r - 1.556989798598866e02) * r + 6.680131188771972e01) * r
    down = (down - 1.328068155288572e01) * r + 1.0
    return top * q / down


@compiled(error_model="numpy")
def _limit(system, trust, h_explicit, widest, largest):
    """Return c: the explicit system answers where |h_P| < c."""
    if system != BOTH:
        return np.inf if system == EXPLICIT else 0.0
    sure = trust * abs(h_explicit) / widest if widest > 0.0 else 0.0
    other = 1.0 - trust
    if sure > other:
        return np.inf
    return sure / other * largest if other > 0.0 else 0.0


@compiled(error_model="numpy")
def _above(border, mean, noise):
    """Return the probability that a normal number is above a border."""
    if noise > 0.0 and math.isfinite(border):
        return 0.5 * math.erfc((border - mean) / (noise * math.sqrt(2.0)))
    return 1.0 if mean > border else 0.0


@compiled(error_model="numpy")
def _draw_within(border, mean, noise, above, share, u):
    """Return a normal number above or below a border, `share` being how probable that is."""
    if noise <= 0.0:
        return mean
    z = normal_quantile(u * share)
    return max(mean - noise * z, border) if above else min(mean + noise * z, border)


@compiled(error_model="numpy")
def _resample(weights, chance, picks):
    """Let picks be particles, each as often as it weighs, by one coin (Kitagawa, 1996)."""
    N, total, n = len(weights), weights[0], 0
    start = coin(chance)
    for i in range(N):
        while total * N < i + start and n < N - 1:
            n += 1
            total += weights[n]
        picks[i] = n


@compiled(error_model="numpy")
def _answer(answer, lapse, border, mean, noise, chance):
    """Return the probability of an answer (1, 0, or −1 for none), and h_P, given that answer."""
    u = coin(mix(chance, 5))
    if answer < 0:
        return 1.0, _draw_within(-np.inf, mean, noise, True, 1.0, u)
    share = _above(border, mean, noise)
    if answer == 0:
        share = _above(-border, -mean, noise) if noise > 0.0 else 1.0 - share
    probability = (1.0 - lapse) * share + 0.5 * lapse
    if coin(mix(chance, 6)) * probability < (1.0 - lapse) * share:
        return probability, _draw_within(border, mean, noise, answer == 1, share, u)
    return probability, _draw_within(-np.inf, mean, noise, True, 1.0, u)


@compiled(error_model="numpy")
def filter_covis(
    stimuli, codes, order, control, units, signs, answers, rule, options, count, chances
):
    """Let chances be the probability of each answer, given those before it.

    Parameters
    ----------
    stimuli, codes, order, control, units, signs, rule, options
        As in `learn_covis`.
    answers : int64 array of shape (trials,)
        0, 1, or −1 where there is none, which has the probability 1.
    count : int
        Of particles.
    chances : float64 array of shape (trials,)
        Changed.
    """
    system, seed = options
    d, U, lapse, noise = stimuli.shape[1], len(units), rule[18], rule[8] * math.sqrt(2.0)
    salience, w, state = np.empty((count, d)), np.empty((count, U, 2)), np.empty((count, 4))
    active, rules, means = np.empty(U), np.empty(d), np.empty(2)
    weights, picks = np.full(count, 1.0 / count), np.empty(count, dtype=np.int64)
    widest = widest_rule(stimuli, rule[0])
    first = begin(seed, order)
    for t in range(len(order)):
        first = mix(first, t)
        x, right = stimuli[order[t]], codes[order[t]]
        activate_units(x, units, rule[7], active)
        total = 0.0
        for n in range(count):
            chance = mix(first, n)
            if t == 0 or control[t] == RESET:
                begin_covis(rule, chance, salience[n], w[n], state[n])
            h_explicit = discriminant(x, signs, rule, state[n], chance)
            by_rule = 1 if h_explicit > 0.0 else 0
            means[:] = 0.0
            for k in range(U):
                for J in range(2):
                    means[J] += w[n, k, J] * active[k]
            limit = _limit(system, state[n, 0], h_explicit, widest, state[n, 2])
            share, h = _answer(
                answers[t], lapse, -limit if by_rule == 1 else limit, means[1] - means[0], noise,
                chance,
            )  # fmt: skip
            weights[n] *= share
            total += weights[n]
            by_habit = 1 if h > 0.0 else 0
            state[n, 2] = max(state[n, 2], abs(h))
            if control[t] != TRANSFER:
                # Of two normal numbers the sum does not depend on the difference.
                both = means[0] + means[1] + noise * normal(mix(chance, 4))
                teach_covis(
                    right, by_rule, by_habit, 0.5 * (both + abs(h)), active, rule, chance,
                    salience[n], w[n], state[n], rules,
                )  # fmt: skip
        chances[t] = total
        counted = 0.0
        for n in range(count):
            weights[n] = weights[n] / total if total > 0.0 else 1.0 / count
            counted += weights[n] ** 2
        if counted * count * FEW > 1.0:
            _resample(weights, mix(first, count), picks)
            salience, w, state = salience[picks], w[picks], state[picks]
            weights[:] = 1.0 / count
