"""The page: everything a study has found, in one HTML file that needs nothing else."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import mercer
from mercer.report.answer import answer
from mercer.report.examples import MAX_CARDS, Viewer, cards
from mercer.report.matters import what_matters
from mercer.report.measures import horizon_rows, measure_rows, test_text, threshold_text
from mercer.report.performance import calibration, confusion, curve, residuals, surface
from mercer.report.promises import promises
from mercer.report.references import comparison, reference_rows
from mercer.report.shares import columns_that_matter
from mercer.report.similarity import similarity
from mercer.report.subgroups import subgroups
from mercer.report.words import (
    MACHINES,
    amount,
    approximate,
    chosen_name,
    clean,
    count,
    error_text,
    error_with_se,
    fate,
    formula,
    held_out_parts,
    judges_all,
    noun,
    percent,
    plural,
    shorten,
    types_example,
)

if TYPE_CHECKING:
    from jinja2 import Environment

    from mercer.studies import Attempt, Study

__all__ = ["html", "versions"]

MAX_COLUMNS = 200  # that are listed


def html(study: Study) -> str:
    """Return the report of a study: one page of HTML with all pictures and styles inside.

    It loads nothing from anywhere, runs nothing, and is the same each time it is made from the
    same study. Everything that comes from the data is escaped.

    Parameters
    ----------
    study : Study

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.studies import study
    >>> rows = pd.DataFrame({"weight": [3.0, 4.1, 22.0, 30.5] * 6, "animal": [*"ccdd"] * 6})
    >>> page = html(study(rows, "animal", machine="prototype", budget=5))
    >>> page[:15], "<script" in page
    ('<!doctype html>', False)
    """
    viewer = Viewer(study)
    sections = {
        "answer": answer(study),
        "curve": curve(study),
        "matters": what_matters(study),
        "measures": measure_rows(study),
        "threshold": threshold_text(study),
        "test": test_text(study),
        "horizons": horizon_rows(study),
        "subgroups": subgroups(study),
        "references": reference_rows(study),
        "comparison": comparison(study),
        "similarity": similarity(study),
        "surface": surface(study),
        "calibration": calibration(study),
        "promises": promises(study),
        "shares": columns_that_matter(study),
        "confusion": confusion(study) if study.task == "classify" else None,
        "residuals": residuals(study) if study.task != "classify" else None,
        "typical": cards(study, study.typical, viewer),
        "confused": cards(study, study.confused, viewer),
        "viewer": viewer,
        "more_typical": max(0, len(study.typical) - MAX_CARDS),
        "more_confused": max(0, len(study.confused) - MAX_CARDS),
    }
    context = {"study": study, **_facts(study), **sections}
    return _environment().get_template("page.html.j2").render(context).strip() + "\n"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("mercer.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=clean,
    )
    made.filters.update(shorten=shorten, count=count, amount=amount, percent=percent)
    return made


def _facts(study: Study) -> dict[str, Any]:
    """Return what the page says about the study besides its pictures."""
    sheet = study.sheet
    target = "label" if sheet.target is None else sheet.target.name
    outer, inner = study.folds
    used, aside = sheet.used, [c for c in sheet.columns if not c.used]
    return {
        "target": target,
        "file": sheet.name or "the table",
        "item": noun(study),
        "items": f"{noun(study)}s",
        "machine": chosen_name(study),
        "approximate": approximate(study),
        "does": MACHINES.get(chosen_name(study), ""),
        "kernel": formula(study.kernel),
        "long_kernel": len(formula(study.kernel)) > 240,
        "parameters": {name: _parameter(v) for name, v in study.parameters.items()},
        "attempts": [_attempt(study, attempt) for attempt in study.attempts],
        "judging": len(set(study.held_out.fold.tolist())),
        "outer": outer,
        "inner": inner,
        "parts": held_out_parts(study),
        "all_judged": judges_all(study),
        "judged": plural(len(study.truth), noun(study)),
        "kinds": _kinds(study),
        "used": used[:MAX_COLUMNS],
        "hidden_columns": max(0, len(used) - MAX_COLUMNS),
        "aside": aside[:MAX_COLUMNS],
        "open_columns": len(used) <= 16,
        "types": _types(study),
        "bad": sheet.bad[:20],
        "bad_total": len(sheet.bad),
        "notes": list(dict.fromkeys((*sheet.notes, *study.notes))),
        "versions": versions(),
        "new_file": _new_file(sheet.name),
        "table": hasattr(study.X, "iloc"),
        "column_names": [shorten(column.name, 40) for column in used[:6]],
        "more_names": max(0, len(used) - 6),
        "rows": plural(len(sheet), noun(study)),
        "rest": _rest(study),
    }


def _rest(study: Study) -> str:
    """Say how the model did on rows of a large file that it has not learned from."""
    rest = study.rest
    if rest is None:
        return ""
    return (
        f"The file is large, so the model has learned from a sample of {count(len(study.y))}. It "
        f"was then tried on {plural(len(rest.rows), 'other row')} of the file: "
        f"{study.measure} {error_text(study.unit, rest.error, rest.error_se)}."
    )


def _parameter(value: object) -> str:
    return amount(float(value)) if isinstance(value, float) else str(value)


def _attempt(study: Study, attempt: Attempt) -> dict[str, Any]:
    """Return one row of the table of what was tried."""
    judged, competed = np.isfinite(attempt.error), np.isfinite(attempt.inner)
    error = error_text(study.unit, attempt.error, attempt.error_se) if judged else "—"
    return {
        "machine": attempt.machine,
        "does": MACHINES.get(attempt.machine, ""),
        "candidates": count(attempt.candidates),
        "error": error,
        "inner": error_with_se(study.unit, attempt.inner, attempt.error_se)[0],
        "wins": attempt.wins,
        "chosen": attempt.chosen,
        "note": fate(attempt).removeprefix(f"{attempt.machine} ").removeprefix("was "),
        "tried": bool(judged or competed),
    }


def _kinds(study: Study) -> str:
    """Say how many columns of each kind there are."""
    kinds = Counter(column.kind for column in study.sheet.used)
    return " and ".join(
        ", ".join(f"{count(n)} {kind}" for kind, n in kinds.items()).rsplit(", ", 1)
    )


def _types(study: Study) -> str:
    """Return a command that takes a column for something else."""
    sheet = study.sheet
    types = types_example(sheet)
    if not types or sheet.target is None or len(sheet.target.name) > 80:
        return ""
    target = shlex.quote(sheet.target.name)
    data = "DATA" if sheet.path is None else shlex.quote(sheet.name)
    return f"mercer fit {data} --target {target} --types {types}"


def _new_file(name: str) -> str:
    """Return the name of a file with new rows, of the same kind as the one learned from."""
    suffix = name.rpartition(".")[2] if "." in name else "csv"
    known = {"csv", "tsv", "parquet", "arrow", "feather", "fasta", "fa", "svm", "libsvm", "txt"}
    return f"new.{suffix}" if suffix in known else "new.csv"


def versions() -> dict[str, str]:
    """Return the versions of mercer, Python and the libraries that compute."""
    libraries = ("numpy", "scipy", "scikit-learn", "pandas", "numba")
    found = {"mercer": mercer.__version__, "python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in libraries}
