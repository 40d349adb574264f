"""LAPACK and BLAS on several threads at once.

SciPy's functions hold the interpreter's lock while they work, so that two small factors cannot be
computed side by side. These are the same routines of the same library, called without the lock.
Arrays are C-ordered float64; of symmetric matrices only the lower triangle is read and written.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

__all__ = ["add_moments", "add_products", "condition", "factor", "invert", "solve", "solve_rows"]

# Nobody reads these numbers here: they are only passed by reference.
_ONE, _MINUS = ctypes.c_double(1.0), ctypes.c_double(-1.0)


def factor(M: np.ndarray) -> bool:
    """Write L of M = LLᵀ into the lower triangle of M; return whether M is positive definite.

    Examples
    --------
    >>> M = np.array([[4.0, 0.0], [2.0, 5.0]])
    >>> factor(M), np.tril(M)
    (True, array([[2., 0.],
           [1., 2.]]))
    """
    info = ctypes.c_int()
    _lapack("dpotrf")(b"U", _int(len(M)), _pointer(M), _stride(M), ctypes.byref(info))
    return info.value == 0


def solve(L: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return M⁻¹R for a factor L of M and a right-hand side of shape (n,) or (n, columns).

    Examples
    --------
    >>> solve(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([8.0, 12.0]))
    array([1., 2.])
    """
    rows = np.array(R.reshape(len(L), -1).T, order="C")
    info = ctypes.c_int()
    _lapack("dpotrs")(
        b"U", _int(len(L)), _int(len(rows)), _pointer(L), _stride(L), _pointer(rows),
        _stride(rows), ctypes.byref(info),
    )  # fmt: skip
    return np.ascontiguousarray(rows.T).reshape(R.shape)


def solve_rows(L: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Overwrite each row b of B by L⁻¹b, and return B.

    Examples
    --------
    >>> solve_rows(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([[4.0, 6.0]]))
    array([[2., 2.]])
    """
    _blas("dtrsm")(
        b"L", b"U", b"T", b"N", _int(B.shape[1]), _int(len(B)), ctypes.byref(_ONE), _pointer(L),
        _stride(L), _pointer(B), _stride(B),
    )  # fmt: skip
    return B


def add_products(C: np.ndarray, A: np.ndarray, sign: float = 1.0) -> np.ndarray:
    """Add ±AAᵀ to the lower triangle of C, and return C.

    Examples
    --------
    >>> add_products(np.zeros((2, 2)), np.array([[1.0], [2.0]]))
    array([[1., 0.],
           [2., 4.]])
    """
    _blas("dsyrk")(
        b"U", b"T", _int(len(A)), _int(A.shape[1]), ctypes.byref(_ONE if sign > 0 else _MINUS),
        _pointer(A), _stride(A), ctypes.byref(_ONE), _pointer(C), _stride(C),
    )  # fmt: skip
    return C


def add_moments(H: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Add CᵀC to the lower triangle of H, and return H.

    Examples
    --------
    >>> add_moments(np.zeros((2, 2)), np.array([[1.0, 2.0]]))
    array([[1., 0.],
           [2., 4.]])
    """
    _blas("dsyrk")(
        b"U", b"N", _int(C.shape[1]), _int(len(C)), ctypes.byref(_ONE), _pointer(C), _stride(C),
        ctypes.byref(_ONE), _pointer(H), _stride(H),
    )  # fmt: skip
    return H


def invert(L: np.ndarray) -> np.ndarray:
    """Overwrite a factor L of M by the lower triangle of M⁻¹, and return it.

    Examples
    --------
    >>> np.tril(invert(np.array([[2.0, 0.0], [1.0, 2.0]]))) * 16
    array([[ 5.,  0.],
           [-2.,  4.]])
    """
    info = ctypes.c_int()
    _lapack("dpotri")(b"U", _int(len(L)), _pointer(L), _stride(L), ctypes.byref(info))
    return L


def condition(L: np.ndarray, norm: float) -> float:
    """Return an estimate of the condition of M from its factor and its largest column sum.

    Examples
    --------
    >>> condition(np.array([[1.0, 0.0], [0.0, 2.0]]), 4.0)
    4.0
    """
    n, info, inverse = len(L), ctypes.c_int(), ctypes.c_double()
    work, places = np.empty((1, 3 * n)), np.empty(n, dtype=np.intc)
    _lapack("dpocon")(
        b"U", _int(n), _pointer(L), _stride(L), ctypes.byref(ctypes.c_double(norm)),
        ctypes.byref(inverse), _pointer(work), ctypes.c_void_p(places.ctypes.data),
        ctypes.byref(info),
    )  # fmt: skip
    return 1 / inverse.value if inverse.value > 0 else float("inf")


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.dtype == np.float64 and (array.strides[1] == 8 or array.shape[1] <= 1)
    return ctypes.c_void_p(array.ctypes.data)


def _stride(array: np.ndarray) -> Any:
    # NumPy gives a single row any stride.
    apart = array.strides[0] // 8 if len(array) > 1 else array.shape[1]
    return _int(max(apart, 1))


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


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
