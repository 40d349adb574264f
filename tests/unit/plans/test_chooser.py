"""The chooser takes the first candidate that fits, and a decision names what ran."""

from dataclasses import replace

import numpy as np
import pytest

import mercer
from mercer import KernelMeans, Plan
from mercer.errors import PlanError
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Text
from mercer.plans import Nystrom, Size
from mercer.plans.chooser import Candidate, choose, size_of
from mercer.solvers import Cholesky, Eigen, Iterative
from mercer.solvers.cost import UNCONDITIONAL, Cost, Requirements


class Fixed:
    """A solver that costs what it says."""

    def __init__(self, each, seconds=1.0, requires=UNCONDITIONAL):
        self.each, self.seconds, self.requires = each, seconds, requires

    def cost(self, size):
        return Cost(self.each * size.items, self.seconds)


def ways():
    size = Size(items=100)
    return [
        Candidate("fast", Fixed(50), size, ("it is fast",)),
        Candidate("small", Fixed(10), size, ("it is small",), "the fast one does not fit"),
    ]


def test_the_first_that_fits_is_taken_and_says_why_not_the_one_before():
    assert choose(Plan(memory=10_000), ways()).solver == "fast"
    found = choose(Plan(memory=1000), ways())
    assert found.solver == "small" and found.bytes == 1000
    assert found.reasons == ("it is small", "the fast one does not fit")


def test_a_refusal_is_about_the_one_that_needs_least():
    with pytest.raises(PlanError, match=r"needs 1.0 kB, but 500 bytes .* about 50 items would"):
        choose(Plan(memory=500), ways())


def test_what_requires_more_than_is_true_is_passed_over():
    fast, small = ways()
    few = Requirements(max_order=50)
    impossible = replace(fast, solver=Fixed(1, requires=few))
    assert choose(Plan(memory=10_000), [impossible, small]).solver == "small"
    assert choose(Plan(memory=10_000), [replace(fast, worthwhile=few), small]).solver == "small"


def test_what_it_may_give_way_to_must_fit_as_well():
    fast, small = ways()
    candidates = [replace(small, name="steps", beside=fast.solver), small]
    assert choose(Plan(memory=5000), candidates).solver == "steps"
    assert choose(Plan(memory=4999), candidates).solver == "small"


def test_approximations_are_for_those_who_cannot_wait_or_have_no_memory():
    exact, rough = ways()[:1], [Candidate("rough", Fixed(10), Size(items=100), ("it is rough",))]
    assert choose(Plan(memory=5000), exact, rough).solver == "fast"
    found = choose(Plan(memory=1000), exact, rough)
    assert found.solver == "rough" and found.reasons[1] == "it is rough"
    assert found.reasons[0] == (
        "approximate, because exactly a fit on 100 items needs 5.0 kB, but 1.0 kB are available"
    )
    hurry = Plan(memory=5000, patience=0.5)
    found = choose(hurry, exact, rough)
    assert found.solver == "rough" and "patience of 0 seconds" in found.reasons[0]
    # What takes too long is better than nothing.
    large = [replace(rough[0], solver=Fixed(100))]
    assert choose(hurry, exact, large).solver == "fast"
    with pytest.raises(PlanError, match=r"needs 5.0 kB, but 1.0 kB"):
        choose(Plan(memory=1000), exact, large)


def test_requirements_are_about_what_is_known_before_any_work():
    assert Iterative.requires.met(Size(items=10))
    assert not Iterative.requires.met(Size(items=10, solution_only=False))
    assert not Iterative.requires.met(Size(items=10, condition=np.inf))
    assert not Cholesky.requires.met(Size(items=10, definite=False))
    assert Eigen.requires.met(Size(items=10, definite=False))
    assert not Requirements(features=True).met(Size(items=10))


X = np.random.default_rng(0).normal(size=(300, 3))
y, labels = X[:, 0], (X[:, 0] > X[:, 1]).astype(int)
SKETCH = Plan(approximate=Nystrom(20))

