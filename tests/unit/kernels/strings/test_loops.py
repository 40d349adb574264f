"""A block of a set with itself is written whole, whatever was in its memory before."""

import numpy as np
import pytest

from mercer.domains import STRINGS
from mercer.engine.block import Block
from mercer.kernels import SetKernel, Subsequence, WeightedDegree
from mercer.kernels.strings.loops import gaps, runs

rng = np.random.default_rng(0)
WORDS = ["".join(rng.choice(list("abc"), size)) for size in rng.integers(0, 9, 30)]


@pytest.mark.parametrize(
    "fill, k",
    [
        (lambda block, out: gaps(block, 3, 0.5, out), Subsequence(3, 0.5)),
        (lambda block, out: runs(block, 3, np.array([1.0, 0.25]) / 12, out), WeightedDegree(3, 1)),
    ],
    ids=["gaps", "runs"],
)
def test_both_halves_of_a_symmetric_block_are_written(fill, k):
    words = STRINGS.admit(WORDS)
    found = fill(Block(words, words, True), np.full((30, 30), np.nan))
    assert found == pytest.approx(np.array([[k.pair(x, z) for z in WORDS] for x in WORDS]))


@pytest.mark.parametrize("base", [Subsequence(2, 0.5), WeightedDegree(2, 1)], ids=repr)
def test_bags_add_up_both_halves(base):
    k = SetKernel(base)
    bags = [WORDS[i : i + 10] for i in range(0, 30, 10)]
    base(["spoiled memory " + word for word in WORDS * 3])
    assert k(bags) == pytest.approx(np.array([[k.pair(x, z) for z in bags] for x in bags]))
    assert k.diagonal(bags) == pytest.approx(np.diag(k(bags)))
