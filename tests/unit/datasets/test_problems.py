"""The small problems are what their sources say."""

import numpy as np
import pytest

from mercer.datasets import Dataset, circle, connectivity, shj_types, sinc, xor
from mercer.errors import DomainError
from mercer.kernels import Polynomial


def linearly_separable(X, y):
    """Decide by a linear program whether some w and b have y(wᵀx + b) ≥ 1 for all items."""
    from scipy.optimize import linprog

    A = -y[:, None] * np.column_stack([X, np.ones(len(X))])
    answer = linprog(np.zeros(A.shape[1]), A, -np.ones(len(X)), bounds=(None, None))
    return answer.status == 0


@pytest.mark.parametrize(
    "problem", [xor(), connectivity(), circle()], ids=["xor", "conn", "circle"]
)
def test_no_line_solves_it_but_a_quadratic_does(problem):
    X, y = problem
    assert not linearly_separable(X, y)
    assert linearly_separable(Polynomial(2, offset=1.0).features(X), y)


def test_the_circle_becomes_a_plane():
    X, y = circle(200, radius=2.0, gap=0.5, seed=3)
    squares = Polynomial(2).features(X)[:, [0, 2]].sum(axis=1)
    assert (squares[y == 1] < 1.75**2 + 1e-12).all()
    assert (squares[y == -1] > 2.25**2 - 1e-12).all()
    assert np.sum(y == 1) == 100


def test_a_gap_wider_than_the_circle_is_refused():
    with pytest.raises(DomainError, match="gap"):
        circle(gap=2.0)


def test_connectivity_is_the_xor_of_its_detectors():
    problem = connectivity()
    left, right = problem.extra["detectors"].T
    assert np.array_equal(problem.y == 1, left != right)


def test_connectivity_tells_connected_figures():
    from scipy.ndimage import label

    problem = connectivity()
    pictures = problem.X.reshape(4, *problem.extra["shape"])
    assert [label(p)[1] == 1 for p in pictures] == (problem.y == 1).tolist()


def test_the_detectors_are_upper_corner_pixels():
    problem = connectivity()
    pictures = problem.X.reshape(4, *problem.extra["shape"])
    assert np.array_equal(pictures[:, 1, [0, -1]], problem.extra["detectors"])


def walsh_energy(y):
    """Return how much of the labels ±1 is explained by products of one, two, three dimensions."""
    X = 1 - 2 * np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)])
    energy = np.zeros(4)
    for chosen in np.ndindex(2, 2, 2):
        energy[sum(chosen)] += np.mean(y * np.prod(X ** np.array(chosen), axis=1)) ** 2
    return energy[1:]


@pytest.mark.parametrize(
    ("name", "energy"),
    [
        ("I", (1, 0, 0)),
        ("II", (0, 1, 0)),
        ("III", (0.5, 0.5, 0)),
        ("IV", (0.75, 0, 0.25)),
        ("V", (0.25, 0.5, 0.25)),
        ("VI", (0, 0, 1)),
    ],
)
def test_the_six_types_have_their_structure(name, energy):
    X, y = shj_types()[name]
    assert X.tolist() == [[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)]
    assert np.sum(y == "A") == 4
    np.testing.assert_allclose(walsh_energy(np.where(y == "A", 1, -1)), energy)


def test_sinc_is_its_curve_plus_noise():
    problem = sinc(5000, noise=0.2, seed=1)
    rest = problem.y - problem.extra["function"](problem.X)
    assert np.std(rest) == pytest.approx(0.2, rel=0.05)
    assert np.array_equal(problem.X, sinc(5000, noise=0.2, seed=1).X)
    assert problem.extra["function"]([[0.0]]) == 1.0


def test_a_dataset_unpacks_and_says_what_it_is():
    problem = Dataset(np.zeros((3, 2)), np.array([0, 1, 1]), ("a", "b"), {"radius": 1})
    X, y = problem
    assert X is problem.X and y is problem.y
    assert len(problem) == 3
    assert repr(problem) == (
        "Dataset(3 items, X of shape (3, 2), names=('a', 'b'), extra=['radius'])"
    )
