"""Reasons by column: the exact Shapley values of the columns of a table.

A score is divided among the columns of a row, so that columns that say the same get the same, one
that says nothing gets nothing, and all shares add up. They are what sampling methods (Kernel SHAP:
Lundberg & Lee, 2017) estimate; for kernels that are products over columns, or sums of these, they
follow from one pass over the known items (Mohammadi, Chau & Muandet, 2025, arXiv 2505.16516).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, Points
from mercer.engine.tiles import fill
from mercer.errors import DomainError, ValidityError
from mercer.explanations.column_game import Absent, ColumnGame, Shares, as_table, width_of
from mercer.explanations.columns import TracedModel, names_of, trace
from mercer.explanations.terms import scale_inside, terms_of
from mercer.kernels import Kernel, named
from mercer.kernels.base import same_width
from mercer.memory import afford
from mercer.rkhs import Function

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ColumnReasons", "shapley", "shapley_hsic", "shapley_mmd"]

MAX_REFERENCE = 500  # known rows, evenly spaced, over which absent columns are averaged
MAX_JOINT = 100  # the same where each of them is a pass of its own
# Shares are refused where their sum is so far from the score, in units of the largest share: the
# expansion of the function has lost its digits to a tiny penalty.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class ColumnReasons:
    """The shares of columns in some scores. Made by `shapley`.

    Attributes
    ----------
    columns : tuple
        Names, or numbers, of the columns.
    values : ndarray of shape (rows, columns)
        The share of each column; a positive one speaks for `toward`.
    base : ndarray of shape (rows,)
        The score where nothing is known of a row. Shares and base add up to the score.
    scores : ndarray of shape (rows,)
    toward : list
        For each row the label that a positive score speaks for; None for a number.
    orders : int
        Of the columns, from which shares were estimated; 0 where they are exact.
    scale : str
        On which the score is: "log" where a logarithm was learned, "none" where it is in the unit
        of the target.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> why = shapley(KernelRidge("gaussian", penalty=0.01).fit(X, X[:, 1]), X[:3])
    >>> why.columns, why.values.shape, int(why.importance.argmax())
    ((0, 1), (3, 2), 1)
    """

    columns: tuple[Any, ...]
    values: np.ndarray
    base: np.ndarray
    scores: np.ndarray
    toward: list[Any]
    orders: int = 0
    scale: str = "none"

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def importance(self) -> np.ndarray:
        """The mean size of each column's share."""
        return np.abs(self.values).mean(axis=0)

    def table(self, row: int) -> pd.DataFrame:
        """Return the shares of one row, the largest first."""
        import pandas as pd

        order = np.argsort(-np.abs(self.values[row]), kind="stable")
        names = [self.columns[j] for j in order]
        return pd.DataFrame({"column": names, "share": self.values[row, order]})

    def __repr__(self) -> str:
        return f"ColumnReasons({len(self)} rows, {len(self.columns)} columns)"


def shapley(
    machine: BaseEstimator,
    X: Items,
    *,
    label: object = None,
    output: int = 0,
    reference: Items | None = None,
    absent: Absent = "independent",
) -> ColumnReasons:
    """Return what each column of the rows of `X` contributes to their scores, exactly.

    Parameters
    ----------
    machine : fitted machine
        With a `function_` whose kernel is a sum of products over columns. Or a pipeline that ends
        with one, a search that has fitted one, or a `Calibrated` one, whose scores are divided.
        Columns are those of the table that the whole pipeline takes.
    X : items
        As for ``machine.predict``.
    label : optional
        The class whose score is divided, by default the one that is predicted.
    output : int
        Which of several numbers, for regression.
    reference : items, optional
        Rows over which columns that are absent are averaged; by default the rows that the
        function is made of, or 500 of them.
    absent : {"independent", "joint", "alike"}
        What is in the place of a column of which nothing is known yet. "independent": its own
        average over the reference, whatever the other columns are. "joint": all absent columns
        come from one row of the reference (by default 100 rows), over which the score is
        averaged; this is what Kernel SHAP samples. "alike": an absent column is fully alike to
        all known ones, its factor being 1.

    Returns
    -------
    ColumnReasons
        The share of each column in each score, with the score where nothing is known.

    Notes
    -----
    n rows, D columns and N known items take O(n·N·D²) operations, and with "joint" that for each
    row of the reference.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> machine = KernelRidge("gaussian", penalty=0.01).fit(X, 2.0 * X[:, 0] + 0.1 * X[:, 1])
    >>> why = shapley(machine, X[:2])
    >>> bool(np.allclose(why.base + why.values.sum(axis=1), machine.predict(X[:2])))
    True
    >>> int(why.importance.argmax())
    0
    """
    traced = trace(machine, X)
    inside, encoded = traced.machine, traced.X
    check_is_fitted(inside)
    function = getattr(inside, "function_", None)
    if (
        not isinstance(function, Function)
        or not hasattr(function, "points")
        or not getattr(inside, "has_terms", True)
    ):
        raise DomainError(
            f"{type(inside).__name__} does not decide by a sum over known items, so that no "
            "Shapley values follow from it"
        )
    points = as_table(inside._admit_new(encoded, function.kernel))
    afford(24 * len(points) * len(function), "Shapley values", "explain fewer rows at a time")
    terms = terms_of(inside, points, encoded, label, output)
    given = _reference(machine, traced, function, reference, absent)
    known = as_table(function.points)
    game = ColumnGame(function.kernel, known, _groups(traced, points), given, absent)
    shares = game.divide(points, terms.weights)
    base = shares.base + terms.offsets
    scores = base + shares.groups.sum(axis=1)
    if terms.of_features is not None:  # the function is its weights, not the expansion
        features = function.features(points)  # type: ignore[attr-defined]
        exact = np.asarray((features * terms.of_features).sum(axis=1)).ravel()
        _require_digits(scores - terms.offsets, exact, shares)
    scale = scale_inside(machine)
    return ColumnReasons(traced.columns, shares.groups, base, scores, terms.toward, 0, scale)


