"""Approximate answers: a million items on two cores, real proteins, and cost against n."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from mercer import KernelRidge, Plan, Stream
from mercer.bench.measure import Row, at_least, at_most, peak_growth
from mercer.kernels import Gaussian
from mercer.memory import available
from mercer.plans import Nystrom, Random

MILLION, D, M = 1_000_000, 20, 1000
BANDWIDTH = 6.0  # about the median distance
EACH = 1e-6  # penalty for each item
FEWER, NARROWER, EACH_OF_FEWER = 10, 4.4, 5e-6  # the task whose cost is looked at against n
THEIR_BYTES = 20e9  # that the peer takes for a million items
# Chosen on 9000 of the training items, 6000 of which were learned from.
PROTEIN = {"bandwidth": 0.5, "penalty": 0.3}
CENTERS = 4000
STOPPED = 0.1  # relative residual; on those items within 1 % of the exact error


def million() -> list[Row]:
    """Compare with scikit-learn's Nystroem and Ridge on a million items."""
    fit_sketch(*sample(3000))  # compiled loops
    X, y = sample(MILLION)
    ours, machine = time_fit(fit_sketch, X, y)
    theirs = MILLION if (available() or 0) > THEIR_BYTES else MILLION // 4
    seconds, other = time_fit(fit_peer, X[:theirs], y[:theirs])
    peer = seconds * MILLION / theirs
    new, truth = sample(20_000, seed=1, noise=0.0)
    errors = [float(np.sqrt(np.mean((m.predict(new) - truth) ** 2))) for m in (machine, other)]
    data = X.nbytes + y.nbytes
    del X, y, other
    memory = data + peak_growth(fit_sketch, sample, MILLION)
    scaled = "" if theirs == MILLION else f" (peer: n={theirs}, times {MILLION // theirs})"
    told = machine.solution_.approximation.error
    return [
        Row(f"Nyström ridge, n={MILLION}, d={D}, M={M}{scaled}", f"{ours:.1f} s", f"{peer:.1f} s",
            peer / ours, at_least(3.0)),
        Row("  error / peer's", f"{errors[0]:.4f}", f"{errors[1]:.4f}", errors[0] / errors[1],
            at_most(1.0, "{:.3f}x")),
        Row("  peak memory, with the data", f"{memory / 1e9:.2f} GB", "", memory / 1e9,
            at_most(2.0, "{:.2f} GB")),
        Row("  told difference from exact", "", "", told, None),
        *foreseen(machine, ours, memory),
    ]  # fmt: skip


def foreseen(machine: Any, seconds: float, memory: float) -> list[Row]:
    """Return how far a plan was from what happened."""
    size, time = apart(machine.plan_.bytes, memory), apart(machine.plan_.seconds, seconds)
    return [
        Row("  predicted bytes", f"{machine.plan_.bytes / 1e6:.0f} MB", f"{memory / 1e6:.0f} MB",
            size, at_most(1.3)),
        Row("  predicted seconds", f"{machine.plan_.seconds:.1f} s", f"{seconds:.1f} s", time,
            at_most(3.0)),
    ]  # fmt: skip


def apart(foretold: float, found: float) -> float:
    """Return the factor between two numbers, whichever is larger."""
    return max(foretold / found, found / foretold)


def proteins() -> list[Row]:
    """Compare the approximate with the exact answer on real data."""
    folder = os.environ.get("MERCER_DATA")
    place = Path(folder or ".") / "regression" / "protein"
    if not (place / "data.csv.gz").exists():
        return [Row("protein: no data (set MERCER_DATA)", "", "", float("nan"), None)]
    X, y, test = protein(place)
    kernel, penalty = Gaussian(PROTEIN["bandwidth"]), PROTEIN["penalty"]

    def fit(follow: Plan) -> KernelRidge:
        return KernelRidge(kernel, penalty, follow=follow).fit(X[~test], y[~test])

    ways = {
        "dense": Plan(solver="cholesky", approximate="never"),
        "steps": Plan(approximate="never"),
        "stopped": Plan(approximate="never", tol=STOPPED),
        "Nyström": Plan(approximate=Nystrom(CENTERS)),
    }
    times, errors, machines = {}, {}, {}
    for name, follow in ways.items():
        times[name], machines[name] = time_fit(fit, follow)
        errors[name] = float(np.sqrt(np.mean((machines[name].predict(X[test]) - y[test]) ** 2)))
        machines[name] = machines[name].solution_
    exact, rows = errors["dense"], []
    for name, what in (("stopped", f"steps to a residual of {STOPPED}"),
                       ("Nyström", f"{CENTERS} centers")):  # fmt: skip
        meant = name == "stopped"  # centers are here to compare with
        rows += [
            Row(f"protein, {np.sum(~test)} × {X.shape[1]}, {what}, against a factor",
                f"{times[name]:.1f} s", f"{times['dense']:.1f} s", times[name] / times["dense"],
                at_most(0.1, "{:.3f}x") if meant else None),
            Row("  against exact steps", "", f"{times['steps']:.1f} s",
                times[name] / times["steps"], None),
            Row("  test RMSE / exact one's", f"{errors[name]:.4f}", f"{exact:.4f}",
                errors[name] / exact, at_most(1.02, "{:.3f}x") if meant else None),
            Row("  told difference from exact", "", "", machines[name].approximation.error, None),
        ]  # fmt: skip
    return rows


