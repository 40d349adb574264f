"""One Python file with NumPy only: the formula as code that anyone can read, and nothing else."""

from __future__ import annotations

import base64

import numpy as np

from mercer.exports.formula import ArrayFormula, Step
from mercer.exports.written_model import WrittenModel
from mercer.sources.entries import MISSING

__all__ = ["python_file"]

INLINE = 8  # numbers that are written as digits; more are written as bytes
TEMPLATES = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    "product": "{0} @ {1}",
    "power": "{0} ** {1}",
    "greater": "{0} > {1}",
    "greater or equal": "{0} >= {1}",
    "equal": "{0} == {1}",
    "maximum": "np.maximum({0}, {1})",
    "minimum": "np.minimum({0}, {1})",
    "exponential": "np.exp({0})",
    "root": "np.sqrt({0})",
    "absolute": "np.abs({0})",
    "hyperbolic tangent": "np.tanh({0})",
    "missing": "np.isnan({0})",
    "number": "{0}.astype(float)",
    "where": "np.where({0}, {1}, {2})",
    "sum": "np.sum({0}, axis=1, keepdims=True)",
    "largest": "np.max({0}, axis=1, keepdims=True)",
    "first largest": "np.argmax({0}, axis=1)[:, None].astype(float)",
}
HEAD = '''\
"""A model as one file: predict(rows), scores(rows), and python FILE new.csv. It needs NumPy only.

Rows are a list of dicts, or a dict of columns; a model of plain arrays takes an array. None, an
empty text and words such as NA stand for what is missing. Numbers have a point, no comma. Where
the answer is no number, because of a gap for example, there is a ValueError.
"""

import base64
import csv
import sys

import numpy as np


def _array(shape, text):
    return np.frombuffer(base64.b64decode(text), "<f8").reshape(shape)


'''
BODY = '''

def _entries(rows, name):
    if isinstance(rows, dict):
        return list(rows[name])
    return [row[name] for row in rows]


def _gap(entry, signs=False):
    if entry is None or entry != entry:
        return True
    text = str(entry).strip()
    return text in MISSING and not (signs and text == "-")


def _matrix(rows, width):
    found = np.asarray(rows, dtype=float)
    if found.ndim != 2 or found.shape[1] != width:
        raise ValueError(f"expected rows of {width} numbers, found shape {found.shape}")
    return found


def _numbers(rows, name):
    found = [np.nan if _gap(entry) else float(entry) for entry in _entries(rows, name)]
    return np.array(found, dtype=float)[:, None]


def _texts(rows, name, signs):
    found = []
    for entry in _entries(rows, name):
        whole = isinstance(entry, float) and entry.is_integer() and abs(entry) < 2**53
        text = str(int(entry) if whole else entry).strip()
        found.append(None if _gap(entry, signs) else text)
    return found


def _codes(texts, known, other, gap):
    found = [gap if text is None else known.get(text, other) for text in texts]
    return np.array(found, dtype=float)[:, None]


def _rows(codes, table):
    return table[codes[:, 0].astype(int)]


def _finite(found):
    bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(bad):
        raise ValueError(f"row {bad[0]} has no answer: is an entry missing, or without bounds?")
    return found


def predict(rows):
    """Return the prediction for each row."""
    return _answer(rows)[1]


def scores(rows):
    """Return the scores behind the predictions."""
    return _answer(rows)[0]

'''
CHANCES = '''

def probabilities(rows):
    """Return the probability of each of CLASSES, for each row."""
    return _answer(rows)[2]
'''
MAIN = """

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python FILE new.csv")
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
        table = list(csv.DictReader(file))
    data = table if NAMES else np.array([[float(x) for x in row.values()] for row in table])
    print("\\n".join(["prediction", *map(str, predict(data).tolist())]))
"""


def python_file(model: WrittenModel) -> str:
    """Return the text of the file.

    Examples
    --------
    >>> import mercer
    >>> from mercer.exports import write_model
    >>> from mercer.studies import SavedModel
    >>> machine = mercer.KernelRidge("linear", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
    >>> "import numpy as np" in python_file(write_model(SavedModel(machine)))
    True
    """
    formula = model.formula
    names = [one.name for one in formula.inputs if one.kind != "rows"]
    classes = None if model.classes is None else model.classes.tolist()
    constants = [
        f"ABOUT = {model.about!r}",
        f"NAMES = {names!r}",
        f"CLASSES = {classes!r}",
        f"MISSING = {sorted(MISSING)!r}",
    ]
    lines, chances = ["def _answer(rows):"], ""
    for place, step in enumerate(formula.steps):
        lines.append(f"    v{place} = {_written(formula, step, place, constants)}")
    scores = f"v{formula.outputs['scores']}"
    lines.append(f"    _finite({scores})")
    flat = f"{scores}[:, 0] if {scores}.shape[1] == 1 else {scores}"
    if "code" in formula.outputs:
        code = f"v{formula.outputs['code']}[:, 0].astype(int)"
        more = ""
        if "probabilities" in formula.outputs:
            more = f", v{formula.outputs['probabilities']}"
            chances = CHANCES
        lines.append(f"    return {flat}, np.array(CLASSES)[{code}]{more}")
    else:
        lines.append(f"    found = {flat}")
        lines.append("    return found, found")
    return (
        HEAD + "\n".join(constants) + "\n" + BODY + "\n" + "\n".join(lines) + "\n" + chances + MAIN
    )


def _written(formula: ArrayFormula, step: Step, place: int, constants: list[str]) -> str:
    """Return the code of one step; what it holds becomes a constant above."""
    names = [f"v{i}" for i in step.inputs]
    if step.operation == "input":
        given = formula.inputs[step.value]
        if given.kind == "rows":
            return f"_matrix(rows, {int(given.width)})"
        if given.kind == "numeric":
            return f"_numbers(rows, {given.name!r})"
        return f"_texts(rows, {given.name!r}, {given.signs!r})"
    if step.operation == "constant":
        return _constant(step.value, f"C{place}", constants)
    if step.operation == "concatenate":
        return f"np.concatenate([{', '.join(names)}], axis=1)"
    if step.operation == "column":
        return f"{names[0]}[:, {step.value}:{step.value + 1}]"
    if step.operation == "rows":
        return f"_rows({names[0]}, {_constant(step.value, f'T{place}', constants)})"
    if step.operation == "codes":
        known, other, gap = step.value
        constants.append(f"L{place} = {known!r}")
        return f"_codes({names[0]}, L{place}, {other}, {gap})"
    return TEMPLATES[step.operation].format(*names)


def _constant(value: object, name: str, constants: list[str]) -> str:
    array = np.ascontiguousarray(value, dtype="<f8")
    if array.ndim == 0:
        return repr(float(array)) if np.isfinite(array) else f"float({str(float(array))!r})"
    if array.size <= INLINE and np.isfinite(array).all():
        return f"np.array({array.tolist()!r}).reshape({array.shape!r})"
    text = base64.b64encode(array.tobytes()).decode()
    constants.append(f"{name} = _array({array.shape!r}, {text!r})")
    return name
