"""Requests: JSON that is checked against what the model reads, before any row is predicted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mercer.files.container import parsed
from mercer.serving.limits import Limits
from mercer.sources import Column

__all__ = ["Asked", "Refused", "admit_explanation", "admit_rows", "parse_body", "row_schema"]

LARGEST = 1e100  # of numbers, whose squares and sums must stay finite
# ISO 8601 without a zone: a day, or a moment. Python and JSON Schema read the pattern alike.
MONTHS = (
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    "|02-(0[1-9]|1[0-9]|2[0-8]))"
)
TIME = "T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,6})?)?"
FOURTH = "(0[48]|[2468][048]|[13579][26])"  # two digits that 4 divides, but for 00
LEAP = f"([0-9]{{2}}{FOURTH}|(00|{FOURTH})00)"
DATE = f"([0-9]{{4}}-{MONTHS}|{LEAP}-02-29)({TIME})?"
IS_DATE = re.compile(DATE)
MAX_COUNT = 100  # known rows and features in one explanation


class Refused(Exception):
    """A request that is refused, with its status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


@dataclass(frozen=True, eq=False)
class Asked:
    """Rows that were asked for, each a dict of the columns that the model reads."""

    rows: Sequence[Mapping[str, Any]]
    probabilities: bool = False


def row_schema(columns: Sequence[Column], letters: int) -> dict[str, Any]:
    """Return the JSON Schema of a row.

    Examples
    --------
    >>> row_schema([Column("size", "numeric", "")], 100)["required"]
    ['size']
    """
    return {
        "type": "object",
        "description": "An entry for each column, null where it is not known; others are ignored.",
        "properties": {column.name: _entry_schema(column.kind, letters) for column in columns},
        "required": [column.name for column in columns],
    }


def _entry_schema(kind: str, letters: int) -> dict[str, Any]:
    if kind == "numeric":
        return {"type": ["number", "null"], "minimum": -LARGEST, "maximum": LARGEST}
    if kind == "date":
        return {
            "type": ["string", "null"],
            "pattern": f"^({DATE})$",
            "description": "A day or a moment, such as 2024-02-28 or 2024-02-28T12:30.",
        }
    text: dict[str, Any] = {"type": ["string", "null"], "maxLength": letters}
    return text | {"description": f"A text that is read as {kind}."}


def parse_body(body: bytes) -> Any:
    """Return what a body says, refusing what is no JSON."""
    try:
        return parsed(body)
    except RecursionError:
        raise Refused(400, "the body is nested too deeply") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None


def admit_rows(
    found: object, columns: Sequence[Column], limits: Limits, classes: bool = True
) -> Asked:
    """Return the rows of a request to predict.

    Examples
    --------
    >>> admit_rows({"rows": [{"size": 1.5}]}, [Column("size", "numeric", "")], Limits()).rows
    [{'size': 1.5}]
    """
    fields = _fields(found, ("rows", "probabilities"))
    rows, sure = fields.get("rows"), fields.get("probabilities", False)
    if not isinstance(rows, list) or not rows:
        raise Refused(422, "rows must be a list of at least one row")
    if len(rows) > limits.rows:
        raise Refused(422, f"{len(rows)} rows are too many at once; send at most {limits.rows}")
    if not isinstance(sure, bool):
        raise Refused(422, "probabilities must be true or false")
    if sure and not classes:
        raise Refused(422, "there are no probabilities, because the model gives none")
    letters = limits.letters
    return Asked([_row(row, f"row {i}", columns, letters) for i, row in enumerate(rows)], sure)


def admit_explanation(
    found: object, columns: Sequence[Column], limits: Limits
) -> tuple[Asked, int]:
    """Return the row of a request to explain, and how many known rows and features it wants."""
    fields = _fields(found, ("row", "count"))
    count = fields.get("count", 5)
    if isinstance(count, float) and count.is_integer():  # 5.0 is a whole number in JSON Schema
        count = int(count)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_COUNT:
        raise Refused(422, f"count must be a whole number from 1 to {MAX_COUNT}")
    return Asked([_row(fields.get("row"), "row", columns, limits.letters)]), count


def _fields(found: object, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise Refused(422, f"the body must be an object with {' and '.join(map(repr, known))}")
    for name in found:
        if name not in known:
            raise Refused(
                422, f"the body has {name[:80]!r}, but only {', '.join(known)} are known"
            )
    return found


def _row(row: object, where: str, columns: Sequence[Column], letters: int) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise Refused(422, f"{where} must be an object with an entry for each column")
    for column in columns:
        name = column.name
        if name not in row:
            raise Refused(422, f"{where} has no column {name!r}; write null where it is not known")
        entry = row[name]
        if entry is not None:
            wrong = _problem(entry, column.kind, letters)
            if wrong:
                raise Refused(422, f"{where}: column {name!r} must be {wrong}")
    return row


def _problem(entry: object, kind: str, letters: int) -> str:
    """Return what an entry should be, nothing if it is."""
    if kind == "numeric":
        right = isinstance(entry, int | float) and not isinstance(entry, bool)
        if not right or not abs(entry) <= LARGEST or math.isnan(entry):  # type: ignore[arg-type]
            return f"a number between -{LARGEST:g} and {LARGEST:g}, or null"
        return ""
    if not isinstance(entry, str):
        return "a text, or null"
    if kind == "date":
        return "" if IS_DATE.fullmatch(entry) else "a date such as 2024-02-28, or null"
    if len(entry) > letters:
        return f"a text of at most {letters} letters"
    if not entry.isascii():
        try:
            entry.encode()
        except UnicodeEncodeError:
            return "a text of whole letters"
    return ""
