"""Abilities: a machine in a user's own file declares what others may do with it."""

import numpy as np
import pytest

import mercer
from mercer import KernelRidge
from mercer.explanations import explain
from mercer.machines.abilities import Abilities, ClosedForm, able, cached_names, saved_names


class Plain(KernelRidge):
    """Changes nothing, and keeps what it inherits."""


class Squared(KernelRidge):
    """Predicts something else, and says nothing about it."""

    def predict(self, X):
        return super().predict(X) ** 2


class Centered(KernelRidge):
    """Fits in its own way, and declares that the shortcuts hold."""

    abilities = ("shared Gram matrix", "closed-form folds")
    saved = ("_mean",)
    cached = ("_seen",)

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self._mean, self._seen = float(np.mean(y)), X
        return self


@pytest.mark.parametrize(
    ("cls", "holds"), [(KernelRidge, True), (Plain, True), (Squared, False), (Centered, True)]
)
def test_whoever_changes_a_method_declares_anew(cls, holds):
    assert able(cls(), "closed-form folds") is holds
    assert able(cls(), "shared Gram matrix") is holds
    assert not able(cls(), "path along C")


def test_ridges_keep_the_protocol_of_closed_forms():
    ridges = (KernelRidge(), mercer.KernelRidgeClassifier(), mercer.KernelDiscriminant())
    assert all(isinstance(machine, ClosedForm) for machine in ridges)
    assert all(able(machine, "closed-form folds") for machine in ridges)
    assert not isinstance(mercer.SVC(), ClosedForm)


def test_names_are_added_to_those_that_are_inherited():
    class More(Centered):
        saved = ("_more",)

    assert saved_names(More) == {"_mean", "_more"}
    assert "_seen" in cached_names(More) and "_seen" not in saved_names(More)


def test_a_file_keeps_what_a_machine_of_ones_own_declares(tmp_path):
    mercer.files.register("centered", Centered)
    machine = Centered("linear", 0.1).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    mercer.save(machine, tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert again._mean == 2.0 and not hasattr(again, "_seen")
    assert again.predict([[3.0]]) == machine.predict([[3.0]])


def test_directions_that_are_declared_decide_what_an_explanation_speaks_for():
    class Turned(mercer.KernelRidgeClassifier):
        def class_directions(self, outputs):
            return -super().class_directions(outputs)

    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    plain, turned = (
        explain(cls("linear", intercept=True).fit(X, y), [[3.0]]).scores
        for cls in (mercer.KernelRidgeClassifier, Turned)
    )
    np.testing.assert_allclose(turned, -plain)


def test_any_estimator_with_classes_has_directions():
    class Bare:
        classes_ = np.arange(3)

    np.testing.assert_array_equal(Abilities.class_directions(Bare(), 3), np.eye(3))
