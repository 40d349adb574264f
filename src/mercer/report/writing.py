"""Writing: all files of a study, or none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.files import replacing, save
from mercer.report.figures import as_csv, as_json, metrics, predictions
from mercer.report.page import html
from mercer.sources import recipe

if TYPE_CHECKING:
    from mercer.studies import Study

__all__ = ["write"]

PORTION = 50_000  # rows


def write(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the model, the report, the figures and the predictions of a study into a folder.

    Everything is made before anything is written, and written beside before it takes its place:
    whatever goes wrong, the files of an earlier study stay as they were.

    Parameters
    ----------
    study : Study
    folder : str or path
        Made if missing.

    Returns
    -------
    list of Path
        `model.mercer`, `report.html`, `metrics.json` and `predictions.csv`.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame(
    ...     {
    ...         "weight": [3.0, 4.1, 3.6, 22.0, 30.5, 18.9] * 5,
    ...         "animal": ["cat", "cat", "cat", "dog", "dog", "dog"] * 5,
    ...     }
    ... )
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
    notes = _notes(study)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    model = into / "model.mercer"
    with ExitStack() as files:
        for name, portions in contents.items():
            file = files.enter_context(replacing(into / name))
            for portion in portions:
                file.write(portion)
            file.flush()  # a full disk is noticed here, before the model takes its place
        save(study.machine, model, notes=notes)
    return [model, *(into / name for name in contents)]


def _lines(study: Study) -> Iterator[bytes]:
    """Yield the predictions in portions, because there may be millions."""
    table = predictions(study)
    for start in range(0, max(len(table), 1), PORTION):
        yield as_csv(table.iloc[start : start + PORTION], header=start == 0)


def _notes(study: Study) -> dict[str, Any]:
    """Return what is kept beside the model: how to read other files, and how good it is.

    And which rows it learned from with which targets, so that explanations can name them.
    """
    found = metrics(study)
    kept = ("task", "measure", "error", "error_se", "baseline_error", "kernel", "target")
    labels, codes = np.unique(study.y, return_inverse=True)
    rows = {"rows": study.sheet.rows, "labels": labels, "codes": codes.astype(np.int32)}
    return {"recipe": recipe(study.sheet), "study": {n: found[n] for n in kept}, "learned": rows}
