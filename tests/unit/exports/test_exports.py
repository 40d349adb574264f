"""Exported models say what Python says: in onnxruntime, and with NumPy alone, without mercer."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import mercer
from mercer.cli import app
from mercer.exports import python_file, write_model
from mercer.exports.formula import ExportError
from mercer.kernels import (
    Categorical,
    Cosine,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Shepard,
    Spectrum,
)
from mercer.plans import Nystrom, Random
from mercer.sources import chunks, read_frame, recipe
from mercer.studies import SavedModel

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from mercer.exports.onnx_graph import OPSET, onnx_graph  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NEW = RNG.normal(size=(25, 3))
KERNELS = [
    Linear(), Polynomial(3, 1.0, 0.5), Gaussian(1.3), Gaussian((0.5, 1.0, 2.0)),
    Gaussian(1.0, metric=(0.5, 0.0, 2.0)), Gaussian(1.5, metric=np.cov(X.T)), Laplacian(2.0),
    Exponential(1.5), Exponential(2.0, exponent=0.7, order=1.0), Matern(1.5, 1.0),
    Matern(2.5, 2.0), RationalQuadratic(0.7, 1.0), Shepard(0.5, 1.0, 1.0, (0.2, 0.3, 0.5)),
    0.5 * Gaussian(1.0) + Linear() * Laplacian(3.0), Gaussian(1.0).on(0, 2) + Linear().on(1),
    Cosine(), Gaussian(2.0) ** 2,
]  # fmt: skip


def table(count=80, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.lognormal(size=count),
            "age": rng.normal(40, 9, count).round(1),
            "home": rng.choice(["lake", "wood", "cave"], count),
            "town": rng.choice([f"t{i}" for i in range(25)], count),
        }
    )
    score = np.log(frame["size"]) + (frame.home == "lake") + 0.1 * rng.normal(size=count)
    if gaps:
        frame.loc[::7, "age"] = np.nan
        frame.loc[::9, "home"] = None
    return frame.assign(y=score, kind=np.select([score > 1, score > 0], ["high", "mid"], "low"))


def by_onnx(known, given, precision="double"):
    """Run a model in onnxruntime, and return its outputs by name."""
    graph = onnx_graph(write_model(known), precision)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    dtype = np.float32 if precision == "single" else np.float64
    feed = {}
    for one in session.get_inputs():
        column = given if one.name == "X" else given[one.name]
        if one.type == "tensor(string)":
            feed[one.name] = np.array([[x or ""] for x in column.where(column.notna(), "")])
        else:
            feed[one.name] = np.asarray(column, dtype=dtype).reshape(len(given), -1)
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def by_python(known, given, folder):
    """Run a model's file in an interpreter that has NumPy and no mercer, on a table."""
    file = Path(folder) / "model.py"
    file.write_text(python_file(write_model(known)), encoding="utf-8")
    np.save(Path(folder) / "given.npy", given)
    code = (
        "import sys, numpy as np; sys.path.insert(0, '.'); import model\n"
        "np.save('found.npy', model.scores(np.load('given.npy')))\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not names & {'mercer', 'pandas', 'scipy', 'sklearn', 'pickle5'}, names\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code.replace("'.'", repr(str(folder)), 1)],
                   cwd=folder, check=True)  # fmt: skip
    return np.load(Path(folder) / "found.npy")


def in_this_process(known):
    """Return the functions of a model's file."""
    namespace = {"__name__": "exported"}
    exec(compile(python_file(write_model(known)), "model.py", "exec"), namespace)
    return namespace


def close(found, expected, bound):
    scale = np.abs(expected).max()
    assert np.abs(np.asarray(found).reshape(np.shape(expected)) - expected).max() <= bound * scale


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_agrees_in_double_and_in_single(kernel):
    machine = mercer.KernelRidge(kernel, 1.0, intercept=True).fit(X, np.sin(X[:, 0]))
    if "Polynomial" in repr(kernel) or "Cosine" in repr(kernel) or "Linear()" in repr(kernel):
        machine.set_params(follow=mercer.Plan(route="dual")).fit(X, np.sin(X[:, 0]))
    known = SavedModel(machine)
    close(by_onnx(known, NEW)["prediction"], machine.predict(NEW), 1e-12)
    single = NEW.astype(np.float32)
    expected = machine.predict(single.astype(np.float64))
    close(by_onnx(known, single, "single")["prediction"], expected, 1e-6)
    close(in_this_process(known)["scores"](NEW), machine.predict(NEW), 1e-12)


