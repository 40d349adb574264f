"""The loops of COVIS: rules that are tried, weights that are rewarded, and who is trusted."""

from __future__ import annotations

import math

import numpy as np

from mercer.cognition.learners.chance import begin, coin, mix, normal
from mercer.cognition.learners.trial_loops import RESET, TRANSFER
from mercer.compiled import compiled

__all__ = [
    "BOTH",
    "EXPLICIT",
    "activate_units",
    "answer_covis",
    "begin_covis",
    "discriminant",
    "learn_covis",
    "simulate_covis",
    "teach_covis",
    "widest_rule",
]

BOTH, EXPLICIT, PROCEDURAL = 0, 1, 2
PATIENCE = 0.025  # of the running mean of rewards


@compiled(error_model="numpy")
def activate_units(x, units, width, active):
    for k in range(len(units)):
        gap = 0.0
        for i in range(len(x)):
            gap += (x[i] - units[k, i]) ** 2
        active[k] = math.exp(-gap / width)


@compiled(error_model="numpy")
def _speaks(system, trust, h_explicit, most_explicit, h_procedural, most_procedural):
    """Return whether the explicit system answers."""
    if system != BOTH:
        return system == EXPLICIT
    sure = abs(h_explicit) / most_explicit if most_explicit > 0.0 else 0.0
    other = abs(h_procedural) / most_procedural if most_procedural > 0.0 else 0.0
    return trust * sure > (1.0 - trust) * other


@compiled(error_model="numpy")
def widest_rule(stimuli, criterion):
    """Return the largest distance of any stimulus from the criterion."""
    most = 0.0
    for n in range(len(stimuli)):
        for i in range(stimuli.shape[1]):
            most = max(most, abs(stimuli[n, i] - criterion))
    return most


@compiled(error_model="numpy")
def _next_rule(salience, rule, perseveration, curiosity, sharpness, chance, weights):
    """Return the rule that is drawn after an error."""
    d = len(salience)
    lucky = min(int(coin(mix(chance, 11)) * d), d - 1)
    # A Poisson number, by the product of uniform ones.
    limit, product, extra = math.exp(-curiosity), coin(mix(chance, 12)), 0
    while product > limit:
        extra += 1
        product *= coin(mix(chance, 12 + extra))
    total = 0.0
    for i in range(d):
        y = salience[i] + (perseveration if i == rule else 0.0)
        if i == lucky:
            y += extra
        weights[i] = max(y, 0.0) ** sharpness
        total += weights[i]
    left = coin(mix(chance, 10)) * total
    for i in range(d):
        left -= weights[i]
        if left <= 0.0:
            return i
    return d - 1


@compiled(error_model="numpy")
def _reward(w, J, active, S, D, rule):
    """Change the weights to the answer J of the procedural system."""
    up, down, decay, baseline, nmda, ampa = (
        rule[9],
        rule[10],
        rule[11],
        rule[12],
        rule[13],
        rule[14],
    )
    strong = max(S - nmda, 0.0)
    weak = max(max(nmda - S, 0.0) - ampa, 0.0)
    for k in range(len(active)):
        change = up * active[k] * strong * max(D - baseline, 0.0) * (1.0 - w[k, J])
        change -= down * active[k] * strong * max(baseline - D, 0.0) * w[k, J]
        change -= decay * active[k] * weak * w[k, J]
        w[k, J] = min(max(w[k, J] + change, 0.0), 1.0)


@compiled(error_model="numpy")
def begin_covis(rule, chance, salience, w, state):
    """Let a learner be what it is before its first trial."""
    d = len(salience)
    salience[:] = 1.0 / d
    state[0], state[2], state[3] = rule[15], 0.0, 0.0
    state[1] = min(int(coin(mix(chance, 1)) * d), d - 1)
    for k in range(len(w)):
        for J in range(2):
            w[k, J] = 0.001 + 0.0025 * coin(mix(chance, 1000 + 2 * k + J))


@compiled(error_model="numpy")
def discriminant(x, signs, rule, state, chance):
    """Return h_E of the rule in use."""
    in_use = int(state[1])
    return signs[in_use] * (x[in_use] - rule[0]) + rule[1] * normal(mix(chance, 3))


