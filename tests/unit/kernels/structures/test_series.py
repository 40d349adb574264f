"""Global alignment: parameters, heuristic, proof, and what machines do with it."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, KernelRidge
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Categorical, Gaussian, GlobalAlignment, normalize
from mercer.selection import GridSearchCV


def waves(n=24, seed=0):
    """Return slow and fast waves of different lengths, with their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    series = [
        np.sin((0.3 if label else 0.6) * np.arange(rng.integers(15, 25)) + rng.normal())
        for label in labels
    ]
    return series, labels


def test_reversing_both_series_reverses_every_alignment():
    series, _ = waves()
    k = GlobalAlignment(1.0)
    np.testing.assert_allclose(k([x[::-1] for x in series]), k(series), rtol=1e-10)


def test_only_the_ratio_of_distances_to_the_bandwidth_matters():
    series, _ = waves()
    expected = GlobalAlignment(0.7)(series)
    for factor in (1e-8, 3.0, 1e8):
        scaled = GlobalAlignment(0.7 * factor)([5.0 + factor * x for x in series])
        np.testing.assert_allclose(scaled, expected, rtol=1e-5, atol=1e-12)


def test_a_pause_changes_little():
    """That is what alignment is for: time may be stretched."""
    still, moving = [0.0, 0.0, 1.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0]
    other = [2.0, 1.0, 0.0, 0.0, 1.0, 2.0]
    K = GlobalAlignment(0.5)([still, moving, other])
    assert K[0, 1] > 100 * K[0, 2]


def test_triangular_weights_keep_alignments_near_the_diagonal():
    x, z = [0.0, 1.0, 2.0, 1.0], [0.5, 1.0, 1.5, 2.0]
    g = [np.exp(-((a - b) ** 2) / 2) for a, b in zip(x, z, strict=True)]
    only_diagonal = GlobalAlignment(1.0, triangular=1, normalized=False)
    assert only_diagonal([x], [z])[0, 0] == pytest.approx(np.prod([h / (2 - h) for h in g]))
    assert only_diagonal([x], [z[:3]])[0, 0] == 0.0
    assert GlobalAlignment(1.0, triangular=2)([x], [z[:2]])[0, 0] == 0.0
    assert GlobalAlignment(1.0, triangular=3)([x], [z[:2]])[0, 0] > 0.0
    wide = GlobalAlignment(1.0, triangular=10**6)([x], [z])[0, 0]
    assert wide == pytest.approx(GlobalAlignment(1.0)([x], [z])[0, 0], rel=1e-4)


def test_steps_that_are_infinitely_far_for_floating_point_numbers():
    far = [[0.0, 1.0], [1e300, -1e300], [1e9, 2e9]]
    for bandwidth in (1e-300, 1.0, 1e-12):
        np.testing.assert_array_equal(GlobalAlignment(bandwidth)(far), np.eye(3))


def test_the_sum_of_long_series_overflows_and_says_so():
    long = [np.zeros(500)]
    with pytest.raises(ValidityError, match=r"is inf for items 0 and 0.*normalize the kernel"):
        GlobalAlignment(1.0, normalized=False)(long)
    with pytest.raises(ValidityError, match=r"is inf for items 0 and 0"):
        GlobalAlignment(1.0, normalized=False).diagonal(long)
    assert normalize(GlobalAlignment(1.0, normalized=False))(long) == 1.0


def test_the_median_is_of_steps_times_the_root_of_the_median_length():
    series = [[0.0], [1.0, 3.0], [0.0, 1.0, 7.0, 7.0]]
    steps = np.concatenate(series)
    distances = np.abs(steps[:, None] - steps)[np.triu_indices(len(steps), 1)]
    expected = np.median(distances[distances > 0]) * np.sqrt(2.0)
    assert GlobalAlignment().resolve(series).bandwidth == pytest.approx(expected, rel=1e-14)


