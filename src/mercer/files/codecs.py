"""Codecs: how each kind of thing becomes JSON and arrays, and comes back.

Numbers, texts, truth values and None are themselves in JSON. Everything else is an object with one
entry, whose name says what it is: ``{"tuple": [1, 2]}``. Each such name has a `Codec`; there is a
closed list of them, and nothing outside it can be written or read.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mercer.errors import FileError
from mercer.files.container import DTYPES, parsed
from mercer.files.registry import class_named, name_of_class
from mercer.memory import afford

__all__ = ["Codec", "Decoder", "Encoder", "Json", "within"]

Json: TypeAlias = Any  # what json.loads returns

MAX_INLINE_ITEMS = 200  # of a list that stands in the header
MAX_INLINE_BYTES = 1024  # of an array that stays in a list outside of the header
# Bytes of JSON that are read a second time: rows that name each other twice would have no end.
MAX_REPEATED_BYTES = 1 << 25
REPEAT_COST = 1000  # bytes that each such reading counts more, for the time that it takes
UNCHECKED_BYTES = 1 << 26  # bytes that are taken before asking whether there are more


@dataclass(frozen=True)
class Codec:
    """How one kind of thing is written and read.

    Parameters
    ----------
    tag : str
        Its name in files.
    encode : callable
        ``encode(encoder, thing, place)`` returns JSON; `place` says where the thing was found.
    decode : callable
        ``decode(decoder, json)`` returns the thing.
    types : tuple of type
        The types of such things, exactly, without subclasses.
    fits : callable, optional
        Tells such things where a type does not.
    """

    tag: str
    encode: Callable[[Encoder, Any, str], Any]
    decode: Callable[[Decoder, Any], Any]
    types: tuple[type, ...] = ()
    fits: Callable[[Any], bool] | None = None


class Encoder:
    """Turns things into JSON, and puts their arrays aside.

    Examples
    --------
    >>> from mercer.files.store import CODECS
    >>> encoder = Encoder(CODECS)
    >>> encoder.encode({"x": np.arange(3.0)}, "")
    {'dict': [['x'], [{'array': {'shape': [3], 'tensor': '[0]'}}]]}
    >>> encoder.tensors
    {'[0]': array([0., 1., 2.])}
    """

    def __init__(self, codecs: Sequence[Codec]) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self._codecs = codecs
        self._by_type = {cls: codec for codec in codecs for cls in codec.types}
        self._others = [codec for codec in codecs if codec.fits is not None]
        self._alike: dict[tuple[str, int], list[str]] = {}  # names by type and size
        self._classes: dict[type, str] = {}
        self._crowd = 0  # whether what is written stands in a long row
        self._repeated = 0  # bytes of JSON that readers will read again

    def encode(self, thing: object, place: str) -> Json:
        """Return a thing as JSON."""
        kind = type(thing)
        if thing is None or kind is bool or kind is int or kind is str:
            return thing
        if type(thing) is float and math.isfinite(thing):
            return thing
        codec = self._by_type.get(kind)
        if codec is None:
            codec = next((c for c in self._others if c.fits is not None and c.fits(thing)), None)
        if codec is None:
            raise FileError(
                f"{place} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot "
                "hold"
            )
        return {codec.tag: codec.encode(self, thing, place)}

    def alone(self, thing: object) -> tuple[str, list[bytes]]:
        """Return all that would be written of a thing, whatever else is written."""
        encoder = Encoder(self._codecs)
        text = json.dumps(encoder.encode(thing, ""))
        return text, [array.tobytes() for array in encoder.tensors.values()]

    def row(self, things: Iterable[Any], place: str) -> Any:
        """Return several things as JSON: a list, or where a tensor has it if it is long."""
        things = list(things)
        if len(things) <= MAX_INLINE_ITEMS:
            return [self.encode(thing, f"{place}[{i}]") for i, thing in enumerate(things)]
        self._crowd += 1
        items = [self.encode(thing, f"{place}[{i}]") for i, thing in enumerate(things)]
        self._crowd -= 1
        text = json.dumps(items, allow_nan=False, separators=(",", ":"))
        return {"json": self._text(np.frombuffer(text.encode(), np.uint8), f"{place}[]")}

    def fields(self, things: dict[str, Any], place: str) -> dict[str, Any]:
        """Return things by name as a JSON object."""
        return {name: self.encode(thing, within(place, name)) for name, thing in things.items()}

    def tensor(self, array: np.ndarray, place: str) -> Any:
        """Keep a contiguous array of numbers, equal ones once, and return its name.

        A small one in a long row returns its own bytes, because a header with thousands of names
        would be larger.
        """
        if self._crowd and array.nbytes <= MAX_INLINE_BYTES:
            text = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
            return [array.dtype.name, text]
        array = np.ascontiguousarray(array)
        name = self._known(array)
        return self._kept(array, place) if name is None else name

    def _text(self, data: np.ndarray, place: str) -> Any:
        """Keep the bytes of JSON, equal ones once unless that would be too often for readers."""
        if self._crowd and data.nbytes <= MAX_INLINE_BYTES:
            return self.tensor(data, place)
        name = self._known(data)
        if name is None or self._repeated + data.nbytes + REPEAT_COST > MAX_REPEATED_BYTES:
            return self._kept(data, place)
        self._repeated += data.nbytes + REPEAT_COST
        return name

    def _known(self, array: np.ndarray) -> str | None:
        """Return the name under which an equal array is kept."""
        alike = self._alike.get((array.dtype.name, array.size), ())
        return next((name for name in alike if _identical(self.tensors[name], array)), None)

    def _kept(self, array: np.ndarray, place: str) -> str:
        """Keep an array under a name of its own."""
        while place in self.tensors or place == "__metadata__":
            place += "'"
        self._alike.setdefault((array.dtype.name, array.size), []).append(place)
        self.tensors[place] = array
        return place

    def class_name(self, cls: type) -> str:
        """Return the name of a class in files."""
        if cls not in self._classes:
            self._classes[cls] = name_of_class(cls)
        return self._classes[cls]


class Decoder:
    """Turns JSON and arrays into things again, by the codecs and nothing else.

    `tensors` has ``keys()`` and ``get_tensor(name)``.

    Examples
    --------
    >>> from mercer.files.store import CODECS
    >>> class Nothing(dict):
    ...     get_tensor = dict.__getitem__
    >>> Decoder(CODECS, Nothing()).decode({"tuple": [1, {"slice": [0, 2, None]}]})
    (1, slice(0, 2, None))
    """

    def __init__(self, codecs: Sequence[Codec], tensors: Any) -> None:
        self._codecs = {codec.tag: codec for codec in codecs}
        self._tensors = tensors
        self._names = set(tensors.keys())
        self._classes: dict[str, type] = {}
        self._read: set[str] = set()  # texts of JSON
        self._repeated = 0  # bytes of those that were read again
        self._taken = 0  # bytes since memory was last asked for
        self._promised = 0  # bytes of what is mostly empty, which take memory only when used

    def decode(self, node: Json) -> Any:
        """Return the thing that JSON stands for."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or len(node) != 1:
            raise FileError("the file is damaged or tampered with: it has JSON of no known kind")
        ((tag, inside),) = node.items()
        codec = self._codecs.get(tag)
        if codec is None:
            raise FileError(
                f"the file holds a {tag!r}, which mercer does not know; it was made by another "
                "version, or tampered with"
            )
        try:
            return codec.decode(self, inside)
        except (FileError, MemoryError, RecursionError):
            raise
        except ImportError as error:
            raise FileError(f"the file needs what is not installed: {error}") from error
        except Exception as error:  # of whatever a constructor makes of a file that was changed
            raise FileError(
                f"the file is damaged or tampered with: its {tag!r} cannot be rebuilt: {error}"
            ) from error

    def row(self, node: Json) -> list[Any]:
        """Return several things."""
        if isinstance(node, dict) and set(node) == {"json"}:
            node = parsed(self._text(node["json"]))
        if not isinstance(node, list):
            raise FileError("the file is damaged or tampered with: it lacks a list")
        return [self.decode(item) for item in node]

    def fields(self, node: Json) -> dict[str, Any]:
        """Return things by name."""
        if not isinstance(node, dict):
            raise FileError("the file is damaged or tampered with: it lacks things with names")
        return {name: self.decode(item) for name, item in node.items()}

    def tensor(self, name: Json) -> np.ndarray:
        """Return a kept array of numbers, each time in memory of its own."""
        if isinstance(name, list) and len(name) == 2 and name[0] in DTYPES:
            return np.frombuffer(base64.b64decode(name[1], validate=True), name[0]).copy()
        if not isinstance(name, str) or name not in self._names:
            raise FileError(f"the file is damaged or tampered with: it lacks the tensor {name!r}")
        found = np.require(self._tensors.get_tensor(name), requirements=("A", "W"))
        # One tensor can be named a million times, and is in memory as often.
        self._taken += found.nbytes
        if self._taken > UNCHECKED_BYTES:
            self._taken = 0
            self.afford(UNCHECKED_BYTES)
        if found.dtype == bool:
            return found.view(np.uint8) != 0  # of bytes that were neither 0 nor 1
        return found

    def _text(self, name: Json) -> bytes:
        """Return a text of JSON; one that was read before counts."""
        data = self.tensor(name).tobytes()
        if isinstance(name, str):
            self._repeated += len(data) + REPEAT_COST if name in self._read else 0
            self._read.add(name)
        if self._repeated > MAX_REPEATED_BYTES:
            raise FileError("the file is tampered with: it repeats itself without end")
        return data

    def afford(self, count: int, later: bool = False) -> None:
        """Refuse what is small in a file, but would fill the memory, now or when it is used."""
        task = "what the file holds, mostly empty or repeated,"
        afford(self._promised + count, task, "it may be tampered with")
        self._promised += count if later else 0

    def class_named(self, name: Json, kind: type | tuple[type, ...]) -> Any:
        """Return the class of a name, which must be of a certain kind."""
        if not isinstance(name, str) or name not in self._classes:
            found = class_named(name)
            self._classes[name] = found
        if not issubclass(self._classes[name], kind):
            raise FileError(f"the file is damaged or tampered with: {name!r} is out of place")
        return self._classes[name]


def _identical(left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether two arrays of the same type and size have the same bits."""
    one, two = (array.reshape(-1).view(f"u{array.itemsize}") for array in (left, right))
    size = 1 << 20  # numbers that are compared at once
    return all(
        np.array_equal(one[i : i + size], two[i : i + size]) for i in range(0, one.size, size)
    )


def within(place: str, name: str) -> str:
    """Return where a part of a thing is found."""
    return f"{place}.{name}" if place else name