@pytest.mark.parametrize(
    "machine",
    [
        mercer.KernelRidgeClassifier("gaussian", 1.0),
        mercer.SVC("gaussian", C=2.0),
        mercer.SVC(Gaussian(1.0), multiclass="ovr"),
        mercer.KernelLogistic("gaussian", penalty=0.1),
        mercer.NuSVC(Gaussian(1.0), nu=0.3),
        mercer.Calibrated(mercer.KernelRidgeClassifier("gaussian", 1.0)),
    ],
    ids=lambda machine: f"{type(machine).__name__}",
)
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_name_the_same_labels(machine, classes):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(120, 2))
    y = np.array(["a", "b", "c"])[np.digitize(Z[:, 0] + Z[:, 1] ** 2, [0.5, 1.5][: classes - 1])]
    new = rng.normal(size=(60, 2))
    known = SavedModel(machine.fit(Z, y))
    expected = known.machine.predict(new)
    assert by_onnx(known, new)["prediction"].tolist() == expected.tolist()
    assert in_this_process(known)["predict"](new).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "machine",
    [
        mercer.GaussianProcess(Gaussian(1.0), intercept=True),
        mercer.SVR(Gaussian(1.0)),
        mercer.NuSVR(Gaussian(1.0)),
        mercer.LearnedMetric(mercer.KernelRidge(Gaussian())),
        mercer.ScaledTarget(mercer.KernelRidge(Gaussian(1.0), 0.1)),
        mercer.ScaledTarget(mercer.KernelRidge(Gaussian(1.0), 0.1), "log", answer="median"),
        mercer.ScaledTarget(mercer.KernelRidge(Gaussian(1.0), 0.1), "fourth root"),
        mercer.ScaledTarget(mercer.SVR(Gaussian(1.0)), "root"),
        mercer.Conformal(mercer.KernelRidge(Gaussian(1.0), 0.1)),
        GridSearchCV(mercer.KernelRidge(Gaussian(1.0)), {"penalty": [0.1, 1.0]}),
        mercer.KernelRidge(Gaussian(1.0), 0.1, follow=mercer.Plan(approximate=Nystrom(20))),
        make_pipeline(mercer.Standardize(), mercer.KernelRidge(Gaussian(1.0), 0.1)),
        make_pipeline(mercer.Standardize(common=True), mercer.KernelRidge(Gaussian(1.0), 0.1)),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_machines_of_numbers_agree(machine):
    known = SavedModel(machine.fit(X, 5 + np.sin(X[:, 0])))
    expected = known.machine.predict(NEW)
    close(by_onnx(known, NEW)["prediction"], expected, 1e-12)
    close(in_this_process(known)["predict"](NEW), expected, 1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "machine",
    [
        mercer.Calibrated(mercer.KernelRidgeClassifier(Gaussian(1.0), 0.1)),
        mercer.KernelLogistic(Gaussian(1.0), 0.1),
        mercer.Calibrated(mercer.KernelLogistic(Gaussian(1.0), 1.0)),
    ],
    ids=["ridge", "logistic", "calibrated logistic"],
)
def test_probabilities_and_what_costs_least_agree(machine, classes):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(150, 2))
    y = np.digitize(Z[:, 0] + rng.normal(size=150), [0.8, 1.5][: classes - 1])
    new = np.vstack([rng.normal(size=(60, 2)), [[40.0, -40.0]]])
    known = SavedModel(machine.fit(Z, y))
    expected = known.machine.predict_proba(new)
    close(by_onnx(known, new)["probabilities"], expected, 1e-12)
    close(by_onnx(known, new, "single")["probabilities"], expected, 1e-6)
    close(in_this_process(known)["probabilities"](new), expected, 1e-12)
    if not isinstance(machine, mercer.Calibrated):
        return
    costs = np.array([[0, 1, 2], [7, 0, 1], [9, 5, 0]])[:classes, :classes]
    dear = mercer.Calibrated(machine.machine, costs=costs)
    known = SavedModel(dear.fit(Z, y))
    expected = known.machine.predict(new)
    assert (expected != machine.predict(new)).any()
    assert by_onnx(known, new)["prediction"].tolist() == expected.tolist()
    assert in_this_process(known)["predict"](new).tolist() == expected.tolist()
    close(in_this_process(known)["probabilities"](new), known.machine.predict_proba(new), 1e-12)


