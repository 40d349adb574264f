"""Every kernel keeps every law that claims something about it, and no other."""

import pytest

from mercer.testing import KERNEL_LAWS
from tests.laws.entries import complaints, nodes_of
from tests.laws.registry import KERNELS


def quick_and_slow(entries):
    """Mark as slow the entries that bring no new class of kernels, kind of items, or law for the
    class: other parameters and other compositions of what was there before."""
    seen = set()
    for entry in entries:
        kernel, laws = entry.kernel, set(KERNEL_LAWS) - entry.silent()
        brings = nodes_of(kernel) | {entry.items} | {(type(kernel), law) for law in laws}
        yield entry if brings - seen else pytest.param(entry, marks=pytest.mark.slow)
        seen |= brings


@pytest.mark.parametrize("entry", list(quick_and_slow(KERNELS)), ids=str)
def test_laws(entry):
    assert complaints(KERNEL_LAWS, lambda: entry.case, entry.silent()) == []
    assert entry.case.resolved.proof().verdict == entry.verdict
