"""Anatomy: the parts of a fitted model, and the similarities that it works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = [
    "approximate", "chosen_name", "core", "noun", "prepared", "sample", "similarities", "take",
]  # fmt: skip

MOST = 300  # items of a Gram matrix; more are not seen in a picture
MOST_CLASSES = 12
# Where a machine that wraps another one keeps it.
INSIDE = ("machine_", "estimator_", "machine", "estimator")


def core(model: Any) -> Any:
    """Return the machine inside pipelines and calibrations: the one that has a kernel.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import KernelRidge
    >>> core(make_pipeline(StandardScaler(), KernelRidge("linear"))).kernel
    'linear'
    """
    if hasattr(model, "steps"):
        return core(model.steps[-1][1])
    inside = next((getattr(model, name) for name in INSIDE if hasattr(model, name)), None)
    return model if inside is None else core(inside)


def chosen_name(study: Study) -> str:
    """Return the name of the machine that was chosen."""
    found = [attempt.machine for attempt in study.attempts if attempt.chosen]
    return found[0] if found else type(core(study.machine)).__name__


def approximate(study: Study) -> str:
    """Say how the machine's answer differs from the exact one; nothing if it is exact."""
    solution = getattr(core(study.machine), "solution_", None)
    found = getattr(solution, "approximation", None)
    return "" if found is None else str(found)


def prepared(model: Any, X: Any) -> Any:
    """Return items as the machine at the end of a pipeline sees them."""
    if hasattr(model, "steps"):
        for _, step in model.steps[:-1]:
            if step is not None and step != "passthrough":
                X = step.transform(X)
    return X


def take(X: Any, places: Any) -> Any:
    """Return some rows of a table, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return [X[i] for i in places] if isinstance(X, list | tuple) else X[places]


def noun(study: Study) -> str:
    """Return what one item is called: a row, unless it is all one thing of another kind."""
    kinds = [column.kind for column in study.sheet.used]
    names = {"sequence": "sequence", "smiles": "molecule", "graph": "graph", "text": "text"}
    return names.get(kinds[0], "row") if len(kinds) == 1 else "row"


def sample(study: Study, most: int = MOST) -> tuple[np.ndarray, bool]:
    """Return places of items ordered by class (or by number), and whether these are all.

    With many items every class keeps its share, but one item at least; with many classes the
    most frequent ones are kept. Items are chosen evenly, so there is nothing random about it.
    """
    y = study.y
    if study.task != "classify":
        order = np.argsort(y, kind="stable")
        if len(order) <= most:
            return order, True
        return order[np.linspace(0, len(order) - 1, most).round().astype(int)], False
    assert study.classes is not None
    groups = [np.flatnonzero(y == label) for label in study.classes]
    kept = sorted(range(len(groups)), key=lambda k: -len(groups[k]))[:MOST_CLASSES]
    groups = [groups[k] for k in sorted(kept)]
    total = sum(map(len, groups))
    share = min(1.0, most / max(total, 1))
    some = [g[_evenly(len(g), max(1, round(share * len(g))))] for g in groups if len(g)]
    return np.concatenate(some), share == 1.0 and total == len(y)


def _evenly(length: int, number: int) -> np.ndarray:
    return np.unique(np.linspace(0, length - 1, min(number, length)).round().astype(int))


def similarities(study: Study, places: np.ndarray) -> np.ndarray | None:
    """Return the Gram matrix of some items under the kernel of the model, or None without one."""
    machine = core(study.machine)
    kernel = getattr(machine, "kernel_", None)
    if kernel is None:
        return None
    K = np.asarray(kernel(prepared(study.machine, take(study.X, places))), dtype=np.float64)
    return (K + K.T) / 2 if np.isfinite(K).all() and np.abs(K).max(initial=0.0) > 0 else None


def cosines(K: np.ndarray) -> np.ndarray:
    """Return similarities divided by the lengths of both items, so that 1 is the same direction.

    Examples
    --------
    >>> cosines(np.array([[4.0, 2.0], [2.0, 4.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    return np.clip(K / lengths / lengths[:, None], -1.0, 1.0)
