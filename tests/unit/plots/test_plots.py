"""Plots draw what the machines say, on the axes that they are given."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV

from mercer import SVC, KernelRidge, KernelRidgeClassifier, plots
from mercer.datasets import circle, sinc, two_gaussians
from mercer.errors import DomainError, SelectionError
from mercer.kernels import Gaussian, Linear, Polynomial, Sigmoid
from mercer.plots import palette
from mercer.rkhs import Function
from mercer.selection.margin_path import MarginPath
from mercer.selection.path import RidgePath

X, Y = circle(40)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.fixture
def ax():
    return Figure().subplots()


def search():
    grid = {"penalty": [0.01, 0.1, 1.0, 10.0], "kernel__bandwidth": [0.5, 2.0]}
    machine = KernelRidge(Gaussian(1.0))
    return GridSearchCV(machine, grid, cv=3, return_train_score=True).fit(*sinc())


CALLS = {
    "decision": lambda ax: plots.plot_decision(
        KernelRidgeClassifier(Gaussian(0.5)).fit(X, Y), X, Y, ax, resolution=30
    ),
    "points": lambda ax: plots.plot_points(X, Y, ax, names=("a", "b")),
    "function": lambda ax: plots.plot_function(KernelRidge(Gaussian(1.0)).fit(*sinc()), ax),
    "function in the plane": lambda ax: plots.plot_function(
        KernelRidge(Gaussian(1.0)).fit(X, Y), ax, resolution=30
    ),
    "gram": lambda ax: plots.plot_gram(Gaussian("median"), X, Y, ax),
    "spectrum": lambda ax: plots.plot_spectrum(Gaussian(1.0), X, ax, penalty=0.1),
    "weights": lambda ax: plots.plot_weights(KernelRidge().fit(X, Y), Y, ax),
    "path": lambda ax: plots.plot_path(search(), "penalty", ax),
    "decision image": lambda ax: plots.plot_decision_image(
        KernelRidge().fit(X, Y), X[0], ax, shape=(1, 2)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_plot_returns_the_axes_it_was_given(name, ax):
    assert CALLS[name](ax) is ax
    assert ax.has_data()


@pytest.mark.parametrize("name", CALLS)
def test_a_plot_makes_its_own_axes_and_leaves_settings_alone(name, tmp_path):
    before = dict(matplotlib.rcParams)
    made = CALLS[name](None)
    made.figure.savefig(tmp_path / "plot.png")
    assert dict(matplotlib.rcParams) == before
    assert (tmp_path / "plot.png").stat().st_size > 800


@pytest.mark.slow
def test_plots_never_load_pyplot_and_wait_with_matplotlib():
    code = (
        "import sys; import mercer.plots, mercer.plots.figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "mercer.plots.plot_gram([[1.0, 0.0], [0.0, 1.0]], y=[0, 1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


# ---- decisions --------------------------------------------------------------------------------


def zero_line(ax):
    """Return the points of the bound that was drawn."""
    lines = [c for c in ax.collections if type(c).__name__ == "QuadContourSet"]
    assert len(lines) == 1
    return np.concatenate([path.vertices for path in lines[0].get_paths()])


def test_the_bound_is_where_the_decision_function_is_zero(ax):
    machine = KernelRidgeClassifier(Gaussian(0.6), penalty=0.1).fit(X, Y)
    plots.plot_decision(machine, X, Y, ax, resolution=120)
    values = machine.decision_function(zero_line(ax))
    assert np.abs(values).max() < 0.02


def test_a_plain_function_can_be_a_decision(ax):
    plots.plot_decision(lambda Z: np.sum(Z**2, axis=1) - 1, X, Y, ax)
    np.testing.assert_allclose(np.linalg.norm(zero_line(ax), axis=1), 1.0, atol=2e-3)


def test_several_classes_get_the_colors_of_their_points(ax):
    machine = KernelRidgeClassifier(Gaussian(0.6), penalty=0.01).fit(X, THREE)
    limits = ((-1.0, 1.0), (-1.0, 1.0))
    plots.plot_decision(machine, X, THREE, ax, limits=limits, resolution=21)
    picture = ax.images[0].get_array()
    for row, column, place in ((0, 0, [-1, -1]), (20, 20, [1, 1]), (10, 10, [0, 0])):
        k = int(machine.predict([place])[0])
        expected = 0.35 * np.array(to_rgb(palette.color(k))) + 0.65
        np.testing.assert_allclose(picture[row, column], expected)


class ByLabel(ClassifierMixin, BaseEstimator):
    """A classifier that only answers labels."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0.25).astype(int)]


