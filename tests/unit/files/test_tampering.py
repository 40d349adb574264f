"""Files that someone made on purpose, with a correct checksum, run no code and crash nothing."""

import builtins
import os
import pickle
import sys

import numpy as np
import pytest

import mercer
import mercer.cognition
from mercer import SVC
from mercer.errors import FileError
from mercer.files import codecs
from mercer.files.container import opened, write
from mercer.kernels import Fisher, Gaussian, Spectrum, SubsetTree, WeisfeilerLehman
from mercer.machines.abilities import saved_names
from mercer.models import MarkovChain
from mercer.rkhs import Function


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def load(path, model, tensors=None):
    """Load a document that someone wrote; whatever it tries, it calls nothing."""

    def refuse(*args, **kwargs):
        raise AssertionError("a file has run code")

    with open(path, "wb") as file:
        write(file, {"model": model}, tensors or {})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "system", refuse)
        patched.setattr(pickle, "loads", refuse)
        patched.setattr(builtins, "eval", refuse)
        return mercer.load(path)


ARRAY = {"array": {"shape": [2], "tensor": "t"}}
MODELS = [
    {"value": ["os.system", {"command": "echo"}]},
    {"value": ["builtins.eval", {"source": "1"}]},
    {"value": ["__class__", {}]},
    {"value": ["kernels.Gaussian.__class__", {}]},
    {"value": ["kernels.Gaussian", {"__class__": "x"}]},
    {"value": ["kernels.Gaussian", {"bandwidth": -1.0}]},
    {"value": ["kernels.Gaussian", []]},
    {"value": ["kernels.Gaussian"]},
    {"value": "kernels.Gaussian"},
    {"value": ["machines.SVC", {}]},
    {"value": ["domains.Vectors", {"array": ARRAY}]},
    {"value": ["kernels.FromFunction", {"function": "os.system"}]},
    {"value": ["kernels.FromFunction", {"function": {"function": "os.system"}}]},
    {"value": ["kernels.FromFunction", {"function": {"function": ["os", "system"]}}]},
    {"value": ["models.FromSciPy", {"distribution": "__builtins__"}]},
    {"value": ["models.FromSciPy", {"distribution": "norm.__class__"}]},
    {"function": "builtins.eval"},
    {"function": {"list": []}},
    {"machine": ["os.system", {}, {}]},
    {"machine": ["machines.Machine", {"a": 1}, {}]},
    {"machine": ["kernels.Gaussian", {}, {}]},
    {"machine": ["machines.SVC", {"nonsense": 1}, {}]},
    {"machine": ["machines.SVC", {}, {"predict": 1}]},
    {"machine": ["machines.SVC", {}, {"__class__": 1}]},
    {"machine": ["machines.SVC", {}, {"__dict__": 1}]},
    {"machine": ["machines.SVC", {}, {"_decision_values": 1}]},
    {"machine": ["machines.SVC", {}, {"_foretold": 1}]},
    {"machine": ["machines.SVC", {}, {"__reduce__": 1}]},
    {"machine": ["machines.SVC", {}, {"a b_": 1}]},
    {"machine": ["machines.SVC", {}, {"log_marginal_likelihood": 1}]},
    {"machine": ["machines.GaussianProcess", {}, {"log_marginal_likelihood_": 1}]},
    {"machine": ["sklearn.Pipeline", {"steps": {"list": []}, "memory": "/tmp"}, {}]},
    {"record": ["kernels.Gaussian", {}]},
    {"record": ["domains.Graph", {}]},
    {"record": ["rkhs.Function", {"kernel": 1, "points": 2, "coefficients": 3}]},
    {"record": ["plans.Plan", {"route": "nowhere"}]},
    {"points": ["domains.Vectors", {"array": ARRAY}]},
    {"points": ["domains.Strings", {"texts": ARRAY, "os": 1}]},
    {"points": ["rkhs.Function", {}]},
    {"points": ["kernels.Radii", {"values": ARRAY}]},
    {"points": ["kernels.Vertices", {"nodes": None, "first": ARRAY, "last": ARRAY}]},
    {"array": {"shape": [2], "tensor": "missing"}},
    {"array": {"shape": [2], "tensor": 3}},
    {"array": {"shape": [3], "tensor": "t"}},
    {"array": {"shape": [-1], "tensor": "t"}},
    {"array": {"shape": [2.0], "tensor": "t"}},
    {"array": {"shape": ["2"], "tensor": "t"}},
    {"array": {"shape": [2], "tensor": ["object", "AAAA"]}},
    {"array": {"shape": [2], "tensor": ["float64", "A"]}},
    {"array": {"shape": [2], "tensor": "../../etc/passwd"}},
    {"array": {"shape": [1 << 60], "places": "i", "values": "t"}},
    {"array": {"shape": [-5], "places": "i", "values": "t"}},
    {"array": {"shape": [2], "places": "i", "values": "t"}},
    {"array": {"times": "O8", "values": {"shape": [2], "tensor": "t"}}},
    {"array": {"times": "M8[x]", "values": {"shape": [2], "tensor": "t"}}},
    {"array": {"shape": [2], "texts": ["b", "i"], "width": 3}},
    {"array": {"shape": [3], "objects": {"list": [1, 2, 3]}}},
    {"array": {"shape": [1 << 40], "objects": [1, 2, 3]}},
    {"array": 3},
    {"scalar": ["O", 1]},
    {"scalar": ["float64,float64", 1]},
    {"scalar": ["float64", "x"]},
    {"sparse": {"class": "csr_array", "shape": [2, 2], "data": ARRAY, "indices": ARRAY,
                "indptr": ARRAY}},
    {"sparse": {"class": "spmatrix", "shape": [2, 2]}},
    {"foreign array": ["os", {"shape": [2], "tensor": "t"}]},
    {"table": {"rows": -1, "names": [], "columns": []}},
    {"table": {"rows": 2, "names": ["a"], "columns": [{"masked": "object", "values": ARRAY}]}},
    {"table": {"rows": 2, "names": ["a"], "columns": [
        {"times": ARRAY, "zone": "dateutil//etc/passwd"}]}},
    {"timestamp": ["yesterday", "ns"]},
    {"timestamp": ["2001-01-01", "x"]},
    {"random generator": {"dict": [["bit_generator"], ["os"]]}},
    {"random state": [1, 2, 3]},
    {"foreign array": ["no such library", {"shape": [2], "tensor": "t"}]},
    {"value": ["kernels." + 10_000 * "A", {}]},
    {"function": 10_000 * "A"},
    {"single": "os"},
    {"float": "1e9"},
    {"dict": [[{"list": []}], [1]]},
    {"dict": [[1, 2], [1]]},
    {"set": [{"dict": [[], []]}]},
    {"slice": [1, 2, 3, 4]},
    {"tuple": {"json": "b"}},
    {"tuple": {"json": "missing"}},
    {"tuple": 3},
    {"bytes": "?"},
    {"graph": {"nodes": 2, "edges": ARRAY}},
    {"graph": {"__class__": 1}},
    {"labels": 3},
    {"os.system": "echo"},
    {"__import__": "os"},
    {},
    {"value": ["kernels.Linear", {}], "tuple": []},
    [1, 2],
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
def test_a_document_that_makes_no_sense_is_refused(path, model):
    tensors = {"t": np.array([0.5, 2.0]), "i": np.array([99, 3]), "b": np.arange(4, dtype="u1")}
    with pytest.raises(FileError) as caught:
        load(path, model, tensors)
    assert len(str(caught.value)) < 1000


STATES = [np.random.RandomState(3), np.random.Generator(np.random.MT19937(1)),
          np.random.Generator(np.random.Philox(1))]  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=["state", "MT19937", "Philox"])
