"""Data sets from files of others: what `mercer.sources` reads, as items and labels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mercer.datasets.dataset import Dataset
from mercer.domains.molecules import read_molecule
from mercer.errors import DomainError, suggestion
from mercer.sources.delimited import Delimited
from mercer.sources.fasta import Record, label_finder, records
from mercer.sources.libsvm import FEATURES, LABEL, Libsvm, cut
from mercer.sources.source import Piece, gather, objects, suggest_name
from mercer.sources.tu import read_folder

__all__ = ["read_fasta", "read_libsvm", "read_smiles", "read_tu"]

Path_ = str | os.PathLike[str]
INVALID = ("error", "drop")  # what to do with a row that is no molecule


def read_libsvm(path: Path_, width: int | None = None, *, zero_based: bool = False) -> Dataset:
    """Read examples from a file of LIBSVM or SVMlight, which may be packed by gzip or bzip2.

    A line is ``label index:value index:value …``, with indices that grow; what follows a ``#`` is
    a comment, and ``qid:…`` is left out.

    Parameters
    ----------
    path : path
    width : int, optional
        Number of columns. Say it for a file of test examples, in which the last columns of the
        training examples may not occur.
    zero_based : bool
        Whether indices count from 0; LIBSVM's count from 1.

    Returns
    -------
    Dataset
        Sparse rows, and labels that are integers if all of them are whole numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "examples.txt"
    ...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray(), y
    (array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]]), array([ 1, -1]))
    """
    if width is not None and (isinstance(width, bool) or width < 1):
        raise DomainError(f"width must be a whole number from 1 on, found {width!r}")
    source = Libsvm(Path(path), width, zero_based, finite=False)
    piece = gather(source, None, 0)
    if piece.bad:
        raise DomainError(f"line {piece.bad[0].line} of {path} {piece.bad[0].problem}")
    if not piece.total:
        raise DomainError(f"{path} holds no examples")
    raw, first = piece.columns[FEATURES], 0 if zero_based else 1
    y = np.array([float(label) for label in piece.columns[LABEL]])
    whole = np.all(y == np.rint(y)) and np.abs(y).max() < 2**53
    X = cut(raw, first, raw.shape[1] - first if width is None else width)
    return Dataset(X, y.astype(np.int64) if whole else y)


def read_fasta(path: Path_, label: str | Callable[[str], Any] | None = None) -> Dataset:
    """Return the sequences of a FASTA file as strings, capital and small letters as they are.

    Parameters
    ----------
    path : path
        May be compressed by gzip or bzip2. Lines of a sequence are put together without spaces;
        empty lines and lines that begin with ; are skipped.
    label : str or callable, optional
        Where the header, the line after >, has the label: a regular expression with a group,
        such as ``r"class=(\\w+)"``; any other text is a separator, after whose last occurrence
        the label stands; a function gets the header. Without one, y is NaN.

    Returns
    -------
    Dataset
        X is an array of strings; ``extra["ids"]`` has the first word of each header,
        ``extra["descriptions"]`` the rest.

    Examples
    --------
    >>> X, y = read_fasta("promoters.fasta", label="|")  # doctest: +SKIP
    """
    found = list(records(Path(path)))
    for record in found:
        if not record.letters:
            raise DomainError(f"{path}: line {record.line}: {record.header!r} has no letters")
    X = objects(record.letters for record in found)
    words = [record.header.split(maxsplit=1) for record in found]
    extra = {
        "ids": tuple(word[0] if word else "" for word in words),
        "descriptions": tuple(word[1] if len(word) > 1 else "" for word in words),
    }
    if label is None:
        return Dataset(X, np.full(len(X), np.nan), extra=extra)
    y = _labels(path, found, label)
    names = tuple(map(str, np.unique(y))) if y.dtype.kind in "US" else ()
    return Dataset(X, y, names, extra)


def _labels(path: Path_, records: list[Record], label: str | Callable[[str], Any]) -> np.ndarray:
    """Return the label of each header, or say in which line there is none."""
    find = label if callable(label) else label_finder(label)
    found = []
    for record in records:
        try:
            answer = find(record.header)
        except Exception as error:
            raise DomainError(
                f"{path}: line {record.line}: no label in {record.header!r}: {error}"
            ) from error
        if answer is None or answer == "":
            raise DomainError(
                f"{path}: line {record.line}: {record.header!r} has no label by {label!r}"
            )
        found.append(answer)
    return np.array(found)


def read_smiles(
    path: Path_, smiles: str = "smiles", target: str | None = None, invalid: str = "error"
) -> Dataset:
    """Return the SMILES strings of a CSV file, and what is to be learned about them.

    Parameters
    ----------
    path : path
        Of a CSV file whose first line names the columns; may be compressed by gzip or bzip2.
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
    if invalid not in INVALID:
        raise DomainError(f"invalid cannot be {invalid!r}{suggestion(invalid, INVALID)}")
    piece = _columns(Path(path), [smiles] if target is None else [smiles, target])
    texts = [text.strip() for text in piece.columns[smiles]]
    answers = [None] * len(piece) if target is None else [a.strip() for a in piece.columns[target]]
    problems = {row.line: row.problem for row in piece.bad}
    for line, text, answer in zip(piece.lines.tolist(), texts, answers, strict=True):
        absent = answer is not None and answer.lower() in ("", "na", "nan", "null")
        if problem := f"column {target!r} is empty" if absent else _problem(text):
            problems[line] = problem
    if problems and invalid == "error":
        line = min(problems)
        advice = 'invalid="drop" leaves such rows out'
        raise DomainError(f"{path}: line {line}: {problems[line]}; {advice}")
    good = [place for place, line in enumerate(piece.lines.tolist()) if line not in problems]
    if not good:
        raise DomainError(f"{path} has no molecules")
    X = objects(texts[place] for place in good)
    y = np.full(len(X), np.nan)
    if target is not None:
        y = _values([str(answers[place]) for place in good])
    return Dataset(X, y, extra={"dropped": dict(sorted(problems.items()))})


def _columns(path: Path, columns: list[str]) -> Piece:
    """Return some columns of a table of text."""
    try:
        source = Delimited(path, known=columns, header=True)
    except DomainError as error:
        raise DomainError(f"{path} cannot be read as a CSV file: {error}") from error
    for column in columns:
        if column not in source.columns:
            raise DomainError(
                f"{path} has no column {column!r}{suggest_name(column, source.columns)}"
            )
    return gather(source, None, 0, columns)


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


def read_tu(folder: Path_, *, labeled: bool = True) -> Dataset:
    """Return the graphs of a folder with files ``NAME_A.txt``, ``NAME_graph_indicator.txt``, ….

    Labels of nodes and edges, attributes of nodes, and labels or numbers of graphs are read where
    there are such files; each may be compressed by gzip. Edges are given in one direction or in
    both. An edge from a node to itself is left out.

    Parameters
    ----------
    folder : path
    labeled : bool
        Whether there must be labels or numbers of graphs; if there need not, y may be NaN.

    Returns
    -------
    Dataset
        X is an array of `Graph` objects, y the labels (or numbers) of the graphs. ``extra`` holds
        the name of the set and how many loops were left out.

    Examples
    --------
    >>> graphs = read_tu("data/MUTAG")  # doctest: +SKIP
    >>> graphs.X[0]  # doctest: +SKIP
    <Graph with 17 nodes and 19 edges, labeled nodes, labeled edges>
    """
    found = read_folder(Path(folder), labeled)
    extra = {"name": found.name, "loops": found.loops}
    return Dataset(found.graphs, found.y, found.label_names, extra)
