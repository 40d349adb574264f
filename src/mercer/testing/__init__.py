"""Testing: the laws of kernels, solvers and machines, for mercer's own and for yours.

Whoever writes a kernel holds it against the same laws as ours are held against::

    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.testing import check_kernel
    >>> X = np.random.default_rng(0).normal(size=(12, 2))
    >>> "symmetry" in check_kernel(Gaussian(1.0), X)
    True

A law that is broken is an `AssertionError` with the law, the kernel and the numbers. In a test
suite, `KERNEL_LAWS`, `SOLVER_LAWS` and `MACHINE_LAWS` make one test of each law.
"""

from mercer.testing.cases import KernelCase, MachineCase, SolverCase
from mercer.testing.kernel import KERNEL_LAWS, check_kernel
from mercer.testing.law import Inapplicable, apply
from mercer.testing.machine import MACHINE_LAWS, check_machine
from mercer.testing.solver import SOLVER_LAWS, check_solver

__all__ = [
    "KERNEL_LAWS",
    "MACHINE_LAWS",
    "SOLVER_LAWS",
    "Inapplicable",
    "KernelCase",
    "MachineCase",
    "SolverCase",
    "apply",
    "check_kernel",
    "check_machine",
    "check_solver",
]