def test_a_machine_that_only_predicts_labels_is_drawn_too(ax):
    plots.plot_decision(ByLabel().fit(X, Y), X, Y, ax, resolution=201)
    np.testing.assert_allclose(zero_line(ax)[:, 0], 0.25, atol=0.02)


def test_a_machine_with_probabilities_is_drawn_where_they_are_equal(ax):
    from sklearn.naive_bayes import GaussianNB

    machine = GaussianNB().fit(X, Y)
    plots.plot_decision(machine, X, Y, ax, resolution=150)
    np.testing.assert_allclose(machine.predict_proba(zero_line(ax)), 0.5, atol=0.02)


def test_clusters_are_drawn_like_classes(ax):
    from sklearn.cluster import KMeans

    machine = KMeans(3, n_init=1, random_state=0).fit(X)
    plots.plot_decision(machine, X, machine.labels_, ax, resolution=21)
    assert len(np.unique(ax.images[0].get_array().reshape(-1, 3), axis=0)) == 3


def test_data_outside_the_plane_is_refused():
    machine = KernelRidgeClassifier(Gaussian(1.0)).fit(np.zeros((4, 3)), [0, 1, 0, 1])
    with pytest.raises(DomainError, match="two columns"):
        plots.plot_decision(machine, np.zeros((4, 3)))
    with pytest.raises(DomainError, match="labels"):
        plots.plot_points(X, Y[:-1])


# ---- functions --------------------------------------------------------------------------------


def test_the_parts_of_a_function_add_up(ax):
    f = Function(Gaussian(1.0), [[0.0], [1.0], [3.0]], [1.0, -2.0, 0.5])
    plots.plot_function(f, ax, parts=True)
    *parts, whole = (line.get_ydata() for line in ax.lines)
    assert len(parts) == 3
    np.testing.assert_allclose(np.sum(parts, axis=0), whole, atol=1e-12)


def test_several_outputs_are_several_lines(ax):
    f = Function(Gaussian(1.0), [[0.0], [1.0]], np.eye(2))
    assert len(plots.plot_function(f, ax).lines) == 2
    assert len(plots.plot_function(f, output=1).lines) == 1


def test_a_machine_is_drawn_with_its_intercept(ax):
    machine = KernelRidge(Gaussian(1.0), intercept=True).fit([[0.0], [1.0]], [5.0, 6.0])
    plots.plot_function(machine, ax, limits=(0.0, 1.0))
    assert ax.lines[0].get_ydata()[0] == pytest.approx(machine.predict([[0.0]])[0])


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (np.sin, {}, "limits"),
        (np.sin, {"limits": (0, 1, 2)}, "limits"),
        (3.0, {"limits": (0, 1)}, "not a function"),
        (Function(Linear(), np.eye(3), np.ones(3)), {}, "3 variables"),
        (Function(Linear(), np.eye(2), np.ones(2)), {"parts": True}, "one variable"),
    ],
)
def test_what_cannot_be_drawn_is_refused(function, options, message):
    with pytest.raises(DomainError, match=message):
        plots.plot_function(function, **options)


# ---- Gram matrices and spectra ------------------------------------------------------------------


def test_the_gram_matrix_is_ordered_by_class_with_borders_between(ax):
    labels = np.array(["b", "a", "b", "a", "a"])
    K = np.arange(25.0).reshape(5, 5)
    plots.plot_gram(K, y=labels, ax=ax)
    order = [1, 3, 4, 0, 2]
    np.testing.assert_array_equal(ax.images[0].get_array(), K[np.ix_(order, order)])
    assert sorted(line.get_ydata()[0] for line in ax.lines)[-1] == 2.5
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]


def test_a_kernel_can_be_named():
    shown = plots.plot_gram("gaussian", X).images[0].get_array()
    np.testing.assert_allclose(shown, Gaussian("median").resolve(X)(X))


def test_the_spectrum_shows_eigenvalues_and_marks_negative_ones(ax):
    kernel = Sigmoid(1.0, -1.0)
    values = np.linalg.eigvalsh(kernel(X))
    plots.plot_spectrum(kernel, X, ax)
    good, bad = (line.get_ydata() for line in ax.lines[:2])
    np.testing.assert_allclose(good, values[values > 1e-9][::-1], rtol=1e-6)
    np.testing.assert_allclose(bad, -values[values < -1e-9][::-1], rtol=1e-6)
    assert ax.get_yscale() == "log"


