"""Rows of a cluster: the chunks of a stream, each read by the worker that works on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.cluster import Cluster
from mercer.cluster.account import WorkerShare, at_work, here
from mercer.cluster.journal import fingerprint
from mercer.cluster.passes import Task
from mercer.cluster.reading import Checksum, ReadingTask
from mercer.domains import Domain, Points, Stream, Streamed, Survey, Vectors
from mercer.domains.chunks import ChunkForm
from mercer.domains.first_pass import EMPTY, WEIGHTLESS, joined_arrays, joined_points
from mercer.errors import DomainError
from mercer.reservoir import Reservoir

__all__ = ["ClusterRows", "survey_on"]


class ClusterRows(Streamed):
    """Rows of a stream that was surveyed on a cluster.

    Attributes
    ----------
    cluster : Cluster
    readings : list of ReadingTask
        One for each chunk that has rows.
    """

    def __init__(
        self,
        cluster: Cluster,
        stream: Stream,
        domain: Domain,
        survey: Survey,
        readings: list[ReadingTask],
    ) -> None:
        super().__init__(stream, domain, survey)
        self.cluster, self.readings = cluster, readings

    @property
    def fingerprint(self) -> str:
        """What tells these rows from others."""
        return fingerprint(*(reading.checksum for reading in self.readings))

    def place(self, reading: ReadingTask) -> slice:
        """Return where the rows of a chunk are in the stream."""
        assert reading.checksum is not None
        return slice(reading.start, reading.start + reading.checksum.count)


@dataclass(frozen=True, eq=False)
class Look:
    """What a first look at a chunk has found."""

    form: ChunkForm
    checksum: Checksum
    bytes: int
    target: np.ndarray | None
    weights: np.ndarray | None
    sample: Points | None


def survey_on(
    cluster: Cluster, stream: Stream, domain: Domain, sample: int, seed: int = 0
) -> ClusterRows:
    """Read all rows once on a cluster, check them, and return them with what was found.

    The sample is that of `Stream.survey`. Where nobody knows the number of rows beforehand, rows
    of the sample are read in a second pass.
    """
    readings = [
        ReadingTask(part, domain, number, 0, stream.name, cluster.attempts)
        for number, part in enumerate(stream.parts())
    ]
    counts = [reading.part.count for reading in readings]
    known = None
    if all(count is not None for count in counts):
        some = [count or 0 for count in counts]
        known = _places(some, sample, seed)
        starts = np.cumsum([0, *some]).tolist()
        readings = [replace(r, start=s) for r, s in zip(readings, starts, strict=False)]
    known_by = [reading.part.identity for reading in readings]
    # Rows that nothing but reading tells from others are read again, and known by their checksums.
    key = None if None in known_by else fingerprint("survey", known_by, domain, sample, seed)
    looks = None if key is None else _recalled(cluster, key, len(readings), domain)
    if looks is None:
        cluster.account.passes += 1
        chosen = [None] * len(readings) if known is None else known[1]
        looks = cluster.map(
            [Task(_look, pair, pair[0].title) for pair in zip(readings, chosen, strict=True)],
            "survey",
        )
        cluster.account.received += sum(_size(look) for look in looks)
        _require_same_form(readings, looks)
        places, looks = _sampled(cluster, readings, looks, known, sample, seed)
        if key is not None:
            _recorded(cluster, key, looks)
    else:
        places = _places([0 if x is None else x.checksum.count for x in looks], sample, seed)[0]
    return _rows(cluster, stream, domain, readings, looks, places)


def _look(
    reading: ReadingTask, places: np.ndarray | None
) -> tuple[Look | None, dict[str, WorkerShare]]:
    with at_work(reading.title) as share:
        chunk = reading.read(share)
        look = None
        if chunk is not None:
            some = None if places is None or not len(places) else chunk.points.take(places)
            if some is not None:  # in memory of its own, not that of the whole chunk
                some = joined_points([some])
            look = Look(
                ChunkForm.of(chunk), Checksum.of(chunk), chunk.points.bytes,
                chunk.target, chunk.weights, some,
            )  # fmt: skip
    return look, {here(): share}


class _Range:
    """Rows that are counted, and not there."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def take(self, chosen: np.ndarray) -> _Range:
        return _Range(len(chosen))


