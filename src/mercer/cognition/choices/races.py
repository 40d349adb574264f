"""Races of exemplars, and the times of the walks that they move.

Exemplar j is remembered after an exponential time of rate Vⱼ sᵢⱼ. Whichever is first moves the
walk by one step, so that steps go up with the share of the first category in the total rate, and
take exponential times of that rate (Nosofsky & Palmeri, 1997).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.choices.gcm import SummedSimilarity
from mercer.compiled import compiled
from mercer.domains import real_numbers
from mercer.errors import DomainError, ValidityError

__all__ = ["TIMING", "admit_times", "log_densities", "race", "whole_barriers"]

TIMING = ("step", "residual", "scale")  # of no importance for choices
IMPOSSIBLE = -700.0  # the log density of a time that the model does not allow
PULL = 10.0  # by which it gets worse for each step that is missing, so that searches find back
LARGEST = 700.0  # exponent that does not overflow
LEFT = 1e-10  # probability of walks that are longer than is looked at


def race(summed: SummedSimilarity, params: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return L = log(q/p), the total rate, and what brings slopes for L to the parameters."""
    b = params["background"]
    plain = {**params, "bias": np.ones(2), "gamma": 1.0}
    logs, back = summed(plain)
    with np.errstate(divide="ignore"):
        both = np.logaddexp(logs, np.log(b))
    share = np.exp(logs - both)

    def pull(g: np.ndarray) -> dict[str, Any]:
        G = np.column_stack([-g, g])
        found = back(G * share)
        return {
            "sensitivity": found["sensitivity"],
            "attention": found["attention"],
            # Without background noise, the slope for it has no bound far from all exemplars.
            "background": float(np.sum(G * np.exp(np.minimum(-both, LARGEST)))),
        }

    return both[:, 1] - both[:, 0], np.exp(both).sum(axis=1), pull


def log_densities(
    summed: SummedSimilarity, where: np.ndarray, codes: np.ndarray, t: np.ndarray,
    params: Mapping[str, Any],
) -> np.ndarray:  # fmt: skip
    """Return the log density of an answer with its time, for each trial.

    Parameters
    ----------
    summed : SummedSimilarity
        Of the distinct stimuli.
    where, codes : ndarray of int
        The number of the stimulus, and of the answer, in each trial.
    t : ndarray of shape (trials,)
    params : mapping
    """
    L, rate, _ = race(summed, params)
    A, B = whole_barriers(params)
    p = np.clip(1 / (1 + np.exp(np.minimum(L, LARGEST))), 1e-12, 1 - 1e-12)
    r = np.maximum(rate, np.exp(-LARGEST))
    order = np.argsort(where, kind="stable")
    starts = np.searchsorted(where[order], np.arange(len(p) + 1))
    waited = (t - params["residual"]) / params["scale"]
    total = np.empty(len(t))
    _sum_over_steps(p, r, order, starts, codes, waited, A, B, float(params["step"]), LEFT, total)
    missing = np.maximum(params["step"] - waited, 0.0)
    return np.maximum(total - np.log(params["scale"]), IMPOSSIBLE - PULL * missing)


def whole_barriers(params: Mapping[str, Any]) -> tuple[int, int]:
    """Return both barriers, refusing what is between whole numbers."""
    A, B = params["upper"], params["lower"]
    if round(A) != A or round(B) != B:
        raise ValidityError(
            f"distributions of times need whole barriers, found upper={A:.6g} and lower={B:.6g}; "
            "fit_times finds them"
        )
    return int(A), int(B)


def admit_times(times: ArrayLike, trials: int) -> np.ndarray:
    """Return response times, refusing what cannot be one.

    Examples
    --------
    >>> admit_times([0.4, 0.0], 2)
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: the response time of trial 1 is 0.0; it must be a positive number
    ...
    """
    found = real_numbers(times, "times")
    if found.shape != (trials,):
        raise DomainError(f"there are {trials} trials, but times have the shape {found.shape}")
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if len(wrong):
        raise DomainError(
            f"the response time of trial {wrong[0]} is {found[wrong[0]]}; it must be a positive "
            "number of seconds: leave the trial out, or find out why it was recorded so"
        )
    return found


@compiled(error_model="numpy")
def _sum_over_steps(p, rate, order, starts, codes, waited, A, B, step, left, out):
    """Fill in log Σ_n P(n steps, answer) Gamma(time | n, rate), stimulus by stimulus."""
    state, moved = np.zeros(A + B - 1), np.zeros(A + B - 1)
    for j in range(len(p)):
        here = order[starts[j] : starts[j + 1]]
        top, total = np.full(len(here), -np.inf), np.zeros(len(here))
        log_rate = math.log(rate[j])
        state[:] = 0.0
        state[B - 1] = 1.0
        n, inside = 1, 1.0
        while inside > left:
            up, down = state[-1] * p[j], state[0] * (1 - p[j])
            for i in range(len(here)):
                passage = up if codes[here[i]] == 0 else down
                time = waited[here[i]] - step * n
                if passage <= 0.0 or time <= 0.0:
                    continue
                term = math.log(passage) + n * log_rate + (n - 1) * math.log(time)
                term -= rate[j] * time + math.lgamma(n)
                if term > top[i]:
                    total[i] = total[i] * math.exp(top[i] - term) + 1.0
                    top[i] = term
                else:
                    total[i] += math.exp(term - top[i])
            moved[:] = 0.0
            for k in range(len(state) - 1):
                moved[k + 1] += state[k] * p[j]
                moved[k] += state[k + 1] * (1 - p[j])
            state[:] = moved
            inside = state.sum()
            n += 1
        for i in range(len(here)):
            out[here[i]] = top[i] + math.log(total[i]) if total[i] > 0.0 else -np.inf
