"""Functions of the space of a kernel: Gaussians with inner products, and regularization."""

from __future__ import annotations

import numpy as np

from mercer.explorer.textbook.chart import Chart, Demonstration, Knob, Scene, State, dots, line
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.rkhs import Function
from mercer.selection import leave_one_out

__all__ = ["GAUSSIANS", "REGULARIZATION"]

LINE = (-4.0, 4.0)
PLACES = 161  # along a curve
MANY = 12  # points whose inner products are all told would be too many for a page


def _draw_gaussians(state: State) -> Scene:
    kernel = Gaussian(state["bandwidth"])
    centers, heights = state.X[:, :1], state.X[:, 1]
    f = Function(kernel, centers, heights)
    x = np.linspace(*LINE, PLACES)
    chart = Chart("A sum of Gaussians", LINE, (-2.5, 2.5), "x", "f(x)", drag="xy")
    for i, (center, height) in enumerate(zip(centers, heights, strict=True)):
        one = Function(kernel, [center], [height])
        chart.marks.append(line(np.column_stack([x, one(x[:, None])]), i, 1, dash=True))
    chart.marks.append(line(np.column_stack([x, f(x[:, None])]), "ink", 2.5, name="f"))
    chart.marks.append(dots(state.X, list(range(len(heights))), drag=True))
    readouts = [("length |f|", f"{f.norm():.4f}")]
    parts = [Function(kernel, [center], [1.0]) for center in centers[:MANY]]
    for i in range(min(len(parts), 3)):
        for j in range(i):
            inner = parts[i].inner(parts[j])
            readouts.append((f"⟨k(·,x{j + 1}), k(·,x{i + 1})⟩ = k(x{j + 1}, x{i + 1})",
                             f"{inner:.4f}"))  # fmt: skip
    if len(parts) > 1:
        angle = np.degrees(parts[0].angle(parts[1]))
        readouts.append(("angle between the first two", f"{angle:.1f}°"))
    return Scene(
        [chart], readouts,
        "Each dot is the top of a Gaussian: drag it sideways to move its center, up or down for "
        "its weight. Functions have lengths and angles: the inner product of two Gaussians is "
        "the similarity of their centers, so that near ones are almost the same vector.",
    )  # fmt: skip


GAUSSIANS = Demonstration(
    "Gaussian functions and their inner products",
    "Functions as vectors: lengths, angles and sums in the space of a kernel.",
    "Aronszajn (1950); tutorial 2.2",
    (Knob("bandwidth", "bandwidth", "log", 0.8, 0.1, 4.0),),
    np.array([[-1.5, 1.0, 0], [0.2, 1.6, 0], [1.8, -1.2, 0]]),
    _draw_gaussians,
    classes=("tops",),
)


def _noisy_wave(seed: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3.6, 3.6, 16))
    y = np.sin(1.3 * x) + 0.35 * rng.normal(size=16)
    return np.column_stack([x.round(2), y.clip(-2.3, 2.3).round(2), np.zeros(16)])


def _draw_regularization(state: State) -> Scene:
    X, y = state.X[:, :1], state.X[:, 1]
    kernel = Gaussian(state["bandwidth"])
    machine = KernelRidge(kernel, state["penalty"], intercept=True).fit(X, y)
    x = np.linspace(*LINE, PLACES)
    chart = Chart("The smoothest function near the data", LINE, (-2.5, 2.5), "x", "y", drag="xy")
    chart.marks.append(line(np.column_stack([x, machine.predict(x[:, None])]), 0, 2.5, name="f"))
    chart.marks.append(dots(state.X, [1] * len(y), drag=True))
    own = float(np.sqrt(np.mean((machine.predict(X) - y) ** 2)))
    readouts = [("error on the dots", f"{own:.3f}"),
                ("length |f|", f"{machine.function_.norm():.3f}")]  # fmt: skip
    if len(y) > 2:
        plain = KernelRidge(kernel, state["penalty"], intercept=True)
        held = float(np.sqrt(leave_one_out(plain, X, y).error))
        readouts.insert(1, ("error on dots left out", f"{held:.3f}"))
    return Scene(
        [chart], readouts,
        "With almost no penalty the function goes through every dot and swings between them; "
        "dots that are left out are then predicted badly. With a very large one it is flat. The "
        "best penalty is where dots that are left out are predicted best.",
    )  # fmt: skip


REGULARIZATION = Demonstration(
    "Regularization",
    "Why machines have a penalty: between following every dot, and none.",
    "Tikhonov (1963); tutorial 3",
    (
        Knob("penalty", "penalty", "log", 0.1, 1e-6, 1e3),
        Knob("bandwidth", "bandwidth", "log", 0.6, 0.05, 5.0),
    ),
    _noisy_wave(),
    _draw_regularization,
    classes=("dots",),
)
