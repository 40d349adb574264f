"""Profiles: how well a model still fits while one of its parameters is held at other values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import Constraint
from mercer.cognition.choices.intervals import Profile, interval_ends, parameter_scale
from mercer.cognition.choices.reals import Reals
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.values import whole

__all__ = ["ParameterProfile", "parameter_profile"]

BEYOND = 0.3  # of the interval's width, on either side of it
FAR = 3.0  # logarithms or log odds, on a side where the interval has no end


@dataclass(frozen=True)
class ParameterProfile:
    """A parameter's profile of the likelihood; `plots.plot_profile` draws it.

    Attributes
    ----------
    name : str
        Such as "sensitivity" or "attention[1]".
    table : DataFrame
        A row for each value: value, fall (by how much the log-likelihood is below its maximum),
        and the other free parameters as they are fitted there, which shows what this one trades
        off against.
    best : float
    cutoff : float
        The fall at the ends of the interval.
    level : float

    Examples
    --------
    >>> table = pd.DataFrame({"value": [1.0, 2.0, 3.0], "fall": [2.5, 0.0, 1.0]})
    >>> found = ParameterProfile("sensitivity", table, best=2.0, cutoff=1.92, level=0.95)
    >>> found.table.loc[found.table["fall"] <= found.cutoff, "value"].tolist()  # in the interval
    [2.0, 3.0]
    """

    name: str
    table: pd.DataFrame
    best: float
    cutoff: float
    level: float


def parameter_profile(
    model: ChoiceModel,
    name: str,
    place: int | None = None,
    *,
    points: int = 25,
    level: float = 0.95,
    subject: int | None = None,
) -> ParameterProfile:
    """Return the profile of the likelihood for one parameter of a fitted model.

    Parameters
    ----------
    model : choice model
        Fitted to answers by likelihood.
    name : str
        One of its `free_` parameters.
    place : int, optional
        Which of several numbers, such as the dimension of attention.
    points : int
    level : float
        Of the interval that the profile is to show.
    subject : int, optional
        Of one subject instead of all together.

    Returns
    -------
    ParameterProfile
        Its table has the other free parameters as they are fitted at each value.

    Examples
    --------
    >>> from mercer.cognition import GCM, medin_schaffer
    >>> seen = medin_schaffer(counts=True)
    >>> model = GCM(free=("sensitivity", "gamma"))
    >>> model = model.fit(seen.exemplars, seen.categories, seen.stimuli, seen.responses)
    >>> found = parameter_profile(model, "sensitivity", points=5)
    >>> list(found.table.columns)  # the lower the sensitivity, the higher gamma
    ['value', 'fall', 'gamma']
    >>> bool(found.table["gamma"].is_monotonic_decreasing)
    True
    """
    check_is_fitted(model)
    if not 0 < level < 1:
        raise ValidityError(f"level must be between 0 and 1, found {level!r}")
    if getattr(model, "loss", "likelihood") != "likelihood":
        raise ValidityError('profiles are of the likelihood, but loss is "sse"')
    part = _part(model, name, place)
    objective, best = model._objective(subject)
    there, back, _, _ = parameter_scale(part, place)
    value = np.ravel(best.params[name])[place or 0]
    cutoff = float(chi2.ppf(level, 1))
    with np.errstate(divide="ignore"):
        middle = float(there(value))
        ends = interval_ends(objective, best, part, place, level)
        low, high = (float(end) for end in there(np.array(ends)))
    low = low if np.isfinite(low) else (middle if np.isfinite(middle) else high) - FAR
    high = high if np.isfinite(high) else (middle if np.isfinite(middle) else low) + FAR
    middle = float(np.clip(middle, low, high))
    profile = Profile(objective, best, name, place, back, cutoff, middle)
    margin = BEYOND * (high - low)
    grid = np.linspace(low - margin, high + margin, whole(parameter_profile, "points", points))
    rows: dict[float, dict[str, float]] = {}
    for t in sorted(grid, key=lambda t: abs(t - middle)):  # from the middle on, as starts come
        fall = (profile(float(t)) + cutoff) / 2
        rows[t] = {"value": float(back(t)), "fall": max(fall, 0.0),
                   **_others(model, profile.known[float(t)][1], name, place)}  # fmt: skip
    table = pd.DataFrame([rows[t] for t in sorted(rows)])
    title = name if place is None else f"{name}[{place}]"
    return ParameterProfile(title, table, float(value), cutoff / 2, level)


def _part(model: ChoiceModel, name: str, place: int | None) -> Constraint:
    parts = {part.name: part for part in model._layout_.parts}
    if name not in parts:
        raise DomainError(f"{name!r} is not free{suggestion(str(name), parts)}")
    part, several = parts[name], np.ndim(model.params_[name]) > 0
    if several and place not in range(part.size):
        raise DomainError(
            f"{name} has {part.size} numbers; say which with place=, found {place!r}"
        )
    if not several and place is not None:
        raise DomainError(f"{name} is one number, but place is {place!r}")
    if several and part.size == 1 and not isinstance(part, Reals):
        raise DomainError(f"{name} has one number only, which is always 1")
    return part


def _others(
    model: ChoiceModel, params: dict[str, Any], name: str, place: int | None
) -> dict[str, float]:
    """Return the other free parameters as numbers with names."""
    found = {}
    for other in model.free_:
        value = params[other]
        if np.ndim(value) == 0:
            if other != name:
                found[other] = float(value)
            continue
        for i, number in enumerate(value):
            if other != name or i != place:
                found[f"{other}[{i}]"] = float(number)
    return found
