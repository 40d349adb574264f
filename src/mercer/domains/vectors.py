"""Vectors: rows of numbers, dense or sparse, on any array library."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import array_api_compat
import array_api_compat.numpy
import numpy as np
from scipy import sparse

from mercer.domains.points import Domain, Items, Points, RowIndex, nonempty
from mercer.domains.tables import Objects, Table, is_frame, to_numpy
from mercer.errors import DomainError, DomainTypeError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VECTORS", "ZERO", "VectorDomain", "Vectors", "read", "to_numpy"]


class Zero:
    """The origin of rows that are mostly zero: there is one, also after pickling.

    Examples
    --------
    >>> import pickle
    >>> pickle.loads(pickle.dumps(ZERO)) is ZERO
    True
    """

    def __reduce__(self) -> str:
        return "ZERO"


ZERO = Zero()


class Vectors(Points):
    """Rows of finite floating-point numbers: a dense array or a SciPy CSR matrix.

    `origin` is a point near the data, the same for sets that are to be compared: distances are
    computed from there, where rounding errors are small. For rows that are mostly zero it is
    `ZERO`, so that they stay what they are. `single` asks for similarities in single precision,
    from a solver that checks them.

    Parameters
    ----------
    array : array of shape (n, dimensions), or sparse CSR array
    names : tuple of str, optional
        Of the columns.
    origin : array, optional
    places : list of int, optional
        The number that each column has in a larger table, for messages.
    single : bool

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> points = VECTORS.admit([[1, 2], [3, 4]])
    >>> points.array, points.is_sparse
    (array([[1., 2.],
           [3., 4.]]), False)
    """

    def __init__(
        self,
        array: Any,
        names: tuple[str, ...] | None = None,
        origin: Any = None,
        places: list[int] | None = None,
        single: bool = False,
    ) -> None:
        super().__init__()
        self.array = array
        self.names = names
        self.origin = origin
        self.places = places  # where the columns stood in the user's table
        self.single = single

    def with_array(self, array: Any) -> Vectors:
        """Return the same rows in another array."""
        return Vectors(array, self.names, self.origin, self.places, self.single)

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @property
    def width(self) -> int:
        return int(self.array.shape[1])

    @property
    def bytes(self) -> int:
        return 12 * int(self.array.nnz) if self.is_sparse else super().bytes

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.array, np.ndarray) and sparse.issparse(self.array)

    @property
    def xp(self) -> Any:
        """The array-API namespace of the rows (NumPy for sparse rows)."""
        if isinstance(self.array, np.ndarray):
            return array_api_compat.numpy  # asked for in every block, and slow to find out
        return array_api_compat.array_namespace(self.array) if not self.is_sparse else np

    def take(self, rows: RowIndex) -> Vectors:
        if isinstance(rows, slice) and not self.is_sparse:
            return Vectors(self.array[rows, :], self.names, self.origin, single=self.single)
        if self.is_sparse or isinstance(self.array, np.ndarray):
            return Vectors(self.array[rows], self.names, self.origin, single=self.single)
        chosen = self.xp.asarray(rows, device=array_api_compat.device(self.array))
        return Vectors(self.xp.take(self.array, chosen, axis=0), self.names, self.origin)

    def around(self, origin: Any, single: bool = False) -> Vectors:
        """Return the same vectors seen from another origin, with the encodings that need none."""
        again = Vectors(self.array, self.names, origin, self.places, single)
        if self.origin is None:
            again._views = dict(self._views)
        return again

    def concat(self, other: Vectors) -> Vectors:
        if self.is_sparse or other.is_sparse:
            return Vectors(sparse.vstack([self.array, other.array], format="csr"), self.names)
        return Vectors(self.xp.concat([self.array, other.array]), self.names)

    def items(self) -> Iterator[Any]:
        if self.is_sparse:
            return (self.array[[i]].toarray()[0] for i in range(len(self)))
        return (self.array[i, :] for i in range(len(self)))


@dataclass(frozen=True)
class VectorDomain(Domain):
    """Rows of numbers.

    Parameters
    ----------
    nonnegative : bool
        Whether the kernel is defined only for entries that are not negative.
    dense_for : str
        The kernel that has no sparse form, if any; sparse rows are then refused by its name.

    Examples
    --------
    >>> VECTORS.admit([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: Input X contains NaN at row 1, column 1; ...
    """

    nonnegative: bool = False
    dense_for: str = ""

    def admit(self, X: Items | Points, name: str = "X") -> Vectors:
        if isinstance(X, Vectors):
            points = X
        elif isinstance(X, Table):
            points = _read_table(X, name)
        else:
            points = read(X.array if isinstance(X, Objects) else X, name)
        if not isinstance(X, Vectors):
            _check_finite(points, name)
        self._check_conditions(points, name)
        return points

    def merge(self, other: Domain) -> Domain | None:
        if not isinstance(other, VectorDomain):
            return None
        return VectorDomain(
            self.nonnegative or other.nonnegative, self.dense_for or other.dense_for
        )

    def _check_conditions(self, points: Vectors, name: str) -> None:
        if points.is_sparse and self.dense_for:
            raise DomainError(
                f"{name} is sparse, but the formula of {self.dense_for} needs dense rows; "
                f"pass {name}.toarray()"
            )
        if self.nonnegative:
            values = points.array.data if points.is_sparse else points.array
            if bool(points.xp.any(values < 0)):
                where = _where(points, points.array < 0)
                raise DomainError(
                    f"Negative values in data: {name} is negative{where}, but the kernel is "
                    "defined for histograms, whose entries are not negative"
                )


VECTORS = VectorDomain()
PLAIN = {np.dtype(np.float32), np.dtype(np.float64)}


def read(X: Items | Points, name: str) -> Vectors:
    """Turn arrays, sparse matrices, numeric DataFrames and nested lists into `Vectors`, whose
    numbers nobody has looked at."""
    if sparse.issparse(X):
        _check_shape(X, name)
        return Vectors(_narrow(sparse.csr_array(_as_floats(X, name))))
    if is_frame(X):
        return _read_table(Table(X, name), name)
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise DomainError(f"{name} has masked entries; fill them in, or drop the rows")
    if not array_api_compat.is_array_api_obj(X):
        X = _from_sequence(X, name)
    _check_shape(X, name)
    return Vectors(_as_floats(X, name))


def _narrow(X: sparse.csr_array) -> sparse.csr_array:
    """Return sparse rows with 32-bit indices where they suffice: some routines need them."""
    if X.indices.dtype == np.int32 or X.nnz > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=X.shape)


def _read_table(table: Table, name: str) -> Vectors:
    """Read all columns of a table as numbers, naming the column that is not."""
    frame = table.frame
    if not is_frame(frame):
        found = read(frame, name)
        return Vectors(found.array, found.names, places=table.places)
    if table.width == 0:
        _check_shape(frame, name)
    if len(kinds := set(frame.dtypes)) == 1 and kinds <= PLAIN:  # thousands of columns at once
        array = np.array(frame.to_numpy(), order="C")
    else:
        columns = [_numeric(frame.iloc[:, j], name) for j in range(table.width)]
        array = np.column_stack(columns)
    return Vectors(array, tuple(map(str, frame.columns)), places=table.places)


def _numeric(column: pd.Series, name: str) -> np.ndarray:
    """Return one column as floats; NaN stays for the check that names its row."""
    kind = getattr(column.dtype, "kind", "O")
    if kind == "c":
        raise DomainError(f"Complex data not supported: column {column.name!r} of {name}")
    if kind in "fiub":
        dtype = np.float32 if column.dtype == np.float32 else np.float64
        return column.to_numpy(dtype=dtype, na_value=np.nan)
    if kind == "O" and all(isinstance(value, numbers.Real) for value in column.dropna()):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    raise DomainError(
        f"column {column.name!r} of {name} holds {column.dtype} values, but a vector kernel "
        f"needs numbers; compare it with Categorical().on({column.name!r}) instead"
    )


def _from_sequence(X: object, name: str) -> np.ndarray:
    if isinstance(X, (str, bytes, dict, set)) or X is None:
        raise DomainError(f"{name} must be rows of numbers, found {type(X).__name__}")
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DomainError(f"the rows of {name} do not all have the same length") from error


def _check_shape(X: Any, name: str) -> None:
    if X.ndim == 1:
        nonempty(X.shape[0], name, tuple(X.shape))
    if X.ndim < 2:
        raise DomainError(
            f"Expected 2D array, got {X.ndim}D array instead: {name} needs one row per item. "
            "Reshape your data using array.reshape(-1, 1) for one feature or "
            "array.reshape(1, -1) for one item"
        )
    if X.ndim > 2:
        raise DomainError(
            f"Found {name} with dim {X.ndim}, while dim 2 is required: one row per item"
        )
    nonempty(X.shape[0], name, tuple(X.shape))
    if X.shape[1] == 0:
        raise DomainError(
            f"Found {name} with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 "
            "is required."
        )


def _as_floats(X: Any, name: str) -> Any:
    """Return `X` in float32 or float64, refusing what is not a real number."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        if X.dtype.kind == "c":
            raise DomainError(f"Complex data not supported: {name} holds complex numbers")
        if X.dtype.kind == "O":
            return _from_object_array(X, name)
        if X.dtype.kind not in "fiub":
            raise DomainError(
                f"{name} holds {X.dtype} values, but a vector kernel needs numbers; use "
                "Categorical().on(...), a string kernel or from_function for other things"
            )
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    xp = array_api_compat.array_namespace(X)
    if xp.isdtype(X.dtype, "complex floating"):
        raise DomainError(f"Complex data not supported: {name} holds complex numbers")
    return X if xp.isdtype(X.dtype, "real floating") else xp.astype(X, xp.float64)


def _from_object_array(X: np.ndarray, name: str) -> np.ndarray:
    try:
        text = next((value for value in X.ravel() if isinstance(value, str)), None)
        if text is not None:
            raise ValueError(f"could not convert string to float: {text!r}")
        return X.astype(np.float64)
    except TypeError as error:
        raise DomainTypeError(f"{name} holds objects that are not numbers: {error}") from error
    except ValueError as error:
        raise DomainError(
            f"{name} is an object array that cannot be read as numbers ({error}); use "
            "Categorical().on(...), a string kernel or from_function for other things"
        ) from error


def _check_finite(points: Vectors, name: str) -> None:
    array, xp = points.array, points.xp
    if points.is_sparse:
        bad = ~np.isfinite(array.data)
        if bad.any():
            value = "NaN" if np.isnan(array.data[bad][0]) else "infinity"
            mask = sparse.csr_array((bad, array.indices, array.indptr), shape=array.shape)
            raise DomainError(_not_finite(name, value, _where(points, mask)))
        return
    # A sum is finite only if every term is; the elementwise test runs only when it is not.
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(array))):
            return
    for value, found in (("NaN", xp.isnan(array)), ("infinity", xp.isinf(array))):
        if bool(xp.any(found)):
            raise DomainError(_not_finite(name, value, _where(points, found)))


def _not_finite(name: str, value: str, where: str) -> str:
    advice = "remove the item or fill in a finite value"
    if value == "NaN" and "'" in where:  # a column with a name
        advice += ", or see missing= of k.on(...)"
    return f"Input {name} contains {value}{where}; {advice}"


def _where(points: Vectors, found: Any) -> str:
    """Say in words where a mask is first true."""
    rows, columns = found.nonzero() if points.is_sparse else points.xp.nonzero(found)
    row, column = int(rows[0]), int(columns[0])
    if points.places is not None:
        column = points.places[column]
    label = f" ({points.names[int(columns[0])]!r})" if points.names else ""
    return f" at row {row}, column {column}{label}"
