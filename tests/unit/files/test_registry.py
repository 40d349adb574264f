"""A file can name mercer's own classes and registered functions, and nothing else."""

import inspect
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import mercer
from mercer import ExemplarClassifier, KernelRidge
from mercer.errors import FileError
from mercer.files import register, registry
from mercer.files.registry import ROOMS, class_named, name_of_class
from mercer.kernels import (
    Gaussian,
    Kernel,
    Linear,
    from_basis,
    from_features,
    from_function,
    kernel,
    pullback,
    rescale,
)
from mercer.models import from_log_density


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def one(x):
    return 1.0


def both(x, z):
    return float(len(x) * len(z))


def vector(x):
    return [float(len(x))]


FUNCTIONAL = {
    "from_function": from_function(both),
    "from_features": from_features(vector),
    "from_basis": from_basis([one]),
    "pullback": pullback(Gaussian(1.0), vector),
    "rescale": rescale(Linear(), one),
    "inside": 2.0 * from_function(both) + Linear(),
    "log density": from_log_density(both, theta=1.0),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_a_function_of_the_user_is_refused_with_an_explanation(name, tmp_path):
    with pytest.raises(FileError, match=r"Python function .*never holds code.*register"):
        mercer.save(FUNCTIONAL[name], tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_a_registered_function_is_saved_by_its_name(name, tmp_path):
    for function in (one, both, vector):
        register(f"my {function.__name__}", function)
    mercer.save(FUNCTIONAL[name], tmp_path / "x")
    assert mercer.load(tmp_path / "x") == FUNCTIONAL[name]


@pytest.mark.slow
def test_another_program_finds_classes_but_not_functions(tmp_path):
    """Of a room that it has not imported yet, too; and is told which function it lacks."""
    register("both", both)
    words = ["cat", "house", "x"]
    mercer.save(ExemplarClassifier(from_function(both)).fit(words, [0, 1, 0]), tmp_path / "x")
    code = f"""
import sys, mercer
from mercer.files.registry import class_named
print("mercer.cognition" in sys.modules, class_named("cognition.GCM").__name__)
mercer.load({str(tmp_path / "x")!r})
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["False", "GCM"]
    assert run.returncode != 0
    assert "'both' that this program has not registered" in run.stderr


def test_a_later_registration_counts(tmp_path):
    register("f", both)
    mercer.save(from_function(both), tmp_path / "x")
    register("f", one)
    assert mercer.load(tmp_path / "x") == from_function(one)


@pytest.mark.parametrize(("name", "thing"), [("", one), (3, one), ("f", "os.system"), ("f", None)])
def test_only_functions_are_registered_and_only_under_names(name, thing):
    with pytest.raises(FileError):
        register(name, thing)


@kernel
class Own(Kernel):
    unit: float = 1.0

    def pair(self, x, z):
        return self.unit * len(x) * len(z)


def test_a_class_of_the_user_is_saved_by_its_registered_name(tmp_path):
    with pytest.raises(FileError, match="register"):
        mercer.save(Own(2.0), tmp_path / "x")
    register("own kernel", Own)
    machine = KernelRidge(Own(2.0)).fit(["a", "bb"], [1.0, 2.0])
    mercer.save(machine, tmp_path / "x")
    loaded = mercer.load(tmp_path / "x")
    assert loaded.kernel == Own(2.0)
    assert loaded.predict(["ccc"]).tobytes() == machine.predict(["ccc"]).tobytes()


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "__class__", "kernels.__class__", "kernels", "", None, 3, [],
     "mercer.kernels.Gaussian", "kernels.stationary.Gaussian", "kernels.named", "files.Encoder",
     "subprocess.Popen", "kernels.Gaussian ", "../kernels.Gaussian", "registered.os",
     "sklearn.FunctionTransformer", "numpy.ndarray", "kernels.np", "domains.annotations",
     "machines.BaseEstimator", "selection.GridSearchCV"],
)  # fmt: skip
def test_other_names_are_refused(name):
    with pytest.raises(FileError, match=r"does not have|has not registered"):
        class_named(name)


def test_names_and_classes_belong_together():
    for cls in (Gaussian, mercer.SVC, mercer.rkhs.Function, mercer.domains.Vectors, mercer.Plan):
        assert class_named(name_of_class(cls)) is cls


def test_every_public_class_can_be_named():
    registry._import_everything()
    for room in ROOMS:
        package = import_module(f"mercer.{room}")
        for thing in (getattr(package, name) for name in package.__all__):
            if inspect.isclass(thing) and registry._savable(thing):
                assert class_named(name_of_class(thing)) is thing


def test_an_old_name_can_be_kept(monkeypatch):
    monkeypatch.setitem(registry.RENAMED, "kernels.RBF", "kernels.Gaussian")
    assert class_named("kernels.RBF") is Gaussian


def test_numbers_in_files_are_not_functions(tmp_path):
    mercer.save({"f": np.float64(3.0)}, tmp_path / "x")
    assert mercer.load(tmp_path / "x") == {"f": 3.0}
