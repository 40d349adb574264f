"""Every solver keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import SOLVER_LAWS
from tests.laws.entries import complaints
from tests.laws.registry import SOLVERS


def silent(case):
    """Return the laws that claim nothing about a solver."""
    laws = {"operators", "removal_without_penalty"} if case.features else set()
    if case.solver.requires.penalty:
        laws.add("removal_without_penalty")
    repairs = getattr(case.solver, "indefinite", "error") != "error"
    return laws if repairs else laws | {"repair"}


@pytest.mark.parametrize("case", SOLVERS, ids=str)
def test_laws(case):
    assert complaints(SOLVER_LAWS, lambda: case, silent(case)) == []