def _places(counts: list[int], sample: int, seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return which rows are in the sample, in the stream and in each chunk."""
    reservoir = Reservoir(sample, seed, lambda parts: _Range(sum(map(len, parts))))
    for count in counts:
        if count:
            reservoir.offer(_Range(count))
    reservoir.settle()
    places = reservoir.places
    starts = np.cumsum([0, *counts])
    cuts = np.searchsorted(places, starts)
    own = [places[a:b] - s for a, b, s in zip(cuts, cuts[1:], starts, strict=False)]
    return places, own


def _require_same_form(readings: list[ReadingTask], looks: list[Look | None]) -> None:
    first = next((look.form for look in looks if look is not None), None)
    if first is None:
        raise DomainError(EMPTY)
    for reading, look in zip(readings, looks, strict=True):
        if look is not None:
            try:
                look.form.require(first, reading.name)
            except DomainError as error:
                raise DomainError(f"chunk {reading.number}: {error} ({reading.title})") from error


def _sampled(
    cluster: Cluster,
    readings: list[ReadingTask],
    looks: list[Look | None],
    known: tuple[np.ndarray, list[np.ndarray]] | None,
    sample: int,
    seed: int,
) -> tuple[np.ndarray, list[Look | None]]:
    """Return the places of the sample, and looks that have its rows."""
    counts = [0 if look is None else look.checksum.count for look in looks]
    if known is not None:
        for reading, count in zip(readings, counts, strict=True):
            if reading.part.count != count:
                raise DomainError(
                    f"{reading.title} has {count} rows, and {reading.part.count} a moment ago"
                )
        return known[0], looks
    places, own = _places(counts, sample, seed)
    found = cluster.map(
        [Task(_look, pair, pair[0].title) for pair in zip(readings, own, strict=True)], "sample"
    )
    for reading, before, now in zip(readings, looks, found, strict=True):
        if before is not None and (now is None or now.checksum != before.checksum):
            raise DomainError(
                f"{reading.title} gives other rows when it is read again; every pass must "
                "give the same rows in the same order"
            )
    return places, found


def _rows(
    cluster: Cluster,
    stream: Stream,
    domain: Domain,
    readings: list[ReadingTask],
    looks: list[Look | None],
    places: np.ndarray,
) -> ClusterRows:
    pairs = [(r, look) for r, look in zip(readings, looks, strict=True) if look is not None]
    form = pairs[0][1].form
    start, checked = 0, []
    for reading, look in pairs:
        checked.append(replace(reading, start=start, form=form, checksum=look.checksum))
        start += look.checksum.count
    targets = [look.target for _, look in pairs if look.target is not None]
    weights = joined_arrays([look.weights for _, look in pairs if look.weights is not None])
    if weights is not None and not weights.any():
        raise DomainError(WEIGHTLESS)
    rows = joined_points([look.sample for _, look in pairs if look.sample is not None])
    survey = Survey(
        start, len(pairs), max(look.checksum.count for _, look in pairs), form.width,
        sum(look.bytes for _, look in pairs) / start, joined_arrays(targets), weights, rows,
        places, form,
    )  # fmt: skip
    return ClusterRows(cluster, stream, domain, survey, checked)


def _size(look: Look | None) -> int:
    if look is None:
        return 0
    arrays = [one for one in (look.target, look.weights) if one is not None]
    return sum(one.nbytes for one in arrays) + (0 if look.sample is None else look.sample.bytes)


# ---- a first pass that is written down ----------------------------------------------------------


def _recorded(cluster: Cluster, key: str, looks: list[Look | None]) -> None:
    """Write down what the first pass has found, if it is all numbers and text."""
    if cluster.journal is None:
        return
    found: dict[str, np.ndarray] = {}
    for number, look in enumerate(looks):
        if look is None:
            continue
        held = {"target": look.target, "weights": look.weights}
        if look.sample is not None:
            if not isinstance(look.sample, Vectors) or look.form.kind != "dense rows":
                return
            held["sample"] = np.asarray(look.sample.array)
        arrays = {name: one for name, one in held.items() if one is not None}
        if any(one.dtype.kind == "O" for one in arrays.values()):
            return
        sums = (look.checksum.count, look.checksum.rows, look.checksum.target, look.bytes)
        found[f"{number} sums"] = np.array(sums, dtype=np.int64)
        found |= {f"{number} {name}": one for name, one in arrays.items()}
        names = look.form.names
        if names is not None:
            if not all(isinstance(name, str) for name in names):
                return
            found["names"] = np.array(names)
    cluster.journal.record(key, found)


def _recalled(cluster: Cluster, key: str, count: int, domain: Domain) -> list[Look | None] | None:
    """Return what a first pass had found before this process was started; later ones check it."""
    found = None if cluster.journal is None else cluster.journal.recall(key)
    if found is None:
        return None
    cluster.account.recalled += 1
    cluster.account.passes += 1
    looks: list[Look | None] = []
    for number in range(count):
        sums = found.get(f"{number} sums")
        if sums is None:
            looks.append(None)
            continue
        rows = found.get(f"{number} sample")
        sample = None if rows is None else domain.admit(_named(rows, found.get("names")))
        target, weights = found.get(f"{number} target"), found.get(f"{number} weights")
        looks.append(
            Look(_form(found, target, weights, domain), Checksum(*map(int, sums[:3])),
                 int(sums[3]), target, weights, sample)
        )  # fmt: skip
    return looks


def _named(rows: np.ndarray, names: np.ndarray | None) -> Any:
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names.tolist())


def _form(
    found: dict[str, np.ndarray],
    target: np.ndarray | None,
    weights: np.ndarray | None,
    domain: Domain,
) -> ChunkForm:
    """Return the form of the chunks, from a chunk of the sample."""
    from mercer.domains import Chunk

    rows = next(one for name, one in found.items() if name.endswith(" sample"))
    points = domain.admit(_named(rows[:1], found.get("names")))
    some = None if target is None else target[:1]
    return ChunkForm.of(Chunk(0, 0, points, some, None if weights is None else weights[:1]))
