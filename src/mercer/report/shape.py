"""Shape: learning curve, similarities, spectrum, and the surface of the choice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mercer.plots import effective_rank, plot_curve, plot_gram, plot_spectrum, plot_surface
from mercer.plots.canvas import axes_for
from mercer.plots.lettering import distinct
from mercer.report.anatomy import cosines, noun, sample, similarities
from mercer.report.pictures import Picture, drawing, picture
from mercer.report.words import amount, formula, percent, plural

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["Similarity", "Surfaced", "curve", "similarity", "surface"]

LEVELS = 63  # shades of a Gram matrix; more are not seen, and cost bytes
GRAM = (4.5, 3.6)  # inches
LONGEST = 12  # letters of a class's name at the edge
LONGEST_KERNEL = 28
MOST_KERNELS = 24


def curve(study: Study) -> Picture | None:
    """Return the learning curve, or None where there is none."""
    found = study.curve
    if found is None or len(found.sizes) == 0:
        return None
    rows = f"{noun(study)}s"
    with drawing():
        ax = plot_curve(
            found.sizes, found.errors, found.standard_errors,
            baseline=study.baseline_error, percent=study.task == "classify",
        )  # fmt: skip
        ax.set(xlabel=f"{rows} learned from", ylabel=study.measure)
        far = study.baseline_error > ax.get_ylim()[1]
        steps = zip(found.sizes, found.errors, strict=True)
        write = percent if study.task == "classify" else amount
        told = ", ".join(f"{write(float(e))} with {int(n)}" for n, e in steps)
        return picture(
            ax,
            f"Learning curve: {study.measure} against the number of {rows} learned from: {told}.",
            f"The error on held-out {rows} against how many were learned from. The band is one "
            "standard error. "
            + ("Looking at nothing is far worse." if far else "Dashed: looking at nothing."),
        )


@dataclass(frozen=True)
class Similarity:
    """How alike the items are to the chosen kernel.

    Attributes
    ----------
    summary, directions : str
        Of the Gram matrix and of its spectrum.
    gram, spectrum : Picture
    """

    summary: str
    directions: str
    gram: Picture
    spectrum: Picture


def similarity(study: Study) -> Similarity | None:
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
    return Similarity(
        _alike(study, C, places),
        f"The kernel sees about {_rank(rank)} directions in {what}. Few directions make a "
        "simple model that needs few rows; many make a flexible one that needs more.",
        _gram(study, C, places, some),
        _spectrum(K, what, rank),
    )


def _alike(study: Study, C: np.ndarray, places: np.ndarray) -> str:
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


def _gram(study: Study, C: np.ndarray, places: np.ndarray, some: str) -> Picture:
    rows, by_class = f"{noun(study)}s", study.task == "classify"
    low = _lowest(C)
    levels = low + np.round((C - low) / (1 - low) * LEVELS) * (1 - low) / LEVELS
    with drawing():
        if by_class:
            labels = study.y[places].tolist()
            kept = list(dict.fromkeys(labels))
            codes = [kept.index(label) for label in labels]
            names = tuple(distinct(kept, LONGEST))
            ax = plot_gram(levels, None, codes, axes_for(None, GRAM), names=names, colorbar=False)
            if max(map(len, names)) > 44 // len(names):
                ax.tick_params(axis="x", rotation=90)
        else:
            ax = plot_gram(levels, ax=axes_for(None, GRAM), colorbar=False)
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
        return picture(
            ax,
            f"Picture of the similarities of all pairs of {rows}, {order}.",
            f"Similarities of all pairs of {rows}, {order}. {see}{some}",
        )


def _rank(rank: float) -> str:
    return f"{rank:.1f}" if rank < 10 else f"{rank:.0f}"


def _spectrum(K: np.ndarray, what: str, rank: float) -> Picture:
    with drawing():
        ax = plot_spectrum(K, ax=axes_for(None, (4.4, 3.5)))
        ax.set(xlabel="direction", ylabel="weight (eigenvalue)")
        ax.locator_params(axis="x", integer=True)
        return picture(
            ax,
            f"Falling curve of the eigenvalues of the Gram matrix of {what}; its effective rank "
            f"is {_rank(rank)}.",
            "The eigenvalues of the same matrix, the largest first: how much of the similarity "
            "lies in each direction. A steep fall means that few directions matter.",
        )


@dataclass(frozen=True)
class Surfaced:
    """The errors among which kernel and parameter were chosen.

    Attributes
    ----------
    picture : Picture
    kernels : list of (name in the picture, formula)
        Empty if the picture holds the formulas.
    hidden : int
        Kernels that are not shown.
    """

    picture: Picture
    kernels: list[tuple[str, str]]
    hidden: int


def surface(study: Study) -> Surfaced | None:
    """Return the surface of the choice, or None if there was nothing to choose."""
    found = study.surface
    errors = np.asarray(found.errors, dtype=np.float64).reshape(len(found.rows), -1)
    if errors.size < 2 or not np.isfinite(errors).any():
        return None
    best = np.where(np.isfinite(errors), errors, np.inf).min(axis=1)
    kept = np.sort(np.argsort(best, kind="stable")[:MOST_KERNELS])
    formulas = [found.rows[k] for k in kept]
    short = all(len(kernel) <= LONGEST_KERNEL for kernel in formulas)
    names = formulas if short else [f"kernel {k + 1}" for k in range(len(formulas))]
    write = partial("{:.1%}".format) if study.task == "classify" else partial("{:.3g}".format)
    columns = errors.shape[1] if len(found.values) == errors.shape[1] else 0
    with drawing():
        ax = plot_surface(
            errors[kept], names, found.values if columns else (), found.parameter,
            chosen=_chosen(study, formulas), write=write,
        )  # fmt: skip
        drawn = picture(
            ax,
            f"Grid of errors: a row for each of {plural(len(kept), 'kernel')}, a column for each "
            f"value of {found.parameter or 'the parameter'}. The smallest is "
            f"{write(float(np.nanmin(errors)))}.",
            "Errors of the inner folds, by which kernel and parameter were chosen. "
            "Dark is good, the framed cell is the choice, gray was not tried. The smallest of "
            "many is flattered; that is why the error at the top comes from other folds.",
        )
    pairs = [] if short else list(zip(names, map(formula, formulas), strict=True))
    return Surfaced(drawn, pairs, len(found.rows) - len(kept))


def _chosen(study: Study, formulas: list[str]) -> tuple[int, int] | None:
    """Return the cell that was chosen, or None if it cannot be told; equal errors are frequent."""
    found = study.surface
    if study.kernel not in formulas:
        return None
    row = formulas.index(study.kernel)
    if len(found.values) < 2:
        return row, 0
    value = study.parameters.get(found.parameter)
    if not isinstance(value, int | float):
        return None
    places = np.flatnonzero(np.isclose(np.asarray(found.values, dtype=float), value))
    return (row, int(places[0])) if len(places) else None
