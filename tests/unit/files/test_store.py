"""Machines, functions and kernels come back from a file as they went in."""

import dataclasses
import hashlib
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import (
    SVC,
    SVR,
    ExemplarClassifier,
    GaussianProcess,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    OneClassSVM,
    Plan,
)
from mercer.errors import FileError
from mercer.files import describe, register
from mercer.kernels import (
    Categorical,
    Gaussian,
    Graphlet,
    Linear,
    Polynomial,
    Spectrum,
    Text,
    WeisfeilerLehman,
    from_function,
    pullback,
    rescale,
)
from mercer.rkhs import Function
from mercer.selection import GridSearchCV
from mercer.testing.law import count
from tests.laws.entries import quick_and_slow
from tests.laws.functions import FUNCTIONS
from tests.laws.items import ITEMS
from tests.laws.registry import KERNELS, MACHINES
from tests.unit.files.answers import METHODS, answers, identical, same_answers


@pytest.fixture(autouse=True)
def known_functions():
    for name, function in FUNCTIONS.items():
        register(name, function)


@pytest.fixture
def again(tmp_path):
    """Save a thing and load it."""

    def round_trip(thing):
        mercer.save(thing, tmp_path / "thing.mercer")
        return mercer.load(tmp_path / "thing.mercer")

    return round_trip


@pytest.mark.parametrize("entry", MACHINES, ids=str)
def test_a_machine_answers_as_before_to_the_last_bit(entry, again):
    machine = entry.case.fitted()
    loaded = again(machine)
    assert type(loaded) is type(machine)
    assert loaded.get_params() == machine.get_params()
    assert set(vars(loaded)) == set(vars(machine))
    same_answers(loaded, machine, entry.new, entry.items)


@pytest.mark.parametrize("entry", MACHINES, ids=str)
def test_a_machine_that_has_learned_nothing_comes_back_too(entry, again):
    loaded = again(entry.machine)
    assert loaded.get_params() == entry.machine.get_params()
    assert vars(loaded).keys() == vars(entry.machine).keys()


@pytest.mark.parametrize("entry", quick_and_slow(KERNELS), ids=str)
def test_a_function_of_every_kernel_comes_back_to_the_last_bit(entry, again):
    items = ITEMS[entry.items]
    kernel = entry.kernel.resolve(items)
    weights = np.random.default_rng(3).normal(size=count(items))
    function = Function(kernel, items, weights)
    asked, loaded = again((entry.kernel, function))
    assert asked == entry.kernel and loaded.kernel == kernel
    identical(loaded(items), function(items))


