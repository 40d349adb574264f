"""Profiles of parameters: what the likelihood is while one of them is held."""

import pytest

from mercer.cognition import GCM, LinearBound, medin_schaffer, parameter_profile
from mercer.errors import DomainError, ValidityError

SEEN = medin_schaffer(counts=True)
DATA = (SEEN.exemplars, SEEN.categories, SEEN.stimuli, SEEN.responses)
BOTH = GCM(free=("sensitivity", "gamma")).fit(*DATA)


def test_a_profile_is_the_fit_with_that_value_held():
    found = parameter_profile(BOTH, "sensitivity", points=7)
    for _, row in found.table.iterrows():
        held = GCM(row["value"], free=("gamma",), starts=3).fit(*DATA)
        fall = BOTH.log_likelihood_ - held.log_likelihood_
        assert row["fall"] == pytest.approx(fall, abs=1e-3)
        assert row["gamma"] == pytest.approx(held.params_["gamma"], rel=0.02)
    assert found.name == "sensitivity" and found.best == BOTH.params_["sensitivity"]


@pytest.mark.parametrize(
    ("model", "name", "place"),
    [
        (GCM(free=("sensitivity",)), "sensitivity", None),
        (GCM(), "attention", 0),
        (GCM(), "attention", 3),
        (LinearBound(), "weights", 1),
    ],
    ids=str,
)
def test_a_profile_crosses_its_line_where_the_interval_ends(model, name, place):
    model.fit(*DATA)
    ends = model.intervals(0.9)[name]
    low, high = ends if place is None else ends[place]
    found = parameter_profile(model, name, place, points=15, level=0.9)
    value, fall = found.table["value"].to_numpy(), found.table["fall"].to_numpy()
    inside = (value > low) & (value < high)
    assert inside.any() and not inside.all()
    assert (fall[inside] < found.cutoff + 1e-6).all()
    assert (fall[~inside] > found.cutoff - 1e-3).all()
    assert fall.min() < 0.2


@pytest.mark.parametrize(
    ("call", "kind", "error"),
    [
        (lambda: parameter_profile(BOTH, "gama"), DomainError, "did you mean 'gamma'"),
        (lambda: parameter_profile(BOTH, "gamma", 0), DomainError, "is one number"),
        (lambda: parameter_profile(GCM().fit(*DATA), "attention"), DomainError, "say which"),
        (lambda: parameter_profile(BOTH, "gamma", level=2), ValidityError, "level"),
        (lambda: parameter_profile(GCM().fit(*DATA[:2]), "sensitivity"), ValidityError,
         "no responses"),
        (lambda: parameter_profile(GCM(loss="sse").fit(*DATA), "sensitivity"), ValidityError,
         'loss is "sse"'),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(call, kind, error):
    with pytest.raises(kind, match=error):
        call()
