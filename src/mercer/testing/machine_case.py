"""The case of a machine: something to learn from, and reasons why that should fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.kernels import named
from mercer.testing.containers import count, take

__all__ = ["MachineCase", "failures", "values"]


@dataclass(frozen=True)
class MachineCase:
    """An unfitted machine with items to learn from, their targets, and new items.

    `target` holds numbers of shape (n,) or (n, targets), or labels.
    """

    machine: Any
    items: Any
    target: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.machine!r} on {count(self.items)} items"

    def fresh(self) -> Any:
        """Return an unfitted copy."""
        from sklearn.base import clone

        return clone(self.machine)

    def fitted(self, items: Any = None, target: Any = None, **more: Any) -> Any:
        """Return a fitted copy."""
        return self.fresh().fit(
            self.items if items is None else items,
            self.target if target is None else target,
            **more,
        )

    @property
    def pairwise(self) -> bool:
        """Whether items are rows of a Gram matrix."""
        return named(self.machine.kernel) == named("precomputed")


def values(machine: Any, items: Any) -> np.ndarray:
    """Return the numbers that a machine computes: scores, probabilities, or predictions."""
    for name in ("decision_function", "predict_proba", "transform"):
        if hasattr(machine, name):
            return getattr(machine, name)(items)
    return machine.predict(items)


def failures(case: MachineCase) -> list[tuple[str, dict[str, Any], Any, Any]]:
    """Return reasons why a fit must fail: a name, parameters, items and target."""
    from sklearn.base import is_classifier, is_regressor

    n, X, y = count(case.items), case.items, case.target
    wrong: list[tuple[str, dict[str, Any], Any, Any]] = [
        ("a target that is too short", {}, X, take(y, slice(0, n - 1))),
        ("no target", {}, X, None),
        ("an unknown policy", {"indefinite": "ignore"}, X, y),
        ("a negative penalty", {"penalty": -1.0}, X, _other_labels(y)),
    ]
    if not case.pairwise:
        twice = np.repeat(np.arange(n), 2)
        labels = take(_other_labels(y), twice)
        singular = {"penalty": 0.0, "indefinite": "error"}
        wrong.append(("a singular system", singular, take(X, twice), labels))
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not case.pairwise:
        bad = X.copy()
        bad[1, 0] = np.nan
        wrong.append(("NaN among the items", {}, bad, y))
        wrong.append(("narrower items, short target", {}, X[:, :-1], take(y, slice(0, n - 1))))
    if not (is_classifier(case.machine) or is_regressor(case.machine)):
        wrong = [(why, changes, items, target) for why, changes, items, target in wrong
                 if "target" not in why]  # fmt: skip
    known = case.machine.get_params(deep=False)
    return [reason for reason in wrong if set(reason[1]) <= set(known)]


def _other_labels(y: Any) -> Any:
    """Return a target of the same shape with other labels, or other numbers."""
    y = np.asarray(y)
    return np.char.add("other ", y.astype(str)) if y.dtype.kind in "UOS" else y + 1
