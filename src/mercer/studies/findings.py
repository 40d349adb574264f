"""Findings: what should make the reader of a result careful, in plain words.

Each look searches for one thing, and says it in a sentence or two with numbers, lines or names,
and with what to do about it. They come in the order of how badly they can mislead.
"""

from __future__ import annotations

import math
import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2, chi2_contingency, kruskal

from mercer.domains import is_frame
from mercer.sources import Sheet
from mercer.studies.case import Case, have, in_percent, names_text, number, quoted
from mercer.studies.folds import MIN_IN_CLASS
from mercer.studies.leaks import codes_of, columns, find_leaks, group_answers
from mercer.studies.losses import Loss
from mercer.studies.stand_ins import stand_ins

__all__ = ["findings"]

FALSE_ALARM = 1e-3  # probability of reporting what is not there
FEW_OF_CLASS = 10  # rows of a class about which little can be said
RICH = ("text", "sequence", "smiles", "graph")  # entries that are not equal by coincidence


def findings(
    sheet: Sheet,
    task: str,
    fold: np.ndarray,
    prediction: np.ndarray,
    error: float,
    error_se: float,
    baseline_error: float,
    edges: Sequence[str] = (),
    informative: bool = False,
    loss: Loss | None = None,
    more: Sequence[str] = (),
    target_scale: str = "none",
) -> tuple[str, ...]:
    """Return what should make a reader careful, the most serious first.

    Parameters
    ----------
    sheet : Sheet
        With a target.
    task : {"classify", "regress"}
    fold, prediction : ndarray
        In which fold each row was held out, and what was predicted for it then.
    error, error_se, baseline_error : float
        As in `Study`.
    edges : sequence of str
        Parameters whose best value is the last that was tried, in words.
    informative : bool
        Whether some other measure than the error is better than chance.
    loss : Loss, optional
        What is lost by wrong answers, if not as usual.
    more : sequence of str
        What was found elsewhere, which comes after leaks and copies.
    target_scale : str
        On which the target was learned.
    """
    case = Case(sheet, task, fold, prediction, error, error_se, baseline_error, loss=loss)
    case.informative, case.target_scale = informative, target_scale
    if len(case.classes) < 2:
        return (f"The target is {case.classes[0]} in all rows, so there is nothing to learn.",)
    found = [finding for look in LOOKS[:2] for finding in look(case)]
    found += [*more, *(finding for look in LOOKS[2:] for finding in look(case))]
    if edges:
        text = "; ".join(edge.rstrip(".") for edge in edges)
        found.append(
            f"{text[0].upper()}{text[1:]}. A better value may lie beyond; in Python, "
            "mercer.selection.GridSearchCV can look there."
        )
    return tuple(found)


def leaks(case: Case) -> Iterator[str]:
    """Look for columns from each of which alone the target follows, or nearly so."""
    found = find_leaks(case.sheet, case.fold)
    if not found:
        return
    names, share = [name for name, _ in found], in_percent(found[-1][1])
    told = f"in {share} of the rows" if case.classify else f"({share} of its variation)"
    types = shlex.quote(",".join(f"{name}=ignore" for name in names[:3]))
    how = f"with --types {types}" if is_frame(case.X) else "of the file"
    one = len(names) == 1
    which = f"Column {quoted(names[0])}" if one else f"Each of the columns {names_text(names, 3)}"
    yield (
        f"{which} alone tells {case.target} {told}. {'Is it' if one else 'Are they'} known "
        f"before {case.target} is? If not, leave {'it' if one else 'them'} out {how}."
    )


def copies(case: Case) -> Iterator[str]:
    """Look for rows that are equal in all columns, with different targets and with the same."""
    groups = np.unique(_hashes(case.X), return_inverse=True)[1]
    if groups.max() == case.n - 1:
        return
    yield from _contradictions(case, groups)
    both = np.unique(groups * len(case.classes) + case.codes, return_inverse=True)[1]
    parts = np.unique(np.column_stack([both, case.fold]), axis=0)
    copied = (np.bincount(parts[:, 0]) > 1)[both]  # in more than one fold
    rest = case.error_of(~copied) if np.sum(~copied) >= FEW_OF_CLASS else math.nan
    worse = copied.any() and rest - case.error > max(case.error_se, 0.1 * case.error)
    if (worse or copied.mean() >= 0.05) and not _coarse(case):
        first = np.flatnonzero(both == both[copied.argmax()])[:2]
        on_rest = "" if math.isnan(rest) else f" (on the other rows it is {case.text(rest)})"
        yield (
            f"{copied.sum()} rows, {in_percent(copied.mean())}, have a copy elsewhere in the "
            f"file, for example {case.lines(first)}; they are judged by machines that have seen "
            f"the copy, so the error of {case.text(case.error)} may be too small{on_rest}. Remove "
            "the copies, unless they are different things that only look alike."
        )


