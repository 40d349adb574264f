"""Plans that can be trusted: limits that are seen, and errors that say what would fit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mercer
from mercer import (
    LPSVC,
    SVC,
    SVR,
    Calibrated,
    Conformal,
    Encode,
    ExemplarClassifier,
    ExemplarRegressor,
    KernelMeans,
    KernelNeighbors,
    KernelRidge,
    Perceptron,
    PrototypeClassifier,
    Standardize,
    memory,
)
from mercer.errors import PlanError, ValidityError
from mercer.kernels import Gaussian, Spectrum
from mercer.memory import out_of_memory
from mercer.selection import GridSearchCV, plan_nested_cv, plan_search
from mercer.studies.predicted import study_bytes

LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="not Linux")


def limited(code, gigabytes):
    """Run a script with a limited address space."""
    limit = int(gigabytes * 2**30)
    head = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, timeout=120,
        env=environment,
    )  # fmt: skip


@LINUX
def test_a_limit_of_the_address_space_is_seen():
    ran = limited("from mercer.memory import available; print(available())", 4)
    assert 2**30 < int(ran.stdout) < 4 * 2**30, ran.stderr


@LINUX
@pytest.mark.slow
def test_a_ridge_beyond_the_limit_is_planned_otherwise_or_refused():
    code = """
import numpy as np
from mercer import KernelRidge, Plan
from mercer.kernels import Gaussian
X = np.random.default_rng(0).normal(size=(16_000, 3))  # whose matrix alone is 2 GB
try:
    KernelRidge(Gaussian(1.0), follow=Plan(solver="cholesky")).fit(X, X[:, 0])
except Exception as error:
    print(type(error).__name__, error)
