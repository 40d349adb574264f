"""``mercer fit``: from a table to a machine, with an honest estimate of its error."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer.cli.cluster import OnCluster, cluster_at
from mercer.cli.exits import say_encoding, say_formulas
from mercer.cli.options import DATA, SkipBad, Types, machines, seconds, stem_of, types_of
from mercer.cli.rows import (
    Cost,
    DropDuplicates,
    Groups,
    Log,
    Measure,
    Missing,
    Order,
    Scale,
    Targets,
    TargetScale,
    Test,
    Time,
    Weights,
    costs_of,
    target_scale_of,
)
from mercer.cli.terminal import LINE, heading, paragraph, plain, require_writable, table

if TYPE_CHECKING:
    from mercer.sources import Sheet
    from mercer.studies import Attempt, Study

__all__ = ["fit"]

MAX_COLUMNS = 20  # that are listed one by one
MAX_CLASSES = 12  # that are listed one by one


class TaskChoice(StrEnum):
    """What is to be predicted."""

    classify = "classify"
    regress = "regress"


Table = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help=f"{DATA} Without it: the handwritten digits of scikit-learn.",
    ),
]
Task = Annotated[
    TaskChoice | None,
    typer.Option(
        help="Whether it has classes or numbers, if the guess is wrong; for example "
        "--kind regress."
    ),
]
OnlyKernel = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="The only kernel to try, for example "
        "--kernel \"Gaussian('median').on('height') + Spectrum(3).on('dna')\".",
    ),
]
OnlyMachine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        autocompletion=machines,
        help="The only kind of machine to try: prototype, exemplar, ridge, svm, neighbors, "
        "logistic, discriminant or gp; for example --machine ridge.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        metavar="TIME", help="About how long it may take: for example 90, 60s, 2m or 1h."
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="NUMBER",
        min=0,
        help="Decides the folds; the same seed gives the same files. For example --seed 1.",
    ),
]
NoReferences = Annotated[
    bool,
    typer.Option(
        "--no-references",
        help="Leave out the linear model and the boosted trees that are fitted to the same rows, "
        "to compare with; for example mercer fit iris.csv --target species --no-references.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        show_default=False,
        help="The folder to write to, for example --out results; by default it is called "
        "after DATA: iris-mercer for iris.csv.",
    ),
]


def fit(
    data: Table = None,
    target: Targets = None,
    kind: Task = None,
    kernel: OnlyKernel = None,
    machine: OnlyMachine = None,
    types: Types = None,
    budget: Budget = "60s",
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    no_references: NoReferences = False,
    groups: Groups = None,
    time: Time = None,
    weights: Weights = None,
    cost: Cost = None,
    order: Order = None,
    measure: Measure = None,
    scale: Scale = None,
    log: Log = False,
    target_scale: TargetScale = None,
    missing: Missing = None,
    drop_duplicates: DropDuplicates = False,
    test: Test = None,
    cluster: OnCluster = None,
    out: Folder = None,
) -> None:
    """Learn from a table, and say how well it will work."""
    from mercer.studies.several import targets_of, types_without

    allowed, known = seconds(budget), types_of(types)
    folder = require_writable(
        out or Path(f"{stem_of(data) if data else 'digits'}-mercer"), folder=True
    )
    task = None if kind is None else kind.value
    how = {
        "task": task, "kernel": kernel, "machine": machine, "budget": allowed,
        "skip_bad": skip_bad, "seed": seed, "references": not no_references, "groups": groups,
        "time": time, "weights": weights, "cost": costs_of(cost), "order": order,
        "measure": measure, "scale": scale, "missing": missing, "drop_duplicates": drop_duplicates,
        "target_scale": target_scale_of(log, target_scale),
    }  # fmt: skip
    names = targets_of(data, target)
    with cluster_at(cluster):
        if len(names) <= 1:
            goal = names[0] if names else None
            _fit_one(data or _digits(goal, types=known, task=task), goal, known, how, test, folder)
            return
        found = []
        for name in names:
            heading(f"The target {plain(name)}")
            types_here = types_without(names, name, known)
            into = folder / _folder_name(name, names)
            found.append((name, _fit_one(data, name, types_here, how, test, into), into))
    _print_targets(found)


def _fit_one(
    data: Any, target: str | None, types: dict[str, str] | None, how: dict[str, Any],
    test: Path | None, folder: Path,
) -> Study:  # fmt: skip
    """Learn one target, write its files and tell what came out."""
    from mercer.studies import design
    from mercer.studies.on_cluster import where_notes

    plan = design(data, target, types=types, **how)
    _print_columns(plan.sheet)
    say_encoding(plan.sheet)
    heading("The plan")
    for line in plan.explain().splitlines():
        paragraph(line, len(line) - len(line.lstrip()))
    study = plan.run(show=True)
    if test is not None:
        from mercer.studies.judged import judge_table

        study = replace(study, test=judge_table(study, test))
    from mercer.report import write  # with all that draws, which a refusal need not wait for

    files = write(study, folder, command=LINE.get())
    _print_answer(study)
    for note in where_notes():
        heading("What ran where")
        paragraph(note)
    heading("Written")
    for path in files:
        typer.echo(f"  {path}")
    say_formulas(study.classes)
    return study


def _folder_name(target: str, targets: list[str]) -> str:
    """Return the name of a target's folder, which holds no signs that paths give a meaning."""
    name = re.sub(r"[^\w.-]+", "-", target).strip(".-") or "target"
    alike = [one for one in targets if re.sub(r"[^\w.-]+", "-", one).strip(".-") == name]
    return name if len(alike) <= 1 else f"{name}-{alike.index(target) + 1}"


