"""Every machine keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import MACHINE_LAWS
from tests.laws.entries import complaints
from tests.laws.registry import MACHINES

ESTIMATOR = {"estimator": MACHINE_LAWS["estimator"]}  # a hundred checks of scikit-learn
OTHERS = {name: law for name, law in MACHINE_LAWS.items() if name not in ESTIMATOR}


def first_of_each(entries):
    """Return the first exact entry of each class of machines, and the first approximate one."""
    found = {}
    for entry in entries:
        found.setdefault((type(entry.machine), approximate(entry)), entry)
    return [
        pytest.param(entry, marks=pytest.mark.slow) if approximate(entry) else entry
        for entry in found.values()
    ]


def approximate(entry):
    return entry.machine.get_params(deep=False).get("follow") is not None


@pytest.mark.parametrize("entry", MACHINES, ids=str)
def test_laws(entry):
    laws = MACHINE_LAWS if "estimator" in entry.silent else OTHERS
    assert complaints(laws, lambda: entry.case, entry.silent) == []


@pytest.mark.parametrize(
    "entry", first_of_each(e for e in MACHINES if "estimator" not in e.silent), ids=str
)
def test_checks_of_scikit_learn(entry):
    assert complaints(ESTIMATOR, lambda: entry.case, entry.silent) == []


def test_every_class_that_can_be_is_checked_by_scikit_learn():
    checked = {type(entry.machine) for entry in MACHINES if "estimator" not in entry.silent}
    assert checked == {type(entry.machine) for entry in MACHINES}