@pytest.mark.parametrize("kind", [bool, int, float, str])
def test_labels_keep_their_kind(kind):
    y = (X[:, 0] > 0).astype(int).astype(kind)
    known = SavedModel(mercer.KernelRidgeClassifier(Gaussian(1.0)).fit(X, y))
    expected = known.machine.predict(NEW).tolist()
    assert by_onnx(known, NEW)["prediction"].tolist() == expected
    found = in_this_process(known)["predict"](NEW).tolist()
    assert found == expected
    assert {type(one) for one in found} == {kind}


@pytest.mark.parametrize("numbers", ["standard", "robust", "quantile", ("standard", "quantile")])
@pytest.mark.parametrize("target", ["y", "kind"])
def test_tables_with_categories_and_gaps_agree(numbers, target, tmp_path):
    other = "kind" if target == "y" else "y"
    sheet = read_frame(table().drop(columns=other), target)
    encode = mercer.Encode(numbers, target_kind="regress" if target == "y" else "classify")
    last = mercer.KernelRidge if target == "y" else mercer.KernelRidgeClassifier
    machine = make_pipeline(encode, last("gaussian", 1.0)).fit(sheet.X, sheet.y)
    known = SavedModel(machine, recipe(sheet))
    new = table(30, seed=3).drop(columns=["y", "kind"])
    new.loc[3, "home"], new.loc[4, "size"], new.loc[5, "town"] = "moon", 1e6, "t99"
    (piece,) = chunks(new, known.recipe)
    expected = machine.predict(piece.X)
    found = by_onnx(known, piece.X)["prediction"]
    rows = new.astype(object).where(new.notna(), None).to_dict("records")
    file = in_this_process(known)
    if target == "y":
        close(found, expected, 1e-12)
        close(file["predict"](rows), expected, 1e-12)
    else:
        assert found.tolist() == expected.tolist() == file["predict"](rows).tolist()
        close(file["scores"](rows), machine.decision_function(piece.X), 1e-12)


def test_the_file_runs_in_a_bare_interpreter_without_eval_or_pickle(tmp_path):
    machine = make_pipeline(StandardScaler(), mercer.SVR(Gaussian(1.0), C=5.0))
    machine.fit(X, np.sin(X[:, 0]))
    known = SavedModel(machine)
    close(by_python(known, NEW, tmp_path), machine.predict(NEW), 1e-12)
    text = (tmp_path / "model.py").read_text("utf-8")
    assert not any(word in text for word in ("eval(", "exec(", "pickle", "__import__"))


def test_the_file_reads_a_table_and_hostile_names_stay_texts(tmp_path):
    name = 'a"""\n\'); import os; os.abort()  # {0}'
    frame = pd.DataFrame({name: ["x\\'", "y\n"] * 20, "b": np.arange(40.0), "t": [1.0, 2.0] * 20})
    sheet = read_frame(frame, "t", types={name: "categorical"}, task="regress")
    machine = make_pipeline(mercer.Encode(), mercer.KernelRidge("gaussian", 0.1))
    machine.fit(sheet.X, sheet.y)
    (tmp_path / "model.py").write_text(
        python_file(write_model(SavedModel(machine, recipe(sheet)))), encoding="utf-8"
    )
    frame.drop(columns="t").to_csv(tmp_path / "new.csv", index=False)
    run = subprocess.run([sys.executable, "-I", "model.py", "new.csv"], cwd=tmp_path, text=True,
                         capture_output=True, check=True)  # fmt: skip
    found = np.array(run.stdout.split()[1:], dtype=float)
    close(found, machine.predict(sheet.X), 1e-12)


