"""Codecs of Python's and NumPy's values: containers, numbers, dates, random states, arrays."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains import MISSING, ZERO, to_numpy
from mercer.errors import FileError
from mercer.files.codecs import Codec, Decoder, Encoder, Json
from mercer.files.container import DTYPES

__all__ = ["CODECS", "missing_texts", "texts"]

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
TIMES = {f"{kind}8[{unit}]" for kind in "Mm" for unit in UNITS}
SPARSE_SIZE = 256  # numbers of an array, from which on zeros are left out
ZEROS_RATIO = 3  # if fewer than one number in so many is not zero
SPARSE = {
    cls.__name__: cls
    for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}
NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
SINGLE = {"MISSING": MISSING, "ZERO": ZERO}
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
WORDS = {"MT19937": 624, "Philox": 4}  # random numbers in stock, among which is a place


def _shape(node: Json, size: int) -> tuple[int, ...]:
    """Return a shape of so many entries."""
    shape = tuple(node)
    if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != size:
        raise FileError(f"the file is damaged or tampered with: {node} is no shape of {size}")
    return shape


def _encode_array(encoder: Encoder, array: np.ndarray, place: str) -> Json:
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return _encode_objects(encoder, array, place)
    if array.dtype.kind == "U":
        width = array.dtype.itemsize // 4
        return {"width": width, "texts": texts(encoder, array.ravel().tolist(), place),
                "shape": list(array.shape)}  # fmt: skip
    if array.dtype.kind in "Mm":
        unit = array.dtype.str[1:]
        if unit not in TIMES:
            raise FileError(f"{place} is an array of {array.dtype}, which files cannot hold")
        return {"times": unit, "values": _encode_array(encoder, array.view("i8"), place)}
    if array.dtype.kind == "c":
        pairs = np.stack([array.real, array.imag], axis=-1)
        return {"complex": _encode_array(encoder, pairs, place)}
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.name not in DTYPES:
        raise FileError(f"{place} is an array of {array.dtype}, which files cannot hold")
    if array.dtype.kind == "f" and array.flags.c_contiguous and array.size >= SPARSE_SIZE:
        # Which bits are set, not which numbers are nonzero: -0.0 is to stay what it is.
        bits = array.reshape(-1).view(f"u{array.itemsize}")
        if ZEROS_RATIO * np.count_nonzero(bits) < array.size:
            places = np.flatnonzero(bits)
            return {
                "shape": list(array.shape),
                "places": encoder.tensor(places, f"{place} places"),
                "values": encoder.tensor(array.reshape(-1)[places], place),
            }
    # Sums of products depend on the order of numbers in memory, if only in the last bit.
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    node: dict[str, Any] = {"shape": list(array.shape)}
    node["tensor"] = encoder.tensor(array.T if fortran else array, place)
    return {**node, "order": "F"} if fortran else node


def _decode_array(decoder: Decoder, node: Json) -> np.ndarray:
    if "objects" in node:
        return _decode_objects(decoder, node)
    if "texts" in node:
        found = [text or "" for text in missing_texts(decoder, node["texts"])]
        shape, width = _shape(node["shape"], len(found)), int(node["width"])
        decoder.afford(4 * width * len(found))
        return np.array(found, dtype=f"<U{width}").reshape(shape)
    if "times" in node:
        if node["times"] not in TIMES:
            raise FileError(f"the file is tampered with: {node['times']!r} is no unit of time")
        return _decode_array(decoder, node["values"]).view(node["times"])
    if "complex" in node:
        pairs = _decode_array(decoder, node["complex"])
        return np.ascontiguousarray(pairs).view(f"c{2 * pairs.itemsize}")[..., 0]
    if "places" in node:
        values, places = decoder.tensor(node["values"]), decoder.tensor(node["places"])
        size = math.prod(node["shape"])
        decoder.afford(values.itemsize * size, later=True)
        array = np.zeros(size, dtype=values.dtype)
        array[places] = values
        return array.reshape(_shape(node["shape"], size))
    array = decoder.tensor(node["tensor"]).reshape(-1)
    shape = _shape(node["shape"], array.size)
    return array.reshape(shape[::-1]).T if node.get("order") == "F" else array.reshape(shape)


def _encode_objects(encoder: Encoder, array: np.ndarray, place: str) -> Json:
    things = list(array.ravel())
    node: dict[str, Any] = {"shape": list(array.shape)}
    if things and all(type(thing) is str for thing in things):
        return {**node, "objects": {"texts": texts(encoder, things, place)}}
    return {**node, "objects": encoder.row(things, place)}


def _decode_objects(decoder: Decoder, node: Json) -> np.ndarray:
    inside = node["objects"]
    plain = isinstance(inside, dict) and "texts" in inside
    things = missing_texts(decoder, inside["texts"]) if plain else decoder.row(inside)
    array = np.empty(len(things), dtype=object)
    for i, thing in enumerate(things):  # one by one, because a thing may be an array
        array[i] = thing
    return array.reshape(_shape(node["shape"], len(things)))


def texts(encoder: Encoder, found: list[str | None], place: str) -> Any:
    """Return many texts, of which some may be missing, as the bytes of all and where each ends."""
    parts = [(text or "").encode("utf-8", "surrogatepass") for text in found]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    node = [encoder.tensor(np.frombuffer(b"".join(parts), np.uint8), place),
            encoder.tensor(ends, f"{place} ends")]  # fmt: skip
    gaps = np.array([text is None for text in found], dtype=bool)
    return [*node, encoder.tensor(gaps, f"{place} gaps")] if gaps.any() else node


def missing_texts(decoder: Decoder, node: Json) -> list[Any]:
    """Return texts, None where one is missing."""
    data, ends = decoder.tensor(node[0]).tobytes(), decoder.tensor(node[1]).tolist()
    begins = [0, *ends[:-1]]
    if any(a > b for a, b in zip(begins, ends, strict=True)) or (ends and ends[-1] != len(data)):
        raise FileError("the file is damaged or tampered with: its texts have no order")
    found: list[Any] = [
        data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(begins, ends, strict=True)
    ]
    if len(node) == 3:
        for i in np.flatnonzero(decoder.tensor(node[2])):
            found[i] = None
    return found


def _encode_scalar(encoder: Encoder, scalar: np.generic, place: str) -> Json:
    if isinstance(scalar, np.str_):
        return ["U", str(scalar)]
    if scalar.dtype.kind in "Mm":
        return [scalar.dtype.str[1:], int(scalar.view("i8"))]
    if scalar.dtype.name not in DTYPES:
        raise FileError(f"{place} is a {scalar.dtype}, which a model file cannot hold")
    return [scalar.dtype.name, encoder.encode(scalar.item(), place)]


def _decode_scalar(decoder: Decoder, node: Json) -> Any:
    name, value = node
    if name == "U":
        return np.str_(value)
    if name in TIMES:
        return np.int64(value).view(name)
    if name not in DTYPES:
        raise FileError(f"the file is tampered with: {name!r} is no type of numbers")
    return np.dtype(name).type(decoder.decode(value))


def _encode_sparse(encoder: Encoder, matrix: Any, place: str) -> Json:
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {"class": type(matrix).__name__, "shape": list(matrix.shape),
            **encoder.fields(parts, place)}  # fmt: skip


def _decode_sparse(decoder: Decoder, node: Json) -> Any:
    parts = tuple(decoder.decode(node[name]) for name in ("data", "indices", "indptr"))
    matrix = SPARSE[node["class"]](parts, shape=tuple(node["shape"]))
    matrix.check_format(full_check=True)  # an index outside would be read from foreign memory
    return matrix


def _is_foreign(thing: object) -> bool:
    """Tell an array of another library."""
    return array_api_compat.is_torch_array(thing) or type(thing).__module__.startswith(
        "array_api_strict."
    )


def _encode_foreign(encoder: Encoder, array: Any, place: str) -> Json:
    library = "torch" if array_api_compat.is_torch_array(array) else "array_api_strict"
    return [library, _encode_array(encoder, to_numpy(array), place)]


def _decode_foreign(decoder: Decoder, node: Json) -> Any:
    library, inside = node
    array = _decode_array(decoder, inside)
    if library == "torch":
        import torch

        return torch.from_numpy(array)
    if library == "array_api_strict":
        import array_api_strict

        return array_api_strict.asarray(array)
    raise FileError(f"the file is tampered with: {library!r} is no library of arrays")


def _encode_set(encoder: Encoder, things: set[Any] | frozenset[Any], place: str) -> Json:
    """Write a set in an order that does not change from run to run."""
    kinds = {type(thing) for thing in things}
    if kinds in ({str}, {int}):
        return encoder.row(sorted(things), place)
    return encoder.row(sorted(things, key=encoder.alone), place)


def _encode_dict(encoder: Encoder, things: dict[Any, Any], place: str) -> Json:
    return [encoder.row(things.keys(), f"{place}.keys"), encoder.row(things.values(), place)]


def _decode_dict(decoder: Decoder, node: Json) -> Any:
    keys, values = node
    return dict(zip(decoder.row(keys), decoder.row(values), strict=True))


def _encode_float(encoder: Encoder, number: float, place: str) -> str:
    return repr(number)


def _encode_slice(encoder: Encoder, thing: slice, place: str) -> Json:
    return encoder.row([thing.start, thing.stop, thing.step], place)


def _encode_single(encoder: Encoder, thing: object, place: str) -> str:
    return next(name for name, known in SINGLE.items() if known is thing)


def _encode_random_state(encoder: Encoder, thing: np.random.RandomState, place: str) -> Json:
    return encoder.row(thing.get_state(legacy=True), place)


def _decode_random_state(decoder: Decoder, node: Json) -> np.random.RandomState:
    found = tuple(decoder.row(node))
    _check_place("MT19937", found[2])
    state = np.random.RandomState()
    state.set_state(found)
    return state


def _encode_generator(encoder: Encoder, thing: np.random.Generator, place: str) -> Json:
    if type(thing.bit_generator).__name__ not in GENERATORS:
        raise FileError(f"{place} has a bit generator that is not one of NumPy's")
    return encoder.encode(thing.bit_generator.state, place)


def _decode_generator(decoder: Decoder, node: Json) -> np.random.Generator:
    state = decoder.decode(node)
    name = state["bit_generator"]
    made = {known: getattr(np.random, known) for known in GENERATORS}[name]()
    if name in WORDS:
        _check_place(name, state["buffer_pos"] if name == "Philox" else state["state"]["pos"])
    made.state = state
    return np.random.Generator(made)


def _check_place(name: str, place: object) -> None:
    """Refuse a place outside of the stock, from which NumPy would read foreign memory."""
    if type(place) is not int or not 0 <= place <= WORDS[name]:
        raise FileError(f"the file is tampered with: {place!r} is no place in a random state")


CODECS = (
    Codec("tuple", Encoder.row, lambda decoder, node: tuple(decoder.row(node)), (tuple,)),
    Codec("list", Encoder.row, Decoder.row, (list,)),
    Codec("dict", _encode_dict, _decode_dict, (dict,)),
    Codec("set", _encode_set, lambda decoder, node: set(decoder.row(node)), (set,)),
    Codec("frozenset", _encode_set, lambda decoder, node: frozenset(decoder.row(node)),
          (frozenset,)),
    Codec("slice", _encode_slice, lambda decoder, node: slice(*decoder.row(node)), (slice,)),
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
    Codec("array", _encode_array, _decode_array, (np.ndarray, np.memmap)),
    Codec("scalar", _encode_scalar, _decode_scalar, fits=lambda x: isinstance(x, np.generic)),
    Codec("sparse", _encode_sparse, _decode_sparse, tuple(SPARSE.values())),
    Codec("foreign array", _encode_foreign, _decode_foreign, fits=_is_foreign),
)  # fmt: skip