# What a fit says of itself, for each solver that a decision can name.
RUNS = {
    "cholesky": (mercer.KernelRidge(Gaussian(1.0)), "cholesky"),
    "primal": (mercer.KernelRidge(Linear()), "primal"),
    "eigen": (mercer.KernelRidge(Gaussian(1.0), follow=Plan(solver="eigen")), "eigen"),
    "repaired": (mercer.KernelRidge(Gaussian(1.0), indefinite="clip"), "cholesky"),
    "iterative": (mercer.KernelRidge(Gaussian(1.0), follow=Plan(solver="iterative")), "iterative"),
    "sketch": (mercer.KernelRidge(Gaussian(1.0), follow=SKETCH), "nystrom"),
    "discriminant": (mercer.KernelDiscriminant(Gaussian(1.0)), "cholesky"),
    "process": (mercer.GaussianProcess(Gaussian(1.0)), "cholesky"),
    "newton": (mercer.KernelLogistic(Gaussian(1.0)), "newton"),
    "sketched newton": (mercer.KernelLogistic(Gaussian(1.0), follow=SKETCH), "sketched newton"),
    "squared slacks": (mercer.SVC(Gaussian(1.0), follow=SKETCH), "sketched newton"),
    "lanczos": (mercer.KernelPCA(Gaussian(1.0), 2, solver="partial"), "partial"),
    "components": (mercer.KernelPCA(Gaussian(1.0)), "dense"),
    "interpolation": (mercer.RBFNetwork(Gaussian(0.1), penalty=0.0), "cholesky"),
    "network": (mercer.RBFNetwork(Gaussian(1.0), "random"), "qr"),
}
NAMES = {
    "primal": "cholesky", "nystrom": "eigen", "sketched newton": "newton", "partial": "lanczos",
    "dense": "eigen", "qr": "least squares",
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_decision_names_what_ran(name):
    machine, solver = RUNS[name]
    target = labels if hasattr(machine, "predict_proba") or name == "squared slacks" else y
    machine.fit(X, target)
    assert machine.solution_.solver == solver
    assert machine.plan_.solver == NAMES.get(solver, solver)
    assert machine.plan(X).solver == machine.plan_.solver


def test_steps_that_give_way_to_a_factor_are_not_what_ran(monkeypatch):
    worthwhile = replace(Iterative.worthwhile, min_order=200)
    monkeypatch.setattr(Iterative, "worthwhile", worthwhile)
    machine = mercer.KernelRidge(Laplacian(0.3), 1e-3)
    assert machine.plan(X).solver == "iterative" and machine.plan(X).direct
    machine.fit(X, y)
    assert machine.plan_.solver == machine.solution_.solver == "cholesky"
    assert "steps were foreseen, so that the direct way was taken" in machine.plan_.explain()
    assert machine.solution_.certificate < 1e-9


@pytest.mark.parametrize("machine", [mercer.SVC, mercer.NuSVC, mercer.SVR, mercer.OneClassSVM])
def test_support_vector_machines_name_their_method(machine):
    fitted = machine(Gaussian(1.0)).fit(X, labels)
    assert fitted.plan_.solver == "smo" and "block SMO" in fitted.plan_.explain()


def test_features_that_are_mostly_zero_count_by_their_entries():
    words = [f"word{i}" for i in range(900)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 12)) for _ in range(1000)]
    kernel = Text()
    points = kernel.admit(texts)
    size = size_of(kernel.resolve(points), points)
    features = kernel.resolve(points).features(texts)
    true = (features.data.nbytes + features.indices.nbytes) / 1000
    assert size.features > 800 and true < size.feature_row < 2 * true
    assert KernelMeans(kernel, 3).plan(texts).bytes < 0.5 * 8 * 1000 * size.features * 2 + 12e6
    dense = Polynomial(3, offset=1.0)
    vectors = dense.admit(rng.normal(size=(300, 3)))
    assert size_of(dense, vectors).feature_row is None
