"""The exported page: a model as one HTML file that calculates by itself, without Python.

A model is written down as a formula on arrays (`mercer.exports`), and the page's script does its
steps in double precision, in their order: so its numbers are those of Python. The arrays stand in
the page once each, compressed.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.domains import to_numpy
from mercer.errors import DomainError
from mercer.explanations.terms import scale_inside
from mercer.explorer.entries import NUMBERS
from mercer.explorer.html_page import render
from mercer.explorer.reasons import SWAPS, direction
from mercer.explorer.session import Session
from mercer.explorer.subject import LEVEL, Subject, evenly
from mercer.exports.formula import ArrayFormula, ExportError, Term
from mercer.exports.written_model import write_model
from mercer.kernels import Linear
from mercer.machines import Calibrated, Conformal, KernelLogistic
from mercer.machines.conforming.known_errors import KnownErrors

__all__ = ["ArrayStore", "export_page"]

MAX_BYTES = 20_000_000  # of a page; larger ones take long to open
EXPORTED_ROWS = 2000  # on the map
WORDS = ("categorical", *NUMBERS)


class ArrayStore:
    """Arrays of numbers that are kept once each, one after the other.

    Examples
    --------
    >>> store = ArrayStore()
    >>> store.add(np.ones((2, 3))), store.add(np.ones(6))["at"], len(store.packed()) < 60
    ({'at': 0, 'rows': 2, 'columns': 3}, 0, True)
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._known: dict[bytes, int] = {}
        self._count = 0

    def add(self, values: Any) -> dict[str, int]:
        """Keep an array, and return where it is; a list of numbers is one row."""
        array = np.atleast_2d(np.ascontiguousarray(values, dtype="<f8"))
        content = array.tobytes()
        key = hashlib.sha256(content).digest()
        if key not in self._known:
            self._known[key] = self._count
            self._parts.append(content)
            self._count += array.size
        return {"at": self._known[key], "rows": array.shape[0], "columns": array.shape[1]}

    def packed(self) -> str:
        """Return all arrays, compressed, as text."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode()


def export_page(subject: Subject) -> str:
    """Return a page with map, reasons, what-if and effect curves of a model.

    Raises `mercer.exports.formula.ExportError` for models that cannot be written down, such as
    those of strings or graphs, by the name of the part that is in the way.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> from mercer.explorer.quick_fit import learn_quickly
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> page = export_page(learn_quickly(read_frame(rows, "animal")))
    >>> page[:15], "http" in page.split("</style>")[0]
    ('<!doctype html>', True)
    """
    subject = _fewer(subject)
    store = ArrayStore()
    session = Session(subject)
    opening = dict(session.opening)
    model = _model(subject, store)
    model["exemplars"] = _exemplars(session)
    model["cells"] = [
        _cells(subject, name, kind, store) for name, kind in subject.rows.kinds.items()
    ]
    model["pixels"] = [
        [list(subject.rows.kinds).index(name) if name in subject.rows.kinds else -1, fallback]
        for name, fallback in session.gallery.pixels
    ]
    model["ends"] = list(session.gallery.ends)
    model["lines"] = session._lines
    data = {"exported": True, "opening": opening, "model": model, "arrays": store.packed()}
    page = render(subject.title, data, exported=True)
    if len(page) > MAX_BYTES:
        raise DomainError(
            f"the page would have {len(page) / 1e6:.0f} MB; explore fewer rows or columns, or "
            "without --export"
        )
    return page


def _fewer(subject: Subject) -> Subject:
    """Return a subject with at most `EXPORTED_ROWS` rows."""
    if len(subject) <= EXPORTED_ROWS:
        return subject
    some = evenly(len(subject), EXPORTED_ROWS)
    note = f"This page shows {len(some):,} of {len(subject):,} rows, chosen evenly."
    truth = None if subject.truth is None else np.asarray(subject.truth)[some]
    return replace(
        subject, rows=subject.rows.take(some), truth=truth, numbers=subject.numbers[some],
        places=subject.places[some], notes=(*subject.notes, note),
    )  # fmt: skip


def _model(subject: Subject, store: ArrayStore) -> dict[str, Any]:
    """Return the formula of a model with what makes reasons and probabilities of its numbers."""
    odd = [kind for kind in subject.rows.kinds.values() if kind not in WORDS]
    if odd:
        raise ExportError(
            f"a page without Python works for numbers and categories, and this model reads "
            f"{odd[0]}; run mercer explore without --export"
        )
    last = subject.known.stages[1]
    if scale_inside(last) != "none" or getattr(last, "costs", None) is not None:
        what = "answers by costs" if scale_inside(last) == "none" else "a target on another scale"
        raise ExportError(
            f"a page without Python does not know {what}; run mercer explore without --export"
        )
    written = write_model(subject.known, expanded=True)
    formula = written.formula
    machine = subject.machine
    function = machine.function_
    outputs = np.asarray(function.coefficients).reshape(len(function), -1).shape[1]
    if "similarities" not in formula.outputs:
        _add_similarities(formula, function)
    directions = (
        np.array([direction(subject, outputs, label) for label in subject.classes])
        if subject.classes is not None else direction(subject, outputs)[None, :]
    )  # fmt: skip
    offsets = np.broadcast_to(getattr(machine, "intercept_", 0.0), (outputs,))
    return {
        "inputs": [{"name": one.name, "kind": one.kind, "width": one.width}
                   for one in formula.inputs],
        "steps": [_step(step, store) for step in formula.steps],
        "outputs": formula.outputs,
        "weights": store.add(np.asarray(function.coefficients).reshape(len(function), -1)),
        "directions": directions.tolist(),
        "offsets": (directions @ offsets).tolist(),
        "chances": _chances(subject),
        "interval": _interval(subject),
        "swaps": min(SWAPS, len(subject)),
    }  # fmt: skip


def _add_similarities(formula: ArrayFormula, function: Any) -> None:
    """Add the similarities to the known rows where scores are made of weights instead."""
    points = getattr(function, "points", None)
    array = getattr(points, "array", None)
    if array is None or not isinstance(function.kernel, Linear) or "seen" not in formula.outputs:
        raise ExportError("the model keeps no known rows that could be shown as reasons")
    array = array.toarray() if hasattr(array, "toarray") else to_numpy(array)
    seen = Term(formula, formula.outputs["seen"])
    formula.outputs["similarities"] = (seen @ np.asarray(array, dtype=np.float64).T).place


def _step(step: Any, store: ArrayStore) -> list[Any]:
    """Return one step as plain values."""
    value = step.value
    if step.operation in ("constant", "rows"):
        value = store.add(value)
    elif step.operation == "codes":
        known, other, gap = value
        value = [list(known), list(known.values()), other, gap]
    return [step.operation, list(step.inputs), value]


def _chances(subject: Subject) -> dict[str, Any] | None:
    """Return how scores become probabilities; None where the page has no way to."""
    last = subject.known.stages[1]
    if (
        isinstance(last, Calibrated)
        and last.costs is None
        and hasattr(last.machine_, "decision_function")
    ):
        return {"slope": last.slope_, "shift": last.shift_, "agree": True}
    if isinstance(last, KernelLogistic):
        return {"slope": 1.0, "shift": 0.0, "agree": False}
    return None


def _interval(subject: Subject) -> list[float] | None:
    """Return what makes a number the ends of its interval, if that is always the same."""
    errors = subject.known.notes.get("errors")
    wrapped = isinstance(subject.known.machine, Conformal)
    if subject.classes is not None or wrapped or not isinstance(errors, KnownErrors):
        return None
    if errors.sizes is not None:
        return None
    ends = errors.intervals([], np.zeros(1), LEVEL)[0]
    return [float(end) for end in ends] if np.isfinite(ends).all() else None


def _exemplars(session: Session) -> dict[str, Any]:
    """Return the places of the known rows on the map, their numbers and their targets."""
    subject, shown = session.subject, session.shown
    points = subject.machine.function_.points
    at = shown.locate(points)
    support = getattr(subject.machine, "support_", None)
    places = np.arange(len(points)) if support is None else np.asarray(support)
    if len(places) != len(points):
        places = np.full(len(points), -1)
    on_map = {int(place): i for i, place in enumerate(subject.places) if place >= 0}
    numbers, targets = [], []
    for place in places.tolist():
        here = on_map.get(place)
        number, target = subject.known.learned(place) or (place if place >= 0 else None, None)
        if target is None and here is not None and subject.truth is not None:
            target = subject.truth[here]
        numbers.append(number)
        numeric = isinstance(target, float | np.floating)
        targets.append(None if target is None else float(target) if numeric else str(target))
    return {
        "x": at[:, 0].tolist(), "y": at[:, 1].tolist(),
        "place": [on_map.get(place, -1) for place in places.tolist()],
        "row": numbers, "target": targets,
    }  # fmt: skip


def _cells(subject: Subject, name: str, kind: str, store: ArrayStore) -> dict[str, Any]:
    """Return the entries of a column: numbers, or codes of levels with NaN for a gap."""
    column = subject.rows.frame[name]
    if kind in NUMBERS:
        return {"numbers": store.add(column.to_numpy(dtype=np.float64))}
    levels = sorted(set(column.dropna().astype(str)))
    codes = {level: code for code, level in enumerate(levels)}
    values = [codes.get(str(entry), np.nan) for entry in column]
    return {"numbers": store.add(np.array(values, dtype=np.float64)), "levels": levels}
