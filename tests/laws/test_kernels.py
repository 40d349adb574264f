"""Every kernel keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import KERNEL_LAWS
from tests.laws.entries import complaints, quick_and_slow
from tests.laws.registry import KERNELS


@pytest.mark.parametrize("entry", quick_and_slow(KERNELS), ids=str)
def test_laws(entry):
    assert complaints(KERNEL_LAWS, lambda: entry.case, entry.silent()) == []
    assert entry.case.resolved.proof().verdict == entry.verdict
