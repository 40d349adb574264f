"""Prototypes: nearest means, with a threshold and with the metric of the covariance."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from mercer.errors import DomainError, SolveError, ValidityError
from mercer.kernels import Gaussian, Linear, Polynomial, QuadraticForm, Sigmoid
from mercer.machines.prototype import PrototypeClassifier


def blobs(classes=3, n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(classes, d))[y], y


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_the_linear_kernel_gives_the_nearest_centroid(classes):
    X, y = blobs(classes)
    new = np.random.default_rng(1).normal(scale=4.0, size=(200, 2))
    expected = NearestCentroid().fit(X, y).predict(new)
    np.testing.assert_array_equal(PrototypeClassifier().fit(X, y).predict(new), expected)
    np.testing.assert_array_equal(
        PrototypeClassifier(1.0 * Linear()).fit(X, y).predict(new), expected
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_features_and_similarities_give_the_same_scores(classes):
    X, y = blobs(classes)
    by_features = PrototypeClassifier(Polynomial(2, offset=1.0)).fit(X, y)
    assert by_features.coef_.shape[0] == 6
    by_similarities = by_features.function_(X) + by_features.intercept_
    np.testing.assert_allclose(by_features.decision_function(X), by_similarities, atol=1e-9)
    assert PrototypeClassifier(Gaussian(1.0)).fit(X, y).coef_ is None


def test_the_threshold_is_free_for_two_classes():
    X, y = blobs(2)
    machine = PrototypeClassifier(Gaussian(2.0)).fit(X, y)
    moved = PrototypeClassifier(Gaussian(2.0), threshold=machine.threshold_ + 0.1).fit(X, y)
    np.testing.assert_allclose(
        moved.decision_function(X), machine.decision_function(X) - 0.1, atol=1e-12
    )
    assert PrototypeClassifier(threshold=1e9).fit(X, y).predict(X).max() == 0


def test_the_metric_of_the_covariance_gives_linear_discriminant_analysis():
    for classes in (2, 3):
        X, y = blobs(classes, n=90)
        X = X @ np.array([[1.0, 0.9], [0.0, 0.3]])
        machine = PrototypeClassifier(metric="covariance").fit(X, y)
        peer = LinearDiscriminantAnalysis(priors=np.full(classes, 1 / classes)).fit(X, y)
        new = np.random.default_rng(1).normal(scale=4.0, size=(300, 2))
        np.testing.assert_array_equal(machine.predict(new), peer.predict(new))
        assert isinstance(machine.kernel_, QuadraticForm)


def test_the_metric_of_the_covariance_reads_sparse_rows_and_weights():
    X, y = blobs(2)
    times = np.arange(len(X)) % 3
    one = PrototypeClassifier(metric="covariance").fit(sparse.csr_array(X), y, times)
    rows = np.repeat(np.arange(len(X)), times)
    many = PrototypeClassifier(metric="covariance").fit(X[rows], y[rows])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9)


def test_a_singular_covariance_is_refused_with_what_to_do():
    X, y = blobs(2)
    with pytest.raises(SolveError, match=r"rank 2, but there are 3 columns.*leave columns out"):
        PrototypeClassifier(metric="covariance").fit(np.column_stack([X, X[:, 0]]), y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"metric": "covarience"}, "did you mean 'covariance'"),
        ({"metric": "covariance", "kernel": Gaussian(1.0)}, 'use kernel="linear"'),
        ({"metric": "covariance", "kernel": "precomputed"}, 'use kernel="linear"'),
        ({"threshold": np.inf}, "threshold .* finite number"),
        ({"kernel": Sigmoid(1.0, -1.0)}, "positive semi-definite"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(settings, words):
    X, y = blobs(2, n=10, d=10)
    with pytest.raises(ValidityError, match=words):
        PrototypeClassifier(**settings).fit(X, y)


def test_a_threshold_needs_two_classes():
    with pytest.raises(ValidityError, match="between two classes, but y has 3"):
        PrototypeClassifier(threshold=0.0).fit(*blobs(3))


def test_a_class_without_weight_has_no_mean():
    X, y = blobs(3)
    with pytest.raises(DomainError, match="all items of the class 1 have weight zero"):
        PrototypeClassifier().fit(X, y, sample_weight=(y != 1).astype(float))
