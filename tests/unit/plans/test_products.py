"""Plans for components, logistic regression and networks: routes, refusals, predicted bytes."""

import numpy as np
import pytest

from mercer.errors import PlanError, ValidityError
from mercer.kernels import Gaussian, Polynomial
from mercer.machines.logistic import KernelLogistic
from mercer.machines.network import RBFNetwork
from mercer.machines.pca import KernelPCA
from mercer.plans import Plan, Size, requested
from mercer.plans.products import choose_network, choose_newton, choose_spectrum
from tests.measure import peak

LOW, HIGH = 0.9, 1.8


@pytest.fixture(autouse=True)
def two_cores(use_cores):
    use_cores(2)


def rows(n, d=6, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


MACHINES = {
    "logistic, preconditioned": (KernelLogistic(Gaussian(2.0), 1e-5), 1000, 6),
    "logistic, features": (KernelLogistic(Polynomial(2, 1.0), 1e-6), 5000, 20),
    "few components": (KernelPCA(Gaussian(2.0), 10, random_state=0), 1500, 6),
    "few components of all": (KernelPCA(Gaussian(2.0), 10, solver="dense"), 800, 6),
    "all components": (KernelPCA(Gaussian(2.0)), 800, 6),
    "all components of features": (KernelPCA(Polynomial(2, 1.0)), 4000, 16),
    "unstored": (
        KernelPCA(Gaussian(2.0), 10, random_state=0, follow=Plan(memory=45_000_000)), 3000, 6,
    ),
    "interpolation": (RBFNetwork(Gaussian(0.3)), 1500, 6),
    "least squares": (RBFNetwork(Gaussian(2.0), penalty=0.1), 800, 6),
    "forward selection": (RBFNetwork(Gaussian(2.0), "ols", 60, penalty=0.1), 1000, 6),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_predicted_bytes_are_hardly_too_low(name):
    machine, n, d = MACHINES[name]
    X = rows(n, d)
    y = X[:, 0] if isinstance(machine, RBFNetwork) else (np.sin(2 * X[:, 0]) > X[:, 1]).astype(int)
    machine.fit(X[:200], y[:200])  # imports
    measured = peak(lambda: machine.fit(X, y))
    assert LOW < machine.plan_.bytes / measured < HIGH


def test_a_refusal_names_a_size_that_fits():
    for plan in (
        lambda size: choose_newton(Plan(memory=50_000_000), size),
        lambda size: choose_spectrum(Plan(memory=50_000_000), size, None, "auto"),
        lambda size: choose_network(Plan(memory=50_000_000), size, centers=20, search=True),
    ):
        with pytest.raises(PlanError, match=r"about (\d+) items would fit") as error:
            plan(Size(items=10_000))
        fits = int(str(error.value).split("about ")[1].split(" items")[0])
        assert plan(Size(items=fits)).bytes <= 50_000_000
        with pytest.raises(PlanError):
            plan(Size(items=fits + 1))


def test_the_route_is_that_of_fewer_numbers():
    assert choose_newton(Plan(), Size(items=100, features=10)).route == "primal"
    assert choose_newton(Plan(), Size(items=100, features=60)).route == "dual"
    assert choose_newton(Plan(), Size(items=100)).route == "dual"
    assert choose_newton(Plan(route="dual"), Size(items=100, features=10)).route == "dual"
    with pytest.raises(ValidityError, match="finitely many features"):
        choose_newton(Plan(route="primal"), Size(items=100))


def test_what_the_user_has_decided_is_a_plan():
    assert requested(None) == Plan()
    assert requested(Plan(route="dual")).route == "dual"
    with pytest.raises(ValidityError, match="follow must be a Plan, found 'dual'"):
        requested("dual")


def test_plans_say_why():
    plan = choose_spectrum(Plan(memory=10**9), Size(items=1000), 5, "auto")
    assert "only the 5 largest eigenvalues" in plan.explain()
    assert (
        "exact interpolation"
        in choose_network(Plan(), Size(items=10), 10, interpolate=True).explain()
    )
