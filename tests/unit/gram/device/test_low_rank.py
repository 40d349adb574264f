"""Factors of low rank on a device: what they leave is what they say, and their inverse is one."""

import numpy as np
import pytest

from mercer.errors import PlanWarning
from mercer.gram import Blocked
from mercer.gram.device import OnDevice, low_rank
from mercer.kernels import Gaussian
from mercer.solvers.pivoted_cholesky import pivoted_cholesky

torch = pytest.importorskip("torch")
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
K = Gaussian(1.5)
G = K(X)
GRAM = OnDevice(K, K.admit(X), "cpu", "double")


def test_what_is_left_is_the_diagonal_of_the_rest(monkeypatch):
    monkeypatch.setattr(low_rank, "STRIPE_ENTRIES", 1 << 12)
    monkeypatch.setattr(low_rank, "DRAWN_AT_ONCE", 16)
    factor = GRAM.low_rank(60, 0.0, 0)
    F = factor.rows.numpy().T
    rest = G - F @ F.T
    assert factor.rank == 60
    np.testing.assert_allclose(np.diag(rest), factor.left, atol=1e-12)
    assert np.linalg.eigvalsh(rest)[0] > -1e-12
    # As good as that of the CPU, which draws in smaller blocks.
    assert factor.left.sum() < 2 * pivoted_cholesky(Blocked(K, K.admit(X)), 60).left.sum()


def test_it_stops_when_enough_is_explained():
    assert GRAM.low_rank(200, 1.0, 0).rank < 150
    assert GRAM.low_rank(200, 1.0, 0).left.sum() <= 1.0


@pytest.mark.parametrize("roots", [None, rng.uniform(0.5, 2.0, 200)], ids=["plain", "weighted"])
def test_inverse(roots):
    factor = GRAM.low_rank(40, 0.0, 0)
    F = factor.rows.numpy().T
    S = np.eye(200) if roots is None else np.diag(roots)
    V = rng.normal(size=(200, 2))
    found = factor.inverse(0.1, roots)(S @ F @ (F.T @ S @ V) + 0.1 * V)
    np.testing.assert_allclose(found, V, atol=1e-9)


def test_a_full_device_gets_fewer_columns(monkeypatch):
    def full(shape, dtype, device):
        if shape[0] > 70:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return torch.empty(shape, dtype=dtype, device=device)

    monkeypatch.setattr(low_rank, "allocate", full)
    with pytest.warns(PlanWarning, match="it has 65, which means more steps"):
        assert GRAM.low_rank(130, 0.0, 0).rank == 65
    monkeypatch.setattr(low_rank, "MIN_COLUMNS", 100)
    with pytest.raises(MemoryError, match="not even with 100 columns"):
        GRAM.low_rank(130, 0.0, 0)
