"""Comparing models of people who differ: choice models and learners in one table.

`compare` adds the answers of all people up. Here everyone has parameters of their own, drawn from
a population, and learners see the trials of each person in their order. What was held out is
predicted by a population that has not seen it: the answers of new people by the integral over all
whom the population could have sent, new answers of known people by the mode of each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from mercer.cognition.experiments.experiment import Experiment
from mercer.cognition.people.likelihoods import People, people_of
from mercer.cognition.people.modes import find_modes
from mercer.cognition.people.population import Population, fit_population, laplace_moments
from mercer.cognition.people.posterior import posterior
from mercer.errors import ConvergenceWarning, DomainError, ModelWarning, suggestion
from mercer.values import Seed, whole

__all__ = ["PeopleComparison", "compare_people"]

HELD_OUT = ("subjects", "trials")
FOLDS = 5  # unless another number is asked for
LARGER_IS_BETTER = {"held_out": True, "waic": False, "bic": False, "log_likelihood": True}
SHOWN = {"log_likelihood": "{:.1f}", "parameters": "{:.0f}", "bic": "{:.1f}", "waic": "{:.1f}",
         "held_out": "{:.4f}", "standard_error": "{:.4f}", "behind": "{:.4f}",
         "error_behind": "{:.4f}"}  # fmt: skip


@dataclass(frozen=True)
class PeopleComparison:
    """Several models of the same people.

    Attributes
    ----------
    table : DataFrame
        A row for each model, the best first: the marginal log_likelihood, parameters (of the
        population), bic; waic, if it was asked for; and, if something was held out, its
        log-likelihood per answer (held_out, with its standard_error over people), and by how much
        that is behind the best (behind, with its error over the same people).
    populations : dict of Population
        Fitted to everyone.
    persons : DataFrame
        A column for each model: the log-likelihood of what was held out of each person.
    cv : str or None
    by : str
        The column that decides which model is best.

    Examples
    --------
    >>> table = pd.DataFrame({"bic": [210.0, 225.5]}, ["exemplars", "prototypes"])
    >>> found = PeopleComparison(table, {}, pd.DataFrame(), cv=None, by="bic")
    >>> found.best
    'exemplars'
    """

    table: pd.DataFrame
    populations: dict[str, Population] = field(repr=False)
    persons: pd.DataFrame = field(repr=False)
    cv: str | None
    by: str

    @property
    def best(self) -> str:
        """Name of the best model."""
        return str(self.table.index[0])

    def __str__(self) -> str:
        shown = pd.DataFrame(
            {name.replace("_", " "): [SHOWN[name].format(v) for v in column]
             for name, column in self.table.items()},
            index=self.table.index,
        )  # fmt: skip
        lines = [line.rstrip() for line in shown.to_string().split("\n")]
        return "\n".join([*lines, f"best by {self.by.replace('_', ' ')}: {self.best}"])


def compare_people(
    models: Mapping[str, Any],
    experiment: Experiment,
    cv: str | None = None,
    *,
    folds: int = FOLDS,
    free: Mapping[str, Sequence[str]] | None = None,
    waic: bool = False,
    by: str | None = None,
    random_state: Seed = 0,
    **options: Any,
) -> PeopleComparison:
    """Fit populations with several models to the same people, and put them into one table.

    Parameters
    ----------
    models : mapping of name to model
        Choice models, learners, or both; both need an experiment with trials.
    experiment : Experiment
        As in `fit_people`.
    cv : {"subjects", "trials"}, optional
        Also predict people, or single answers of each person, that a fit has not seen. A learner
        still sees the stimulus and the feedback of a trial whose answer is held out.
    folds : int
    free : mapping of name to sequence of str, optional
        What differs between people, for some of the models; by default as in `fit_people`.
    waic : bool
        Whether to sample the posterior of each model for its WAIC, which takes longer.
    by : str, optional
        Column to sort by; by default the first of held_out, waic and bic that is known.
    random_state : int, Generator or None
        Of the folds, and of the posterior.
    **options
        Of `fit_people`, such as ``method="mcem"``.

    Returns
    -------
    PeopleComparison
        The populations, and a table with a row for each model, the best first.

    Examples
    --------
    >>> from mercer.cognition import GCM, PrototypeModel, five_four, simulate_people
    >>> made = simulate_people(GCM(8.0), five_four(), subjects=8, trials=20, seed=1)
    >>> models = {"exemplars": GCM(), "prototypes": PrototypeModel()}
    >>> compare_people(models, made.experiment).best
    'exemplars'
    """
    if cv is not None and cv not in HELD_OUT:
        raise DomainError(f"cv cannot be {cv!r}{suggestion(str(cv), HELD_OUT)}")
    several = {name: _people(name, model, experiment, (free or {}).get(name))
               for name, model in models.items()}  # fmt: skip
    _same_answers(several)
    rng = np.random.default_rng(random_state)
    seed = int(rng.integers(2**31))
    rows: dict[str, dict[str, float]] = {}
    populations, persons = {}, {}
    for name, people in several.items():
        found = fit_population(people, models[name], **options)
        populations[name] = found
        rows[name] = {"log_likelihood": found.log_likelihood, "parameters": found.parameters,
                      "bic": found.bic}  # fmt: skip
        if waic:
            drawn = posterior(models[name], experiment, (free or {}).get(name), random_state=seed)
            rows[name]["waic"] = drawn.waic().waic
        if cv is not None:
            persons[name] = _held_out(people, models[name], cv, folds, seed, options)
    table = pd.DataFrame.from_dict(rows, orient="index")
    scores = pd.DataFrame(persons)
    if cv is not None:
        table = table.join(_shares(scores, _sizes(next(iter(several.values())))))
    column = _column(by, table)
    table = table.sort_values(column, ascending=not LARGER_IS_BETTER[column], kind="stable")
    return PeopleComparison(table, populations, scores, cv, column)


def _people(name: str, model: Any, experiment: Experiment, free: Sequence[str] | None) -> People:
    try:
        return people_of(model, experiment, free)
    except DomainError as error:
        raise DomainError(f"{name}: {error}") from error


def _same_answers(several: Mapping[str, People]) -> None:
    """Refuse models whose likelihoods are of different things."""
    if len(several) < 2:
        raise DomainError(f"give two models or more, found {len(several)}")
    explained = {n: f"{people.observations()} {people.explains}" for n, people in several.items()}
    if len(set(explained.values())) > 1:
        listed = ", ".join(f"{name} {what}" for name, what in explained.items())
        raise DomainError(
            f"the models explain different things ({listed}), so their likelihoods cannot be "
            "compared; learners need an answer in the trials that choice models are asked about"
        )


def _held_out(
    people: People, model: Any, cv: str, folds: int, seed: int, options: Mapping[str, Any]
) -> np.ndarray:
    """Return the log-likelihood of what was held out of each person."""
    found = np.zeros(people.count)
    most = people.count if cv == "subjects" else people.observations() // people.count
    if not 2 <= whole(compare_people, "folds", folds) <= most:
        raise DomainError(f"{most} {cv} can be held out in 2 to {most} folds, found {folds}")
    for kept, held, who in _folds(people, cv, folds, np.random.default_rng(seed)):
        with warnings.catch_warnings():  # the fit to everyone has told
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", ModelWarning)
            known = fit_population(kept, model, **options)
        found[who] += _new_people(held, known) if cv == "subjects" else held.log_likelihoods(
            known.modes.at, np.arange(held.count)
        )  # fmt: skip
    return found


def _folds(
    people: People, cv: str, folds: int, rng: np.random.Generator
) -> Iterator[tuple[People, People, np.ndarray]]:
    """Yield who or what is kept, who or what is held out, and whose scores that gives."""
    everyone = np.arange(people.count)
    if cv == "trials":
        for kept, held in people.deal(folds, rng):
            yield kept, held, everyone
        return
    fold = rng.permutation(everyone % folds)
    for k in range(folds):
        out = everyone[fold == k]
        yield people.only(everyone[fold != k]), people.only(out), out


def _new_people(held: People, known: Population) -> np.ndarray:
    """Return the marginal log-likelihood of each new person."""
    modes = find_modes(held, known.center, known.spread)
    return laplace_moments(modes, known.center, known.spread)[0]


def _sizes(people: People) -> np.ndarray:
    """Return how many answers each person gave."""
    return np.array([people.only(np.array([i])).observations() for i in range(people.count)])


def _shares(scores: pd.DataFrame, sizes: np.ndarray) -> pd.DataFrame:
    """Return held-out log-likelihoods per answer, with errors over people."""
    total, S = sizes.sum(), len(sizes)

    def mean_with_error(values: np.ndarray) -> tuple[float, float]:
        center = float(values.sum() / total)
        rest = values - sizes * center
        return center, float(np.sqrt(S / (S - 1) * np.sum(rest**2)) / total)

    best = str(scores.sum().idxmax())
    rows = {}
    for name in scores:
        held, error = mean_with_error(scores[name].to_numpy())
        behind, gap = mean_with_error((scores[best] - scores[name]).to_numpy())
        rows[name] = {"held_out": held, "standard_error": error, "behind": behind,
                      "error_behind": gap}  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index")


def _column(by: str | None, table: pd.DataFrame) -> str:
    known = [name for name in LARGER_IS_BETTER if name in table]
    if by is None:
        return known[0] if known[0] != "log_likelihood" else "bic"
    if by not in known:
        raise DomainError(f"by cannot be {by!r}{suggestion(str(by), known)}")
    return by