def test_the_effective_rank_with_a_penalty_is_the_trace_of_the_smoother():
    K = Gaussian(0.5)(X)
    smoother = K @ np.linalg.inv(K + 0.3 * np.eye(len(K)))
    assert plots.effective_rank(np.linalg.eigvalsh(K), 0.3) == pytest.approx(np.trace(smoother))
    assert plots.effective_rank([0.0, 0.0]) == 0.0


@pytest.mark.parametrize("draw", [plots.plot_gram, plots.plot_spectrum])
def test_what_is_no_gram_matrix_is_refused(draw):
    with pytest.raises(DomainError, match="square"):
        draw(np.zeros((2, 3)))
    with pytest.raises(DomainError, match="items X"):
        draw(Gaussian(1.0))


def test_mismatched_labels_and_empty_spectra_are_refused():
    with pytest.raises(DomainError, match="labels"):
        plots.plot_gram(np.eye(3), y=[0, 1])
    with pytest.raises(DomainError, match="no spectrum"):
        plots.plot_spectrum(np.zeros((2, 2)))


# ---- weights and paths --------------------------------------------------------------------------


def test_weights_are_those_of_the_function_class_by_class(ax):
    machine = KernelRidge(Gaussian(0.5), penalty=0.1).fit(X, Y)
    plots.plot_weights(machine, Y, ax)
    for line, label in zip(ax.lines[:2], (-1, 1), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), np.sort(machine.dual_coef_[Y == label]))


def test_weights_need_a_fitted_machine_and_as_many_labels():
    with pytest.raises(DomainError, match="fit a machine"):
        plots.plot_weights(KernelRidge())
    with pytest.raises(DomainError, match="labels"):
        plots.plot_weights(KernelRidge().fit(X, Y), Y[:3])


def test_a_path_is_the_best_over_the_other_parameters(ax):
    found = search()
    plots.plot_path(found, "penalty", ax)
    scores = found.cv_results_["mean_test_score"].reshape(2, 4)  # bandwidth × penalty
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, [0.01, 0.1, 1.0, 10.0])
    np.testing.assert_array_equal(y, scores.max(axis=0))
    ring = ax.lines[-1].get_data()
    assert ring[1] == found.best_score_ and ring[0] == found.best_params_["penalty"]
    assert ax.get_xscale() == "log"


def test_the_results_alone_are_enough():
    results = {"param_bandwidth": [1.0, 2.0], "mean_test_score": [0.2, 0.4]}
    assert plots.plot_path(results).get_xlabel() == "bandwidth"


def test_a_path_needs_to_know_its_parameter():
    with pytest.raises(DomainError, match="say which"):
        plots.plot_path(search())
    with pytest.raises(DomainError, match="did you mean 'penalty'"):
        plots.plot_path(search(), "penalti")
    with pytest.raises(DomainError, match="cv_results_"):
        plots.plot_path(KernelRidge())


@pytest.fixture(scope="module")
def path():
    return RidgePath(KernelRidge(Gaussian(0.6))).fit(*two_gaussians(80, seed=1))


@pytest.mark.parametrize(
    ("criterion", "attribute", "name"),
    [
        (None, "loo_error_", "leave-one-out error"),
        ("loo", "loo_error_", "leave-one-out error"),
        ("gcv", "gcv_", "generalized cross-validation error"),
        ("evidence", "log_marginal_likelihood_", "log marginal likelihood"),
    ],
)
def test_a_path_of_penalties_is_drawn_by_its_criterion(criterion, attribute, name, ax, path):
    plots.plot_path(path, ax=ax, criterion=criterion)
    values = getattr(path, attribute)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), path.penalties_)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), values)
    best = np.argmax(values) if criterion == "evidence" else np.argmin(values)
    assert ax.lines[-1].get_xdata()[0] == path.penalties_[best]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("penalty", name, "log")
    assert len(ax.lines) == (2 if criterion == "evidence" else 3)  # there is a training error


def test_learning_by_heart_leaves_the_axes_but_nothing_else_does(ax, path):
    plots.plot_path(path, ax=ax)
    low, high = ax.get_ylim()
    assert high < path.loo_error_.max() / 2
    assert low < path.training_error_.min() and high > path.loo_error_[-1]
    ax.plot(path.penalties_[:2], [0.0, 50.0])
    ax.set_ylim(0, 60)
    plots.plot_path(path, ax=ax)
    assert ax.get_ylim()[1] >= 60


def test_mistakes_along_a_path_are_drawn_for_classifiers(ax):
    path = RidgePath(KernelRidgeClassifier(Gaussian(0.5)), [0.001, 0.1]).fit(X, Y)
    plots.plot_path(path, "penalty", ax, criterion="misclassification")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), path.loo_misclassification_)


