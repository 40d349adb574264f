"""Everything public that learns comes back from a file, and nothing can be forgotten here.

Kernels and most machines are those of the laws' registry, in ``test_store``; here are the others.
"""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline, make_pipeline

import mercer
import mercer.cognition
import mercer.models
from mercer import (
    SVC,
    Calibrated,
    Conformal,
    Encode,
    KernelRidge,
    KernelRidgeClassifier,
    LearnedMetric,
    ScaledTarget,
    Standardize,
)
from mercer.cognition import (
    ALCOVE,
    COVIS,
    DIVA,
    EBRW,
    EXIT,
    GCM,
    SUSTAIN,
    ConfiguralCue,
    DeltaRule,
    ExemplarRidge,
    LinearBound,
    Mackintosh,
    MDSChoice,
    MixtureModel,
    OptimalBound,
    PearceHall,
    PrototypeModel,
    QuadraticBound,
    RationalModel,
    RescorlaWagner,
    SimilarityChoice,
    VaryingAbstraction,
)
from mercer.kernels import Categorical, Gaussian, Spectrum, WeisfeilerLehman
from mercer.machines import Machine
from mercer.models import FromTorch, Model
from mercer.values import Value
from tests.laws.items import ITEMS
from tests.laws.registry import KERNELS, MACHINES
from tests.unit.files.answers import identical, same_answers


@pytest.fixture
def again(tmp_path):
    """Save a thing and load it."""

    def round_trip(thing):
        mercer.save(thing, tmp_path / "thing.mercer")
        return mercer.load(tmp_path / "thing.mercer")

    return round_trip


CATEGORIZING = [
    GCM(sensitivity=2.0),
    PrototypeModel(),
    ALCOVE(2.0, 1.0, 0.1, 0.1),
    DeltaRule(0.1),
    ConfiguralCue(0.1),
    ExemplarRidge(),
    SUSTAIN(1.0, 1.0, 2.0, 0.1),
    RescorlaWagner(0.1),
    Mackintosh(0.1, 0.1),
    PearceHall(0.1),
    LinearBound(),
    COVIS(),
    DIVA(0.5),
    RationalModel(0.5),
    EXIT(1.0, 1.0, 2.0, 0.5, 0.1, 0.5),
    EBRW(2.0),
    MixtureModel(2, 2.0),
    VaryingAbstraction([0, 1, 2, 0], 2.0),
    QuadraticBound(),
    OptimalBound(noise=0.5, covariance="own"),
]
CONFUSING = [SimilarityChoice(), MDSChoice(free=("sensitivity", "bias")), MDSChoice(dimensions=1)]
OTHERS = [
    Encode(),
    Standardize(),
    Calibrated(KernelRidgeClassifier()),
    Conformal(KernelRidge()),  # unit/machines/test_conformal.py
    LearnedMetric(KernelRidge()),
    ScaledTarget(KernelRidge()),  # unit/machines/test_scaled_target.py
]


def public(module, ancestor):
    found = (getattr(module, name) for name in module.__all__)
    return {cls for cls in found if inspect.isclass(cls) and issubclass(cls, ancestor)}


def test_every_public_estimator_is_saved_and_loaded_by_a_test():
    learners = public(mercer.machines, BaseEstimator) | public(mercer.cognition, BaseEstimator)
    tested = [entry.machine for entry in MACHINES] + CATEGORIZING + CONFUSING + OTHERS
    assert learners - {Machine} == set(map(type, tested))


def values_in(thing):
    """Return the classes of a value and of all values that it holds."""
    if isinstance(thing, tuple | list):
        return set().union(*map(values_in, thing))
    if not isinstance(thing, Value):
        return set()
    return {type(thing)}.union(*map(values_in, thing.parameters().values()))


