"""Predicted bytes: what a search, and nested cross-validation, will take at most.

A search shares Gram matrices between folds and takes as many at once as fit; beside them each
thread has the parts of a fold. Then the best candidate is fitted to all items, as its own plan
says. Nested cross-validation does the same in each of its folds, one after the other.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import _num_samples

from mercer.domains import Items
from mercer.errors import PlanError
from mercer.kernels import named
from mercer.machines.planned import plan_of, transformed
from mercer.memory import available, format_bytes
from mercer.plans import Decision
from mercer.selection.arguments import grid_combinations
from mercer.selection.shared_gram import MATRICES_AT_ONCE
from mercer.threads import cores

__all__ = ["plan_nested_cv", "plan_search"]


def plan_search(estimator: Any, X: Items, grid: Any) -> Decision:
    """Return what a grid search would need: of its candidates, the one that needs most.

    Parameters
    ----------
    estimator : machine, or a pipeline that ends with one
    X : items
    grid : dict or list of dict

    Returns
    -------
    Decision
        With the bytes that the candidate takes that needs most.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> found = plan_search(SVC(), np.zeros((500, 2)), {"C": [1.0, 2.0]})
    >>> found.bytes > SVC().plan(np.zeros((500, 2))).bytes
    True
    """
    if hasattr(estimator, "steps"):  # only the last step is a machine of ours
        X = transformed(estimator, X)
        grid = _of_last_step(estimator, grid)
        estimator = estimator.steps[-1][1]
    from sklearn.base import clone

    machines = [clone(estimator).set_params(**one) for one in grid_combinations(grid)]
    plans = [plan_of(machine, X) for machine in machines]
    largest = max(plans, key=lambda plan: plan.bytes)
    n = _num_samples(X)
    matrix = 8 * n**2
    kernels = len({repr(getattr(one, "kernel", None)) for one in machines})
    if any(named(one.kernel).unresolved() for one in machines):  # each fold has its own
        kernels = MATRICES_AT_ONCE
    shared = (min(kernels, MATRICES_AT_ONCE) + cores()) * matrix
    memory = available() if largest.memory is None else largest.memory
    if memory is not None:  # no more are made at once than fit
        shared = min(shared, max(memory - largest.bytes, matrix))
    needed = largest.bytes + shared
    if memory is not None and needed > memory:
        raise PlanError(
            f"a search over {n} items needs {format_bytes(needed)}, but {format_bytes(memory)} "
            f"are available; about {int(n * (memory / needed) ** 0.5)} items would fit"
        )
    why = f"Gram matrices that folds and candidates share take up to {format_bytes(shared)}"
    return largest.beside(shared, why)


def plan_nested_cv(estimator: Any, X: Items, grid: Any) -> Decision:
    """Return what nested cross-validation would need: its searches come one after the other.

    Parameters
    ----------
    estimator : machine, or a pipeline that ends with one
    X : items
    grid : dict or list of dict

    Returns
    -------
    Decision

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.zeros((500, 2))
    >>> plan_nested_cv(SVC(), X, {"C": [1.0]}).bytes == plan_search(SVC(), X, {"C": [1.0]}).bytes
    True
    """
    return plan_search(estimator, X, grid)


def _of_last_step(pipeline: Any, grid: Any) -> Any:
    prefix = f"{pipeline.steps[-1][0]}__"
    grids = grid if isinstance(grid, list) else [grid]
    return [
        {name.removeprefix(prefix): v for name, v in one.items() if name.startswith(prefix)}
        for one in grids
    ]
