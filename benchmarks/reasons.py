"""Reasons by column: exact Shapley values, and beside them what samples estimate.

The task is that of the promise: 1000 rows of 20 columns explained, of a machine with 5000 support
vectors. `shap`'s KernelExplainer gets the same machine's decision function, 100 rows as its
background and its own defaults, and a few of the rows, as it would take hours for all; times are
for one row.

Two rules say what is in the place of a column of which nothing is known. By the rule that
`shapley` takes unless told otherwise each absent column is averaged by itself ("independent"):
both tools then answer the same question, what each column contributes, by different rules. By the
rule of KernelExplainer all absent columns come from one of the background rows ("joint"): the
games are the same then, one solved and one sampled, and its values are compared with the solution.
That is a hundred games for each row, one for each row of the background. What is computed once for
all rows (similarities of the background here, the explainer there) is counted with neither.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import SVC
from mercer.bench.measure import Row, at_least, at_most
from mercer.explanations import shapley
from mercer.kernels import Gaussian

__all__ = ["rows"]

ROWS, COLUMNS = 1000, 20
ITEMS = 6400  # to learn from, of which at least 5000 become support vectors
BACKGROUND = 100  # rows, which shap calls large enough
SAMPLED_ROWS = 2  # that the peer explains
JOINT_ROWS = 100  # that are explained by its rule
SECONDS, TIMES = 20.0, 100.0  # the bars


def rows() -> list[Row]:
    """Measure and return the rows of the table."""
    machine, X = task()
    shapley(machine, X[:2])  # compiles
    begin = time.perf_counter()
    found = shapley(machine, X)
    ours = time.perf_counter() - begin
    scores = machine.decision_function(X)
    signs = np.where(scores > 0, 1.0, -1.0)  # a share is for the label that is predicted
    apart = np.abs(found.base + found.values.sum(axis=1) - np.abs(scores)).max()
    table = [
        Row(
            f"{ROWS} rows, {COLUMNS} columns, {len(machine.support_)} support vectors",
            f"{ours:.2f} s", "", ours, at_most(SECONDS, "{:.1f} s"),
        ),
        Row("  shares and base miss the score by", f"{apart:.1e}", "", apart,
            at_most(1e-8, "{:.1e}")),
    ]  # fmt: skip
    theirs, values = sampled(machine, X[:SAMPLED_ROWS], X[-BACKGROUND:])
    if values is None:
        table.append(Row("shap is not installed", "", "", np.nan, None))
        return table
    few, some = (
        _timed(lambda count=count: shapley(
            machine, X[:count], reference=X[-BACKGROUND:], absent="joint"
        )) for count in (SAMPLED_ROWS, JOINT_ROWS)
    )  # fmt: skip
    joint, exact = few[1], (some[0] - few[0]) / (JOINT_ROWS - SAMPLED_ROWS)
    alike = np.corrcoef(values.ravel(), (signs[:SAMPLED_ROWS, None] * joint.values).ravel())[0, 1]
    faster = theirs / (ours / ROWS)
    table += [
        Row("one row, absent columns independent; beside KernelExplainer",
            f"{1e3 * ours / ROWS:.2f} ms", f"{theirs:.2f} s", faster,
            at_least(TIMES, "{:.0f} times faster")),
        Row("one row, absent columns jointly, as KernelExplainer has it", f"{1e3 * exact:.0f} ms",
            f"{theirs:.2f} s", theirs / exact, at_least(TIMES, "{:.0f} times faster")),
        Row("  correlation of its estimates with the exact values", "", "", alike, None),
    ]  # fmt: skip
    return table


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def task() -> tuple[Any, np.ndarray]:
    """Return a machine with at least 5000 support vectors, and rows to explain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ITEMS, COLUMNS))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ITEMS) > 0).astype(int)
    machine = SVC(Gaussian(2.0), C=1.0).fit(X, y)  # so narrow that most rows support
    return machine, rng.normal(size=(ROWS, COLUMNS))


def sampled(
    machine: Any, X: np.ndarray, background: np.ndarray
) -> tuple[float, np.ndarray | None]:
    """Return seconds for a row by sampling, and its values; nothing where shap is missing."""
    try:
        import shap
    except ImportError:
        return float("nan"), None
    with contextlib.redirect_stderr(io.StringIO()):
        explainer = shap.KernelExplainer(machine.decision_function, background, silent=True)
        begin = time.perf_counter()
        values = explainer.shap_values(X, silent=True)
        seconds = (time.perf_counter() - begin) / len(X)
    return seconds, np.asarray(values)
