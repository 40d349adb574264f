"""Words: numbers, names and machines as a reader wants to see them."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mercer.explanations.terms import unwrap

if TYPE_CHECKING:
    from mercer.sources import Sheet
    from mercer.studies import Attempt, Study

__all__ = [
    "MACHINES", "MAX_CLASSES", "amount", "approximate", "chosen_name", "clean", "count",
    "error_text", "error_with_se", "fate", "formula", "held_out_parts", "judges_all", "listed",
    "noun", "number_with_se", "of_many", "percent", "percent_with_se", "plural", "shorten",
    "types_example",
]  # fmt: skip

MAX_CLASSES = 12  # that pictures show

# What each kind of machine does, in one line.
MACHINES = {
    "PrototypeClassifier": "compares with the average of each class",
    "ExemplarClassifier": "compares with every known item, and adds up",
    "ExemplarRegressor": "averages the known items, the similar ones most",
    "KernelRidge": "fits a smooth function of the similarities",
    "KernelRidgeClassifier": "fits a smooth score for each class",
    "KernelLogistic": "fits smooth odds for each class",
    "KernelDiscriminant": "looks along the directions that part the classes",
    "KernelNeighbors": "asks the most similar known items",
    "GaussianProcess": "fits a smooth function, and says how sure it is",
    "SVC": "draws the border with the widest margin between classes",
    "NuSVC": "draws the border with the widest margin between classes",
    "LPSVC": "draws a border from few known items",
    "SVR": "fits a function that ignores small deviations",
    "LearnedMetric": "finds out how much each column matters to a smooth function",
    "Constant": "always gives the same answer, whatever the item",
    "Perceptron": "corrects itself at each mistake",
    "RBFNetwork": "fits a function around a few centers",
    "RBFNetworkClassifier": "fits a score around a few centers",
}
# What else the entries of a column might have been.
OTHERS = {"numeric": "categorical", "categorical": "text", "text": "categorical",
          "sequence": "text", "smiles": "text", "date": "categorical"}  # fmt: skip
VALUE = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|-?\d[\w.+-]*+)"""
LIST = re.compile(rf"({VALUE}, {VALUE}, {VALUE})((?:, {VALUE}){{9,}}+)")
# Not printable, but breaks of lines, and joiners that Indic scripts and emoji need.
KEPT = "\n\t\u200c\u200d"


def clean(value: object) -> object:
    """Return a text without characters that a browser cannot or should not show.

    Control characters, halves of characters, and those that turn the direction of writing around
    are replaced; everything that is no text stays as it is.

    Examples
    --------
    >>> clean("a\\x00b\\u202ec"), clean(3)
    ('a�b�c', 3)
    """
    if type(value) is not str or value.isprintable():  # markup is a str too, and is ours
        return value
    return "".join(c if c.isprintable() or c in KEPT else _substitute(c) for c in value)


def _substitute(character: str) -> str:
    return " " if character.isspace() else "\ufffd"


def shorten(text: object, longest: int = 60) -> str:
    """Return the beginning of a text that is too long.

    Examples
    --------
    >>> shorten("abcdefgh", 5)
    'abcd…'
    """
    found = str(text)
    return found if len(found) <= longest else found[: longest - 1].rstrip() + "…"


def formula(kernel: str) -> str:
    """Return a kernel with its long lists cut: a vocabulary, or very many columns.

    Examples
    --------
    >>> formula("Linear().on('a', 'b')")
    "Linear().on('a', 'b')"
    >>> formula(f"Text(idf=Idf({tuple('abcdefghijklmnop')}))")
    "Text(idf=Idf(('a', 'b', 'c', … and 13 more)))"
    """
    return LIST.sub(lambda found: f"{found[1]}, … and {_values(found[2])} more", kernel)


def _values(text: str) -> int:
    return len(re.findall(f", {VALUE}", text))


def types_example(sheet: Sheet) -> str:
    """Return how `--types` takes a column for something else, as a shell reads it, or nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.sources import read_frame
    >>> rows = pd.DataFrame({"leaf size": [1.5, 2.5, 3.5, 4.5], "kind": ["a", "b", "a", "b"]})
    >>> types_example(read_frame(rows, "kind"))
    "'leaf size=categorical'"
    """
    if not hasattr(sheet.X, "iloc"):  # rows of numbers are nothing else
        return ""
    for column in sheet.used:
        name = column.name
        simple = name.isprintable() and len(name) <= 60 and "," not in name
        if simple and column.kind in OTHERS:
            return shlex.quote(f"{name}={OTHERS[column.kind]}")
    return ""


def count(number: int) -> str:
    """Return a whole number, with commas if it is long.

    Examples
    --------
    >>> count(1797), count(45222)
    ('1797', '45,222')
    """
    return f"{number:,}" if abs(number) >= 10_000 else str(number)