@pytest.mark.parametrize("place", [-1, -(10**8), 625, 10**6, 1.0, True, "3"])
def test_random_states_do_not_lead_into_foreign_memory(path, state, place):
    """NumPy believes the place that it is given, and would read there."""
    mercer.save(state, path)
    with opened(path) as (document, found):
        tensors = {name: np.array(found.get_tensor(name)) for name in found.keys()}  # noqa: SIM118
    ((tag, inside),) = document["model"].items()
    if tag == "random state":
        inside[2] = place
    else:
        keys, values = inside["dict"]
        if "buffer_pos" in keys:
            values[keys.index("buffer_pos")] = place
        else:
            keys, values = values[keys.index("state")]["dict"]
            values[keys.index("pos")] = place
    with pytest.raises(FileError, match="no place"):
        load(path, document["model"], tensors)


def test_a_library_that_is_not_there_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    array = ["array_api_strict", {"shape": [2], "tensor": "t"}]
    with pytest.raises(FileError, match=r"not installed.*array_api_strict"):
        load(path, {"foreign array": array}, {"t": np.ones(2)})


def laughs(depth, width):
    """Return rows of which each has the next one several times."""
    rows = {}
    for i in range(depth):
        inner = f'{{"list":{{"json":"{i + 1}"}}}}' if i + 1 < depth else "1"
        rows[str(i)] = np.frombuffer(f"[{','.join([inner] * width)}]".encode(), np.uint8)
    return rows


