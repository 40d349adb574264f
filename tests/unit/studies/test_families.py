"""Kinds of machines."""

import numpy as np
import pytest

from mercer.errors import ValidityError
from mercer.kernels import Gaussian
from mercer.studies.families import CLASSIFIERS, REGRESSORS, families, family_names


@pytest.mark.parametrize("family", CLASSIFIERS, ids=lambda family: family.name)
def test_every_classifier_gives_probabilities(family):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.array(["a", "b"] * 20, dtype=object)
    value = family.values[0] if family.values else None
    plain = family.machine(Gaussian(1.0), value)
    machine = family.with_probabilities(family.machine(Gaussian(1.0), value), 40, 0)
    P = machine.fit(X, y).predict_proba(X)
    assert np.allclose(P.sum(axis=1), 1)
    assert (machine.predict(X) == plain.fit(X, y).predict(X)).all()
    assert (machine.predict(X) == machine.classes_[P.argmax(axis=1)]).all()


@pytest.mark.parametrize("family", REGRESSORS, ids=lambda family: family.name)
def test_every_regressor_can_be_fitted(family):
    X = np.linspace(0, 3, 20)[:, None]
    y = np.sin(X[:, 0])
    family = family.for_targets(y)
    machine = family.machine(Gaussian(1.0), family.values[0] if family.values else None)
    assert np.isfinite(machine.fit(X, y).predict(X)).all()


def test_machines_are_found_by_short_and_long_names():
    assert families("classify", "svm", 2) == families("classify", "SVC", 2)
    assert families("regress", "svm", 0)[0][0].cls.__name__ == "SVR"


def test_the_simplest_comes_first():
    names = [family.name for family in families("classify", None, 3)[0]]
    assert names == ["prototype", "exemplar", "ridge", "svm"]
    assert [family.name for family in families("regress", None, 0)[0]] == names[1:]


def test_duels_of_very_many_classes_are_fought_only_if_asked_for():
    tried, left = families("classify", None, 1000)
    assert "svm" not in [family.name for family in tried]
    assert left[0][0].name == "svm" and "499500 duels" in left[0][1]
    assert families("classify", "svm", 1000)[0][0].name == "svm"


def test_unknown_machines():
    with pytest.raises(ValidityError, match="did you mean 'ridge'"):
        families("classify", "rigde", 2)
    with pytest.raises(ValidityError, match="does not regress"):
        families("regress", "prototype", 0)
    assert set(family_names()) == set(family_names("classify")) | set(family_names("regress"))


def test_a_regressor_does_not_depend_on_the_unit_of_the_target():
    X = np.linspace(0, 3, 40)[:, None]
    y = np.sin(2 * X[:, 0])
    for family in REGRESSORS:
        found = []
        for unit in (1.0, 1e-5, 1e6):
            here = family.for_targets(unit * y)
            value = here.values[1] if here.values else None
            machine = here.machine(Gaussian(1.0), value).fit(X, unit * y)
            found.append(machine.predict(X) / unit)
        for other in found[1:]:
            assert other == pytest.approx(found[0], abs=0.01), family.name
