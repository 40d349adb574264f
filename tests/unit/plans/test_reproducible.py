"""The same bits on any number of threads, for whoever asks for them."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from mercer import KernelRidge, Plan
from mercer.errors import ValidityError
from mercer.kernels import Gaussian
from mercer.plans import Nystrom, Random

SCRIPT = """
import hashlib, sys
import numpy as np
from mercer import SVC, GaussianProcess, KernelLogistic, KernelPCA, KernelRidge, Plan
from mercer.kernels import Gaussian, Linear, Polynomial, Spectrum
from mercer.plans import Nystrom, Random
from mercer.threads import using
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
y = np.sin(X).sum(axis=1)
labels = (y > 0).astype(int)
same = Plan(reproducible=True)
def plan(**how):
    return Plan(reproducible=True, **how)
machines = [
    (KernelRidge(Gaussian(2.0), 1e-3, follow=same), y),
    (KernelRidge(Gaussian(9.0), 1e-9, follow=plan(precision="double")), y),
    (KernelRidge(Gaussian(1.0), 1e-2, follow=plan(solver="iterative", rank=100)), y),
    (KernelRidge(Gaussian(2.0), 1e-3, follow=plan(solver="eigen")), y),
    (KernelRidge(Polynomial(3, offset=1.0), 1e-3, follow=plan(route="primal")), y),
    (KernelRidge(Gaussian(2.0), 1e-3, follow=plan(approximate=Nystrom(200))), y),
    (KernelRidge(Gaussian(2.0), 1e-3, follow=plan(approximate=Random(200))), y),
    (GaussianProcess(Gaussian(2.0), 1e-3, follow=same), y),
    (KernelLogistic(Gaussian(2.0), 1e-2, follow=same), labels),
    (SVC(Gaussian(2.0), 10.0, follow=same), labels),
    (KernelPCA(Gaussian(2.0), 5, random_state=0, follow=same), None),
]
with using(int(sys.argv[1])):
    for machine, target in machines:
        machine.fit(X, target)
        answer = getattr(machine, "predict", None) or machine.transform
        print(hashlib.sha256(np.ascontiguousarray(answer(X[:50])).tobytes()).hexdigest())
        f = machine.function_
        known = getattr(f, "coefficients", None)
        known = np.ascontiguousarray(f.weights if known is None else known)
        print(hashlib.sha256(known.tobytes()).hexdigest())
"""


def hashes(cores, blas):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": str(blas), "OMP_NUM_THREADS": str(blas)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(cores)], capture_output=True, text=True,
        env=environment, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits():
    first = hashes(1, 1)
    assert len(first) == 22
    for cores, blas in ((2, 2), (5, 1), (3, 4)):
        assert hashes(cores, blas) == first


@pytest.mark.parametrize("follow", [Plan(), Plan(approximate=Nystrom(40)), Plan(solver="eigen")])
def test_small_fits_have_the_same_bits(follow, use_cores):
    from dataclasses import replace

    X = np.random.default_rng(0).normal(size=(200, 3))
    found = set()
    for cores in (1, 2, 5):
        use_cores(cores)
        machine = KernelRidge(Gaussian(1.0), 1e-6, follow=replace(follow, reproducible=True))
        machine.fit(X, X[:, 0])
        found.add(hashlib.sha256(machine.predict(X).tobytes()).hexdigest())
    assert len(found) == 1


def test_blas_has_one_thread_meanwhile(monkeypatch):
    from mercer import threads

    inside = []
    real = KernelRidge._fit

    def watched(self, *given):
        inside.append((threads.one_blas_thread._inside, threads.cores()))
        return real(self, *given)

    monkeypatch.setattr(KernelRidge, "_fit", watched)
    X = np.eye(5)
    KernelRidge(Gaussian(1.0), 0.1, follow=Plan(reproducible=True)).fit(X, X[0])
    KernelRidge(Gaussian(1.0), 0.1).fit(X, X[0])
    assert inside[0] == (1, 4) and inside[1][0] == 0


def test_the_plan_says_so_and_refuses_what_it_cannot_promise():
    machine = KernelRidge(Gaussian(1.0), 0.1, follow=Plan(reproducible=True)).fit(
        np.eye(3), [1, 2, 3]
    )
    assert "the same bits" in machine.plan_.explain()
    assert "the same bits" not in KernelRidge().plan(np.eye(3)).explain()
    again = KernelRidge(Gaussian(1.0), 0.1, follow=machine.plan_).fit(np.eye(3), [1, 2, 3])
    assert again.plan_.request.reproducible
    with pytest.raises(ValidityError, match="device"):
        Plan(reproducible=True, device="cuda")
    with pytest.raises(ValidityError, match="True or False"):
        Plan(reproducible="yes")
    assert Plan(reproducible=True, approximate=Random(10)).explain().startswith("Asked for")
