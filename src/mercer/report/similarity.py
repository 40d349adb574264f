"""Similarity: the Gram matrix of a study's rows, and its spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.explanations.terms import unwrap
from mercer.plots import effective_rank, plot_gram, plot_spectrum
from mercer.plots.axes import axes_for, distinct
from mercer.report.pictures import Figure, drawing, figure
from mercer.report.words import MAX_CLASSES, amount, noun, plural

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["SimilaritySection", "cosines", "similarity"]

MAX_ITEMS = 300  # of a Gram matrix; more are not seen in a picture
SHADES = 63  # of a Gram matrix; more are not seen, and cost bytes


@dataclass(frozen=True)
class SimilaritySection:
    """How alike the items are to the chosen kernel."""

    summary: str  # of the Gram matrix
    directions: str  # of its spectrum
    gram: Figure
    spectrum: Figure


def similarity(study: Study) -> SimilaritySection | None:
    """Return the Gram matrix ordered by class, and its spectrum."""
    places, complete = sample(study)
    K = similarities(study, places)
    if K is None or len(K) < 2:
        return None
    C = cosines(K)
    values = np.linalg.eigvalsh(K)
    rank = effective_rank(values)
    what = plural(len(K), noun(study))
    some = "" if complete else f" {what} of {len(study.y)} are shown, chosen evenly."
    return SimilaritySection(
        _similarity_summary(study, C, places),
        f"The kernel sees about {_rank(rank)} directions in {what}. Few directions make a "
        "simple model that needs few rows; many make a flexible one that needs more.",
        _gram(study, C, places, some),
        _spectrum(K, what, rank),
    )


def _similarity_summary(study: Study, C: np.ndarray, places: np.ndarray) -> str:
    """Say how alike items of one class are, and items of different classes."""
    rows, y = f"{noun(study)}s", study.y[places]
    different = ~np.eye(len(C), dtype=bool)
    if study.task == "classify":
        same = y[:, None] == y
        within, between = same & different, ~same
        if not within.any() or not between.any():
            return ""
        return (
            f"Two {rows} of one class are {C[within].mean():.2f} alike on average, "
            f"two of different classes {C[between].mean():.2f}; 1 is the same."
        )
    rank = np.argsort(np.argsort(y, kind="stable"), kind="stable") / max(len(y) - 1, 1)
    near = (np.abs(rank[:, None] - rank) < 0.1) & different
    far = np.abs(rank[:, None] - rank) > 0.5
    if not near.any() or not far.any():
        return ""
    return (
        f"Two {rows} with similar values are {C[near].mean():.2f} alike on average, "
        f"two with very different values {C[far].mean():.2f}; 1 is the same."
    )


def _lowest(C: np.ndarray) -> float:
    """Return where the scale of shades begins: low enough for most pairs, so that they differ."""
    if C.min() < 0:
        return -1.0
    return float(np.floor(min(np.quantile(C, 0.1), 0.95) * 20) / 20)


def _gram(study: Study, C: np.ndarray, places: np.ndarray, some: str) -> Figure:
    rows, by_class = f"{noun(study)}s", study.task == "classify"
    low = _lowest(C)
    levels = low + np.round((C - low) / (1 - low) * SHADES) * (1 - low) / SHADES
    with drawing():
        if by_class:
            labels = study.y[places].tolist()
            kept = list(dict.fromkeys(labels))
            codes = [kept.index(label) for label in labels]
            names = tuple(distinct(kept, 12))
            ax = plot_gram(
                levels, None, codes, axes_for(None, (4.5, 3.6)), names=names, colorbar=False
            )
            if max(map(len, names)) > 44 // len(names):
                ax.tick_params(axis="x", rotation=90)
        else:
            ax = plot_gram(levels, ax=axes_for(None, (4.5, 3.6)), colorbar=False)
            ends = [amount(float(study.y[places[k]])) for k in (0, -1)]
            ax.set_xticks([0, len(C) - 1], ends)
            ax.set_yticks([0, len(C) - 1], ends)
            ax.tick_params(length=0)
        ax.images[0].set_interpolation("none")
        ax.images[0].set_clim(low, 1.0)
        scale = ax.inset_axes((1.04, 0.0, 0.045, 1.0))
        below = "min" if C.min() < low - 0.01 else "neither"
        ax.figure.colorbar(ax.images[0], cax=scale, label="similarity", extend=below)
        order = "ordered by class" if by_class else "ordered by the target"
        dark = "Brown" if C.min() < 0 else "Dark"  # where blue is dark too, but means unlike
        see = (
            f"{dark} blocks on the diagonal mean that a class holds together; {dark.lower()} "
            "patches beside it are classes that look alike."
            if by_class
            else f"{dark} near the diagonal and pale far from it means that similar rows have "
            "similar values."
        )
        return figure(
            ax,
            f"Picture of the similarities of all pairs of {rows}, {order}.",
            f"Similarities of all pairs of {rows}, {order}. {see}{some}",
        )


def _rank(rank: float) -> str:
    return f"{rank:.1f}" if rank < 10 else f"{rank:.0f}"


def _spectrum(K: np.ndarray, what: str, rank: float) -> Figure:
    with drawing():
        ax = plot_spectrum(K, ax=axes_for(None, (4.4, 3.5)))
        ax.set(xlabel="direction", ylabel="weight (eigenvalue)")
        ax.locator_params(axis="x", integer=True)
        return figure(
            ax,
            f"Falling curve of the eigenvalues of the Gram matrix of {what}; its effective rank "
            f"is {_rank(rank)}.",
            "The eigenvalues of the same matrix, the largest first: how much of the similarity "
            "lies in each direction. A steep fall means that few directions matter.",
        )


def sample(study: Study, most: int = MAX_ITEMS) -> tuple[np.ndarray, bool]:
    """Return places of items ordered by class (or by number), and whether these are all.

    With many items every class keeps its share, but one item at least; with many classes the
    most frequent ones are kept. Items are chosen evenly, so there is nothing random about it.
    """
    y = study.y
    if study.task != "classify":
        order = np.argsort(y, kind="stable")
        if len(order) <= most:
            return order, True
        return order[np.linspace(0, len(order) - 1, most).round().astype(int)], False
    assert study.classes is not None
    groups = [np.flatnonzero(y == label) for label in study.classes]
    kept = sorted(range(len(groups)), key=lambda k: -len(groups[k]))[:MAX_CLASSES]
    groups = [groups[k] for k in sorted(kept)]
    total = sum(map(len, groups))
    share = min(1.0, most / max(total, 1))
    some = [g[_evenly(len(g), max(1, round(share * len(g))))] for g in groups if len(g)]
    return np.concatenate(some), share == 1.0 and total == len(y)


def _evenly(length: int, number: int) -> np.ndarray:
    return np.unique(np.linspace(0, length - 1, min(number, length)).round().astype(int))


def similarities(study: Study, places: np.ndarray) -> np.ndarray | None:
    """Return the Gram matrix of some items under the kernel of the model, or None without one."""
    machine, X = unwrap(study.machine, take(study.X, places))
    if getattr(machine, "kernel_", None) is None:
        return None
    K = np.asarray(machine.kernel_(X), dtype=np.float64)
    return (K + K.T) / 2 if np.isfinite(K).all() and np.abs(K).max(initial=0.0) > 0 else None


def cosines(K: np.ndarray) -> np.ndarray:
    """Return similarities divided by the lengths of both items, so that 1 is the same direction.

    Examples
    --------
    >>> cosines(np.array([[4.0, 2.0], [2.0, 4.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    return np.clip(K / lengths / lengths[:, None], -1.0, 1.0)


def take(X: Any, places: np.ndarray) -> Any:
    """Return some rows of a table, an array or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return [X[i] for i in places] if isinstance(X, list | tuple) else X[places]
