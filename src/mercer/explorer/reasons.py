"""Reasons: why a row is answered as it is, by known rows, columns, features and letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import to_numpy
from mercer.engine.tiles import common_origin, fill
from mercer.errors import MercerError
from mercer.explanations import explain, shapley
from mercer.explorer.entries import plain_entry
from mercer.explorer.similarity_map import SimilarityMap
from mercer.explorer.subject import RowAnswers, Subject, evenly
from mercer.sources import Sheet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KNOWN", "column_shares", "doubts", "reasons", "scores_toward", "swapped_shares"]

KNOWN = 12  # known rows that are told, those that pulled most
MAX_FEATURES = 20
SWAPS = 16  # rows from which entries are taken in turn
# Columns² times known rows, up to which Shapley values take less than a tenth of a second.
SHAPLEY_WORK = 1_000_000
MAX_SWAPPED = 600  # rows that are asked about at once


def reasons(subject: Subject, shown: SimilarityMap, row: pd.DataFrame) -> dict[str, Any]:
    """Return why a row is answered as it is.

    The dictionary has the score, the label that it speaks for (`toward`), the part that is the
    same for any row (`offset`), the known rows that pulled most, shares of the columns, and parts,
    features and letters where the kernel tells them.
    """
    items = subject.rows.items(row)
    try:
        why = explain(subject.known.machine, items)[0]
    except MercerError as error:
        return {
            "score": None, "toward": None, "offset": None, "note": str(error),
            "known": alike(subject, shown, row), "parts": [], "features": [], "units": [],
            "columns": [], "columns_how": "",
        }  # fmt: skip
    columns, how, base = column_shares(subject, row)
    features = why.features(MAX_FEATURES)
    units = why.units()
    parts = why.columns()
    return {
        "score": why.score,
        "toward": plain_label(why.toward),
        "offset": float(why.explanation.offsets[0]),
        "note": "",
        "known": _pulls(subject, shown, why),
        "columns": columns,
        "columns_how": how,
        "columns_base": base,
        "parts": [
            {"name": str(kernel)[:200], "share": float(value)}
            for kernel, value in zip(parts["kernel"], parts["contribution"], strict=True)
        ] if len(parts) > 1 else [],
        "features": [
            {"name": str(name)[:80], "share": float(value)}
            for name, value in zip(features["feature"], features["contribution"], strict=True)
        ],
        "units": [
            {"name": str(name), "share": float(value)}
            for name, value in zip(units["unit"], units["contribution"], strict=True)
        ],
    }  # fmt: skip


def plain_label(label: Any) -> str | None:
    """Return a label as text, None for no label."""
    return None if label is None else str(label)


def _pulls(subject: Subject, shown: SimilarityMap, why: Any) -> list[dict[str, Any]]:
    """Return the known rows that pulled most, with their places on the map."""
    whole = why.explanation
    pull = whole.contributions[0]
    order = np.argsort(-np.abs(pull), kind="stable")[:KNOWN]
    order = order[pull[order] != 0]
    if not len(order):
        return []
    at = shown.locate(subject.machine.function_.points[order])
    total = float(np.abs(pull).sum()) or 1.0
    on_map = {int(place): i for i, place in enumerate(subject.places) if place >= 0}
    found = []
    for place, i in zip(at.tolist(), order.tolist(), strict=True):
        learned = int(whole.places[i])
        number, target = subject.known.learned(learned) or (learned if learned >= 0 else None,
                                                            None)  # fmt: skip
        here = on_map.get(learned)
        if target is None and here is not None and subject.truth is not None:
            target = subject.truth[here]
        found.append({
            "place": here, "row": number, "x": place[0], "y": place[1],
            "target": _plain_target(target), "similarity": float(whole.similarities[0, i]),
            "pull": float(pull[i]), "share": abs(float(pull[i])) / total,
        })  # fmt: skip
    return found


def _plain_target(target: Any) -> Any:
    if target is None:
        return None
    return float(target) if isinstance(target, float | np.floating) else str(target)


def alike(subject: Subject, shown: SimilarityMap, row: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the map that are most like a row."""
    K = similarities(subject, shown, row)[0]
    order = np.argsort(-K, kind="stable")[:KNOWN]
    truth = subject.truth
    return [
        {
            "place": int(i), "row": int(subject.numbers[i]), "x": float(shown.places[i, 0]),
            "y": float(shown.places[i, 1]), "similarity": float(K[i]), "pull": None,
            "share": None, "target": None if truth is None else _plain_target(truth[i]),
        }
        for i in order
    ]  # fmt: skip


