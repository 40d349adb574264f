"""Solve: operator, target and penalty become a solution with a certificate."""

from mercer.solvers.davidson import Davidson
from mercer.solvers.iterative import Iterative
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.newton import Newton, NewtonSolution
from mercer.solvers.ridge.cholesky import Cholesky
from mercer.solvers.ridge.eigen import Eigen
from mercer.solvers.ridge.least_squares import LeastSquares
from mercer.solvers.ridge.primal import Primal
from mercer.solvers.ridge.single_cholesky import SingleCholesky
from mercer.solvers.ridge.solver import Approximation, Problem, Solution, Solver, State
from mercer.solvers.sketched_newton import SketchedNewton
from mercer.solvers.sketched_ridge import SketchedRidge

__all__ = [
    "Approximation",
    "Cholesky",
    "Davidson",
    "Eigen",
    "Iterative",
    "Lanczos",
    "LeastSquares",
    "Newton",
    "NewtonSolution",
    "Primal",
    "Problem",
    "SingleCholesky",
    "SketchedNewton",
    "SketchedRidge",
    "Solution",
    "Solver",
    "State",
]
