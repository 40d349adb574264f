"""SUSTAIN: the published figures of Love, Medin & Gureckis (2004).

Reference figures: the root mean squared error to the learning curves of Nosofsky et al. (1994) is
about 0.0282 over 10,000 simulated learners, according to the page on which the authors publish
their program; in their free sorting simulation, 99 percent sorted by one dimension.
"""

import numpy as np
import pytest

from mercer.cognition import SUSTAIN, shj, shj_human

TYPES = range(1, 7)
PUBLISHED = {"focus": 9.01245, "competition": 1.252233, "choice": 16.924073, "rate": 0.092327}
SORTING = {"focus": 9.998779, "competition": 6.396300, "choice": 1.977312, "rate": 0.096564}


def rmse(curves):
    # Their program divides by 95, one less than there are points.
    return np.sqrt(np.sum((curves - shj_human()) ** 2) / 95)


@pytest.mark.slow
def test_the_six_types_are_as_near_to_people_as_published():
    model = SUSTAIN(**PUBLISHED)
    curves = np.array([model.simulate(shj(k), 4000, criterion=(8, 4)) for k in TYPES])
    # 10,000 learners give 0.0280, 0.0281 and 0.0282 with the seeds 0, 1 and 2, and 0.0283 to
    # 0.0286 with ties broken at random; printed is "approximately 0.0282".
    assert rmse(curves) == pytest.approx(0.0282, abs=0.0003)


def test_the_order_of_difficulty_is_that_of_people():
    model = SUSTAIN(**PUBLISHED)
    one, two, *middle, six = (model.simulate(shj(k), 300).mean() for k in TYPES)
    assert one < two < min(middle) <= max(middle) < six


def test_type_i_needs_two_clusters_and_type_vi_one_for_each_stimulus():
    """The most frequent solutions that are reported: 2 for type I, 4 for II, 8 for VI."""
    model, modes = SUSTAIN(**PUBLISHED), []
    for kind in (1, 2, 6):
        design = shj(kind)
        counts = []
        for order in design.orders(60, seed=0):
            model.fit(design.stimuli[order], design.categories[order])
            counts.append(len(model.clusters_))
        modes.append(int(np.bincount(counts).argmax()))
    assert modes == [2, 4, 8]


def test_free_sorting_follows_one_dimension():
    """Medin, Wattenmaker & Hampson (1987): ten members of two families, two piles allowed."""
    half = np.vstack([np.ones(4), 1 - np.eye(4)])
    items, one_dimension = np.vstack([half, 1 - half]), 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        order = np.concatenate([rng.permutation(10) for _ in range(10)])
        model = SUSTAIN(**SORTING, threshold=0.5, max_clusters=2).fit(items[order])
        piles = model.predict(items)
        agreement = np.abs((items == piles[:, None]).mean(axis=0) - 0.5)
        one_dimension += np.isclose(agreement.max(), 0.5)
    assert one_dimension / 200 >= 0.98