@pytest.mark.slow
def test_rows_that_repeat_each_other_without_end_are_refused(path):
    row = {"list": {"json": "0"}}
    assert load(path, row, laughs(3, 4)) == [[[1] * 4] * 4] * 4
    with pytest.raises(FileError, match="repeats itself"):
        load(path, row, laughs(40, 4))
    with pytest.raises(FileError):
        load(path, {"list": {"json": "0"}}, {"0": np.frombuffer(b'[{"list":{"json":"0"}}]', "u1")})


def test_what_is_repeated_more_often_than_readers_like_is_written_again(path, monkeypatch):
    monkeypatch.setattr(codecs, "MAX_REPEATED_BYTES", 10_000)
    rows = [list(range(1000))] * 20
    mercer.save(rows, path)
    assert mercer.load(path) == rows
    assert path.stat().st_size > 40_000
    monkeypatch.setattr(codecs, "MAX_REPEATED_BYTES", 1 << 25)
    mercer.save(rows, path)
    assert mercer.load(path) == rows
    assert path.stat().st_size < 10_000


def test_one_array_that_is_named_often_does_not_take_all_memory(path, monkeypatch, free_memory):
    model = {"list": [{"array": {"shape": [1000], "tensor": "t"}}] * 300}
    monkeypatch.setattr(codecs, "UNCHECKED_BYTES", 100_000)
    assert len(load(path, model, {"t": np.ones(1000)})) == 300
    free_memory(50_000)
    with pytest.raises(FileError, match="needs more memory than there is"):
        load(path, model, {"t": np.ones(1000)})


def test_empty_arrays_are_counted_together(path, free_memory):
    """Each alone would fit, and the system hands out empty pages without asking."""
    one = {"array": {"shape": [100_000], "places": "i", "values": "t"}}
    tensors = {"i": np.array([0]), "t": np.ones(1)}
    free_memory(3_000_000)
    assert len(load(path, {"list": [one] * 3}, tensors)) == 3
    with pytest.raises(FileError, match="needs more memory than there is"):
        load(path, {"list": [one] * 4}, tensors)


@pytest.mark.parametrize("tag", ["list", "tuple"])
def test_documents_without_a_bottom_are_refused(path, tag):
    text = f'{{"{tag}":[' * 50_000 + "]}" * 50_000
    tensors = {"t": np.frombuffer(b"[" + text.encode() + b"]", np.uint8)}
    with pytest.raises(FileError):
        load(path, {"tuple": {"json": "t"}}, tensors)


def test_what_a_file_sets_is_data(path):
    """A machine of a file can be nonsense; it fails as a machine, and calls nothing."""
    machine = load(path, {"machine": ["machines.SVC", {}, {"function_": "os.system"}]})
    with pytest.raises(Exception, match=r"."):
        machine.predict([[1.0]])


def test_what_machines_declare_as_saved_is_private_data():
    classes = [*vars(mercer.machines).values(), *vars(mercer.cognition).values()]
    names = {n for cls in classes if isinstance(cls, type) for n in saved_names(cls)}
    assert {"_calibration", "_memory"} <= names
    assert all(name.startswith("_") and not name.startswith("__") for name in names)


