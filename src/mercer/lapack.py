"""LAPACK and BLAS on several threads at once.

SciPy's functions hold the interpreter's lock while they work, so that two small factors cannot be
computed side by side. These are the same routines of the same library, called without the lock;
the first word of a description is the routine.
Arrays are C-ordered float64; of symmetric matrices only the lower triangle is read and written.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "EPS",
    "add_inner",
    "add_outer",
    "factor",
    "inverse_from_factor_inverse",
    "invert",
    "mirror",
    "multiply_rows",
    "norm",
    "solve",
    "solve_rows",
    "times_inverse",
    "tridiagonal",
]

EPS = float(np.finfo(float).eps)  # from 1 to the next number in double precision

LEAF_ORDER = 64  # of a triangle that is worked on at once
MIN_ORDER_FOR_LEAVES = 320  # of a matrix that is worth being factored leaf by leaf
MAX_LEAF_CONDITION = 1e3  # up to which the inverse of a leaf is as good as solving with it

# Nobody reads these numbers here: they are only passed by reference.
_ONE, _MINUS = ctypes.c_double(1.0), ctypes.c_double(-1.0)


def factor(M: np.ndarray) -> bool:
    """`dpotrf`: write L of M = LLᵀ into the lower triangle of M; return whether M is definite.

    Examples
    --------
    >>> M = np.array([[4.0, 0.0], [2.0, 5.0]])
    >>> factor(M), np.tril(M)
    (True, array([[2., 0.],
           [1., 2.]]))
    """
    if len(M) < MIN_ORDER_FOR_LEAVES:
        info = ctypes.c_int()
        _lapack("dpotrf")(b"U", _int(len(M)), _pointer(M), _stride(M), _ref(info))
        return info.value == 0
    for start in range(0, len(M), LEAF_ORDER):
        stop = min(start + LEAF_ORDER, len(M))
        leaf, below = M[start:stop, start:stop], M[stop:, start:stop]
        if not factor(leaf):
            return False
        if len(below):
            add_outer(M[stop:, stop:], solve_rows(leaf, below), -1.0)
    return True


def solve(L: np.ndarray, R: np.ndarray) -> np.ndarray:
    """`dpotrs`: return M⁻¹R for a factor L of M and R of shape (n,) or (n, columns).

    Examples
    --------
    >>> solve(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([8.0, 12.0]))
    array([1., 2.])
    """
    rows = np.array(R.reshape(len(L), -1).T, order="C")
    info = ctypes.c_int()
    _lapack("dpotrs")(
        b"U", _int(len(L)), _int(len(rows)), _pointer(L), _stride(L), _pointer(rows),
        _stride(rows), _ref(info),
    )  # fmt: skip
    return np.ascontiguousarray(rows.T).reshape(R.shape)


def solve_rows(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """`dtrsm`: overwrite each row b of B by L⁻¹b, and return B.

    Products are twice as fast as solving. So for many rows the blocks on the diagonal of L are
    inverted, where they are so well-conditioned that nothing is lost by it.

    Examples
    --------
    >>> solve_rows(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[4.0, 6.0]]))
    array([[2., 2.]])
    """
    if len(B) < LEAF_ORDER:
        return _solve_rows(L, B)
    for start in range(0, len(L), LEAF_ORDER):
        stop = start + LEAF_ORDER
        leaf, part = L[start:stop, start:stop], B[:, start:stop]
        X = _sound_inverse(leaf)
        part = _solve_rows(leaf, part) if X is None else multiply_rows(X, part)
        if stop < len(L):
            _subtract(B[:, stop:], part, L[stop:, start:stop])
    return B


def _sound_inverse(L: np.ndarray) -> np.ndarray | None:
    """Return the inverse of a small triangle, unless products with it would lose digits."""
    X = np.tril(L)
    size = float(np.vdot(X, X))
    invert(X)
    return X if size * float(np.vdot(X, X)) <= MAX_LEAF_CONDITION**2 else None


def _solve_rows(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    _blas("dtrsm")(
        b"L", b"U", b"T", b"N", _int(B.shape[1]), _int(len(B)), _ref(_ONE), _pointer(L),
        _stride(L), _pointer(B), _stride(B),
    )  # fmt: skip
    return B


def invert(L: np.ndarray) -> np.ndarray:
    """`dtrtri`: overwrite a lower triangle by its inverse, and return it.

    For halves of L = [A 0; B D] it is [A⁻¹ 0; −D⁻¹BA⁻¹ D⁻¹]. Nearly all of that is products with
    triangles, which are twice as fast as solving with them.

    Examples
    --------
    >>> np.tril(invert(np.array([[2.0, 0.0], [1.0, 2.0]])))
    array([[ 0.5 ,  0.  ],
           [-0.25,  0.5 ]])
    """
    if len(L) <= LEAF_ORDER:
        info = ctypes.c_int()
        _lapack("dtrtri")(b"U", b"N", _int(len(L)), _pointer(L), _stride(L), _ref(info))
        return L
    half = len(L) // 2
    B = L[half:, :half]
    A, D = invert(L[:half, :half]), invert(L[half:, half:])
    multiply_rows(A, B, transposed=True)
    _blas("dtrmm")(
        b"R", b"U", b"N", b"N", _int(half), _int(len(B)), _ref(_MINUS), _pointer(D), _stride(D),
        _pointer(B), _stride(B),
    )  # fmt: skip
    return L


def multiply_rows(X: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
    """`dtrmm`: overwrite each row b of B by Xb, or Xᵀb, for the lower triangle X, and return B.

    Examples
    --------
    >>> multiply_rows(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 2.0]]))
    array([[2., 5.]])
    """
    _blas("dtrmm")(
        b"L", b"U", b"N" if transposed else b"T", b"N", _int(B.shape[1]), _int(len(B)),
        _ref(_ONE), _pointer(X), _stride(X), _pointer(B), _stride(B),
    )  # fmt: skip
    return B


def times_inverse(X: np.ndarray, R: np.ndarray) -> np.ndarray:
    """`dtrmm` twice: return M⁻¹R = XᵀXR for X = L⁻¹ and R of shape (n, columns).

    For an answer that has to fit `inverse_from_factor_inverse`; by itself, that of `solve` has
    more digits.

    Examples
    --------
    >>> times_inverse(np.array([[0.5, 0.0], [-0.25, 0.5]]), np.array([[8.0], [12.0]])).ravel()
    array([1., 2.])
    """
    rows = multiply_rows(X, multiply_rows(X, np.array(R.T, order="C")), transposed=True)
    return np.ascontiguousarray(rows.T)


def add_outer(C: np.ndarray, A: np.ndarray, sign: float = 1.0) -> np.ndarray:
    """`dsyrk`: add ±AAᵀ to the lower triangle of C, and return C.

    Examples
    --------
    >>> add_outer(np.zeros((2, 2)), np.array([[1.0], [2.0]]))
    array([[1., 0.],
           [2., 4.]])
    """
    _blas("dsyrk")(
        b"U", b"T", _int(len(A)), _int(A.shape[1]), _ref(_ONE if sign > 0 else _MINUS),
        _pointer(A), _stride(A), _ref(_ONE), _pointer(C), _stride(C),
    )  # fmt: skip
    return C


def add_inner(H: np.ndarray, C: np.ndarray) -> np.ndarray:
    """`dsyrk`, transposed: add CᵀC to the lower triangle of H, and return H.

    Examples
    --------
    >>> add_inner(np.zeros((2, 2)), np.array([[1.0, 2.0]]))
    array([[1., 0.],
           [2., 4.]])
    """
    _blas("dsyrk")(
        b"U", b"N", _int(C.shape[1]), _int(len(C)), _ref(_ONE), _pointer(C), _stride(C),
        _ref(_ONE), _pointer(H), _stride(H),
    )  # fmt: skip
    return H


def _subtract(C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """`dgemm`: subtract ABᵀ from C."""
    _blas("dgemm")(
        b"T", b"N", _int(len(B)), _int(len(A)), _int(A.shape[1]), _ref(_MINUS), _pointer(B),
        _stride(B), _pointer(A), _stride(A), _ref(_ONE), _pointer(C), _stride(C),
    )  # fmt: skip


def tridiagonal(M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`dsytrd`, `dorgtr`: return Qᵀ and the diagonals of the tridiagonal T of M = QTQᵀ.

    Examples
    --------
    >>> M = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> Q, own, beside = tridiagonal(M)
    >>> bool(np.allclose(Q @ M @ Q.T, np.diag(own) + np.diag(beside, 1) + np.diag(beside, -1)))
    True
    """
    n, A, info = len(M), np.array(M, dtype=np.float64, order="C"), ctypes.c_int()
    own, beside, tau = np.empty((n, 1)), np.empty((max(n - 1, 0), 1)), np.empty((n, 1))
    work = np.empty((max(n * LEAF_ORDER, 1), 1))
    _lapack("dsytrd")(
        b"L", _int(n), _pointer(A), _stride(A), _pointer(own), _pointer(beside), _pointer(tau),
        _pointer(work), _int(len(work)), _ref(info),
    )  # fmt: skip
    _lapack("dorgtr")(
        b"L", _int(n), _pointer(A), _stride(A), _pointer(tau), _pointer(work), _int(len(work)),
        _ref(info),
    )  # fmt: skip
    return A, own[:, 0], beside[:, 0]


