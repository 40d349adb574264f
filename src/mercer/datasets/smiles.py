"""Molecules from tables with SMILES."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from mercer.datasets.dataset import Dataset
from mercer.domains.molecules import read_molecule
from mercer.errors import DomainError, suggestion

__all__ = ["read_smiles"]

CHOICES = ("error", "drop")


def read_smiles(
    path: str | os.PathLike[str],
    smiles: str = "smiles",
    target: str | None = None,
    invalid: str = "error",
) -> Dataset:
    """Return the SMILES strings of a CSV file, and what is to be learned about them.

    Parameters
    ----------
    path : path
        Of a CSV file whose first line names the columns; may be compressed by gzip.
    smiles : str
        The column with the SMILES.
    target : str, optional
        The column with the labels or numbers; without one, y is NaN.
    invalid : {"error", "drop"}
        What to do with a row whose SMILES RDKit cannot read, or whose target is missing: refuse
        the file, naming the line, or leave the row out.

    Returns
    -------
    Dataset
        X is an array of the strings, without spaces around them. ``extra["dropped"]`` says what
        was left out and why, by its line in the file.

    Examples
    --------
    >>> X, y = read_smiles("BBBP.csv", target="p_np", invalid="drop")  # doctest: +SKIP
    """
    if invalid not in CHOICES:
        raise DomainError(f"invalid cannot be {invalid!r}{suggestion(invalid, CHOICES)}")
    path = Path(path)
    texts, answers, dropped = [], [], {}
    for line, row in _rows(path, [smiles] if target is None else [smiles, target]):
        text = (row[smiles] or "").strip()
        answer = None if target is None else (row[target] or "").strip()
        absent = answer is not None and answer.lower() in ("", "na", "nan", "null")
        problem = f"column {target!r} is empty" if absent else _problem(text)
        if problem and invalid == "error":
            advice = 'invalid="drop" leaves such rows out'
            raise DomainError(f"{path}: line {line}: {problem}; {advice}")
        if problem:
            dropped[line] = problem
        else:
            texts.append(text)
            answers.append(answer)
    if not texts:
        raise DomainError(f"{path} has no molecules")
    X = np.empty(len(texts), dtype=object)
    X[:] = texts
    y = np.full(len(texts), np.nan) if target is None else _values([str(a) for a in answers])
    return Dataset(X, y, extra={"dropped": dropped})


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the rows of a table, each with the number of its last line."""
    try:
        with _opened(path) as file:
            reader = csv.DictReader(file)
            known = list(reader.fieldnames or ())
            if not known:
                raise DomainError(f"{path} is empty")
            for column in columns:
                if column not in known:
                    hint = suggestion(column, known)
                    raise DomainError(f"{path} has no column {column!r}{hint}")
            for row in reader:
                yield reader.line_num, row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise DomainError(f"{path} cannot be read as a CSV file: {error}") from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _problem(text: str) -> str:
    """Return why a text is not a molecule, or nothing."""
    if not text:
        return "there is no SMILES"
    try:
        read_molecule(text)
    except DomainError as error:
        return str(error)
    return ""


def _values(answers: list[str]) -> np.ndarray:
    """Return whole numbers, numbers or else texts."""
    for kind in (np.int64, np.float64):
        try:
            return np.array([kind(answer) for answer in answers])
        except ValueError:
            continue
    return np.array(answers)
