"""Codecs of arrays: dense ones, mostly empty ones, texts, objects, sparse matrices, scalars."""

from __future__ import annotations

import math
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from mercer.domains import to_numpy
from mercer.errors import FileError
from mercer.files.codecs import Codec, Reader, Writer
from mercer.files.container import DTYPES

__all__ = ["CODECS", "missing_texts", "texts"]

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
TIMES = {f"{kind}8[{unit}]" for kind in "Mm" for unit in UNITS}
SCATTERED = 256  # numbers of an array, from which on zeros are left out
SHARE = 3  # ... if less than one in so many is not zero
SPARSE = {
    cls.__name__: cls
    for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}


def _shape(node: Any, size: int) -> tuple[int, ...]:
    """Return a shape of so many entries."""
    shape = tuple(node)
    if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != size:
        raise FileError(f"the file is damaged or tampered with: {node} is no shape of {size}")
    return shape


def _encode_array(writer: Writer, array: np.ndarray, place: str) -> Any:
    array = np.asarray(array)
    if array.dtype.kind == "O":
        return _encode_objects(writer, array, place)
    if array.dtype.kind == "U":
        width = array.dtype.itemsize // 4
        return {"width": width, "texts": texts(writer, array.ravel().tolist(), place),
                "shape": list(array.shape)}  # fmt: skip
    if array.dtype.kind in "Mm":
        unit = array.dtype.str[1:]
        if unit not in TIMES:
            raise FileError(f"{place} is an array of {array.dtype}, which files cannot hold")
        return {"times": unit, "values": _encode_array(writer, array.view("i8"), place)}
    if array.dtype.kind == "c":
        pairs = np.stack([array.real, array.imag], axis=-1)
        return {"complex": _encode_array(writer, pairs, place)}
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.name not in DTYPES:
        raise FileError(f"{place} is an array of {array.dtype}, which files cannot hold")
    if array.dtype.kind == "f" and array.flags.c_contiguous and array.size >= SCATTERED:
        # Which bits are set, not which numbers are nonzero: -0.0 is to stay what it is.
        bits = array.reshape(-1).view(f"u{array.itemsize}")
        if SHARE * np.count_nonzero(bits) < array.size:
            places = np.flatnonzero(bits)
            return {
                "shape": list(array.shape),
                "places": writer.tensor(places, f"{place} places"),
                "values": writer.tensor(array.reshape(-1)[places], place),
            }
    # Sums of products depend on the order of numbers in memory, if only in the last bit.
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    node: dict[str, Any] = {"shape": list(array.shape)}
    node["tensor"] = writer.tensor(array.T if fortran else array, place)
    return {**node, "order": "F"} if fortran else node


def _decode_array(reader: Reader, node: Any) -> np.ndarray:
    if "objects" in node:
        return _decode_objects(reader, node)
    if "texts" in node:
        found = [text or "" for text in missing_texts(reader, node["texts"])]
        shape, width = _shape(node["shape"], len(found)), int(node["width"])
        reader.afford(4 * width * len(found))
        return np.array(found, dtype=f"<U{width}").reshape(shape)
    if "times" in node:
        if node["times"] not in TIMES:
            raise FileError(f"the file is tampered with: {node['times']!r} is no unit of time")
        return _decode_array(reader, node["values"]).view(node["times"])
    if "complex" in node:
        pairs = _decode_array(reader, node["complex"])
        return np.ascontiguousarray(pairs).view(f"c{2 * pairs.itemsize}")[..., 0]
    if "places" in node:
        values, places = reader.tensor(node["values"]), reader.tensor(node["places"])
        size = math.prod(node["shape"])
        reader.afford(values.itemsize * size, later=True)
        array = np.zeros(size, dtype=values.dtype)
        array[places] = values
        return array.reshape(_shape(node["shape"], size))
    array = reader.tensor(node["tensor"]).reshape(-1)
    shape = _shape(node["shape"], array.size)
    return array.reshape(shape[::-1]).T if node.get("order") == "F" else array.reshape(shape)


def _encode_objects(writer: Writer, array: np.ndarray, place: str) -> Any:
    things = list(array.ravel())
    node: dict[str, Any] = {"shape": list(array.shape)}
    if things and all(type(thing) is str for thing in things):
        return {**node, "objects": {"texts": texts(writer, things, place)}}
    return {**node, "objects": writer.row(things, place)}


