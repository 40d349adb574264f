"""Every machine keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import MACHINE_LAWS, Inapplicable, apply
from tests.laws.registry import MACHINES


@pytest.mark.parametrize("law", MACHINE_LAWS)
@pytest.mark.parametrize("entry", MACHINES, ids=str)
def test_law(entry, law):
    if law in entry.silent:
        with pytest.raises(Inapplicable):
            apply(MACHINE_LAWS[law], entry.case)
    else:
        apply(MACHINE_LAWS[law], entry.case)