def plural(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "class", "classes")
    ('1 row', '3 classes')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def amount(value: float, digits: int = 4) -> str:
    """Return a number with a few digits.

    Examples
    --------
    >>> amount(0.00012345), amount(123456.7), amount(float("nan")), amount(2.0)
    ('0.0001234', '123,457', 'unknown', '2')
    """
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else ("infinite" if value > 0 else "−infinite")
    if 1e4 <= abs(value) < 1e9:
        return f"{value:,.0f}".replace("-", "−")
    if 1e3 <= abs(value) < 1e9:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def number_with_se(value: float, spread: float) -> tuple[str, str]:
    """Return a number and its standard error, as many digits as the error leaves.

    Examples
    --------
    >>> (
    ...     number_with_se(54.31234, 1.2345),
    ...     number_with_se(0.2, float("nan")),
    ...     number_with_se(1263595.0, 174104.0),
    ... )
    (('54.3', '1.2'), ('0.2', ''), ('1,260,000', '170,000'))
    """
    if not math.isfinite(value) or not math.isfinite(spread) or spread <= 0:
        return amount(value), ""
    if abs(value) >= 1e9 or spread < 1e-6:
        return f"{value:.4g}".replace("-", "−"), f"{spread:.2g}".replace("-", "−")
    digits = 1 - math.floor(math.log10(spread))
    value, spread, places = round(value, digits), round(spread, digits), max(0, digits)
    return (
        f"{value:,.{places}f}" if abs(value) >= 1e4 else f"{value:.{places}f}",
        f"{spread:,.{places}f}" if spread >= 1e4 else f"{spread:.{places}f}",
    )


def percent(share: float) -> str:
    """Return a share in percent: one decimal, two if it is small.

    Examples
    --------
    >>> percent(0.0404), percent(0.6667), percent(0.0012), percent(0.0), percent(float("nan"))
    ('4.0%', '66.7%', '0.12%', '0%', 'unknown')
    """
    if not math.isfinite(share):
        return "unknown"
    if share == 0:
        return "0%"
    return f"{share:.2%}" if abs(share) < 0.01 else f"{share:.1%}"


def percent_with_se(share: float, spread: float) -> tuple[str, str]:
    """Return a share and its standard error in percent, with as many decimals as the share.

    Examples
    --------
    >>> percent_with_se(0.0404, 0.0163), percent_with_se(0.0, 0.0)
    (('4.0%', '1.6%'), ('0%', ''))
    """
    if not math.isfinite(spread) or (share == 0 and spread == 0):
        return percent(share), ""
    return percent(share), f"{spread:.2%}" if 0 < abs(share) < 0.01 else f"{spread:.1%}"


def error_with_se(task: str, error: float, spread: float) -> tuple[str, str]:
    """Return an error and its standard error: shares of classes in percent, or numbers."""
    return (percent_with_se if task == "classify" else number_with_se)(error, spread)


def error_text(task: str, error: float, spread: float) -> str:
    """Return an error with its standard error as one text."""
    value, se = error_with_se(task, error, spread)
    return f"{value} ± {se}" if se else value


def of_many(share: float) -> tuple[int, int]:
    """Return a share as a count among 100, 1000 or 10,000.

    Examples
    --------
    >>> of_many(0.0404), of_many(0.0049), of_many(0.00071)
    ((4, 100), (5, 1000), (7, 10000))
    """
    for many in (100, 1000):
        if share * many >= 0.95:
            return round(share * many), many
    return round(share * 10_000), 10_000


def chosen_name(study: Study) -> str:
    """Return the name of the machine that was chosen."""
    found = [attempt.machine for attempt in study.attempts if attempt.chosen]
    return found[0] if found else type(unwrap(study.machine)[0]).__name__


def approximate(study: Study) -> str:
    """Say how the machine's answer differs from the exact one; nothing if it is exact."""
    solution = getattr(unwrap(study.machine)[0], "solution_", None)
    found = getattr(solution, "approximation", None)
    return "" if found is None else str(found)


def noun(study: Study) -> str:
    """Return what one item is called: a row, unless it is all one thing of another kind."""
    kinds = [column.kind for column in study.sheet.used]
    names = {"sequence": "sequence", "smiles": "molecule", "graph": "graph", "text": "text"}
    return names.get(kinds[0], "row") if len(kinds) == 1 else "row"


def judges_all(study: Study) -> bool:
    """Tell whether each row was held out once, rather than only some of very many."""
    return len(study.truth) == len(study.y)


def held_out_parts(study: Study) -> str:
    """Say how many parts of the rows were held out, and how large they are if they are not all.

    Sentences go on: "the 5 parts of the data that were held out in turn".
    """
    parts = len(set(study.held_out.fold.tolist()))
    if judges_all(study):
        return f"the {parts} parts of the data that were held out in turn"
    rows = plural(len(study.truth), noun(study))
    if parts == 1:
        return f"the {rows} that were kept aside"
    return f"{parts} parts of the data, {rows} in all, that were kept aside in turn"


def fate(attempt: Attempt) -> str:
    """Say why a kind of machine has no error of its own; nothing if it has, or was chosen.

    Examples
    --------
    >>> from mercer.studies import Attempt
    >>> fate(Attempt("SVC", note="there are more than 20 classes"))
    'SVC was left out: there are more than 20 classes.'
    >>> fate(Attempt("SVC", inner=0.2, note="on the rows that choose its error is 0.2"))
    'SVC was not fitted to all rows: on the rows that choose its error is 0.2.'
    """
    if not attempt.note or attempt.chosen:
        return ""
    what = "was not fitted to all rows" if math.isfinite(attempt.inner) else "was left out"
    return f"{attempt.machine} {what}: {attempt.note.rstrip('.')}."


def listed(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
