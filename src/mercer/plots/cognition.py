"""Models of people beside what people did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.errors import DomainError
from mercer.plots.axes import axes_for, label_points
from mercer.plots.palette import INK, PALE, color, marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer.cognition.similarity.generalization import Gradient

__all__ = ["plot_gradient", "plot_learning", "plot_map", "plot_observed"]

TYPES = ("I", "II", "III", "IV", "V", "VI")  # of the rows of a table of learning curves


def plot_observed(
    models: Any,
    experiment: Any = None,
    ax: Axes | None = None,
    *,
    category: object = None,
    labels: bool = True,
) -> Axes:
    """Draw the proportion of an answer to each stimulus against what models predict.

    On the diagonal a model is right.

    Parameters
    ----------
    models : Comparison, fitted model, or dict of name to fitted model
    experiment : Experiment, optional
        Not needed for a comparison.
    ax : Axes, optional
    category : optional
        Whose proportion is drawn, by default the first.
    labels : bool
        Whether the stimuli are named, if there is one model.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.cognition import GCM, medin_schaffer
    >>> seen = medin_schaffer(counts=True)
    >>> model = GCM().fit(seen.exemplars, seen.categories, seen.stimuli, seen.responses)
    >>> ax = plot_observed(model, seen)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ("predicted share of 'A'", "observed share of 'A'")
    """
    experiment = getattr(models, "experiment", experiment)
    if experiment is None:
        raise DomainError("to compare a model with people, give the experiment too")
    predicted = _predictions(models, experiment)
    classes = np.unique(np.asarray(experiment.categories)).tolist()
    category = classes[0] if category is None else category
    if category not in classes:
        raise DomainError(f"there is no category {category!r}; known are {classes}")
    k = classes.index(category)
    ax = axes_for(ax, (3.6, 3.4))
    ax.plot([0, 1], [0, 1], color=PALE, zorder=0)
    y = experiment.proportions[:, k]
    for i, (name, P) in enumerate(predicted.items()):
        filled: Any = {"markeredgecolor": "white", "markeredgewidth": 0.5} if i != 1 else {}
        ax.plot(P[:, k], y, marker(i), color=color(i), markersize=5, label=name, **filled)
    share = f"share of {str(category)!r}"
    ax.set(xlabel=f"predicted {share}", ylabel=f"observed {share}", aspect="equal")
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    if len(predicted) > 1:
        ax.legend(loc="upper left", handletextpad=0.2)
    elif labels and experiment.names is not None:
        points = np.column_stack([next(iter(predicted.values()))[:, k], y])
        label_points(ax, points, experiment.names, np.linspace((0, 0), (1, 1), 40))
    return ax


def _predictions(models: Any, experiment: Any) -> dict[str, np.ndarray]:
    """Return the probabilities of all answers to all stimuli, by model."""
    if hasattr(models, "predicted"):
        return models.predicted
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    for name, model in named.items():
        if not hasattr(model, "predict_proba"):
            raise DomainError(f"{name} has no predict_proba; give a fitted model or a comparison")
    return {name: np.asarray(m.predict_proba(experiment.stimuli)) for name, m in named.items()}


def plot_learning(
    curves: Mapping[str, ArrayLike] | ArrayLike,
    human: Mapping[str, ArrayLike] | ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    names: Sequence[object] | None = None,
) -> Axes:
    """Draw the share of errors in each block, a line for each problem or model.

    Parameters
    ----------
    curves : dict of name to errors, or array of shape (problems, blocks)
        Six rows without names are the six types of Shepard, Hovland & Jenkins.
    human : the same, optional
        Drawn as points, each in the color of the line with its name.
    ax : Axes, optional
    names : sequence of str, optional
        Of the rows of an array.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = plot_learning({"easy": [0.3, 0.1, 0.0], "hard": [0.5, 0.4, 0.3]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['easy', 'hard']
    """
    lines = _lines(curves, names)
    points = {} if human is None else _lines(human, names)
    ax = axes_for(ax)
    keys = list(dict.fromkeys([*lines, *points]))
    for k, key in enumerate(keys):
        if key in lines:
            blocks = np.arange(1, len(lines[key]) + 1)
            style: Any = {} if human is not None else {"marker": marker(k), "markersize": 3.5}
            ax.plot(blocks, lines[key], color=color(k), label=key, linewidth=1.2, **style)
        if key in points:
            blocks = np.arange(1, len(points[key]) + 1)
            label = None if key in lines else f"{key}, people"
            ax.plot(blocks, points[key], marker(k), color=color(k), markersize=3.5, label=label)
    ax.set(xlabel="block", ylabel="share of errors", ylim=(0, None))
    ax.legend()
    return ax


def _lines(
    curves: Mapping[str, ArrayLike] | ArrayLike, names: Sequence[object] | None
) -> dict[str, np.ndarray]:
    """Return errors by name, refusing what are no shares."""
    if isinstance(curves, Mapping):
        found = {str(name): np.asarray(values, dtype=float) for name, values in curves.items()}
    else:
        table = np.atleast_2d(np.asarray(curves, dtype=float))
        if names is None:
            alone = len(table) != len(TYPES)
            names = [str(k + 1) for k in range(len(table))] if alone else TYPES
        if len(names) != len(table):
            raise DomainError(f"there are {len(table)} learning curves, but {len(names)} names")
        found = dict(zip(map(str, names), table, strict=True))
    for name, values in found.items():
        if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
            raise DomainError(
                f"the learning curve {name!r} must be a share of errors, from 0 to 1, for each "
                "block"
            )
    return found


def plot_map(
    stimuli: object, ax: Axes | None = None, *, colors: Sequence[str] | None = None
) -> Axes:
    """Draw the stimuli of a map of one or two dimensions, each with its label.

    Parameters
    ----------
    stimuli : StimulusMap, or fitted MDSChoice
    ax : Axes, optional
    colors : sequence of colors, optional
        One for each stimulus.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.cognition import stimulus_map
    >>> ax = plot_map(stimulus_map([[0, 1, 2], [1, 0, 1], [2, 1, 0]], labels=["p", "q", "r"]))
    >>> sorted(text.get_text() for text in ax.texts)
    ['p', 'q', 'r']
    """
    X = getattr(stimuli, "coordinates", getattr(stimuli, "coordinates_", None))
    names = getattr(stimuli, "labels", getattr(stimuli, "labels_", None))
    if X is None or names is None:
        raise DomainError(f"{type(stimuli).__name__} has no map; give a stimulus_map")
    if X.shape[1] > 2:
        raise DomainError(
            f"the map has {X.shape[1]} dimensions; scale to two, with dimensions=2, to draw it"
        )
    flat = X.shape[1] == 1
    points = np.column_stack([X[:, 0], np.zeros(len(X))]) if flat else X
    ax = axes_for(ax, (3.8, 1.6 if flat else 3.6))
    x, y = points.T
    paint = color(0) if colors is None else colors
    ax.scatter(x, y, s=26, c=paint, edgecolors="white", linewidths=0.6, zorder=3)
    ax.margins(0.15)
    if flat:
        ax.spines["left"].set_visible(False)
        ax.set(yticks=[], xlabel="dimension 1")
    else:
        ax.set(aspect="equal", xlabel="dimension 1", ylabel="dimension 2")
    label_points(ax, points, names)
    stress = getattr(stimuli, "stress", None)
    if stress is not None:
        ax.set_title(f"stress {stress:.3f}")
    return ax


def plot_gradient(gradient: Gradient, ax: Axes | None = None) -> Axes:
    """Draw a generalization gradient through its data, with the other shapes that were tried.

    Parameters
    ----------
    gradient : Gradient
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.cognition import fit_gradient
    >>> ax = plot_gradient(fit_gradient([0.1, 1.0, 2.0, 3.0], [97, 61, 35, 23], trials=100))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['exponential', 'free exponent', 'Gaussian']
    """
    if not hasattr(gradient, "sensitivity") or not hasattr(gradient, "distances"):
        raise DomainError(f"{type(gradient).__name__} is no gradient; give one of fit_gradient")
    ax = axes_for(ax)
    d = np.linspace(0.0, 1.05 * float(gradient.distances.max()), 200)
    for k, one in enumerate((gradient, *gradient.alternatives)):
        line = "-" if k == 0 else ("--", ":")[(k - 1) % 2]
        ax.plot(d, one(d), line, color=color(k), label=one.shape, linewidth=1.8 - 0.5 * (k > 0))
    bars = None
    if gradient.trials is not None:
        p = np.clip(gradient(gradient.distances), 1e-9, 1 - 1e-9)
        bars = np.sqrt(p * (1 - p) / gradient.trials)
    ax.errorbar(gradient.distances, gradient.responses, bars, fmt="o", color=INK, markersize=4,
                linewidth=0.8, zorder=3)  # fmt: skip
    word = "strength" if gradient.trials is None else "share"
    ax.set(xlabel="psychological distance", ylabel=f"{word} of responses", xlim=(0, d[-1]))
    ax.set_ylim(bottom=min(0.0, float(gradient.responses.min())))
    ax.legend()
    return ax
