"""Machines on a device: here Torch on the CPU stands for the GPU."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import SVC, KernelLogistic, KernelPCA, KernelRidge, Plan, Stream
from mercer.errors import PlanError
from mercer.gram import engines
from mercer.kernels import Chi2, Gaussian, Spectrum
from mercer.plans import Nystrom

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
LABELS = np.where(y > 0, "up", "down")
NEW = RNG.standard_normal((60, 3))
K = Gaussian(1.5)
GPU = Plan(device="cuda")


@pytest.fixture
def gpu(monkeypatch):
    """Let Torch on the CPU be the GPU."""
    monkeypatch.setattr("mercer.gram.device.device_choice", lambda device: "cuda")
    monkeypatch.setitem(engines._engines, "cuda", engines.TorchEngine("cpu"))


def test_without_a_gpu_asking_for_one_is_an_error(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(PlanError, match='device="cuda" cannot be used'):
        KernelRidge(K, follow=GPU).fit(X, y)
    assert KernelRidge(K).fit(X, y).plan_.device == "cpu"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_exact_ridge(gpu, intercept, weighted):
    w = RNG.integers(0, 3, 300).astype(float) if weighted else None
    here = KernelRidge(K, 0.1, intercept=intercept).fit(X, y, w)
    there = KernelRidge(K, 0.1, intercept=intercept, follow=GPU).fit(X, y, w)
    np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=1e-9)
    assert there.plan_.device == "cuda" and there.solution_.solver == "cholesky on a device"
    assert "on the GPU" in there.plan_.explain()
    assert "cholesky, because the Gram matrix fits" in there.plan_.explain()
    assert there.solution_.certificate < 1e-9


def test_a_matrix_that_does_not_fit_there_is_solved_by_steps(gpu, monkeypatch):
    monkeypatch.setattr(engines.TorchEngine, "free_bytes", lambda self: 0)
    here, there = KernelRidge(K, 0.1).fit(X, y), KernelRidge(K, 0.1, follow=GPU).fit(X, y)
    assert there.solution_.solver == "iterative" and there.plan_.precision == "double"
    assert "iterative, because the Gram matrix does not fit" in there.plan_.explain()
    assert "single" not in there.plan_.explain()
    np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=1e-7)


@pytest.mark.parametrize("how", [Nystrom(X[:60]), Nystrom(60)])
def test_sketches(gpu, how):
    here = KernelRidge(K, 0.1, intercept=True, follow=Plan(approximate=how)).fit(X, y)
    follow = Plan(approximate=how, device="cuda")
    there = KernelRidge(K, 0.1, intercept=True, follow=follow).fit(X, y)
    np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=2e-6)
    assert there.solution_.approximation.error == pytest.approx(
        here.solution_.approximation.error, rel=0.1, abs=1e-3
    )
    streamed = KernelRidge(K, 0.1, intercept=True, follow=follow)
    streamed.fit(Stream.rows(X, y, size=70))
    assert streamed.plan_.device == "cuda"


def test_logistic_regression(gpu):
    how = Nystrom(X[:60])
    here = KernelLogistic(K, 0.1, follow=Plan(approximate=how)).fit(X, LABELS)
    follow = Plan(approximate=how, device="cuda")
    there = KernelLogistic(K, 0.1, tol=1e-3, follow=follow).fit(X, LABELS)
    np.testing.assert_allclose(there.predict_proba(NEW), here.predict_proba(NEW), atol=5e-3)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_support_vectors_with_the_same_certificate(gpu, tol):
    here = SVC(K, 5.0, tol=tol).fit(X, LABELS)
    there = SVC(K, 5.0, tol=tol, follow=GPU).fit(X, LABELS)
    assert there.plan_.device == "cuda"
    assert there.solution_.status == "solved"
    assert there.solution_.violation <= tol
    np.testing.assert_allclose(
        there.decision_function(NEW), here.decision_function(NEW), atol=5 * tol
    )


def test_components(gpu):
    here = KernelPCA(K, 4, solver="partial").fit(X)
    there = KernelPCA(K, 4, solver="partial", follow=GPU).fit(X)
    assert there.plan_.device == "cuda"
    np.testing.assert_allclose(there.transform(NEW), here.transform(NEW), atol=1e-7)


def test_predictions_of_many_items_go_there(gpu, monkeypatch):
    machine = KernelRidge(K, 0.1, follow=GPU).fit(X, y)
    expected = machine.predict(NEW)
    monkeypatch.setattr("mercer.machines.scores.MIN_ENGINE_PAIRS", 1)
    monkeypatch.setattr("mercer.gram.device.device_choice", lambda device: "cuda")
    np.testing.assert_allclose(machine.predict(NEW), expected, atol=1e-5)


def test_the_plan_names_what_is_not_fused(gpu):
    plan = KernelRidge(Chi2(1.0), follow=Plan(device="cuda", approximate=Nystrom(5)))
    assert "not fused, because" in plan.plan(np.abs(X)).explain()


def test_strings_stay_here(gpu):
    words = ["ab", "ba", "aa", "bb"]
    with pytest.raises(PlanError, match="no rows of numbers"):
        KernelRidge(Spectrum(1), follow=GPU).fit(words, [1.0, 2.0, 3.0, 4.0])
