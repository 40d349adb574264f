"""Codecs of Python's own things: containers, odd numbers, dates, and random states."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from typing import Any

import numpy as np

from mercer.domains import MISSING, ZERO
from mercer.errors import FileError
from mercer.files.codecs import Codec, Reader, Writer

__all__ = ["CODECS"]

NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
SINGLE = {"MISSING": MISSING, "ZERO": ZERO}
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
WORDS = {"MT19937": 624, "Philox": 4}  # random numbers in stock, among which is a place


def _encode_set(writer: Writer, things: Any, place: str) -> Any:
    """Write a set in an order that does not change from run to run."""
    kinds = {type(thing) for thing in things}
    if kinds in ({str}, {int}):
        return writer.row(sorted(things), place)
    return writer.row(sorted(things, key=writer.alone), place)


def _encode_dict(writer: Writer, things: Any, place: str) -> Any:
    return [writer.row(things.keys(), f"{place}.keys"), writer.row(things.values(), place)]


def _decode_dict(reader: Reader, node: Any) -> Any:
    keys, values = node
    return dict(zip(reader.row(keys), reader.row(values), strict=True))


def _encode_float(writer: Writer, number: Any, place: str) -> str:
    return repr(number)


def _encode_slice(writer: Writer, thing: Any, place: str) -> Any:
    return writer.row([thing.start, thing.stop, thing.step], place)


def _encode_single(writer: Writer, thing: Any, place: str) -> str:
    return next(name for name, known in SINGLE.items() if known is thing)


def _encode_random_state(writer: Writer, thing: Any, place: str) -> Any:
    return writer.row(thing.get_state(legacy=True), place)


def _decode_random_state(reader: Reader, node: Any) -> np.random.RandomState:
    found = tuple(reader.row(node))
    _check_place("MT19937", found[2])
    state = np.random.RandomState()
    state.set_state(found)
    return state


def _encode_generator(writer: Writer, thing: Any, place: str) -> Any:
    if type(thing.bit_generator).__name__ not in GENERATORS:
        raise FileError(f"{place} has a bit generator that is not one of NumPy's")
    return writer.encode(thing.bit_generator.state, place)


def _decode_generator(reader: Reader, node: Any) -> np.random.Generator:
    state = reader.decode(node)
    name = state["bit_generator"]
    made = {known: getattr(np.random, known) for known in GENERATORS}[name]()
    if name in WORDS:
        _check_place(name, state["buffer_pos"] if name == "Philox" else state["state"]["pos"])
    made.state = state
    return np.random.Generator(made)


def _check_place(name: str, place: Any) -> None:
    """Refuse a place outside of the stock, from which NumPy would read foreign memory."""
    if type(place) is not int or not 0 <= place <= WORDS[name]:
        raise FileError(f"the file is tampered with: {place!r} is no place in a random state")


CODECS = (
    Codec("tuple", Writer.row, lambda reader, node: tuple(reader.row(node)), (tuple,)),
    Codec("list", Writer.row, Reader.row, (list,)),
    Codec("dict", _encode_dict, _decode_dict, (dict,)),
    Codec("set", _encode_set, lambda reader, node: set(reader.row(node)), (set,)),
    Codec("frozenset", _encode_set, lambda reader, node: frozenset(reader.row(node)),
          (frozenset,)),
    Codec("slice", _encode_slice, lambda reader, node: slice(*reader.row(node)), (slice,)),
    Codec("float", _encode_float, lambda _, node: NUMBERS[node], (float,)),
    Codec("complex", lambda _, z, __: [repr(z.real), repr(z.imag)],
          lambda _, node: complex(float(node[0]), float(node[1])), (complex,)),
    Codec("bytes", lambda _, data, __: base64.b64encode(data).decode(),
          lambda _, node: base64.b64decode(node, validate=True), (bytes,)),
    Codec("decimal", lambda _, x, __: str(x), lambda _, node: decimal.Decimal(node),
          (decimal.Decimal,)),
    Codec("date", lambda _, x, __: x.isoformat(),
          lambda _, node: datetime.date.fromisoformat(node), (datetime.date,)),
    Codec("datetime", lambda _, x, __: x.isoformat(),
          lambda _, node: datetime.datetime.fromisoformat(node), (datetime.datetime,)),
    Codec("single", _encode_single, lambda _, node: SINGLE[node], (type(MISSING), type(ZERO))),
    Codec("random state", _encode_random_state, _decode_random_state, (np.random.RandomState,)),
    Codec("random generator", _encode_generator, _decode_generator, (np.random.Generator,)),
)  # fmt: skip
