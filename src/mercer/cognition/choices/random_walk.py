"""EBRW: exemplars race to be remembered, and move a random walk to one of two answers.

Nosofsky & Palmeri (1997), Psychological Review 104, 266–300. It predicts how long an answer takes,
and explains the power γ of the `GCM`: how much evidence is wanted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import (
    LOG_BOUNDS,
    Fit,
    ParameterLayout,
    PositiveReal,
    Rule,
    Slopes,
)
from mercer.cognition.choices.gcm import SummedSimilarity
from mercer.cognition.choices.races import (
    TIMING,
    admit_times,
    log_densities,
    race,
    whole_barriers,
)
from mercer.cognition.choices.walks import log_odds, mean_steps, mean_steps_to
from mercer.cognition.experiments.stimuli import Memory, admit_stimuli
from mercer.domains import Items
from mercer.errors import ConvergenceWarning, DomainError, ValidityError
from mercer.rkhs import Function
from mercer.values import Seed, positive

__all__ = ["EBRW"]


class EBRW(ChoiceModel):
    """The exemplar-based random walk: choices and response times (Nosofsky & Palmeri, 1997).

    Exemplars race with rates Vⱼ sᵢⱼ, those of the `GCM`, and so do background elements, with rate
    b for each of two categories. The winner moves a walk by one step, up for the first category,
    down for the second, until it is `upper` above or `lower` below its start. With S the sum of
    the rates of one category, a step goes up with probability (S₁ + b)/(S₁ + S₂ + 2b) and takes α
    plus an exponential time of that total rate; and

        response time = residual + scale·(time of all steps).

    If both barriers are γ and b = 0, the choices are those of the GCM with this γ.

    Parameters
    ----------
    sensitivity, attention, order, exponent
        Of similarity, as in `GCM`.
    upper, lower : float
        Barriers of the first and second category. Whole numbers for distributions of times; the
        formulas of choices and mean times hold between them, too.
    background : float
        b ≥ 0.
    step : float
        α ≥ 0, the time of a step beside the race.
    residual, scale : float
        What else takes time, and what a unit of the race is, in seconds.
    free : sequence of {"sensitivity", "attention", "upper", "lower", "background"}
        What is fitted to choices; `fit_times` fits the times as well.
    loss, starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    params_, classes_, function_, kernel_, free_
        As in `GCM`; the function is the summed similarity to each category.
    log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`; after `fit_times` the likelihood is that of answers and times.

    Notes
    -----
    In the paper sensitivity and background trade off; without responses that were not learned
    before, b is hardly identified, and is not free by default.

    Examples
    --------
    >>> model = EBRW(2.0, upper=2, lower=2, residual=0.3, scale=0.1)
    >>> model = model.fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.mean_times([[0.5], [2.0]]).round(2)  # what is near to all of "a" is faster
    array([0.57, 1.6 ])
    """

    kinds: ClassVar[dict[str, str]] = {
        "sensitivity": "positive",
        "attention": "dimension",
        "upper": "positive",
        "lower": "positive",
        "background": "positive",
        "step": "positive",
        "residual": "positive",
        "scale": "positive",
    }
    spread: ClassVar[dict[str, tuple[float, float]]] = {
        "sensitivity": (1.0, 1.0),
        "upper": (0.7, 0.5),
        "lower": (0.7, 0.5),
        "background": (-3.0, 1.0),
    }

    def __init__(
        self,
        sensitivity: float = 1.0,
        attention: Sequence[float] | None = None,
        upper: float = 3.0,
        lower: float = 3.0,
        background: float = 0.0,
        step: float = 0.0,
        residual: float = 0.0,
        scale: float = 1.0,
        order: float = 1,
        exponent: float = 1,
        free: Sequence[str] = ("sensitivity", "attention", "upper", "lower"),
        loss: str = "likelihood",
        *,
        starts: int = 10,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.sensitivity = sensitivity
        self.attention = attention
        self.upper = upper
        self.lower = lower
        self.background = background
        self.step = step
        self.residual = residual
        self.scale = scale
        self.order = order
        self.exponent = exponent
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    def mean_times(self, stimuli: Items, by_answer: bool = False) -> np.ndarray:
        """Return the expected response time to each stimulus, or to each with each answer.

        Parameters
        ----------
        stimuli : array of shape (m, dimensions)
        by_answer : bool
            Whether to return a column for each answer.
        """
        rows = admit_stimuli(stimuli, "stimuli", self.n_features_in_, self._columns)
        params = self.params_
        L, rate = self._race(rows, params)[:2]
        A, B = params["upper"], params["lower"]
        steps = np.column_stack(mean_steps_to(L, A, B)) if by_answer else mean_steps(L, A, B)
        each = params["step"] + 1 / rate
        times = params["scale"] * steps * (each[:, None] if by_answer else each)
        return np.asarray(params["residual"] + times)

    def simulate_times(
        self, stimuli: Items, random_state: Seed = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return an answer to each stimulus, and the time that it took."""
        rng = np.random.default_rng(random_state)
        rows = admit_stimuli(stimuli, "stimuli", self.n_features_in_, self._columns)
        A, B = whole_barriers(self.params_)
        L, rate, _ = self._race(rows, self.params_)
        p = 1 / (1 + np.exp(L))
        answers, steps = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
        for i in range(len(rows)):
            place = count = 0
            while -B < place < A:
                place += 1 if rng.random() < p[i] else -1
                count += 1
            answers[i], steps[i] = int(place <= -B), count
        waits = rng.gamma(steps) / rate + self.params_["step"] * steps
        return self.classes_[answers], self.params_["residual"] + self.params_["scale"] * waits

    def log_density(self, stimuli: Items, answers: ArrayLike, times: ArrayLike) -> np.ndarray:
        """Return the log density of an answer with its time, for each trial.

        The number of steps has the distribution of first passages, and n steps take a time with
        the gamma distribution of shape n, plus n·α: a sum over n, exact but for its tail of 1e-10.
        """
        rows = admit_stimuli(stimuli, "stimuli", self.n_features_in_, self._columns)
        codes = self._codes(answers)
        t = admit_times(times, len(rows))
        return self._densities(rows, codes, t, self.params_)

    def fit_times(
        self,
        exemplars: Items,
        categories: ArrayLike,
        stimuli: Items,
        answers: ArrayLike,
        times: ArrayLike,
        strengths: ArrayLike | None = None,
        *,
        barriers: Iterable[int] = range(1, 7),
    ) -> Self:
        """Fit answers together with their times, by maximum likelihood.

        Parameters
        ----------
        exemplars, categories, strengths
            As in `fit`.
        stimuli : array of shape (trials, dimensions)
            What was asked in each trial.
        answers : sequence of shape (trials,)
        times : sequence of shape (trials,)
            In seconds, each positive.
        barriers : iterable of int
            Whole numbers to try: first the same for both answers, then one more or less for each.
            They are chosen by likelihood, if "upper" and "lower" are free, and else kept.
        """
        rows = admit_stimuli(stimuli, "stimuli")
        t = admit_times(times, len(rows))
        self.fit(exemplars, categories, strengths=strengths)
        rows = admit_stimuli(stimuli, "stimuli", self.n_features_in_, self._columns)
        codes = self._codes(answers)
        layout = self._timed_layout(float(t.min()))
        tried: dict[tuple[int, int], tuple[float, np.ndarray, float]] = {}

        def attempt(A: int, B: int) -> float:
            if (A, B) not in tried:
                tried[A, B] = self._descend(layout, rows, codes, t, A, B)
            return tried[A, B][0]

        if not {"upper", "lower"} <= set(self.free_):
            best = whole_barriers(self.params_)
            attempt(*best)
        else:
            best = min(((int(A), int(A)) for A in barriers), key=lambda pair: attempt(*pair))
            while True:
                A, B = best
                near = [(A + i, B + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
                better = min((pair for pair in near if min(pair) >= 1), key=lambda p: attempt(*p))
                if tried[better][0] >= tried[best][0] - 1e-9:
                    break
                best = better
        value, z, slope = tried[best]
        if slope > 1e-3:
            warnings.warn(
                f"the slope of the loss is still {slope:.2g}; give more steps with max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        free = layout.count + 2 * ({"upper", "lower"} <= set(self.free_))
        self.params_ = {**layout.params(z), "upper": float(best[0]), "lower": float(best[1])}
        self.function_ = self._function(self._memory, self.params_)
        self.kernel_ = self.function_.kernel
        self.fit_ = Fit(self.params_, -value, float("nan"), free, len(rows), slope)
        self.log_likelihood_, self.sse_ = -value, float("nan")
        self.aic_, self.bic_ = self.fit_.aic, self.fit_.bic
        return self

    def _timed_layout(self, fastest: float) -> ParameterLayout:
        """Return the parameters that `fit_times` finds beside the barriers."""
        # Nobody answers before the residual time is over.
        residual = PositiveReal("residual", (LOG_BOUNDS[0], float(np.log(fastest)) - 1e-6))
        kept = [part for part in self._layout_.parts if part.name not in ("upper", "lower")]
        return ParameterLayout(self._layout_.given, (*kept, residual, PositiveReal("scale")))

    def _descend(
        self, layout: ParameterLayout, rows: np.ndarray, codes: np.ndarray, t: np.ndarray,
        A: int, B: int,
    ) -> tuple[float, np.ndarray, float]:  # fmt: skip
        """Return the smallest negative log-likelihood with given barriers, and where it is."""
        barriers = {"upper": float(A), "lower": float(B)}

        def loss(z: np.ndarray) -> float:
            params = {**layout.params(z), **barriers}
            return -float(self._densities(rows, codes, t, params).sum()) / len(t)

        L, rate, _ = self._race(rows, self.params_)
        expected = mean_steps(L, A, B) / rate
        first = 0.7 * float(t.min())
        unit = float((t.mean() - first) / expected.mean())
        z = layout.coordinates({**self.params_, "residual": first, "scale": unit})
        options = {"maxiter": int(self.max_iter), "ftol": 1e-12, "gtol": 1e-6}
        found = minimize(loss, z, method="L-BFGS-B", bounds=layout.bounds, options=options)
        low, high = np.array(layout.bounds).T
        inside = (found.x > low) & (found.x < high)
        slope = float(np.abs(np.where(inside, found.jac, 0.0)).max())
        return found.fun * len(t), found.x, slope

    def _densities(
        self, rows: np.ndarray, codes: np.ndarray, t: np.ndarray, params: Mapping[str, Any]
    ) -> np.ndarray:
        shown, where = np.unique(rows, axis=0, return_inverse=True)
        summed = SummedSimilarity(self._memory, shown, float(self.order), float(self.exponent))
        return log_densities(summed, where.ravel(), codes, t, params)

    def _race(self, rows: np.ndarray, params: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return L = log(q/p), the total rate, and what brings slopes for L to the parameters."""
        summed = SummedSimilarity(self._memory, rows, float(self.order), float(self.exponent))
        return race(summed, params)

    def _codes(self, answers: ArrayLike) -> np.ndarray:
        found = np.asarray(answers)
        wrong = np.flatnonzero(~np.isin(found, self.classes_))
        if len(wrong):
            raise DomainError(
                f"answer {found[wrong[0]].item()!r} of trial {wrong[0]} is none of the categories "
                f"{self.classes_.tolist()}"
            )
        return np.searchsorted(self.classes_, found)

    def _rule(self, memory: Memory, rows: np.ndarray) -> Rule:
        summed = SummedSimilarity(memory, rows, float(self.order), float(self.exponent))

        def rule(params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
            L, _, pull = race(summed, params)
            value, bend = log_odds(L, params["upper"], params["lower"])

            def slopes(G: np.ndarray) -> dict[str, Any]:
                g = G[:, 0]
                found = pull(g * bend["L"])
                found.update(upper=float(g @ bend["A"]), lower=float(g @ bend["B"]))
                return found

            return np.column_stack([value, np.zeros_like(value)]), slopes

        return rule

    def _store(self, memory: Memory) -> Memory:
        if len(memory.classes) != 2:
            raise DomainError(
                f"EBRW walks between two answers, found {len(memory.classes)} categories: "
                f"{memory.classes.tolist()}"
            )
        return memory

    def _value(self, name: str, memory: Memory) -> Any:
        if name in ("background", "step", "residual"):
            return positive(self, name, getattr(self, name), zero=True)
        return super()._value(name, memory)

    def _layout(self, memory: Memory) -> ParameterLayout:
        layout = super()._layout(memory)
        for part in layout.parts:
            if part.name in TIMING:
                raise ValidityError(
                    f"choices say nothing about {part.name!r}; fit_times fits it to response times"
                )
        return layout

    def _function(self, memory: Memory, params: Mapping[str, Any]) -> Function:
        return Function(self._kernel(params), memory.rows, memory.labels)