def similarities(subject: Subject, shown: SimilarityMap, row: pd.DataFrame) -> np.ndarray:
    """Return how alike rows are to those of the map."""
    left, right = common_origin(
        shown.kernel, subject.admitted(subject.rows.items(row)), shown.points
    )
    return np.asarray(to_numpy(fill(shown.kernel, left, right)), dtype=np.float64)


def column_shares(
    subject: Subject, row: pd.DataFrame
) -> tuple[list[dict[str, Any]], str, float | None]:
    """Return what each column contributes to the score, how that was found, and what is left.

    Shapley values where they are exact and quick, otherwise what swaps tell.
    """
    table = subject.rows
    names = list(table.kinds)
    if len(names) < 2 or table.container == "list":
        return [], "", None
    known = getattr(subject.machine, "function_", ())
    if len(names) ** 2 * len(known) <= SHAPLEY_WORK:
        try:
            why = shapley(subject.known.machine, table.items(row))
            shares = dict(zip(map(str, why.columns), why.values[0].tolist(), strict=True))
            if len(shares) == len(names):
                values = [shares.get(name, 0.0) for name in names]
                if table.container == "array":
                    values = why.values[0].tolist()
                return _named(subject, row, values), "shapley", float(why.base[0])
        except MercerError:  # a kernel that looks at all columns at once
            pass
    if not hasattr(subject.machine, "function_"):
        return [], "", None
    return _named(subject, row, swapped_shares(subject, row).tolist()), "swaps", None


def _named(subject: Subject, row: pd.DataFrame, shares: list[float]) -> list[dict[str, Any]]:
    """Return shares with the names and entries of their columns, the largest first."""
    found = [
        {"name": name, "share": share, "entry": plain_entry(row[name].iloc[0], kind)}
        for (name, kind), share in zip(subject.rows.kinds.items(), shares, strict=True)
    ]
    return sorted(found, key=lambda one: -abs(one["share"]))


def swapped_shares(subject: Subject, row: pd.DataFrame, label: Any = None) -> np.ndarray:
    """Return by how much each column's entry moves the score from what others' entries make.

    The score, minus its mean when the column has the entry of each of some other rows instead.
    They are chosen evenly, so that the same row always has the same shares.

    Parameters
    ----------
    subject : Subject
    row : DataFrame of one row
    label : optional
        Whose score; by default that of the answer.
    """
    table = subject.rows
    names = list(table.kinds)
    count = min(len(table), max(2, min(SWAPS, MAX_SWAPPED // len(names))))
    others = table.frame.iloc[evenly(len(table), count)]
    # The row itself, and then for each column the row with the entries of the others in turn.
    frame = row.iloc[np.zeros(1 + len(names) * count, dtype=int)].reset_index(drop=True)
    for k, name in enumerate(names):
        column = frame[name].to_numpy(copy=True)
        column[1 + k * count : 1 + (k + 1) * count] = others[name].to_numpy()
        frame[name] = column
    if label is None and subject.classes is not None:
        label = subject.ask(row).prediction[0]
    scores = scores_toward(subject, frame, label)
    return scores[0] - scores[1:].reshape(len(names), count).mean(axis=1)


def scores_toward(subject: Subject, frame: pd.DataFrame, label: Any = None) -> np.ndarray:
    """Return the score of each row in favor of a label; of a machine for numbers, the number."""
    machine = subject.machine
    points = subject.admitted(subject.rows.items(frame))
    values = np.asarray(to_numpy(machine.function_(points)), dtype=np.float64)
    values = values.reshape(len(points), -1) + getattr(machine, "intercept_", 0.0)
    return values @ direction(subject, values.shape[1], label)


def direction(subject: Subject, outputs: int, label: Any = None) -> np.ndarray:
    """Return how the outputs of a machine add up to the score of a label."""
    from mercer.machines.abilities import Abilities

    machine = subject.machine
    if subject.classes is None:
        return np.eye(outputs)[0]
    directions = getattr(type(machine), "class_directions", Abilities.class_directions)
    return np.asarray(directions(machine, outputs))[subject.classes.index(label)]


def doubts(subject: Subject, row: pd.DataFrame, answers: RowAnswers) -> list[str]:
    """Return what makes the answer to a row doubtful, if the model keeps what tells it."""
    watch = subject.known.watch
    if watch is None or subject.rows.container != "frame":
        return []
    one = np.zeros(1, dtype=int)
    columns = tuple(column for column in subject.recipe_columns if column.used)
    sheet = Sheet(subject.rows.items(row), None, columns, None, one, one, 1)
    try:
        return [mark.text for mark in watch.look(sheet, answers.prediction).marks]
    except MercerError:
        return []
