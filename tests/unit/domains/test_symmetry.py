"""Precomputed matrices: rounding is made symmetric, anything else is refused by its worst pair."""

import numpy as np
import pytest

from mercer import SVC, KernelRidge
from mercer.errors import DomainError


def gram(dtype=np.float64, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return (X @ X.T + 5 * np.eye(n)).astype(dtype), np.sign(X[:, 0])


@pytest.mark.parametrize("make", [SVC, KernelRidge])
def test_noise_of_rounding_is_made_symmetric(make):
    K, y = gram()
    noise = 1e-8 * np.random.default_rng(1).normal(size=K.shape)
    plain, noisy = (make("precomputed").fit(M, y) for M in (K, K + noise))
    np.testing.assert_allclose(noisy.predict(K), plain.predict(K), atol=1e-5)
    single = gram(np.float32)[0]
    make("precomputed").fit(single + np.triu(single, 1) * np.float32(1e-7), y)


def test_a_matrix_that_is_not_symmetric_is_refused_by_its_worst_pair():
    K, y = gram()
    K[3, 5] += 1e-4
    K[8, 2] = 1000.0
    K[2, 8] = 1000.002
    with pytest.raises(DomainError, match=r"\(2, 8\) and \(8, 2\).*are 1000\.002 and 1000"):
        KernelRidge("precomputed").fit(K / 1.0, y)
