"""Open tables: a study of mercer beside boosted trees and xRFM, on rows that nobody has seen.

All tables, and the learned metric's speed: ``python -m benchmarks tables``. Some of them, or the
500,000 made-up rows, which take minutes: ``python -m benchmarks tables:autos,german,large``.

Errors are shares of wrong rows, or root mean squared errors over the target's standard deviation.
A study states its own error with a standard error, from the training rows alone; it is honest
where the error on the rows kept aside is within two of these. That leaves out the chance of the
rows kept aside: where they are a quarter as many as those that were learned from, an exact
standard error is that honest in 63 of 100 cases. So it is also told where the two errors are
within two standard errors of their difference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.open_tables import TASKS, OpenTable, load, present
from benchmarks.table_learners import BUDGET, TREES, Outcome, attempt, installed, warm_up
from mercer.bench.measure import (
    Row,
    at_least,
    at_most,
    best_of,
    columns,
    in_fresh_process,
    render,
)

MOST_MEMORY = 4.0  # GB
HONEST = 12 / 14
METRIC_ROWS, LARGE_ROWS, COLUMNS = 6_000, 500_000, 20


@dataclass(frozen=True, eq=False)
class Comparison:
    """What all learners did with a table."""

    table: OpenTable
    outcomes: dict[str, Outcome]

    @property
    def ours(self) -> Outcome:
        """What mercer did."""
        return self.outcomes["mercer"]

    def ratio(self, peers: Sequence[str]) -> float:
        """Return our error over the best of some peers; NaN where none of them is there."""
        errors = [self.outcomes[name].error for name in peers if name in self.outcomes]
        errors = [error for error in errors if np.isfinite(error)]
        return self.ours.error / max(min(errors), 1e-12) if errors else float("nan")

    @property
    def honest(self) -> bool:
        """Whether the stated error is within two of its standard errors."""
        ours = self.ours
        return bool(abs(ours.stated - ours.error) <= 2 * ours.stated_se)

    @property
    def compatible(self) -> bool:
        """Whether stated error and error are within two standard errors of their difference."""
        ours = self.ours
        return bool(abs(ours.stated - ours.error) <= 2 * np.hypot(ours.stated_se, ours.error_se))


def report(chosen: Sequence[str] = ()) -> str:
    """Measure all tables, or those that are named, and return what came out."""
    parts = {"metric": metric_rows, "large": large_rows}
    unknown = sorted(set(chosen) - {*TASKS, *parts})
    if unknown:
        return f"no table {', '.join(unknown)}; known are {', '.join([*TASKS, *parts])}"
    names = [name for name in TASKS if name in chosen or not chosen]
    others = [name for name in parts if name in chosen or (name == "metric" and not chosen)]
    texts = [compared(names)] if names else []
    rows = [row for name in others for row in guarded(parts[name], name)]
    return "\n\n".join([*texts, *([render(rows)] if rows else [])])


def compared(names: Sequence[str]) -> str:
    """Return the tables of errors, of costs, and the bars."""
    if not present():
        return "nothing measured: MERCER_DATA does not say where the data are"
    learners = installed()
    print("compiling", flush=True)
    warm_up()
    found = []
    for name in names:
        found.append(Comparison(load(name), {who: attempt(who, name) for who in learners}))
        told = (f"{who} {outcome.error:.4f}" for who, outcome in found[-1].outcomes.items())
        print(f"{name}: {', '.join(told)}", flush=True)  # all of it takes an hour
    notes = [o.note for one in found for o in one.outcomes.values() if o.note]
    texts = [errors_of(found, learners), costs_of(found, learners), render(bars(found))]
    return "\n\n".join([*texts, *notes])


def errors_of(found: Sequence[Comparison], learners: Sequence[str]) -> str:
    """Return the table of errors, ours first, and of what we said of ours."""
    header = ("table", "rows", "kept aside", "columns", *learners, "to trees", "to xRFM",
              "stated", "honest")  # fmt: skip
    lines = [header]
    for one in found:
        rows, width = one.table.train.shape
        lines.append(
            (
                one.table.name,
                str(rows),
                str(len(one.table.new)),
                str(width - 1),
                *(f"{one.outcomes[name].error:.4f}" for name in learners),
                f"{one.ratio(TREES):.3f}",
                f"{one.ratio(['xRFM']):.3f}",
                f"{one.ours.stated:.4f} ± {one.ours.stated_se:.4f}",
                "yes" if one.honest else "NO",
            )
        )
    return columns(lines)


def costs_of(found: Sequence[Comparison], learners: Sequence[str]) -> str:
    """Return the table of seconds, and of our memory."""
    lines = [("seconds", *learners, "our peak memory")]
    for one in found:
        seconds = (f"{one.outcomes[name].seconds:.1f}" for name in learners)
        lines.append((one.table.name, *seconds, f"{one.ours.memory / 1e9:.2f} GB"))
    return columns(lines)


def bars(found: Sequence[Comparison]) -> list[Row]:
    """Return the rows that say whether the bars are reached; a table that failed reaches none."""
    return [*error_bars(found), *cost_bars(found)]


def error_bars(found: Sequence[Comparison]) -> list[Row]:
    """Return the rows about errors, beside those peers that are there."""
    trees, peers = (np.array([one.ratio(names) for one in found]) for names in (TREES, ["xRFM"]))
    worst = found[int(np.argmax(trees))].table.name
    honest = sum(one.honest for one in found)
    compatible = sum(one.compatible for one in found)
    rows = [
        Row("error / best boosted tree, geometric mean", "", "", mean_ratio(trees),
            at_most(1.0, "{:.3f}")),
        Row(f"  worst ({worst})", "", "", float(trees.max()), at_most(1.25, "{:.3f}")),
        Row("honest tables", f"{honest} of {len(found)}", "", float(honest),
            at_least(int(np.ceil(HONEST * len(found))), "{:.0f}")),
        Row("  by the chance of both errors", f"{compatible} of {len(found)}", "",
            float(compatible), None),
    ]  # fmt: skip
    if "xRFM" in found[0].outcomes:
        task, goal = "error / xRFM, geometric mean", at_most(1.02, "{:.3f}")
        rows.insert(2, Row(task, "", "", mean_ratio(peers), goal))
    return rows


def cost_bars(found: Sequence[Comparison]) -> list[Row]:
    """Return the rows about our seconds and bytes."""
    seconds = np.array([one.ours.seconds for one in found])
    memory = np.array([one.ours.memory for one in found]) / 1e9
    slowest, largest = (found[int(np.argmax(costs))].table.name for costs in (seconds, memory))
    return [
        Row(f"slowest study ({slowest})", "", "", float(seconds.max()), at_most(90, "{:.0f} s")),
        Row(f"most memory ({largest})", "", "", float(memory.max()),
            at_most(MOST_MEMORY, "{:.2f} GB")),
    ]  # fmt: skip


def mean_ratio(ratios: np.ndarray) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> mean_ratio(np.array([0.5, 2.0]))
    1.0
    """
    return float(np.exp(np.log(np.maximum(ratios, 1e-12)).mean()))