def _contradictions(case: Case, groups: np.ndarray) -> Iterator[str]:
    """Say how many equal rows have different targets, and what error that makes at least."""
    kinds = np.unique(np.column_stack([groups, case.codes]), axis=0)[:, 0]
    several = (np.bincount(kinds) > 1)[groups]
    if not several.any():
        return
    targets = case.codes if case.classify else case.y
    best = group_answers(groups, targets)[groups]
    if case.other:
        return
    least = np.mean(best != targets) if case.classify else np.sqrt(np.mean((best - targets) ** 2))
    if case.classify or least > 0.5 * case.error:  # measurements may be repeated
        one = int(several.argmax())
        other = int(((groups == groups[one]) & (case.codes != case.codes[one])).argmax())
        yield (
            f"{several.sum()} rows are equal to others in all columns that are used, but differ "
            f"in {case.target}, for example {case.lines([one, other])}; no machine can have an "
            f"error below {case.text(float(least))} on these data. Check such rows, or add a "
            "column that tells them apart."
        )


def _coarse(case: Case) -> bool:
    """Tell whether the columns allow so few combinations that rows are equal by coincidence."""
    if not is_frame(case.X):
        return False
    kinds = {column.name: column.kind for column in case.sheet.columns}
    ways = 0.0
    for name, values in columns(case.sheet):
        ways += math.inf if kinds.get(name) in RICH else math.log(len(np.unique(values)))
        if ways > math.log(100 * case.n):  # combinations of entries for each row
            return False
    return True


def _hashes(X: Any) -> np.ndarray:
    """Return a number for each row, the same for equal rows and (almost surely) only for those."""
    import pandas as pd

    if is_frame(X):
        plain = {j: codes_of(X.iloc[:, j]) for j in range(X.shape[1])}
        return pd.util.hash_pandas_object(pd.DataFrame(plain), index=False).to_numpy()
    table = sparse.csr_array(X, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    entries = pd.DataFrame({"column": table.indices, "value": table.data})
    found = pd.util.hash_pandas_object(entries, index=False).to_numpy()
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(found, dtype=np.uint64)])
    return np.diff(total[table.indptr])  # modulo 2⁶⁴, so the sum of each row


def chance(case: Case) -> Iterator[str]:
    """Look whether the error is better than that of knowing nothing, and on how many rows."""
    se = float(np.nan_to_num(case.error_se))
    if case.classify and not case.other:  # folds may agree by luck
        se = max(se, math.sqrt(case.error * (1 - case.error) / case.n))
    always = quoted(case.classes[case.counts.argmax()]) if case.classify else "the mean"
    if case.other:
        always = "the same"
    gain, plain = case.baseline - case.error, f"always answering {always}"
    if case.informative and gain < 2 * se:
        pass  # of a rare class probabilities may know what the error cannot see
    elif gain <= 0:
        yield (
            f"The error, {case.text(case.error)}, is not smaller than that of {plain}, "
            f"{case.text(case.baseline)}: nothing was learned about {case.target}."
        )
    elif gain < 2 * se:
        yield (
            f"The error, {case.text(case.error)}, is smaller than that of {plain}, "
            f"{case.text(case.baseline)}, by less than two standard errors (2 × "
            f"{case.text(se)}): that could be chance."
        )
    if case.n < 50:
        yield (f"There are only {case.n} rows, so all numbers here are rough.")
    elif case.classify and case.n < FEW_OF_CLASS * len(case.classes):
        yield (
            f"There are only {case.n / len(case.classes):.1f} rows for each of the "
            f"{len(case.classes)} classes on average, too few to say much about each. Collect "
            "more rows, or join classes."
        )


def labels(case: Case) -> Iterator[str]:
    """Look for classes that are probably one."""
    alike: dict[str, list[str]] = {}
    for label in case.classes if case.classify else ():
        plain = " ".join(unicodedata.normalize("NFKC", str(label)).casefold().split())
        alike.setdefault(plain, []).append(label)
    same = [names_text(some, 4) for some in alike.values() if len(some) > 1]
    if same:
        more = f" (and {len(same) - 3} more such groups)" if len(same) > 3 else ""
        yield (
            f"The classes {'; '.join(same[:3])}{more} differ only by case or spaces. If they are "
            "one class, write them alike in the file."
        )


def balance(case: Case) -> Iterator[str]:
    """Look for a class that dominates, and for classes that are too small."""
    if not case.classify:
        return
    share, top = case.counts.max() / case.n, case.counts.argmax()
    if share >= 0.8 and not case.other:
        others = case.error_of(case.codes != top)
        wrong = np.bincount(case.codes, case.losses) / case.counts
        yield (
            f"{in_percent(share)} of the rows are {quoted(case.classes[top])}, so the error of "
            f"{case.text(case.error)} says little about the others: of those, "
            f"{in_percent(others)} are wrong. With all classes counting alike the error is "
            f"{in_percent(wrong.mean())}; judge by that (--measure balanced), say what each "
            "mistake costs (--cost), and collect more rows of the small classes."
        )
    small = case.counts < MIN_IN_CLASS
    if small.any():
        rows = case.counts[small].sum()
        yield (
            f"{have(case.classes[small])} fewer than {MIN_IN_CLASS} rows, too few to be learned "
            f"at all; {'this row counts' if rows == 1 else f'these {rows} rows count'} as wrong. "
            "Collect more of them, or join such classes with others."
        )
    small = (case.counts < FEW_OF_CLASS) & ~small
    if small.any() and case.n >= FEW_OF_CLASS * len(case.classes):
        yield (
            f"{have(case.classes[small])} fewer than {FEW_OF_CLASS} rows, so what is said about "
            "them is rough. Collect more of them."
        )


