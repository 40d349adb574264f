"""Predictions of very many rows: each chunk is read, answered and written where it is read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.cluster import Cluster, alone, current
from mercer.cluster.passes import Task
from mercer.cluster.reading import ReadingTask
from mercer.domains import Domain, Points, Stream
from mercer.domains.partitions import is_collection
from mercer.domains.parts import Part
from mercer.errors import ClusterError, DomainError
from mercer.threads import one_blas_thread, using

__all__ = ["answers", "predict"]

Shares = dict[str, WorkerShare]


def answers(
    cluster: Cluster,
    machine: Any,
    method: str,
    stream: Stream,
    domain: Domain,
    contain: Callable[[Points], Any],
    more: tuple[tuple[Any, ...], dict[str, Any]],
) -> list[Any]:
    """Return what a method of a fitted machine says of each chunk of a stream.

    `contain` makes what the method takes of admitted rows.
    """
    readings = [
        ReadingTask(part, domain, number, 0, stream.name, cluster.attempts)
        for number, part in enumerate(stream.parts())
    ]
    known = cluster.keep((machine, method, contain, more, cluster.threads), "machine")
    cluster.account.passes += 1
    tasks = [Task(_answer, (known, reading), reading.title) for reading in readings]
    try:
        found = cluster.map(tasks, method)
    finally:
        cluster.scheduler.release(known)
    return [one for one in found if one is not None]


def _answer(known: tuple[Any, ...], reading: ReadingTask) -> tuple[Any, Shares]:
    machine, method, contain, (given, options), threads = known
    with at_work(reading.title) as share, using(threads), one_blas_thread, alone():
        chunk = reading.read(share)
        found = None
        if chunk is not None:
            found = getattr(machine, method)(contain(chunk.points), *given, **options)
    return found, {here(): share}


def predict(
    machine: Any,
    data: Any,
    folder: str | os.PathLike[str],
    method: str = "predict",
    keep: Sequence[str] = (),
) -> list[Path]:
    """Write what a fitted machine says of very many rows, as Parquet, a file for each chunk.

    Inside of ``with Cluster(...)``. The rows of ``part-00007.parquet`` are those of the chunk
    number 7, in their order. A file is there as a whole or not at all.

    Parameters
    ----------
    machine : a fitted machine or pipeline
    data : Stream, Dask DataFrame or Dask Array
    folder : path
        That all workers see. It may not hold Parquet files yet.
    method : str
        `predict`, `predict_proba`, `decision_function`, `transform` or any other that takes rows.
    keep : sequence of str
        Columns of the rows that are written too, such as an identifier.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from mercer import KernelRidge, Stream
    >>> from mercer.cluster import InProcess
    >>> X = np.arange(6.0)[:, None]
    >>> machine = KernelRidge("linear", 1e-9).fit(X, 2 * X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder, Cluster(InProcess()):
    ...     files = predict(machine, Stream.rows(X, size=4), folder)
    ...     [path.name for path in files], pd.read_parquet(folder).prediction.round(6).tolist()
    (['part-00000.parquet', 'part-00001.parquet'], [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    """
    cluster = current(required=True)
    assert cluster is not None
    _require(machine, method)
    stream = Stream.rows(data) if is_collection(data) else data
    if not isinstance(stream, Stream):
        raise DomainError(
            f"expected a Stream or a Dask collection, found {type(data).__name__}; rows in memory "
            "are answered by the machine itself"
        )
    place = _new_folder(folder)
    parts = stream.parts()
    known = cluster.keep((machine, method, str(place), tuple(keep), cluster.threads), "machine")
    tasks = [
        Task(_write, (known, part, number, cluster.attempts), part.title)
        for number, part in enumerate(parts)
    ]
    cluster.account.passes += 1
    try:
        found = [one for one in cluster.map(tasks, method) if one is not None]
    finally:
        cluster.scheduler.release(known)
    for name, worker in found:
        if not (place / name).is_file():
            raise ClusterError(
                f"worker {worker} wrote {name}, but it is not in {place} here; the folder must be "
                "one that all workers and this computer see"
            )
    return [place / name for name, _ in found]


def _write(
    known: tuple[Any, ...], part: Part, number: int, attempts: int
) -> tuple[tuple[str, str] | None, Shares]:
    """Read a chunk, answer it and write the answers."""
    machine, method, folder, keep, threads = known
    with at_work(part.title) as share, using(threads), one_blas_thread, alone():
        raw = ReadingTask.again(part, attempts)
        X = raw[0] if isinstance(raw, tuple) else raw
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        share.rows += count
        name = None
        if count:
            name = f"part-{number:05d}.parquet"
            _to_parquet(_table(machine, method, X, keep), Path(folder) / name)
    return None if name is None else (name, here()), {here(): share}


def _table(machine: Any, method: str, X: Any, keep: Sequence[str]) -> dict[str, Any]:
    """Return columns: what is kept of the rows, and the answers."""
    columns: dict[str, Any] = {}
    for name in keep:
        if not hasattr(X, "columns") or name not in X.columns:
            raise DomainError(f"the rows have no column {name!r} to keep")
        columns[name] = np.asarray(X[name])
    taken = getattr(machine, "feature_names_in_", None)
    extra = [name for name in keep if taken is not None and name not in taken]
    found = getattr(machine, method)(X.drop(columns=extra) if extra else X)
    stem = "prediction" if method == "predict" else method
    if found.ndim == 1:
        return {**columns, stem: found}
    labels = getattr(machine, "classes_", range(found.shape[1]))
    if len(labels) != found.shape[1]:
        labels = range(found.shape[1])
    return {**columns, **{f"{stem} {label}": found[:, j] for j, label in enumerate(labels)}}


def _to_parquet(columns: dict[str, Any], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    table = pyarrow.table({name: _plain(values) for name, values in columns.items()})
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            parquet.write_table(table, file)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise ClusterError(
            f"{path} cannot be written: {error.strerror or error}; the folder must be one that "
            "all workers see"
        ) from error


def _plain(values: Any) -> Any:
    return values.tolist() if np.asarray(values).dtype.kind == "O" else values


def _require(machine: Any, method: str) -> None:
    if not callable(getattr(machine, method, None)):
        raise DomainError(f"{type(machine).__name__} has no method {method!r}")
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ClusterError(
            "Parquet is written by pyarrow, which is not installed: pip install 'mercer[tables]'"
        ) from error


def _new_folder(folder: str | os.PathLike[str]) -> Path:
    place = Path(folder).absolute()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(f"{place} cannot be a folder: {error.strerror}") from error
    old = sorted(place.glob("*.parquet"))
    if old:
        raise ClusterError(
            f"{place} holds Parquet files already, such as {old[0].name}; take a new folder, so "
            "that nothing is mixed up"
        )
    return place
