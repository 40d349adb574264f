"""Writing: the model, the page, the figures and the predictions of a study, all or none."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.files import replacing, save
from mercer.report.answer import mood_of
from mercer.report.formulas import harmless
from mercer.report.measures import all_measures, class_numbers
from mercer.report.page import html, versions
from mercer.report.provenance import provenance
from mercer.report.words import chosen_name
from mercer.sources import recipe
from mercer.studies.guard import Guard
from mercer.studies.sureness import sureness_of

if TYPE_CHECKING:
    import pandas as pd

    from mercer.studies import Study

__all__ = ["as_csv", "as_json", "metrics", "predictions", "write"]

CHUNK_ROWS = 50_000  # of predictions that are written at once


def write(study: Study, folder: str | os.PathLike[str], command: Sequence[str] = ()) -> list[Path]:
    """Write the model, the report, the figures and the predictions of a study into a folder.

    Everything is made before anything is written, and written beside before it takes its place:
    whatever goes wrong, the files of an earlier study stay as they were.

    Parameters
    ----------
    study : Study
    folder : str or path
        Made if missing.
    command : sequence of str
        The command line that asked for it, which the model keeps.

    Returns
    -------
    list of Path
        `model.mercer`, `report.html`, `metrics.json` and `predictions.csv`.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> found = study(rows, "animal", machine="prototype", budget=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(found, folder)]
    ['model.mercer', 'report.html', 'metrics.json', 'predictions.csv']
    """
    contents = {
        "report.html": [html(study).encode("utf-8", "replace")],
        "metrics.json": [as_json(metrics(study))],
        "predictions.csv": _lines(study),
    }
    notes = _notes(study, command)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    model = into / "model.mercer"
    with ExitStack() as files:
        for name, portions in contents.items():
            file = files.enter_context(replacing(into / name))
            for portion in portions:
                file.write(portion)
            file.flush()  # a full disk is noticed here, before the model takes its place
        save(study.model, model, notes=notes)
    return [model, *(into / name for name in contents)]


def _lines(study: Study) -> Iterator[bytes]:
    """Yield the predictions in portions, because there may be millions."""
    table = predictions(study)
    for start in range(0, max(len(table), 1), CHUNK_ROWS):
        yield as_csv(table.iloc[start : start + CHUNK_ROWS], header=start == 0)


def _notes(study: Study, command: Sequence[str]) -> dict[str, Any]:
    """Return what is kept beside the model: how to read other files, and how good it is.

    And which rows it learned from with which targets, so that explanations can name them; what it
    has seen, so that rows that are not like it can be told; and how it was made.
    """
    found = metrics(study)
    kept = (
        "machine",
        "task",
        "measure",
        "probabilities",
        "error",
        "error_se",
        "baseline_error",
        "kernel",
        "target",
    )
    labels, codes = np.unique(study.y, return_inverse=True)
    rows = {"rows": study.sheet.rows, "labels": labels, "codes": codes.astype(np.int32)}
    held = study.held_out
    seen = Guard.of(study.sheet, held.rows, held.prediction, study.seed)
    return {
        "recipe": recipe(study.sheet),
        "study": {n: found[n] for n in kept},
        "learned": rows,
        "seen": seen.notes(),
        "made": provenance(study, command),
        "errors": study.known_errors,
    }


def metrics(study: Study) -> dict[str, Any]:
    """Return what `metrics.json` holds: plain values only, None for what is unknown.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> found = metrics(study(rows, "animal", machine="prototype", budget=5))
    >>> found["task"], found["machine"], found["error"]
    ('classify', 'PrototypeClassifier', 0.0)
    """
    sheet = study.sheet
    outer, inner = study.folds
    sure = sureness_of(study)
    found = {
        "task": study.task,
        "machine": chosen_name(study),
        "kernel": study.kernel,
        "parameters": study.parameters,
        "measure": study.measure,
        "error": study.error,
        "error_se": study.error_se,
        "held_out_error": dict(zip(("value", "se"), study.judged_error, strict=True)),
        "baseline_error": study.baseline_error,
        "verdict": mood_of(study),
        "measures": all_measures(study),
        "references": [dataclasses.asdict(one) for one in study.references],
        "attention": _attention(study),
        "effects": [dataclasses.asdict(effect) for effect in study.effects],
        "file": sheet.name,
        "target": None if sheet.target is None else sheet.target.name,
        "rows": len(sheet),
        "rows_held_out": len(study.truth),
        "rows_in_file": sheet.total,
        "bad_rows": len(sheet.bad),
        "classes": study.classes,
        "columns": [{"name": c.name, "kind": c.kind, "why": c.why} for c in sheet.columns],
        "classes_error": [
            dict(zip(("class", "rows", "missed", "false"), row, strict=True))
            for row in class_numbers(study)
        ],
        "thresholds": dict(study.loss.thresholds()) if study.loss.kind == "cost" else None,
        "horizons": [dataclasses.asdict(one) for one in study.horizons],
        "test": None if study.test is None else dataclasses.asdict(study.test),
        "probabilities": None if sure is None else dataclasses.asdict(sure),
        "roles": {} if sheet.roles is None else dict(sheet.roles.names or {}),
        "coverage": _coverage(study),
        "shares": None if study.shares is None else dataclasses.asdict(study.shares),
        "attempts": [dataclasses.asdict(attempt) for attempt in study.attempts],
        "folds": {"outer": outer, "inner": inner, "judging": len(np.unique(study.held_out.fold))},
        "rest": _rest(study),
        "warnings": study.warnings,
        "notes": list(dict.fromkeys((*sheet.notes, *study.notes))),
        "seed": study.seed,
        "budget": study.budget,
        "versions": versions(),
        "timings": study.timings,
    }
    return _plain(found)


def _attention(study: Study) -> dict[str, Any] | None:
    """Return how much each column matters, and which act together; None if it is not known."""
    found = study.attention
    if found is None:
        return None
    rows = zip(found.names, found.shares, found.spreads, strict=True)
    names = ("column", "share", "spread")
    return {
        "columns": [dict(zip(names, row, strict=True)) for row in rows],
        "together": [{"columns": pair[:2], "strength": pair[2]} for pair in found.pairs],
    }


def _coverage(study: Study) -> dict[str, Any] | None:
    """Return how often intervals or sets hold the truth; None where there are none."""
    found = study.coverage
    if found is None:
        return None
    parts = {"by_size": found.by_size, "by_group": found.by_group}
    told = {name: [dataclasses.asdict(one) for one in some] for name, some in parts.items()}
    whole, by = dataclasses.asdict(found.whole), found.grouped_by
    return {"level": found.level, "all": whole, **told, "grouped_by": by}


def _rest(study: Study) -> dict[str, Any] | None:
    """Return how well the model did on the rows of a large file that it has not learned from."""
    rest = study.rest
    if rest is None:
        return None
    return {"rows": len(rest.rows), "error": rest.error, "error_se": rest.error_se}


def _plain(value: object) -> Any:
    """Return a value in the words of JSON, which knows no NaN and no infinity."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return str(value)


