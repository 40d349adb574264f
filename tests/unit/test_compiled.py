"""Loops are compiled when they are first called, and not before."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from mercer.compiled import Loop, compiled


@compiled
def _doubled(x):
    return 2.0 * x


@compiled(error_model="numpy")
def total(values):
    """Return twice the sum of some values."""
    found = 0.0
    for i in range(len(values)):
        found += _doubled(values[i])
    return found


def test_a_loop_calls_other_loops_of_its_module():
    first = total  # as another module would have imported it
    assert first(np.arange(4.0)) == 12.0
    assert total(np.arange(3.0)) == 6.0


def test_another_thread_never_meets_a_loop_before_what_it_calls(monkeypatch):
    import numba

    def module(name, code, **given):
        names = {"compiled": compiled, "__name__": name, **given}
        exec(code, names)
        return names

    below = module("below", "@compiled\ndef inner(x): return deepest(x) + 1\n\n"
                   "@compiled\ndef deepest(x): return x")  # fmt: skip
    above = module("above", "@compiled\ndef outer(x): return helper(x)\n\n"
                   "@compiled\ndef helper(x): return inner(x)", inner=below["inner"])  # fmt: skip
    loops = [below["inner"], below["deepest"], above["outer"], above["helper"]]

    def njit(**options):
        assert all(isinstance(names[loop.__name__], Loop) for names, loop in zip(
            (below, below, above, above), loops, strict=True))  # fmt: skip
        assert all(loop._dispatcher is None for loop in loops)
        return lambda function: ("dispatcher", function.__name__)

    monkeypatch.setattr(numba, "njit", njit)
    assert loops[2].dispatcher == ("dispatcher", "outer")
    assert above["inner"] == below["inner"] == ("dispatcher", "inner")
    assert above["helper"] == ("dispatcher", "helper")
    assert below["deepest"] == loops[1].dispatcher == ("dispatcher", "deepest")


def test_a_loop_keeps_its_name_and_its_docstring():
    loop = compiled(_plain)
    assert isinstance(loop, Loop)
    assert (loop.__name__, loop.__doc__) == ("_plain", "Return what is given.")


def test_what_was_compiled_is_known():
    loop = compiled(_plain)
    assert loop(1) == 1
    assert loop(2.0) == 2.0
    assert len(loop.dispatcher.signatures) == 2


def test_a_file_with_loops_does_not_load_numba():
    code = "import sys, mercer.kernels; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"


def _plain(x):
    """Return what is given."""
    return x
