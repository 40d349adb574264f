"""Machines: scikit-learn estimators that hold a kernel."""

from __future__ import annotations

import mmap
import numbers
import types
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer.domains import (
    GRAM_ROWS,
    Categories,
    GramRows,
    Items,
    Points,
    Table,
    Vectors,
    is_frame,
)
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.kernels import Kernel, named
from mercer.kernels.names import NAMES
from mercer.machines.abilities import Abilities, Ability, cached_names
from mercer.machines.chunks import ANSWERS, as_container, as_planned, by_chunks
from mercer.memory import affordable
from mercer.solvers.curvature import Curvature, examine

__all__ = ["Machine"]


MAX_COPIED_SHARE = 0.1  # of the free memory, which a copy of the training items may take


def number(value: object, name: str) -> float:
    """Return a parameter that must be a finite number, not negative."""
    found = float(value) if isinstance(value, numbers.Real) else np.nan
    if not np.isfinite(found) or found < 0:
        raise ValidityError(f"{name} must be a finite number, not negative; found {value!r}")
    return found


class Machine(Abilities, BaseEstimator):
    """An estimator with a kernel: parameters, tags, and the way through the first two rooms.

    Whatever a subclass says about new items, it says about a `Stream` of them too.

    Examples
    --------
    >>> from mercer import KernelRidge, SVC
    >>> isinstance(SVC(), Machine), KernelRidge("gaussian", 0.1).get_params()["penalty"]
    (True, 0.1)
    """

    kernel: Any
    abilities: ClassVar[tuple[Ability, ...]] = ("shared Gram matrix",)
    policies: ClassVar[tuple[str, ...]] = ("error", "clip", "flip", "shift")
    _cached_names: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        for name in ANSWERS:
            if isinstance(vars(cls).get(name), types.FunctionType):
                setattr(cls, name, as_planned(by_chunks(vars(cls)[name])))
        for name in ("fit", "plan", "fit_transform", "inverse_transform"):
            if isinstance(vars(cls).get(name), types.FunctionType):
                setattr(cls, name, as_planned(vars(cls)[name]))
        super().__init_subclass__(**options)
        cls._cached_names = cached_names(cls)

    @property
    def similarities_suffice(self) -> bool:
        """Whether the kernel's values are all that a fit needs to know of the items.

        Approximations compare items with centers of their own, or with none.
        """
        asked = getattr(getattr(self, "follow", None), "approximate", "never")
        return asked in ("auto", "never")

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__...`` replaces the kernel by a changed copy.

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> from mercer.kernels import Gaussian
        >>> KernelRidge(kernel=Gaussian(1.0)).set_params(kernel__bandwidth=3.0).kernel
        Gaussian(bandwidth=3.0)
        """
        known = self.get_params(deep=False)
        for name in params:
            if name not in known and not name.startswith("kernel__"):
                raise ValidityError(
                    f"{type(self).__name__} has no parameter {name!r}"
                    f"{suggestion(name, self.get_params())}"
                )
        nested = {key: params.pop(key) for key in list(params) if key.startswith("kernel__")}
        if nested:
            changes = {key.removeprefix("kernel__"): value for key, value in nested.items()}
            params["kernel"] = named(params.get("kernel", self.kernel)).set_params(**changes)
        return super().set_params(**params)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn looks them up anew for each clone."""
        if "_parameter_names" not in cls.__dict__:
            cls._parameter_names = super()._get_param_names()
        return list(cls._parameter_names)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the call that makes this machine; what it learned approximately is said so."""
        text = super().__repr__(N_CHAR_MAX)
        found = getattr(getattr(self, "solution_", None), "approximation", None)
        return text if found is None else f"{text}  # {found}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        domain = getattr(NAMES.get(self.kernel, self.kernel), "domain", None)
        precomputed = domain == GRAM_ROWS
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = not getattr(domain, "dense_for", "") and not precomputed
        return tags

    def _admit(self, X: Items) -> Points:
        """Return the training items as points."""
        if is_frame(X) and len({isinstance(name, str) for name in X.columns}) > 1:
            raise DomainError("column names must be all text or all numbers; rename some of them")
        return named(self.kernel).domain.admit(X)

    def _own(self, X: Items, points: Points) -> Points:
        """Return training items that no later change of the caller's array reaches.

        Where a copy would take more than a share of the memory that is free, and for files that
        are mapped into memory, they stay the caller's.
        """
        if not isinstance(points, Vectors) or not isinstance(X, np.ndarray):
            return points
        array = points.array
        if not isinstance(array, np.ndarray) or not np.may_share_memory(array, X):
            return points
        if isinstance(X, np.memmap) or isinstance(X.base, np.memmap | mmap.mmap):
            return points
        if not affordable(array.nbytes / MAX_COPIED_SHARE):
            return points
        return points.with_array(array.copy())

    def _resolve(self, points: Points, weights: np.ndarray | None = None) -> Kernel:
        """Return the kernel with its heuristics resolved on the training items.

        Its encodings of them are made, too, where rows of a width that does not fit are refused.
        """
        kernel = named(self.kernel).resolve(points, weights)
        kernel.encode(points)
        return kernel

    def _admit_new(self, X: Items, kernel: Kernel) -> Points:
        """Return new things as points, refusing rows of another width."""
        points = kernel.domain.admit(X).as_new()
        self._check_width(X, points, reset=False)
        kernel.encode(points)
        return points

    def _remember(self, X: Items, points: Points) -> None:
        """Keep the number and names of columns, once a fit has succeeded.

        What was computed from an earlier fit is dropped.
        """
        for name in self._cached_names:
            self.__dict__.pop(name, None)
        self._check_width(X, points, reset=True)

    def _check_width(self, X: Items, points: Points, reset: bool) -> None:
        """Let scikit-learn keep, or compare, the number and names of columns."""
        if not reset and self._has_width(X, points):
            return
        columns = isinstance(points, Categories) and points.width is not None
        if not columns and not isinstance(points, Vectors | Table | GramRows):
            return
        X = as_container(X) if isinstance(X, Points) else X
        rows = X if hasattr(X, "shape") else np.asarray(X)
        try:
            validate_data(self, rows, reset=reset, skip_check_array=True)
        except ValueError as error:
            raise DomainError(str(error)) from error

    def _has_width(self, X: Items, points: Points) -> bool:
        """Tell quickly that rows have the number, or the names, of columns that were learned from.

        Scikit-learn takes longer to find out than one row takes to answer. Where this does not
        know, it has the word.
        """
        known, count = vars(self), points.width
        if count is None or count != known.get("n_features_in_"):
            return False
        names = known.get("feature_names_in_")
        if names is None:
            return type(X) in (np.ndarray, list)
        return is_frame(X) and list(X.columns) == names.tolist()

    def _require_valid(self, kernel: Kernel, indefinite: str) -> bool:
        """Check validity before work starts; return whether the spectrum will be repaired."""
        if indefinite not in self.policies:
            raise ValidityError(
                f"indefinite cannot be {indefinite!r}{suggestion(indefinite, self.policies)}"
            )
        proof = kernel.proof()
        if proof.verdict == "refuted" and indefinite == "error":
            advice = "use a valid kernel"
            if hasattr(self, "indefinite"):
                advice = 'use indefinite="clip", "flip" or "shift" to repair its spectrum'
            needs = f"{type(self).__name__} needs a positive semi-definite kernel, but"
            raise ValidityError(f"{needs}\n{proof}\n{advice}")
        return proof.verdict != "proved" and indefinite not in ("error", "as is")

    def _curvature(
        self, kernel: Kernel, gram: Any, groups: Sequence[slice] = ()
    ) -> Curvature | None:
        """Return what is seen of the eigenvalues where no proof says it.

        `gram` is whatever has blocks of the Gram matrix; features are their own proof.
        """
        if kernel.proof().verdict == "proved" or not hasattr(gram, "block"):
            return None
        return examine(gram, groups=groups)

    def _require_curvature(self, kernel: Kernel, gram: Any, groups: Sequence[slice] = ()) -> str:
        """Refuse a kernel that is seen not to be valid; return what is not known."""
        seen = self._curvature(kernel, gram, groups)
        if seen is not None and seen.negative:
            raise ValidityError(seen.refusal(repr(kernel)))
        return seen.doubt if seen is not None else ""