print(KernelRidge(Gaussian(1.0)).plan(X).solver)
"""
    ran = limited(code, 2)
    assert ran.stdout.startswith("PlanError"), ran.stdout + ran.stderr
    assert "items would fit" in ran.stdout
    assert ran.stdout.splitlines()[-1] in ("iterative", "eigen")  # what fits


def test_groups_of_both_versions_limit_memory(tmp_path, monkeypatch):
    new, old = tmp_path / "new", tmp_path / "old"
    for folder, names in (
        (new, ("memory.max", "memory.current", "inactive_file")),
        (old, ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ):
        folder.mkdir()
        for name, value in zip(names[:2], (1000, 700), strict=True):
            (folder / name).write_text(f"{value}\n")
        (folder / "memory.stat").write_text(f"other 5\n{names[2]} 100\n")
        assert memory._left_in(folder) == 400
    (new / "memory.max").write_text("max\n")
    (old / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    assert memory._left_in(new) is None and memory._left_in(old) is None
    assert memory._left_in(tmp_path / "nowhere") is None
    monkeypatch.setattr(memory, "_group_folders", lambda: iter([tmp_path, new, old]))
    assert memory._group() is None
    (old / "memory.limit_in_bytes").write_text("650\n")
    assert memory._group() == 50


def test_an_allocation_that_fails_says_what_would_fit(monkeypatch, free_memory):
    def fail(*given, **options):
        raise MemoryError("Unable to allocate 8.00 GiB for an array with shape (32768, 32768)")

    X = np.random.default_rng(0).normal(size=(1000, 2))
    machine = KernelRidge(Gaussian(1.0)).fit(X, X[:, 0])
    monkeypatch.setattr("mercer.machines.ridge.assemble", fail)
    free_memory(2**31)
    with pytest.raises(PlanError, match=r"fit of KernelRidge on 1000 items .*about 500 items"):
        KernelRidge(Gaussian(1.0)).fit(X, X[:, 0])
    monkeypatch.setattr(type(machine.function_), "__call__", fail)
    with pytest.raises(PlanError, match="predict of KernelRidge on 20 items"):
        machine.predict(X[:20])
    with pytest.raises(PlanError, match="as it was"), out_of_memory("a fit", 10):
        raise PlanError("as it was")


@pytest.mark.parametrize("kind", [SVC, SVR])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_a_plan_foresees_the_precision_of_the_fit(kind, C):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("acgt"), 12)) for _ in range(2100)]
    machine = kind(Spectrum(3), C, max_iter=10)
    foreseen = machine.plan(strings)
    with pytest.warns(UserWarning):
        machine.fit(strings, np.arange(2100) % 2)
    assert foreseen.precision == machine.plan_.precision == ("mixed" if C == 1 else "double")
    assert foreseen.bytes == machine.plan_.bytes


def test_encodings_count():
    few = SVC(Spectrum(3)).plan(["acgt" * 3] * 200).bytes
    many = SVC(Spectrum(3)).plan(["".join(np.random.default_rng(i).choice(list("acgt"), 2000))
                                  for i in range(200)]).bytes  # fmt: skip
    assert many > few + 60 * 200 * 60


def test_everything_that_takes_memory_says_how_much():
    X = np.random.default_rng(0).normal(size=(600, 2))
    matrix = 8 * 600**2
    assert LPSVC().plan(X).bytes > 10 * matrix
    assert KernelMeans().plan(X).bytes > matrix
    one = plan_search(SVC(Gaussian(1.0)), X, {"C": [1.0, 2.0]})
    several = plan_search(SVC(Gaussian(1.0)), X, {"kernel__bandwidth": [1.0, 2.0, 3.0]})
    assert several.bytes >= one.bytes + 2 * matrix - 10
    machine = SVC(Gaussian(1.0))
    assert GridSearchCV(machine, {"C": [1.0, 2.0]}).plan(X).bytes == one.bytes
    assert plan_nested_cv(machine, X, {"C": [1.0, 2.0]}).bytes == one.bytes
    # With a heuristic each fold has a kernel of its own.
    assert plan_search(SVC(), X, {"C": [1.0, 2.0]}).bytes > one.bytes
    assert study_bytes([(SVC(), {"C": [1.0, 2.0]}), (LPSVC(), {"C": [1.0]})], X, 1000) > (
        LPSVC().plan(X).bytes
    )


def test_a_search_beyond_memory_is_refused(free_memory):
    X = np.random.default_rng(0).normal(size=(600, 2))
    free_memory(30_000_000)
    with pytest.raises(PlanError, match="items would fit"):
        plan_search(LPSVC(), X, {"C": [1.0]})


@pytest.mark.parametrize("place", ["_evaluated", "refit"])
def test_a_search_that_runs_out_of_memory_is_as_it_was(place, monkeypatch):
    def fail(*given, **options):
        raise MemoryError("Unable to allocate 8.00 GiB for an array")

    X = np.random.default_rng(0).normal(size=(60, 2))
    search = GridSearchCV(KernelRidge(Gaussian(1.0)), {"penalty": [0.1, 1.0]}, cv=3)
    before = search.fit(X, X[:, 0]).predict(X)
    if place == "refit":
        monkeypatch.setattr("mercer.machines.ridge.assemble", fail)
    else:
        monkeypatch.setattr("mercer.selection.shared_gram._evaluated", fail)
    with pytest.raises(PlanError, match="ran out of memory"):
        search.fit(X[:50], X[:50, 1])
    np.testing.assert_array_equal(search.predict(X), before)


def test_machines_that_solve_nothing_say_what_they_take_as_well():
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.arange(600) % 2
    matrix = 8 * 600**2
    assert Perceptron("gaussian").plan(X).bytes > matrix > Perceptron().plan(X).bytes / 2
    for machine in (ExemplarClassifier(), ExemplarRegressor(), KernelNeighbors()):
        assert 8 * 600 * 2 < machine.plan(X).bytes < matrix * 2
    assert PrototypeClassifier().plan(X).route == "primal"
    covariance = PrototypeClassifier(metric="covariance").plan(X)
    assert covariance.bytes > PrototypeClassifier().plan(X).bytes
    for inner in (SVC(Gaussian(1.0)), make_pipeline(Standardize(), SVC(Gaussian(1.0)))):
        assert Calibrated(inner).plan(X).bytes > SVC(Gaussian(1.0)).plan(X).bytes
    ridge = KernelRidge(Gaussian(1.0))
    assert Conformal(ridge).plan(X).bytes > ridge.plan(X).bytes + 2 * matrix
    folds = Conformal(SVR(Gaussian(1.0)), method="cv+").plan(X)
    assert "10 machines of folds are kept" in folds.explain()
    wide = pd.DataFrame({"a": X[:, 0], "b": [f"level {k % 12}" for k in range(600)]})
    assert Encode().plan(wide).bytes >= 8 * Encode().fit_transform(wide, y).size
    assert Standardize().plan(wide).bytes > 8 * 600 * 2
    with pytest.raises(ValidityError, match="does not say what it needs"):
        Calibrated(LogisticRegression()).plan(X)


PUBLIC = [one for one in mercer.__all__ if hasattr(getattr(mercer, one), "fit")]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_machine_has_a_plan(name):
    assert callable(getattr(mercer, name).plan)


def test_columns_beyond_memory_are_refused(free_memory):
    free_memory(3_000_000)
    for machine in (Encode(), Standardize()):
        with pytest.raises(PlanError, match="rows would fit"):
            machine.plan(np.zeros((100_000, 5)))


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("free", [40, 300, 700])
@pytest.mark.parametrize("name", ["KernelRidge", "SVC", "KernelPCA"])
def test_libraries_that_begin_to_work_below_a_limit_do_not_end_the_process(name, free):
    """OpenBLAS ends it if it cannot have its buffers, and LLVM fails to load."""
    ran = limited(
        f"""
import numpy as np
import scipy.linalg
from mercer import {name}
from mercer.errors import PlanError
from mercer.kernels import Gaussian
X = np.random.default_rng(0).normal(size=(1500, 4))
pages = int(open("/proc/self/statm").read().split()[0])
here = pages * 4096 + {free} * 2**20
resource.setrlimit(resource.RLIMIT_AS, (here, here))
try:
    {name}(Gaussian(1.5)).fit(X, np.arange(1500) % 2)
    print("fits")
except PlanError as error:
    print("refused")
""",
        8,
    )
    assert ran.stdout.strip() in ("fits", "refused"), ran.stderr[-1000:]
    assert ran.stdout.strip() == ("refused" if free == 40 else "fits") or free == 300


def test_an_answer_holds_for_a_moment_only(monkeypatch):
    asked, now = [], [100.0]

    def reading():
        asked.append(now[0])
        return 1000 - len(asked)

    monkeypatch.setattr(memory, "_system", reading)
    monkeypatch.setattr(memory, "_group", lambda: None)
    monkeypatch.setattr(memory, "_limit", lambda: None)
    monkeypatch.setattr(memory, "_last", [])
    monkeypatch.setattr(memory.time, "monotonic", lambda: now[0])
    assert memory.available() == memory.available() == 999
    now[0] += 1.5 * memory.MAX_AGE
    assert memory.available() == 998
    now[0] -= 50.0  # a clock that goes back
    assert memory.available() == 997 and len(asked) == 3
