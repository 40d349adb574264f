"""Maps of stimuli: distances on them are like dissimilarities."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform

from mercer.cognition.similarity.scaling import classical_scaling, stimulus_map
from mercer.errors import DomainError

POINTS = np.random.default_rng(0).normal(size=(9, 2)) * (3.0, 1.0)
D = squareform(pdist(POINTS))


def test_distances_of_points_are_found_again():
    found = stimulus_map(D)
    np.testing.assert_allclose(found.distances, D, atol=1e-3)
    assert found.stress < 1e-4 and "excellent" in str(found)
    np.testing.assert_allclose(squareform(pdist(classical_scaling(D))), D, atol=1e-9)


def test_the_axes_are_principal_and_the_same_however_the_stimuli_are_turned():
    X = stimulus_map(D).coordinates
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    covariance = X.T @ X
    assert abs(covariance[0, 1]) < 1e-9 < covariance[1, 1] < covariance[0, 0]


@pytest.mark.slow
def test_only_the_order_matters_without_a_metric():
    curved = D**3
    metric, ordinal = stimulus_map(curved), stimulus_map(curved, metric=False)
    assert ordinal.stress < 0.02 < metric.stress
    again = stimulus_map(np.exp(D) - 1, metric=False)
    assert again.stress == pytest.approx(ordinal.stress, abs=0.01)
    scale = np.vdot(D, ordinal.distances) / np.vdot(ordinal.distances, ordinal.distances)
    assert np.corrcoef(D.ravel(), ordinal.distances.ravel())[0, 1] > 0.99 and scale > 0


def test_disparities_keep_the_order_of_dissimilarities():
    rng = np.random.default_rng(1)
    noisy = squareform(pdist(rng.normal(size=(8, 5))))
    found = stimulus_map(noisy, metric=False)
    order = np.argsort(squareform(noisy))
    assert (np.diff(squareform(found.disparities)[order]) >= -1e-9).all()
    apart = squareform(found.distances) - squareform(found.disparities)
    stress = np.sqrt(np.sum(apart**2) / np.sum(squareform(found.distances) ** 2))
    assert found.stress == pytest.approx(stress, rel=1e-6)


def test_equal_stimuli_are_not_missing_ones():
    twice = np.vstack([POINTS, POINTS[:1]])
    found = stimulus_map(squareform(pdist(twice)), metric=False)
    assert found.distances[0, -1] < 0.05 * found.distances.max()


def test_more_dimensions_have_less_stress_and_starts_are_reproducible():
    rng = np.random.default_rng(2)
    noisy = squareform(pdist(rng.normal(size=(8, 5))))
    stresses = [stimulus_map(noisy, k).stress for k in (1, 2, 3)]
    assert stresses == sorted(stresses, reverse=True)
    np.testing.assert_array_equal(stimulus_map(noisy).coordinates, stimulus_map(noisy).coordinates)


def test_similarities_become_dissimilarities_and_frames_bring_their_labels():
    names = list("abcdefghi")
    S = pd.DataFrame(1 - D / D.max(), index=names, columns=names)
    found = stimulus_map(S, kind="similarities")
    assert found.labels == tuple(names)
    np.testing.assert_allclose(found.distances * D.max(), D, atol=1e-3)
    ratings = stimulus_map(7 - 6 * D / D.max(), kind="similarities")
    np.testing.assert_allclose(ratings.distances * D.max() / 6, D, atol=1e-3)


def test_the_worst_stimulus_is_named():
    strange = D.copy()
    strange[4, :] *= 2
    strange[:, 4] *= 2
    assert stimulus_map(strange, labels=list("abcdefghi")).worst == "e"


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([[0, 1], [2, 0]], {}, "those of 0 and 1 are 1 and 2"),
        ([[1, 0.5], [0.5, 1]], {}, "say kind='similarities'"),
        ([[0, -1], [-1, 0]], {"labels": ["p", "q"]}, "-1 for p and q"),
        ([[0, np.nan], [1, 0]], {}, "not a finite number"),
        ([[0, 1], [1, 0]], {"dimensions": 2}, "1 to 1 dimensions"),
        ([[0, 0], [0, 0]], {"dimensions": 1}, "alike"),
        ([[0, 1], [1, 0]], {"kind": "similarity"}, "did you mean 'similarities'"),
        ([[0, 1, 2]], {}, "row and a column"),
    ],
)
def test_what_cannot_be_mapped_is_refused_by_name(matrix, options, message):
    with pytest.raises(DomainError, match=message):
        stimulus_map(matrix, **options)


def test_colors_lie_on_a_circle():
    path = Path(os.environ.get("MERCER_DATA", "missing")) / "cogsci" / "ekman.csv"
    if not path.exists():
        pytest.skip("MERCER_DATA has no similarities of colors")
    found = stimulus_map(pd.read_csv(path, index_col=0), kind="similarities", metric=False)
    assert found.stress < 0.04
    X = found.coordinates
    angles = np.unwrap(np.arctan2(X[:, 1], X[:, 0]))
    assert abs(np.sum(np.sign(np.diff(angles)))) == len(X) - 1  # in the order of the spectrum
    radii = np.hypot(*X.T)
    assert radii.std() < 0.1 * radii.mean()