def test_every_public_model_is_part_of_a_kernel_that_is_saved_and_loaded(again):
    tested = set().union(*(values_in(entry.kernel) for entry in KERNELS))
    missing = public(mercer.models, Model) - {Model} - tested
    assert missing <= {FromTorch}  # where torch is not installed


# ---- models of categorization -----------------------------------------------------------------

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("model", CATEGORIZING, ids=str)
def test_models_of_cognition_come_back(model, again):
    model = clone(model).fit(CORNERS, ["a", "b", "b", "a"])
    loaded = again(model)
    assert set(vars(loaded)) == set(vars(model))
    same_answers(loaded, model, CORNERS + (0.0 if isinstance(model, EXIT) else 0.1))
    assert loaded.classes_.tolist() == ["a", "b"]


def test_what_was_fitted_to_answers_comes_back_with_its_intervals(again):
    counts = [[9, 1], [3, 7], [2, 8], [8, 2]]
    model = GCM(free=("sensitivity",), starts=2)
    model.fit(CORNERS, ["a", "b", "b", "a"], CORNERS, counts)
    loaded = again(model)
    assert repr(loaded.fit_) == repr(model.fit_) and loaded.aic_ == model.aic_
    identical(loaded.intervals()["sensitivity"], model.intervals()["sensitivity"])


CONFUSIONS = [[88, 9, 3], [8, 83, 9], [2, 12, 86]]


@pytest.mark.parametrize("model", CONFUSING, ids=str)
def test_models_of_confusions_come_back(model, again):
    given = ([[0.0], [1.0], [2.0]],) if "free" in str(model) else ()
    model = clone(model).fit(CONFUSIONS, *given)
    loaded = again(model)
    assert set(vars(loaded)) == set(vars(model))
    identical(loaded.predict_proba(), model.predict_proba())
    if isinstance(model, MDSChoice):
        identical(loaded.predict_proba([[0.5]]), model.predict_proba([[0.5]]))
    assert (loaded.aic_, loaded.bic_) == (model.aic_, model.bic_)
    if given:
        found, expected = loaded.intervals(), model.intervals()
        assert found.keys() == expected.keys() == {"sensitivity", "bias"}
        for name, ends in expected.items():
            identical(found[name], ends)


# ---- chains -----------------------------------------------------------------------------------


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), None, rng.normal(size=(9, 3))


CALIBRATED = [
    Calibrated(KernelRidgeClassifier(Gaussian("median"))),
    Calibrated(SVC(Gaussian("median")), folds=3, random_state=7),
]


@pytest.mark.parametrize("machine", CALIBRATED, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_machines_behind_standardized_columns_come_back(data, again, machine, classes):
    X, _, new = data
    X, y = X.copy(), np.array(["a", "b", "c"])[np.arange(len(X)) % classes]
    X[::5, 1] = np.nan
    chain = Pipeline([("standardize", Standardize()), ("machine", clone(machine))])
    assert repr(again(chain)) == repr(chain)
    loaded = again(chain.fit(X, y))
    same_answers(loaded, chain, new, X)
    for step in range(2):
        assert set(vars(loaded[step])) == set(vars(chain[step]))
    assert repr(loaded) == repr(chain)
    assert (loaded[0].gaps_, loaded[-1].slope_) == ([1], chain[-1].slope_)


def mixed_table():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "height": rng.normal(170.0, 10.0, 30),
            "word": rng.choice(["acgt", "gatt", "ccg"], 30),
            "kind": pd.Categorical(rng.choice(["x", "y"], 30)),
            "graph": [ITEMS["graphs"][i % len(ITEMS["graphs"])] for i in range(30)],
            "age": pd.array(rng.integers(0, 90, 30), dtype="Int64"),
        }
    )
    table.loc[::4, "height"] = np.nan
    table.loc[3, "age"] = pd.NA
    return table


