"""Pictures of people and of models of people, from published data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots.cognition import TYPES, plot_learning, plot_observed
from mercer.plots.figures.registry import PAGE, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# With these ALCOVE's averages come close to those of people.
LIKE_PEOPLE: Any = {
    "sensitivity": 5.8219,
    "choice": 1.9539,
    "association_rate": 0.0754,
    "attention_rate": 0.9856,
}


@picture(
    "shj",
    "Shepard, Hovland & Jenkins (1961); data of Nosofsky et al. (1994)",
    "Errors while learning six types of categories. Left, 40 people for each type; right, 100 "
    "simulated learners of ALCOVE. Both find I easier than II, II easier than III, IV and V, and "
    "VI hardest, though ALCOVE only just.",
    (PAGE, 3.3),
)
def six_types(figure: Figure) -> None:
    from mercer.cognition.experiments.designs import shj, shj_human
    from mercer.cognition.learners.alcove import ALCOVE

    model = ALCOVE(**LIKE_PEOPLE)
    curves = np.array([model.simulate(shj(kind), subjects=100, seed=0) for kind in TYPES])
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, title, table in zip(axes, ("people", "ALCOVE"), (shj_human(), curves), strict=True):
        plot_learning(table, ax=ax)
        means = np.mean(table, axis=1)
        ax.legend(
            handles=ax.lines, labels=[f"{k}  {m:.3f}" for k, m in zip(TYPES, means, strict=True)],
            title="type  mean", alignment="left",
        )  # fmt: skip
        ax.set(title=title, xticks=[1, 4, 8, 12, 16])
    axes[1].set_ylabel("")


@picture(
    "gcm",
    "Medin & Schaffer (1978), experiment 2",
    "Share of answers 'A' to each of 16 stimuli, predicted and observed; least squares. A "
    "prototype model must like 1110 more than 1010. People, and the generalized context model, "
    "do not.",
    (PAGE, 3.7),
)
def five_four(figure: Figure) -> None:
    from mercer.cognition.choices.gcm import GCM, PrototypeModel
    from mercer.cognition.experiments.designs import medin_schaffer

    seen = medin_schaffer()
    titles = ("generalized context model", "prototype model")
    axes: Any = figure.subplots(1, 2, sharey=True)
    for k, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        model: Any = (GCM, PrototypeModel)[k](loss="sse")
        model.fit(seen.exemplars, seen.categories, seen.stimuli, seen.responses)
        plot_observed(model, seen, ax)
        ax.set_title(f"{title}\nsum of squared errors {model.sse_:.3f}")
    axes[1].set_ylabel("")
