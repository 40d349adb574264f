"""Abilities: what a machine declares about itself, so that nobody need ask for its type.

A machine is fitted, saved and explained like any other estimator. Beyond that it may declare

- `abilities`: which shortcuts of `mercer.selection` give what its own `fit` would give;
- `saved`: private attributes that belong to what it has learned, and go into a model file;
- `cached`: private attributes that can be computed again, and do not;
- `has_terms`: that its decisions are no sums over the known items, and cannot be explained so;
- `delegate`: the attribute with the machine that decides, if it only wraps one;
- `class_directions`: how the outputs of its `function_` speak for each class.

A class outside of mercer that changes how a machine fits or predicts loses the abilities that it
inherits, unless it declares them again: nobody else can know whether they still hold.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Abilities", "Ability", "ClosedForm", "able", "cached_names", "saved_names"]

Ability = Literal["shared Gram matrix", "closed-form folds", "path along C"]

# A class of a user's own that has one of these may do anything in it.
METHODS = (
    "fit", "predict", "decision_function", "predict_proba", "transform", "_decision_values",
    "_fit", "_learn", "_solve",
)  # fmt: skip


class Abilities:
    """What a machine can do beyond `fit` and `predict`; by default nothing.

    Attributes
    ----------
    abilities : tuple of str
        "shared Gram matrix": a fit to precomputed similarities learns what a fit to the items
        would, so that many fits can share one matrix.
        "closed-form folds": the machine is a ridge regression inside (`ClosedForm`), so that
        held-out predictions follow from one factor.
        "path along C": its solutions at one C are a start for the next.
    max_shared_items : int or None
        Items beyond which its own ways are faster than a shared Gram matrix.
    criterion : {"leave-one-out", "evidence"}
        What a search of its parameters minimizes where nobody says.
    saved, cached : tuple of str
        Private attributes that a model file keeps, and those that are computed anew when needed.
        What subclasses declare is added to what they inherit.
    has_terms : bool
        Whether a decision is a sum over the known items, aᵢk(x, xᵢ), which can be explained.
    delegate : str or None
        Name of the attribute with the fitted machine whose decisions these are.
    """

    abilities: ClassVar[tuple[Ability, ...]] = ()
    max_shared_items: ClassVar[int | None] = None
    criterion: ClassVar[Literal["leave-one-out", "evidence"]] = "leave-one-out"
    saved: ClassVar[tuple[str, ...]] = ()
    cached: ClassVar[tuple[str, ...]] = ()
    has_terms: ClassVar[bool] = True
    delegate: ClassVar[str | None] = None

    def class_directions(self, outputs: int) -> np.ndarray:
        """Return what each class makes of the outputs of `function_`, one row for each class.

        With one output its sign decides between two classes; otherwise each class has its own.
        """
        classes = len(self.classes_)  # type: ignore[attr-defined]
        if classes == 2 and outputs == 1:
            return np.array([[-1.0], [1.0]])
        return np.eye(classes)


@runtime_checkable
class ClosedForm(Protocol):
    """A machine that is ridge regression inside, which is what closed-form folds need of it."""

    penalty: float
    kernel: Any

    mixes_targets: ClassVar[bool]  # whether scores are combinations of the targets' values

    @property
    def closed_form_applies(self) -> bool:
        """Whether it holds with the present parameters: folds change no weights and no kernel."""

    @property
    def has_intercept(self) -> bool:
        """Whether the regression has a constant that is not penalized."""

    def regression(self, y: ArrayLike, count: int, sample_weight: ArrayLike | None = None) -> Any:
        """Return targets, weights and classes of the regression, as `fit` reads them."""

    def regression_scores(
        self, values: np.ndarray, sums: np.ndarray | None, sizes: np.ndarray, penalty: float
    ) -> np.ndarray | None:
        """Return the scores that follow from the values of the regression at some items.

        They are the values themselves unless `mixes_targets`. None where a fit would fail.

        Parameters
        ----------
        values : ndarray of shape (items, targets)
        sums : ndarray of shape (targets, targets) or None
            YᵀA, of the targets and the coefficients of the items that were learned from.
        sizes : ndarray of shape (classes,)
            Sums of the weights of the items of each class that were learned from.
        penalty : float
        """


def able(machine: object, ability: Ability) -> bool:
    """Tell whether a machine declares an ability that still holds for its class.

    Examples
    --------
    >>> from mercer import SVC, KernelRidge
    >>> able(KernelRidge(), "closed-form folds"), able(SVC(), "closed-form folds")
    (True, False)
    """
    for cls in type(machine).__mro__:
        if "abilities" in vars(cls):
            return ability in vars(cls)["abilities"]
        own = not cls.__module__.startswith(("mercer.", "sklearn."))
        if own and any(name in vars(cls) for name in METHODS):
            return False
    return False


def saved_names(cls: type) -> frozenset[str]:
    """Return the private attributes that a model file keeps of a class.

    Examples
    --------
    >>> from mercer import KernelNeighbors
    >>> sorted(saved_names(KernelNeighbors))
    ['_codes', '_heights']
    """
    return _declared(cls, "saved")


def cached_names(cls: type) -> frozenset[str]:
    """Return the private attributes of a class that are computed anew when they are needed."""
    return _declared(cls, "cached")


def _declared(cls: type, which: str) -> frozenset[str]:
    return frozenset(name for base in cls.__mro__ for name in vars(base).get(which, ()))
