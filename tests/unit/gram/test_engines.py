"""Another engine computes for every machine, and neither machines nor solvers know of it."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC, KernelRidge, Nystrom, Plan
from mercer.errors import PlanError, ValidityError
from mercer.gram import Blocked, LowRank, assemble, engine_named, register_engine
from mercer.gram.engines import NumPyEngine, _engines, choose_engine
from mercer.kernels import Gaussian, Linear, Spectrum


class Counted(Blocked):
    """A Gram matrix that counts what is asked of it."""

    def __init__(self, kernel, points, asked):
        super().__init__(kernel, points)
        self.asked = asked

    def __matmul__(self, vectors):
        self.asked.append("product")
        return super().__matmul__(vectors)

    def upper(self):
        self.asked.append("dense")
        return super().upper()

    def fill(self, out):
        self.asked.append("dense")
        super().fill(out)

    def combine(self, columns, coefficients):
        self.asked.append("columns")
        return super().combine(columns, coefficients)


class Toy(NumPyEngine):
    """An engine as somebody else might write it; here it lets NumPy compute and keeps count."""

    def __init__(self):
        self.asked = []

    def gram(self, kernel, points, precision):
        return Counted(kernel, points, self.asked)

    def sketch(self, kernel, rows, centers, precision, uniform):
        self.asked.append("sums")
        return super().sketch(kernel, rows, centers, precision, uniform)


@pytest.fixture
def toy():
    engine = Toy()
    register_engine("toy", engine)
    yield engine
    del _engines["toy"]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)


@pytest.mark.parametrize("solver", ["cholesky", "iterative"])
def test_a_ridge_is_fitted_by_another_engine(toy, data, solver):
    X, y = data
    plain = KernelRidge(Gaussian(1.0), penalty=0.1, follow=Plan(solver=solver)).fit(X, y)
    plan = Plan(solver=solver, device="toy")
    machine = KernelRidge(Gaussian(1.0), penalty=0.1, follow=plan).fit(X, y)
    assert machine.plan_.device == "toy"
    assert {"cholesky": "dense", "iterative": "product"}[solver] in toy.asked
    np.testing.assert_array_equal(machine.predict(X), plain.predict(X))


def test_a_support_vector_machine_is_fitted_by_another_engine(toy, data):
    X, y = data
    plain = SVC(Gaussian(1.0)).fit(X, y > 0)
    machine = SVC(Gaussian(1.0), follow=Plan(device="toy")).fit(X, y > 0)
    assert machine.plan_.device == "toy"
    assert toy.asked
    np.testing.assert_array_equal(machine.decision_function(X), plain.decision_function(X))


def test_an_approximate_ridge_is_fitted_by_another_engine(toy, data):
    X, y = data
    plan = Plan(approximate=Nystrom(20), device="toy")
    machine = KernelRidge(Gaussian(1.0), penalty=0.1, follow=plan).fit(X, y)
    assert machine.plan_.device == "toy"
    assert "sums" in toy.asked


def test_a_plan_names_only_engines_that_are_there(data):
    with pytest.raises(ValidityError, match="toy"):
        Plan(device="toy")
    with pytest.raises(PlanError, match="there is no device 'toy'"):
        engine_named("toy")


def test_nobody_is_sent_to_an_engine_that_does_not_want_the_work(toy, data):
    X, _ = data
    assert choose_engine("auto", Gaussian(1.0).admit(X)) == "cpu"
    assert choose_engine("toy", Gaussian(1.0).admit(X)) == "toy"


def test_strings_are_refused_by_a_gpu():
    k = Spectrum(2)
    with pytest.raises(PlanError, match="no rows of numbers"):
        choose_engine("cuda", k.admit(["abc", "abd"]))


def test_features_are_multiplied_where_they_are_made():
    linear = Linear()
    assert isinstance(assemble(linear, linear.admit([[1.0], [2.0]]), "primal"), LowRank)