def test_a_path_of_margins_is_drawn_with_its_folds_and_its_training_error(ax):
    path = MarginPath(SVC(Gaussian(0.5)), [0.1, 10.0]).fit(X, Y)
    plots.plot_path(path, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), path.cv_error_)
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), path.training_error_)
    assert ax.lines[2].get_xdata()[0] == path.best_C_
    assert ax.collections and (ax.get_xlabel(), ax.get_ylabel()) == ("C", "error of 5 folds")


def test_the_table_of_a_path_can_be_drawn_as_that_of_a_search(ax, path):
    plots.plot_path(path.cv_results_, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), -path.loo_error_)


def test_failed_fits_are_not_the_best(ax):
    results = {"param_penalty": [1.0, 2.0, 3.0], "mean_test_score": [np.nan, 0.2, 0.4]}
    plots.plot_path(results, ax=ax)
    assert ax.lines[-1].get_xdata()[0] == 3.0


def test_a_path_needs_to_know_what_to_draw(path):
    with pytest.raises(DomainError, match="along 'penalty', not 'C'"):
        plots.plot_path(path, "C")
    with pytest.raises(DomainError, match="criterion is for paths"):
        plots.plot_path(search(), "penalty", criterion="loo")
    with pytest.raises(SelectionError, match="did you mean 'evidence'"):
        plots.plot_path(path, criterion="evidense")


# ---- decision images ----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, offset=1.0), Gaussian(0.8)])
def test_the_gradient_is_that_of_the_kernel_expansion(kernel):
    f = KernelRidge(kernel, penalty=0.5).fit(X, Y).function_
    x, w = np.array([0.3, -0.7]), f.coefficients
    if isinstance(kernel, Linear):
        expected = w @ X
    elif isinstance(kernel, Polynomial):
        expected = (w * 3 * (X @ x + 1) ** 2) @ X
    else:
        expected = (w * kernel(X, x[None])[:, 0]) @ (X - x) / 0.8**2
    np.testing.assert_allclose(plots.decision_gradient(f, x), expected, rtol=1e-7, atol=1e-9)


def test_the_decision_image_of_a_linear_machine_is_its_weight_vector(ax):
    machine = KernelRidgeClassifier(Linear()).fit(X, Y)
    shown = plots.plot_decision_image(machine, X[0], ax, shape=(2, 1)).images[0].get_array()
    np.testing.assert_allclose(shown.ravel(), machine.coef_, rtol=1e-7)


def test_the_direction_can_be_asked_for_each_class():
    machine = KernelRidgeClassifier(Gaussian(0.8), penalty=0.1).fit(X, THREE)
    x = X[0]
    toward = [plots.decision_gradient(machine, x, toward=k) for k in range(3)]
    between = plots.decision_gradient(machine, x, toward=2, against=0)
    np.testing.assert_allclose(between, toward[2] - toward[0], atol=1e-8)
    chosen = plots.decision_gradient(machine, x)
    np.testing.assert_array_equal(chosen, toward[int(machine.predict([x])[0])])


def test_of_two_classes_one_is_against_the_other():
    machine = KernelRidgeClassifier(Gaussian(0.8)).fit(X, Y)
    up, down = (plots.decision_gradient(machine, X[0], toward=label) for label in (1, -1))
    np.testing.assert_array_equal(up, -down)
    np.testing.assert_array_equal(up, plots.decision_gradient(machine, X[0], against=-1))


def test_unknown_classes_and_shapes_are_refused():
    machine = KernelRidgeClassifier(Gaussian(0.8)).fit(X, Y)
    with pytest.raises(DomainError, match="no class 7"):
        plots.decision_gradient(machine, X[0], toward=7)
    with pytest.raises(DomainError, match="no square"):
        plots.plot_decision_image(machine, X[0])
    with pytest.raises(DomainError, match="not a fitted machine"):
        plots.decision_gradient(None, X[0])


# ---- colors -------------------------------------------------------------------------------------


def as_seen_without_red_and_green(hex_color):
    """Return a color as deuteranopes see it (Viénot, Brettel & Mollon, 1999), in linear light."""
    rgb = np.array(to_rgb(hex_color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = (
        np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]) @ linear
    )
    return np.clip(seen, 0, 1) ** (1 / 2.2)


def test_the_first_four_classes_differ_for_color_blind_readers():
    seen = [as_seen_without_red_and_green(c) for c in palette.CLASSES[:4]]
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(gaps) > 0.15


def test_class_markers_differ_too():
    pairs = {(palette.color(k), palette.marker(k)) for k in range(20)}
    assert len(pairs) == 20
    assert len({palette.marker(k) for k in range(7)}) == 7