@compiled(error_model="numpy")
def teach_covis(
    right, by_rule, by_habit, strength, active, rule, chance, salience, w, state, weights
):
    """Let both systems learn from whether their own answers were right."""
    in_use = int(state[1])
    if by_rule == right:
        salience[in_use] += rule[2]
        state[0] += rule[16] * (1.0 - state[0])
    else:
        salience[in_use] -= rule[3]
        state[0] -= rule[17] * state[0]
        state[1] = _next_rule(salience, in_use, rule[4], rule[5], rule[6], chance, weights)
    surprise = (1.0 if by_habit == right else -1.0) - state[3]
    D = 1.0 if surprise > 1.0 else (0.0 if surprise < -0.25 else 0.8 * surprise + 0.2)
    _reward(w, by_habit, active, strength, D, rule)
    state[3] += PATIENCE * surprise


@compiled(error_model="numpy")
def learn_covis(
    stimuli, codes, order, control, units, signs, rule, options, salience, w, state, answers, spoke
):
    """Let COVIS learn trial by trial.

    Parameters
    ----------
    stimuli : float64 array of shape (n, dimensions)
    codes, order, control : int64 arrays
    units : float64 array of shape (units, dimensions)
    signs : float64 array of shape (dimensions,)
        Which side of the criterion is the second category.
    rule : (C, σ_E, Δ_C, Δ_E, γ, λ, a, α, σ_P, α_w, β_w, γ_w, D_b, θ_N, θ_A, θ_E, Δ_OC, Δ_OE, ε)
        The last is the share of lapses.
    options : (system, seed)
    salience : float64 array of shape (dimensions,)
    w : float64 array of shape (units, 2)
    state : float64 array of shape (4,)
        θ_E, the rule in use, the largest |h_P| so far, the mean reward.
    answers, spoke : int64 arrays of shape (trials,)
        The last five are changed.
    """
    system, seed = options
    active, weights, S = np.empty(len(units)), np.empty(len(salience)), np.empty(2)
    widest = widest_rule(stimuli, rule[0])
    chance = begin(seed, order)
    for t in range(len(order)):
        chance = mix(chance, t)
        if t == 0 or control[t] == RESET:
            begin_covis(rule, chance, salience, w, state)
        x = stimuli[order[t]]
        h_explicit = discriminant(x, signs, rule, state, chance)
        by_rule = 1 if h_explicit > 0.0 else 0
        activate_units(x, units, rule[7], active)
        for J in range(2):
            S[J] = rule[8] * normal(mix(chance, 4 + J))
            for k in range(len(units)):
                S[J] += w[k, J] * active[k]
        h_procedural = S[1] - S[0]
        by_habit = 1 if h_procedural > 0.0 else 0
        state[2] = max(state[2], abs(h_procedural))
        talks = _speaks(system, state[0], h_explicit, widest, h_procedural, state[2])
        answers[t], spoke[t] = by_rule if talks else by_habit, 1 if talks else 0
        if rule[18] > 0.0 and coin(mix(chance, 7)) < rule[18]:
            answers[t] = 1 if coin(mix(chance, 8)) < 0.5 else 0
        if control[t] != TRANSFER:
            teach_covis(
                codes[order[t]], by_rule, by_habit, S[by_habit], active, rule, chance, salience, w,
                state, weights,
            )  # fmt: skip


@compiled(error_model="numpy")
def answer_covis(stimuli, units, signs, rule, options, w, state, answers):
    """Let answers be those to some stimuli, without noise and learning."""
    active, in_use = np.empty(len(units)), int(state[1])
    widest = widest_rule(units, rule[0])
    for n in range(len(stimuli)):
        x = stimuli[n]
        h_explicit = signs[in_use] * (x[in_use] - rule[0])
        activate_units(x, units, rule[7], active)
        h_procedural = 0.0
        for k in range(len(units)):
            h_procedural += (w[k, 1] - w[k, 0]) * active[k]
        talks = _speaks(options[0], state[0], h_explicit, widest, h_procedural, state[2])
        answers[n] = (1 if h_explicit > 0.0 else 0) if talks else (1 if h_procedural > 0.0 else 0)


@compiled(error_model="numpy")
def simulate_covis(stimuli, codes, orders, units, signs, rule, options, errors):
    """Let a new subject learn each row of `orders`; errors[s, t] is 1 for a wrong answer."""
    T = orders.shape[1]
    salience, w, state = np.empty(stimuli.shape[1]), np.empty((len(units), 2)), np.empty(4)
    answers, spoke = np.empty(T, dtype=np.int64), np.empty(T, dtype=np.int64)
    control = np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        learn_covis(
            stimuli, codes, orders[s], control, units, signs, rule, options,
            salience, w, state, answers, spoke,
        )  # fmt: skip
        for t in range(T):
            errors[s, t] = 1.0 if answers[t] != codes[orders[s, t]] else 0.0
