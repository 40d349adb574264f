"""Separating two categories: the perceptron, prototypes and exemplars, margins, kernel trick."""

from __future__ import annotations

import numpy as np

from mercer.explorer.textbook.chart import (
    Chart,
    Demonstration,
    Knob,
    Scene,
    State,
    dots,
    field_of,
    grid,
    level_line,
    line,
    text,
)
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.machines import SVC, ExemplarClassifier, KernelRidgeClassifier, PrototypeClassifier

__all__ = ["KERNEL_TRICK", "MARGIN", "PERCEPTRON", "PROTOTYPES", "perceptron_steps"]

BOX = (-3.0, 3.0)
ONE_CLASS = "All points are of one class: there is nothing to separate. Press Start again."
SUPPORT = 1e-8  # weight above which a point supports


def _two_clouds(seed: int, count: int, apart: float, spread: float) -> np.ndarray:
    """Return points of two classes around two centers."""
    rng = np.random.default_rng(seed)
    centers = np.array([[-apart, -apart / 2], [apart, apart / 2]])
    codes = np.repeat([0, 1], count)
    places = centers[codes] + spread * rng.normal(size=(2 * count, 2))
    return np.column_stack([places.clip(-2.9, 2.9).round(2), codes])


def _plane(title: str, state: State, x: tuple[float, float] = BOX) -> Chart:
    return Chart(title, x, x, "x₁", "x₂", equal=True, drag="xy")


def _nothing(state: State) -> Scene | None:
    """Return what is there to see where only one class is left."""
    if len(np.unique(state.y)) > 1:
        return None
    chart = _plane("One class", state)
    chart.marks.append(dots(state.X, state.y.tolist(), drag=True))
    return Scene([chart], [], ONE_CLASS)


def perceptron_steps(
    X: np.ndarray, y: np.ndarray, rate: float, steps: int
) -> tuple[np.ndarray, float, int, int]:
    """Return weights and offset after some corrections, their number, and the last wrong point.

    Points are looked at one after the other; each that is on the wrong side is corrected by
    w ← w + ηyx, b ← b + η. The point is -1 when none is wrong any more.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1, 0])
    >>> w, b, made, wrong = perceptron_steps(X, y, 1.0, 100)
    >>> w, float(b), made, wrong
    (array([2., 0.]), 0.0, 2, -1)
    """
    signs = np.where(y == 1, 1.0, -1.0)
    w, b = np.zeros(2), 0.0
    place = made = 0
    while made < steps:
        for ahead in range(len(X)):
            i = (place + ahead) % len(X)
            if signs[i] * (X[i] @ w + b) <= 0:
                break
        else:
            return w, b, made, -1
        w, b = w + rate * signs[i] * X[i], b + rate * signs[i]
        place, made = i + 1, made + 1
    wrong = np.flatnonzero(signs * (X @ w + b) <= 0)
    return w, b, made, int(wrong[0]) if len(wrong) else -1


def _draw_perceptron(state: State) -> Scene:
    found = _nothing(state)
    if found is not None:
        return found
    X, y = state.X, state.y
    w, b, made, wrong = perceptron_steps(X, y, state["rate"], state.step)
    chart = _plane("The line that the perceptron has found", state)
    if made:
        scores = grid(BOX, BOX) @ w + b
        chart.marks += [field_of(scores, BOX, BOX), *level_line(scores, BOX, BOX, 0.0)]
        arrow = w / (np.linalg.norm(w) or 1.0)
        foot = -b * w / (w @ w or 1.0)
        chart.marks.append(line([foot, foot + arrow], "muted", 3, name="w"))
        chart.marks.append(text(foot + 1.15 * arrow, "w"))
    rings = [i == wrong for i in range(len(X))]
    chart.marks.append(dots(X, y.tolist(), drag=True, rings=rings))
    errors = int(np.sum(np.where(y == 1, 1, -1) * (X @ w + b) <= 0))
    words = (
        "Every point is on its side: the perceptron has found a line and never changes it again."
        if wrong < 0
        else "The ringed point is on the wrong side. A step adds it to the weights, with its sign."
    )
    return Scene(
        [chart],
        [("corrections", str(made)), ("points on the wrong side", str(errors)),
         ("weights", f"({w[0]:.2f}, {w[1]:.2f})"), ("offset", f"{b:.2f}")],
        words, step=made, last=wrong < 0,
    )  # fmt: skip


