"""What mercer complains about, one error per room.

Every error says what was expected, what was found, where, and what to do. Each also derives
from the built-in exception that a scikit-learn user would expect, so ``except ValueError``
keeps working.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

__all__ = [
    "ClusterError",
    "ConvergenceWarning",
    "DomainError",
    "DomainTypeError",
    "FileError",
    "MercerError",
    "ModelWarning",
    "PlanError",
    "PlanWarning",
    "SelectionError",
    "SelectionWarning",
    "SolveError",
    "ValidityError",
]


MAX_KNOWN = 20  # names that a message lists

UNCONVERGED = """An iteration stopped before its tolerance; the message carries the certificate.

Examples
--------
>>> import warnings
>>> from mercer.errors import ConvergenceWarning
>>> with warnings.catch_warnings():
...     warnings.simplefilter("error", ConvergenceWarning)  # rather no answer than a rough one
"""


class MercerError(Exception):
    """Anything that mercer refuses to do.

    Examples
    --------
    >>> from mercer.kernels import parse
    >>> try:
    ...     parse("Gausian(1.0)")
    ... except MercerError as error:
    ...     print(type(error).__name__)
    NotationError
    """


class DomainError(MercerError, ValueError):
    """The data is not what the kernel needs; the message names the item or column.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> VECTORS.admit([[1.0], [float("nan")]])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: Input X contains NaN at row 1, column 0; remove the item or ...
    """


class DomainTypeError(DomainError, TypeError):
    """The data holds objects of a type that cannot be read as numbers.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> try:
    ...     VECTORS.admit([[1.0], [{}]])
    ... except TypeError as error:
    ...     print(type(error).__name__)
    DomainTypeError
    """


class ValidityError(MercerError, ValueError):
    """The kernel is not valid, or not complete; the message names the node of the expression.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian(-1.0)
    Traceback (most recent call last):
        ...
    mercer.errors.ValidityError: bandwidth of Gaussian must be a finite number and ...
    """


class PlanError(MercerError, MemoryError):
    """The work would not fit; the message says the bytes needed and the bytes there.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.plans import Plan
    >>> machine = KernelRidge("gaussian", follow=Plan(memory=1000, approximate="never"))
    >>> try:
    ...     machine.fit([[float(i)] for i in range(100)], range(100))
    ... except MemoryError as error:
    ...     print(type(error).__name__)
    PlanError
    """


class ClusterError(MercerError, RuntimeError):
    """A cluster does not answer or cannot do the work; the message names the worker or file.

    Examples
    --------
    >>> try:
    ...     raise ClusterError("worker 'tcp://10.0.0.7:8786' does not answer")
    ... except MercerError as error:
    ...     print(error)
    worker 'tcp://10.0.0.7:8786' does not answer
    """


class SolveError(MercerError, LinAlgError):
    """A system has no trustworthy solution; the message says why and what to try.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> try:
    ...     KernelRidge("linear", penalty=0.0).fit([[1.0], [1.0]], [1.0, 2.0])
    ... except SolveError as error:
    ...     print(type(error).__name__)
    SolveError
    """


class SelectionError(MercerError, ValueError):
    """A grid, its folds or its scoring cannot work; the message names what is wrong.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection import GridSearchCV
    >>> try:
    ...     GridSearchCV(KernelRidge(), {"penality": [1.0]}).fit([[1.0], [2.0]], [1.0, 2.0])
    ... except SelectionError as error:
    ...     print(error)
    KernelRidge has no parameter 'penality'; did you mean 'penalty'?
    """


class FileError(MercerError, ValueError):
    """A model file cannot be written or read; the message says what is in the way.

    Examples
    --------
    >>> import tempfile
    >>> import mercer
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         mercer.load(file.name)
    ...     except FileError as error:
    ...         print(type(error).__name__)
    FileError
    """


class SelectionWarning(UserWarning):
    """A choice that deserves a second look, such as a best value at the border of a grid.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SelectionWarning)  # the grid is what it is
    """


class PlanWarning(UserWarning):
    """Work is done in another way than planned; the message says why and how.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PlanWarning)  # do it as planned or not at all
    """


class ModelWarning(UserWarning):
    """Something about a generative model that deserves a second look: an impossible item, a
    singular information matrix.

    Examples
    --------
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ModelWarning)  # where impossible items are expected
    """


if TYPE_CHECKING:

    class ConvergenceWarning(UserWarning):
        """An iteration stopped before its tolerance; the message carries the certificate."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for a close match, otherwise the known words."""
    known = sorted(known)
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.6)
    if not close:
        small = {name.lower(): name for name in reversed(known)}
        close = difflib.get_close_matches(str(word).lower(), small, n=1, cutoff=0.6)
        close = [small[name] for name in close]
    if close:
        return f"; did you mean {close[0]!r}?"
    names = ", ".join(repr(shortened(name)) for name in known[:MAX_KNOWN])
    more = f" and {len(known) - MAX_KNOWN} more" if len(known) > MAX_KNOWN else ""
    return f"; known are {names}{more}"


def shortened(text: object, longest: int = 60) -> str:
    """Return a text that does not fill a message.

    Examples
    --------
    >>> shortened("a very long name", 8)
    'a very …'
    """
    found = str(text)
    return found if len(found) <= longest else found[: longest - 1] + "…"


def renamed(module: str, names: dict[str, str], home: str | None = None) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that answers to old names for one version, with a warning.

    The new names are those of `home`, by default the same module.

    Examples
    --------
    >>> getattr_ = renamed("math", {"root": "sqrt"})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     getattr_("root")(4.0)
    2.0
    >>> str(caught[0].message)
    'math.root is now called math.sqrt; the old name goes with the next version'
    """

    home = home or module

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(
            f"{module}.{name} is now called {home}.{names[name]}; the old name goes with the "
            "next version",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(sys.modules[home], names[name])

    return __getattr__


def __getattr__(name: str) -> Any:
    """Make `ConvergenceWarning` when it is first asked for: it is also scikit-learn's.

    Whoever imports mercer alone need not wait for scikit-learn.
    """
    if name != "ConvergenceWarning":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning as TheirWarning

    made = type(name, (TheirWarning,), {"__doc__": UNCONVERGED, "__module__": __name__})
    return globals().setdefault(name, made)
