"""Encoding: columns as they come, as rows of numbers that a distance can compare.

Numbers, categories, booleans and dates, with gaps, become columns of about the same weight: the
difference of two rows is √2 in the root mean square for a number, for a category with many levels
and for a cycle of a date. A learned metric finds out from there which columns matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, validate_data

from mercer.domains import Items, is_frame
from mercer.errors import DomainError, suggestion
from mercer.machines.chunks import require_fitted
from mercer.machines.encoding.columns import EncodedColumn, learn_quantity, zeros
from mercer.machines.encoding.kinds import kinds_of
from mercer.machines.encoding.levels import count_levels, one_hot, target_statistics
from mercer.machines.encoding.parameters import check_parameters, scales_of
from mercer.machines.encoding.tables import column_of, read_table
from mercer.machines.encoding.target import TargetColumns
from mercer.machines.planned import plan_of_columns
from mercer.plans import Decision

__all__ = ["Encode"]


class Encode(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into columns of numbers, for kernels that measure distances.

    - **Numbers** (and texts that are all numbers) are scaled as `numbers` says. A gap is 0
      afterwards, and for each column with gaps in training a column tells them, 0 or 1.
    - **Categories** with few levels get a column of 0 and 1 for each level; two different levels
      are √2 apart, as two rows of a standardized column are in the root mean square. Levels with
      fewer than `min_rows` rows share one column, and so do levels that come up later; where no
      level was rare, those are 0 everywhere. A gap is a level.
    - Categories with many levels become what the target is like in each: its mean, or the share
      of each class, shrunken to that of all rows, and the logarithm of the number of rows.
      `fit_transform` takes them from the other folds, so that no row sees its own target;
      `transform` from all training rows. Without a target, frequent levels get a column each.
    - **Ordered categories** (pandas' ordered dtype) are ranks, scaled as numbers.
    - **Booleans** are ∓√½, so √2 apart.
    - **Dates** are days, calendar years, and places in the year, the week and the day as pairs
      of sine and cosine, as far as the range of the dates allows.

    Parameters
    ----------
    numbers : {"standard", "robust", "quantile"}, or a tuple of several
        (x − mean)/spread; or with median and quartiles, heavy tails bent to ±4 by z/√(1 + (z/4)²);
        or normal scores of the ranks, interpolated between at most 1000 quantiles. With several,
        a column is there on each scale, unless one says the same as an earlier one (a correlation
        of 0.9999 in training); they share its weight, so that each is divided by the root of
        their number. Dates have the first scale only.
    levels : {"auto", "onehot", "target"}
        What becomes of categories: by their number of levels, or one for all. With "auto", texts
        that are all numbers, or all dates such as 2024-03-01, are numbers and dates.
    max_onehot : int
        The most levels that get a column each with "auto"; rare ones do not count.
    min_rows : int
        Levels with fewer rows are rare.
    smoothing : "auto" or float
        How many rows of the mean are added to each level, by default as many as the variances
        within and between levels suggest.
    folds : int
        Of the statistics of the target.
    target_kind : {"classify", "regress"}, optional
        By default classes if `y` holds texts, booleans or at most 20 different whole numbers
        (three rows of each on average) of an integer type.
    kinds : dict, optional
        What some columns are, by name or number: "numeric", "categorical", "boolean", "date",
        "ordered" or "ignored". Dates may be days since 1970.
    random_state : int, RandomState or None
        Deals the folds.

    Attributes
    ----------
    blocks_ : ndarray of int
        For each new column, the column of `X` that it comes from, so that
        ``np.bincount(encode.blocks_, attention, encode.n_features_in_)`` adds up attention.
    kinds_ : dict
        What each column of `X` was taken for, by name or number.
    dropped_ : dict
        Columns of `X` that are not used, and why. Their entries in new rows are ignored.
    columns_ : list or None
        Names of the columns of a DataFrame. They are found by name, in any order.
    encoded_ : list
        What was learned about each column that is used.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"height": [1.0, 3.0, None], "kind": ["ant", "bee", "ant"]})
    >>> encode = Encode(min_rows=1)
    >>> encode.fit_transform(table)
    array([[-1.,  0.,  1.,  0.],
           [ 1.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.]])
    >>> encode.get_feature_names_out().tolist(), encode.blocks_
    (['height', 'height is missing', 'kind=ant', 'kind=bee'], array([0, 0, 1, 1]))
    """

    blocks_: np.ndarray
    kinds_: dict[Any, str]
    dropped_: dict[Any, str]
    columns_: list[Any] | None
    encoded_: list[EncodedColumn]

    def __init__(
        self,
        numbers: str | Sequence[str] = "standard",
        levels: str = "auto",
        *,
        max_onehot: int = 20,
        min_rows: int = 3,
        smoothing: Any = "auto",
        folds: int = 5,
        target_kind: str | None = None,
        kinds: Mapping[Any, str] | None = None,
        random_state: Any = 0,
    ) -> None:
        self.numbers = numbers
        self.levels = levels
        self.max_onehot = max_onehot
        self.min_rows = min_rows
        self.smoothing = smoothing
        self.folds = folds
        self.target_kind = target_kind
        self.kinds = kinds
        self.random_state = random_state

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would need of memory for these rows, without doing it.

        Examples
        --------
        >>> Encode().plan(np.zeros((1000, 10))).bytes > 8 * 1000 * 10
        True
        """
        check_parameters(self)
        table = read_table(X)
        names = list(table.columns) if is_frame(table) else list(range(table.shape[1]))
        kinds = kinds_of(table, names, self.kinds, self.levels == "auto")
        widths = [self._most_parts(table, j, kinds[name]) for j, name in enumerate(names)]
        why = f"at most {sum(widths)} columns of numbers, twice, of {len(names)} columns"
        return plan_of_columns("encode", table.shape[0], 2 * sum(widths) + len(names), why)

    def _most_parts(self, table: Any, place: int, kind: str) -> int:
        """Return how many columns of numbers one column becomes at most."""
        if kind != "categorical":
            return 2  # with a column that tells gaps
        levels = len(count_levels(column_of(table, place), int(self.min_rows))[2])
        return min(levels, int(self.max_onehot)) + 1 if self.levels != "onehot" else levels + 1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what becomes of each column of `X`, with the target `y` if categories need it."""
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, groups: Any = None) -> np.ndarray:
        """Learn from `X` and return it encoded, with statistics of the target out of fold.

        Rows of one of the `groups` are in one fold, so that none sees the target of another.
        """
        return np.concatenate(self._learn(X, y, groups), axis=1)

    def transform(self, X: Items) -> np.ndarray:
        """Return rows of numbers, an array of shape (rows, len(blocks_))."""
        require_fitted(self)
        table, places = self._admit_new(X)
        found = np.empty((table.shape[0], len(self.blocks_)))
        start = 0
        for encoded in self.encoded_:
            stop = start + len(encoded.parts)
            found[:, start:stop] = encoded(column_of(table, places[encoded.place]))
            start = stop
        return found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns."""
        require_fitted(self)
        if self.columns_ is not None and input_features is None:
            names = self.columns_
        else:
            names = list(_check_feature_names_in(self, input_features))
        made: list[str] = []
        taken: set[str] = set()
        for encoded in self.encoded_:
            for part in encoded.parts:
                name = f"{names[encoded.place]}{part}"
                while name in taken:
                    name += "'"
                taken.add(name)
                made.append(name)
        return np.array(made, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    # ---- learning ------------------------------------------------------------------------------

    def _learn(self, X: Items, y: ArrayLike, groups: Any = None) -> list[np.ndarray]:
        """Learn from all columns, and return what becomes of them in training."""
        check_parameters(self)
        table = read_table(X)
        names = list(table.columns) if is_frame(table) else list(range(table.shape[1]))
        kinds = kinds_of(table, names, self.kinds, self.levels == "auto")
        dropped = {name: "ignored, as you said" for name in names if kinds[name] == "ignored"}
        dropped |= {name: "missing in all rows" for name in names if kinds[name] == "missing"}
        used = [j for j, name in enumerate(names) if name not in dropped]
        if not used:
            raise DomainError("no column of X has an entry to learn from")
        target = TargetColumns(self, y, table.shape[0], groups)
        learned = [self._learn_column(table, j, kinds[names[j]], target) for j in used]
        found = [pair for pair in learned if pair is not None]
        for j, pair in zip(used, learned, strict=True):
            if pair is None:
                dropped[names[j]] = "tells no rows apart"
        if not found:  # zeros, so that a machine behind can still say the mean
            found = [zeros(j, kinds[names[j]], table.shape[0]) for j in used[:1]]

        validate_data(self, X if is_frame(X) else table, reset=True, skip_check_array=True)
        self.columns_ = names if is_frame(X) else None
        self.kinds_, self.dropped_ = kinds, dropped
        self.encoded_ = [encoded for encoded, _ in found]
        widths = [len(encoded.parts) for encoded in self.encoded_]
        self.blocks_ = np.repeat([encoded.place for encoded in self.encoded_], widths)
        return [rows for _, rows in found]

    def _learn_column(
        self, table: Any, place: int, kind: str, target: TargetColumns
    ) -> tuple[EncodedColumn, np.ndarray] | None:
        """Return what was learned about a column and its training rows, None if it tells none."""
        column = column_of(table, place)
        if kind != "categorical":
            encoded, values = learn_quantity(column, place, kind, scales_of(self.numbers))
            return None if encoded is None else (encoded, encoded.encode(values))
        codes, counts, levels = count_levels(column, int(self.min_rows))
        if self.levels == "target" or (
            self.levels == "auto" and len(levels) > self.max_onehot and target.given
        ):
            smoothing = None if self.smoothing == "auto" else float(self.smoothing)
            made, rows = target_statistics(
                codes, levels, *target.admitted(), smoothing, int(self.min_rows)
            )
        else:
            made = one_hot(codes, counts, levels)
            rows = made(column)
        if not made.parts:
            return None
        return EncodedColumn(place, kind, False, False, made, []), rows

    # ---- new rows ------------------------------------------------------------------------------

    def _admit_new(self, X: Items) -> tuple[Any, Sequence[int]]:
        """Return new rows, and where the columns of training stand in them."""
        table = read_table(X)
        if self.columns_ is None or not is_frame(X):
            try:
                validate_data(
                    self, X if is_frame(X) else table, reset=False, skip_check_array=True
                )
            except ValueError as error:
                raise DomainError(str(error)) from error
            return table, range(table.shape[1])
        present = {name: j for j, name in enumerate(table.columns)}
        unused = set(self.dropped_)
        for name in self.columns_:
            if name not in present and name not in unused:
                raise DomainError(
                    f"X has no column {name!r}, which Encode has learned from"
                    f"{suggestion(str(name), map(str, present))}"
                )
        # The place of a column that is not used may be anybody's.
        return table, [present.get(name, 0) for name in self.columns_]
