"""Provenance: which data, versions, seed and command line a model comes from.

It is kept in the model's file, without the time of day, so that equal studies make equal files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer.domains import Items, is_frame
from mercer.files import describe
from mercer.report.page import versions
from mercer.studies import Study

__all__ = ["facts_of", "fingerprint", "provenance"]

MAX_WORDS = 200  # of a command line, and MAX_LETTERS of each, that are kept
MAX_LETTERS = 1000


def provenance(study: Study, command: Sequence[str] = ()) -> dict[str, Any]:
    """Return how a study was made, in plain values.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> found = provenance(study(rows, "animal", machine="prototype", budget=5))
    >>> found["rows"], found["columns"], len(found["fingerprint"]), found["file"]
    (24, 1, 64, None)
    """
    sheet = study.sheet
    return {
        "versions": versions(),
        "command": [word[:MAX_LETTERS] for word in command[:MAX_WORDS]],
        "seed": study.seed,
        "budget": study.budget,
        "rows": len(sheet),
        "columns": int(sheet.X.shape[1]),
        "fingerprint": fingerprint(sheet.X, study.y),
        "file": _file(sheet.path),
    }


def _file(path: Path | None) -> dict[str, Any] | None:
    """Return name, size and checksum of a file, as ``sha256sum`` prints it; None for others."""
    if path is None or not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": Path(path).name, "bytes": Path(path).stat().st_size, "sha256": checksum}


def fingerprint(X: Items, y: np.ndarray) -> str:
    """Return the SHA-256 of rows with their targets: the same for the same rows in their order.

    Examples
    --------
    >>> X, y = np.eye(3), np.arange(3.0)
    >>> fingerprint(X, y) == fingerprint(X.copy(), y) != fingerprint(X, y + 1)
    True
    """
    digest = hashlib.sha256()
    for name, column in _columns(X):
        digest.update(f"{name}\0".encode())
        digest.update(_bytes(column))
    digest.update(_bytes(y))
    return digest.hexdigest()


def _columns(X: Items) -> list[tuple[str, Any]]:
    if is_frame(X):
        return [(str(name), X.iloc[:, j].to_numpy()) for j, name in enumerate(X.columns)]
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        return [("data", rows.data), ("indices", rows.indices), ("indptr", rows.indptr)]
    return [("rows", np.asarray(X))]


def _bytes(column: np.ndarray) -> bytes:
    """Return the entries of a column as bytes; those of texts with their lengths."""
    if column.dtype.kind in "fiub":
        return np.ascontiguousarray(column).tobytes()
    texts = [repr(entry).encode("utf-8", "replace") for entry in column.tolist()]
    return b"".join(len(text).to_bytes(8, "little") + text for text in texts)


def facts_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says of itself, None for what it does not say.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.mercer")
    ...     mercer.save(mercer.KernelRidge("linear"), path)
    ...     found = facts_of(path)
    >>> found["holds"], found["format"], found["command line"] is None
    ('machines.KernelRidge', 1, True)
    """
    kept = describe(path)
    notes = kept["notes"] if isinstance(kept["notes"], dict) else {}
    study, made, recipe = (notes.get(name) or {} for name in ("study", "made", "recipe"))
    return {
        "file": str(path),
        "format": kept["format"],
        "written by": None if kept["mercer"] is None else f"mercer {kept['mercer']}",
        "holds": kept["kind"],
        "machine": study.get("machine"),
        "kernel": study.get("kernel"),
        "predicts": study.get("target"),
        "task": study.get("task"),
        "measure": study.get("measure"),
        "error": _error(study),
        "columns": [f"{one['name']} ({one['kind']})" for one in recipe.get("columns", ())] or None,
        "rows learned from": made.get("rows"),
        "rows kept to compare with": _kept(notes),
        "data file": made.get("file"),
        "fingerprint of the rows": made.get("fingerprint"),
        "seed": made.get("seed"),
        "command line": made.get("command") or None,
        "versions": made.get("versions"),
    }


def _error(study: dict[str, Any]) -> str | None:
    if study.get("error") is None:
        return None
    error, spread, plain = (study.get(name) for name in ("error", "error_se", "baseline_error"))
    told = f"{error:.4g}" if spread is None else f"{error:.4g} ± {spread:.2g}"
    return told if plain is None else f"{told}; by an answer that looks at nothing {plain:.4g}"


def _kept(notes: dict[str, Any]) -> int | None:
    seen = notes.get("seen")
    return None if seen is None else len(seen["losses"])
