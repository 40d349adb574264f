"""Nothing public escapes the laws."""

import ast
import inspect
import subprocess
import sys

import mercer.kernels
import mercer.machines
import mercer.solvers
from mercer.kernels import Kernel
from mercer.machines import Machine
from mercer.solvers import Solver
from mercer.testing import KERNEL_LAWS, MACHINE_LAWS, SOLVER_LAWS
from tests.laws.entries import nodes_of
from tests.laws.registry import KERNELS, MACHINES, SOLVERS


def kernel_makers(names=mercer.kernels.__all__, module=mercer.kernels):
    """Return the public names that make a kernel: its classes, and functions that return one."""
    return {name for name in names if makes_a_kernel(getattr(module, name))}


def makes_a_kernel(thing):
    if inspect.isclass(thing):
        return issubclass(thing, Kernel) and is_concrete(thing)
    if not inspect.isfunction(thing):
        return False
    return inspect.signature(thing).return_annotation in ("Kernel", Kernel)


def is_concrete(cls):
    """Tell the dataclasses among kernels, which have parameters, from their common ancestors."""
    return "__dataclass_fields__" in vars(cls)


def kernel_classes(cls=Kernel):
    """Return every concrete class of kernels in mercer, whether or not its name is public."""
    found = {cls} if is_concrete(cls) and cls.__module__.startswith("mercer.kernels.") else set()
    return found.union(*(kernel_classes(below) for below in cls.__subclasses__()))


def subclasses(module, ancestor):
    """Return the public classes of a module below `ancestor`."""
    public = (getattr(module, name) for name in module.__all__)
    return {c for c in public if inspect.isclass(c) and issubclass(c, ancestor) and c != ancestor}


def named_in(entries):
    """Return the names that the formulas of some entries use."""
    trees = (ast.walk(ast.parse(entry.formula)) for entry in entries)
    return {node.id for tree in trees for node in tree if isinstance(node, ast.Name)}


def test_every_public_kernel_has_an_entry():
    assert kernel_makers() - named_in(KERNELS) == set()


def test_every_class_of_kernels_occurs_in_an_entry():
    found = set().union(*(nodes_of(entry.kernel) for entry in KERNELS))
    assert kernel_classes() - found == set()


def test_every_public_solver_has_an_entry():
    assert subclasses(mercer.solvers, Solver) - {type(case.solver) for case in SOLVERS} == set()


def test_every_public_machine_has_an_entry():
    assert subclasses(mercer.machines, Machine) - {type(e.machine) for e in MACHINES} == set()


def test_every_machine_of_the_front_door_is_one_of_the_machines():
    offered = {getattr(mercer, name) for name in mercer.__all__}
    machines = {c for c in offered if inspect.isclass(c) and issubclass(c, Machine)}
    assert machines == subclasses(mercer.machines, Machine)


def test_every_law_of_kernels_says_something_about_some_entry():
    silent_everywhere = set(KERNEL_LAWS).intersection(*(entry.silent() for entry in KERNELS))
    assert silent_everywhere <= {"torch_tensors"}  # where torch is not installed


def test_entries_are_different():
    names = [str(entry) for entry in KERNELS]
    assert sorted(names) == sorted(set(names))


def test_the_registry_knows_what_makes_a_kernel():
    makers = kernel_makers()
    assert {"Gaussian", "Categorical", "exp", "from_function", "precomputed"} <= makers
    assert makers.isdisjoint({"Kernel", "VectorKernel", "Proof", "Witness", "Block", "check"})


def test_a_kernel_without_an_entry_would_be_noticed():
    named = [named_in([entry]) for entry in KERNELS]
    for name in kernel_makers():
        others = set().union(*(names for names in named if name not in names))
        assert name in kernel_makers() - others


def test_a_class_of_kernels_without_an_entry_would_be_noticed():
    nodes = [nodes_of(entry.kernel) for entry in KERNELS]
    for cls in kernel_classes():
        others = set().union(*(classes for classes in nodes if cls not in classes))
        assert cls in kernel_classes() - others


def test_a_new_solver_or_machine_would_be_noticed():
    class Module:
        class Another(Solver): ...

        class Newest(Machine): ...

        __all__ = ["Another", "Newest"]

    assert subclasses(Module, Solver) == {Module.Another}
    assert subclasses(Module, Machine) == {Module.Newest}


def test_the_laws_need_no_test_framework():
    code = "import sys, mercer.testing; print({'pytest', 'hypothesis'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "set()"


def test_laws_have_a_claim_to_read():
    for law in [*KERNEL_LAWS.values(), *SOLVER_LAWS.values(), *MACHINE_LAWS.values()]:
        assert law.__doc__ and law.__doc__.strip()[-1] == "."
