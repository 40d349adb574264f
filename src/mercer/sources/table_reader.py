"""A table reader: the first step of a model that takes tables as people have them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from mercer.domains import Items, is_frame
from mercer.errors import DomainError
from mercer.machines.chunks import require_fitted
from mercer.sources.reading import chunks, read, read_frame, recipe
from mercer.sources.sheet import Sheet

__all__ = ["TableReader", "with_reader", "without_reader"]


class TableReader(TransformerMixin, BaseEstimator):
    """Read a table as the one that was learned from: numbers, dates, categories, gaps.

    Before any machine in a pipeline it makes one object that takes the raw table: a DataFrame of
    any library, a list of dicts, or the path of a file. Columns are found by their names; others
    are ignored. Every row must be readable, so that there are as many answers as rows.

    Parameters
    ----------
    types : dict, optional
        What some columns are, as in `mercer.study`; "ignore" leaves one out.
    missing : str or sequence of str, optional
        Entries that stand for nothing, such as ``"-999"``.

    Attributes
    ----------
    recipe_ : dict
        How the table was read, in plain values.
    columns_ : list of str
        The columns that are read, in their order.
    blocks_ : ndarray of int
        For each column of what `transform` returns, its place in `columns_`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import Encode, KernelRidgeClassifier
    >>> table = pd.DataFrame(
    ...     {"born": ["1.2.1990", "15.3.2001", "9.9.1980"] * 9, "x": [1, 2, 0] * 9}
    ... )
    >>> model = make_pipeline(TableReader(), Encode(), KernelRidgeClassifier())
    >>> model.fit(table, ["old", "young", "old"] * 9).predict([{"x": 2, "born": "16.4.2002"}])
    array(['young'], dtype='<U5')
    """

    recipe_: dict[str, Any]
    columns_: list[str]
    blocks_: np.ndarray

    def __init__(
        self, types: Mapping[str, str] | None = None, missing: Sequence[str] | str | None = None
    ) -> None:
        self.types = types
        self.missing = missing

    @classmethod
    def of(cls, sheet: Sheet) -> Self:
        """Return the reader of other tables like the one that a sheet was read from."""
        codes = [f"{name}={code}" if name else code for name, some in sheet.codes.items()
                 for code in some]  # fmt: skip
        made = cls({column.name: column.kind for column in sheet.used}, codes or None)
        made._keep(sheet)
        return made

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what the columns of a table are."""
        how: dict[str, Any] = {"missing": self.missing}
        types = None if self.types is None else dict(self.types)
        if isinstance(X, str | os.PathLike):
            sheet = read(X, None, types, **how)
        else:
            sheet = read_frame(self._framed(X), None, types, **how)
        if not is_frame(sheet.X):
            raise DomainError(f"{sheet.name} has no columns with names; machines take it as it is")
        self._keep(sheet)
        return self

    def transform(self, X: Items) -> Any:
        """Return the columns that are learned from, as a DataFrame of values."""
        import pandas as pd

        require_fitted(self)
        table = X if isinstance(X, str | os.PathLike) else self._framed(X)
        found = [sheet.X for sheet in chunks(table, self.recipe_)]
        if not found:
            return pd.DataFrame({name: [] for name in self.columns_})
        return found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that are read."""
        require_fitted(self)
        return np.array(self.columns_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _keep(self, sheet: Sheet) -> None:
        self.recipe_ = {**recipe(sheet), "target": None}
        self.columns_ = [column.name for column in sheet.used]
        self.blocks_ = np.arange(len(self.columns_))
        self.feature_names_in_ = np.array(self.columns_, dtype=object)
        self.n_features_in_ = len(self.columns_)

    def _framed(self, X: Any) -> Any:
        """Return rows of dicts, or of as many entries as there are columns, as a DataFrame."""
        import pandas as pd

        if is_frame(X) or hasattr(X, "to_pandas") or hasattr(X, "__dataframe__"):
            return X
        if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
            return pd.DataFrame(list(X))
        names = getattr(self, "columns_", None)
        width = np.shape(X)[1] if np.ndim(X) == 2 else None
        if names is None or width != len(names):
            expected = "a table" if names is None else f"a table with the columns {names}"
            raise DomainError(f"X must be {expected}, found {type(X).__name__}")
        return pd.DataFrame(np.asarray(X, dtype=object), columns=names).infer_objects()


def with_reader(machine: Any, sheet: Sheet) -> Any:
    """Return a machine of a sheet as one object that takes raw tables, if these have columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import KernelRidge
    >>> sheet = read_frame(pd.DataFrame({"day": ["1.2.2020", "3.4.2020", "15.4.2020"]}))
    >>> model = with_reader(KernelRidge("linear", 0.1).fit(sheet.X, [1.0, 2.0, 3.0]), sheet)
    >>> model.predict([{"day": "20.4.2020"}]).round()
    array([2.])
    """
    if not is_frame(sheet.X):
        return machine
    steps = machine.steps if isinstance(machine, Pipeline) else [("machine", machine)]
    return Pipeline([("read", TableReader.of(sheet)), *steps])


def without_reader(model: Any) -> Any:
    """Return what stands behind the reader of tables."""
    if not (isinstance(model, Pipeline) and isinstance(model.steps[0][1], TableReader)):
        return model
    rest = model.steps[1:]
    return rest[0][1] if len(rest) == 1 else Pipeline(rest)