PERCEPTRON = Demonstration(
    "The perceptron, step by step",
    "A line between two categories, learned from mistakes. Drag points; make them inseparable, "
    "and it never ends.",
    "Rosenblatt (1958); Jäkel, Schölkopf & Wichmann (2009), tutorial 1.1",
    (Knob("rate", "learning rate", "log", 1.0, 0.01, 10.0),),
    _two_clouds(3, 9, 1.1, 0.75),
    _draw_perceptron,
    steps=True,
)


def _draw_prototypes(state: State) -> Scene:
    found = _nothing(state)
    if found is not None:
        return found
    X, y, width = state.X, state.y, state["bandwidth"]
    charts, readouts = [], []
    ways = (
        (Linear(), "Prototype: the mean of each category"),
        (Gaussian(width), "Exemplars: mean similarity to all members"),
    )
    for kernel, name in ways:
        prototype = name.startswith("P")
        machine = (PrototypeClassifier if prototype else ExemplarClassifier)(kernel).fit(X, y)
        places = grid(BOX, BOX)
        if prototype:
            scores = machine.decision_function(places)
        else:
            scores = machine.predict_proba(places)[:, 1] - 0.5
        chart = _plane(name, state)
        chart.marks += [field_of(scores, BOX, BOX), *level_line(scores, BOX, BOX, 0.0)]
        chart.marks.append(dots(X, y.tolist(), drag=True))
        if prototype:
            means = [X[y == c].mean(axis=0) for c in (0, 1)]
            chart.marks.append(dots(means, [0, 1], size=12, name="prototype"))
            chart.marks.append(line(means, "muted", 1, dash=True))
        charts.append(chart)
        wrong = int(np.sum(machine.predict(X) != y))
        readouts.append((name.split(":")[0] + ": wrong", f"{wrong} of {len(y)}"))
    return Scene(
        charts, readouts,
        "A prototype knows the middle of a category, and parts the plane by a line. Exemplars "
        "know all members; the narrower their similarity, the more of them count alone.",
    )  # fmt: skip


PROTOTYPES = Demonstration(
    "Prototypes and exemplars",
    "Two ways to remember a category: by its mean, or by all that belongs to it.",
    "Reed (1972); Medin & Schaffer (1978); Nosofsky (1986); tutorial 1.2 and 2.4",
    (Knob("bandwidth", "bandwidth of exemplars", "log", 0.7, 0.3, 5.0),),
    np.vstack([_two_clouds(1, 7, 1.3, 0.5), [[2.2, -2.2, 0], [1.8, -1.9, 0], [-2.1, 1.9, 1]]]),
    _draw_prototypes,
)


def _draw_margin(state: State) -> Scene:
    found = _nothing(state)
    if found is not None:
        return found
    X, y = state.X, state.y
    kernel = Linear() if state["kernel"] == "linear" else Gaussian(state["bandwidth"])
    machine = SVC(kernel, C=state["C"]).fit(X, y)
    scores = machine.decision_function(grid(BOX, BOX))
    support = np.zeros(len(X), dtype=bool)
    support[machine.support_] = True
    chart = _plane("The widest margin", state)
    chart.marks.append(field_of(scores, BOX, BOX, max(2.0, float(np.abs(scores).max()) / 2)))
    chart.marks += level_line(scores, BOX, BOX, 0.0)
    for level in (-1.0, 1.0):
        chart.marks += level_line(scores, BOX, BOX, level, "muted", 1.5, dash=True)
    chart.marks.append(dots(X, y.tolist(), drag=True, rings=support.tolist()))
    norm = machine.function_.norm()
    inside = int(np.sum(np.where(y == 1, 1, -1) * machine.decision_function(X) < 1 - 1e-3))
    return Scene(
        [chart],
        [("support vectors", f"{int(support.sum())} of {len(X)}"),
         ("width of the margin 2/|f|", f"{2 / norm:.3g}" if norm else "infinite"),
         ("inside the margin", str(inside))],
        "Ringed points support the boundary: the others could be taken away, and nothing would "
        "change. A small C lets more points into the margin, and makes it wider.",
    )  # fmt: skip