def ridge_of(frame):
    """Return a model of a table with the target y, the rows as it reads them, and its answers."""
    known = saved(None, frame)
    (piece,) = chunks(frame, known.recipe)
    return known, piece.X, known.machine.predict(piece.X)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Gaussian(1.0).on("b", "a")], ids=repr)
def test_a_table_that_nothing_prepares_agrees(kernel):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.sin(X[:, 0]))
    sheet = read_frame(frame, "y")
    known = SavedModel(mercer.KernelRidge(kernel, 0.1).fit(sheet.X, sheet.y), recipe(sheet))
    expected = known.machine.predict(sheet.X)
    close(by_onnx(known, sheet.X)["prediction"], expected, 1e-12)
    close(in_this_process(known)["predict"](frame.to_dict("list")), expected, 1e-12)


def test_kernels_of_categories_agree():
    frame = table(gaps=False)[["size", "age", "home", "town"]]
    kernel = Gaussian(2.0).on("size") + Laplacian(9.0).on("age") * Categorical().on("home")
    plain = mercer.Plan(route="dual")
    machine = mercer.KernelRidge(kernel + Categorical().on("home", "town"), 0.5, follow=plain)
    known = SavedModel(machine.fit(frame, table(gaps=False).y))
    new = table(30, seed=1, gaps=False)[list(frame)]
    new.loc[3, "home"] = "never seen"
    expected = machine.predict(new)
    close(by_onnx(known, new)["prediction"], expected, 1e-12)
    model = in_this_process(known)
    close(model["scores"](new.to_dict("list")), expected, 1e-12)
    with pytest.raises(ValueError, match="row 2 has no answer"):
        model["predict"](new.assign(home=new.home.mask(new.index == 2)).to_dict("list"))


def test_what_was_written_is_said_in_few_words():
    machine = mercer.KernelRidge(Gaussian(1.0, metric=np.eye(30)), 0.1)
    about = write_model(SavedModel(machine.fit(RNG.normal(size=(40, 30)), np.arange(40.0)))).about
    assert about.startswith("KernelRidge with Gaussian") and len(about) <= 200


def test_a_dash_is_an_entry_where_there_is_a_plus():
    strand = np.array(["+", "-", "-", None] * 15, dtype=object)
    frame = pd.DataFrame({"strand": strand, "a": np.arange(60.0)})
    known, rows, expected = ridge_of(frame.assign(y=3.0 * (strand == "-") + 0.1 * frame.a))
    close(by_onnx(known, rows)["prediction"], expected, 1e-12)
    close(in_this_process(known)["predict"](frame.to_dict("list")), expected, 1e-12)


def test_columns_may_be_called_as_anything_but_an_output():
    frame = table().drop(columns="kind")
    known, rows, expected = ridge_of(
        frame.rename(columns={"size": "v0", "age": "/v1", "home": "input0", "town": "code"})
    )
    close(by_onnx(known, rows)["prediction"], expected, 1e-12)
    clash, _, _ = ridge_of(frame.rename(columns={"size": "prediction"}))
    with pytest.raises(ExportError, match="the column 'prediction' is called as an output"):
        onnx_graph(write_model(clash))


def test_a_column_that_tells_nothing_is_exported_and_texts_read_as_numbers_are_refused():
    same = np.zeros((20, 2))
    machine = make_pipeline(mercer.Encode(), mercer.KernelRidge("gaussian", 0.1))
    known = SavedModel(machine.fit(same, np.arange(20.0)))
    close(by_onnx(known, same)["prediction"], known.machine.predict(same), 1e-12)
    frame = pd.DataFrame({"zip": ["1", "2", "3", "4"] * 10, "y": np.arange(40.0) / 3})
    sheet = read_frame(frame, "y", types={"zip": "categorical"})
    machine = make_pipeline(mercer.Encode(), mercer.KernelRidge("gaussian", 0.1))
    with pytest.raises(ExportError, match="the column 'zip' is of texts"):
        write_model(SavedModel(machine.fit(sheet.X, sheet.y), recipe(sheet)))


