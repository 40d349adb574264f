"""Laws of machines: estimators that change nothing but themselves, and that only by success."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items, VectorDomain
from mercer.errors import ConvergenceWarning, MercerError, ValidityError
from mercer.kernels import named
from mercer.testing.cases import MachineCase, failures, values
from mercer.testing.law import (
    Inapplicable,
    agree,
    apply_all,
    by_name,
    count,
    identical,
    refused,
    same,
    snapshot,
    take,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = ["MACHINE_LAWS", "check_machine"]

# Two ways to solve a system with a condition number of up to 1e7 agree to 1e-8.
TOLERANCE = 1e-8


def estimator(case: MachineCase) -> None:
    """scikit-learn's own checks of an estimator pass."""
    from sklearn.utils.estimator_checks import check_estimator

    domain = named(case.machine.kernel).domain
    if not isinstance(domain, VectorDomain):
        raise Inapplicable("scikit-learn's checks are about rows of numbers")
    if domain.nonnegative:
        raise Inapplicable("scikit-learn's checks use negative numbers")
    if getattr(case.machine, "metric", None) == "covariance":
        raise Inapplicable("scikit-learn's checks have columns that are constant in a class")
    if getattr(case.machine, "penalty", 1.0) == 0:
        raise Inapplicable("scikit-learn's checks repeat items, which cannot be interpolated")
    if getattr(case.machine, "C", 1.0) == np.inf:
        raise Inapplicable("scikit-learn's checks have classes that cannot be separated")
    with warnings.catch_warnings():
        # Some checks have rows near (100, 100), where a polynomial has few digits left to certify.
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_estimator(case.fresh(), on_skip=None)


def function(case: MachineCase) -> None:
    """The learned function, plus the intercept, is the prediction for new items."""
    from sklearn.base import is_clusterer

    machine = case.fitted()
    if not hasattr(machine, "intercept_") or is_clusterer(machine):
        raise Inapplicable("its predictions are made of more than one value of a function")
    if getattr(machine, "multiclass", None) == "ovo" and len(machine.classes_) > 2:
        raise Inapplicable("its scores are votes")
    expected = values(machine, case.new)
    found = machine.function_(case.new) + machine.intercept_
    agree(found, expected, "function_ + intercept_ and prediction", TOLERANCE)


def certificate(case: MachineCase) -> None:
    """The function that is kept satisfies λa = y − f(x) − b on the training items, as well as the
    machine's certificate says (up to 1e-9, for the rounding of f)."""
    from sklearn.base import is_regressor

    machine = case.fitted()
    if not (
        is_regressor(machine) and hasattr(machine, "dual_coef_") and "penalty" in vars(machine)
    ):
        raise Inapplicable("it is not a ridge regression")
    if machine.plan_.solver == "eigen" and machine.indefinite != "error":
        raise Inapplicable("the spectrum was repaired")
    if machine.plan_.is_approximate:
        raise Inapplicable("its answer is approximate")
    y = np.asarray(case.target, dtype=float)
    rest = y - machine.function_(case.items) - machine.intercept_
    rest = rest - machine.penalty * machine.dual_coef_
    size = np.linalg.norm(y, axis=0)
    off = np.max(np.linalg.norm(rest, axis=0) / size)
    claimed = machine.solution_.certificate
    assert off <= 10 * claimed + 1e-9, f"certified {claimed:.1e}, but the residual is {off:.1e}"


def determinism(case: MachineCase) -> None:
    """The same data give the same machine, to the last bit, on a copy and on a second fit."""
    machine = case.fitted()
    first = values(machine, case.new)
    identical(values(case.fitted(), case.new), first, "predictions of two machines")
    machine.fit(case.items, case.target)
    identical(values(machine, case.new), first, "predictions after a second fit")


def inputs(case: MachineCase) -> None:
    """Items, targets and parameters stay as they were, and may be read-only."""
    items, target, new = snapshot(case.items), snapshot(case.target), snapshot(case.new)
    for array in (items, target, new):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    machine = case.fresh()
    before = machine.get_params()
    values(machine.fit(items, target), new)
    for name, now, then in (
        ("items", items, case.items), ("target", target, case.target), ("new items", new, case.new)
    ):  # fmt: skip
        assert same(now, then), f"the {name} were changed"
    after = machine.get_params()
    changed = [name for name, value in before.items() if after[name] is not value]
    assert not changed, f"fit changed the parameters {changed}"


def pickling(case: MachineCase) -> None:
    """A machine comes back from a pickle and predicts the same bits."""
    machine = case.fitted()
    again = pickle.loads(pickle.dumps(machine))
    identical(values(again, case.new), values(machine, case.new), "predictions")
    identical(again.function_(case.new), machine.function_(case.new), "values of function_")


def failed_first_fit(case: MachineCase) -> None:
    """A fit that fails leaves nothing learned on a fresh machine."""
    for why, changes, items, target in failures(case):
        machine = case.fresh().set_params(**changes)
        refused(MercerError, why, machine.fit, items, target)
        left = [name for name in vars(machine) if name.endswith("_")]
        assert not left, f"{why}: the failed fit left {', '.join(left)}"


