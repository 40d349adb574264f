"""Families: the kinds of machines that are tried, and what of each is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mercer.errors import ValidityError, suggestion
from mercer.kernels import Kernel
from mercer.machines import (
    SVC,
    SVR,
    Calibrated,
    ExemplarClassifier,
    ExemplarRegressor,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelNeighbors,
    KernelRidge,
    KernelRidgeClassifier,
    PrototypeClassifier,
)

__all__ = ["Family", "families", "family_names"]

PENALTIES = (1e-3, 1e-2, 0.1, 1.0)
MARGINS = (0.3, 3.0, 30.0)
TUBE, TOLERANCE = 0.1, 1e-3  # of SVR's tube and slopes, in standard deviations of the target
MANY, FOLDS, FEWER = 2000, 5, 3  # more rows than that are calibrated on fewer folds
MOST_DUELS = 60  # classes whose pairs are few enough to fight it out


@dataclass(frozen=True)
class Family:
    """A kind of machine.

    Attributes
    ----------
    name : str
        What users call it.
    cls : type
    parameter : str
        What is chosen besides the kernel, or "".
    values : tuple
        The values that are tried first; further ones in the same steps if the best is at an end.
    limits : tuple of float
        How far that goes.
    settings : dict
        What is not chosen.
    unbounded : bool
        Whether it is tried with similarities that may be negative and grow without bound. To
        means of similarities they make no sense, and margins take very long with them.
    scaled : bool
        Whether values, tube and tolerance are in standard deviations of the target, until
        `for_targets` has said how large these are.
    """

    name: str
    cls: Any
    parameter: str = ""
    values: tuple[float, ...] = ()
    limits: tuple[float, float] = (0.0, np.inf)
    settings: dict[str, Any] = field(default_factory=dict)
    unbounded: bool = True
    scaled: bool = False

    def for_targets(self, y: np.ndarray) -> Family:
        """Return the same family with its numbers in the unit of the targets."""
        if not self.scaled:
            return self
        spread = float(np.std(y)) or 1.0
        settings = {**self.settings, "epsilon": TUBE * spread, "tol": TOLERANCE * spread}
        low, high = self.limits
        values = tuple(float(f"{value * spread:.4g}") for value in self.values)
        limits = (low * spread, high * spread)
        return replace(self, values=values, limits=limits, settings=settings, scaled=False)

    def machine(self, kernel: Kernel, value: float | None) -> Any:
        """Return a machine that is not fitted yet."""
        chosen = {self.parameter: value} if self.parameter else {}
        return self.cls(kernel, **self.settings, **chosen)

    def with_probabilities(self, machine: Any, rows: int, seed: int) -> Any:
        """Return the same machine as one that knows probabilities too."""
        if self.cls is SVC:
            return machine.set_params(probability=True, random_state=seed)
        if hasattr(machine, "predict_proba"):
            return machine
        return Calibrated(machine, FOLDS if rows <= MANY else FEWER, random_state=seed)


RIDGE: dict[str, Any] = {"parameter": "penalty", "values": PENALTIES, "limits": (1e-7, 1e4)}
MARGIN: dict[str, Any] = {"parameter": "C", "values": MARGINS, "limits": (1e-3, 300.0)}
CLASSIFIERS = (
    Family("prototype", PrototypeClassifier),
    Family("exemplar", ExemplarClassifier, unbounded=False),
    Family("ridge", KernelRidgeClassifier, **RIDGE, settings={"intercept": True}),
    Family("svm", SVC, **MARGIN, unbounded=False),
    Family("neighbors", KernelNeighbors, "n_neighbors", (1, 3, 5, 9), unbounded=False),
    Family("logistic", KernelLogistic, **RIDGE),
    Family("discriminant", KernelDiscriminant, **RIDGE),
)
REGRESSORS = (
    Family("exemplar", ExemplarRegressor, unbounded=False),
    Family("ridge", KernelRidge, **RIDGE, settings={"intercept": True}),
    Family("svm", SVR, **MARGIN, scaled=True, unbounded=False),
    Family("gp", GaussianProcess, **RIDGE, settings={"intercept": True}),
)
USUAL = ("prototype", "exemplar", "ridge", "svm")


def family_names(task: str | None = None) -> tuple[str, ...]:
    """Return the names of all kinds of machines for a task, or for any.

    Examples
    --------
    >>> family_names("regress")
    ('exemplar', 'ridge', 'svm', 'gp')
    """
    known = {"classify": CLASSIFIERS, "regress": REGRESSORS}.get(
        task or "", CLASSIFIERS + REGRESSORS
    )
    return tuple(dict.fromkeys(family.name for family in known))


def families(
    task: str, machine: str | None, classes: int
) -> tuple[list[Family], list[tuple[Family, str]]]:
    """Return the kinds of machines to try, the simplest first, and those left out, with a reason.

    Parameters
    ----------
    task : {"classify", "regress"}
    machine : str, optional
        The only one to try: a short name, or the name of the class.
    classes : int
    """
    known = CLASSIFIERS if task == "classify" else REGRESSORS
    if machine is None:
        usual = [family for family in known if family.name in USUAL]
        out = {}
        if task == "classify" and classes > MOST_DUELS:
            out["svm"] = f"{classes} classes make {classes * (classes - 1) // 2} duels of two"
        left = [(family, out[family.name]) for family in usual if family.name in out]
        return [family for family in usual if family.name not in out], left
    found = [
        family for family in known if machine.lower() in (family.name, family.cls.__name__.lower())
    ]
    if not found:
        others = "regress" if task == "classify" else "classify"
        hint = suggestion(machine, family_names(task))
        if machine.lower() in family_names(others):
            hint = f"; it does not {task}, choose among {', '.join(family_names(task))}"
        raise ValidityError(f"unknown machine {machine!r}{hint}")
    return found, []
