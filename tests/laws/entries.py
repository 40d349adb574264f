"""Entries of the registry: something of mercer's, and what the laws should find about it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import mercer.kernels
from mercer.kernels import Kernel
from mercer.testing import KERNEL_LAWS, Inapplicable, KernelCase, MachineCase, apply
from mercer.testing.law import Law
from tests.laws.functions import FUNCTIONS
from tests.laws.items import ITEMS

__all__ = ["Entry", "MachineEntry", "complaints", "nodes_of", "quick_and_slow"]

NAMES = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__} | FUNCTIONS
LIBRARIES = {"strict_arrays": "array_api_strict", "torch_tensors": "torch"}


@dataclass(frozen=True)
class Entry:
    """A kernel, items for it, and what is known about both.

    Parameters
    ----------
    formula, items : str
        The kernel in code, and the name of a set of items.
    traits : str
        Which of the optional properties it has: finitely many "features", "random" features, a
        "heuristic"; whether it compares "rows" of numbers, "sparse" ones too, or a "matrix".
    verdict : {"proved", "refuted", "unknown"}
    tolerance : float
        Where the formula itself loses digits on these items, more than the usual.
    """

    formula: str
    items: str
    traits: str = ""
    verdict: str = "proved"
    tolerance: float = 1e-10

    def __str__(self) -> str:
        return f"{self.formula} on {self.items}"

    @property
    def kernel(self) -> Kernel:
        return eval(self.formula, dict(NAMES))

    @property
    def case(self) -> KernelCase:
        return KernelCase(self.kernel, ITEMS[self.items], FUNCTIONS, self.tolerance)

    def silent(self) -> set[str]:
        """Return the laws that claim nothing about this entry."""
        has, laws = set(self.traits.split()), set()
        if "features" not in has:
            laws |= {"features", "features_of_new_items"}
        if "random" not in has:
            laws |= {"random_features"}
        if "sparse" not in has:
            laws |= {"sparse_rows"}
        if not {"rows", "sparse"} & has:
            laws |= {"layouts", "bad_rows", "overflow", "silence", "single_precision", *LIBRARIES}
        if not {"rows", "sparse"} & has or self.kernel.lacks_gradient() is not None:
            laws |= {"gradient"}
        if "heuristic" not in has:
            laws |= {"heuristics"}
        if "matrix" in has:
            laws |= {"symmetry", "oracle", "self_similarity", "slices"}
        laws |= {"spectrum"} - ({"spectrum"} if self.verdict == "proved" else set())
        laws |= {"refutation"} - ({"refutation"} if self.verdict == "refuted" else set())
        laws |= {law for law, name in LIBRARIES.items() if not importlib.util.find_spec(name)}
        return laws


@dataclass(frozen=True)
class MachineEntry:
    """A machine with something to learn, and the laws that claim nothing about it."""

    name: str
    machine: Any
    items: Any
    target: Any
    new: Any
    silent: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name

    @property
    def case(self) -> MachineCase:
        return MachineCase(self.machine, self.items, self.target, self.new)


def complaints(
    laws: Mapping[str, Law], case: Callable[[], Any], silent: Collection[str]
) -> list[str]:
    """Hold laws against a case, and return what is wrong: laws that do not hold, laws that claim
    something although they are listed as silent, and laws that claim nothing although they are
    not. Each law gets a case of its own."""
    wrong = []
    for name, law in laws.items():
        try:
            apply(law, case())
        except Inapplicable as reason:
            if name not in silent:
                wrong.append(f"{name} claims nothing about {case()}: {reason}")
        except AssertionError as error:
            wrong.append(str(error))
        else:
            if name in silent:
                wrong.append(f"{name} claims something about {case()}, and should not")
    return wrong


def nodes_of(k: Kernel) -> set[type]:
    """Return the classes of a kernel and its parts."""
    return {type(k)}.union(*(nodes_of(part) for part in k.children()))


def quick_and_slow(entries: list[Entry]) -> list[Any]:
    """Return entries as parameters of a test, of which those are slow that bring no new class of
    kernels, kind of items, or law for the class: other parameters of what was there before."""
    seen: set[Any] = set()
    found = []
    for entry in entries:
        kernel, laws = entry.kernel, set(KERNEL_LAWS) - entry.silent()
        brings = nodes_of(kernel) | {entry.items} | {(type(kernel), law) for law in laws}
        found.append(pytest.param(entry, marks=[] if brings - seen else [pytest.mark.slow]))
        seen |= brings
    return found
