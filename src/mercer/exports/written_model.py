"""A model written down: inputs, encodings, similarities, scores and labels, as one formula."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mercer.domains import Table, is_frame, to_numpy
from mercer.exports.formula import ArrayFormula, ExportError, Term
from mercer.exports.written_answers import Decider, decider_of, in_unit, probabilities
from mercer.exports.written_columns import encoded, standardized
from mercer.exports.written_kernels import SeenRows, similarities
from mercer.kernels import Linear
from mercer.machines import (
    SVC,
    SVR,
    Encode,
    GaussianProcess,
    KernelLogistic,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
    NuSVR,
    Standardize,
)
from mercer.machines.multiclass import votes
from mercer.sources import Column
from mercer.studies import SavedModel

__all__ = ["WrittenModel", "write_model"]

CHECKED_POINTS = 100  # at which a function of features is compared with its sum over points
MAX_CANCELED = 1e-10  # of the largest value, which a sum may miss because its terms cancel
MAX_ABOUT = 200  # characters; a metric of many columns has thousands
NUMBERS = (KernelRidge, SVR, NuSVR, GaussianProcess)
SCORES = (KernelRidgeClassifier, KernelLogistic)
MARGINS = (SVC, NuSVC)
EXPORTED = (*NUMBERS, *SCORES, *MARGINS)


@dataclass(frozen=True, eq=False)
class WrittenModel:
    """A formula with what its inputs and outputs mean.

    Attributes
    ----------
    formula : ArrayFormula
        With the outputs "scores", and where there are classes "code", the place of the label, and
        "probabilities" if they are exported. On the way to them are "similarities" to the known
        points, or "seen", the rows as numbers, where scores are made of weights.
    classes : ndarray or None
    about : str
        What was written down, in one line.
    """

    formula: ArrayFormula
    classes: np.ndarray | None
    about: str


def write_model(known: SavedModel, expanded: bool = False) -> WrittenModel:
    """Return a model as a formula, or refuse it by the name of the part that is in the way.

    Parameters
    ----------
    known : SavedModel
    expanded : bool
        Whether a function that was learned by the features of its kernel may be written as a sum
        over its known points, if no digits are lost by terms that cancel.

    Examples
    --------
    >>> import mercer
    >>> machine = mercer.KernelRidge("gaussian", 0.1).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> [one.name for one in write_model(SavedModel(machine)).formula.inputs]
    ['X']
    """
    formula = ArrayFormula()
    before, model = known.stages
    decider = decider_of(model, EXPORTED)
    machine = decider.machine
    rows = _seen(formula, known, before)
    points = getattr(machine.function_, "points", None)
    if rows.columns is not None and not isinstance(points, Table):  # the machine saw an array
        order = getattr(machine, "feature_names_in_", rows.columns)
        rows = SeenRows(formula.concatenate([rows.columns[name] for name in order]))
    scores = in_unit(_scores(machine, rows, points, expanded), decider.scaled)
    formula.outputs["scores"] = scores.place
    classes = known.classes
    if classes is not None:
        _require_plain(classes)
        _write_labels(formula, decider, scores, len(classes))
    about = shorten(f"{decider.named} with {machine.kernel_!r}", MAX_ABOUT, placeholder=" …")
    return WrittenModel(formula, classes, about)


def _require_plain(classes: np.ndarray) -> None:
    """Refuse labels that are neither numbers nor texts, such as dates."""
    kind = classes.dtype.kind
    if kind not in "Ubiuf" and not (kind == "O" and all(isinstance(c, str) for c in classes)):
        raise ExportError(f"labels must be numbers or texts, found {classes.tolist()[0]!r}")


def _seen(formula: ArrayFormula, known: SavedModel, before: Any) -> SeenRows:
    """Return the rows as the machine sees them."""
    steps = [] if before is None else [step for _, step in before.steps]
    columns, matrix = _given(formula, known)
    for step in steps:
        if isinstance(step, Encode | Standardize):
            make = encoded if isinstance(step, Encode) else standardized
            matrix = make(formula, step, columns)
        elif matrix is not None and isinstance(step, StandardScaler | MinMaxScaler):
            matrix = _scaled(step, matrix)
        else:
            raise ExportError(f"the step {type(step).__name__} cannot be exported")
        columns = {}
    if matrix is not None:
        return SeenRows(matrix)
    return SeenRows(None, columns)


def _given(formula: ArrayFormula, known: SavedModel) -> tuple[dict[Any, Term], Term | None]:
    """Return the columns that a model reads, and rows of numbers alone."""
    if known.recipe is None and not known.stages[0] and _frame_of(known.machine) is not None:
        return _by_frame(formula, _frame_of(known.machine)), None
    if known.recipe is None:
        count = getattr(known.machine, "n_features_in_", None)
        if count is None:
            raise ExportError("a model of things that are no rows of numbers cannot be exported")
        rows = formula.given("X", "rows", int(count))
        names = getattr(known.machine, "feature_names_in_", range(int(count)))
        return {name: rows.column(j) for j, name in enumerate(names)}, rows
    columns: dict[Any, Term] = {}
    for step in known.recipe["columns"]:
        column = Column(why="as before", **step)
        if column.kind not in ("numeric", "categorical"):
            raise ExportError(
                f"the column {column.name!r} is {column.kind}; only numbers and categories can "
                "be exported"
            )
        signs = bool(column.style.get("signs"))
        columns[column.name] = formula.given(column.name, column.kind, signs=signs)
    if known.recipe.get("missing"):
        raise ExportError("a model with codes for what is missing (--missing) cannot be exported")
    return columns, None


def _frame_of(model: Any) -> Any:
    """Return the table that a machine's kernel has compared with; None if it saw an array."""
    machine = decider_of(model, EXPORTED).machine
    points = getattr(machine.function_, "points", None)
    return points.frame if isinstance(points, Table) and is_frame(points.frame) else None


