"""Tables of responses and stimuli are read by their names, and nothing is guessed."""

import numpy as np
import pandas as pd
import pytest

from mercer.cognition import ALCOVE, GCM, Experiment, MDSChoice, compare, fit_alcove, shj
from mercer.errors import DomainError, ValidityError

X, Y = [[0, 0], [0, 1], [1, 0], [1, 1]], list("aabb")
R = [[17, 3], [19, 1], [4, 16], [4, 16]]
FRAME = pd.DataFrame(R, columns=["a", "b"])
SWAPPED = FRAME[["b", "a"]]


def test_columns_of_every_subject_are_put_in_order():
    right = GCM().fit(X, Y, X, [R, R])
    found = GCM().fit(X, Y, X, [SWAPPED, FRAME])
    for one, two in zip(found.subjects_, right.subjects_, strict=True):
        assert one.log_likelihood == pytest.approx(two.log_likelihood)


def test_names_are_matched_also_as_text():
    right = GCM().fit(X, [0, 0, 1, 1], X, R).log_likelihood_
    named = pd.DataFrame(R, columns=["0", "1"])[["1", "0"]]
    assert GCM().fit(X, [0, 0, 1, 1], X, named).log_likelihood_ == pytest.approx(right)
    numbered = pd.DataFrame(R)  # 0 and 1 are no names of the categories 1 and 2
    assert GCM().fit(X, [1, 1, 2, 2], X, numbered).log_likelihood_ == pytest.approx(right)
    with pytest.raises(DomainError, match="column 'B'"):
        GCM().fit(X, Y, X, pd.DataFrame(R, columns=["B", "A"]))


def test_proportions_of_an_experiment_follow_the_names():
    shown = Experiment(X, Y, X, SWAPPED)
    np.testing.assert_allclose(shown.proportions, np.array(R) / 20)
    observed = np.asarray(compare({"gcm": GCM()}, shown).observed)
    np.testing.assert_allclose(observed, shown.proportions)


def test_stimuli_with_columns_in_another_order_are_refused():
    exemplars = pd.DataFrame(X, columns=["u", "v"])
    other = exemplars[["v", "u"]]
    with pytest.raises(DomainError, match="same order"):
        GCM().fit(exemplars, Y).predict_proba(other)
    with pytest.raises(DomainError, match="same order"):
        GCM().fit(exemplars, Y, other, R)
    with pytest.raises(DomainError, match="same order"):
        ALCOVE(2.0, 1.0, 0.1, 0.1).fit(exemplars, Y).predict_proba(other)
    assert GCM().fit(exemplars, Y).predict_proba(X).shape == (4, 2)


def test_proportions_of_subjects_do_not_become_counts_by_pooling():
    one, two = np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([[0.25, 0.75], [0.75, 0.25]])
    model = GCM(loss="sse").fit([[0.0], [1.0]], ["a", "b"], [[0.0], [1.0]], [one, two])
    assert np.isnan(model.log_likelihood_) and np.isnan(model.aic_)
    with pytest.raises(DomainError, match="subject 1 has counts"):
        GCM(loss="sse").fit([[0.0], [1.0]], ["a", "b"], [[0.0], [1.0]], [one, [[3, 1], [0, 4]]])


def test_far_stimuli_have_probabilities_or_a_name():
    N = [[88, 9, 3], [8, 83, 9], [2, 12, 86]]
    model = MDSChoice().fit(N, [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_allclose(model.predict_proba([[1e4, 1e4]]).sum(), 1.0)
    np.testing.assert_allclose(
        model.predict_proba(model.coordinates_), model.predict_proba(), atol=1e-12
    )
    with pytest.raises(DomainError, match="stimulus 0 is so far"):
        GCM(order=2).fit([[0.0], [1.0]], ["a", "b"]).predict_proba([[1e160]])


def test_attention_that_is_free_does_not_stay_at_zero():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(8, 2))
    true = MDSChoice(3.0, [0.8, 0.2], free=())
    p = true.fit(np.ones((8, 8)), Z).predict_proba()
    N = np.array([rng.multinomial(100, row) for row in p])
    usual = MDSChoice().fit(N, Z)
    found = MDSChoice(attention=[0.0, 1.0]).fit(N, Z)
    assert found.log_likelihood_ == pytest.approx(usual.log_likelihood_, abs=1e-3)


def test_a_bootstrap_moves_where_the_likelihood_is_flat():
    """Only the product of sensitivity and the first weight shows in these answers."""
    model = GCM().fit(X, Y, X, [[17, 3], [17, 3], [4, 16], [4, 16]])
    low, high = model.intervals(method="bootstrap", samples=40)["attention"][0]
    assert high - low > 0.1


def test_what_cannot_be_is_named():
    with pytest.raises(DomainError, match="category of row 1 is missing"):
        GCM().fit(X, ["a", None, "b", "b"])
    with pytest.raises(DomainError, match="only one category, 'a'"):
        GCM().fit(X, ["a"] * 4)
    with pytest.raises(DomainError, match="row 1 of stimuli has 3 dimensions"):
        GCM().fit(X, Y, [[0, 0], [1, 1, 1]], R[:2])
    with pytest.raises(DomainError, match="subject 1 has 3 rows"):
        GCM().fit(X, Y, X, [R, R[:3]])
    with pytest.raises(DomainError, match="trials must be"):
        GCM().fit(X, Y).simulate(X, -3)
    with pytest.raises(DomainError, match="trials must be"):
        GCM().fit(X, Y).simulate(X, 2.7)
    with pytest.raises(DomainError, match="seed must be"):
        ALCOVE(2.0, 1.0, 0.1, 0.1).simulate(shj(1, 2), 10, seed=-1)
    with pytest.raises(DomainError, match="no curves"):
        fit_alcove([], [shj(1, 2)])
    with pytest.raises(ValidityError, match="finite and not negative"):
        GCM(attention=[1.5, -0.5]).fit(X, Y)
    assert GCM(free=None).fit(X, Y, X, R).free_ == ()
    assert MDSChoice(free="sensitivity").fit(np.eye(3) * 9 + 1, [[0.0], [1.0], [2.0]])