def test_the_file_refuses_rows_without_an_answer():
    predict = in_this_process(SavedModel(mercer.SVC("gaussian").fit(X, X[:, 0] > 0)))["predict"]
    with pytest.raises(ValueError, match="row 1 has no answer"):
        predict([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]])
    with pytest.raises(ValueError, match="expected rows of 3 numbers"):
        predict(X[:, :1])


def test_the_graph_says_its_opset_and_types():
    graph = onnx_graph(write_model(SavedModel(mercer.SVC("gaussian").fit(X, X[:, 0] > 0))))
    assert {one.domain: one.version for one in graph.opset_import}[""] == OPSET
    assert graph.graph.input[0].type.tensor_type.elem_type == 11  # double


def saved(kernel_or_machine, frame=None):
    if frame is None:
        return SavedModel(kernel_or_machine)
    sheet = read_frame(frame, "y", task="regress")
    machine = make_pipeline(mercer.Encode(), mercer.KernelRidge("gaussian", 0.1))
    return SavedModel(machine.fit(sheet.X, sheet.y), recipe(sheet))


REFUSED = {
    "strings": (lambda: saved(mercer.KernelRidge(Spectrum(2), 0.1).fit(["abab", "bcbc"], [0, 1])),
                "no rows of numbers"),
    "machine": (lambda: saved(mercer.PrototypeClassifier("gaussian").fit(X, X[:, 0] > 0)),
                "the machine PrototypeClassifier cannot be exported"),
    "wrapper": (lambda: saved(MultiOutputRegressor(mercer.KernelRidge("gaussian", 0.1))
                              .fit(X, X[:, :2])), "MultiOutputRegressor cannot be exported"),
    "random features": (lambda: saved(mercer.KernelRidge(
        Gaussian(1.0), follow=mercer.Plan(approximate=Random(20))).fit(X, X[:, 0])),
                        "random features"),
    "dates as labels": (lambda: saved(mercer.KernelRidgeClassifier("gaussian").fit(
        X, np.where(X[:, 0] > 0, "2024-01-01", "2024-01-02").astype("M8[D]"))), "labels must be"),
    "kernel": (lambda: saved(mercer.KernelRidge(Matern(1.2, 1.0), 0.1).fit(X, X[:, 0])),
               "Matern with nu = 1.2"),
    "sigmoid": (lambda: saved(mercer.KernelRidge(mercer.kernels.Chi2(1.0), 0.1)
                              .fit(np.abs(X), X[:, 0])), "the kernel Chi2 cannot be exported"),
    "date": (lambda: saved(None, pd.DataFrame({
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(40), "D"),
        "y": np.arange(40.0) % 7})), "the column 'day' is date"),
    "costs": (lambda: saved(mercer.Calibrated(mercer.SVC("gaussian"), costs=1 - np.eye(3))
                            .fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))),
              "with costs cannot be exported: probabilities"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exported_is_refused_by_its_name(name):
    make, message = REFUSED[name]
    with pytest.raises(ExportError, match=message):
        write_model(make())


def test_the_command_writes_both_beside_the_model(tmp_path):
    model = tmp_path / "m.mercer"
    mercer.save(mercer.KernelRidge(Gaussian(1.0), 0.1).fit(X, X[:, 0]), model)
    run = partial(CliRunner().invoke, app)
    for option, name in (("--onnx", "m.onnx"), ("--python", "m.py")):
        answer = run(["export", str(model), option])
        assert answer.exit_code == 0 and "KernelRidge with Gaussian" in answer.output
        assert (tmp_path / name).stat().st_size > 1000
    for wrong in ([], ["--onnx", "--python"], ["--python", "--single"]):
        answer = run(["export", str(model), *wrong])
        assert answer.exit_code and "say what to write" in answer.output


def test_a_missing_extra_is_named(monkeypatch):
    written = write_model(SavedModel(mercer.KernelRidge("linear", 0.1).fit(X, X[:, 0])))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[onnx\]'"):
        onnx_graph(written)