def _print_targets(found: list[tuple[str, Study, Path]]) -> None:
    """Say how well each of several targets is predicted, in one table."""
    from mercer.report.words import amount, error_with_se, percent

    heading("All targets")
    rows = []
    for name, study, into in found:
        write = percent if study.unit == "classify" else amount
        error = error_with_se(study.unit, study.error, study.error_se)
        rows.append((plain(name), study.measure, *error, write(study.baseline_error), str(into)))
    names = ("target", "measure", "error", "±", "by always the same", "folder")
    typer.echo(table(names, rows, words=(0, 1, 5)))


def _digits(target: str | None, **how: Any) -> Sheet:
    """Return the data that come with the installation, and say so."""
    from sklearn.datasets import load_digits

    from mercer.errors import DomainError
    from mercer.sources import read_frame

    if target not in (None, "digit"):
        raise DomainError(
            f"there is a target, {target!r}, but no data; write mercer fit DATA --target {target}"
        )
    typer.echo(
        "No DATA was given, so this learns to read handwritten digits: 1797 images of\n"
        "8 x 8 pixels that come with scikit-learn. For your own table:\n"
        "  mercer fit YOUR.csv --target COLUMN\n"
    )
    frame = load_digits(as_frame=True).frame.rename(columns={"target": "digit"})
    return replace(read_frame(frame, "digit", **how), name="digits")


def _print_columns(sheet: Sheet) -> None:
    """Say what each column was taken for, and how to say otherwise."""
    from mercer.report.words import types_example

    rows = f"{len(sheet)} rows" + (f" of {sheet.total}" if sheet.total != len(sheet) else "")
    count = "1 column" if len(sheet.columns) == 1 else f"{len(sheet.columns)} columns"
    typer.echo(f"{plain(sheet.name or 'The table')}: {rows}, {count} beside the target")
    few = sheet.columns
    if len(few) > MAX_COLUMNS:
        counts = Counter(column.kind for column in few)
        paragraph(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
        few = few[: MAX_COLUMNS // 2]
    lines = [(column.name, column.kind, column.why) for column in few]
    if len(few) < len(sheet.columns):
        lines.append(("…", "", f"and {len(sheet.columns) - len(few)} more columns"))
    if sheet.target is not None:
        target = sheet.target
        lines.append((target.name, f"{target.kind}, the target", target.why))
    typer.echo(table(("column", "taken for", "because"), lines, words=(0, 1, 2), wrap=True))
    if example := types_example(sheet):
        typer.echo(f"\n  If a column is something else, say so: for example --types {example}")


def _print_answer(study: Study) -> None:
    """Say what was tried, what came out, and what should make one careful."""
    from mercer.report.answer import answer
    from mercer.report.measures import measure_rows, test_text
    from mercer.report.references import comparison
    from mercer.report.words import error_text

    found = answer(study)
    _print_tried(study)
    if measures := measure_rows(study):
        heading("How good that is")
        rows = [row[:3] for row in measures]
        typer.echo(table(("measure", "model", "class shares only"), rows, words=(0,)))
    _print_by_class(study)
    _print_horizons(study)
    heading("The answer")
    told = [found.sentence, found.verdict, found.fewer, comparison(study)]
    paragraph(" ".join(filter(None, told)))
    if study.rest is not None:
        error = error_text(study.unit, study.rest.error, study.rest.error_se)
        paragraph(
            f"On the other {len(study.rest.y)} rows of the file, from which nothing was learned, "
            f"the error is {error}."
        )
    if study.test is not None:
        paragraph(test_text(study))
    if study.warnings:
        heading("Careful")
        for warning in study.warnings:
            paragraph(warning, mark="- ")


def _print_by_class(study: Study) -> None:
    """Say how the rows of each class did, and which answer costs imply."""
    from mercer.report.measures import class_rows, threshold_text

    rows = class_rows(study)
    if 2 <= len(rows) <= MAX_CLASSES:
        heading("Class by class")
        names = ("class", "rows", "missed", "wrong when said")
        typer.echo(table(names, [(plain(row[0]), *row[1:]) for row in rows], words=(0,)))
    if told := threshold_text(study):
        paragraph(told)


def _print_horizons(study: Study) -> None:
    """Say how errors grow with the time that lies between."""
    from mercer.report.measures import horizon_rows

    if rows := horizon_rows(study):
        heading("How far ahead")
        typer.echo(table(("after the last known row", "rows", "error", "±"), rows, words=(0,)))


def _print_tried(study: Study) -> None:
    """Say how the machines and the references did, and why some have no error."""
    from mercer.report.references import reference_rows
    from mercer.report.words import error_with_se, fate, judges_all

    rows = "held-out rows" if judges_all(study) else f"{len(study.truth)} rows kept aside"
    heading(f"What was tried ({study.measure} of {rows})")
    lines = [_attempt(attempt, study.unit) for attempt in study.attempts if not fate(attempt)]
    for one in study.references:
        if math.isfinite(one.error):
            error = error_with_se(study.unit, one.error, one.error_se)
            lines.append((one.name, *error, "", "to compare with"))
    typer.echo(table(("machine", "error", "±", "folds won", "in the end"), lines, words=(0, 4)))
    for attempt in study.attempts:
        if told := fate(attempt):
            paragraph(told)
    for row in reference_rows(study):
        if not row.error:
            paragraph(f"{row.name} could not be fitted: {row.note.rstrip('.')}.")


def _attempt(attempt: Attempt, task: str) -> tuple[str, ...]:
    from mercer.report.words import error_with_se

    error = error_with_se(task, attempt.error, attempt.error_se)
    if not math.isfinite(attempt.error):  # it was chosen in the end, but not in all folds
        error = ("—", "")
    return attempt.machine, *error, str(attempt.wins), "chosen" if attempt.chosen else ""
