"""Studies of small real and awkward tables, fitted by hand, for tests of reports."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from mercer import SVC, ExemplarClassifier, KernelRidge, KernelRidgeClassifier
from mercer.domains import Graph
from mercer.explanations.terms import unwrap
from mercer.kernels import (
    Categorical,
    Gaussian,
    Linear,
    Molecule,
    Spectrum,
    WeisfeilerLehman,
    normalize,
)
from mercer.machines import Calibrated, Standardize
from mercer.report.similarity import cosines
from mercer.sources import BadRow, Column, Sheet
from mercer.studies import (
    Attempt,
    Example,
    HeldOutPredictions,
    LearningCurve,
    Neighbor,
    Study,
    Surface,
)

SCRIPT = "<script>alert(1)</script>"
CHINESE = "名前 🙂 שלום"


def sheet_of(frame: Any, y: Any, kinds: dict[str, str] | None = None, **more: Any) -> Sheet:
    """Return a sheet of a table whose columns are numeric unless `kinds` says otherwise."""
    names = list(frame.columns) if hasattr(frame, "columns") else []
    kinds = kinds or {}
    columns = tuple(
        Column(
            name,
            kinds.get(name, "numeric"),
            "all entries are numbers" if name not in kinds else f"looks {kinds[name]}",
            missing=int(frame[name].isna().sum()),
            distinct=len(set(map(str, frame[name]))),
            examples=tuple(map(str, frame[name].dropna()[:3])),
        )
        for name in names
    )
    aside = more.pop("aside", ())
    target = more.pop("target", Column("species", "categorical", "it is the target"))
    rows = np.arange(len(y))
    return Sheet(
        X=frame,
        y=np.asarray(y),
        columns=(*columns, *aside),
        target=target,
        lines=rows + 2,
        rows=rows,
        total=more.pop("total", len(y)),
        name=(name := more.pop("name", "table.csv")),
        path=f"/somewhere/else/{name}",
        **more,
    )


def studied(
    sheet: Sheet,
    machine: Any,
    *,
    kernels: tuple[Any, ...] = (),
    parameter: str = "",
    values: tuple[float, ...] = (),
    folds: int = 4,
    warnings: tuple[str, ...] = (),
) -> Study:
    """Judge a machine by hand, and return it fitted with everything that a report shows."""
    y = sheet.y
    assert y is not None
    classify = y.dtype.kind != "f"
    X = sheet.X
    splits = splits_of(X, y, folds)
    prediction, fold = np.empty_like(y), np.empty(len(y), dtype=int)
    classes = np.unique(y) if classify else None
    proba = np.zeros((len(y), len(classes))) if classify else None
    for number, (train, test) in enumerate(splits):
        fitted = clone(machine).fit(part(X, train), y[train])
        prediction[test], fold[test] = fitted.predict(part(X, test)), number
        if proba is not None:
            known = np.searchsorted(classes, fitted.classes_)
            proba[np.ix_(test, known)] = fitted.predict_proba(part(X, test))
    fitted = clone(machine).fit(X, y)
    error, spread = judged(y, prediction, fold)
    name = type(unwrap(fitted)[0]).__name__
    typical, confused = find_examples(fitted, X, y, prediction, proba, classes)
    return Study(
        task="classify" if classify else "regress",
        sheet=sheet,
        machine=fitted,
        classes=classes,
        error=error,
        error_se=spread,
        baseline_error=knowing_nothing(y),
        kernel=repr(unwrap(fitted)[0].kernel_),
        parameters={parameter: values[0]} if parameter else {},
        attempts=(
            Attempt("PrototypeClassifier", 2, error + 0.05, 0.02, error + 0.04, 1),
            Attempt(name, 12, error, spread, max(error - 0.01, 0.0), folds - 1, chosen=True),
            Attempt("KernelLogistic", note="the time was up"),
        ),
        surface=surface_of(machine, X, y, splits[:2], kernels, parameter, values),
        curve=curve_of(machine, X, y, splits[0]),
        held_out=HeldOutPredictions(prediction, proba, fold, np.arange(len(y))),
        typical=typical,
        confused=confused,
        warnings=warnings,
        notes=("Numbers were standardized within each fold.",),
        folds=(folds, 3),
        seed=7,
        budget=60.0,
        timings={"total": 1.25},
    )


def part(X: Any, places: Any) -> Any:
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def splits_of(X: Any, y: np.ndarray, folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    stratified = y.dtype.kind != "f" and np.unique(y, return_counts=True)[1].min() >= folds
    cut = (StratifiedKFold if stratified else KFold)(folds, shuffle=True, random_state=0)
    return list(cut.split(np.zeros(len(y)), y))


def judged(y: np.ndarray, prediction: np.ndarray, fold: np.ndarray) -> tuple[float, float]:
    numbers = y.dtype.kind == "f"
    losses = (y - prediction) ** 2 if numbers else (y != prediction).astype(float)
    error = float(np.sqrt(losses.mean())) if numbers else float(losses.mean())
    means = np.array([losses[fold == k].mean() for k in np.unique(fold)])
    means = np.sqrt(means) if numbers else means
    return error, float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else np.nan


def knowing_nothing(y: np.ndarray) -> float:
    if y.dtype.kind == "f":
        return float(y.std())
    return 1 - float(np.unique(y, return_counts=True)[1].max()) / len(y)


def surface_of(
    machine: Any, X: Any, y: Any, splits: Any, kernels: Any, parameter: str, values: Any
) -> Surface:
    """Return the errors of other kernels and values in the same place."""
    if not kernels:
        return Surface((repr(unwrap(machine)[0].kernel),), "", (), np.array([[0.1]]))
    errors = np.full((len(kernels), max(len(values), 1)), np.nan)
    for i, kernel in enumerate(kernels):
        for k, value in enumerate(values or (None,)):
            if (i, k) == (len(kernels) - 1, 0) and len(values) > 1:
                continue  # not tried
            other = clone(machine)
            unwrap(other)[0].set_params(kernel=kernel, **({parameter: value} if parameter else {}))
            found = [judged(y[test], other.fit(part(X, train), y[train]).predict(part(X, test)),
                            np.zeros(len(test)))[0]
                     for train, test in splits]  # fmt: skip
            errors[i, k] = float(np.mean(found))
    return Surface(tuple(map(repr, kernels)), parameter, tuple(values), errors)


def curve_of(machine: Any, X: Any, y: np.ndarray, split: Any) -> LearningCurve | None:
    train, test = split
    sizes, errors = [], []
    if len(y) < 30 or (len(np.unique(y)) > 20 and y.dtype.kind != "f"):
        return None
    for share in (0.3, 0.5, 0.75, 1.0):
        some = np.random.default_rng(0).permutation(train)[: int(share * len(train))]
        answers = clone(machine).fit(part(X, some), y[some]).predict(part(X, test))
        sizes.append(len(some))
        errors.append(judged(y[test], answers, np.zeros(len(test)))[0])
    spreads = 0.1 * np.array(errors) + 0.005
    verdict = "The error still falls: twice as many rows would probably help a little."
    return LearningCurve(np.array(sizes), np.array(errors), spreads, verdict)


def find_examples(
    model: Any, X: Any, y: np.ndarray, prediction: np.ndarray, proba: Any, classes: Any
) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Return the most typical of each class, and the most wrong."""
    if len(y) > 1500:
        return (), ()
    machine, seen = unwrap(model, X)
    C = cosines(np.asarray(machine.kernel_(seen), dtype=float))

    def near(place: int) -> tuple[Neighbor, ...]:
        order = [int(k) for k in np.argsort(-C[place], kind="stable") if k != place][:3]
        return tuple(Neighbor(k, float(C[place, k])) for k in order)

    if classes is None:
        off = np.argsort(-np.abs(y - prediction), kind="stable")[:4]
        middle = np.argsort(-C.mean(axis=1), kind="stable")[:3]
        typical, wrong = [(int(k), "like most rows") for k in middle], [int(k) for k in off]
    else:
        mean = [(C[:, y == label].mean(axis=1) * (y == label), label) for label in classes[:10]]
        typical = [(int(np.argmax(m)), f"most typical {label!r}") for m, label in mean]
        own = proba[np.arange(len(y)), np.searchsorted(classes, y)]
        wrong = [int(k) for k in np.argsort(own, kind="stable") if prediction[k] != y[k]][:6]
    said = [f"{y[place]}, predicted {prediction[place]}" for place in wrong]
    return (
        tuple(Example(place, reason, near(place)) for place, reason in typical),
        tuple(Example(place, r, near(place)) for place, r in zip(wrong, said, strict=True)),
    )


