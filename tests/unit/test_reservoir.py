"""A sample of rows that come by once takes few of them."""

import numpy as np
import pytest

from mercer.reservoir import Reservoir


def offered(sizes, limit, seed=0):
    """Return a reservoir that was offered numbers from 0 on in parts, and the most it held."""
    reservoir, start, most = Reservoir(limit, seed, np.concatenate), 0, 0
    for size in sizes:
        reservoir.offer(np.arange(start, start + size))
        start, most = start + size, max(most, sum(map(len, reservoir.kept)))
    reservoir.settle()
    return reservoir, most


@pytest.mark.parametrize("size", [1, 5, 9, 10, 11, 400])
def test_it_holds_few_rows(size):
    reservoir, most = offered([size] * (2000 // size), 10)
    assert most <= 40 and len(reservoir.kept[0]) == 10


@pytest.mark.parametrize("sizes", [[100], [1] * 100, [3, 0, 50, 47], [99, 1]])
def test_parts_do_not_matter(sizes):
    reservoir, _ = offered(sizes, 10, seed=4)
    np.testing.assert_array_equal(reservoir.kept[0], reservoir.places)
    np.testing.assert_array_equal(reservoir.places, offered([100], 10, seed=4)[0].places)


def test_nothing_and_little_are_kept_as_they_are():
    assert offered([], 10)[0].kept == []
    np.testing.assert_array_equal(offered([2, 3], 10)[0].places, np.arange(5))
