"""What networks, logistic regression, components and discriminants have in common.

Each is a scikit-learn estimator over any kernel and any domain, comes back from a pickle, changes
nothing when a fit fails, and is the same for rows of any array library.
"""

import pickle

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.errors import DomainError, MercerError, ValidityError
from mercer.kernels import Categorical, Gaussian, Sigmoid, from_function
from mercer.machines.discriminant import KernelDiscriminant
from mercer.machines.logistic import KernelLogistic
from mercer.machines.network import RBFNetwork, RBFNetworkClassifier
from mercer.machines.pca import KernelPCA
from mercer.rkhs import Function

MACHINES = [
    RBFNetwork(penalty=1e-3),
    RBFNetworkClassifier(penalty=1e-3),
    KernelLogistic(),
    KernelPCA(n_components=2),
    KernelDiscriminant(),
]
VARIANTS = [
    RBFNetwork(centers="kmeans", normalized=True, penalty=1e-3),
    RBFNetworkClassifier(centers="ols", n_centers=3, penalty=1e-3),
    KernelLogistic("linear", 0.1),
    KernelLogistic("laplacian", class_weight="balanced"),
    KernelPCA(),
    KernelPCA(n_components=2, solver="partial", center=False),
    KernelDiscriminant("linear"),
]
NAMES = ("predict", "decision_function", "predict_proba", "transform")


def all_machines(machines=MACHINES):
    return pytest.mark.parametrize("machine", machines, ids=repr)


def data(machine, n=36):
    rng = np.random.default_rng(0)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + 2.0 * rng.normal(size=(3, 2))[codes]
    return X, X[:, 0] if is_regressor(machine) else np.array(["ant", "bee", "cat"])[codes]


def values(machine, X):
    """Return all that a fitted machine says about items."""
    return [getattr(machine, name)(X) for name in NAMES if hasattr(machine, name)]


def agree(one, other, atol=1e-9):
    for a, b in zip(one, other, strict=True):
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, atol=atol)
        else:
            np.testing.assert_array_equal(a, b)


@all_machines()
def test_rows_of_another_array_library_give_the_same_answers(machine):
    X, y = data(machine)
    rows = array_api_strict.asarray(X)
    agree(values(clone(machine).fit(rows, y), rows), values(clone(machine).fit(X, y), X), 1e-7)


@all_machines()
def test_sparse_rows_give_the_same_answers(machine):
    X, y = data(machine)
    machine = clone(machine).set_params(kernel=Gaussian(1.5))
    rows = sparse.csr_array(X)
    agree(values(clone(machine).fit(rows, y), rows), values(machine.fit(X, y), X), 1e-7)


@all_machines()
def test_tables_are_compared_column_by_column(machine):
    X, y = data(machine)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 0] > 0, "x", "z")})
    kernel = Gaussian(1.0).on("a", "b") + Categorical().on("c")
    machine = clone(machine).set_params(kernel=kernel).fit(frame, y)
    assert machine.feature_names_in_.tolist() == ["a", "b", "c"]
    assert all(len(found) == 36 for found in values(machine, frame))
    with pytest.raises(DomainError):
        machine.fit(frame, y) and values(machine, frame[["b", "a", "c"]])


@all_machines()
def test_a_precomputed_matrix_gives_the_same_answers(machine):
    X, y = data(machine)
    k, new = Gaussian(1.5), X[:5] + 0.1
    direct = clone(machine).set_params(kernel=k).fit(X, y)
    given = clone(machine).set_params(kernel="precomputed").fit(k(X), y)
    agree(values(given, k(new, X)), values(direct, new), 1e-6)
    with pytest.raises(DomainError, match=r"square|diagonal"):
        clone(machine).set_params(kernel="precomputed").fit(k(X, new), y)


@all_machines()
def test_python_objects_are_compared_by_a_function(machine):
    words = ["cat", "hat", "bat", "dig", "big", "pig"]
    kernel = from_function(lambda a, b: float(len(set(a) & set(b))))
    y = np.arange(6.0) if is_regressor(machine) else ["a"] * 3 + ["i"] * 3
    machine = clone(machine).set_params(kernel=kernel, **_small(machine)).fit(words, y)
    assert isinstance(machine.function_, Function)
    one, other = values(machine, ["rat", "wig"])[0]
    assert one != other if np.ndim(one) == 0 else not np.allclose(one, other)


def _small(machine):
    return {"n_components": 1} if hasattr(machine, "n_components") else {}


@all_machines([*MACHINES, *VARIANTS])
def test_pickles_and_second_fits_say_the_same(machine):
    X, y = data(machine)
    machine = clone(machine)
    if "random_state" in machine.get_params():
        machine.set_params(random_state=0)
    machine.fit(X, y)
    first = values(machine, X)
    agree(values(pickle.loads(pickle.dumps(machine)), X), first, atol=0)
    agree(values(machine.fit(X, y), X), first, atol=0)


@all_machines()
def test_a_fit_that_fails_changes_nothing(machine):
    X, y = data(machine)
    bad = X.copy()
    bad[3, 1] = np.nan
    fresh = clone(machine)
    with pytest.raises(MercerError, match="row 3, column 1"):
        fresh.fit(bad, y)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    fitted = clone(machine).fit(X, y)
    first = values(fitted, X)
    with pytest.raises(MercerError):
        fitted.fit(bad[:, 1:], y)
    agree(values(fitted, X), first, atol=0)


@all_machines(MACHINES[2:])
def test_a_refuted_kernel_is_refused_with_its_proof(machine):
    X, y = data(machine)
    with pytest.raises(ValidityError, match=f"{type(machine).__name__} needs a positive"):
        clone(machine).set_params(kernel=Sigmoid(1.0, -1.0)).fit(X, y)


@all_machines([RBFNetworkClassifier(penalty=1e-3), KernelLogistic(), KernelDiscriminant()])
def test_grids_and_pipelines_work(machine):
    X, y = data(machine)
    grid = GridSearchCV(
        machine, {"penalty": [0.1, 1.0], "kernel": [Gaussian(1.0), Gaussian(2.0)]}, cv=3
    )
    assert grid.fit(X, y).best_score_ > 0.5
    chain = make_pipeline(StandardScaler(), KernelPCA(n_components=2), clone(machine))
    assert chain.fit(X, y).score(X, y) > 0.5


@all_machines([KernelPCA(n_components=2), KernelDiscriminant()])
def test_components_have_names_and_may_be_frames(machine):
    X, y = data(machine)
    machine = clone(machine).set_output(transform="pandas").fit(X, y)
    frame = machine.transform(X)
    prefix = type(machine).__name__.lower()
    assert frame.columns.tolist() == [f"{prefix}0", f"{prefix}1"]
    assert machine.fit_transform(X, y).columns.tolist() == frame.columns.tolist()
