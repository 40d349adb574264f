"""Codecs of pandas: tables, and the single values that are found in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.domains import is_frame
from mercer.errors import FileError
from mercer.files.codecs import Codec, Decoder, Encoder, Json
from mercer.files.value_codecs import missing_texts, texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CODECS", "Trimmed"]

MASKED = ("boolean", "Float32", "Float64",
          "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")  # fmt: skip
UNITS = ("s", "ms", "us", "ns")


class Trimmed:
    """A table of which only some columns are kept; the others come back empty."""

    def __init__(self, frame: object, kept: frozenset[int]) -> None:
        self.frame = frame
        self.kept = kept


def _encode_frame(encoder: Encoder, frame: pd.DataFrame, place: str) -> Json:
    if isinstance(frame, Trimmed):
        frame, kept = frame.frame, frame.kept
    else:
        kept = frozenset(range(frame.shape[1]))
    names = [frame.columns[j] for j in range(frame.shape[1])]
    columns = [
        _encode_column(encoder, frame.iloc[:, j], f"{place}[{name!r}]") if j in kept else None
        for j, name in enumerate(names)
    ]
    return {
        "rows": len(frame),
        "names": encoder.row(names, f"{place}.columns"),
        "columns": columns,
    }


def _decode_frame(decoder: Decoder, node: Json) -> Any:
    import pandas as pd

    rows, names = node["rows"], decoder.row(node["names"])
    if type(rows) is not int or rows < 0:
        raise FileError(f"the file is tampered with: a table has {rows!r} rows")
    decoder.afford(8 * rows * sum(column is None for column in node["columns"]))
    made: dict[int, Any] = {}
    for j, column in enumerate(node["columns"]):
        empty = column is None
        values = np.full(rows, None, dtype=object) if empty else _decode_column(decoder, column)
        if len(values) != rows:
            raise FileError("the file is damaged or tampered with: a column has another length")
        made[j] = values
    frame = pd.DataFrame(made, index=pd.RangeIndex(rows))
    frame.columns = pd.Index(names, dtype=None if len(names) else object)
    return frame


def _encode_column(encoder: Encoder, column: pd.Series, place: str) -> Json:
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return {"array": encoder.encode(column.to_numpy(), place)}
    if isinstance(dtype, pd.StringDtype):
        values = [None if gap else str(value) for value, gap in zip(column, column.isna(),
                                                                    strict=True)]  # fmt: skip
        return {"texts": texts(encoder, values, place), "nan": dtype.na_value is not pd.NA}
    if isinstance(dtype, pd.CategoricalDtype):
        codes = np.asarray(column.cat.codes)
        return {"codes": encoder.encode(codes, place), "ordered": bool(dtype.ordered),
                "categories": _encode_column(encoder, pd.Series(dtype.categories),
                                             f"{place}.categories")}  # fmt: skip
    if dtype.name in MASKED:
        gaps = column.isna().to_numpy()
        values = column.to_numpy(dtype=dtype.numpy_dtype, na_value=0)
        return {"masked": dtype.name, "values": encoder.encode(values, place),
                "gaps": encoder.encode(gaps, f"{place} gaps")}  # fmt: skip
    if isinstance(dtype, pd.DatetimeTZDtype) and str(dtype.tz) in _zones():
        values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return {"times": encoder.encode(values, place), "zone": str(dtype.tz)}
    raise FileError(
        f"{place} is a column of type {dtype}, which a model file cannot hold; convert it with "
        ".astype(...), or leave it out"
    )


def _decode_column(decoder: Decoder, node: Json) -> Any:
    import pandas as pd

    if "array" in node:
        return decoder.decode(node["array"])
    if "texts" in node:
        dtype = pd.StringDtype(na_value=np.nan if node["nan"] else pd.NA)
        return pd.array(missing_texts(decoder, node["texts"]), dtype=dtype)
    if "codes" in node:
        categories = pd.Index(_decode_column(decoder, node["categories"]))
        return pd.Categorical.from_codes(
            decoder.decode(node["codes"]), categories, ordered=bool(node["ordered"])
        )
    if "masked" in node:
        if node["masked"] not in MASKED:
            raise FileError(f"the file is tampered with: {node['masked']!r} is no type of numbers")
        found = pd.array(decoder.decode(node["values"]), dtype=node["masked"])
        found[decoder.decode(node["gaps"]).astype(bool)] = pd.NA
        return found
    if node["zone"] not in _zones():
        raise FileError(f"the file names a time zone {node['zone']!r} that is not known here")
    return (
        pd.Series(decoder.decode(node["times"])).dt.tz_localize("UTC").dt.tz_convert(node["zone"])
    )


def _zones() -> set[str]:
    import zoneinfo

    return {"UTC", *zoneinfo.available_timezones()}


def _named(*names: str) -> Any:
    """Return a test for values of pandas, which need not be imported for it."""
    return lambda x: type(x).__name__ in names and type(x).__module__.startswith("pandas")


def _decode_missing(decoder: Decoder, node: Json) -> Any:
    import pandas as pd

    return {"NAType": pd.NA, "NaTType": pd.NaT}[node]


def _decode_timestamp(decoder: Decoder, node: Json) -> Any:
    import pandas as pd

    text, unit = node
    if unit not in UNITS:
        raise FileError(f"the file is tampered with: {unit!r} is no unit of time")
    return pd.Timestamp(text).as_unit(unit)


def _decode_timedelta(decoder: Decoder, node: Json) -> Any:
    import pandas as pd

    value, unit = node
    if unit not in UNITS:
        raise FileError(f"the file is tampered with: {unit!r} is no unit of time")
    return pd.Timedelta(np.timedelta64(value, unit)).as_unit(unit)


CODECS = (
    Codec("table", _encode_frame, _decode_frame, (Trimmed,), fits=is_frame),
    Codec("missing", lambda _, x, __: type(x).__name__, _decode_missing,
          fits=_named("NAType", "NaTType")),
    Codec("timestamp", lambda _, x, __: [x.isoformat(), x.unit], _decode_timestamp,
          fits=_named("Timestamp")),
    Codec("timedelta", lambda _, x, __: [int(x.to_timedelta64().astype("i8")), x.unit],
          _decode_timedelta, fits=_named("Timedelta")),
)  # fmt: skip
