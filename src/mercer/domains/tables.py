"""Tables, of whose columns a kernel may look at a few, and sequences of any Python objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains.points import Items, Points, RowIndex, nonempty
from mercer.errors import DomainError, suggestion

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MISSING", "Objects", "Table", "is_frame", "things", "to_numpy"]


class Missing:
    """The category of what is not there: there is one, also after pickling.

    Examples
    --------
    >>> import pickle
    >>> pickle.loads(pickle.dumps(MISSING)) is MISSING
    True
    """

    def __reduce__(self) -> str:
        return "MISSING"

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


def is_frame(X: object) -> TypeGuard[Any]:
    """Tell a pandas DataFrame from an array without importing pandas.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import pandas as pd
    >>> is_frame(pd.DataFrame({"height": [1.5]})), is_frame(np.eye(2))
    (True, False)
    """
    return hasattr(X, "iloc") and hasattr(X, "columns")


def to_numpy(array: Any) -> np.ndarray:
    """Return any library's array as NumPy's, from whatever device it is on.

    Parameters
    ----------
    array : array of any library

    Returns
    -------
    ndarray

    Examples
    --------
    >>> to_numpy([[1, 2]])
    array([[1, 2]])
    """
    try:
        return np.asarray(array)
    except TypeError:
        return np.asarray(array_api_compat.to_device(array, "cpu"))


class Table(Points):
    """Rows of a DataFrame, or of a two-dimensional array whose columns have numbers.

    Parameters
    ----------
    frame : DataFrame, or array of two dimensions
    name : str
        What to call it in messages.
    places : list of int, optional
        The number that each column has in a larger table, for messages.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"height": [1.5, 2.0], "kind": ["oak", "ash"]}))
    >>> len(table), table.width, list(table.select(("kind",)).items())
    (2, 2, [{'kind': 'oak'}, {'kind': 'ash'}])
    """

    def __init__(self, frame: Any, name: str = "X", places: list[int] | None = None) -> None:
        super().__init__()
        self.frame = frame
        self.places = places  # where the columns of a selection stood in the user's table
        if is_frame(frame) and places is None:
            _check_unique(frame, name)
        nonempty(len(self), name, tuple(frame.shape))

    def __len__(self) -> int:
        return int(self.frame.shape[0])

    @property
    def width(self) -> int:
        return int(self.frame.shape[1])

    def take(self, rows: RowIndex) -> Table:
        part = self.frame.iloc[rows] if is_frame(self.frame) else self.frame[rows]
        return Table(part, places=self.places)

    def concat(self, other: Table) -> Table:
        if is_frame(self.frame):
            import pandas as pd

            return Table(pd.concat([self.frame, other.frame], ignore_index=True))
        if sparse.issparse(self.frame):
            return Table(sparse.vstack([self.frame, other.frame], format="csr"))
        xp = array_api_compat.array_namespace(self.frame)
        return Table(xp.concat([self.frame, other.frame]))

    def items(self) -> Iterator[Any]:
        """Yield each row: a dict by column name, or a one-dimensional array."""
        if is_frame(self.frame):
            names: Any = self.frame.columns if self.frame.columns.is_unique else self.places
            return (
                dict(zip(names, row, strict=True)) for row in self.frame.itertuples(index=False)
            )
        return iter(self.frame)

    def select(self, columns: tuple[Any, ...]) -> Table:
        """Return the columns named by indices, slices or names."""
        places = self.positions(columns)
        if is_frame(self.frame):
            return Table(self.frame.iloc[:, places], places=places)
        if isinstance(self.frame, np.ndarray) or sparse.issparse(self.frame):
            return Table(self.frame[:, places], places=places)
        xp, device = (
            array_api_compat.array_namespace(self.frame),
            array_api_compat.device(self.frame),
        )
        return Table(xp.take(self.frame, xp.asarray(places, device=device), axis=1), places=places)

    def absent(self) -> np.ndarray | None:
        """Return which entries are missing (None, NaN, NA or NaT), or None if none of them is.

        Examples
        --------
        >>> Table(np.array([[1.0, np.nan], [2.0, 3.0]])).absent()
        array([[False,  True],
               [False, False]])
        """
        frame = self.frame
        if sparse.issparse(frame):
            gaps = np.isnan(frame.data) if frame.dtype.kind == "f" else np.zeros(0, bool)
            if not gaps.any():
                return None
            return sparse.csr_array((gaps, frame.indices, frame.indptr), frame.shape).toarray()
        if is_frame(frame):
            found = frame.isna().to_numpy()
        elif isinstance(frame, np.ndarray) and frame.dtype.kind == "O":
            import pandas as pd

            found = pd.isna(frame)
        elif isinstance(frame, np.ndarray):
            found = np.isnan(frame) if frame.dtype.kind == "f" else np.zeros(0, bool)
        else:
            xp = array_api_compat.array_namespace(frame)
            found = to_numpy(xp.isnan(frame))
        return found if found.any() else None

    def filled(self, absent: np.ndarray, values: list[Any]) -> Table:
        """Return the table with one value in all gaps of each column."""
        frame = self.frame
        if sparse.issparse(frame):
            data = np.where(np.isnan(frame.data), 0.0, frame.data)
            whole = sparse.csr_array((data, frame.indices, frame.indptr), frame.shape)
            return Table(whole, places=self.places)
        if is_frame(frame):
            import pandas as pd

            columns = [
                _filled(frame.iloc[:, j], absent[:, j], value) for j, value in enumerate(values)
            ]
            return Table(pd.concat(columns, axis=1), places=self.places or [])
        numbers = all(isinstance(value, float) for value in values)
        if numbers and not isinstance(frame, np.ndarray):
            xp, device = array_api_compat.array_namespace(frame), array_api_compat.device(frame)
            stand_ins = xp.asarray(values, dtype=frame.dtype, device=device)
            return Table(xp.where(xp.isnan(frame), stand_ins[None, :], frame), places=self.places)
        frame = to_numpy(frame)
        whole = frame.copy() if numbers else frame.astype(object)
        for j, value in enumerate(values):
            _put(whole[:, j], absent[:, j], value)
        return Table(whole, places=self.places)

    def label(self, column: int) -> str:
        """Return what the user calls a column, in code: its name, or its number in the table."""
        if is_frame(self.frame):
            return repr(self.frame.columns[column])
        return str(self.places[column] if self.places else column)

    def positions(self, columns: tuple[Any, ...]) -> list[int]:
        """Return the numbers of columns given by indices, slices or names."""
        names = list(self.frame.columns) if is_frame(self.frame) else []
        return [j for column in columns for j in self._position(column, names)]

    def _position(self, column: Any, names: list[Any]) -> list[int]:
        if isinstance(column, slice):
            return list(range(*column.indices(self.width)))
        if isinstance(column, str) or column in names:
            if column in names:
                return [names.index(column)]
            if not names:
                raise DomainError(f"column {column!r} was asked for by name, but X has no names")
            raise DomainError(f"X has no column {column!r}{suggestion(column, map(str, names))}")
        if not -self.width <= column < self.width:
            raise DomainError(f"X has {self.width} columns, so there is no column {column}")
        return [column % self.width]


def _filled(column: pd.Series, absent: np.ndarray, value: object) -> Any:
    """Return a column of a DataFrame with a value in its gaps."""
    number = isinstance(value, float)
    if not absent.any() or (number and column.dtype.kind not in "fiubO"):
        return column  # what holds no numbers is left to the check that says so
    if number and column.dtype.kind == "f":
        return column.fillna(value)
    things = column.to_numpy(dtype=object, copy=True)
    _put(things, absent, value)
    return type(column)(things, index=column.index, name=column.name, dtype=object)


def _put(column: np.ndarray, places: np.ndarray, value: object) -> None:
    for i in np.flatnonzero(places):  # one by one, because a thing may be a list or an array
        column[i] = value


def _check_unique(frame: pd.DataFrame, name: str) -> None:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DomainError(f"{name} has two columns called {twice!r}; rename one of them")


class Objects(Points):
    """A sequence of arbitrary things; a two-dimensional array is the sequence of its rows.

    Parameters
    ----------
    X : sequence of things
    name : str
        What to call them in messages.

    Examples
    --------
    >>> len(Objects(["cat", "hat", "dog"]))
    3
    """

    def __init__(self, X: Items, name: str = "X") -> None:
        super().__init__()
        if isinstance(X, (str, bytes, dict)) or not (hasattr(X, "__len__") or _iterable(X)):
            raise DomainError(
                f"{name} must be a sequence of things to compare, found {type(X).__name__}; "
                "put the things into a list"
            )
        self.array = _as_object_array(X)
        nonempty(len(self), name)

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: RowIndex) -> Objects:
        return Objects(self.array[rows])

    def concat(self, other: Objects) -> Objects:
        return Objects([*self.items(), *other.items()])

    def items(self) -> Iterator[Any]:
        return iter(self.array)


def things(X: Items | Points, name: str = "X") -> Objects:
    """Return the things that a container holds, for a domain of whole objects.

    A list, a Series, an array, `Objects`, or one column of a table; a table of several columns
    is refused, because nobody said which of them holds the things. Rows of a two-dimensional
    array of numbers are things.

    Parameters
    ----------
    X : sequence of things, or Points
    name : str
        What to call them in messages.

    Returns
    -------
    Objects

    Examples
    --------
    >>> import pandas as pd
    >>> list(things(pd.DataFrame({"word": ["cat", "dog"]})).items())
    ['cat', 'dog']
    """
    if isinstance(X, Objects):
        return X
    if is_frame(X):
        X = Table(X, name)
    if isinstance(X, Table):
        return Objects(_only_column(X, name), name)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS" and X.shape[1] == 1:
        X = X[:, 0]
    if isinstance(X, Points):
        X = list(X.items())
    return Objects(X, name)


def _only_column(table: Table, name: str) -> Any:
    if table.width != 1:
        raise DomainError(
            f"{name} has {table.width} columns, but a kernel on whole things looks at one; say "
            "which with k.on('name')"
        )
    return table.frame.iloc[:, 0] if is_frame(table.frame) else table.frame[:, 0]


def _iterable(X: object) -> bool:
    return hasattr(X, "__iter__")


def _as_object_array(X: Any) -> np.ndarray:
    """Return a sliceable array of things without letting NumPy look inside them."""
    if array_api_compat.is_array_api_obj(X) and X.ndim >= 1:
        return np.asarray(X)
    if hasattr(X, "iloc"):  # a pandas Series keeps its values, not its index
        X = X.to_list()
    things = list(X)
    array = np.empty(len(things), dtype=object)
    for i, thing in enumerate(things):
        array[i] = thing
    return array
