"""Partitions and mixtures: prototype and exemplar models are their two ends."""

import numpy as np
import pytest

from mercer.cognition import GCM, MixtureModel, PrototypeModel, VaryingAbstraction, medin_schaffer
from mercer.cognition.choices.abstraction import _bell, _partitions
from mercer.errors import DomainError, ValidityError

SEEN = medin_schaffer(counts=True)
DATA = (SEEN.exemplars, SEEN.categories, SEEN.stimuli, SEEN.responses)
ONE_EACH, TOGETHER = list(range(9)), [0] * 5 + [1] * 4


@pytest.mark.parametrize(("partition", "end"), [(ONE_EACH, GCM), (TOGETHER, PrototypeModel)])
def test_the_ends_are_exemplars_and_prototypes(partition, end):
    ours = VaryingAbstraction(partition, free=("sensitivity", "attention", "bias")).fit(*DATA)
    other = end(free=("sensitivity", "attention", "bias")).fit(*DATA)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, abs=1e-5)
    assert ours.abstraction_ == (0.0 if end is GCM else 1.0)


def test_probabilities_are_the_formula():
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, 0.0], [2.0, 2.0], [4.0, 1.0]]), list("aabbb")
    model = VaryingAbstraction([0, 0, 1, 1, 2], 0.7, gamma=1.5, order=2).fit(X, y)
    x = np.array([1.2, 0.3])
    points = np.array([[0.5, 1.0], [2.5, 1.0], [4.0, 1.0]])
    s = np.exp(-0.7 * np.sqrt(((points - x) ** 2 / 2).sum(axis=1)))
    odds = (s[0] / (s[1] + s[2])) ** 1.5
    assert model.predict_proba([x])[0, 0] == pytest.approx(odds / (1 + odds))


def test_all_partitions_hold_the_best_of_the_nearest():
    X, y = [[0, 0], [0, 1], [3, 3], [1, 1], [1, 2], [4, 4]], list("aaabbb")
    truth = VaryingAbstraction([0, 0, 1, 2, 2, 3], 2.0).fit(X, y)
    asked = np.array([[i, j] for i in range(5) for j in range(5)])
    counts = truth.simulate(asked, 100, random_state=0)
    everything = VaryingAbstraction("all", starts=1).fit(X, y, asked, counts)
    nearest = VaryingAbstraction("nearest", starts=1).fit(X, y, asked, counts)
    assert len(everything.tried_) == 25 and len(nearest.tried_) == 9
    assert everything.log_likelihood_ >= nearest.log_likelihood_ - 1e-6
    assert everything.partition_.tolist() == [0, 0, 1, 2, 2, 3]
    assert everything.tried_[0][1] == pytest.approx(-everything.log_likelihood_)


def test_partitions_are_counted():
    assert len(list(_partitions(5))) == _bell(5) == 52
    assert len(set(_partitions(4))) == 15


def test_a_mixture_with_all_components_is_a_density_estimate_of_kernels():
    asked = SEEN.stimuli
    mixture = MixtureModel({"A": 5, "B": 4}, 2.0).fit(SEEN.exemplars, SEEN.categories)
    V = np.repeat([1 / 5, 1 / 4], [5, 4])
    gcm = GCM(2.0, order=2, exponent=2).fit(SEEN.exemplars, SEEN.categories, strengths=V)
    np.testing.assert_allclose(mixture.predict_proba(asked), gcm.predict_proba(asked))
    one = MixtureModel(1, 2.0).fit(SEEN.exemplars, SEEN.categories)
    means = PrototypeModel(2.0, order=2, exponent=2).fit(SEEN.exemplars, SEEN.categories)
    np.testing.assert_allclose(one.predict_proba(asked), means.predict_proba(asked))


def test_a_mixture_is_the_ratio_of_densities():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.repeat(["a", "b"], 10)
    model = MixtureModel(3, 1.4, (0.3, 0.7), gamma=0.8).fit(X, y)
    x = np.array([0.2, -0.4])
    f = []
    for k in range(2):
        here = model._memory.codes == k
        gaps = ((model.components_[here] - x) ** 2 * [0.3, 0.7]).sum(axis=1)
        f.append((model.shares_[here] * np.exp(-1.4 * gaps)).sum() ** 0.8)
    assert model.predict_proba([x])[0, 0] == pytest.approx(f[0] / sum(f))
    assert model.shares_.sum() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("model", "kind", "error"),
    [
        (VaryingAbstraction("closest"), ValidityError, "partition cannot be 'closest'"),
        (VaryingAbstraction("all"), DomainError, "which needs responses"),
        (VaryingAbstraction([0, 0, 0, 0]), DomainError, r"exemplars of \['a', 'b'\]"),
        (VaryingAbstraction([0, 1]), DomainError, "one for each of 4 exemplars"),
        (MixtureModel(3), DomainError, "has 2 exemplars, which cannot make 3 components"),
        (MixtureModel({"a": 1}), ValidityError, "no number for the category 'b'"),
        (MixtureModel(0), ValidityError, "components"),
    ],
)
def test_what_makes_no_sense_is_refused(model, kind, error):
    with pytest.raises(kind, match=error):
        model.fit([[0], [1], [2], [3]], list("aabb"))


def test_too_many_partitions_are_refused_before_any_is_fitted():
    X, y = np.arange(24.0)[:, None], list("ab") * 12
    with pytest.raises(DomainError, match='use partition="nearest"'):
        VaryingAbstraction("all").fit(X, y, X, np.ones((24, 2)))