def changed(path, **changes):
    """Write a file again with some of its arrays changed, and a correct checksum."""
    with opened(path) as (document, found):
        tensors = {name: np.array(found.get_tensor(name)) for name in found.keys()}  # noqa: SIM118
    for name, (place, value) in changes.items():
        (full,) = [key for key in tensors if key.endswith(name)]
        tensors[full][place] = value
    with open(path, "wb") as file:
        write(file, document, tensors)


GRAPHS = [[(0, 1), (1, 2)], [(0, 1)], [(0, 1), (1, 2), (0, 2)]]
TREES = ["(S (NP she) (VP sleeps))", "(S (NP it) (VP (V ran) (RB off)))"]
CHAIN, WORDS = MarkovChain(0, [[0.5, 0.5]], "ab"), ["ab", "bba"]
OUTSIDE = [
    (WeisfeilerLehman(1), GRAPHS, {"neighbors": (0, 10**6)}),
    (WeisfeilerLehman(1), GRAPHS, {"neighbors": (0, -7)}),
    (WeisfeilerLehman(1), GRAPHS, {"neighbors": (0, 5)}),
    (WeisfeilerLehman(1), GRAPHS, {"net.starts": (1, 10**9)}),
    (WeisfeilerLehman(1), GRAPHS, {"net.starts": (-1, 10**9)}),
    (WeisfeilerLehman(1), GRAPHS, {"points.first": (1, 10**9)}),
    (WeisfeilerLehman(1), GRAPHS, {"points.last": (1, 0)}),
    (SubsetTree(0.5), TREES, {"parents": (1, 10**6)}),
    (SubsetTree(0.5), TREES, {"parents": (1, -1)}),
    (SubsetTree(0.5), TREES, {"parents": (2, 2)}),
    (SubsetTree(0.5), TREES, {"points.starts": (1, 10**6)}),
    (Fisher(CHAIN, "identity"), WORDS, {"points.codes": (0, 2)}),
    (Fisher(CHAIN, "identity"), WORDS, {"points.codes": (0, -2)}),
    (Fisher(CHAIN, "identity"), WORDS, {"points.starts": (-1, 10**6)}),
    (Fisher(CHAIN, "identity"), WORDS, {"points.starts": (1, 10**6)}),
]


@pytest.mark.parametrize(("kernel", "items", "change"), OUTSIDE, ids=str)
def test_places_outside_of_an_array_are_refused(path, kernel, items, change):
    mercer.save(Function(kernel, items, np.ones(len(items))), path)
    mercer.load(path)
    changed(path, **change)
    with pytest.raises(FileError, match="fit together"):
        mercer.load(path)


SMALL_FILES = [
    {"array": {"shape": [100_000], "places": "i", "values": "t"}},
    {"array": {"shape": [2], "texts": ["b", "ends"], "width": 100_000}},
    {"table": {"rows": 100_000, "names": ["a"], "columns": [None]}},
]


@pytest.mark.parametrize("model", SMALL_FILES, ids=str)
def test_a_small_file_does_not_take_all_memory(path, model, free_memory):
    tensors = {"i": np.array([0, 1]), "t": np.ones(2), "b": np.zeros(2, np.uint8),
               "ends": np.array([1, 2])}  # fmt: skip
    assert load(path, model, tensors) is not None
    free_memory(100_000)
    with pytest.raises(FileError, match="needs more memory than there is"):
        load(path, model, tensors)


def test_texts_that_run_over_their_end_are_refused(path):
    mercer.save(Function(Spectrum(2), ["cat", "house"], [1.0, 2.0]), path)
    changed(path, **{" ends": (0, 100)})
    with pytest.raises(FileError, match="no order"):
        mercer.load(path)


def test_truth_values_are_zero_or_one(path):
    array = np.array([0, 1, 2, 255], dtype=np.uint8).view(bool)
    found = load(path, {"array": {"shape": [4], "tensor": "t"}}, {"t": array})
    assert found.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_a_file_that_was_not_changed_is_read(path):
    X = np.arange(8.0).reshape(4, 2)
    machine = SVC(Gaussian(1.0)).fit(X, [0, 1, 0, 1])
    mercer.save(machine, path)
    changed(path)
    assert mercer.load(path).predict(X).tolist() == machine.predict(X).tolist()