def gaps(case: Case) -> Iterator[str]:
    """Look for gaps that tell the target, and for columns that are mostly gaps."""
    if not is_frame(case.X):
        return
    shares, names = case.X.isna().to_numpy().mean(axis=0), np.array(case.X.columns, dtype=object)
    telling = []
    for j in np.flatnonzero((shares > 0) & (shares < 1)):
        gap = case.X.iloc[:, j].isna().to_numpy().astype(float)
        if case.classify:  # the share of the variance, which is also χ²/n of the 2×k table
            share = np.var((np.bincount(case.codes, gap) / case.counts)[case.codes]) / np.var(gap)
        else:
            share = np.corrcoef(gap, case.y)[0, 1] ** 2
        freedom = len(case.classes) - 1 if case.classify else 1
        if share >= 0.25 and chi2.sf(case.n * share, freedom) < FALSE_ALARM / len(names):
            telling.append((-math.sqrt(share), str(names[j])))
    if telling:
        found = names_text([name for _, name in sorted(telling)])
        yield (
            f"Gaps in {found} go along with {case.target} (correlation {-min(telling)[0]:.2f}). "
            f"If they come about only after {case.target} is known, new rows will not have them: "
            "leave such columns out with --types NAME=ignore."
        )
    empty = np.flatnonzero(shares > 0.5)
    if len(empty):
        found = names_text(names[empty[np.argsort(-shares[empty], kind="stable")]])
        yield (
            f"More than half of the entries are missing in {found} (up to "
            f"{in_percent(shares.max())}), so little is learned from them. Fill them, or leave "
            "the columns out with --types NAME=ignore."
        )


def tails(case: Case) -> Iterator[str]:
    """Look for a few rows that make most of a squared error."""
    if (
        case.classify
        or case.other
        or case.n < 2 * FEW_OF_CLASS
        or case.error <= 0.01 * case.baseline
    ):
        return
    order = np.argsort(-case.losses, kind="stable")
    made = np.cumsum(case.losses[order]) / case.losses.sum()
    count = int(np.searchsorted(made, 0.5)) + 1
    if count <= max(1, 0.02 * case.n):
        worst = f"{'the worst: ' if count > 5 else ''}{case.lines(order[: min(count, 5)])}"
        rest = case.error_of(order[count:])
        wide = case.target_scale == "none" and float(np.min(case.y)) > 0
        hint = f"; if {case.target} spans orders of magnitude, try its logarithm (--log)"
        yield (
            f"{count} of {case.n} rows {'makes' if count == 1 else 'make'} "
            f"{in_percent(made[count - 1])} of the squared error ({worst}); on the others the "
            f"error is {number(rest)} instead of {number(case.error)}. Check them{hint * wide}."
        )


def unevenness(case: Case) -> Iterator[str]:
    """Look for folds whose errors differ by more than chance."""
    roles = case.sheet.roles
    if roles is not None and (roles.groups is not None or roles.time is not None):
        return  # rows of a fold are not drawn one by one then, and may differ as much
    parts = [case.fold == number for number in np.unique(case.fold)]
    errors = [case.error_of(part) for part in parts]
    least = min(int(part.sum()) for part in parts) * (case.error if case.classify else 0.5)
    if case.other or len(parts) < 2 or least < 5 or max(errors) - min(errors) <= 0.5 * case.error:
        return
    if case.classify:
        wrong = np.array([case.losses[part].sum() for part in parts])
        right = np.array([part.sum() for part in parts]) - wrong
        p = chi2_contingency(np.array([wrong, right])).pvalue
    else:
        p = kruskal(*(case.losses[part] for part in parts)).pvalue
    if p < FALSE_ALARM:
        low, high = case.text(min(errors)), case.text(max(errors))
        yield (
            f"The error is between {low} and {high} on the {len(parts)} parts of the rows that "
            "were held out in turn, which is more than chance explains. Either rows belong "
            "together (the same patient, the same day), or what was chosen changes from part to "
            "part; expect new rows to differ as much."
        )


def width(case: Case) -> Iterator[str]:
    """Look for many more columns than rows."""
    columns = case.X.shape[1]
    if columns >= 3 * case.n:
        yield (
            f"There are {columns} columns for {case.n} rows: some of them go along with "
            f"{case.target} by chance. The error takes that into account, but do not read much "
            "into single columns."
        )


LOOKS = (leaks, copies, stand_ins, chance, labels, balance, gaps, tails, unevenness, width)