# ---- made-up rows ------------------------------------------------------------------------------


def made_up(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of twenty columns of which two matter: sin(2 x₀)·x₁, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, COLUMNS))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n)


def metric_rows() -> list[Row]:
    """Compare a learned metric with one fit of the machine that it is learned for."""
    from mercer import KernelRidge, LearnedMetric
    from mercer.kernels import Exponential

    X, y = made_up(METRIC_ROWS)
    machine = KernelRidge(Exponential())
    learned, once = best_of(
        lambda: LearnedMetric(KernelRidge(Exponential()), rounds=5).fit(X, y),
        lambda: machine.fit(X, y),
        repeats=2,
    )
    task = f"learned metric, {METRIC_ROWS} rows × {COLUMNS} (peer: one KernelRidge.fit)"
    return [
        Row(task, f"{learned:.1f} s", f"{once:.1f} s", learned / once, at_most(8.0, "{:.1f}x"))
    ]


def large_rows() -> list[Row]:
    """Study more rows than any exact machine takes."""
    warm_up()
    (seconds, error, noise), memory = in_fresh_process(study_large)
    task = f"study of {LARGE_ROWS:,} rows × {COLUMNS}, budget {BUDGET:.0f} s"
    size = memory / 1e9
    return [
        Row(task, f"{seconds:.0f} s", "", seconds / BUDGET, at_most(2.5)),
        Row("  peak memory", f"{size:.2f} GB", "", size, at_most(MOST_MEMORY, "{:.2f} GB")),
        Row("  error / noise", f"{error:.4f}", f"{noise:.4f}", error / noise, None),
    ]


def study_large() -> tuple[float, float, float]:
    """Return the seconds of a study, and its error beside what cannot be predicted."""
    import mercer

    X, y = made_up(LARGE_ROWS)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).assign(target=y)
    start = time.perf_counter()
    study = mercer.study(frame, "target", budget=BUDGET, show=False)
    return time.perf_counter() - start, study.error, 0.1


def guarded(part: Callable[[], list[Row]], name: str) -> list[Row]:
    """Return the rows of a part, or one that says why there are none."""
    try:
        return part()
    except Exception as error:  # what fails is a result, and the tables stand above it
        return [Row(f"{name}: {type(error).__name__}: {error}", "", "", float("nan"), None)]
