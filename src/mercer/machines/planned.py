"""Plans of what is made around machines: pipelines, folds, and columns of numbers."""

from __future__ import annotations

from typing import Any

from scipy import sparse
from sklearn.base import BaseEstimator, clone

from mercer.domains import Items, is_frame
from mercer.errors import PlanError, ValidityError
from mercer.memory import available, format_bytes
from mercer.plans import Decision
from mercer.plans.chooser import UNSEEN_BYTES
from mercer.solvers.cost import OVERHEAD

__all__ = ["bytes_kept", "bytes_of", "plan_of", "plan_of_columns", "transformed"]

NUMBERS_KEPT = 4  # of each item, in a fitted machine: coefficients, places


def plan_of(machine: BaseEstimator, X: Items) -> Decision:
    """Return what a machine would need; of a pipeline, its last step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import SVC, Standardize
    >>> X = [[0.0], [1.0], [2.0]]
    >>> plan_of(make_pipeline(Standardize(), SVC()), X).solver
    'smo'
    """
    if hasattr(machine, "steps"):  # only the last step is a machine of ours
        return plan_of(machine.steps[-1][1], transformed(machine, X))
    if not hasattr(machine, "plan"):
        raise ValidityError(f"{type(machine).__name__} does not say what it needs")
    decision: Decision = machine.plan(X)
    return decision


def transformed(pipeline: Any, X: Items) -> Items:
    """Return items as the last step sees them: the steps before are fitted to them."""
    return X if len(pipeline.steps) == 1 else clone(pipeline[:-1]).fit_transform(X)


def bytes_of(X: Any) -> int:
    """Return the bytes of a container of items; things that a copy shares do not count.

    Examples
    --------
    >>> import numpy as np
    >>> bytes_of(np.zeros((2, 3))), bytes_of(["shared", "strings"])
    (48, 16)
    """
    if sparse.issparse(X):
        return int(X.data.nbytes + 2 * X.indices.nbytes) if hasattr(X, "indices") else 24 * X.nnz
    if is_frame(X):
        return 8 * X.shape[0] * X.shape[1]
    return int(X.nbytes) if hasattr(X, "nbytes") else 8 * len(X)


def bytes_kept(machine: BaseEstimator, X: Items) -> int:
    """Return the bytes of a fitted machine that remembers its items, and of the items' container.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> bytes_kept(SVC(), np.zeros((100, 2))) >= 2 * 1600
    True
    """
    if hasattr(machine, "steps"):
        return bytes_kept(machine.steps[-1][1], transformed(machine, X))
    points = machine._admit(X)
    machine._resolve(points).map_features(points)  # as a fit does, which encodes them
    return bytes_of(X) + points.fitted_bytes + 8 * NUMBERS_KEPT * len(points)


def plan_of_columns(name: str, rows: int, numbers: int, why: str, frame: bool = False) -> Decision:
    """Return what a table takes whose columns become numbers, or raise `PlanError`.

    Parameters
    ----------
    name : str
        As the decision calls what makes them.
    rows : int
    numbers : int
        Of a row, that are held at the same time.
    why : str
    frame : bool
        Whether pandas takes part.
    """
    memory = available()
    needed = 8 * rows * numbers + OVERHEAD + (UNSEEN_BYTES if frame else 0)
    if memory is not None and needed > memory:
        raise PlanError(
            f"{name} needs {format_bytes(needed)} for {rows} rows, but {format_bytes(memory)} are "
            f"available; about {int(rows * memory / needed)} rows would fit"
        )
    return Decision("primal", name, "double", memory=memory, bytes=needed, reasons=(why,))