def protein(place: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return standardized rows, targets, and which of them are the first split's test items."""
    with gzip.open(place / "data.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    with gzip.open(place / "test_mask.csv.gz", "rt") as file:
        test = np.loadtxt(file, delimiter=",")[:, 0].astype(bool)
    table = (table - table[~test].mean(axis=0)) / table[~test].std(axis=0)
    return table[:, :-1], table[:, -1], test


@dataclass(frozen=True)
class Way:
    """A route, and the sizes at which it is timed."""

    name: str
    follow: Plan
    sizes: tuple[int, ...]
    stream: bool = False


WAYS = (
    Way("dense, exact", Plan(solver="cholesky", approximate="never"), (2000, 4000, 8000)),
    Way("steps, exact", Plan(solver="iterative", approximate="never"), (8000, 16_000, 32_000)),
    Way("Nyström, 500 centers", Plan(approximate=Nystrom(500)), (50_000, 100_000, 200_000)),
    Way("Nyström, 4000, by steps", Plan(approximate=Nystrom(4000)), (10_000, 20_000, 40_000)),
    Way("random features, 500", Plan(approximate=Random(500)), (50_000, 100_000, 200_000)),
    Way("stream, 500 centers", Plan(approximate=Nystrom(500)), (50_000, 100_000, 200_000), True),
)


def growth() -> list[Row]:
    """Return the time of each route at three sizes, with the exponent of n that fits them."""
    return [row for way in WAYS for row in _grown(way)]


def _grown(way: Way) -> list[Row]:
    times, plan = [], None
    for n in way.sizes:
        X, y = sample(n, d=FEWER)
        fit = _fit_stream if way.stream else _fit
        seconds, machine = min((time_fit(fit, X, y, way.follow) for _ in range(2)), key=_first)
        times.append(seconds)
        plan = machine.plan_
    exponent = float(np.polyfit(np.log(way.sizes), np.log(times), 1)[0])
    shown = ", ".join(f"{seconds:.2f}" for seconds in times)
    sizes = ", ".join(f"{n // 1000}k" for n in way.sizes)
    off = apart(plan.seconds, times[-1]) if plan is not None and plan.seconds else float("nan")
    return [
        Row(f"{way.name}: n = {sizes}; exponent of n", f"{shown} s", "", exponent, None),
        Row("  predicted seconds of the last", f"{plan.seconds:.2f} s", f"{times[-1]:.2f} s", off,
            at_most(3.0)),
    ]  # fmt: skip


def time_fit(fit: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Return the seconds of one fit, and the machine."""
    begin = time.perf_counter()
    machine = fit(*given)
    return time.perf_counter() - begin, machine


def _first(found: tuple[float, Any]) -> float:
    return found[0]


def sample(n: int, seed: int = 0, noise: float = 0.1, d: int = D) -> tuple[np.ndarray, np.ndarray]:
    """Return points and a smooth function of them with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + noise * rng.standard_normal(n)


def fit_sketch(X: np.ndarray, y: np.ndarray) -> KernelRidge:
    """Fit mercer's machine with 1000 centers."""
    follow = Plan(approximate=Nystrom(M))
    return KernelRidge(Gaussian(BANDWIDTH), EACH * len(X), intercept=True, follow=follow).fit(X, y)


def fit_peer(X: np.ndarray, y: np.ndarray) -> Any:
    """Fit scikit-learn's pipeline to the same problem."""
    features = Nystroem(gamma=1 / (2 * BANDWIDTH**2), n_components=M, random_state=0)
    return make_pipeline(features, Ridge(alpha=EACH * len(X))).fit(X, y)


def _fit(X: np.ndarray, y: np.ndarray, follow: Plan) -> KernelRidge:
    return KernelRidge(Gaussian(NARROWER), EACH_OF_FEWER * len(X), follow=follow).fit(X, y)


def _fit_stream(X: np.ndarray, y: np.ndarray, follow: Plan) -> KernelRidge:
    machine = KernelRidge(Gaussian(NARROWER), EACH_OF_FEWER * len(X), follow=follow)
    return machine.fit(Stream.rows(X, y))
