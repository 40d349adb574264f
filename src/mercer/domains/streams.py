"""Streams: rows that come in chunks and are read again at each pass.

What does not fit into memory is learned from in passes. A `Stream` says where the chunks come
from; its first pass, the survey, checks everything and keeps what fits: the target, the weights
and a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mercer.domains.chunks import (
    Chunk,
    ChunkForm,
    admit_chunk,
    describe_rows,
    locate_errors,
    require_whole,
)
from mercer.domains.first_pass import Survey, summarize
from mercer.domains.memmap import mapping
from mercer.domains.partitions import Partitions, is_collection
from mercer.domains.parts import Divisible, Numbered, NumberedPart, Part
from mercer.domains.points import Domain, Items, Points
from mercer.domains.prefetch import prefetch
from mercer.domains.slices import Slices
from mercer.domains.tables import is_frame
from mercer.errors import DomainError

__all__ = ["InMemory", "Rows", "Stream", "Streamed", "in_passes", "is_stream"]

STREAMED_BYTES = 64_000_000  # from which on a mapped array is read in chunks
END = object()


class Stream:
    """Rows that come in chunks, as often as they are asked for.

    A fit takes several passes over the rows. Every pass must give the same rows in the same
    order; what differs is refused where it is noticed.

    Parameters
    ----------
    chunks : callable or iterable
        A function without parameters that returns a new iterator at each call, or something that
        can be iterated again and again, such as a list. A generator can not. Each chunk is `X`,
        or a tuple ``(X, y)`` or ``(X, y, weights)``, where `X` is anything that the kernel
        compares: an array, a sparse matrix, a DataFrame, a list of strings. Chunks may differ in
        length; one without rows is skipped.
    name : str
        What errors call the rows.
    ahead : bool
        Whether a thread may prepare the next chunk while this one is used. An iterator that must
        stay in the thread where it was made, as a connection to SQLite, needs False.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> def chunks():
    ...     rng = np.random.default_rng(0)  # the same rows at each pass
    ...     for _ in range(3):
    ...         X = rng.normal(size=(100, 2))
    ...         yield X, X[:, 0] > 0
    >>> survey = Stream(chunks).survey(VECTORS, sample=10)
    >>> survey.count, survey.target.shape, len(survey.sample)
    (300, (300,), 10)
    """

    def __init__(
        self,
        chunks: Callable[[], Iterable[Any]] | Iterable[Any],
        name: str = "X",
        ahead: bool = True,
    ) -> None:
        _require_repeatable(chunks)
        self.chunks = chunks
        self.name = name
        self.ahead = ahead

    @classmethod
    def rows(
        cls,
        array: Items,
        y: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        size: int | None = None,
    ) -> Stream:
        """Return a stream over the rows of an array, of a `numpy.memmap` above all.

        Parameters
        ----------
        array : array, sparse matrix, DataFrame, sequence, or Dask DataFrame or Array
            A mapped array is read from its file and not through the mapping, so that a file that
            becomes shorter meanwhile is an error, and not the end of the process.
        y, weights : array, optional
            They may be mapped too.
        size : int, optional
            Rows of a chunk. Without it, a chunk has about 32 MB.

        Examples
        --------
        >>> from mercer.domains import VECTORS
        >>> stream = Stream.rows(np.eye(5), size=2)
        >>> [chunk.place for chunk in stream.read(VECTORS)]
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
        """
        if isinstance(array, Stream):
            raise DomainError("Stream.rows takes an array, and this is a stream already")
        if is_collection(array):
            return cls(Partitions(array, y, weights))
        return cls(Slices(array, y, weights, size))

    @classmethod
    def numbered(cls, function: Callable[[int], Any], count: int) -> Stream:
        """Return a stream of `count` chunks, each of which a function makes from its number.

        Unlike those of an iterator, these chunks can be read by several computers at once. The
        function must travel to them and give the same rows each time.

        Examples
        --------
        >>> from mercer.domains import VECTORS
        >>> stream = Stream.numbered(lambda number: np.full((2, 1), float(number)), 3)
        >>> stream.survey(VECTORS).count
        6
        """
        if not callable(function):
            raise DomainError(
                f"Stream.numbered takes a function of a number, found {type(function).__name__}"
            )
        return cls(Numbered(function, require_whole("count", count)))

    def parts(self) -> list[Part]:
        """Return the chunks as parts, each of which can be read on its own.

        Examples
        --------
        >>> [part.count for part in Stream.rows(np.eye(5), size=2).parts()]
        [2, 2, 1]
        """
        if isinstance(self.chunks, Divisible):
            return list(self.chunks.parts())
        if isinstance(self.chunks, list | tuple):
            return [NumberedPart(self.chunks.__getitem__, n) for n in range(len(self.chunks))]
        raise DomainError(
            "the chunks of this stream come one after the other, so that several computers cannot "
            "read them; use files (mercer.sources.stream), Stream.rows(array), or "
            "Stream.numbered(function, count), whose function makes any chunk from its number"
        )

    def __repr__(self) -> str:
        if isinstance(self.chunks, Slices):
            return f"Stream.rows({self.chunks})"
        return f"Stream({getattr(self.chunks, '__name__', type(self.chunks).__name__)})"

    def read(
        self, domain: Domain, survey: Survey | None = None, ahead: bool = False
    ) -> Generator[Chunk, None, None]:
        """Read the rows once.

        Parameters
        ----------
        domain : Domain
            Of the kernel; it admits the rows.
        survey : Survey, optional
            What the first pass found; this one must not differ.
        ahead : bool
            Whether a thread prepares the next chunk while this one is used, where the stream
            allows it. Two chunks are then in memory.

        Yields
        ------
        Chunk

        Raises
        ------
        DomainError
            With the number of the chunk and its rows; rows within a chunk are counted from its
            first one. What the iterator itself raises comes through with a note.

        Examples
        --------
        >>> from mercer.domains import VECTORS
        >>> chunks = [np.zeros((4, 2)), np.array([[1.0, np.nan]])]
        >>> list(Stream(chunks).read(VECTORS))
        Traceback (most recent call last):
            ...
        mercer.errors.DomainError: chunk 1, row 4: Input X contains NaN at row 0, column 1; ...
        """
        if not ahead or not self.ahead:
            return self._pass(domain, survey, copy=False)
        # Whoever fills one array again and again would do so while it is in use. Our own sources
        # say that they do not.
        fresh = getattr(self.chunks, "fresh", False)
        return prefetch(self._pass(domain, survey, copy=not fresh))

    def survey(
        self, domain: Domain, sample: int = 1000, seed: int = 0, ahead: bool = False
    ) -> Survey:
        """Read the rows once, check them all, and return what is to be known about them.

        Parameters
        ----------
        domain : Domain
        sample : int
            The most rows to keep: a random sample, each row with the same chance, the same for
            every size of the chunks.
        seed : int
            Of the sample.
        ahead : bool
            As in `read`.

        Examples
        --------
        >>> from mercer.domains import STRINGS
        >>> survey = Stream([["cat", "hat"], ["dog"]]).survey(STRINGS, sample=2)
        >>> survey.count, survey.largest, survey.places
        (3, 2, array([1, 2]))
        """
        sample = require_whole("sample", sample)
        with closing(self.read(domain, ahead=ahead)) as chunks:
            return summarize(chunks, sample, seed)

    def _pass(
        self, domain: Domain, survey: Survey | None, copy: bool
    ) -> Generator[Chunk, None, None]:
        first = None if survey is None else survey.form
        number, start = 0, 0
        with locate_errors(f"chunk 0, {describe_rows(0, None)}"):
            iterator = _start(self.chunks)
        while True:
            with locate_errors(f"chunk {number}, {describe_rows(start, None)}"):
                raw = next(iterator, END)
            if raw is END:
                break
            chunk = admit_chunk(raw, domain, number, start, self.name, copy)
            del raw  # what was admitted is enough
            if chunk is not None:
                with locate_errors(chunk.title):
                    form = ChunkForm.of(chunk)
                    first = first or form
                    form.require(first, self.name)
                    if survey is not None:
                        survey.recognize(chunk)
                start += len(chunk)
                yield chunk
            del chunk
            number += 1
        if survey is not None:
            with locate_errors(f"chunk {number}, {describe_rows(start, None)}"):
                survey.finish(start)


class Rows:
    """Rows that are read in passes, a piece at a time.

    Attributes
    ----------
    count : int
        How many there are.
    chunked : bool
        Whether pieces are chunks, whose sums are made one by one and then added up in a fixed
        order, so that it does not matter who has made them.

    Examples
    --------
    >>> from mercer.domains import VECTORS, InMemory
    >>> rows = InMemory(VECTORS.admit(np.eye(3)), size=2)
    >>> isinstance(rows, Rows), rows.count, rows.chunked
    (True, 3, False)
    """

    count: int
    chunked = False

    def pieces(self) -> Iterator[tuple[slice, Points]]:
        """Yield all rows in their order: where they are, and the points."""
        raise NotImplementedError


class InMemory(Rows):
    """Rows that are in memory, `size` at a time.

    Parameters
    ----------
    points : Points
    size : int
        The most rows of a piece.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> rows = InMemory(VECTORS.admit(np.eye(3)), size=2)
    >>> [(place.start, place.stop, len(part)) for place, part in rows.pieces()]
    [(0, 2, 2), (2, 3, 1)]
    """

    def __init__(self, points: Points, size: int) -> None:
        self.points = points
        self.size = size
        self.count = len(points)

    def pieces(self) -> Iterator[tuple[slice, Points]]:
        for start in range(0, self.count, self.size):
            place = slice(start, min(start + self.size, self.count))
            yield place, self.points[place]


class Streamed(Rows):
    """Rows of a stream that was surveyed: each pass reads it, and must find the same rows.

    Parameters
    ----------
    stream : Stream
    domain : Domain
        What the rows are admitted to.
    survey : Survey
        What the first pass has found.
    ahead : bool
        Whether the next chunk is read while one is worked on.

    Examples
    --------
    >>> from mercer.domains import VECTORS
    >>> stream = Stream.rows(np.eye(3), size=2)
    >>> rows = Streamed(stream, VECTORS, stream.survey(VECTORS))
    >>> [(place.start, place.stop, len(part)) for place, part in rows.pieces()]
    [(0, 2, 2), (2, 3, 1)]
    """

    chunked = True

    def __init__(self, stream: Stream, domain: Domain, survey: Survey, ahead: bool = True) -> None:
        self.stream = stream
        self.domain = domain
        self.survey = survey
        self.ahead = ahead
        self.count = survey.count

    def pieces(self) -> Iterator[tuple[slice, Points]]:
        with closing(self.stream.read(self.domain, self.survey, self.ahead)) as chunks:
            for chunk in chunks:
                yield chunk.place, chunk.points
                del chunk


def is_stream(X: object) -> bool:
    """Tell whether data are read in passes: a `Stream`, a mapped array of 64 MB or more, or a
    Dask collection.

    A mapped array that is smaller is an array like any other.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool

    Examples
    --------
    >>> is_stream(Stream.rows(np.eye(3))), is_stream(np.eye(3))
    (True, False)
    """
    if in_passes(X):
        return True
    return isinstance(X, np.memmap) and mapping(X) is not None and X.nbytes >= STREAMED_BYTES


def in_passes(X: object) -> bool:
    """Tell whether data can only be read in passes: a `Stream` or a Dask collection.

    Parameters
    ----------
    X : object

    Returns
    -------
    bool

    Examples
    --------
    >>> in_passes(Stream.rows(np.eye(3))), in_passes(np.eye(3))
    (True, False)
    """
    return isinstance(X, Stream) or is_collection(X)


def _require_repeatable(chunks: object) -> None:
    """Refuse what cannot be read twice, and what is one set of rows and not chunks of them."""
    if isinstance(chunks, Iterator):
        raise DomainError(
            f"a stream is read again at each pass, but a {type(chunks).__name__} can be read "
            "only once; pass the function that makes it: Stream(function), not Stream(function())"
        )
    whole = array_api_compat.is_array_api_obj(chunks) or sparse.issparse(chunks)
    if whole or is_frame(chunks) or isinstance(chunks, Points):
        raise DomainError(
            f"Stream takes chunks, and a {type(chunks).__name__} is one set of rows; use "
            "Stream.rows(array)"
        )
    if isinstance(chunks, str | bytes | dict) or not (
        callable(chunks) or isinstance(chunks, Iterable)
    ):
        raise DomainError(
            "Stream takes a function that returns an iterator over chunks, or a list of them, "
            f"found {type(chunks).__name__}"
        )


def _start(chunks: Callable[[], Iterable[Any]] | Iterable[Any]) -> Iterator[Any]:
    """Return an iterator over chunks from the first one on."""
    found = chunks if isinstance(chunks, Iterable) else chunks()
    try:
        return iter(found)
    except TypeError as error:
        raise DomainError(
            f"the function of a stream must return an iterator over chunks, but it returned "
            f"{type(found).__name__}"
        ) from error