def mirror(C: np.ndarray) -> np.ndarray:
    """Copy the lower triangle of C to the upper one, as LAPACK does not, and return C.

    Examples
    --------
    >>> mirror(np.array([[1.0, 0.0], [2.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    for start in range(0, len(C), LEAF_ORDER):
        stop = min(start + LEAF_ORDER, len(C))
        leaf = C[start:stop, start:stop]
        leaf[...] = np.tril(leaf) + np.tril(leaf, -1).T
        C[start:stop, stop:] = C[stop:, start:stop].T
    return C


def inverse_from_factor_inverse(X: np.ndarray) -> np.ndarray:
    """`dlauum`: overwrite X = L⁻¹ by the lower triangle of M⁻¹ = XᵀX, and return it.

    Examples
    --------
    >>> np.tril(inverse_from_factor_inverse(np.array([[0.5, 0.0], [-0.25, 0.5]]))) * 16
    array([[ 5.,  0.],
           [-2.,  4.]])
    """
    info = ctypes.c_int()
    _lapack("dlauum")(b"U", _int(len(X)), _pointer(X), _stride(X), _ref(info))
    return X


def norm(C: np.ndarray) -> float:
    """Return the 1-norm of a symmetric matrix, as `dlansy` does: its largest absolute column sum.

    Examples
    --------
    >>> norm(np.array([[1.0, 0.0], [-3.0, 2.0]]))
    5.0
    """
    total = np.abs(np.diag(C))
    for start in range(0, len(C), LEAF_ORDER):  # some rows at a time stay in the cache
        stop = min(start + LEAF_ORDER, len(C))
        sizes = np.abs(C[start:stop, :stop])
        sizes[:, start:] = np.tril(sizes[:, start:], -1)
        with np.errstate(over="ignore"):  # then it is infinite
            total[start:stop] += sizes.sum(axis=1)
            total[:stop] += sizes.sum(axis=0)
    return float(total.max())


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.dtype == np.float64 and (array.strides[1] == 8 or array.shape[1] <= 1)
    return ctypes.c_void_p(array.ctypes.data)


def _stride(array: np.ndarray) -> Any:
    # NumPy gives a single row any stride.
    apart = array.strides[0] // 8 if len(array) > 1 else array.shape[1]
    return _int(max(apart, 1))


def _int(value: int) -> Any:
    return _ref(ctypes.c_int(value))


def _ref(value: Any) -> Any:
    return ctypes.byref(value)


def _lapack(name: str) -> Any:
    return _function("scipy.linalg.cython_lapack", name)


def _blas(name: str) -> Any:
    return _function("scipy.linalg.cython_blas", name)


@cache
def _function(module: str, name: str) -> Any:
    """Return a routine that SciPy offers to compiled code; ctypes calls it without the lock."""
    from importlib import import_module

    capsule = import_module(module).__pyx_capi__[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = address_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None)(address)
