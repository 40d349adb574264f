"""Strings and texts work with every machine, with grids and in honest folds."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC as SklearnSVC

from mercer import (
    LPSVC,
    SVC,
    SVR,
    ExemplarClassifier,
    GaussianProcess,
    KernelDiscriminant,
    KernelLogistic,
    KernelMeans,
    KernelNeighbors,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    NuSVC,
    OneClassSVM,
    Perceptron,
    PrototypeClassifier,
    RBFNetworkClassifier,
)
from mercer.kernels import Mismatch, Spectrum, Subsequence, Text, WeightedDegree, normalize
from mercer.selection import GridSearchCV, nested_cv

rng = np.random.default_rng(0)


def sequence(motif: str) -> str:
    """Return a random string with a motif somewhere in it."""
    letters, place = "".join(rng.choice(list("ACGT"), 12)), rng.integers(0, 9)
    return letters[:place] + motif + letters[place + 4 :]


X = [sequence(("GGTT", "ACGT")[i % 2]) for i in range(36)]
y = np.array(["g", "a"])[np.arange(36) % 2]
COUNTS = np.array([text.count("G") for text in X], dtype=float)
NEW = ["GGGTTGG", "ACGTACGTN"]

CLASSIFIERS = [
    ExemplarClassifier, KernelDiscriminant, KernelLogistic, KernelNeighbors,
    KernelRidgeClassifier, LPSVC, NuSVC, Perceptron, PrototypeClassifier, RBFNetworkClassifier,
    SVC,
]  # fmt: skip
KERNELS = [
    normalize(Spectrum(3)),
    normalize(Mismatch(3, 1)),
    normalize(Subsequence(3, 0.5)),
    normalize(WeightedDegree(3, shift=3)),
    Text("char", ngrams=(2, 3)),
]


@pytest.mark.parametrize("machine", CLASSIFIERS, ids=lambda machine: machine.__name__)
def test_classifiers_learn_from_strings(machine):
    fitted = machine(KERNELS[0]).fit(X, y)
    assert fitted.score(X, y) > 0.7
    assert fitted.predict(NEW).tolist() == ["g", "a"]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_of_strings_teaches_a_machine(kernel):
    assert SVC(kernel, 10.0).fit(X, y).predict(NEW).tolist() == ["g", "a"]
    predicted = KernelRidge(kernel, 0.1, intercept=True).fit(X, COUNTS).predict(NEW)
    assert predicted[0] > predicted[1]


@pytest.mark.parametrize("machine", [SVR(), GaussianProcess(penalty=0.1), OneClassSVM(),
                                     KernelPCA(n_components=2), KernelMeans(n_clusters=2)],
                         ids=lambda machine: type(machine).__name__)  # fmt: skip
def test_other_machines_take_strings(machine):
    machine = machine.set_params(kernel=Spectrum(2)).fit(X, COUNTS)
    answer = machine.transform(NEW) if hasattr(machine, "transform") else machine.predict(NEW)
    assert len(answer) == 2 and np.isfinite(np.asarray(answer, dtype=float)).all()


def test_lengths_are_chosen_by_cross_validation():
    grid = {"kernel__kernel__length": [1, 2, 3, 4, 9], "C": [0.1, 1.0, 10.0]}
    search = GridSearchCV(SVC(normalize(Spectrum(1))), grid, cv=4).fit(X, y)
    assert search.best_params_["kernel__kernel__length"] in (2, 3, 4)
    assert search.best_score_ > 0.8 and search.predict(NEW).tolist() == ["g", "a"]


def test_nested_cross_validation_of_strings():
    found = nested_cv(
        KernelRidgeClassifier(normalize(Mismatch(3, 1))), X, y,
        {"kernel__kernel__mismatches": [0, 1, 2], "penalty": [0.01, 0.1, 1.0]}, outer=3, inner=3,
    )  # fmt: skip
    assert found.scores.mean() > 0.6


def test_words_are_learned_inside_each_fold():
    texts = [f"word{i} {'good' if i % 2 else 'bad'} thing{i % 5}" for i in range(20)]
    labels = np.arange(20) % 2
    grid = {"C": [0.5, 2.0]}
    mine = GridSearchCV(SVC(Text(), tol=1e-10), grid, cv=4).fit(texts, labels)
    pipeline = make_pipeline(TfidfVectorizer(), SklearnSVC(kernel="linear", tol=1e-10))
    for place, C in enumerate(grid["C"]):
        for fold, (train, test) in enumerate(StratifiedKFold(4).split(labels, labels)):
            model = pipeline.set_params(svc__C=C).fit([texts[i] for i in train], labels[train])
            score = model.score([texts[i] for i in test], labels[test])
            assert mine.cv_results_[f"split{fold}_test_score"][place] == pytest.approx(score)
    # The winner knows the words of all texts.
    assert len(mine.best_estimator_.kernel_.idf.words) == 20 + 2 + 5
