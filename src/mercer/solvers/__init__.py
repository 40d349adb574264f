"""Solve: operator, target and penalty become a solution with a certificate."""

from mercer.solvers.cholesky import Cholesky
from mercer.solvers.davidson import Davidson
from mercer.solvers.eigen import Eigen
from mercer.solvers.iterative import Iterative
from mercer.solvers.lanczos import Lanczos
from mercer.solvers.leastsquares import LeastSquares
from mercer.solvers.newton import Newton, NewtonSolution
from mercer.solvers.primal import Primal
from mercer.solvers.problem import Approximation, Problem, Solution, Solver, State
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
    "SketchedNewton",
    "SketchedRidge",
    "Solution",
    "Solver",
    "State",
]