def test_the_median_of_many_steps_is_that_of_a_fixed_sample():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=(500, 2)) for _ in range(20)]
    k = GlobalAlignment().resolve(series)
    assert k == GlobalAlignment().resolve(series)
    # The median distance of two normal points in the plane is 2·√ln 2.
    assert k.bandwidth == pytest.approx(2 * np.sqrt(np.log(2)) * np.sqrt(500), rel=0.05)
    assert GlobalAlignment().resolve([[1.0, 1.0], [1.0, 1.0]]).bandwidth == np.sqrt(2.0)


def test_the_median_is_that_of_the_training_fold():
    series, labels = waves()
    machine = KernelRidge(GlobalAlignment()).fit(series[:12], labels[:12])
    expected = GlobalAlignment().resolve(series[:12])
    assert machine.function_.kernel == expected
    assert expected != GlobalAlignment().resolve(series)


def test_machines_and_searches_learn_from_series():
    series, labels = waves(40)
    search = GridSearchCV(
        SVC(GlobalAlignment(1.0)),
        {"kernel__bandwidth": [1.0, 4.0], "kernel__triangular": [None, 8]},
    )
    assert search.fit(series, labels).best_score_ > 0.9
    frame = pd.DataFrame({"course": series, "site": np.arange(40) % 3})
    k = GlobalAlignment(4.0).on("course") * Categorical().on("site") + Gaussian().on("site")
    assert SVC(k).fit(frame[:30], labels[:30]).score(frame[30:], labels[30:]) > 0.8


def test_the_proof_names_its_condition():
    text = str(GlobalAlignment(2.0).proof())
    assert "κ/(1 + κ) = g/2" in text and "geometrically divisible (Cuturi, 2007, 2011)" in text
    assert "κ/(1 + κ) = ωg/2" in str(GlobalAlignment(2.0, triangular=4).proof())
    assert GlobalAlignment().proof().verdict == "proved"


@pytest.mark.parametrize("triangular", [None, 1000])
@pytest.mark.parametrize("bandwidth", [1e-3, 1.0, 50.0])
def test_a_gaussian_as_local_similarity_is_refuted(bandwidth, triangular):
    k = GlobalAlignment(bandwidth, triangular, local="gaussian")
    proof = k.proof()
    assert proof.verdict == "refuted"
    assert np.linalg.eigvalsh(k(proof.witness.points))[0] < -1e-4
    valid = k.set_params(local="divisible")(proof.witness.points)
    assert np.linalg.eigvalsh(valid)[0] > 0
    assert "witness: the Gram matrix of" in str(proof)
    assert GlobalAlignment("median", local="gaussian").proof().verdict == "unknown"


def test_series_of_other_channels_cannot_be_compared():
    k = GlobalAlignment(1.0)
    with pytest.raises(DomainError, match=r"series with 1 and with 2 channels cannot be aligned"):
        k([[1.0, 2.0]], [[[1.0, 2.0]]])
    machine = KernelRidge(k).fit([[1.0], [2.0]], [0.0, 1.0])
    with pytest.raises(DomainError, match=r"with 2 and with 1 channels"):
        machine.predict([[[1.0, 2.0]]])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"bandwidth": 0.0}, r"bandwidth of GlobalAlignment must be a finite number and positive"),
        ({"bandwidth": "scale"}, r"bandwidth of GlobalAlignment.*found 'scale'"),
        ({"bandwidth": [1.0, 2.0]}, r"bandwidth of GlobalAlignment"),
        ({"triangular": 0}, r"triangular of GlobalAlignment must be a whole number from 1 on"),
        ({"triangular": 2.5}, r"triangular of GlobalAlignment must be a whole number"),
        ({"normalized": "yes"}, r"normalized of GlobalAlignment is True or False, found 'yes'"),
        ({"local": "gausian"}, r"local of GlobalAlignment cannot be 'gausian'; did you mean 'g"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ValidityError, match=words):
        GlobalAlignment(**parameters)


def test_a_heuristic_needs_two_steps():
    with pytest.raises(DomainError, match=r"the median distance needs at least two"):
        GlobalAlignment().resolve([[1.0]])