# ---- the studies ------------------------------------------------------------------------------


def ridge(kernel: Any, penalty: float = 0.1) -> Any:
    return make_pipeline(Standardize(), Calibrated(KernelRidgeClassifier(kernel, penalty=penalty)))


def iris() -> Study:
    X, code = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"], dtype=object)[code]
    kernels = (Linear(), Gaussian(1.0), Gaussian(2.0), Gaussian(4.0))
    return studied(
        sheet_of(X, y, name="iris.csv"), ridge(Gaussian(2.0)), kernels=kernels,
        parameter="penalty", values=(0.01, 0.1, 1.0, 10.0),
        warnings=("Lines 103 and 144 are equal; equal rows in different folds make the error "
                  "look smaller than it is.",),
    )  # fmt: skip


def two_classes() -> Study:
    X, code = load_breast_cancer(return_X_y=True, as_frame=True)
    X, code = X.iloc[:160], code[:160]
    y = np.array(["malignant", "benign"], dtype=object)[code]
    target = Column("diagnosis", "categorical", "it is the target")
    machine = make_pipeline(Standardize(), SVC(Gaussian("median"), probability=True,
                                               random_state=0))  # fmt: skip
    aside = (Column("patient", "identifier", "each entry occurs once", 0, 160, ("a1", "a2")),)
    return studied(sheet_of(X, y, target=target, name="cells.csv", aside=aside), machine)


