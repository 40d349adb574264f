"""Every machine answers a stream as it answers an array."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mercer.machines
from mercer import Stream
from mercer.kernels import Gaussian
from mercer.machines.machine import ANSWERS, Machine

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
LABELS = np.where(X[:, 0] > 0, "a", "b")
NEW = RNG.standard_normal((25, 2))
MACHINES = sorted(
    {
        thing
        for _, thing in inspect.getmembers(mercer.machines, inspect.isclass)
        if issubclass(thing, Machine) and "kernel" in inspect.signature(thing).parameters
    },
    key=lambda thing: thing.__name__,
)


def test_there_are_many():
    assert len(MACHINES) > 15


@pytest.mark.parametrize("kind", MACHINES)
def test_a_stream_is_answered_in_chunks(kind):
    machine = kind(Gaussian(1.0))
    try:
        machine.fit(X, LABELS)
    except ValueError:
        machine = kind(Gaussian(1.0)).fit(X, X[:, 1])
    methods = [name for name in ANSWERS if hasattr(machine, name)]
    assert methods
    for name in methods:
        answer = getattr(machine, name)
        whole, parts = answer(NEW), answer(Stream.rows(NEW, size=7))
        if whole.dtype.kind == "f":
            np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-9)
        else:
            assert np.array_equal(parts, whole)
