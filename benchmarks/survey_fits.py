"""Fits of the survey: each machine in a process of its own, which can be stopped.

A process gets the data once, fits a few rows untimed, and then answers one setting after the
other with the seconds and the memory of a fit, and with what was learned. Whoever takes longer
than allowed is stopped and counted with the time allowed; a new process takes over.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.survey_sets import EPSILON, Sample
from mercer.kernels import Gaussian
from mercer.rkhs import Function

TOLERANCE = 1e-3
WARM_ROWS = 600  # that are fitted untimed
REPEATED_SECONDS = 1.0  # a fit is repeated until it has taken so long in all
MOST_REPEATS = 5
LOADING_SECONDS = 180.0  # for a process to start, load its library and fit a few rows


@dataclass(frozen=True)
class Setting:
    """A bandwidth, in multiples of the median distance, and C."""

    width: float
    C: float


@dataclass(frozen=True)
class Fit:
    """How long a fit took, how much memory, and what it has found."""

    seconds: float
    cut: bool = False
    megabytes: float = np.nan
    objective: float = np.nan
    support: int = 0


def ours(sample: Sample, bandwidth: float, C: float) -> Any:
    """Fit our machine."""
    from mercer import SVC, SVR

    if sample.regression:
        machine: Any = SVR(Gaussian(bandwidth), C, epsilon=EPSILON, tol=TOLERANCE)
    else:
        machine = SVC(Gaussian(bandwidth), C, tol=TOLERANCE)
    return machine.fit(sample.X, sample.y)


def libsvm(sample: Sample, bandwidth: float, C: float) -> Any:
    """Fit scikit-learn's machine."""
    from sklearn import svm

    return _peer(svm, sample, bandwidth, C)


def onedal(sample: Sample, bandwidth: float, C: float) -> Any:
    """Fit scikit-learn-intelex's machine."""
    from sklearnex import svm

    return _peer(svm, sample, bandwidth, C)


def _peer(module: Any, sample: Sample, bandwidth: float, C: float) -> Any:
    how: dict[str, Any] = {"C": C, "gamma": 0.5 / bandwidth**2, "tol": TOLERANCE}
    if sample.regression:
        return module.SVR(epsilon=EPSILON, **how).fit(sample.X, sample.y)
    return module.SVC(**how).fit(sample.X, sample.y)


MACHINES: dict[str, Callable[[Sample, float, float], Any]] = {
    "ours": ours,
    "scikit-learn": libsvm,
    "intelex": onedal,
}


class Fitter:
    """One machine on one sample, in a process that is stopped when it takes too long."""

    def __init__(self, name: str, sample: Sample, unit: float, allowed: float) -> None:
        self.name, self.sample, self.unit, self.allowed = name, sample, unit, allowed
        self._process: Any = None
        self._line: Any = None

    def fit(self, setting: Setting) -> Fit:
        """Return how a fit went."""
        if self._process is None:
            self._start()
        self._line.send(setting)
        # Repeats of short fits take their time, too.
        if not self._line.poll(self.allowed + REPEATED_SECONDS):
            self.stop()
            return Fit(self.allowed, cut=True)
        try:
            times, growth, counts, support, table = self._line.recv()
        except EOFError:  # the process has died, for lack of memory as a rule
            self.stop()
            return Fit(self.allowed, cut=True)
        found = objective(self.sample, setting.width * self.unit, counts, support, table)
        best = min(times)
        return Fit(min(best, self.allowed), best > self.allowed, growth / 1e6, found, len(support))

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        fresh = multiprocessing.get_context("spawn")
        self._line, other = fresh.Pipe()
        arguments = (self.name, self.sample, self.unit, other)
        self._process = fresh.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        other.close()
        if not self._line.poll(LOADING_SECONDS):
            self.stop()
            raise RuntimeError(f"{self.name} did not start in {LOADING_SECONDS:.0f} seconds")
        self._line.recv()


def serve(name: str, sample: Sample, unit: float, line: Connection) -> None:
    """Fit what is asked for, until the line is closed."""
    warnings.simplefilter("ignore")
    machine = MACHINES[name]
    machine(sample.first(WARM_ROWS), unit, 1.0)
    base = resident("VmRSS")
    line.send("ready")
    with suppress(EOFError):
        while True:
            setting: Setting = line.recv()
            with suppress(OSError):  # Linux: the peak begins anew at what is in use now
                Path("/proc/self/clear_refs").write_text("5")
            times: list[float] = []
            while not times or (sum(times) < REPEATED_SECONDS and len(times) < MOST_REPEATS):
                begin = time.perf_counter()
                found = machine(sample, setting.width * unit, setting.C)
                times.append(time.perf_counter() - begin)
            growth = resident("VmHWM") - base
            table = np.asarray(
                found.dual_coef_.toarray()
                if hasattr(found.dual_coef_, "toarray")
                else found.dual_coef_
            )
            counts = np.atleast_1d(np.asarray(found.n_support_))
            line.send((times, growth, counts, np.asarray(found.support_), np.atleast_2d(table)))


def resident(field: str) -> int:
    """Return the resident memory of this process in bytes: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    [found] = [line for line in lines if line.startswith(field)]
    return int(found.split()[1]) * 1024


def objective(
    sample: Sample, bandwidth: float, counts: np.ndarray, support: np.ndarray, table: np.ndarray
) -> float:
    """Return the dual objective of all programs, from the coefficients, in double precision.

    Coefficients are laid out as scikit-learn does: those of class i in its pair with j.
    """
    vectors = sample.X[support]
    if sample.regression:
        beta = table[0]
        square = float(np.sum(np.square(Function(Gaussian(bandwidth), vectors, beta).norm())))
        return float(sample.y[support] @ beta - EPSILON * np.abs(beta).sum()) - square / 2
    classes = len(counts)
    owner = np.repeat(np.arange(classes), counts)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    C = np.zeros((len(owner), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        if classes == 2:
            C[:, column] = table[0]
            continue
        C[owner == i, column] = table[j - 1, owner == i]
        C[owner == j, column] = table[i, owner == j]
    norms = np.asarray(Function(Gaussian(bandwidth), vectors, C).norm())
    return float(np.sum(np.abs(C)) - 0.5 * np.sum(norms**2))