def digits() -> Study:
    X, y = load_digits(return_X_y=True, as_frame=True)
    X, y = X.iloc[:300], np.array([str(k) for k in y[:300]], dtype=object)
    target = Column("digit", "categorical", "ten different whole numbers")
    machine = Calibrated(KernelRidgeClassifier(Gaussian(25.0), penalty=0.03))
    return studied(sheet_of(X, y, target=target, name="digits"), machine, folds=3)


def regression() -> Study:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    target = Column("progression", "numeric", "it is the target")
    sheet = sheet_of(X.astype(float), y.to_numpy(dtype=float), target=target, name="diabetes.tsv",
                     total=445, bad=(BadRow(17, "'n/a?' is no number"),))  # fmt: skip
    return studied(
        sheet, make_pipeline(Standardize(), KernelRidge(Gaussian(8.0), penalty=0.3)),
        kernels=(Linear(), Gaussian(4.0), Gaussian(8.0)), parameter="penalty",
        values=(0.1, 0.3, 1.0),
    )  # fmt: skip


def sequences() -> Study:
    rng = np.random.default_rng(1)
    y = np.array(["promoter", "other"], dtype=object)[np.arange(60) % 2]
    strings = []
    for label in y:
        letters = "".join(rng.choice(list("ACGT"), size=int(rng.integers(40, 200))))
        strings.append(letters[:9] + ("TATAAT" if label == "promoter" else "") + letters[9:])
    X = pd.DataFrame({"sequence": pd.Series(strings, dtype=object)})
    kernels = tuple(normalize(Spectrum(k)).on("sequence") for k in (2, 3, 4))
    return studied(
        sheet_of(X, y, {"sequence": "sequence"}, name="promoters.fasta",
                 target=Column("label", "categorical", "it stands in the header")),
        Calibrated(KernelRidgeClassifier(kernels[1], penalty=0.1)), kernels=kernels,
    )  # fmt: skip


