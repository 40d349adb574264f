"""Plans and decisions: what a user asks for, and what will run, in how many bytes, and why.

A decision is made before any work starts. Work that would not fit into memory is refused with the
size that would.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from mercer.errors import ValidityError, suggestion
from mercer.gram import engine_names
from mercer.memory import format_bytes
from mercer.plans.approximations import Nystrom, Random

__all__ = ["Decision", "Plan", "asks_for_sketch", "format_seconds", "requested"]

Route = Literal["auto", "dual", "primal", "nystrom", "random"]
Solver = Literal["auto", "cholesky", "eigen", "iterative"]
Precision = Literal["auto", "mixed", "double", "single"]
Device = Literal["auto", "cpu", "cuda", "cluster"]
SOLVERS = ("auto", "cholesky", "eigen", "iterative")

MAX_EXACT_RESIDUAL = 1e-6  # relative residual up to which an answer is exact
PATIENCE_SECONDS = 600.0  # seconds that an exact answer may take before it is approximated


@dataclass(frozen=True, repr=False)
class Plan:
    """What a user asks of a fit. What is left at "auto" is decided from the data.

    Parameters
    ----------
    route : {"auto", "dual", "primal"}
        Coefficients of the items (with the Gram matrix) or of explicit features.
    solver : {"auto", "cholesky", "eigen", "iterative"}
        A factor of the matrix, its decomposition, or conjugate gradients on a matrix that is never
        stored; all of them are exact, and their certificate says how exact.
    precision : {"auto", "mixed", "double", "single"}
        Whether the Cholesky factor, or the products of conjugate gradients, are in single
        precision, their answer refined to double. "single": the Gram matrix, too, is stored in
        single precision, and its factor takes its place; steps of conjugate gradients refine the
        answer to `tol`. Of ridge regression only.
    memory : int, optional
        Bytes that may be used; by default what the machine has free.
    rank : int, optional
        Columns of the preconditioner of the iterative solver; by default as many as are useful and
        fit.
    approximate : "auto", "never", Nystrom or Random
        Whether the answer may be approximate, and how. "auto": where an exact one does not fit or
        would take longer than `patience`, for machines that say so.
    patience : float
        Seconds.
    device : {"auto", "cpu", "cuda", "cluster"}
        Where to compute; "auto" takes a GPU, if there is one, for what is large, and inside of
        ``with Cluster(...)`` the cluster for streams and for exact steps.
    tol : float, optional
        Relative residual at which steps stop, those of the iterative solver or those that refine a
        factor in single precision: 1e-9 if not given. With more than 1e-6 the answer is called
        approximate.
    reproducible : bool
        Whether a fit and its answers have the same bits on any number of threads: plans are made
        and work is divided as for four cores, and BLAS and LAPACK run on one. A factor then takes
        as many times longer as there are cores.

    Examples
    --------
    >>> Plan(memory=10**9, solver="eigen")
    Plan(solver='eigen', memory=1000000000)
    """

    route: Route = "auto"
    solver: Solver = "auto"
    precision: Precision = "auto"
    memory: int | None = None
    rank: int | None = None
    approximate: Any = "auto"
    patience: float = PATIENCE_SECONDS
    device: Device = "auto"
    tol: float | None = None
    reproducible: bool = False

    def __post_init__(self) -> None:
        choices = {
            "route": ("auto", "dual", "primal"),
            "solver": SOLVERS,
            "precision": ("auto", "mixed", "double", "single"),
            "device": ("auto", *engine_names()),
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
        if self.reproducible not in (True, False):
            raise ValidityError(
                f"reproducible of a plan is True or False, found {self.reproducible!r}"
            )
        if self.reproducible and self.device not in ("auto", "cpu"):
            raise ValidityError(
                f"the order of sums on {self.device!r} is not ours to say; a reproducible plan "
                'needs device="cpu"'
            )
        memory = self.memory
        if memory is not None and not (
            isinstance(memory, numbers.Real) and 0 <= memory < math.inf
        ):
            raise ValidityError(f"memory of a plan must be a number of bytes, found {memory!r}")

    def __repr__(self) -> str:
        """Return the call that makes this plan."""
        return _call(self)

    def explain(self) -> str:
        """Say in plain words what is asked for."""
        asked = [
            f"{field.name} {getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        what = f"Asked for: {', '.join(asked)}. " if asked else ""
        return f"{what}Nothing is decided yet: machine.plan(X) decides for its data."


@dataclass(frozen=True, repr=False)
class Decision:
    """How a fit will run, or has run.

    ``follow=Plan(...)`` goes into a machine; a `Decision` comes out, as ``plan_`` after a fit and
    as ``plan(X)`` before it. One type serves all families of machines, because model files hold
    it; what only some of them set stands after `seconds` and says whose it is.

    Attributes
    ----------
    route : {"dual", "primal", "nystrom", "random"}
        The last two are approximate.
    solver : str
        The algorithm, as `Plan` names it where a user may choose.
    precision : {"mixed", "double", "single"}
    memory : int or None
        Bytes that may be used, if anybody knows.
    bytes : int
        Predicted peak.
    reasons : tuple of str
        Why each choice was made.
    rank : int or None
        Columns of a preconditioner; of approximate routes, the number of functions.
    direct : bool
        Whether steps are decided on again, as soon as their preconditioner shows how many there
        will be. Of approximate routes, whether the system of their functions is added up.
    approximate : "auto", "never", Nystrom or Random
    device : {"cpu", "cuda"}
    seconds : float or None
        Predicted time of the fit, of which a factor of three is meant seriously.
    method : {"dense", "partial", "randomized"} or None
        Of a spectrum: all eigenvalues by LAPACK, the largest by an iteration, or by few products.
    stored : bool
        Whether the whole Gram matrix is held in memory; if not, it is computed as needed.
    working, largest, kept : int
        Of a support vector machine: variables in a working set, how many it may have where many
        variables are free, and Gram rows that are kept from round to round.
    each : bool
        Of Newton's method: whether a preconditioner may take a matrix for each class.
    tasks, worker_bytes, network : int
        On a cluster: how many tasks, the predicted peak of a worker that does one of them, and
        bytes on their way between computers.
    request : Plan
        What the user had asked for.

    Examples
    --------
    >>> print(
    ...     Decision("dual", "cholesky", "double", bytes=10**6, reasons=("few items",)).explain()
    ... )
    Route dual, solver cholesky, double precision.
    Needs about 1.0 MB.
    - few items
    """

    route: str
    solver: str
    precision: str
    memory: int | None = None
    bytes: int = 0
    reasons: tuple[str, ...] = ()
    rank: int | None = None
    direct: bool = False
    approximate: Any = "auto"
    device: str = "cpu"
    seconds: float | None = None
    method: str | None = None
    stored: bool = True
    working: int = 0
    largest: int = 0
    kept: int = 0
    each: bool = True
    tasks: int = 0
    worker_bytes: int = 0
    network: int = 0
    request: Plan = Plan()

    def __repr__(self) -> str:
        """Return the call that makes this decision."""
        return _call(self)

    def explain(self) -> str:
        """Say in plain words what runs, how many bytes it takes and why."""
        memory = f"Needs about {format_bytes(self.bytes)}"
        memory += f" of {format_bytes(self.memory)} available." if self.memory is not None else "."
        if self.seconds is not None and self.seconds >= 1:
            memory += f" Takes about {format_seconds(self.seconds)}."
        reasons = self.reasons
        if self.request.reproducible:
            reasons = (*reasons, "BLAS on one thread, for the same bits on any number of them")
        return "\n".join([self.headline, memory, *(f"- {reason}" for reason in reasons)])

    def beside(self, more: float, why: str) -> Decision:
        """Return the decision with so many bytes on top of it, and what they are for.

        Examples
        --------
        >>> Decision("dual", "cholesky", "double", bytes=100).beside(20, "of folds").bytes
        120
        """
        return replace(self, bytes=int(self.bytes + more), reasons=(*self.reasons, why))

    @property
    def headline(self) -> str:
        """What runs, in one line."""
        if self.solver == "smo":
            how = "the whole Gram matrix" if self.stored else f"working sets of {self.working}"
            stored = f"stored in {self.gram_precision} precision"
            return f"Route {self.route}, block SMO on {how}, {stored}."
        about = "APPROXIMATE: " if self.is_approximate else ""
        return f"{about}Route {self.route}, solver {self.solver}, {self.precision} precision."

    @property
    def gram_precision(self) -> Literal["single", "double"]:
        """The precision of similarities; what follows from them is double in either case."""
        return "single" if self.precision == "mixed" else "double"

    @property
    def gram_dtype(self) -> type[np.float32] | type[np.float64]:
        """The type of numbers of that precision."""
        return np.float32 if self.gram_precision == "single" else np.float64

    @property
    def tol(self) -> float | None:
        """Relative residual that was asked for."""
        return self.request.tol

    @property
    def patience(self) -> float:
        """Seconds that an exact answer was allowed to take."""
        return self.request.patience

    @property
    def sketched(self) -> bool:
        """Whether there are fewer functions than items."""
        return self.route in ("nystrom", "random")

    @property
    def is_approximate(self) -> bool:
        """Whether the answer is an approximation."""
        steps = self.solver == "iterative" or self.precision == "single"
        stopped = steps and (self.tol or 0.0) > MAX_EXACT_RESIDUAL
        return self.sketched or stopped


def requested(follow: Plan | Decision | None, sketches: bool = False) -> Plan:
    """Return what the user asks for; only some machines know sketches.

    A decision that is to be followed asks for the route, solver, precision and approximation that
    were decided.

    Parameters
    ----------
    follow : Plan, Decision or None
    sketches : bool
        Whether the machine knows approximations.

    Returns
    -------
    Plan

    Examples
    --------
    >>> requested(None) == Plan()
    True
    """
    if isinstance(follow, Decision):
        follow = _again(follow)
    if not isinstance(follow, Plan | None):
        raise ValidityError(f"follow must be a Plan, found {follow!r}")
    request = follow or Plan()
    if not sketches and request.approximate not in ("auto", "never"):
        raise ValidityError(
            "this machine has no approximate route; KernelRidge, KernelRidgeClassifier, "
            "GaussianProcess, KernelLogistic, KernelPCA and SVC have one"
        )
    return request


def asks_for_sketch(follow: object) -> bool:
    """Tell whether a user has asked for an approximation.

    Parameters
    ----------
    follow : Plan, Decision or None

    Returns
    -------
    bool

    Examples
    --------
    >>> asks_for_sketch(Plan(approximate=Nystrom(100))), asks_for_sketch(None)
    (True, False)
    """
    return isinstance(getattr(follow, "approximate", None), Nystrom | Random)


def format_seconds(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> format_seconds(4000.0), format_seconds(12.3)
    ('1.1 hours', '12 seconds')
    """
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size or (unit == "hours" and seconds >= size):
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"


def _again(decision: Decision) -> Plan:
    """Return the plan that asks for what was decided."""
    asked: dict[str, Any] = {"memory": decision.memory, "approximate": decision.approximate}
    if not decision.sketched:
        asked |= {"route": decision.route, "precision": decision.precision}
        if decision.solver in SOLVERS:
            asked |= {"solver": decision.solver, "rank": decision.rank}
    return replace(decision.request, **asked)


def _call(record: Any) -> str:
    given = [
        f"{field.name}={getattr(record, field.name)!r}"
        for field in dataclasses.fields(record)
        if getattr(record, field.name) != field.default
    ]
    return f"{type(record).__name__}({', '.join(given)})"
