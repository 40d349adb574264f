"""``mercer fit --cluster``: workers do the choosing, and the command says which."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mercer.cli.app import app

pytest.importorskip("distributed")


def table(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame = frame.assign(kind=np.where(X[:, 0] * X[:, 1] > 0, "u", "v"))
    frame.to_csv(folder / "rows.csv", index=False)
    return str(folder / "rows.csv")


def run(*words):
    return CliRunner().invoke(app, ["fit", *words])


def test_an_address_that_is_none_is_an_error_in_one_line(tmp_path):
    found = run(
        table(tmp_path), "--target", "kind", "--cluster", "local:none", "--out",
        str(tmp_path / "out"),
    )  # fmt: skip
    assert found.exit_code != 0
    assert "expected local:N" in f"{found.output}{found.exception}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_two_processes_choose(tmp_path):
    found = run(
        table(tmp_path), "--target", "kind", "--machine", "ridge", "--no-references", "--budget",
        "5", "--cluster", "local:2", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "What ran where" in found.output and "tcp://127.0.0.1" in found.output
    assert "workers of a cluster" in (tmp_path / "out" / "report.html").read_text()