def _groups(traced: TracedModel, points: Points) -> list[int]:
    width = width_of(points)
    if width is None:
        return []
    return list(traced.groups) if len(traced.groups) == width else list(range(width))


def _reference(
    machine: BaseEstimator,
    traced: TracedModel,
    function: Function,
    reference: Items | None,
    absent: Absent,
) -> Points | None:
    """Return the rows from which absent columns are taken, as the kernel sees them."""
    if absent == "alike":
        return None
    if reference is not None:
        rows = trace(machine, reference).X
        return as_table(traced.machine._admit_new(rows, function.kernel))
    most = MAX_JOINT if absent == "joint" else MAX_REFERENCE
    count = len(function.points)
    some = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    return as_table(function.points[some])


def _require_digits(found: np.ndarray, exact: np.ndarray, shares: Shares) -> None:
    """Refuse shares that do not add up, because the expansion has lost its digits."""
    size = max(float(np.abs(shares.groups).max(initial=0.0)), float(np.abs(exact).max(initial=0)))
    worst = float(np.abs(found - exact).max(initial=0.0))
    if worst > TOLERANCE * (size or 1.0):
        raise ValidityError(
            f"the shares of columns miss a score by {worst:.3g}: the function's weights are known "
            "to more digits than its expansion in the known items, which is a difference divided "
            "by a small penalty; use a larger penalty, or columns on a common scale"
        )


def shapley_mmd(kernel: Kernel, X: Items, Y: Items) -> ColumnReasons:
    """Return which columns make two sets differ: the shares of columns in their squared `mmd`.

    What counts for a set of columns is the squared discrepancy of the kernel that looks at these
    columns only, the others being taken as alike. One row of shares, which add up.

    Parameters
    ----------
    kernel : Kernel
        A product over columns, such as `Gaussian`.
    X, Y : rows of two tables with the same columns

    Returns
    -------
    ColumnReasons

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    >>> why = shapley_mmd(Gaussian("median"), X, Y + [0.0, 1.0, 0.0])
    >>> int(why.values.argmax())
    1
    """
    kernel = named(kernel)
    left, right = kernel.domain.admit(X), kernel.domain.admit(Y, "Y")
    same_width(left, right)
    both = left.concat(right)
    kernel = kernel.resolve(both)
    signs = np.repeat([1.0 / len(left), -1.0 / len(right)], [len(left), len(right)])
    return _statistic(kernel, kernel.admit(both), signs[:, None] * signs, X)


def shapley_hsic(kernel_x: Kernel, kernel_y: Kernel, X: Items, Y: Items) -> ColumnReasons:
    """Return which columns of X depend on Y: the shares of columns in their `hsic`.

    What counts for a set of columns is the criterion of the kernel that looks at these columns of
    X only, the others being taken as alike. One row of shares, which add up.

    Parameters
    ----------
    kernel_x : Kernel
        A product over columns, such as `Gaussian`.
    kernel_y : Kernel
    X, Y : rows of a table, and as many other things

    Returns
    -------
    ColumnReasons

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(80, 3))
    >>> why = shapley_hsic(Gaussian(1.0), Gaussian(1.0), X, X[:, [2]] ** 2)
    >>> int(why.values.argmax())
    2
    """
    kernels = [named(kernel_x).resolve(X), named(kernel_y).resolve(Y)]
    points, others = kernels[0].admit(X), kernels[1].admit(Y, "Y")
    n = len(points)
    if n != len(others):
        raise DomainError(f"X has {n} items and Y has {len(others)}; they must be paired")
    afford(24 * n**2, f"the dependence of {n} items", "use a sample of them")
    L = np.asarray(fill(kernels[1], others, dtype=np.float64))
    L -= L.mean(axis=0)
    L -= L.mean(axis=1)[:, None]
    return _statistic(kernels[0], points, L / n**2, X)


def _statistic(kernel: Kernel, points: Points, weights: np.ndarray, X: Items) -> ColumnReasons:
    """Return Σᵢⱼ wᵢⱼ k(xᵢ, xⱼ) divided among the columns."""
    afford(24 * len(points) ** 2, f"the shares of {len(points)} items", "use a sample of them")
    table = as_table(points)
    width = width_of(table)
    game = ColumnGame(kernel, table, list(range(width or 0)), None, "alike")
    shares = game.divide(table, weights)
    values, base = shares.groups.sum(axis=0)[None], shares.base.sum(keepdims=True)
    return ColumnReasons(names_of(X, width), values, base, base + values.sum(axis=1), [None])
