"""Plans: what would run, how many bytes it takes, and why.

A plan is made before any work starts. It never runs out of memory that it could have foreseen:
work that does not fit is refused with the size that would.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from mercer.errors import ValidityError, suggestion
from mercer.memory import human
from mercer.plans.approximations import Nystrom, Random
from mercer.plans.costs import spoken

__all__ = ["Plan", "Size"]

Route = Literal["auto", "dual", "primal", "nystrom", "random"]
Solver = Literal["auto", "cholesky", "eigen", "iterative"]
Precision = Literal["auto", "mixed", "double"]
Device = Literal["auto", "cpu", "cuda"]

# What a fit needs besides its large arrays: threads, small vectors, Python itself.
OVERHEAD = 2_000_000
EXACT = 1e-6  # relative residual up to which an answer is exact
PATIENCE = 600.0  # seconds that an exact answer may take before it is approximated


@dataclass(frozen=True)
class Size:
    """How large a problem is.

    Attributes
    ----------
    items : int
    row : float
        Bytes of one item's numbers, which also say what one kernel evaluation costs.
    features : int or None
        Number of explicit features, if there are finitely many.
    targets : int
        Number of right-hand sides.
    tiles : int
        Bytes that evaluating the kernel takes.
    weighted : bool
        Whether items have weights, for which features are copied.
    cheap : bool
        Whether a similarity takes a nanosecond or two, so that it may be computed at each step.
    piece : int or None
        Bytes of the largest chunk, where items are streamed and not kept.
    judging : int
        Gram matrices of a sample that comparing an approximate answer with the exact one takes.
    """

    items: int
    row: float = 8.0
    features: int | None = None
    targets: int = 1
    tiles: int = 0
    weighted: bool = False
    cheap: bool = True
    piece: int | None = None
    judging: int = 2


@dataclass(frozen=True, repr=False)
class Plan:
    """How a fit will run. Leave a choice at "auto" and the plan decides it.

    Parameters
    ----------
    route : {"auto", "dual", "primal"}
        Coefficients of the items (with the Gram matrix) or of explicit features. A decided plan
        may also have the routes "nystrom" and "random", which are approximate.
    solver : {"auto", "cholesky", "eigen", "iterative"}
        A factor of the matrix, its decomposition, or conjugate gradients on a matrix that is never
        stored; all of them are exact, and their certificate says how exact.
    precision : {"auto", "mixed", "double"}
        Whether the Cholesky factor, or the products of conjugate gradients, are in single
        precision, their answer refined to double.
    memory : int, optional
        Bytes that may be used; by default what the machine has free.
    rank : int, optional
        Columns of the preconditioner of the iterative solver; by default as many as are useful and
        fit. For approximate routes, the number of their functions.
    approximate : "auto", "never", Nystrom or Random
        Whether the answer may be approximate, and how. "auto": where an exact one does not fit or
        would take longer than `patience`, for machines that say so.
    patience : float
        Seconds.
    tol : float, optional
        Relative residual at which the iterative solver stops, 1e-9 if not given. With more than
        1e-6 the answer is called approximate.
    device : {"auto", "cpu", "cuda"}
        Where to compute; "auto" takes a GPU, if there is one, for what is large.

    Attributes
    ----------
    bytes : int or None
        Predicted peak, once decided.
    reasons : tuple of str
        Why each choice was made.
    direct : bool
        Whether the iterative solver may give way to a factor: nobody asked for it, and the matrix
        fits. For approximate routes, whether the system of their functions is added up.
    seconds : float or None
        Predicted time of the fit, of which a factor of three is meant seriously.

    Examples
    --------
    >>> Plan(memory=10**9, solver="eigen").solver
    'eigen'
    """

    route: Route = "auto"
    solver: Solver = "auto"
    precision: Precision = "auto"
    memory: int | None = None
    bytes: int | None = None
    reasons: tuple[str, ...] = ()
    rank: int | None = None
    direct: bool = False
    approximate: Any = "auto"
    patience: float = PATIENCE
    device: Device = "auto"
    seconds: float | None = None
    tol: float | None = None

    def __post_init__(self) -> None:
        choices = {
            "route": ("auto", "dual", "primal", "nystrom", "random"),
            "solver": ("auto", "cholesky", "eigen", "iterative"),
            "precision": ("auto", "mixed", "double"),
            "device": ("auto", "cpu", "cuda"),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValidityError(
                    f"{name} of a plan cannot be {value!r}{suggestion(value, allowed)}"
                )
        if self.rank is not None and not (isinstance(self.rank, int) and self.rank > 0):
            raise ValidityError(f"rank of a plan must be a positive number, found {self.rank!r}")
        if self.tol is not None and not (isinstance(self.tol, numbers.Real) and 0 < self.tol < 1):
            raise ValidityError(f"tol of a plan must be between 0 and 1, found {self.tol!r}")
        if not isinstance(self.approximate, Nystrom | Random):
            known = ("auto", "never")
            if self.approximate not in known:
                raise ValidityError(
                    f"approximate of a plan cannot be {self.approximate!r}; it is Nystrom(...), "
                    f"Random(...){suggestion(self.approximate, known)}"
                )
        memory = self.memory
        if memory is not None and not (
            isinstance(memory, numbers.Real) and 0 <= memory < math.inf
        ):
            raise ValidityError(f"memory of a plan must be a number of bytes, found {memory!r}")

    def __repr__(self) -> str:
        """Return the call that makes this plan."""
        told = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(told)})"

    def explain(self) -> str:
        """Say in plain words what would run, how many bytes it takes and why."""
        if self.bytes is None:
            return "Nothing is decided yet: machine.plan(X) makes the plan for its data."
        memory = f"Needs about {human(self.bytes)}"
        memory += f" of {human(self.memory)} available." if self.memory is not None else "."
        if self.seconds is not None and self.seconds >= 1:
            memory += f" Takes about {spoken(self.seconds)}."
        return "\n".join([self.headline, memory, *(f"- {reason}" for reason in self.reasons)])

    @property
    def headline(self) -> str:
        """What would run, in one line."""
        about = "APPROXIMATE: " if self.is_approximate else ""
        return f"{about}Route {self.route}, solver {self.solver}, {self.precision} precision."

    @property
    def sketched(self) -> bool:
        """Whether there are fewer functions than items."""
        return self.route in ("nystrom", "random")

    @property
    def is_approximate(self) -> bool:
        """Whether the answer will be an approximation."""
        stopped = self.solver == "iterative" and (self.tol or 0.0) > EXACT
        return self.sketched or stopped
