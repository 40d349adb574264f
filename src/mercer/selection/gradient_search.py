"""Search: the parameters with the smallest error, by the slopes of a closed-form criterion.

A grid of bandwidths and penalties grows with a power of their number. The criteria of
`selection.criteria` have derivatives by all of them at about the cost of one fit, so that a
quasi-Newton method (L-BFGS; Byrd, Lu, Nocedal & Zhu, 1995) finds a minimum in some tens of fits,
however many bandwidths there are. The logarithms are searched, in a box about sizes that the data
suggest. Criteria may have several minima: the search begins at several places, each with the best
of many penalties, and keeps the best end.
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from mercer.domains import Items
from mercer.errors import SelectionError, SelectionWarning
from mercer.machines.machine import number
from mercer.memory import afford
from mercer.selection.arguments import require_machine
from mercer.selection.multistart import MultistartSearch, Trial, search_bytes
from mercer.selection.ridge_task import search_task
from mercer.solvers.ridge.criteria import criterion_name

__all__ = ["Found", "Trial", "search"]


@dataclass(frozen=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    machine : Machine
        A copy with the parameters, fitted on all items.
    parameters : dict
        As for ``machine.set_params``.
    value : float
        Of the criterion, with these parameters.
    criterion : str
    trials : list of Trial
        The parameters as given, and each start.
    fixed : dict
        Parameters that were not searched, and why.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0.0, 0.3, 40)
    >>> found = search(KernelRidge(Gaussian(1.0), penalty=0.1), X, y)
    >>> found.criterion, sorted(found.parameters)
    ('leave-one-out', ['kernel__bandwidth', 'penalty'])
    """

    machine: Any
    parameters: dict[str, Any]
    value: float
    criterion: str
    trials: list[Trial]
    fixed: dict[str, str]

    def __str__(self) -> str:
        lines = [f"{type(self.machine).__name__}, {self.criterion} {self.value:.6g}"]
        lines += [f"  {name} = {_show(value)}" for name, value in self.parameters.items()]
        lines.append(f"Tried {len(self.trials)} starts:")
        for trial in self.trials:
            place = ", ".join(f"{name} {_show(v)}" for name, v in trial.start.items())
            steps = f"{trial.steps} steps" if trial.steps != 1 else "1 step"
            lines.append(f"  {place}: {trial.value:.6g} after {steps} ({trial.message})")
        lines += [f"Fixed {name}: {reason}" for name, reason in self.fixed.items()]
        return "\n".join(lines)


def search(
    machine: BaseEstimator,
    X: Items,
    y: ArrayLike,
    *,
    criterion: str | None = None,
    per_dimension: bool = False,
    sample_weight: ArrayLike | None = None,
    starts: int | None = None,
    max_iter: int = 100,
    random_state: int = 0,
) -> Found:
    """Find bandwidths, other positive parameters and the penalty of a ridge-like machine.

    Parameters
    ----------
    machine : KernelRidge, KernelRidgeClassifier, KernelDiscriminant or GaussianProcess
        Its kernel may have heuristics. It stays as it is.
    X, y
        Items and targets or labels.
    criterion : {"leave-one-out", "gcv", "evidence"}, optional
        What to minimize: the exact leave-one-out squared error, its approximation by generalized
        cross-validation, or −log p(y). By default the evidence for a Gaussian process, otherwise
        the leave-one-out error. Classifiers have it of their ±1 or indicator targets.
    per_dimension : bool
        Whether to go on with a bandwidth for each dimension, from the best common one. A dimension
        that does not matter gets a very large one.
    sample_weight : array of shape (n,), optional
    starts : int, optional
        Number of starts: the kernel as given, then those that look best of ten kernels with
        bandwidths from a 27th to 729 times the median distance, then at random. By default 4.
        With `per_dimension` there are 3 more, or as many again.
    max_iter : int
        Steps of each descent.
    random_state : int
        Of random starts.

    Returns
    -------
    Found
        Never worse, by the criterion, than the machine as given.

    Notes
    -----
    A step costs about three fits: n³ operations, and n² for each bandwidth.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> found = search(KernelRidge("gaussian"), X, y)
    >>> sorted(found.parameters), bool(found.value < 0.02)
    (['kernel__bandwidth', 'penalty'], True)
    """
    require_machine(machine)
    default = getattr(machine, "criterion", "leave-one-out")
    name = criterion_name(default if criterion is None else criterion)
    system = search_task(machine, X, y, sample_weight)
    count = None if starts is None else _whole("starts", starts)
    rng = _generator(random_state)
    n = len(system.points)
    afford(search_bytes(n), f"a search with {n} items", "search on some of them")
    descent = MultistartSearch(system, name, _whole("max_iter", max_iter))
    if per_dimension:
        descent.require_dimensions()
    descent.evaluate_at(system.kernel, number(machine.penalty, "penalty"), "as given")
    descent.run(descent.starts(count, rng))
    if per_dimension and descent.best.kernel is not None:
        descent.search_per_dimension(count, rng)
    best = descent.best
    if best.kernel is None:
        raise SelectionError(f"the criterion could not be computed anywhere: {descent.failure}")
    _warn(best.edges)
    parameters = descent.parameters(best.kernel, best.penalty)
    fitted = clone(machine).set_params(**parameters)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    fitted.fit(X, y, **weights)
    fixed = {f"kernel__{key}": why for key, why in descent.logs.fixed(best.kernel).items()}
    return Found(fitted, parameters, best.value, name, descent.trials, fixed)


def _warn(edges: tuple[str, ...]) -> None:
    if edges:
        warnings.warn(
            f"the search ended at the edge of its box in {', '.join(edges)}: the criterion may "
            "have no minimum there, or one that is far from the start; look at the value, or "
            "begin elsewhere",
            SelectionWarning,
            stacklevel=3,
        )


def _whole(name: str, value: object) -> int:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise SelectionError(f"{name} must be a whole number from 1 on, found {value!r}")
    return int(value)


def _generator(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise SelectionError(f"random_state must be a whole number, found {seed!r}") from error


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_show, value))})"
    return f"{value:.4g}"