def _decode_objects(reader: Reader, node: Any) -> np.ndarray:
    inside = node["objects"]
    plain = isinstance(inside, dict) and "texts" in inside
    things = missing_texts(reader, inside["texts"]) if plain else reader.row(inside)
    array = np.empty(len(things), dtype=object)
    for i, thing in enumerate(things):  # one by one, because a thing may be an array
        array[i] = thing
    return array.reshape(_shape(node["shape"], len(things)))


def texts(writer: Writer, found: list[str | None], place: str) -> Any:
    """Return many texts, of which some may be missing, as the bytes of all and where each ends."""
    parts = [(text or "").encode("utf-8", "surrogatepass") for text in found]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    node = [writer.tensor(np.frombuffer(b"".join(parts), np.uint8), place),
            writer.tensor(ends, f"{place} ends")]  # fmt: skip
    gaps = np.array([text is None for text in found], dtype=bool)
    return [*node, writer.tensor(gaps, f"{place} gaps")] if gaps.any() else node


def missing_texts(reader: Reader, node: Any) -> list[Any]:
    """Return texts, None where one is missing."""
    data, ends = reader.tensor(node[0]).tobytes(), reader.tensor(node[1]).tolist()
    begins = [0, *ends[:-1]]
    if any(a > b for a, b in zip(begins, ends, strict=True)) or (ends and ends[-1] != len(data)):
        raise FileError("the file is damaged or tampered with: its texts have no order")
    found: list[Any] = [
        data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(begins, ends, strict=True)
    ]
    if len(node) == 3:
        for i in np.flatnonzero(reader.tensor(node[2])):
            found[i] = None
    return found


def _encode_scalar(writer: Writer, scalar: Any, place: str) -> Any:
    if isinstance(scalar, np.str_):
        return ["U", str(scalar)]
    if scalar.dtype.kind in "Mm":
        return [scalar.dtype.str[1:], int(scalar.view("i8"))]
    if scalar.dtype.name not in DTYPES:
        raise FileError(f"{place} is a {scalar.dtype}, which a model file cannot hold")
    return [scalar.dtype.name, writer.encode(scalar.item(), place)]


def _decode_scalar(reader: Reader, node: Any) -> Any:
    name, value = node
    if name == "U":
        return np.str_(value)
    if name in TIMES:
        return np.int64(value).view(name)
    if name not in DTYPES:
        raise FileError(f"the file is tampered with: {name!r} is no type of numbers")
    return np.dtype(name).type(reader.decode(value))


def _encode_sparse(writer: Writer, matrix: Any, place: str) -> Any:
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {"class": type(matrix).__name__, "shape": list(matrix.shape),
            **writer.fields(parts, place)}  # fmt: skip


def _decode_sparse(reader: Reader, node: Any) -> Any:
    parts = tuple(reader.decode(node[name]) for name in ("data", "indices", "indptr"))
    matrix = SPARSE[node["class"]](parts, shape=tuple(node["shape"]))
    matrix.check_format(full_check=True)  # an index outside would be read from foreign memory
    return matrix


def _is_foreign(thing: Any) -> bool:
    """Tell an array of another library."""
    return array_api_compat.is_torch_array(thing) or type(thing).__module__.startswith(
        "array_api_strict."
    )


def _encode_foreign(writer: Writer, array: Any, place: str) -> Any:
    library = "torch" if array_api_compat.is_torch_array(array) else "array_api_strict"
    return [library, _encode_array(writer, to_numpy(array), place)]


def _decode_foreign(reader: Reader, node: Any) -> Any:
    library, inside = node
    array = _decode_array(reader, inside)
    if library == "torch":
        import torch

        return torch.from_numpy(array)
    if library == "array_api_strict":
        import array_api_strict

        return array_api_strict.asarray(array)
    raise FileError(f"the file is tampered with: {library!r} is no library of arrays")


CODECS = (
    Codec("array", _encode_array, _decode_array, (np.ndarray, np.memmap)),
    Codec("scalar", _encode_scalar, _decode_scalar, fits=lambda x: isinstance(x, np.generic)),
    Codec("sparse", _encode_sparse, _decode_sparse, tuple(SPARSE.values())),
    Codec("foreign array", _encode_foreign, _decode_foreign, fits=_is_foreign),
)