def as_json(found: dict[str, Any]) -> bytes:
    """Return the bytes of `metrics.json`."""
    text = json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "replace")


def predictions(study: Study) -> pd.DataFrame:
    """Return the prediction of every row that was held out, as `predictions.csv` holds it.

    These are all rows, but of very many only those that judged.

    The column ``row`` is the number of a row in the file, counted from 0 after the header. For
    classes there is one column with the probability of each, if the machine gives probabilities.
    Of a file that was too large to learn from all of it, the other rows are there too, and a
    column ``fold`` says in which fold a row was held out; it is empty for rows that were not
    learned from at all.

    Parameters
    ----------
    study : Study

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> predictions(study(rows, "animal", machine="prototype", budget=5)).columns.tolist()
    ['row', 'target', 'prediction', 'probability of c', 'probability of d']
    """
    import pandas as pd

    kept, rest = study.held_out, study.rest
    rows = study.sheet.rows[kept.rows]
    found = _columns(study, rows, study.truth, kept.prediction, kept.probabilities)
    if rest is None:
        return found
    found["fold"] = kept.fold
    others = _columns(study, rest.rows, rest.y, rest.prediction, rest.probabilities)
    both = pd.concat([found, others], ignore_index=True)
    both["fold"] = both["fold"].astype("Int64")
    return both.sort_values("row", kind="stable", ignore_index=True)


def _columns(
    study: Study, rows: np.ndarray, y: np.ndarray, predicted: np.ndarray, P: np.ndarray | None
) -> pd.DataFrame:
    import pandas as pd

    found: dict[str, Any] = {"row": rows, "target": y, "prediction": predicted}
    if P is not None and study.classes is not None:
        for k, label in enumerate(study.classes.tolist()):
            found[f"probability of {label}"] = P[:, k]
    return pd.DataFrame(found)


def as_csv(table: pd.DataFrame, header: bool = True) -> bytes:
    """Return a table as CSV; numbers have all their digits, texts stand as they are.

    What is missing is an empty cell. A text that a spreadsheet would take for a formula gets an
    apostrophe before it, as `mercer.report.formulas` says.
    """
    lines = _Lines()
    writer = csv.writer(lines)
    if header:
        writer.writerow([harmless(name) for name in table.columns])
    columns = []
    for k in range(table.shape[1]):
        column = table.iloc[:, k]
        gaps = column.isna()
        columns.append(column.astype(object).mask(gaps, "").tolist() if gaps.any()
                       else column.tolist())  # fmt: skip
        if columns and any(isinstance(cell, str) for cell in columns[-1]):
            columns[-1] = [harmless(cell) for cell in columns[-1]]
    writer.writerows(zip(*columns, strict=True))
    return lines.getvalue().encode("utf-8", "replace")


class _Lines(io.StringIO):
    """Lines that end with a line feed.

    They are written with both ends of RFC 4180, because that is what makes the writer quote both
    characters where they occur inside a text.
    """

    def write(self, line: str) -> int:
        return super().write(line.removesuffix("\r\n") + "\n")
