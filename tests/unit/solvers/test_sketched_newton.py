"""Newton's method on a sketch: the minimum of an explicit objective, in few passes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mercer.domains import VECTORS, InMemory
from mercer.errors import ConvergenceWarning, SolveError, ValidityError
from mercer.gram import Dense
from mercer.gram.sketch import CenterSketch
from mercer.gram.whitening import Whitening
from mercer.kernels import Gaussian
from mercer.solvers import Newton, Problem
from mercer.solvers.losses import Binary, Multinomial, SquaredHinge
from mercer.solvers.sketched_newton import SketchedNewton
from mercer.solvers.sketched_systems import RowSample, SketchFeatures, factor, joined


class DenseSketch:
    """A sketch whose matrix is stored, and which counts its passes; it can lose patience."""

    def __init__(self, C, core, patience=None):
        self.C, self._core, self.patience = C, core, patience
        self.order, self.count = C.shape
        self.calls = Counter()

    def _called(self, name):
        self.calls[name] += 1
        if self.calls.total() == self.patience:
            raise KeyboardInterrupt

    @property
    def passes(self):
        return self.calls.total() - self.calls["sampled"]

    def core(self):
        return self._core

    def product(self, A):
        self._called("product")
        return self.C @ A

    def adjoint(self, V):
        self._called("adjoint")
        return self.C.T @ V

    def normal(self, A, weights=None):
        self._called("normal")
        W = 1.0 if weights is None else weights.reshape(self.order, -1)
        return self.C.T @ (W * (self.C @ A))

    def moments(self, weights=None):
        self._called("moments")
        return self.C.T @ (self.C if weights is None else weights[:, None] * self.C)

    def sampled(self, places):
        assert (np.diff(places) > 0).all()
        self._called("sampled")
        return self.C[places]


def data(n=60, M=12, classes=2, seed=0, apart=1.0, **options):
    """Return a sketch and codes of classes that overlap, unless they are far apart."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % classes
    X = rng.normal(size=(n, 3)) + apart * rng.normal(size=(classes, 3))[codes]
    kernel = Gaussian(1.5)
    return DenseSketch(kernel(X, X[:M]), kernel(X[:M]), **options), codes


def signs_of(codes):
    """Return each class against the rest."""
    classes = codes.max() + 1
    return np.where(codes[:, None] == np.arange(1, classes), 1.0, -1.0)


def loss_of(target, w):
    if target.dtype == float:
        return SquaredHinge(target.reshape(len(w), -1), w)
    classes = target.max() + 1
    return Binary(target, w) if classes == 2 else Multinomial(target, w, classes)


def solve(sketch, target, penalty, w=None, intercept=True, **options):
    kind = "squared hinge" if target.dtype == float else "logistic"
    solver = SketchedNewton(loss=kind, **options)
    return solver.solve(solver.prepare(sketch, w, intercept), target, penalty)


def scores(sketch, found):
    return sketch.C @ found.coefficients.reshape(sketch.count, -1) + found.intercept


def objective(sketch, loss, penalty, A, b):
    F = sketch.C @ A + b
    R = loss.near(F).residual
    value = loss.value(F) + penalty / 2 * np.sum(A * (sketch.core() @ A))
    return value, penalty * sketch.core() @ A - sketch.C.T @ R, -R.sum(axis=0)