@pytest.mark.slow
@pytest.mark.parametrize("machine", CALIBRATED, ids=str)
def test_the_same_goes_for_tables_with_columns_of_all_kinds(again, machine):
    table, y = mixed_table(), np.array(["no", "yes", "maybe"])[np.arange(30) % 3]
    numbers = ("height", "age", "height is missing", "age is missing")
    kernel = Gaussian("median").on(*numbers) + Categorical().on("kind")
    kernel = kernel + Spectrum(2).on("word") + WeisfeilerLehman(1).on("graph")
    chain = Pipeline([("standardize", Standardize()), ("machine", clone(machine))])
    chain.set_params(machine__machine__kernel=kernel).fit(table, y)
    loaded = again(chain)
    same_answers(loaded, chain, table[:7], table)
    found, expected = (part[0].transform(table) for part in (loaded, chain))
    pd.testing.assert_frame_equal(found, expected)
    why, before = mercer.explain(loaded, table[:3]), mercer.explain(chain, table[:3])
    identical(why.scores, before.scores)


def test_sparse_standardizing_comes_back(again):
    X = sparse.random_array((20, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    scaler = Standardize(gaps=[2]).fit(X)
    loaded = again(scaler)
    assert loaded.gaps == [2] and loaded.centered_ is False
    identical(loaded.transform(X).toarray(), scaler.transform(X).toarray())


@pytest.mark.parametrize("numbers", ["robust", ("standard", "quantile")])
def test_encoded_columns_of_all_kinds_come_back(again, numbers):
    table = mixed_table().drop(columns="graph")
    table["day"] = pd.date_range("2020-01-01", periods=30, freq="30D")
    encode = Encode(numbers, max_onehot=2, min_rows=1).fit(table, np.arange(30) % 3)
    loaded = again(encode)
    assert set(vars(loaded)) == set(vars(encode)) and loaded.numbers == numbers
    identical(loaded.transform(table), encode.transform(table))
    assert loaded.kinds_ == encode.kinds_ and loaded.blocks_.tolist() == encode.blocks_.tolist()


# ---- what is not needed is not kept -----------------------------------------------------------


def test_a_machine_that_was_only_a_pattern_is_kept_without_what_it_learned(data, tmp_path):
    X, _, new = data
    y = np.arange(len(X)) % 2
    pattern = KernelRidgeClassifier(Gaussian(1.0))
    for name in ("blank", "taught"):
        machine = Calibrated(pattern).fit(X, y)
        mercer.save(machine, tmp_path / name)
        same_answers(mercer.load(tmp_path / name), machine, new)
        pattern.fit(X + 1.0, y)
    assert hasattr(machine.machine, "function_")
    assert not hasattr(mercer.load(tmp_path / "taught").machine, "function_")
    assert (tmp_path / "blank").read_bytes() == (tmp_path / "taught").read_bytes()
    assert (tmp_path / "blank").stat().st_size < 1.5 * X.nbytes + 6000


KINDS = sorted({type(entry.machine) for entry in MACHINES}, key=lambda cls: cls.__name__)


@pytest.mark.parametrize("behind", [False, True], ids=["alone", "behind a scaler"])
@pytest.mark.parametrize("cls", [*KINDS, Calibrated])
def test_columns_that_no_kernel_looks_at_are_not_in_the_file(cls, behind, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"name": [f"secret {i}" for i in range(30)], "a": rng.normal(size=30),
                          "b": rng.normal(size=30), "kept": rng.normal(size=30)})  # fmt: skip
    kernel = Gaussian(1.0).on("a", "b")
    machine = cls(KernelRidgeClassifier(kernel)) if cls is Calibrated else cls(kernel)
    machine = make_pipeline(Standardize(), machine) if behind else machine
    machine.fit(table, np.arange(30) % 2)
    mercer.save(machine, tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    assert b"secret" not in content
    assert table["kept"].to_numpy().tobytes() not in content
    if hasattr(machine, "predict"):
        same_answers(mercer.load(tmp_path / "x"), machine, table[:5])
