"""Psychology: Shepard's law of generalization, and ALCOVE learning the six types."""

from __future__ import annotations

import numpy as np

from mercer.cognition.experiments.designs import shj
from mercer.cognition.learners.alcove import ALCOVE
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
)
from mercer.kernels import Shepard

__all__ = ["SHEPARD", "SIX_TYPES"]

BOX = (-3.0, 3.0)
TYPES = ("I", "II", "III", "IV", "V", "VI")
BLOCKS = 16
SUBJECTS = 12  # whose mean curves are drawn
LEVELS = (0.75, 0.5, 0.25, 0.1)  # of similarity


def _draw_shepard(state: State) -> Scene:
    order = 1.0 if state["metric"] == "city block" else 2.0
    exponent = 1.0 if state["decay"] == "exponential" else 2.0
    kernel = Shepard(state["sensitivity"], order, exponent)
    apart = np.linspace(0, 4, 121)
    falling = Chart("How generalization falls", (0, 4), (0, 1.02), "distance", "similarity")
    for p, name in ((1.0, "exponential"), (2.0, "gaussian")):
        own = p == exponent
        values = np.exp(-state["sensitivity"] * apart**p)
        falling.marks.append(
            line(np.column_stack([apart, values]), 0 if own else "muted", 3 if own else 1,
                 dash=not own, name=name)
        )  # fmt: skip
    around = Chart("What is as similar to the first dot", BOX, BOX, "dimension 1", "dimension 2",
                   equal=True, drag="xy")  # fmt: skip
    similar = np.asarray(kernel(grid(BOX, BOX), state.X[:1])).ravel()
    around.marks.append(field_of(similar, BOX, BOX, 1.3))
    for level in LEVELS:
        around.marks += level_line(similar, BOX, BOX, level, "ink", 1.5)
    around.marks.append(dots(state.X, [0, *[1] * (len(state.X) - 1)], drag=True))
    readouts = [("kernel", repr(kernel)), ("valid", kernel.proof().verdict)]
    for i in range(1, min(len(state.X), 4)):
        value = float(kernel(state.X[:1], state.X[i : i + 1])[0, 0])
        readouts.append((f"similarity of dots 1 and {i + 1}", f"{value:.3f}"))
    return Scene(
        [falling, around], readouts,
        "Shepard found that generalization falls exponentially with psychological distance. "
        "Dimensions that are seen apart add up (city block: diamonds), those that are seen as "
        "one have circles.",
    )  # fmt: skip


SHEPARD = Demonstration(
    "Shepard's law",
    "How fast does what you know of one thing stop to hold for others?",
    "Shepard (1987); Nosofsky (1986)",
    (
        Knob("sensitivity", "sensitivity c", "log", 1.0, 0.1, 10.0),
        Knob("metric", "metric", "choice", "city block", options=("city block", "euclidean")),
        Knob("decay", "decay", "choice", "exponential", options=("exponential", "gaussian")),
    ),
    np.array([[0.0, 0.0, 0], [1.2, 0.4, 1], [-1.0, -1.0, 1], [0.3, 2.0, 1]]),
    _draw_shepard,
    classes=("origin", "others"),
)


def _draw_types(state: State) -> Scene:
    model = ALCOVE(
        sensitivity=state["sensitivity"], choice=state["choice"],
        association_rate=state["association"], attention_rate=state["attention"],
    )  # fmt: skip
    chosen = state["type"]
    curves = Chart("Errors of the six types", (1, BLOCKS), (0, 0.55), "block of 16 trials",
                   "share of errors")  # fmt: skip
    for code, kind in enumerate(TYPES):
        errors = model.simulate(shj(kind, BLOCKS), subjects=SUBJECTS, seed=0)
        own = kind == chosen
        curves.marks.append(
            line(np.column_stack([np.arange(1, BLOCKS + 1), errors]), code, 3 if own else 1.5,
                 name=f"type {kind}")
        )  # fmt: skip
    problem = shj(chosen, BLOCKS)
    order = problem.trials(np.random.default_rng(0))
    trial = min(max(state.step, 0), len(order))
    path = _attention_path(model, problem, order, trial)
    attention = Chart(
        f"Attention while one learns type {chosen}", (0, max(trial, 1)),
        (0, max(1.0, float(path.max()) * 1.05)), "trial", "attention",
    )  # fmt: skip
    for k, values in enumerate(path.T):
        attention.marks.append(
            line(np.column_stack([np.arange(len(values)), values]), k, 2,
                 name=f"dimension {k + 1}")
        )  # fmt: skip
    readouts = [("trial", f"{trial} of {len(order)}")]
    readouts += [(f"attention to dimension {k + 1}", f"{value:.3f}")
                 for k, value in enumerate(path[-1])]  # fmt: skip
    if trial < len(order):
        item = order[trial]
        shown = "".join("●" if value else "○" for value in problem.stimuli[item].tolist())
        readouts.append(("the next thing to categorize",
                         f"{shown}, category {problem.categories[item]}"))  # fmt: skip
    return Scene(
        [curves, attention], readouts,
        "Type I needs one dimension, type II two, type VI all three. Attention goes where it "
        "helps; without learning it (rate at its lowest), type II is as hard as type IV.",
        step=trial, last=trial >= len(order),
    )  # fmt: skip


def _attention_path(model: ALCOVE, problem: object, order: np.ndarray, trials: int) -> np.ndarray:
    """Return the attention before each trial and after the last, at forty trials at most."""
    stimuli, categories = problem.stimuli, problem.categories  # type: ignore[attr-defined]
    start = np.full((1, stimuli.shape[1]), 1 / stimuli.shape[1])
    # A learner is taught every category: the first trials hold one of each.
    first = 1 + max(int(np.flatnonzero(categories[order] == c)[0]) for c in np.unique(categories))
    stops = np.unique(np.linspace(min(first, trials), trials, 40).round().astype(int))
    at = np.arange(trials + 1)
    known = [
        model.fit(stimuli[order[:stop]], categories[order[:stop]], stimuli).attention_
        for stop in stops.tolist() if stop >= first
    ]  # fmt: skip
    if not known:
        return np.repeat(start, trials + 1, axis=0)
    places = np.r_[0, stops[stops >= first]]
    table = np.vstack([start, *known])
    return np.column_stack([np.interp(at, places, column) for column in table.T])


SIX_TYPES = Demonstration(
    "ALCOVE learns the six types",
    "Categories of eight things with three features, learned trial by trial.",
    "Shepard, Hovland & Jenkins (1961); Kruschke (1992)",
    (
        Knob("type", "type", "choice", "II", options=TYPES),
        Knob("sensitivity", "sensitivity c", "log", 6.0, 0.5, 20.0),
        Knob("choice", "choice φ", "log", 2.0, 0.2, 10.0),
        Knob("association", "association rate", "log", 0.1, 0.001, 0.5),
        Knob("attention", "attention rate", "log", 0.5, 0.0001, 2.0),
    ),
    np.array([[0.0, 0.0, 0]]),
    _draw_types,
    classes=("none",),
    steps=True,
)