def lowest(sketch, loss, penalty, intercept, start):
    """Return what a general optimizer finds from here."""
    shape = sketch.count, loss.columns
    T = Whitening(sketch.core()).matrix

    def value(x):
        v, b = x[: -shape[1]].reshape(-1, shape[1]), x[-shape[1] :] * intercept
        found, slope, sums = objective(sketch, loss, penalty, T @ v, b)
        return found, np.concatenate([(T.T @ slope).ravel(), sums * intercept])

    A, b = start
    x = np.concatenate([(T.T @ (sketch.core() @ A)).ravel(), np.broadcast_to(b, shape[1])])
    options = {"maxiter": 3000, "maxfun": 3000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(value, x, jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    penalty=st.floats(-4, 2).map(lambda e: 10.0**e),
    classes=st.integers(2, 4),
    hinge=st.booleans(),
    intercept=st.booleans(),
    rows=st.sampled_from([None, 30]),
    seed=st.integers(0, 20),
)
def test_no_general_optimizer_finds_less(penalty, classes, hinge, intercept, rows, seed):
    sketch, codes = data(classes=classes, seed=seed)
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 3, size=60) * rng.uniform(0.5, 2.0, size=60)
    w[: 2 * classes] = 1.0  # every class is there
    target = signs_of(codes) if hinge else codes
    loss = loss_of(target, w)
    found = solve(sketch, target, penalty, w, intercept, rows=rows)
    assert found.status == "solved" and found.certificate <= 1e-6
    A = found.coefficients.reshape(12, -1)
    value, _, _ = objective(sketch, loss, penalty, A, found.intercept)
    assert value == pytest.approx(found.objectives[-1], rel=1e-9)
    for start in ((A, found.intercept), (0 * A, 0.0)):
        assert lowest(sketch, loss, penalty, intercept, start) >= value - 1e-8 * (1 + value)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_with_all_items_for_centers_it_is_the_exact_answer(classes, intercept):
    sketch, codes = data(50, 50, classes)
    w = np.random.default_rng(1).uniform(0.2, 2.0, size=50)
    ours = solve(sketch, codes, 0.3, w, intercept, tol=1e-9)
    newton = Newton(tol=1e-10)
    state = newton.prepare(Problem(Dense(sketch.C), w, intercept))
    exact = newton.solve(state, codes, 0.3)
    values = sketch.C @ exact.coefficients.reshape(50, -1) + exact.intercept
    np.testing.assert_allclose(scores(sketch, ours), values, atol=1e-6)
    np.testing.assert_allclose(ours.intercept, exact.intercept, atol=1e-6)
    assert ours.objectives[-1] == pytest.approx(exact.objectives[-1], rel=1e-9)
    assert ours.history[0] == pytest.approx(exact.history[0], rel=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_it_is_logistic_regression_on_the_features(classes):
    sketch, codes = data(200, 15, classes)
    Phi = sketch.C @ Whitening(sketch.core()).matrix
    peer = LogisticRegression(C=1 / 0.2, tol=1e-10, max_iter=10_000).fit(Phi, codes)
    found = solve(sketch, codes, 0.2)
    np.testing.assert_allclose(
        scores(sketch, found), peer.decision_function(Phi).reshape(200, -1), atol=1e-5
    )


def test_it_is_a_linear_support_vector_machine_on_the_features():
    sketch, codes = data(200, 15)
    Phi = sketch.C @ Whitening(sketch.core()).matrix
    peer = LinearSVC(C=5.0, fit_intercept=False, dual=False, tol=1e-10, max_iter=10_000)
    z = signs_of(codes)[:, 0]
    found = solve(sketch, z, 0.2, intercept=False)
    np.testing.assert_allclose(
        scores(sketch, found)[:, 0], peer.fit(Phi, z).decision_function(Phi), atol=1e-5
    )


def test_slope_and_curvature_of_the_squared_hinge():
    rng = np.random.default_rng(0)
    z = rng.integers(-1, 2, size=(20, 3)).astype(float)
    loss = SquaredHinge(z, rng.uniform(0, 2, size=20))
    F = rng.normal(size=(20, 3))
    near = loss.near(F)
    slope = approx_fprime(F.ravel(), lambda f: loss.value(f.reshape(F.shape)), 1e-7)
    np.testing.assert_allclose(near.residual.ravel(), -slope, atol=1e-5)
    U = rng.normal(size=F.shape)
    change = (loss.near(F + 1e-7 * U).residual - loss.near(F - 1e-7 * U).residual) / 2e-7
    np.testing.assert_allclose(near(U), -change, atol=1e-6)
    assert not near.residual[z == 0].any() and not near.curvature[z == 0].any()
    assert np.allclose(near.total(), np.diag(near.curvature.sum(axis=0)))
    assert (near.scale()[:, None] >= near.curvature).all() and near.classes() is None
    assert loss.value(F) == pytest.approx(loss.values(F).sum())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("steps", [1, 2, 3, 100])
def test_the_minimum_is_within_the_gap(steps, intercept):
    sketch, codes = data(150, 12, 3)
    z = signs_of(codes)
    w = np.random.default_rng(2).integers(0, 3, size=150) * 1.0
    early = solve(sketch, z, 0.01, w, intercept, max_iter=steps)
    best = solve(sketch, z, 0.01, w, intercept, tol=1e-10)
    assert len(early.gaps) == 2 and early.gap == max(early.gaps)
    above = early.objectives[-1] - best.objectives[-1]
    assert -1e-9 <= above <= sum(early.gaps) + 1e-9
    assert best.gap <= 1e-8 * best.objectives[-1]
    if steps == 1:
        assert early.gap > 1e-3 and early.status == "stalled"


def test_machines_do_not_know_of_each_other():
    sketch, codes = data(120, 10, 3)
    z = np.zeros((120, 3))  # one against one
    for column, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        z[codes == i, column], z[codes == j, column] = 1.0, -1.0
    found = solve(sketch, z, 0.1, tol=1e-9)
    assert found.coefficients.shape == (10, 3) and found.intercept.shape == (3,)
    for column in range(3):
        part = z[:, column] != 0
        some = DenseSketch(sketch.C[part], sketch.core())
        alone = solve(some, z[part, column], 0.1, tol=1e-9)
        np.testing.assert_allclose(found.coefficients[:, column], alone.coefficients, atol=1e-5)
        assert found.intercept[column] == pytest.approx(alone.intercept, abs=1e-6)


def test_a_machine_without_items_is_zero():
    sketch, codes = data()
    z = np.column_stack([signs_of(codes), np.zeros(60)])
    found = solve(sketch, z, 0.1)
    assert found.status == "solved" and not found.coefficients[:, 1].any()
    assert found.intercept[1] == 0 and found.gaps[1] == 0


@pytest.mark.parametrize("classes", [2, 3])
def test_a_singular_core_is_no_obstacle(classes):
    sketch, codes = data(60, 12, classes)
    C, core = np.hstack([sketch.C, sketch.C]), np.tile(sketch.core(), (2, 2))
    twice = solve(DenseSketch(C, core), codes, 0.1)
    once = solve(sketch, codes, 0.1)
    assert twice.status == "solved"
    np.testing.assert_allclose(
        C @ twice.coefficients.reshape(24, -1) + twice.intercept, scores(sketch, once), atol=1e-6
    )


@pytest.mark.parametrize("hinge", [True, False])
def test_separable_classes_with_a_small_penalty(hinge):
    sketch, codes = data(400, 15, apart=8.0)
    target = signs_of(codes)[:, 0] if hinge else codes
    found = solve(sketch, target, 1e-4)
    assert found.status == "solved" and len(found.history) < 25
    assert ((scores(sketch, found)[:, 0] > 0) == codes).all()


@pytest.mark.parametrize("rows", [None, 10])
def test_a_quadratic_objective_takes_one_step(rows):
    """With a large penalty all scores stay inside the margin."""
    sketch, codes = data(60, 20)
    found = solve(sketch, signs_of(codes)[:, 0], 1e4, intercept=False, rows=rows)
    assert len(found.history) == 2 and found.status == "solved"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("hinge", [True, False])
def test_passes_are_counted_and_few(hinge, classes):
    sketch, codes = data(3000, 40, classes)
    target = signs_of(codes) if hinge else codes
    found = solve(sketch, target, 1.0, rows=200)
    assert found.passes == sketch.passes
    assert found.passes <= 90 and len(found.history) <= 12
    one = sketch.calls["product"] - (found.products if not hinge and classes > 2 else 0)
    assert one == len(found.history)  # the scores of the steps, and of the answer


def test_the_answer_does_not_depend_on_the_preconditioner(monkeypatch):
    for classes in (2, 3):
        sketch, codes = data(800, 12, classes)
        answers, passes = [], []
        for pay in (True, False):
            monkeypatch.setattr(
                "mercer.solvers.sketched_systems.moments_pay", lambda *_, pay=pay: pay
            )
            for rows, room in ((None, 4e8), (800, 4e8), (20, 4e8), (None, 3000.0), (None, 0.0)):
                sketch.calls.clear()
                found = solve(sketch, codes, 0.05, rows=rows, room=room, tol=1e-9)
                assert found.status == "solved"
                answers.append(scores(sketch, found))
                passes.append(found.passes)
                exact = pay and rows != 800 and room > 3000
                assert (sketch.calls["moments"] > 0) >= exact
        for answer in answers[1:]:
            np.testing.assert_allclose(answer, answers[0], atol=1e-6)
        assert passes[7] > passes[6]  # 20 rows, all rows


def test_the_certificate_is_the_norm_of_the_gradient():
    sketch, codes = data(60, 12, 3)
    found = solve(sketch, codes, 0.3, max_iter=2)
    assert found.status == "stalled" and "max_iter" in found.message
    loss = loss_of(codes, np.ones(60))
    _, slope, sums = objective(sketch, loss, 0.3, found.coefficients, found.intercept)
    square = np.sum(slope * np.linalg.solve(sketch.core(), slope)) + np.sum(sums**2)
    assert found.certificate == pytest.approx(np.sqrt(square), rel=1e-6)
    assert found.certificate == found.history[-1]
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        found.require_solved()


@pytest.mark.parametrize("hinge", [True, False])
def test_an_interruption_keeps_what_was_found(hinge):
    _, codes = data(400, 15)
    target = signs_of(codes)[:, 0] if hinge else codes
    quiet = data(400, 15)[0]
    whole, total = solve(quiet, target, 0.01), quiet.calls.total()
    first = None  # the first interruption that comes after a step
    for patience in range(2, total + 1):
        sketch, _ = data(400, 15, patience=patience)
        try:
            found = solve(sketch, target, 0.01)
        except KeyboardInterrupt:
            assert first is None  # there was nothing to keep yet
            continue
        first = patience if first is None else first
        last = patience == total and hinge  # only the gap was missing
        assert found.status == ("solved" if last else "interrupted")
        assert last or "interrupted" in found.message
        loss = loss_of(target, np.ones(400))
        A = found.coefficients.reshape(15, -1)
        value, slope, sums = objective(sketch, loss, 0.01, A, found.intercept)
        assert whole.objectives[-1] - 1e-9 <= value < whole.objectives[0]
        norm = np.hypot(np.linalg.norm(Whitening(sketch.core()).back(slope)), sums[0])
        assert found.certificate == pytest.approx(norm, rel=1e-4, abs=1e-8)
        assert found.gap is None
    assert first is not None and first < total / 2
    with pytest.raises(KeyboardInterrupt):
        solve(data(400, 15, patience=1)[0], target, 0.01)


def test_faults_are_named():
    sketch, codes = data()
    for penalty in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValidityError, match="penalty"):
            solve(sketch, codes, penalty)
    solver = SketchedNewton(loss="hinge")
    with pytest.raises(ValidityError, match="loss"):
        solver.solve(solver.prepare(sketch), codes, 1.0)
    sketch.C[7, 3] = np.nan
    with pytest.raises(SolveError, match="not finite"):
        solve(sketch, codes, 1.0)
    with pytest.raises(SolveError, match="larger penalty"):
        factor(np.diag([3.0, -1.0]), np.full((2, 1), 0.1))
    with pytest.raises(SolveError, match="scale"):
        factor(np.array([[np.inf]]), np.ones((1, 1)))