def graphs() -> Study:
    rng = np.random.default_rng(2)
    made, y = [], []
    for k in range(60):
        n = int(rng.integers(4, 9))
        edges = [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if k % 2 else [(0, n // 2)])
        made.append(Graph(edges, labels=[*rng.choice(list("CCNO"), size=n)]))
        y.append("ring" if k % 2 else "tree")
    X = pd.DataFrame({"graph": pd.Series(made, dtype=object)})
    kernel = normalize(WeisfeilerLehman(2)).on("graph")
    return studied(
        sheet_of(X, np.array(y, dtype=object), {"graph": "graph"}, name="RINGS", target=None),
        Calibrated(KernelRidgeClassifier(kernel, penalty=0.5)),
    )


def molecules() -> Study:
    acids = ["CC(=O)O", "CCC(=O)O", "OC(=O)c1ccccc1", "CCCC(=O)O", "OC(=O)CC(=O)O", "CC(C)C(=O)O",
             "OC(=O)C=C", "OC(=O)c1ccccc1O"]  # fmt: skip
    others = ["CCO", "CCN", "c1ccccc1", "CC#N", "CCOCC", "CC(C)O", "C1CCCCC1", "Cc1ccccc1"]
    X = pd.DataFrame({"smiles": pd.Series(acids + others, dtype=object),
                      "weight": np.linspace(1, 2, 16)})  # fmt: skip
    y = np.array(["acid"] * 8 + ["other"] * 8, dtype=object)
    machine = Calibrated(KernelRidgeClassifier(Molecule().on("smiles"), penalty=0.1))
    return studied(sheet_of(X, y, {"smiles": "smiles"}, name="acids.smi"), machine, folds=2)


def mixed() -> Study:
    """A table of all sorts of columns, with gaps."""
    rng = np.random.default_rng(3)
    n = 80
    size = rng.normal(10, 3, n)
    size[::9] = np.nan
    kind = rng.choice(["oak", "ash", "elm"], n).astype(object)
    kind[::11] = None
    y = np.where(np.nan_to_num(size, nan=10) + (kind == "oak") * 3 > 10.5, "tall", "short")
    X = pd.DataFrame({
        "size": size, "kind": pd.Series(kind, dtype=object),
        "found": 18000.0 + np.arange(n) / 4,
        "remark": pd.Series([f"a tree number {k} " * (1 + k % 9) for k in range(n)], dtype=object),
    })  # fmt: skip
    aside = (Column("id", "identifier", "each entry occurs once", 0, n, ("t-1", "t-2")),
             Column("planet", "constant", "all entries are 'Earth'", 0, 1, ("Earth",)),
             Column("weight", "missing", "there are no entries", n, 0))  # fmt: skip
    kinds = {"kind": "categorical", "found": "date", "remark": "text"}
    kernel = (
        Gaussian(1.0).on("size")
        + Categorical().on("kind", missing="own category")
    )  # fmt: skip
    return studied(
        sheet_of(X, y.astype(object), kinds, aside=aside, name="trees.csv", total=82,
                 bad=(BadRow(5, "7 entries instead of 8"), BadRow(9, "no target")),
                 notes=("The separator is a semicolon.",),
                 target=Column("height", "categorical", "it is the target")),
        ridge(kernel),
    )  # fmt: skip


def nasty() -> Study:
    """Names and entries that try to be something else than text."""
    rng = np.random.default_rng(4)
    labels = [
        SCRIPT,
        "=cmd|'/c calc'!A1",
        "$x^$ _{",
        "</style><b>",
        "名前 🙂 שלום",
        "a\x00b\u202ec",
    ]
    y = np.array(labels, dtype=object)[np.arange(90) % 6]
    nasty_column = '"><img src=x onerror=alert(1)>'
    words = [f"</td><script>{k}</script> {{{{ 7*7 }}}} &amp; " + "long " * 80 for k in range(90)]
    X = pd.DataFrame({
        nasty_column: rng.normal(size=90) + np.arange(90) % 6,
        "$\\frac{$": rng.normal(size=90),
        "текст": pd.Series(words, dtype=object),
    })  # fmt: skip
    sheet = sheet_of(
        X, y, {"текст": "text"}, name="<i>data</i>.csv", notes=(f"a note {SCRIPT}",),
        target=Column("<u>target</u>", "categorical", SCRIPT),
        aside=(Column("x" * 5000, "identifier", "y" * 5000, 0, 3, ("z" * 5000,)),),
    )  # fmt: skip
    machine = ridge(Gaussian(1.0).on(nasty_column, "$\\frac{$"))
    return studied(sheet, machine, warnings=(f"Careful: {SCRIPT}", "w" * 3000))


def thousand() -> Study:
    """More classes than anyone can look at."""
    rng = np.random.default_rng(5)
    code = np.repeat(np.arange(1000), 2)
    y = np.array([f"class {k:04d}" for k in code], dtype=object)
    X = pd.DataFrame(
        rng.normal(size=(1000, 5))[code] + 0.05 * rng.normal(size=(2000, 5)), columns=list("abcde")
    )
    machine = make_pipeline(Standardize(), ExemplarClassifier(Gaussian(0.3)))
    return studied(sheet_of(X, y), machine, folds=2)


def thin() -> Study:
    """Sparse rows without a target's name, and with nothing to find."""
    rng = np.random.default_rng(6)
    X = sparse.random_array((40, 300), density=0.05, rng=rng, format="csr")
    y = np.array(["-1", "1"], dtype=object)[rng.integers(0, 2, 40)]
    numbers = Column("entries", "numeric", "300 numbers in a row", style={"first": 0})
    sheet = sheet_of(X, y, name="rows.svm", target=None, aside=(numbers,))
    return studied(sheet, Calibrated(KernelRidgeClassifier(Linear(), penalty=1.0)), folds=2)


MAKERS: dict[str, Callable[[], Study]] = {
    "iris": iris, "two classes": two_classes, "digits": digits, "regression": regression,
    "sequences": sequences, "graphs": graphs, "molecules": molecules, "mixed": mixed,
    "nasty": nasty, "thousand": thousand, "thin": thin,
}  # fmt: skip


@cache
def example(name: str) -> Study:
    """Return one of the studies; each is made once in a session."""
    return MAKERS[name]()
