"""What `mercer explain` says of columns: first, and adding up to the score."""

import re

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import mercer
from mercer import KernelRidge
from mercer.cli import app
from mercer.kernels import Gaussian, Linear, gaussian_over


def explained(kernel, folder, count=12):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, count)), columns=[f"c{j}" for j in range(count)])
    machine = KernelRidge(kernel, 0.1).fit(frame, 3 * frame["c1"])
    mercer.save(machine, folder / "model.mercer")
    frame.to_csv(folder / "rows.csv", index=False)
    arguments = ["explain", str(folder / "model.mercer"), str(folder / "rows.csv"), "--row", "2"]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    return answer.stdout, machine.predict(frame.iloc[[2]])[0]


def test_columns_come_first_and_add_up(tmp_path):
    said, score = explained(Gaussian(4.0), tmp_path)
    block = said.split("What each column contributed")[1].split("\n\n")[0]
    lines = [line.rsplit(maxsplit=1) for line in block.splitlines()[3:]]
    assert lines[0][0].split()[0] == "c1" and lines[-1][0].strip() == "score"
    values = [float(value) for _, value in lines]
    assert len(values) == 13 and "2 more" in lines[10][0]  # ten, others, base, score
    np.testing.assert_allclose(sum(values[:-1]), score, atol=0.01)
    np.testing.assert_allclose(values[-1], score, rtol=1e-3)
    headings = re.findall(r"^(What|Known).*", said, re.MULTILINE)
    assert headings[0] == "What" and headings[-1] == "Known"


def test_a_kernel_of_all_columns_at_once_has_no_shares(tmp_path):
    said, _ = explained(gaussian_over(Linear() * Linear(), 5.0), tmp_path, count=3)
    assert "What each column" not in said and "Known rows" in said
