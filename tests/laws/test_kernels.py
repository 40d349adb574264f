"""Every kernel keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import KERNEL_LAWS, Inapplicable, apply
from tests.laws.registry import KERNELS


@pytest.mark.parametrize("law", KERNEL_LAWS)
@pytest.mark.parametrize("entry", KERNELS, ids=str)
def test_law(entry, law):
    if law in entry.silent():
        with pytest.raises(Inapplicable):
            apply(KERNEL_LAWS[law], entry.case)
    else:
        apply(KERNEL_LAWS[law], entry.case)


@pytest.mark.parametrize("entry", KERNELS, ids=str)
def test_verdict(entry):
    assert entry.case.resolved.proof().verdict == entry.verdict
