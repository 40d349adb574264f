"""On a GPU: products with Gram matrices that are never written, and machines that use them.

The bars are absolute times on one NVIDIA H200. Beside them stands what the card can do at best,
measured in the same run: copies, products of matrices, factors, exponentials.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer import SVC, KernelLogistic, KernelPCA, KernelRidge, Plan
from mercer.bench.measure import Row, at_least, at_most, columns, render
from mercer.gram import Blocked
from mercer.gram.device import DeviceSketch, Multiplier, OnDevice, device_choice
from mercer.gram.device.blocks import evaluate
from mercer.gram.device.fused import compiled
from mercer.gram.engines import TorchEngine
from mercer.kernels import Gaussian
from mercer.plans import Nystrom
from mercer.rkhs import Function
from mercer.selection import GridSearchCV
from mercer.solvers.quadratic import Quadratic, SMOOptions
from mercer.solvers.ridge.engine_cholesky import EngineCholesky
from mercer.solvers.ridge.solver import Problem
from mercer.solvers.working_set import maximize

CENTERS = 20_000
STEPS = 20
MS, SECONDS, SMALL = "{:.1f} ms", "{:.1f} s", "{:.0e}"


def report() -> str:
    """Measure and return the tables, or say why there is nothing to measure."""
    if device_choice("auto") != "cuda":
        return "no GPU here; see docs/gpu.md for the figures of an H200"
    found = ceilings()
    rows = [*products(found), *ridges(), *exact(found), *margins(), *machines(), *bars()]
    return f"{said(found)}\n\n{render(rows)}"


# ---- what the card can do ---------------------------------------------------------------------


def ceilings() -> dict[str, float]:
    """Return measured rates: bytes, operations or exponentials a second."""
    import torch

    place = {"device": "cuda"}
    found = {}
    x = torch.rand(1 << 29, **place)
    y = torch.empty_like(x)
    found["copy"] = 8 * x.numel() / median_time(lambda x=x, y=y: y.copy_(x))
    del x, y
    before = torch.backends.cuda.matmul.allow_tf32
    for name, dtype in (("fp16", "float16"), ("tf32", "float32"), ("fp32", "float32"),
                        ("fp64", "float64")):  # fmt: skip
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        a = torch.randn(8192, 8192, **place).to(getattr(torch, dtype))
        found[name] = 2 * 8192**3 / median_time(lambda a=a: a @ a)
    torch.backends.cuda.matmul.allow_tf32 = before
    a = torch.randn(20_000, 20_000, dtype=torch.float64, **place)
    a = a @ a.T
    a.diagonal().add_(1e4)
    found["Cholesky, fp64"] = 20_000**3 / 3 / median_time(lambda: torch.linalg.cholesky_ex(a), 3)
    count, loops = 1 << 24, 256
    x = torch.rand(count, **place)
    kernel = compiled(EXPONENTIALS)
    grid = (count // 1024,)
    found["exp2"] = (
        count * loops / median_time(lambda: kernel[grid](x, loops, BM=1024, num_warps=4))
    )
    return found


EXPONENTIALS = """@triton.jit
def fused(X, n, BM: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    x = tl.load(X + i)
    for k in range(n):
        x = tl.exp2(x) - 1.0
    tl.store(X + i, x)
"""


def said(found: dict[str, float]) -> str:
    """Return the ceilings as a table."""
    lines = [("ceiling", "measured")]
    for name, rate in found.items():
        unit = "TB/s" if name == "copy" else "10^12/s" if name == "exp2" else "TFLOP/s"
        lines.append((name, f"{rate / 1e12:.1f} {unit}"))
    return columns(lines)


# ---- products ---------------------------------------------------------------------------------


def products(ceiling: dict[str, float]) -> list[Row]:
    """Return rows about K(500,000 × 20,000) @ v."""
    import torch

    rows = []
    for d, bar in ((20, 12.0), (90, 36.0)):
        generator = torch.Generator("cuda").manual_seed(d)
        X, Z = (torch.randn(n, d, device="cuda", generator=generator) for n in (500_000, CENTERS))
        v = torch.randn(CENTERS, 1, device="cuda", generator=generator).double()
        k = Gaussian(math.sqrt(d))
        some = torch.arange(0, len(X), 997, device="cuda")
        truth = evaluate(k, X[some].double(), Z.double()) @ v
        for way in ("split", "half"):
            engine = Multiplier(k, Z, products=way)  # type: ignore[arg-type]
            A, B = engine.ready(X, "first"), engine.ready(Z, "second")
            seconds = median_time(lambda e=engine, A=A, B=B, v=v: e.multiply(A, B, v))
            error = float((engine.multiply(A, B, v)[some] - truth).norm() / truth.norm())
            label = f"K(500,000 x {CENTERS:,})v, d={d}" if way == "split" else '  "half"'
            rows.append(Row(label, "", "", 1e3 * seconds, at_most(bar, MS)))
            limit = 2e-6 if way == "split" else 1e-3
            rows.append(Row("  its relative error", "", "", error, at_most(limit, SMALL)))
            if way == "split":
                pairs = len(X) * CENTERS / seconds
                share = pairs / ceiling["exp2"]
                rows.append(
                    Row("  share of the exponentials", "", "", share, at_least(0.0, "{:.2f}"))
                )
                share = 2 * pairs * int(A.side.parts[0].table.shape[1]) / ceiling["fp16"]  # type: ignore[union-attr]
                rows.append(
                    Row("  share of fp16 products", "", "", share, at_least(0.0, "{:.2f}"))
                )
    return rows


# ---- machines ---------------------------------------------------------------------------------


def ridges() -> list[Row]:
    """Return rows about ridge regression with many centers."""
    rows = []
    compile_first()
    for n, stay, bar in ((1_000_000, True, 4.0), (10_000_000, False, 60.0)):
        X, y = sample(n, 28)
        seconds, (residual, error) = clocked(lambda X=X, y=y, stay=stay: steps(X, y, stay))
        where = "on the GPU" if stay else "on the host"
        task = f"ridge, n={n:,}, d=28, {CENTERS:,} centers, {STEPS} steps, data {where}"
        rows.append(Row(task, "", "", seconds, at_most(bar, SECONDS)))
        rows.append(Row("  relative residual", "", "", residual, at_most(1e-2, SMALL)))
        rows.append(Row("  test error / noise", "", "", error / NOISE, at_most(2.0, "{:.3f}")))
        del X, y
    return rows


NOISE = 0.1


def sample(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return points and a smooth function of them with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + NOISE * rng.standard_normal(n, dtype=np.float32)
    return X, y.astype(np.float64)


def compile_first() -> None:
    """Take a few steps on little data, so that what is timed is compiled."""
    X, y = sample(30_000, 28)
    for stay in (True, False):
        steps(X, y, stay, centers=3000)


def steps(X: np.ndarray, y: np.ndarray, stay: bool, centers: int = CENTERS) -> tuple[float, float]:
    """Fit by preconditioned conjugate gradients; return the residual and the test error."""
    penalty = 1e-7 * len(X)
    sketch = DeviceSketch(Gaussian(8.0), X, X[:centers], stay=stay)
    white = sketch.whitening()
    inverse = sketch.preconditioner(white, penalty)
    rest = white.back(sketch.adjoint(y[:, None]))
    start = np.linalg.norm(rest)
    beta = np.zeros_like(rest)
    Z = inverse(rest)
    P, size = Z, float(np.sum(rest * Z))
    for _ in range(STEPS):
        MP = white.back(sketch.normal(white.into(P))) + penalty * P
        t = size / float(np.sum(P * MP))
        beta += t * P
        rest -= t * MP
        Z = inverse(rest)
        size, before = float(np.sum(rest * Z)), size
        P = Z + size / before * P
    new, truth = sample(10_000, 28, seed=1)
    found = DeviceSketch(Gaussian(8.0), new, X[:centers]).product(white.into(beta)).ravel()
    return float(np.linalg.norm(rest) / start), float(np.sqrt(np.mean((found - truth) ** 2)))


def exact(ceiling: dict[str, float]) -> list[Row]:
    """Return rows about exact ridge regression in double precision."""
    solver, k = EngineCholesky(TorchEngine("cuda")), Gaussian(4.4)

    def fit(n: int) -> Any:
        X, y = sample(n, 10)
        gram = OnDevice(k, k.admit(X.astype(np.float64)), "cuda", "double")
        begin = time.perf_counter()
        solution = solver.solve(solver.prepare(Problem(gram)), y, penalty=0.1)
        return time.perf_counter() - begin, solution

    fit(2000)
    n = 50_000
    seconds, solution = fit(n)
    share = n**3 / 3 / seconds / ceiling["Cholesky, fp64"]
    return [
        Row(f"exact ridge, n={n:,}, double precision", "", "", seconds, at_most(4.0, SECONDS)),
        Row("  relative residual", "", "", solution.certificate, at_most(1e-10, SMALL)),
        Row("  share of Cholesky's ceiling", "", "", share, at_least(0.0, "{:.2f}")),
    ]


def margins(n: int = 20_000) -> list[Row]:
    """Return rows about a support vector machine, on the GPU and on the CPU."""
    X, y = sample(n, 20)
    z = np.where(y > np.median(y), 1.0, -1.0)
    k, C = Gaussian(4.4), 10.0
    problem = Quadratic(z, np.minimum(C * z, 0.0), np.maximum(C * z, 0.0), np.zeros(n))
    options = SMOOptions(dtype=np.float32, kept=1000)
    points = k.admit(X)
    gram = OnDevice(k, points, "cuda")
    maximize(gram.part(np.arange(3000)), _part(problem, 3000), options)  # compiled loops
    seconds, ours = clocked(lambda: maximize(gram, problem, options))
    theirs, peer = clocked(lambda: maximize(Blocked(k, points), problem, options))
    apart = abs(ours.objective / peer.objective - 1)
    task = f"support vector machine, n={n:,}, d=20, C=10 (peer: the CPU)"
    return [
        Row(task, f"{seconds:.1f} s", f"{theirs:.1f} s", theirs / seconds, at_least(1.0)),
        Row("  violation", "", f"{peer.violation:.0e}", ours.violation, at_most(1e-3, SMALL)),
        Row("  difference of objectives", "", "", apart, at_most(1e-5, SMALL)),
    ]


def machines() -> list[Row]:
    """Return rows about whole fits, with everything that a user waits for."""
    sketch = Plan(approximate=Nystrom(CENTERS), device="cuda")
    few = Plan(approximate=Nystrom(2000), device="cuda")
    ridge = KernelRidge(Gaussian(8.0), follow=sketch)
    tasks = [
        ("KernelRidge, n=1,000,000, d=28, 20,000 centers", ridge, 1_000_000, 28, 1e-7),
        ("KernelRidge, n=1,000,000, d=28, 2,000 centers",
         KernelRidge(Gaussian(8.0), follow=few), 1_000_000, 28, 1e-7),
        ("KernelRidge, exact, n=50,000, d=10",
         KernelRidge(Gaussian(4.4), follow=Plan(device="cuda")), 50_000, 10, 2e-6),
        ("KernelPCA, 20 components, n=50,000, d=10",
         KernelPCA(Gaussian(4.4), 20, follow=Plan(device="cuda")), 50_000, 10, None),
        ("SVC, n=20,000, d=20, C=10", SVC(Gaussian(4.4), 10.0, follow=Plan(device="cuda")),
         20_000, 20, None),
        ("KernelLogistic, n=500,000, d=28, 2,000 centers",
         KernelLogistic(Gaussian(8.0), tol=1e-2, follow=few), 500_000, 28, 1e-6),
    ]  # fmt: skip
    rows = []
    for task, machine, n, d, each in tasks:
        X, y = sample(n, d)
        target = y > 0 if isinstance(machine, SVC | KernelLogistic) else y
        if each is not None:
            machine = clone(machine).set_params(penalty=each * n)
        if n <= 50_000:
            X = X.astype(np.float64)
        clone(machine).fit(X[:12_000], target[:12_000])  # compiled
        seconds, fitted = clocked(lambda m=machine, X=X, t=target: m.fit(X, t))
        foretold = fitted.plan_.seconds
        rows.append(Row(f"{task}: certificate", f"{seconds:.2f} s", fitted.plan_.device,
                        certificate_of(fitted.solution_), at_least(0.0, SMALL)))  # fmt: skip
        if foretold is not None:
            off = max(foretold / seconds, seconds / foretold)
            rows.append(Row("  predicted seconds", f"{foretold:.2f} s", "", off, at_most(3.0)))
        new, truth = sample(300_000, d, seed=1)
        time_, found = clocked(lambda m=fitted, new=new: _answers(m, new))
        if found.ndim == 1:
            error = float(np.sqrt(np.mean((found - truth) ** 2)))
            if isinstance(machine, SVC | KernelLogistic):
                error = float(np.mean(found != (truth > 0)))
            what = "  300,000 predictions; their error"
            rows.append(Row(what, f"{time_:.2f} s", "", error, at_least(0.0, "{:.3f}")))
        del X, y, fitted
    return rows


# ---- whole tasks, with their bars ---------------------------------------------------------------


def bars(chosen: tuple[str, ...] = ()) -> list[Row]:
    """Return rows about tasks of many items, each from arrays of the host to an answer there.

    `chosen` are names of tasks; by default all.
    """
    tasks: dict[str, Callable[[], list[Row]]] = {
        "steps": lambda: [
            *ridge_by_steps(100_000, 1e-8, 6.0), *ridge_by_steps(1_000_000, 1e-6, 90.0)
        ],
        "digits": digits,
        "tuning": lambda: [*tuning(10_000, 20.0), *tuning(20_000, 60.0)],
        "large": many_support_vectors,
        "predictions": predictions,
    }  # fmt: skip
    return [row for name, task in tasks.items() if not chosen or name in chosen for row in task()]


def ridge_by_steps(n: int, tol: float, bar: float) -> list[Row]:
    """Return rows about exact ridge regression without a stored matrix."""
    X, y = sample(n, 9)
    follow = Plan(device="cuda", approximate="never", tol=tol)
    machine = KernelRidge(Gaussian(3.0), 1e-6 * n, follow=follow)
    X = X.astype(np.float64)
    clone(machine).fit(X[:40_000], y[:40_000])  # compiled
    seconds, fitted = clocked(lambda: machine.fit(X, y))
    solution, plan = fitted.solution_, fitted.plan_
    task = f"exact ridge by {plan.solver}, n={n:,}, d=9"
    foretold = plan.seconds or math.nan
    off = max(foretold / seconds, seconds / foretold)
    return [
        Row(task, "", "", seconds, at_most(bar, SECONDS)),
        Row("  relative residual", "", "", solution.certificate, at_most(tol, SMALL)),
        Row("  predicted seconds", f"{foretold:.1f} s", "", off, at_most(3.0)),
    ]


def classes_of_pixels(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return made-up pictures of ten classes, with 784 numbers between 0 and 1."""
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(7)
    strokes = (shapes.random((10, 15, 784)) < 0.2) * shapes.random((10, 15, 784))
    common = (shapes.random((20, 784)) < 0.2) * shapes.random((20, 784))
    y = rng.integers(0, 10, n)
    X = 0.5 * np.abs(rng.standard_normal((n, 20))) @ common
    X += 0.1 * rng.standard_normal((n, 784))
    mix = 1.3 * rng.dirichlet(np.full(15, 0.3), n)
    for c in range(10):
        X[y == c] += mix[y == c] @ strokes[c]
    return np.clip(X, 0.0, 1.0), y


def digits(n: int = 60_000) -> list[Row]:
    """Return rows about ten classes, beside the same on the CPU."""
    X, y = classes_of_pixels(n)
    new, _ = classes_of_pixels(10_000, seed=1)
    ours = SVC(Gaussian(5.0), 5.0, follow=Plan(device="cuda"))
    theirs = clone(ours).set_params(follow=Plan(device="cpu"))
    clone(ours).fit(X[:3000], y[:3000])
    clone(theirs).fit(X[:3000], y[:3000])  # compiled
    seconds, ours = clocked(lambda: ours.fit(X, y))
    peer, theirs = clocked(lambda: theirs.fit(X, y))
    took, labels = clocked(lambda: ours.predict(new))
    equal = float(np.mean(labels == theirs.predict(new)))
    worst = max(one.violation for one in ours.solution_)
    task = f"SVC, {n:,} x 784, ten classes (peer: the CPU)"
    return [
        Row(task, "", f"{peer:.1f} s", seconds, at_most(3.0, SECONDS)),
        Row("  violation", "", "", worst, at_most(1e-3, SMALL)),
        Row(f"  equal labels, 10,000 in {took:.2f} s", "", "", equal, at_least(0.9999, "{:.5f}")),
    ]


def tuning(n: int, bar: float) -> list[Row]:
    """Return rows about ten folds of fifty values of C."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 1000))
    z = X @ rng.standard_normal(1000) / math.sqrt(1000) + 0.5 * rng.standard_normal(n) > 0
    machine = SVC(Gaussian(math.sqrt(1000)), follow=Plan(device="cuda"))
    search = GridSearchCV(machine, {"C": np.logspace(-3, 3, 50)}, cv=10, refit=False)
    GridSearchCV(machine, {"C": [1.0, 10.0]}, cv=10, refit=False).fit(X[:1000], z[:1000])
    seconds, _ = clocked(lambda: search.fit(X, z))
    solved = search.account_.counts["on an engine"] - search.account_.counts["refitted"]
    return [
        Row(f"SVC, {n:,} x 1,000, 10 folds x 50 values of C", "", "", seconds,
            at_most(bar, SECONDS)),
        Row("  solved there, of 500", "", "", float(solved), at_least(500.0, "{:.0f}")),
    ]  # fmt: skip


def many_support_vectors(n: int = 500_000) -> list[Row]:
    """Return rows about a machine whose Gram matrix fits nowhere."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 50), dtype=np.float32)
    z = 2 * np.sin(X[:, 0]) + X[:, 1] > 0
    z[rng.random(n) < 0.01] ^= True
    machine = SVC(Gaussian(7.0), 1.0, follow=Plan(device="cuda"))
    clone(machine).fit(X[:20_000], z[:20_000])
    seconds, fitted = clocked(lambda: machine.fit(X, z))
    share = len(fitted.support_) / n
    return [
        Row(f"SVC, {n:,} x 50", "", "", seconds, at_most(60.0, SECONDS)),
        Row("  violation", "", "", fitted.solution_.violation, at_most(1e-3, SMALL)),
        Row("  share of support vectors", "", "", share, at_least(0.0, "{:.3f}")),
    ]


def predictions() -> list[Row]:
    """Return rows about a million rows and 20,000 support vectors."""
    rng = np.random.default_rng(3)
    rows = []
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((1_000_000, 100), dtype=np.float32).astype(dtype)
        k = Gaussian(10.0)
        f = Function(k, k.admit(X[:CENTERS]), rng.standard_normal(CENTERS))
        predict = partial(_predicted, f, X)
        predict()
        seconds, found = clocked(predict)
        some = np.arange(0, len(X), 9973)
        truth = f(k.admit(X[some]))
        error = float(np.linalg.norm(found[some] - truth) / np.linalg.norm(truth))
        rows += [
            Row(f"1,000,000 predictions, {CENTERS:,} support vectors, d=100, {dtype.__name__}",
                "", "", seconds, at_most(0.3, "{:.2f} s")),
            Row("  relative error", "", "", error, at_most(1e-5, SMALL)),
        ]  # fmt: skip
    return rows


def _predicted(f: Function, X: np.ndarray) -> np.ndarray:
    points = f.kernel.admit(X)
    return TorchEngine("cuda").multiply(f.kernel, points, f.points, f.coefficients)


def certificate_of(solution: Any) -> float:
    """Return the residual, the norm of the gradient, or the largest violation."""
    return float(getattr(solution, "certificate", getattr(solution, "violation", np.nan)))


def _answers(machine: Any, X: np.ndarray) -> np.ndarray:
    return machine.predict(X) if hasattr(machine, "predict") else machine.transform(X)


def _part(problem: Quadratic, n: int) -> Quadratic:
    return Quadratic(problem.target[:n], problem.lower[:n], problem.upper[:n], problem.start[:n])


# ---- time -------------------------------------------------------------------------------------


def median_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median time of work on the GPU, in seconds, after a first run."""
    import torch

    work()
    found = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return float(np.median(found))


def clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one run, and what it returns."""
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    answer = work()
    torch.cuda.synchronize()
    return time.perf_counter() - begin, answer