@pytest.mark.slow
def test_answers_are_the_same_in_another_process(tmp_path):
    expected = {}
    rows = [e for e in MACHINES if isinstance(e.new, np.ndarray) and e.new.dtype.kind == "f"]
    for i, entry in enumerate({type(entry.machine): entry for entry in rows}.values()):
        machine = entry.case.fitted()
        mercer.save(machine, tmp_path / f"{i}.mercer")
        np.save(tmp_path / f"{i}.npy", entry.new)
        expected[str(i)] = [
            [name, hashlib.sha256(np.ascontiguousarray(values)).hexdigest()]
            for name, values in answers(machine, entry.new).items()
        ]
    code = f"""
import hashlib, json, pathlib, numpy as np, mercer
found = {{}}
for path in pathlib.Path({str(tmp_path)!r}).glob("*.mercer"):
    machine, new = mercer.load(path), np.load(path.with_suffix(".npy"))
    found[path.stem] = [
        [name, hashlib.sha256(np.ascontiguousarray(getattr(machine, name)(new))).hexdigest()]
        for name in {METHODS!r} if hasattr(machine, name)
    ]
print(json.dumps(found))
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert json.loads(run.stdout) == expected
    assert len(expected) >= 19


# ---- machines that the registry does not have -------------------------------------------------


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])], rng.normal(size=(9, 3))


@pytest.mark.parametrize("probability", [True, "exact"])
def test_probabilities_come_back(data, again, probability):
    X, y, new = data
    machine = SVC(Gaussian(1.0), probability=probability, random_state=0).fit(X, y)
    same_answers(again(machine), machine, new, X)


def test_sparse_rows_come_back(data, again):
    X, y, new = data
    X, new = sparse.csr_array(np.maximum(X, 0)), sparse.csr_array(np.maximum(new, 0))
    machine = SVC(Polynomial(2, 1.0)).fit(X, y)
    same_answers(again(machine), machine, new, X)
    machine = KernelRidge(Gaussian("median"), 0.1).fit(X, np.arange(60.0))
    same_answers(again(machine), machine, new, X)


def test_arrays_of_other_libraries_come_back(data, again):
    xp = pytest.importorskip("array_api_strict")
    X, _, new = data
    machine = KernelRidge(Gaussian(1.0), 0.1).fit(xp.asarray(X), X[:, 0])
    same_answers(again(machine), machine, xp.asarray(new))


def test_variances_of_a_process_come_back(data, again):
    X, _, new = data
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    before = machine.predict(new, return_std=True)
    after = again(machine).predict(new, return_std=True)
    identical(after[1], before[1])
    assert again(machine).log_marginal_likelihood_ == machine.log_marginal_likelihood_


@pytest.mark.parametrize("preimage", ["auto", "ridge"])
def test_pre_images_come_back(data, again, preimage):
    X, _, new = data
    machine = KernelPCA(Gaussian(1.0), 2, preimage=preimage).fit(X)
    images = machine.inverse_transform(machine.transform(new))
    loaded = again(machine)
    identical(loaded.inverse_transform(loaded.transform(new)), images)


def test_a_pipeline_with_a_scaler_comes_back(data, again):
    X, y, new = data
    machine = make_pipeline(StandardScaler(), SVC(Gaussian("median"))).fit(X, y)
    loaded = again(machine)
    same_answers(loaded, machine, new, X)
    assert loaded.named_steps["svc"].support_.tolist() == machine[-1].support_.tolist()


def test_a_pipeline_that_unpickles_is_refused(data, tmp_path):
    machine = make_pipeline(StandardScaler(), SVC(), memory=str(tmp_path))
    with pytest.raises(FileError, match="memory"):
        mercer.save(machine, tmp_path / "x")


STRUCTURED = [
    (SVC(Spectrum(2), probability=True, random_state=0), "words"),
    (ExemplarClassifier(Text(analyzer="char")), "words"),
    (KernelRidgeClassifier(WeisfeilerLehman(2)), "graphs"),
    (OneClassSVM(Graphlet(3)), "plain graphs"),
    (SVR(Categorical()), "labels"),
    (KernelRidge(Spectrum(2) + 0.5), "words"),
]


@pytest.mark.parametrize(("machine", "items"), STRUCTURED, ids=lambda part: str(part)[:30])
def test_machines_on_words_and_graphs_come_back(machine, items, again):
    things = list(ITEMS[items])
    target = np.arange(len(things)) % 2
    machine = clone(machine).fit(things, target)
    loaded = again(machine)
    same_answers(loaded, machine, things[::2], things)
    if hasattr(machine, "support_vectors_"):
        assert list(loaded.support_vectors_) == list(machine.support_vectors_)


def test_a_table_keeps_only_the_columns_that_are_looked_at(tmp_path):
    table = pd.DataFrame(
        {
            "name": ["Ann", "Bob", "Cem", "Dora"],
            "born": pd.to_datetime(["2001-02-03"] * 4),
            "thing": [object(), object(), object(), object()],
            "height": [1.5, 1.6, 1.7, 1.8],
            "species": pd.Categorical(["cat", "dog", "cat", "dog"]),
        }
    )
    kernel = Gaussian(0.1).on("height") + Categorical().on(-1)
    machine = SVC(kernel).fit(table, [0, 0, 1, 1])
    mercer.save(machine, tmp_path / "x")
    loaded = mercer.load(tmp_path / "x")
    same_answers(loaded, machine, table, table.iloc[1:3])
    assert b"Ann" not in (tmp_path / "x").read_bytes()
    frame = loaded.function_.points.frame
    assert list(frame.columns) == list(table.columns)
    assert frame["name"].isna().all() and frame["height"].tolist() == [1.5, 1.6, 1.7, 1.8]


def second(row):
    return float(row["b"])


@pytest.mark.parametrize(
    "kernel",
    [rescale(Linear().on("b"), second), Linear().on("b") + Categorical(),
     pullback(Categorical(), second)],
    ids=str,
)  # fmt: skip
def test_a_kernel_on_whole_rows_keeps_all_columns(again, kernel):
    register("second", second)
    table = pd.DataFrame({"a": [1.0, 2.0, 1.5], "b": [1, 2, 3]})
    machine = KernelRidge(kernel).fit(table, [0, 1, 0])
    loaded = again(machine)
    same_answers(loaded, machine, table)
    assert not loaded.function_.points.frame.isna().any(axis=None)


def test_of_a_search_the_best_machine_is_saved(data, again, tmp_path):
    X, y, new = data
    search = GridSearchCV(SVC(Gaussian(1.0)), {"C": [0.5, 2.0, 8.0]}, cv=3).fit(X, y)
    with pytest.raises(FileError, match="best_estimator_"):
        mercer.save(search, tmp_path / "x")
    same_answers(again(search.best_estimator_), search.best_estimator_, new)


def test_the_plan_that_a_user_gave_is_kept_and_that_of_the_day_is_not(data, again):
    X, _, _ = data
    follow = Plan(precision="double", memory=10**9)
    loaded = again(KernelRidge(Gaussian(1.0), follow=follow).fit(X, X[:, 0]))
    assert loaded.follow == follow
    assert loaded.plan_.memory is None and loaded.plan_.route == "dual"


def test_warm_starts_and_histories_are_left_out(data, again):
    X, y, new = data
    machine = SVC(Gaussian(1.0), warm_start=True).fit(X, y)
    assert machine._last and any(optimum.history for optimum in machine.solution_)
    loaded = again(machine)
    assert not hasattr(loaded, "_last")
    assert all(not optimum.history and not len(optimum.slopes) for optimum in loaded.solution_)
    same_answers(loaded, machine, new)
    kept = dataclasses.replace(machine.solution_[0], history=(), slopes=np.empty(0))
    identical(loaded.solution_[0].coefficients, kept.coefficients)
    assert loaded.solution_[0].gap == kept.gap


def test_a_support_vector_machine_is_as_large_as_its_support_vectors(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 20))
    y = X[:, 0] > 0
    X[y, 0] += 1.0  # so that most items are far from the border
    machine = SVC(Gaussian(4.0)).fit(X, y)
    mercer.save(machine, tmp_path / "x")
    vectors = machine.support_vectors_.nbytes
    assert len(machine.support_) < 1000
    assert (tmp_path / "x").stat().st_size < 1.3 * vectors + 10_000


def test_equal_machines_make_equal_files(data, tmp_path):
    X, y, _ = data
    for name in ("one", "two"):
        mercer.save(SVC(Gaussian("median"), class_weight={"a": 2.0, "b": 1.0}).fit(X, y),
                    tmp_path / name, notes={"names": {"x", "y", "z"}})  # fmt: skip
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    mercer.save(mercer.load(tmp_path / "one"), tmp_path / "two", notes={"names": {"z", "y", "x"}})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_using_a_machine_does_not_change_its_file(data, tmp_path):
    X, _, new = data
    machine = GaussianProcess(Gaussian(1.0), 0.1).fit(X, X[:, 0])
    mercer.save(machine, tmp_path / "before")
    machine.predict(new, return_std=True)
    mercer.save(machine, tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


@pytest.mark.slow
def test_a_loaded_machine_can_learn_again(data, again):
    X, y, new = data
    machine = SVC(Gaussian(1.0)).fit(X, y)
    loaded = again(machine).fit(X[:40], y[:40])
    same_answers(loaded, SVC(Gaussian(1.0)).fit(X[:40], y[:40]), new)


def test_a_loaded_machine_shares_no_memory_with_itself(data, again):
    X, y, _ = data
    loaded = again(SVC(Linear()).fit(X, y))
    loaded.support_vectors_[:] = 0.0
    assert loaded.function_.points.array.any()


def test_a_description_needs_no_machine(tmp_path):
    kernel = from_function(FUNCTIONS["shared"])
    mercer.save(ExemplarClassifier(kernel).fit(list("abca"), [0, 1, 0, 1]), tmp_path / "x",
                notes={"target": "kind", "weights": np.array([1.0, np.inf])})  # fmt: skip
    found = describe(tmp_path / "x")
    assert found["kind"] == "machines.ExemplarClassifier" and found["format"] == 1
    assert found["mercer"] == mercer.__version__
    assert found["notes"]["target"] == "kind"
    identical(found["notes"]["weights"], np.array([1.0, np.inf]))


def test_a_machine_with_an_attribute_of_unknown_meaning_is_refused(data, tmp_path):
    X, y, _ = data
    machine = SVC(Linear()).fit(X, y)
    machine._secret = 1
    with pytest.raises(FileError, match="keeps '_secret'"):
        mercer.save(machine, tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("thing", "what"),
    [
        (object(), "builtins.object"),
        ({"a": [1, (2, open)]}, "function"),
        (np.zeros(2, dtype=[("a", "f8")]), "array of"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        (SVC(kernel=np), "module"),
    ],
    ids=["object", "function", "records", "mask", "module"],
)
def test_what_a_file_cannot_hold_is_named(thing, what, tmp_path):
    with pytest.raises(FileError, match=what):
        mercer.save(thing, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_holds_itself_is_refused(tmp_path):
    endless = []
    endless.append(endless)
    with pytest.raises(FileError, match="without end"):
        mercer.save(endless, tmp_path / "x")
