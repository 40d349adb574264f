"""Recovery: would this design tell the parameters, the model, the difference?

The questions to ask before an experiment. People are made up by a known model, answer the design,
and are fitted as real ones would be: are their parameters found again, is the right model chosen,
how many people does that need?
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer.cognition.experiments.designs import Design
from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.learners.learner import Learner
from mercer.cognition.people.population import fit_people
from mercer.cognition.people.simulation import simulate_people
from mercer.errors import ConvergenceWarning, DomainError, ModelWarning
from mercer.values import whole

__all__ = ["ModelRecovery", "PowerCurve", "Recovery", "power", "recover", "recover_models"]


@dataclass(frozen=True)
class Recovery:
    """Parameters of made-up people, and what was found of them; `plots.plot_recovery` draws it.

    Attributes
    ----------
    people : DataFrame
        A row for each person and parameter: true, found.
    table : DataFrame
        A row for each parameter: correlation of the two over people, bias (mean of found − true)
        and rmse.
    group : DataFrame
        The population's center and spread: true, estimate, low, high, and whether the interval
        holds the truth.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four
    >>> found = recover(GCM(3.0, free=("sensitivity",)), five_four(), subjects=8)
    >>> list(found.table.columns), len(found.people)
    (['correlation', 'bias', 'rmse'], 8)
    """

    people: pd.DataFrame
    table: pd.DataFrame
    group: pd.DataFrame

    def __str__(self) -> str:
        return str(self.table.round(3))


def recover(
    model: Any,
    design: Design | Experiment,
    subjects: int = 40,
    trials: int = 10,
    spread: float | Mapping[str, float] = 0.3,
    free: Sequence[str] | None = None,
    seed: int = 0,
    **options: Any,
) -> Recovery:
    """Make up people, fit them, and compare.

    Parameters
    ----------
    model, design, subjects, trials, spread, free, seed
        As in `simulate_people`.
    **options
        Of `fit_people`.

    Returns
    -------
    Recovery
        Parameters beside their estimates, of people and of the group.

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four
    >>> found = recover(GCM(3.0, free=("sensitivity",)), five_four(), trials=40)
    >>> bool(found.table.loc["sensitivity", "correlation"] > 0.8)
    True
    """
    made = simulate_people(model, design, subjects, trials, spread, free, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = fit_people(model, made.experiment, free, **options)
    true, found = made.persons, fitted.persons
    long = pd.DataFrame(
        {
            "person": np.repeat(np.arange(len(true)), true.shape[1]),
            "parameter": np.tile(true.columns, len(true)),
            "true": true.to_numpy().ravel(),
            "found": found[true.columns].to_numpy().ravel(),
        }
    )
    rows = {name: _agreement(part["true"], part["found"])
            for name, part in long.groupby("parameter", sort=False)}  # fmt: skip
    group = fitted.intervals()
    moments = np.concatenate([made.truth.mean(axis=0), made.truth.std(axis=0)])
    group.insert(0, "true", moments)
    group["held"] = (group["low"] <= group["true"]) & (group["true"] <= group["high"])
    return Recovery(long, pd.DataFrame.from_dict(rows, orient="index"), group)


def _agreement(true: pd.Series, found: pd.Series) -> dict[str, float]:
    flat = true.std() == 0 or found.std() == 0
    gap = found - true
    return {
        "correlation": float("nan") if flat else float(np.corrcoef(true, found)[0, 1]),
        "bias": float(gap.mean()),
        "rmse": float(np.sqrt(np.mean(gap**2))),
    }


@dataclass(frozen=True)
class ModelRecovery:
    """Which model is chosen where which is true; `plots.plot_model_recovery` draws it.

    Attributes
    ----------
    confusion : DataFrame
        Shares of simulated experiments: rows are true, columns chosen.
    margins : DataFrame
        A row for each experiment: true, chosen, and by how much it won by BIC.

    Examples
    --------
    >>> shares = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], ["p", "q"], ["p", "q"])
    >>> found = ModelRecovery(shares, pd.DataFrame())
    >>> found.confusion.loc["q", "p"]  # q is true, and p is chosen
    np.float64(0.2)
    """

    confusion: pd.DataFrame
    margins: pd.DataFrame

    def __str__(self) -> str:
        lines = str(self.confusion.round(2)).split("\n")
        return "\n".join(line.rstrip() for line in lines)


def recover_models(
    models: Mapping[str, Any],
    design: Design | Experiment,
    subjects: int = 10,
    trials: int = 10,
    repeats: int = 20,
    spread: float | Mapping[str, float] = 0.3,
    seed: int = 0,
) -> ModelRecovery:
    """Let each model make up people, and see which is chosen by the BIC of the population.

    Parameters
    ----------
    models : mapping of name to model
        Their parameters are those of the person in the middle; what is free differs between
        people.
    design, subjects, trials, spread, seed
        As in `simulate_people`. Where some models learn, all answer in the trials of the design.
    repeats : int
        Experiments for each model.

    Returns
    -------
    ModelRecovery
        Shares of choices, with the margins by which they were made.

    Examples
    --------
    >>> from mercer.cognition import GCM, PrototypeModel, five_four
    >>> models = {"exemplars": GCM(8.0), "prototypes": PrototypeModel(8.0)}
    >>> found = recover_models(models, five_four(), subjects=5, trials=20, repeats=3)
    >>> found.confusion.shape
    (2, 2)
    """
    if len(models) < 2:
        raise DomainError(f"give two models or more, found {len(models)}")
    rows, asked = [], _trials(models.values(), trials)
    for true in models:
        for repeat in range(whole(recover_models, "repeats", repeats)):
            made = simulate_people(models[true], design, subjects, asked, spread,
                                   seed=seed + 1000 * repeat)  # fmt: skip
            scores = {name: _bic(model, made.experiment) for name, model in models.items()}
            chosen = min(scores, key=lambda name: scores[name])
            others = min(score for name, score in scores.items() if name != chosen)
            rows.append((true, chosen, others - scores[chosen]))
    margins = pd.DataFrame(rows, columns=["true", "chosen", "margin"])
    counts = pd.crosstab(margins["true"], margins["chosen"], normalize="index")
    confusion = counts.reindex(index=list(models), columns=list(models), fill_value=0.0)
    return ModelRecovery(confusion, margins)


def _trials(models: Iterable[Any], trials: int) -> int | None:
    """Return how often choice models are asked: if there are learners, as often as these."""
    return None if any(isinstance(model, Learner) for model in models) else trials


def _bic(model: Any, experiment: Experiment) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ModelWarning)  # what is compared are predictions
        return fit_people(model, experiment).bic


@dataclass(frozen=True)
class PowerCurve:
    """How often the right model is chosen, by the number of people.

    Attributes
    ----------
    table : DataFrame
        A row for each number of people: share of experiments that chose the right model, with its
        interval (Wilson, 1927).
    wanted : float

    Examples
    --------
    >>> table = pd.DataFrame({"share": [0.5, 0.9], "low": [0.3, 0.7], "high": [0.7, 1]}, [5, 20])
    >>> found = PowerCurve(table, wanted=0.8)
    >>> found.table.index[found.table["share"] >= found.wanted].tolist()
    [20]
    """

    table: pd.DataFrame
    wanted: float

    @property
    def enough(self) -> int | None:
        """The smallest number of people that was tried and is enough, or None."""
        good = self.table.index[self.table["share"] >= self.wanted]
        return int(good[0]) if len(good) else None

    def __str__(self) -> str:
        verdict = f"{self.enough} people are enough" if self.enough else "more people are needed"
        return f"{self.table.round(3)}\n{verdict} for {self.wanted:.0%}"


def power(
    true: Any,
    other: Any,
    design: Design | Experiment,
    subjects: Sequence[int] = (5, 10, 20, 40),
    trials: int = 10,
    repeats: int = 50,
    wanted: float = 0.9,
    spread: float | Mapping[str, float] = 0.3,
    seed: int = 0,
) -> PowerCurve:
    """Say how many people it takes to tell a model from another on a design.

    Parameters
    ----------
    true, other : model
        People are made up by the first; both are fitted to them, and compared by BIC.
    design, trials, spread, seed
        As in `simulate_people`.
    subjects : sequence of int
        Numbers of people to try.
    repeats : int
        Experiments for each number.
    wanted : float
        Share of experiments that should choose the right model.

    Returns
    -------
    PowerCurve
        The share of right choices at each number of people.

    Examples
    --------
    >>> from mercer.cognition import GCM, PrototypeModel, five_four
    >>> found = power(GCM(8.0), PrototypeModel(8.0), five_four(), (2, 6), repeats=4)
    >>> found.table.index.tolist()
    [2, 6]
    """
    rows, asked = {}, _trials((true, other), trials)
    for count in subjects:
        right = 0
        for repeat in range(whole(power, "repeats", repeats)):
            made = simulate_people(true, design, count, asked, spread, seed=seed + 1000 * repeat)
            right += _bic(true, made.experiment) < _bic(other, made.experiment)
        rows[int(count)] = _wilson(right, repeats)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["share", "low", "high"])
    return PowerCurve(table, wanted)


def _wilson(hits: int, n: int, z: float = 1.959964) -> tuple[float, float, float]:
    """Return a share with its 95% interval."""
    p = hits / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return p, float(middle - half), float(middle + half)
