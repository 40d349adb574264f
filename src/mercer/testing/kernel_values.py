"""Laws about a kernel as a value: nothing but its parameters, and unchangeable."""

from __future__ import annotations

import builtins
import copy
import pickle
from typing import Any

import numpy as np

import mercer.kernels
from mercer.errors import ValidityError
from mercer.kernels import Kernel
from mercer.testing.kernel_case import KernelCase
from mercer.testing.law import refused

__all__ = ["LAWS"]


def formula(case: KernelCase) -> None:
    """`repr` is the formula in code: it evaluates to an equal kernel with the same formula."""
    again = evaluated(case)
    assert again == case.kernel, f"{case.kernel!r} evaluates to {again!r}"
    assert repr(again) == repr(case.kernel), f"its formula becomes {again!r}"


def pickling(case: KernelCase) -> None:
    """A kernel comes back from a pickle as it was."""
    again = pickle.loads(pickle.dumps(case.kernel))
    assert again == case.kernel and repr(again) == repr(case.kernel), f"it comes back as {again!r}"
    _require_immutable(again)


def copies(case: KernelCase) -> None:
    """Copies and scikit-learn's clones are equal to the kernel, and as unchangeable."""
    from sklearn.base import clone

    for make in (copy.copy, copy.deepcopy, clone):
        again = make(case.kernel)
        assert again == case.kernel, f"{make.__name__} gives {again!r}"
        _require_immutable(again)


def hashing(case: KernelCase) -> None:
    """Equal kernels have equal hashes, and are not equal to what they are not."""
    same, k = k_copy(case.kernel), case.kernel
    assert same == k and hash(same) == hash(k), "a copy has another hash"
    assert len({k, same}) == 1, "a set holds it twice"
    assert k != 2.0 * k and k != repr(k), "it is equal to something else"


def immutability(case: KernelCase) -> None:
    """No parameter can be set, deleted or added, nor an array among them be written into."""
    _require_immutable(case.kernel)


def parameters(case: KernelCase) -> None:
    """`get_params` tells all that a kernel is; `set_params` returns a copy and changes nothing."""
    k, before = case.kernel, repr(case.kernel)
    assert type(k)(**k.get_params(deep=False)) == k, "its parameters do not make it again"
    assert k.set_params(**k.get_params()) == k, "setting its parameters to themselves changes it"
    for path, value in k.get_params().items():
        if isinstance(value, float) and np.isfinite(value):
            other = 1.5 * abs(value) + 0.5
            changed = k.set_params(**{path: other})
            assert changed.get_params()[path] == other, f"{path} was not set"
            assert changed != k, f"another {path} makes an equal kernel"
    assert repr(k) == before, f"it was changed to {k!r}"


def unknown_parameters(case: KernelCase) -> None:
    """A misspelled parameter is refused, with the one that was meant."""
    k = case.kernel
    refused(ValidityError, "a parameter that does not exist", k.set_params, nonsense=1.0)
    for path in k.get_params():
        message = refused(ValidityError, f"{path}e", k.set_params, **{path + "e": 1.0})
        meant = path.rpartition("__")[2]
        assert f"did you mean {meant!r}" in message, f"{path}e: {message}"


def evaluated(case: KernelCase) -> Any:
    """Evaluate a kernel's formula with the public names of `mercer.kernels` and nothing more."""
    public = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    return eval(repr(case.kernel), {"__builtins__": builtins, **public, **case.names})


def k_copy(k: Kernel) -> Kernel:
    """Return an equal kernel that is another object, made from the parameters."""
    return type(k)(
        **{
            name: k_copy(value) if isinstance(value, Kernel) else value
            for name, value in k.get_params(deep=False).items()
        }
    )


def _require_immutable(k: Kernel) -> None:
    for name, value in {**k.get_params(deep=False), "something_new": 1.0}.items():
        refused(AttributeError, f"setting {name}", setattr, k, name, 1.0)
        refused(AttributeError, f"deleting {name}", delattr, k, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, f"the array {name} can be written into"
        if isinstance(value, Kernel):
            _require_immutable(value)


LAWS = {
    law.__name__: law
    for law in (
        formula,
        pickling,
        copies,
        hashing,
        immutability,
        parameters,
        unknown_parameters,
    )
}
