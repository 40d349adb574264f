"""The registry: which classes and functions a model file may name.

A file names classes; it never says where to import them from. The classes are mercer's own, by
the room that they live in (``kernels.Gaussian``), a few of scikit-learn's, and what the loading
program has registered itself.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from mercer.domains import Graph, Labels, Points
from mercer.errors import FileError, suggestion
from mercer.values import Value

__all__ = ["class_named", "name_of_class", "name_of_function", "register", "registered"]

ROOMS = (
    "values", "domains", "models", "kernels", "plans", "solvers", "rkhs", "machines", "cognition"
)  # fmt: skip
PLAIN = (Graph, Labels)  # neither values, points, estimators nor dataclasses
RENAMED: dict[str, str] = {
    "cognition.Layout": "cognition.ParameterLayout",
    "cognition.Pinned": "cognition.PinnedSimplex",
    "cognition.Positive": "cognition.PositiveReal",
    "plans.MarginPlan": "plans.Plan",
    "plans.SpectralPlan": "plans.Plan",
    "plans.NewtonPlan": "plans.Plan",
    "kernels.Basis": "kernels.BasisFunctions",
    "solvers.Spectrum": "solvers.Eigenpairs",
    "solvers.Walk": "solvers.PerceptronSolution",
}  # classes that older files know by another name
# Classes of rooms that come after this one, by the module that is imported for them.
LATER = {"sources.TableReader": "mercer.sources.table_reader"}
OWN = "registered"  # the "room" of what users have registered

Thing = TypeVar("Thing", bound=Callable[..., Any])
_registered: dict[str, Callable[..., Any]] = {}


def register(name: str, thing: Thing) -> Thing:
    """Let model files name a function, or a class of kernels or models, of your own.

    A file never holds code, so a kernel made of a Python function can only be saved by a name
    under which the loading program has the same function. Register it in a module that both
    import. A later registration under the same name replaces an earlier one.

    Parameters
    ----------
    name : str
    thing : function or class

    Returns
    -------
    function or class
        The same one, so that it may be used as a decorator's end.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> from mercer.kernels import from_function
    >>> def shared_letters(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> _ = register("shared letters", shared_letters)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "kernel.mercer")
    ...     mercer.save(from_function(shared_letters), path)
    ...     mercer.load(path)
    from_function(shared_letters)
    """
    if not isinstance(name, str) or not name:
        raise FileError(f"a function is registered under a name, found {name!r}")
    if not callable(thing):
        raise FileError(f"only functions and classes are registered, found {thing!r}")
    _registered[name] = thing
    return thing


def registered(name: object) -> Callable[..., Any]:
    """Return the function of a name in a file, or say that this program has none."""
    if not isinstance(name, str) or name not in _registered:
        name = name[:80] if isinstance(name, str) else name
        hint = suggestion(str(name), _registered) if _registered else ""
        raise FileError(
            f"the file names a function {name!r} that this program has not registered{hint}; call "
            "mercer.files.register(name, function) before mercer.load"
        )
    return _registered[name]


def name_of_function(function: object) -> str | None:
    """Return the name under which a function is registered, or None."""
    return next((name for name, thing in _registered.items() if thing is function), None)


def name_of_class(cls: type) -> str:
    """Return the name of a class in files, or refuse one that they may not name."""
    own = name_of_function(cls)
    if own is not None:
        return f"{OWN}.{own}"
    for name, known in _foreign().items():
        if known is cls:
            return name
    parts = cls.__module__.split(".")
    if LATER.get(f"{parts[1]}.{cls.__name__}" if len(parts) > 1 else "") == cls.__module__:
        return f"{parts[1]}.{cls.__name__}"
    name = f"{parts[1]}.{cls.__name__}" if parts[0] == "mercer" and len(parts) > 1 else ""
    if name and _classes().get(name) is cls:
        return name
    raise FileError(
        f"{cls.__module__}.{cls.__qualname__} is a class that mercer does not know, so a model "
        "file cannot name it; register it with mercer.files.register(name, class)"
    )


def class_named(name: object) -> type:
    """Return the class of a name in a file; nothing is imported because a file says so.

    Examples
    --------
    >>> class_named("kernels.Gaussian")
    <class 'mercer.kernels.vectors.stationary.Gaussian'>
    >>> class_named("os.system")
    Traceback (most recent call last):
        ...
    mercer.errors.FileError: the file names a class 'os.system' that mercer does not have; ...
    """
    name = RENAMED.get(name, name) if isinstance(name, str) else ""
    if name.startswith(f"{OWN}."):
        thing = registered(name.removeprefix(f"{OWN}."))
        if inspect.isclass(thing) and _savable(thing):
            return thing
    if name in LATER:
        later: type = getattr(importlib.import_module(LATER[name]), name.partition(".")[2])
        return later
    found = _foreign().get(name) or _classes().get(name)
    if found is None:
        _import_everything()
        found = _classes().get(name)
    if found is None:
        raise FileError(
            f"the file names a class {name[:80]!r} that mercer does not have; it was made by "
            "another version, or tampered with"
        )
    return found


def _classes() -> dict[str, type]:
    """Return the classes of mercer's own that have been imported, by room and name."""
    modules = (module for name, module in list(sys.modules.items()) if name[:7] == "mercer.")
    return _classes_of(*(module for module in modules if module.__name__.split(".")[1] in ROOMS))


@lru_cache(maxsize=1)  # asked for each object in a file, and different only after an import
def _classes_of(*modules: ModuleType) -> dict[str, type]:
    found: dict[str, type] = {}
    twice: set[str] = set()
    for module in modules:
        room = module.__name__.split(".")[1]
        for cls in list(vars(module).values()):
            if inspect.isclass(cls) and cls.__module__ == module.__name__ and _savable(cls):
                known = f"{room}.{cls.__name__}"
                if found.setdefault(known, cls) is not cls:
                    twice.add(known)  # of helpers, which nobody saves
    return {name: cls for name, cls in found.items() if name not in twice}


def _savable(cls: type) -> bool:
    kinds = (Value, Points, BaseEstimator, *PLAIN)
    return issubclass(cls, kinds) or dataclasses.is_dataclass(cls)


def _foreign() -> dict[str, type]:
    """Return the classes of scikit-learn that stand before a machine in a pipeline."""
    from sklearn import pipeline, preprocessing

    return {
        "sklearn.Pipeline": pipeline.Pipeline,
        "sklearn.StandardScaler": preprocessing.StandardScaler,
        "sklearn.MinMaxScaler": preprocessing.MinMaxScaler,
        "sklearn.MaxAbsScaler": preprocessing.MaxAbsScaler,
        "sklearn.RobustScaler": preprocessing.RobustScaler,
        "sklearn.Normalizer": preprocessing.Normalizer,
    }


def _import_everything() -> None:
    """Import all modules of mercer's rooms: some are otherwise only imported when needed."""
    for room in ROOMS:
        package = importlib.import_module(f"mercer.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
