"""What is new is never taken for what was learned from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from mercer import KernelRidge
from mercer.errors import DomainError
from mercer.kernels import Categorical, Gaussian, assume_psd, gaussian_over, precomputed

rng = np.random.default_rng(0)
X, new = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
y = X[:, 0]
G, C = Gaussian(1.0)(X), Gaussian(1.0)(new, X)


def test_a_square_matrix_of_new_rows_is_not_its_own_reference():
    plain = KernelRidge(precomputed()).fit(G, y)
    np.testing.assert_allclose(plain.predict(C), KernelRidge(Gaussian(1.0)).fit(X, y).predict(new))
    # Distances need similarities of new items to themselves, which C does not have.
    machine = KernelRidge(gaussian_over(precomputed(), 1.0)).fit(G, y)
    with pytest.raises(DomainError, match="diagonal"):
        machine.predict(C)


@pytest.mark.parametrize("kernel", [precomputed(), 2.0 * precomputed(), assume_psd(precomputed())])
def test_folds_of_a_precomputed_matrix_are_cut_both_ways(kernel):
    scores = cross_val_score(KernelRidge(kernel, 0.1), G, y, cv=3)
    factor = getattr(kernel, "factor", 1.0)
    expected = cross_val_score(KernelRidge(factor * Gaussian(1.0), 0.1), X, y, cv=3)
    np.testing.assert_allclose(scores, expected, atol=1e-10)


def test_categories_of_another_number_of_columns_are_refused():
    table = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv")})
    machine = KernelRidge(Categorical()).fit(table, np.arange(4.0))
    with pytest.raises(DomainError):
        machine.predict(table[["a"]])
    with pytest.raises(DomainError):
        Categorical()([["a", "b"]], [["a"]])


def test_column_names_of_mixed_types_are_refused_before_work_starts():
    table = pd.DataFrame({0: [1.0, 2.0], "b": [1.0, 3.0]})
    with pytest.raises(DomainError, match="names"):
        KernelRidge().fit(table, [0.0, 1.0])