def test_rows_are_drawn_where_the_curvature_is():
    sketch, _ = data(500, 5)
    features = SketchFeatures(sketch, Whitening(sketch.core()), True)
    sample = RowSample(features, 100, seed=0)
    even, few = np.ones((500, 1)), 1.0 * (np.arange(500) < 50)[:, None]
    sample.renew(even)
    before = sample.places
    sample.renew(even * np.random.default_rng(0).uniform(0.8, 1.2, size=(500, 1)))
    assert sample.places is before
    sample.renew(few)
    assert np.mean(sample.places < 50) > 0.25
    errors = []
    for seed in range(30):
        sample = RowSample(features, 100, seed)
        sample.renew(even)
        sample.renew(few)
        errors.append(sample.moments(few[:, 0]) - features.moments(few[:, 0]))
    error, true = np.mean(errors, axis=0), features.moments(few[:, 0])
    assert np.linalg.norm(error) < 0.1 * np.linalg.norm(true)


def test_one_matrix_for_all_classes_is_that_of_the_softmax():
    sketch, codes = data(40, 4, 3)
    features = SketchFeatures(sketch, Whitening(sketch.core()), True)
    near = loss_of(codes, np.arange(40.0)).near(np.random.default_rng(0).normal(size=(40, 3)))
    G = joined(features.moments, near.probabilities, near.weights)
    x = np.random.default_rng(1).normal(size=(5, 3))
    product = features.pull(near(features.scores(x)))
    np.testing.assert_allclose(G @ x.T.ravel(), product.T.ravel(), atol=1e-9)


def test_where_rounding_is_in_the_way_it_says_so():
    sketch, codes = data(60, 60)
    found = solve(sketch, codes, 1e-3, tol=1e-300)
    assert len(found.history) < 100 and found.certificate < 1e-8 * found.history[0]
    assert found.status == "solved"  # as far as doubles go


def test_it_works_on_centers():
    rng = np.random.default_rng(3)
    X, codes = rng.normal(size=(300, 3)), rng.integers(2, size=300)
    points, kernel = VECTORS.admit(X), Gaussian(1.5)
    sketch = CenterSketch(kernel, InMemory(points, size=70), points[:20])
    stored = DenseSketch(kernel(X, X[:20]), kernel(X[:20]))
    ours, theirs = solve(sketch, codes, 0.1), solve(stored, codes, 0.1)
    np.testing.assert_allclose(scores(stored, ours), scores(stored, theirs), atol=1e-7)