def failed_second_fit(case: MachineCase) -> None:
    """A fit that fails does not change what a machine has learned before."""
    for why, changes, items, target in failures(case):
        machine = case.fitted()
        scores, labels = values(machine, case.new), _labels(machine, case.new)
        machine.set_params(**changes)
        refused(MercerError, why, machine.fit, items, target)
        identical(values(machine, case.new), scores, f"{why}: predictions before and after")
        now = _labels(machine, case.new)
        assert np.array_equal(now, labels), f"{why}: {labels[:3]} became {now[:3]}"


def failed_set_params(case: MachineCase) -> None:
    """An unknown parameter is refused with the one that was meant, and nothing is set."""
    machine = case.fresh()
    before = machine.get_params(deep=False)
    for changes in (
        {"kernel": "linear", "kernell": 1.0},
        {"penalty": 7.0, "kernel__nonsense": 1.0},
        {"kernel": "linear", "kernel__nonsense": 1.0},
    ):
        refused(ValidityError, f"set_params(**{changes})", machine.set_params, **changes)
        now = machine.get_params(deep=False)
        changed = [name for name in before if now[name] is not before[name]]
        assert not changed, f"set_params(**{changes}) failed but changed {changed}"
    message = refused(ValidityError, "kernell", machine.set_params, kernell=1.0)
    assert "did you mean 'kernel'" in message, message


def repetition(case: MachineCase) -> None:
    """A weight of an item is as many copies of it."""
    if getattr(case.machine, "penalty", 1.0) == 0:
        raise Inapplicable("copies cannot be interpolated")
    _compare_weights(case, 1 + np.arange(count(case.items)) % 3)


def removal(case: MachineCase) -> None:
    """An item with a weight of zero might as well not be there."""
    _compare_weights(case, (np.arange(count(case.items)) % 4 > 0).astype(int))


def routes(case: MachineCase) -> None:
    """The primal and the dual system, Cholesky and eigenvectors, give the same function."""
    from mercer.plans import Plan

    machine = case.fitted()
    if "follow" not in machine.get_params(deep=False):
        raise Inapplicable("it takes no plan")
    if machine.plan_.is_approximate:
        raise Inapplicable("its answer is approximate")
    expected = values(machine, case.new)
    for plan in (
        Plan(route="dual", solver="cholesky", precision="double"),
        Plan(route="dual", solver="cholesky", precision="mixed"),
        Plan(route="dual", solver="eigen"),
        Plan(route="primal", solver="cholesky"),
        Plan(route="primal", solver="eigen"),
    ):
        if plan.route == "primal" and not _has_primal(machine):
            continue
        other = case.fresh().set_params(follow=plan).fit(case.items, case.target)
        asked = (plan.route, other.plan_.route)
        assert asked[0] == asked[1], f"asked for the {asked[0]} route, took the {asked[1]} one"
        name = f"predictions by {plan.route} {plan.solver}, {plan.precision} precision"
        agree(values(other, case.new), expected, name, TOLERANCE)


def check_machine(
    machine: BaseEstimator, items: Items, target: ArrayLike, new: Items
) -> list[str]:
    """Hold all laws of machines against one; return the names of those that apply.

    Parameters
    ----------
    machine : BaseEstimator
        Not fitted.
    items : sequence of things
        What to learn from.
    target : array of shape (n,) or (n, targets)
        Numbers, or labels.
    new : sequence of things
        Other items.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> words = ["cat", "hat", "dog", "horse", "bee", "seal"]
    >>> from mercer.kernels import Categorical
    >>> kept = check_machine(KernelRidge(Categorical()), words, np.arange(6.0), ["cat", "owl"])
    >>> "determinism" in kept
    True
    """
    return apply_all(MACHINE_LAWS, MachineCase(machine, items, target, new))


def _compare_weights(case: MachineCase, times: np.ndarray) -> None:
    """Assert that weights are as good as items that occur so many times."""
    if "sample_weight" not in inspect.signature(case.machine.fit).parameters:
        raise Inapplicable("it takes no weights")
    if case.pairwise:
        raise Inapplicable("repeating the rows of a Gram matrix is not repeating its items")
    rows = np.repeat(np.arange(count(case.items)), times)
    weighted = case.fitted(sample_weight=times.astype(float))
    repeated = case.fitted(take(case.items, rows), take(case.target, rows))
    found, expected = values(weighted, case.new), values(repeated, case.new)
    agree(found, expected, "predictions with weights and with copies", TOLERANCE)


def _labels(machine: BaseEstimator, items: Items) -> Any:
    """Return predictions, or of a machine without them what it computes."""
    return machine.predict(items) if hasattr(machine, "predict") else values(machine, items)


def _has_primal(machine: BaseEstimator) -> bool:
    """Tell whether there are features to solve for, and a system that they determine."""
    policy = getattr(machine, "indefinite", "error")
    repaired = machine.plan_.solver == "eigen" and policy != "error"
    if repaired or getattr(machine, "penalty", 1.0) == 0 or hasattr(machine, "centers"):
        return False
    return machine.kernel_.map_features(machine.function_.points) is not None


MACHINE_LAWS = by_name(
    estimator, function, certificate, determinism, inputs, pickling, failed_first_fit,
    failed_second_fit, failed_set_params, repetition, removal, routes,
)  # fmt: skip
