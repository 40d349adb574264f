"""Global alignment against the sum over all alignments, written out, and against exact counts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Block, GlobalAlignment

numbers = st.floats(-3.0, 3.0)
short = st.lists(numbers, min_size=1, max_size=4)


def alignments(n, m):
    """Yield every way through two series of n and m steps, from the first to the last of both."""
    if (n, m) == (1, 1):
        yield [(0, 0)]
    for before in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        if min(before) >= 1:
            for path in alignments(*before):
                yield [*path, (n - 1, m - 1)]


def enumerated(x, z, bandwidth, triangular=None, local="divisible"):
    """Add up the products of local similarities over all alignments."""
    x, z = (np.asarray(s, float).reshape(len(s), -1) for s in (x, z))

    def similarity(i, j):
        g = math.exp(-float(np.sum((x[i] - z[j]) ** 2)) / (2 * bandwidth**2))
        if triangular is not None:
            g *= max(1 - abs(i - j) / triangular, 0.0)
        return (g / 2) / (1 - g / 2) if local == "divisible" else g

    paths = alignments(len(x), len(z))
    return math.fsum(math.prod(similarity(i, j) for i, j in path) for path in paths)


def test_there_are_as_many_alignments_as_delannoy_numbers():
    counts = [[len(list(alignments(n, m))) for m in (1, 2, 3, 4)] for n in (1, 2, 3, 4)]
    assert counts == [[1, 1, 1, 1], [1, 3, 5, 7], [1, 5, 13, 25], [1, 7, 25, 63]]


@settings(deadline=None, max_examples=60)
@given(
    short,
    short,
    st.floats(0.2, 5.0),
    st.sampled_from([None, 1, 2, 3, 10]),
    st.sampled_from(["divisible", "gaussian"]),
)
def test_the_sum_over_all_alignments(x, z, bandwidth, triangular, local):
    k = GlobalAlignment(bandwidth, triangular, normalized=False, local=local)
    expected = enumerated(x, z, bandwidth, triangular, local)
    # What is below the smallest floating-point number is zero to both.
    assert k([x], [z])[0, 0] == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert k.pair(x, z) == pytest.approx(expected, rel=1e-11, abs=1e-300)
    norm = math.sqrt(enumerated(x, x, bandwidth, triangular, local))
    norm *= math.sqrt(enumerated(z, z, bandwidth, triangular, local))
    cosine = k.set_params(normalized=True)([x], [z])[0, 0]
    assert cosine == pytest.approx(expected / norm, rel=1e-11, abs=1e-300)


def test_several_channels():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    k = GlobalAlignment(1.3, normalized=False)
    assert k([x], [z])[0, 0] == pytest.approx(enumerated(x, z, 1.3), rel=1e-13)


def delannoy(n):
    """Return how many alignments two series of n steps have, exactly."""
    before, count = 1, 1
    for i in range(1, n):
        before, count = count, (3 * (2 * i - 1) * count - (i - 1) * before) // i
    return count


@pytest.mark.parametrize("steps", [1, 2, 3, 400, pytest.param(5000, marks=pytest.mark.slow)])
def test_constant_series_count_their_alignments(steps):
    """κ = 1 wherever two steps are equal, so k is a whole number, of up to 3800 digits."""
    k = GlobalAlignment(1.0, normalized=False)
    points = k.admit([[7.0] * steps])
    exact = math.log(delannoy(steps))
    assert k.logarithms(Block(points, points))[0, 0] == pytest.approx(exact, rel=1e-14)
    assert k.set_params(normalized=True)([[7.0] * steps]) == 1.0


def by_diagonals(x, z, bandwidth):
    """Return ln k by the recursion in logarithms, one diagonal of the table at a time."""
    n, m = len(x), len(z)
    last, before = np.full(n + 1, -np.inf), np.full(n + 1, -np.inf)
    before[0] = 0.0  # the diagonal of the place before both series begin
    for d in range(n + m - 1):
        i = np.arange(max(0, d - m + 1), min(n, d + 1))
        phi = (x[i] - z[d - i]) ** 2 / (2 * bandwidth**2)
        phi += np.log(2 - np.exp(-phi))
        # Entry i + 1 belongs to step i of x: its neighbors are (i−1, j), (i, j−1), (i−1, j−1).
        sums = np.logaddexp(np.logaddexp(last[i], last[i + 1]), before[i])
        new = np.full(n + 1, -np.inf)
        new[i + 1] = sums - phi
        before, last = last, new
    return last[n]


@pytest.mark.parametrize(
    ("lengths", "bandwidth", "jump"),
    [((300, 200), 1.0, 0.0), ((300, 350), 0.05, 0.0), ((200, 200), 1.0, 500.0)],
)
def test_long_series_are_as_logarithms_say(lengths, bandwidth, jump):
    """Also where local similarities are below the smallest floating-point number."""
    rng = np.random.default_rng(0)
    x, z = (np.cumsum(rng.normal(size=n)) for n in lengths)
    z = z + jump * (np.arange(len(z)) > len(z) // 2)
    k = GlobalAlignment(bandwidth, normalized=False)
    found = k.logarithms(Block(k.admit([x]), k.admit([z])))[0, 0]
    assert found == pytest.approx(by_diagonals(x, z, bandwidth), rel=1e-12)
    by_pair = k._log_sum(x[:40, None], z[:40, None])
    assert by_pair == pytest.approx(by_diagonals(x[:40], z[:40], bandwidth), rel=1e-12)


@pytest.mark.slow
def test_series_of_thousands_of_steps():
    rng = np.random.default_rng(1)
    x, z = np.sin(np.arange(5000) / 50), np.sin(np.arange(4800) / 50 + 0.3)
    x, z = x + 0.1 * rng.normal(size=5000), z + 0.1 * rng.normal(size=4800)
    k = GlobalAlignment("median").resolve([x, z])
    K = k([x, z])
    assert np.isfinite(K).all() and np.all(np.diag(K) == 1.0)
    assert 1e-4 < K[0, 1] < 0.9999
    raw = k.set_params(normalized=False)
    found = raw.logarithms(Block(raw.admit([x]), raw.admit([z])))[0, 0]
    assert found == pytest.approx(by_diagonals(x, z, k.bandwidth), rel=1e-12)
