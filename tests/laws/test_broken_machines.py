"""Each law of machines notices a machine that breaks it."""

import itertools

import numpy as np
import pytest

from mercer import KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian
from mercer.machines import Machine
from mercer.plans import Plan
from mercer.testing import MACHINE_LAWS, MachineCase, apply

rng = np.random.default_rng(5)
X, NEW = rng.normal(size=(20, 3)), rng.normal(size=(6, 3))
Y = np.sin(X[:, 0])


class Vain(KernelRidge):
    """Changes a parameter in its constructor."""

    def __init__(
        self, kernel="linear", penalty=1.0, *, intercept=False, indefinite="error", follow=None
    ):
        super().__init__(
            kernel, 2 * penalty, intercept=intercept, indefinite=indefinite, follow=follow
        )


class Biased(KernelRidge):
    """Predicts something else than its function."""

    def predict(self, X):
        return super().predict(X) + 1e-6


class Boastful(KernelRidge):
    """Keeps another function than the one that is certified."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.dual_coef_ = self.dual_coef_ * (1 + 1e-6)
        return self


class Moody(KernelRidge):
    """Never learns the same thing twice."""

    moods = itertools.count(1)

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.asarray(y) * (1 + 1e-15 * next(self.moods)), sample_weight)


class Careless(KernelRidge):
    """Centers the target in the memory of its user."""

    def fit(self, X, y, sample_weight=None):
        y -= np.mean(y)
        return super().fit(X, y, sample_weight)


class Tuned(KernelRidge):
    """Overwrites its own parameter with what it has learned."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.kernel = self.kernel_
        return self


class Forgetful(KernelRidge):
    """Loses digits in a pickle."""

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "intercept_" in state:
            state["intercept_"] = state["intercept_"] + 1e-9
        return state


class Eager(KernelRidge):
    """Sets an attribute before it has succeeded."""

    def fit(self, X, y, sample_weight=None):
        self.count_ = len(X)
        return super().fit(X, y, sample_weight)


class Hasty(KernelRidgeClassifier):
    """Replaces its classes before it has succeeded."""

    def fit(self, X, y, sample_weight=None):
        if y is not None:
            self.classes_ = np.unique(y)
        return super().fit(X, y, sample_weight)


class Pliable(KernelRidge):
    """Sets what it knows and then complains about what it does not."""

    def set_params(self, **params):
        for name in set(params) & set(self.get_params(deep=False)):
            setattr(self, name, params[name])
        return super().set_params(**params)


class Unweighted(KernelRidge):
    """Drops the weights."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class Independent(KernelRidge):
    """Has its own ideas about the plan."""

    def fit(self, X, y, sample_weight=None):
        plan, self.follow = self.follow, Plan(route="dual")
        super().fit(X, y, sample_weight)
        self.follow = plan
        return self


BROKEN = [
    ("estimator", Vain()),
    ("function", Biased()),
    ("certificate", Boastful(penalty=0.1)),
    ("determinism", Moody()),
    ("inputs", Careless()),
    ("inputs", Tuned()),
    ("pickling", Forgetful()),
    ("failed_first_fit", Eager()),
    ("failed_second_fit", Hasty()),
    ("failed_set_params", Pliable(Gaussian(1.0))),
    ("repetition", Unweighted()),
    ("removal", Unweighted()),
    ("routes", Independent("linear")),
]


@pytest.mark.parametrize(
    ("law", "machine"), BROKEN, ids=[f"{a}-{type(b).__name__}" for a, b in BROKEN]
)
def test_a_broken_machine_is_noticed(law, machine):
    target = np.where(Y > 0, "up", "down") if isinstance(machine, KernelRidgeClassifier) else Y
    with pytest.raises(AssertionError, match=f"{law} does not hold for"):
        apply(MACHINE_LAWS[law], MachineCase(machine, X.copy(), target.copy(), NEW))


def test_every_law_has_a_machine_that_breaks_it():
    assert {law for law, _ in BROKEN} == set(MACHINE_LAWS)
    assert all(isinstance(machine, Machine) for _, machine in BROKEN)
