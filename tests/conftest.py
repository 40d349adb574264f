"""Settings of all tests, and what they may suppose about the computer."""

import gc
from contextlib import ExitStack

import pytest
from hypothesis import settings

from mercer import memory, threads

# Without a deadline, because the first example of a test may compile or import; derandomized, so
# that a failure on one machine is a failure on every machine.
settings.register_profile("mercer", deadline=None, derandomize=True)
settings.load_profile("mercer")


def pytest_collection():
    gc.disable()


def pytest_collection_finish():
    """Keep the garbage collector from looking again and again through thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def use_cores():
    """Return a function that lets mercer work on a number of cores from now on."""
    with ExitStack() as stack:
        yield lambda count: stack.enter_context(threads.using(count))


@pytest.fixture
def free_memory():
    """Return a function that lets mercer suppose a number of free bytes from now on."""
    with ExitStack() as stack:
        yield lambda count: stack.enter_context(memory.supposing(count))
