"""Standardizing: numbers in spreads from their mean, gaps filled and told.

Most kernels compare columns as they come, so that one in millimeters counts a million times more
than the same in meters. z = (x − mean)/spread takes the units away, with the mean and the standard
deviation of the training items. Inside a pipeline they are those of the training fold alone.
"""

from __future__ import annotations

import contextlib
import numbers
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, validate_data

from mercer.domains import Items, Table, is_frame, to_numpy
from mercer.domains.vectors import read
from mercer.errors import DomainError, suggestion
from mercer.machines.chunks import require_fitted
from mercer.machines.moments import count_gaps, moments, portions
from mercer.machines.planned import plan_of_columns
from mercer.plans import Decision

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Standardize"]


class Standardize(TransformerMixin, BaseEstimator):
    """Move each column of numbers to mean 0 and scale it to standard deviation 1.

    Columns of a DataFrame that hold something else (strings, categories, graphs) stay as they
    are. A gap (NaN, NA) becomes the mean, which is 0 afterwards. For each column with gaps among
    the training items a column is added at the end, 1 where there is a gap and 0 elsewhere: that
    a number is missing may say something. It is not standardized, because a rare gap would then
    be many spreads away from everything; so it is one spread, however rare it is.

    Sparse rows are only divided, by the root of the mean square of each column, so that zeros
    stay zeros. A column without spread is only moved, and one that is missing everywhere is an
    error. Arrays of other libraries become NumPy's.

    Parameters
    ----------
    gaps : list, optional
        Names (or numbers) of the columns whose gaps are told, by default those that have some. A
        kernel that asks for such a column by name needs it in every fold, also where the training
        items happen to have no gap.
    common : bool
        Whether all columns are divided by the same number, the root of their mean variance, as
        suits columns of one unit, such as pixels: those that vary little then count little.

    Attributes
    ----------
    means_, spreads_ : ndarray of shape (n_features_in_,)
        Of the entries that are there. NaN for columns that are not numbers; a spread is 1 where
        there is none. Of sparse rows, the spread is the root of the mean square.
    gaps_ : list
        Names (or numbers) of the columns whose gaps are told, in their order.
    columns_ : list or None
        Names of the columns of a DataFrame. Those to be transformed are found by name, in any
        order, and others are left out.
    centered_ : bool
        Whether means are subtracted: not from sparse rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"height": [1.0, 3.0, None], "name": ["ant", "bee", "cat"]})
    >>> Standardize().fit_transform(table)
       height name  height is missing
    0    -1.0  ant                0.0
    1     1.0  bee                0.0
    2     0.0  cat                1.0
    """

    means_: np.ndarray
    spreads_: np.ndarray
    gaps_: list[Any]
    columns_: list[Any] | None
    centered_: bool

    def __init__(self, gaps: list[Any] | None = None, common: bool = False) -> None:
        self.gaps = gaps
        self.common = common

    def plan(self, X: Any) -> Decision:
        """Return what `fit` and `transform` would need of memory for these rows.

        Examples
        --------
        >>> Standardize().plan(np.zeros((1000, 10))).bytes > 8 * 1000 * 10
        True
        """
        rows, columns = X.shape if hasattr(X, "shape") else np.shape(X)
        why = "the numbers, a copy, and columns that tell gaps"
        return plan_of_columns("standardize", rows, 4 * columns, why, frame=is_frame(X))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means and spreads from the rows of `X`."""
        columns = None
        if is_frame(X):
            _check_names(X)
            columns = list(X.columns)
            numeric = [j for j, dtype in enumerate(X.dtypes) if _is_numeric(dtype)]
            rows, names = _matrix(X, numeric), [columns[j] for j in numeric]
        else:
            rows = X = _rows(X)
            names = numeric = list(range(X.shape[1]))
        _check_finite(rows, names)
        counts = rows.shape[0] - count_gaps(rows)
        if not counts.all():
            name = names[int(counts.argmin())]
            raise DomainError(f"column {name!r} of X is missing in all rows; leave it out")
        gaps = self._told_gaps(names, counts < rows.shape[0])
        means, spreads = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
        means[numeric], spreads[numeric] = moments(rows, counts)
        if self.common:
            spreads[numeric] = _common(spreads[numeric])

        validate_data(self, X, reset=True, skip_check_array=True)
        self.means_, self.spreads_, self.columns_ = means, spreads, columns
        self.gaps_ = gaps
        self.centered_ = not sparse.issparse(rows)
        return self

    def transform(self, X: Items) -> Any:
        """Return the rows of `X` standardized: a DataFrame, sparse rows or an array, as `X` is."""
        require_fitted(self)
        if is_frame(X) and self.columns_ is not None:
            return self._transform_frame(X)
        if np.isnan(self.means_).any():
            raise DomainError(
                "Standardize has learned from a table with columns that are not numbers, but X is "
                "an array; pass a DataFrame"
            )
        rows = _rows(X)
        try:
            validate_data(self, X if is_frame(X) else rows, reset=False, skip_check_array=True)
        except ValueError as error:
            raise DomainError(str(error)) from error
        _check_finite(rows, list(range(rows.shape[1])))
        gaps = self._places()
        if sparse.issparse(rows):
            return self._divided(rows, gaps)
        told = np.isnan(rows[:, gaps]).astype(rows.dtype)
        found = self._standardized(rows)
        return np.concatenate([found, told], axis=1) if gaps else found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns.

        Examples
        --------
        >>> Standardize().fit([[1.0], [None]]).get_feature_names_out()
        array(['x0', 'x0 is missing'], dtype=object)
        """
        require_fitted(self)
        if self.columns_ is not None and input_features is None:
            names = self.columns_
        else:
            names = list(_check_feature_names_in(self, input_features))
        return np.array([*names, *_told(names, self._places())], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _told_gaps(self, names: list[Any], found: np.ndarray) -> list[Any]:
        """Return the columns whose gaps are told."""
        if self.gaps is None:
            return [names[j] for j in np.flatnonzero(found)]
        for name in self.gaps:
            if name not in names:
                raise DomainError(
                    f"gaps names {name!r}, which is no column of numbers"
                    f"{suggestion(name, map(str, names))}"
                )
        return [name for name in names if name in self.gaps]

    def _places(self) -> list[int]:
        """Return where the columns stand whose gaps are told."""
        if self.columns_ is None:
            return list(self.gaps_)
        return [self.columns_.index(name) for name in self.gaps_]

    def _transform_frame(self, X: Any) -> Any:
        import pandas as pd

        Table(X)  # refuses what is empty, and names that occur twice
        assert self.columns_ is not None
        present = {name: j for j, name in enumerate(X.columns)}
        for name in self.columns_:
            if name not in present:
                raise DomainError(
                    f"X has no column {name!r}, which Standardize has learned from"
                    f"{suggestion(name, map(str, present))}"
                )
        X = X.iloc[:, [present[name] for name in self.columns_]]
        numeric = np.flatnonzero(~np.isnan(self.means_)).tolist()
        rows = _matrix(X, numeric)
        _check_finite(rows, [self.columns_[j] for j in numeric])
        names = [self.columns_[j] for j in numeric]
        found = pd.DataFrame(self._standardized(rows), index=X.index, columns=names)
        dtypes = list(X.dtypes)
        narrow = [self.columns_[j] for j in numeric if dtypes[j] == np.float32]
        # Columns of one type stay together, which is much faster than thousands of single ones.
        found = found.astype(dict.fromkeys(narrow, np.float32)) if narrow else found
        others = np.flatnonzero(np.isnan(self.means_)).tolist()
        out = pd.concat([found, X.iloc[:, others]], axis=1)
        out = out.iloc[:, np.argsort([*numeric, *others])] if others else out
        gaps = self._places()
        if not gaps:
            return out
        told = np.isnan(rows[:, np.searchsorted(numeric, gaps)]).astype(np.float64)
        told = pd.DataFrame(told, index=X.index, columns=_told(self.columns_, gaps))
        return pd.concat([out, told], axis=1)

    def _standardized(self, rows: np.ndarray) -> np.ndarray:
        """Return the columns of numbers standardized, with the mean in the gaps."""
        numeric = ~np.isnan(self.means_)
        means, spreads = self.means_[numeric], self.spreads_[numeric]
        origin = means if self.centered_ else np.zeros(len(means))
        found = np.empty(rows.shape, dtype=rows.dtype)
        with np.errstate(over="ignore"):  # whoever reads the numbers says where one is infinite
            for part in portions(rows.T):
                z = (rows[part] - origin) / spreads
                found[part] = np.where(np.isnan(z), (means - origin) / spreads, z)
        return found

    def _divided(self, rows: Any, gaps: list[int]) -> Any:
        """Return sparse rows divided by the spreads, with the mean in the gaps."""
        if self.centered_:
            raise DomainError(
                "Standardize has learned from dense rows, whose means it subtracts, but X is "
                "sparse and would not stay so; pass X.toarray()"
            )
        empty, columns = np.isnan(rows.data), rows.indices
        data = np.where(empty, self.means_[columns], rows.data) / self.spreads_[columns]
        shape, data = rows.shape, data.astype(rows.dtype)
        found = sparse.csr_array((data, columns.copy(), rows.indptr.copy()), shape=shape)
        if not gaps:
            return found
        told = sparse.csr_array((empty.astype(rows.dtype), columns, rows.indptr), shape=shape)
        told = told[:, gaps]
        told.eliminate_zeros()
        return sparse.hstack([found, told], format="csr")


def _told(names: list[Any], gaps: list[int]) -> list[Any]:
    """Return names of columns that tell of gaps, different from all others.

    Examples
    --------
    >>> _told(["a", "b", "a is missing"], [0, 1]), _told([0, 1], [1])
    (["a is missing'", 'b is missing'], [2])
    """
    if names and all(isinstance(name, numbers.Integral) for name in names):
        return [max(names) + 1 + i for i in range(len(gaps))]
    taken, made = set(names), []
    for j in gaps:
        name = f"{names[j]} is missing"
        while name in taken:
            name += "'"
        taken.add(name)
        made.append(name)
    return made


def _check_names(X: Any) -> None:
    Table(X)  # refuses what is empty, and names that occur twice
    if X.shape[1] == 0:
        raise DomainError(
            f"Found X with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    if len({isinstance(name, str) for name in X.columns}) > 1:
        raise DomainError("column names must be all text or all numbers; rename some of them")


def _rows(X: Items) -> Any:
    """Return rows of numbers, which may have gaps: a NumPy array or canonical sparse rows."""
    if isinstance(X, list | tuple):
        with contextlib.suppress(ValueError):  # of rows of different lengths, refused below
            X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2 and X.size:
        table = Table(X)
        absent = table.absent()
        if absent is not None:
            X = table.filled(absent, [float("nan")] * X.shape[1]).frame
    rows = read(X, "X").array
    if not sparse.issparse(rows):
        return to_numpy(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _is_numeric(dtype: DTypeLike) -> bool:
    return getattr(dtype, "kind", "O") in "fiub"


def _matrix(X: Any, places: list[int]) -> np.ndarray:
    """Return some columns of a DataFrame as one array, NaN in their gaps."""
    dtypes = X.dtypes.iloc[places]
    if all(isinstance(dtype, np.dtype) and dtype.kind == "f" for dtype in dtypes):
        return np.array(X.iloc[:, places].to_numpy(), dtype=np.float64, order="F")
    rows = np.empty((len(X), len(places)), order="F")
    for i, j in enumerate(places):
        column = X.iloc[:, j]
        if not _is_numeric(column.dtype) and not _all_numbers(column):
            raise DomainError(
                f"column {column.name!r} of X holds {column.dtype} values, but it was numbers "
                "that Standardize has learned from"
            )
        rows[:, i] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return rows


def _all_numbers(column: pd.Series) -> bool:
    if getattr(column.dtype, "kind", "") != "O":
        return False
    return all(isinstance(value, numbers.Real) for value in column.dropna())


def _check_finite(rows: Any, names: list[Any]) -> None:
    """Refuse infinite numbers."""
    bad = np.isinf(rows.data if sparse.issparse(rows) else rows)
    if not bad.any():
        return
    if sparse.issparse(rows):
        bad = sparse.csr_array((bad, rows.indices, rows.indptr), shape=rows.shape)
    where = np.column_stack(bad.nonzero())
    row, column = where[np.lexsort(where.T[::-1])[0]]
    raise DomainError(
        f"Input X contains infinity at row {row}, column {names[column]!r}; remove the row, or "
        "make it a gap (NaN)"
    )


def _common(spreads: np.ndarray) -> np.ndarray:
    """Return the root mean square of some spreads in the place of each."""
    largest = float(spreads.max(initial=0.0)) or 1.0  # so that squares stay finite
    return np.full_like(spreads, largest * np.sqrt(np.mean((spreads / largest) ** 2)))
