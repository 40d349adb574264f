"""Every solver keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import SOLVER_LAWS, Inapplicable, apply
from tests.laws.registry import SOLVERS


def silent(case):
    """Return the laws that claim nothing about a solver."""
    laws = {"operators", "removal_without_penalty"} if case.features else set()
    if case.solver.name == "iterative":  # needs a penalty
        laws.add("removal_without_penalty")
    repairs = getattr(case.solver, "indefinite", "error") != "error"
    return laws if repairs else laws | {"repair"}


@pytest.mark.parametrize("law", SOLVER_LAWS)
@pytest.mark.parametrize("case", SOLVERS, ids=str)
def test_law(case, law):
    if law in silent(case):
        with pytest.raises(Inapplicable):
            apply(SOLVER_LAWS[law], case)
    else:
        apply(SOLVER_LAWS[law], case)
