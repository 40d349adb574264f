"""What bad input gets from selection: a named error, before any work starts."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelMeans, KernelNeighbors, KernelRidge, KernelRidgeClassifier
from mercer.errors import (
    DomainError,
    MercerError,
    SelectionError,
    SelectionWarning,
    ValidityError,
)
from mercer.kernels import Gaussian, Linear
from mercer.selection import GridSearchCV, MarginPath, leave_one_out, nested_cv

RNG = np.random.default_rng(0)
N = 20
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=N)
LABELS = np.array(["a", "b"])[(Y > 0).astype(int)]
GRID = {"penalty": [0.1, 1.0, 10.0]}


class Recorder(KernelRidge):
    """A machine that counts its fits."""

    fits = []

    def fit(self, X, y, sample_weight=None):
        Recorder.fits.append(len(X))
        return super().fit(X, y, sample_weight)


class ClassRecorder(KernelRidgeClassifier):
    """A classifier that counts its fits."""

    def fit(self, X, y, sample_weight=None):
        Recorder.fits.append(len(X))
        return super().fit(X, y, sample_weight)


MACHINE = Recorder(Gaussian(1.0))


def search(machine=MACHINE, grid=GRID, items=X, y=Y, fit=None, **options):
    return GridSearchCV(machine, grid, **{"cv": 3, **options}).fit(items, y, **(fit or {}))


def nest(machine=MACHINE, grid=GRID, items=X, y=Y, fit=None, cv=3, **options):
    return nested_cv(machine, items, y, grid, cv, 3, **(fit or {}), **options)


both = pytest.mark.parametrize("run", [search, nest])


def refused(words, run, *, error=SelectionError, fits=0, **given):
    """Check that an error with these words comes, with no more than so many fits before it."""
    Recorder.fits = []
    with pytest.raises(error) as caught:
        run(**given)
    assert isinstance(caught.value, MercerError)
    for word in [words] if isinstance(words, str) else words:
        assert word in str(caught.value)
    assert len(Recorder.fits) <= fits, Recorder.fits


# ---- grids ------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ({}, "the grid is empty"),
        ([], "the grid is empty"),
        ([{}], "the grid is empty"),
        ({"penalty": []}, "no values for 'penalty'"),
        ([{"penalty": [1.0]}, {"kernel": []}], "no values for 'kernel'"),
        ({"kernel": "gaussian"}, ["'kernel' must be a list", "write ['gaussian']"]),
        ({"penalty": 1.0}, ["'penalty' must be a list", "write [1.0]"]),
        ({"penalty": {0.1, 1.0}}, "not a grid"),
        ({"penalty": np.ones((2, 2))}, "not a grid"),
        ("penalty", "a grid is a dict of lists"),
        ([1.0], "a grid is a dict of lists"),
        ({3: [1.0]}, "parameters have names, found 3"),
    ],
)
def test_grids(run, grid, words):
    refused(words, run, grid=grid)


CHAIN = make_pipeline(StandardScaler(), KernelRidge(Gaussian(1.0) + Linear()))


@both
@pytest.mark.parametrize(
    ("machine", "name", "close"),
    [
        (MACHINE, "penalti", "penalty"),
        (MACHINE, "kernel__bandwith", "bandwidth"),
        (KernelRidge(Gaussian(1.0) * Linear()), "kernel__left__bandwith", "bandwidth"),
        (CHAIN, "kernelridge__penalti", "penalty"),
        (CHAIN, "kernelridge__kernel__left__bandwith", "bandwidth"),
        (CHAIN, "kernelrigde__penalty", "kernelridge__penalty"),
        (CHAIN, "standardscaler__with_men", "standardscaler__with_mean"),
    ],
)
def test_parameters_that_do_not_exist(run, machine, name, close):
    missing = name.split("__")[-1] if "rigde" not in name else name
    refused([missing, f"did you mean '{close}'?"], run, machine=machine, grid={name: [1.0]})
    good = "kernelridge__penalty" if machine is CHAIN else "penalty"
    refused(missing, run, machine=machine, grid=[{good: [1.0]}, {name: [1.0]}])


# ---- folds ------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (21, "21 folds, but there are only 20 items"),
        (KFold(21), "21 folds, but there are only 20 items"),
        (1, "at least 2 folds, found 1"),
        (0, "at least 2 folds, found 0"),
        (-3, "at least 2 folds, found -3"),
        (2.5, "must be a number of folds"),
        ("five", "must be a number of folds"),
        (True, "must be a number of folds"),
        (KFold, "found a class; write KFold()"),
        ([(np.zeros((2, 2), dtype=int), [3])], "must be a list of items, found 2 dimensions"),
        ([(np.ones(19, dtype=bool), [3])], "a mask of 19 entries, but there are 20 items"),
        (object(), "cv"),
        ([], "no splits at all"),
        ([1, 2], "cv cannot split"),
        ([([0, 1, 2], [])], "split 0 is empty"),
        ([([], [0, 1])], "training part of split 0 is empty"),
        ([(np.arange(10), np.arange(15, 21))], "split 0 names items that are not among the 20"),
        ([(np.arange(10), [0.5, 1.5])], "split 0 names items that are not among the 20"),
        (GroupKFold(3), "GroupKFold needs groups"),
    ],
)  # fmt: skip
def test_folds(run, cv, words):
    refused(words, run, cv=cv)


@both
def test_groups(run):
    refused("groups has 19 entries for 20 items", run, cv=GroupKFold(3),
            fit={"groups": np.arange(19)})  # fmt: skip
    refused("number of groups: 2", run, cv=GroupKFold(3), fit={"groups": np.arange(N) % 2})


@both
@pytest.mark.parametrize("machine", [SVC(Gaussian(1.0)), ClassRecorder(Gaussian(1.0))])
def test_a_class_that_is_missing_from_a_training_fold(run, machine):
    grid = {"C": [1.0]} if isinstance(machine, SVC) else GRID
    y = np.array(["rare"] * 2 + ["b", "c"] * 9)
    refused(["split 0", "class 'rare'", "there are 2 items of it"], run,
            machine=machine, grid=grid, y=y, cv=KFold(5))  # fmt: skip


def test_a_class_that_is_missing_from_an_inner_training_fold():
    y = np.array(["rare"] * 3 + ["b", "c"] * 8 + ["b"])
    outer = [(np.arange(15), np.arange(15, N))]
    with pytest.raises(SelectionError, match="outer fold 0: inner fold 0 has no item of the"):
        nested_cv(SVC(), X, y, {"C": [1.0]}, outer, KFold(3))


@both
def test_the_only_item_of_a_class(run):
    y = np.array(["only"] + ["b", "c"] * 9 + ["b"])
    refused("there is 1 item of it in all", run, machine=ClassRecorder("linear"), y=y, cv=KFold(4))


# ---- scores -----------------------------------------------------------------------------------


def raises(machine, X, y):
    raise KeyError("what?")


def says(value):
    return lambda machine, X, y: value


@both
@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        (raises, ["scoring fails with KeyError", "what?"]),
        (says("good"), ["'good'", "not a number"]),
        (says(None), "not a number"),
        (says([1.0, 2.0]), "not a number"),
        ("neg_mean_square_error", "did you mean 'neg_mean_squared_error'?"),
        ("roc_auc", "scoring fails"),
        (7, "scoring must be a name"),
    ],
)
def test_scores(run, scoring, words):
    """A function is tried on one small machine; nothing else is fitted."""
    refused(words, run, scoring=scoring, fits=1)
    assert all(count <= 40 for count in Recorder.fits)


def test_a_score_is_tried_on_few_items_only():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    refused("scoring fails", search, items=A, y=y, scoring=raises, fits=1)
    assert Recorder.fits == [40]


def test_one_bad_score_among_several():
    for scoring in (["r2", "r3"], {"a": "r2", "b": "rr2"}):
        refused("there is no scoring", search, scoring=scoring, refit=False)
    refused("KeyError", search, scoring={"a": "r2", "b": raises}, refit=False, fits=1)
    K = Gaussian(1.0)(X)
    refused("KeyError", search, machine=KernelRidge("precomputed"), items=K, scoring=raises)


@both
def test_a_machine_without_a_score(run):
    refused("KernelMeans has no score of its own", run, machine=KernelMeans(), y=None,
            grid={"n_clusters": [2]})  # fmt: skip


@both
@pytest.mark.parametrize("machine", [KernelRidge(Gaussian(1.0)), MACHINE], ids=["ours", "theirs"])
def test_explained_variance_of_a_single_item(run, machine):
    if run is nest:
        run = lambda **given: nested_cv(X=X, y=Y, grid=GRID, outer=3, inner=LeaveOneOut(), **given)
        refused("R² of a single held-out item", run, machine=machine)
    else:
        refused("R² of a single held-out item", run, machine=machine, cv=LeaveOneOut())
        run(machine=machine, cv=LeaveOneOut(), scoring="neg_mean_squared_error")


def test_error_score():
    refused("error_score must be a number or 'raise'", search, error_score="none")


# ---- items ------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("cv", [3, [(np.arange(10), np.arange(10, 15))]], ids=["number", "pairs"])
@pytest.mark.parametrize("y", [Y[:-1], np.r_[Y, Y]], ids=["short", "long"])
def test_lengths(run, cv, y):
    refused("", run, y=y, cv=cv, machine=KernelRidge(Gaussian(1.0)), error=MercerError)


@both
@pytest.mark.parametrize("count", [19, 13])
def test_weights_of_another_length(run, count):
    """Also if it is just the number of training items."""
    given = {"fit": {"sample_weight": np.ones(count)}, "error": DomainError}
    refused(f"sample_weight has {count} entries", run, **given)


@both
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_items_that_are_not_finite(run, value):
    A = X.copy()
    A[3, 1] = value
    refused("row 3, column 1", run, items=A, machine=KernelRidge(Gaussian(1.0)), error=DomainError)


# ---- fits -------------------------------------------------------------------------------------


@both
def test_all_fits_fail(run):
    refused(["fits failed", "penalty must be a finite number"], run, grid={"penalty": [-1.0]},
            machine=KernelRidge(Gaussian(1.0)))  # fmt: skip
    refused(["fits failed", "'flop'"], run, grid={"indefinite": ["flop"]},
            machine=KernelRidge(Gaussian(1.0)))  # fmt: skip


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "0.1", None])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=["dual", "features"])
def test_a_penalty_that_is_none(kernel, value):
    """It is refused as the machine itself would, and the others are not touched."""
    grid = {"penalty": [0.1, value]}
    with pytest.raises(ValidityError, match="penalty must be a finite number"):
        search(KernelRidge(kernel), grid, error_score="raise")
    with pytest.warns(match="non-finite|3 of 6 fits failed"):
        found = search(KernelRidge(kernel), grid)
    assert np.isnan(found.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert found.best_params_ == {"penalty": 0.1}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("C", 1.0, -1.0),
        ("C", 1.0, "one"),
        ("tol", 1e-3, 0.0),
        ("max_iter", None, 0),
        ("multiclass", "ovo", "ovx"),
        ("class_weight", None, "even"),
        ("class_weight", None, {"c": 2.0}),
        ("indefinite", "error", "ignore"),
        ("probability", False, "maybe"),
    ],
)
def test_settings_of_a_support_vector_machine(name, good, bad):
    """What the machine would refuse has no score, though it is not always fitted."""
    folds = StratifiedKFold(3)
    with pytest.warns(match="non-finite|fits failed"):
        found = search(SVC(Gaussian(1.0)), {name: [good, bad]}, y=LABELS, cv=folds)
    assert np.isnan(found.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert found.best_params_ == {name: good}


# ---- items, targets and weights ---------------------------------------------------------------


def left_out(machine=MACHINE, items=X, y=Y, fit=None, **_):
    return leave_one_out(machine, items, y, **(fit or {}))


every = pytest.mark.parametrize("run", [search, nest, left_out])


@every
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.r_[np.nan, Y[1:]], "NaN or infinity at row 0"),
        (LABELS, "for labels use a classifier"),
        (None, "requires y to be passed"),
        (3.0, "y must be a sequence"),
    ],
    ids=["nan", "labels", "none", "scalar"],
)
def test_targets(run, y, words):
    refused(words, run, y=y, error=MercerError)


@every
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.r_[-1.0, np.ones(N - 1)], "item 0 has -1.0"),
        (np.r_[np.nan, np.ones(N - 1)], "item 0 has nan"),
        (np.zeros(N), "all sample weights are zero"),
        (np.ones((N, 2)), "must be 1D"),
        (["heavy"] * N, "sample_weight"),
    ],
    ids=["negative", "nan", "zero", "table", "text"],
)
def test_weights(run, weights, words):
    refused(words, run, fit={"sample_weight": weights}, error=DomainError)


def test_arguments_of_fit_that_do_not_exist():
    words = "Recorder.fit has no argument 'sample_wieght'; did you mean 'sample_weight'?"
    refused(words, search, fit={"sample_wieght": np.ones(N)})


@every
@pytest.mark.parametrize("items", [None, 3.0, object()], ids=["none", "scalar", "object"])
def test_items_that_are_no_sequence(run, items):
    refused("X must be a sequence", run, items=items)


@every
@pytest.mark.parametrize("width", [N - 2, N + 3])
def test_a_precomputed_matrix_must_be_square(run, width):
    similar = np.random.default_rng(0).uniform(size=(N, width))
    words = ["a square matrix", f"found {N} x {width}"]
    refused(words, run, machine=Recorder("precomputed"), items=similar)


@every
def test_what_is_no_machine(run):
    refused("write Recorder()", run, machine=Recorder)
    refused("a machine is needed, found None", run, machine=None)


def test_a_path_learns_from_every_class():
    ordered = np.sort(LABELS)
    with pytest.raises(SelectionError, match="split 1 has no item of the class 'b'"):
        MarginPath(SVC(Gaussian(1.0)), [1.0, 2.0]).fit(X, ordered, cv=KFold(2))


# ---- scores -----------------------------------------------------------------------------------


def raises(machine, A, y):
    raise KeyError("boo")


@both
@pytest.mark.parametrize("grid", [{"penalty": [-1.0, 1.0]}, {"penalty": [1.0]}])
def test_a_scoring_that_raises_is_tried_on_a_machine_that_can_be_fitted(run, grid):
    refused("scoring fails with KeyError", run, grid=grid, scoring=raises, fits=2)


@both
def test_a_scoring_that_raises_is_tried_on_more_items_where_few_do_not_suffice(run):
    items = RNG.normal(size=(240, 2))
    machine, grid = KernelNeighbors(n_neighbors=45), {"n_neighbors": [45, 46]}
    labels = np.arange(240) % 2
    given = {"machine": machine, "grid": grid, "items": items, "y": labels}
    refused("scoring fails with KeyError", run, scoring=raises, cv=2, **given)


def test_a_candidate_that_cannot_be_scored_does_not_stop_the_others():
    pipeline = Pipeline([("scale", StandardScaler()), ("machine", SVC(Gaussian(1.0)))])
    with pytest.warns(UserWarning) as told:
        found = GridSearchCV(pipeline, {"machine": ["passthrough", SVC(Gaussian(1.0))]},
                             cv=3, scoring="f1_macro").fit(X, LABELS)  # fmt: skip
    assert any("scoring failed" in str(one.message) for one in told)
    assert found.best_index_ == 1 and np.isnan(found.cv_results_["mean_test_score"][0])


def test_several_scores_need_one_to_choose_by():
    def two(machine, A, y):
        return {"a": 1.0, "b": 2.0}

    refused("refit", search, scoring=two, fits=1)
    refused("refit", search, scoring=["r2", "neg_mean_squared_error"])
    refused("one score", nest, scoring=two, fits=1)
    refused("no scores", search, scoring=lambda machine, A, y: {}, fits=1)


@both
@pytest.mark.parametrize(
    ("machine", "y", "scoring"),
    [
        (MACHINE, Y, "accuracy"),
        (ClassRecorder(Gaussian(1.0)), LABELS, "neg_mean_squared_error"),
        (ClassRecorder(Gaussian(1.0)), LABELS, "r2"),
    ],
)
def test_scores_of_another_kind(run, machine, y, scoring):
    refused("scoring fails with", run, machine=machine, y=y, scoring=scoring, fits=1)


def test_a_score_in_capitals():
    refused("did you mean 'r2'?", search, scoring="R2")


@pytest.mark.parametrize(
    ("name", "value"), [("refit", 1), ("return_train_score", "yes"), ("verbose", "loud")]
)
def test_options(name, value):
    refused(f"{name}={value!r}", search, **{name: value})


def test_routing_is_not_pretended():
    with config_context(enable_metadata_routing=True):
        refused("metadata routing", search, fit={"sample_weight": np.ones(N)})
        search()  # nothing is to be routed


def test_folds_that_can_be_used_once():
    folds = list(KFold(3).split(np.zeros(10)))
    pairs = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    machine = KernelRidge(Gaussian(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)
        once, often = (nested_cv(machine, X, Y, GRID, pairs, f) for f in (iter(folds), folds))
    np.testing.assert_array_equal(once.scores, often.scores)