def _by_frame(formula: ArrayFormula, frame: Any) -> dict[Any, Term]:
    """Return the columns of a table, numbers and categories, by what its known rows hold."""
    columns: dict[Any, Term] = {}
    for name in frame.columns:
        if frame[name].dtype.kind not in "fiub" and not all(
            isinstance(entry, str) for entry in frame[name].dropna()
        ):
            raise ExportError(f"the column {name!r} holds neither numbers nor texts")
        kind = "numeric" if frame[name].dtype.kind in "fiub" else "categorical"
        columns[name] = formula.given(str(name), kind)
    return columns


def _scaled(step: Any, rows: Term) -> Term:
    if isinstance(step, MinMaxScaler):
        if step.clip:
            raise ExportError("MinMaxScaler with clip cannot be exported")
        return rows * step.scale_ + step.min_
    if step.mean_ is not None and step.with_mean:
        rows = rows - step.mean_
    return rows / step.scale_ if step.with_std else rows


def _scores(machine: Any, rows: SeenRows, points: Any, expanded: bool = False) -> Term:
    """Return f(x) + b, one column for each output."""
    if points is None:
        raise ExportError(
            f"{type(machine).__name__} learned approximately, with random features, and keeps no "
            "points to compare with; learn with follow=Plan(approximate='never') or Nystrom(...)"
        )
    function = machine.function_
    offset = np.reshape(np.asarray(getattr(machine, "intercept_", 0.0), dtype=np.float64), -1)
    weights = getattr(function, "weights", None)
    if weights is None:
        weights = getattr(machine, "coef_", None)
    if isinstance(machine.kernel_, Linear) and weights is not None and rows.numbers is not None:
        W = np.asarray(weights, dtype=np.float64)
        rows.numbers.formula.outputs["seen"] = rows.numbers.place
        return rows.numbers @ W.reshape(len(W), -1) + offset
    if getattr(function, "weights", None) is not None and not (
        expanded and _agrees(function, points)
    ):
        raise ExportError(
            f"{machine.kernel_!r} was learned by its features, of which only Linear's are exported"
        )
    A = np.asarray(function.coefficients, dtype=np.float64).reshape(len(points), -1)
    alike = similarities(machine.kernel_, rows, points)
    alike.formula.outputs["similarities"] = alike.place
    return alike @ A + offset


def _agrees(function: Any, points: Any) -> bool:
    """Tell whether a function is the sum over its points, to the digits that are promised."""
    some = points[: min(len(points), CHECKED_POINTS)]
    A = np.asarray(function.coefficients, dtype=np.float64).reshape(len(points), -1)
    summed = np.asarray(to_numpy(function.kernel(some, points))) @ A
    own = np.asarray(to_numpy(function(some))).reshape(summed.shape)
    return bool(np.abs(summed - own).max() <= MAX_CANCELED * max(1.0, np.abs(own).max()))


def _write_labels(formula: ArrayFormula, decider: Decider, scores: Term, count: int) -> None:
    """Write down which label is answered, and probabilities where they are exported."""
    P = probabilities(decider, scores, count, _pairs(decider.machine, count))
    if P is not None:
        formula.outputs["probabilities"] = P.place
    if decider.costs is None:
        formula.outputs["code"] = _code(decider.machine, scores, count).place
        return
    if P is None:
        raise ExportError(
            f"{decider.named} with costs cannot be exported: probabilities decide there, those "
            "of pairs of classes that vote are not written"
        )
    formula.outputs["code"] = ((P @ decider.costs) * -1.0).first_largest().place


def _pairs(machine: Any, count: int) -> bool:
    """Tell whether scores are of pairs of classes, which vote."""
    return isinstance(machine, MARGINS) and machine.multiclass == "ovo" and count > 2


def _code(machine: BaseEstimator, scores: Term, count: int) -> Term:
    """Return the place of the label that wins, as `predict` decides."""
    if count == 2:
        return (scores > 0.0).apply("number")
    if not _pairs(machine, count):
        return scores.first_largest()
    if machine.break_ties:
        raise ExportError("break_ties=True cannot be exported")
    ahead = (scores > 0.0).apply("number")
    none = votes(np.full((1, count * (count - 1) // 2), -1.0), count)[0]
    each = np.eye(count * (count - 1) // 2)
    gains = np.array([votes(np.where(one > 0, 1.0, -1.0)[None], count)[0] - none for one in each])
    return (ahead @ gains + none).first_largest()
