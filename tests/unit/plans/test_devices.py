"""Machines on a device: here Torch on the CPU stands for the GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mercer import (
    SVC,
    SVR,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Plan,
    Stream,
)
from mercer.errors import DomainError, PlanError, PlanWarning
from mercer.gram import engines
from mercer.gram.device.matrix import DeviceMatrix
from mercer.kernels import Chi2, Gaussian, Spectrum, assume_psd, precomputed
from mercer.plans import Nystrom
from mercer.plans.ridge import reconsider
from mercer.selection import GridSearchCV, nested_cv
from mercer.solvers.cost import Size
from mercer.solvers.ridge import engine_cholesky

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
    monkeypatch.setattr(engine_cholesky, "BYTES_AN_ENTRY", 10**9)
    here, there = KernelRidge(K, 0.1).fit(X, y), KernelRidge(K, 0.1, follow=GPU).fit(X, y)
    assert there.solution_.solver == "iterative" and there.plan_.device == "cuda"
    assert "iterative, because the Gram matrix does not fit" in there.plan_.explain()
    assert there.solution_.certificate < 1e-8
    np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=1e-7)


def test_the_tolerance_of_steps_there_is_the_users(gpu):
    follow = Plan(device="cuda", solver="iterative", tol=1e-4, rank=40)
    rough = KernelRidge(K, 0.01, follow=follow).fit(X, y).solution_
    fine = KernelRidge(K, 0.01, follow=replace(follow, tol=1e-10)).fit(X, y).solution_
    assert fine.certificate <= 1e-10 < rough.certificate <= 1e-4
    assert len(rough.history) < len(fine.history)


def test_where_nothing_fits_the_cpu_is_planned_from_the_start(gpu, monkeypatch):
    monkeypatch.setattr(engines.TorchEngine, "free_bytes", lambda self: 0)
    machine = KernelRidge(K, 0.1, follow=GPU).fit(X, y)
    assert machine.plan_.device == "cpu" and machine.solution_.solver == "cholesky"
    assert "on the CPU, because not even steps fit" in machine.plan_.explain()


def test_steps_give_way_to_a_factor_only_where_that_fits(gpu, monkeypatch):
    request = Plan(device="cuda")
    decision = replace(
        KernelRidge(K, 0.1, follow=request).plan(X), solver="iterative", rank=64, direct=True
    )
    monkeypatch.setattr(engines.TorchEngine, "free_bytes", lambda self: 10**12)
    size = Size(items=100_000, row=24.0, steps=1e7)
    assert reconsider(decision, size).solver == "cholesky"
    assert reconsider(decision, replace(size, steps=1.0)) is decision
    monkeypatch.setattr(engines.TorchEngine, "free_bytes", lambda self: 10**8)
    assert reconsider(decision, size) is decision


def test_a_full_device_chooses_again_by_what_is_there(gpu, monkeypatch):
    def full(self, R, penalty):
        raise MemoryError("does not fit into the memory of the device")

    here = KernelRidge(K, 0.1).fit(X, y)
    monkeypatch.setattr(DeviceMatrix, "solve", full)
    with pytest.warns(PlanWarning, match="it is solved by steps instead"):
        there = KernelRidge(K, 0.1, follow=GPU).fit(X, y)
    np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=1e-7)
    monkeypatch.setattr("mercer.solvers.ridge.engine_cholesky.affordable", lambda needed: False)
    with pytest.raises(PlanError, match="nowhere else there is room for it"):
        KernelRidge(K, 0.0, follow=GPU).fit(X, y)


MARGINS = [
    (SVC, {"C": 5.0}, np.digitize(y, [-1.0, 0.5])),
    (SVC, {"C": 5.0, "multiclass": "ovr", "class_weight": "balanced"}, np.digitize(y, [0, 1])),
    (NuSVC, {"nu": 0.3}, LABELS),
    (SVR, {"C": 2.0, "epsilon": 0.1}, y),
    (NuSVR, {"C": 2.0, "nu": 0.4}, y),
    (OneClassSVM, {"nu": 0.2}, None),
    (SVC, {"C": np.inf}, X[:, 0] > 0),
]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("machine", "parameters", "target"), MARGINS, ids=lambda v: str(v)[:40])
def test_margins_are_those_of_the_cpu(gpu, machine, parameters, target, weighted):
    given = (X,) if target is None else (X, target)
    w = RNG.uniform(0.5, 2.0, 300) if weighted else None
    parameters = parameters | {"tol": 1e-5}
    here = machine(K, **parameters).fit(*given, sample_weight=w)
    there = machine(K, **parameters, follow=GPU).fit(*given, sample_weight=w)
    assert there.plan_.device == "cuda" and "all programs at once" in there.plan_.explain()
    for one, other in zip(solutions(there), solutions(here), strict=True):
        assert one.status == "solved" and one.violation <= 1e-5
        assert one.objective == pytest.approx(other.objective, rel=1e-5, abs=1e-9)
        assert one.gap >= other.objective - one.objective - 1e-9
    if target is y:
        np.testing.assert_allclose(there.predict(NEW), here.predict(NEW), atol=1e-3)
    else:
        assert np.array_equal(there.predict(NEW), here.predict(NEW))


def solutions(machine):
    found = machine.solution_
    return found if isinstance(found, tuple) else (found,)


def test_margins_of_what_a_gpu_cannot_compare(gpu):
    texts = ["".join(RNG.choice(list("abc"), 12)) for _ in range(80)]
    labels = ["ab" in text for text in texts]
    here, there = (SVC(Spectrum(2), follow=plan).fit(texts, labels) for plan in (None, GPU))
    assert there.plan_.device == "cuda" and there.plan_.stored
    assert np.array_equal(there.predict(texts), here.predict(texts))
    G = K(X)
    here, there = (SVC("precomputed", follow=plan).fit(G, LABELS) for plan in (None, GPU))
    assert there.plan_.device == "cuda"
    np.testing.assert_allclose(there.decision_function(G), here.decision_function(G), atol=5e-3)


def test_margins_start_where_they_have_ended(gpu):
    machine = SVC(K, 1.0, warm_start=True, follow=GPU).fit(X, LABELS)
    machine.fit(X, LABELS)
    assert machine.solution_.steps == 0
    cold = SVC(K, 2.0, tol=1e-6).fit(X, LABELS)
    warm = machine.set_params(C=2.0, tol=1e-6).fit(X, LABELS)
    assert warm.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-8)


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


THREE = np.digitize(y, [-1.0, 0.5])
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "kernel__bandwidth": [1.0, 3.0]}


@pytest.mark.parametrize("labels", [LABELS, THREE], ids=["two", "three"])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_a_search_is_solved_at_once_and_scored_as_on_the_cpu(gpu, labels, weight):
    here = GridSearchCV(SVC(K, class_weight=weight, tol=1e-5), GRID).fit(X, labels)
    there = SVC(K, class_weight=weight, tol=1e-5, follow=GPU)
    there = GridSearchCV(there, GRID).fit(X, labels)
    assert "on an engine: 40" in str(there.account_)
    for key in ("mean_test_score", "split3_test_score"):
        np.testing.assert_allclose(there.cv_results_[key], here.cv_results_[key], atol=1e-12)
    assert there.best_params_ == here.best_params_


def test_what_the_engine_leaves_over_is_fitted_as_usual(gpu, monkeypatch):
    monkeypatch.setattr("mercer.gram.device.climber.IDLE_ROUNDS", -1)  # it gives up at once
    here = GridSearchCV(SVC(K), {"C": [1.0, 10.0]}).fit(X, LABELS)
    there = GridSearchCV(SVC(K, follow=GPU), {"C": [1.0, 10.0]}).fit(X, LABELS)
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.011
    )


@pytest.mark.filterwarnings("ignore:the best C is at the border")
def test_folds_in_folds_and_precomputed_similarities(gpu):
    grid = {"C": [0.1, 1.0, 10.0]}
    here, there = (nested_cv(SVC(K, follow=plan), X, LABELS, grid) for plan in (None, GPU))
    np.testing.assert_allclose(there.scores, here.scores, atol=0.034)
    G = K(X)
    here, there = (
        GridSearchCV(SVC(assume_psd(precomputed()), tol=1e-5, follow=plan), grid).fit(G, LABELS)
        for plan in (None, GPU)
    )
    assert "on an engine: 15" in str(there.account_)
    np.testing.assert_allclose(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=1e-12
    )


# ---- bad input ----------------------------------------------------------------------------------


def test_not_a_number_is_refused_as_on_the_cpu(gpu):
    bad = X.copy()
    bad[17, 1] = np.nan
    for machine in (SVC(K, follow=GPU), KernelRidge(K, follow=GPU)):
        with pytest.raises(DomainError, match="17"):
            machine.fit(bad, LABELS if isinstance(machine, SVC) else y)


@pytest.mark.parametrize("stored", [True, False])
def test_numbers_that_single_precision_cannot_hold(gpu, monkeypatch, stored):
    """They are tried, and then computed in double precision, as on the CPU."""
    monkeypatch.setattr(SVC, "_may_be_single", lambda *_: True)
    monkeypatch.setattr(SVC, "_serves", lambda *_: True)
    if not stored:
        monkeypatch.setattr("mercer.gram.device.climber.fits", lambda *_: False)
    huge, C = 1e22 * X, 1e-43
    here = SVC("linear", C).fit(huge, LABELS)
    there = SVC("linear", C, follow=replace(GPU, route="dual")).fit(huge, LABELS)
    assert there.plan_.precision == "double" and there.plan_.device == "cuda"
    assert np.mean(there.predict(huge) == here.predict(huge)) > 0.99


@pytest.mark.parametrize(
    "place", ["mercer.gram.device.climber.optimize_sets", "mercer.gram.device.blocks.evaluate"]
)
def test_a_card_that_vanishes_leaves_the_rest_to_the_cpu(gpu, monkeypatch, place):
    here = SVC(K, 5.0).fit(X, LABELS)

    def gone(*_, **__):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(place, gone)
    monkeypatch.setattr("mercer.gram.device.on_device.evaluate", gone)
    with pytest.warns(PlanWarning, match="stopped answering"):
        there = SVC(K, 5.0, follow=GPU).fit(X, LABELS)
    assert there.solution_.status == "solved"
    assert there.solution_.objective == pytest.approx(here.solution_.objective, rel=1e-6)


def test_without_triton_a_card_only_multiplies(gpu, monkeypatch):
    engine = engines.TorchEngine("cuda")
    monkeypatch.setattr("mercer.gram.device.fused.available", lambda device: False)
    assert "because Triton is not here" in engine.explain_programs(1000, 3, 4)
