"""All laws of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer.kernels import Kernel
from mercer.testing import kernel_arrays, kernel_numbers, kernel_proofs, kernel_values
from mercer.testing.kernel_case import KernelCase
from mercer.testing.law import Law, apply_all

__all__ = ["KERNEL_LAWS", "check_kernel"]

KERNEL_LAWS: dict[str, Law] = {
    **kernel_numbers.LAWS,
    **kernel_proofs.LAWS,
    **kernel_values.LAWS,
    **kernel_arrays.LAWS,
}


def check_kernel(
    kernel: Kernel,
    items: Any,
    *,
    names: Mapping[str, Any] | None = None,
    tolerance: float = 1e-10,
) -> list[str]:
    """Hold all laws of kernels against one; return the names of those that apply.

    Parameters
    ----------
    kernel : Kernel
    items : sequence, array or DataFrame
        At least eight things that it compares; the stranger, the better.
    names : mapping, optional
        Functions that the kernel's `repr` mentions, by name.
    tolerance : float
        Allowed rounding error, relative to the larger self-similarity of a pair.

    Examples
    --------
    >>> from mercer.kernels import from_function
    >>> def longer(a, b):
    ...     return float(len(a) > len(b))
    >>> check_kernel(from_function(longer), ["a", "bb", "ccc"] * 3, names={"longer": longer})
    Traceback (most recent call last):
        ...
    AssertionError: symmetry does not hold for from_function(longer) on 9 items: k(A, B) and ...
    """
    return apply_all(KERNEL_LAWS, KernelCase(kernel, items, names or {}, tolerance))