MARGIN = Demonstration(
    "Margin and support vectors",
    "Of all boundaries, the one that is farthest from the points on both sides.",
    "Cortes & Vapnik (1995); lecture on support vector machines",
    (
        Knob("kernel", "kernel", "choice", "linear", options=("linear", "gaussian")),
        Knob("C", "C", "log", 10.0, 0.01, 1000.0),
        Knob("bandwidth", "bandwidth", "log", 1.0, 0.1, 5.0),
    ),
    _two_clouds(5, 8, 1.3, 0.6),
    _draw_margin,
)


def _ring(seed: int = 2) -> np.ndarray:
    """Return points in a disk, and points around it."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, 24)
    radius = np.r_[rng.uniform(0.1, 0.9, 12), rng.uniform(1.6, 2.4, 12)]
    places = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.column_stack([places.round(2), np.repeat([0, 1], 12)])


def _features(X: np.ndarray) -> np.ndarray:
    """Return (x₁², √2·x₁x₂, x₂²), whose inner products are (xᵀz)²."""
    return np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])


def _seen_from(turn: float, tilt: float) -> np.ndarray:
    """Return what of three dimensions is seen to the right and upward."""
    a, t = np.radians([turn, tilt])
    right = [np.cos(a), np.sin(a), 0.0]
    up = [-np.sin(a) * np.sin(t), np.cos(a) * np.sin(t), np.cos(t)]
    return np.array([right, up]).T


def _draw_trick(state: State) -> Scene:
    found = _nothing(state)
    if found is not None:
        return found
    X, y = state.X, state.y
    machine = KernelRidgeClassifier(Polynomial(2), penalty=0.01, intercept=True).fit(X, y)
    scores = machine.decision_function(grid(BOX, BOX))
    flat = _plane("Before: two dimensions", state)
    flat.marks += [field_of(scores, BOX, BOX), *level_line(scores, BOX, BOX, 0.0)]
    flat.marks.append(dots(X, y.tolist(), drag=True))
    view = _seen_from(state["turn"], state["tilt"])
    Z = _features(X)
    middle, size = Z.mean(axis=0), float(np.abs(Z - Z.mean(axis=0)).max()) or 1.0
    seen = (Z - middle) / size @ view
    deep = Chart("After: x₁², √2·x₁x₂ and x₂²", (-1.9, 1.9), (-1.9, 1.9), equal=True)
    for axis, name in enumerate(("x₁²", "√2·x₁x₂", "x₂²")):
        tip = np.eye(3)[axis] * 1.2 @ view
        deep.marks += [line([[0, 0], tip], "muted", 1), text(1.1 * tip, name)]
    # The plane Σ wᵢφᵢ + b = 0: its weights are those of the machine's function.
    w = _features(np.asarray(machine.function_.points.array)).T @ np.ravel(
        machine.function_.coefficients
    )
    offset = float(np.ravel(machine.intercept_)[0])
    if np.abs(w).max() > 0:
        corners = _plane_corners(w, offset, middle, size)
        deep.marks.append(line([*(corners @ view), (corners @ view)[0]], "ink", 1.5))
    deep.marks.append(dots(seen, y.tolist()))
    wrong = int(np.sum(machine.predict(X) != y))
    return Scene(
        [flat, deep],
        [("wrong", f"{wrong} of {len(y)}"), ("kernel", "(xᵀz)²"),
         ("weights of the plane", ", ".join(f"{value:.2f}" for value in w))],
        "No line parts a disk from the ring around it. In three dimensions a plane does, and the "
        "kernel computes inner products there without ever going there. Turn it to see.",
    )  # fmt: skip


def _plane_corners(w: np.ndarray, offset: float, middle: np.ndarray, size: float) -> np.ndarray:
    """Return four corners of the part of a plane that is near the points."""
    normal = w / np.linalg.norm(w)
    foot = -(offset + w @ middle) * w / (w @ w) / size
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return foot + 1.1 * np.array([first, second, -first, -second])


KERNEL_TRICK = Demonstration(
    "The kernel trick in three dimensions",
    "What no line can part in two dimensions, a plane may part in three.",
    "Aizerman, Braverman & Rozonoer (1964); tutorial 2.1",
    (
        Knob("turn", "turn (degrees)", "range", 35.0, -180.0, 180.0),
        Knob("tilt", "tilt (degrees)", "range", 25.0, -90.0, 90.0),
    ),
    _ring(),
    _draw_trick,
)
