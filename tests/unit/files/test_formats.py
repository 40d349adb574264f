"""Files that an older mercer has written are read by every later one."""

import re
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.files import container, describe, registry
from mercer.files.container import VERSION, opened, write
from tests.unit.files.answers import answers
from tests.unit.files.zoo import keep

HERE = Path(__file__).parent
STORED = {int(re.sub(r"\D", "", path.stem)): path for path in HERE.glob("format*.mercer")}


def test_there_is_a_file_of_every_format():
    assert set(STORED) == set(range(1, VERSION + 1))
    assert all(describe(path)["format"] == version for version, path in STORED.items())


@pytest.mark.parametrize("version", STORED)
def test_machines_of_an_older_file_answer_as_they_did(version):
    machines, notes = mercer.load(STORED[version]), describe(STORED[version])["notes"]
    assert len(machines) == len(notes) >= 17
    for name, (items, expected) in notes.items():
        found = answers(machines[name], items)
        assert set(found) == set(expected), name
        for method, values in expected.items():
            check(found[method], values, f"{method} of {name}")


def check(found, expected, what):
    """Compare answers; another computer may add up in another order."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=what)
    else:
        assert found.tolist() == expected.tolist(), what


@pytest.mark.slow
@pytest.mark.parametrize("version", STORED)
def test_an_older_machine_can_be_saved_again(version, tmp_path):
    machines = mercer.load(STORED[version])
    mercer.save(machines, tmp_path / "x")
    assert describe(tmp_path / "x")["format"] == VERSION
    for name, machine in mercer.load(tmp_path / "x").items():
        items = describe(STORED[version])["notes"][name][0]
        for method, values in answers(machines[name], items).items():
            check(answers(machine, items)[method], values, f"{method} of {name}")


def test_a_file_of_today_goes_through_the_upgrades_of_tomorrow(tmp_path, monkeypatch):
    """Format 2, which there is not yet, might call ridge regression by another name."""
    path = tmp_path / "x"
    path.write_bytes(STORED[1].read_bytes())

    def upgrade(document):
        return {**document, "model": renamed(document["model"], "KernelRidge", "Regression")}

    monkeypatch.setattr(container, "VERSION", 2)
    monkeypatch.setattr(container, "UPGRADES", {1: upgrade})
    with opened(path) as (document, _):
        assert document["format"] == 2
        assert '"machines.Regression"' in str(document).replace("'", '"')
        assert '"machines.KernelRidge"' not in str(document).replace("'", '"')
    monkeypatch.setitem(registry.RENAMED, "machines.Regression", "machines.KernelRidge")
    assert mercer.load(path)["ridge"].predict([[1.0, 2.0]]).shape == (1,)


def renamed(node, old, new):
    if isinstance(node, dict):
        return {key: renamed(value, old, new) for key, value in node.items()}
    if isinstance(node, list):
        return [renamed(value, old, new) for value in node]
    return f"machines.{new}" if node == f"machines.{old}" else node


@pytest.mark.slow
def test_the_next_format_can_be_kept_too(tmp_path):
    keep(tmp_path / "x")
    machines, notes = mercer.load(tmp_path / "x"), describe(tmp_path / "x")["notes"]
    assert machines.keys() == notes.keys()


def test_a_file_without_a_way_to_the_present_is_refused(tmp_path, monkeypatch):
    with open(tmp_path / "x", "wb") as file:
        write(file, {"model": 1}, {})
    monkeypatch.setattr(container, "VERSION", 2)
    with pytest.raises(mercer.errors.FileError, match="no longer reads"):
        mercer.load(tmp_path / "x")


OLDER_PLAN = {"route": "auto", "solver": "eigen", "precision": "auto", "memory": None,
              "bytes": None, "reasons": {"tuple": []}, "rank": None, "direct": False,
              "approximate": "auto", "patience": 600.0, "device": "cpu", "seconds": None,
              "tol": 0.01}  # fmt: skip


def older_plan(path, name="plans.Plan", **changes):
    """Return what is read of a plan as it was written when it was also the decision."""
    with open(path, "wb") as file:
        write(file, {"model": {"record": [name, {**OLDER_PLAN, **changes}]}}, {})
    return mercer.load(path)


def test_what_a_user_asked_for_in_an_older_file_is_still_asked_for(tmp_path):
    assert older_plan(tmp_path / "x") == mercer.Plan(solver="eigen", device="cpu", tol=0.01)


def test_what_was_decided_in_an_older_file_says_what_ran(tmp_path):
    fields = {"route": "dual", "precision": "double", "bytes": 1000}
    plain = older_plan(tmp_path / "x", **fields)
    assert plain.headline == "Route dual, solver eigen, double precision."
    assert plain.tol == 0.01
    newton = older_plan(tmp_path / "x", "plans.NewtonPlan", **fields, each=False)
    assert (newton.solver, newton.each) == ("newton", False)
    margin = older_plan(
        tmp_path / "x", "plans.MarginPlan", **fields, stored=False, working=64, largest=64, kept=8
    )
    assert margin.headline == (
        "Route dual, block SMO on working sets of 64, stored in double precision."
    )
