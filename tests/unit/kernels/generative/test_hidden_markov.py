"""One hidden path for two sequences: impossible ones, long ones, hopeless beginnings."""

import itertools

import numpy as np
import pytest

from mercer.errors import DomainError, ModelWarning, ValidityError
from mercer.kernels import HiddenMarkov, normalize
from mercer.kernels.generative.hidden_markov import (
    chain,
    logarithms,
    own_logarithms,
    relative,
    split,
)
from mercer.models import GaussianDensity, HiddenMarkovModel

FORWARD = HiddenMarkovModel(
    2,
    start=[1.0, 0.0],
    transition=[[0.6, 0.4], [0.0, 1.0]],
    emission=[[1.0, 0.0], [0.0, 1.0]],
    alphabet="ab",
)


def by_enumeration(x, z, start, step):
    """Add up the logarithms of all paths."""
    length = max(len(x), len(z))
    terms = [
        start[path[0]]
        + sum(step[a, b] for a, b in itertools.pairwise(path))
        + sum(side[t, path[t]] for side in (x, z) for t in range(len(side)))
        for path in itertools.product(range(len(start)), repeat=length)
    ]
    return np.logaddexp.reduce(terms)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e3, 1e5])
def test_the_loops_add_up_all_paths_however_different_their_probabilities(scale, gaps):
    draw = np.random.default_rng(int(scale) + int(10 * gaps))
    states, lengths = 3, (1, 2, 4, 5)
    start, step = np.log(draw.dirichlet(np.ones(3))), scale * -draw.exponential(size=(3, 3))
    step[draw.random((3, 3)) < gaps] = -np.inf
    sides = [scale * draw.normal(size=(n, states)) for n in lengths]
    for side in sides:
        side[draw.random(side.shape) < gaps / 3] = -np.inf
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    both = (*split(np.concatenate(sides)), starts)
    found, own = np.empty((4, 4)), np.empty(4)
    logarithms(*both, *both, chain(start, step), False, found)
    own_logarithms(*both, chain(start, step), own)
    with np.errstate(invalid="ignore"):
        expected = np.array([[by_enumeration(x, z, start, step) for z in sides] for x in sides])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(own, np.diag(found))


def test_a_path_that_is_hopeless_now_is_not_given_up():
    """A state that seems impossible, reached only at the start, is the only one in the end."""
    start, step = np.log([0.5, 0.5]), np.log(np.eye(2) + 1e-300)
    step[step < -600] = -np.inf
    logs = np.array([[0.0, -5000.0], [-np.inf, 0.0]])
    both = (*split(logs), np.array([0, 2]))
    found = np.empty((1, 1))
    logarithms(*both, *both, chain(start, step), True, found)
    assert found[0, 0] == pytest.approx(np.log(0.5) - 10_000)


def test_what_no_state_can_emit_is_zero_to_everything_with_one_warning():
    words = ["ab", "ba", "aab"]  # after "b" there is no way back to "a"
    for k in (HiddenMarkov(FORWARD), normalize(HiddenMarkov(FORWARD, normalized=False))):
        with pytest.warns(ModelWarning, match=r"1 of 3 items .* item 1") as caught:
            K, d = k(words), k.diagonal(words)
        assert len(caught) == 2  # one for each question
        assert (K[1] == 0).all() and (K[:, 1] == 0).all() and d[1] == 0
        np.testing.assert_allclose(np.diag(K)[[0, 2]], 1, rtol=1e-12)
        np.testing.assert_allclose(d[[0, 2]], 1, rtol=1e-12)
    assert HiddenMarkov(FORWARD).pair("ab", "ba") == 0.0


def test_sequences_that_no_path_shares_are_unlike():
    K = HiddenMarkov(FORWARD)(["ab", "aab", "aa"])
    assert K[0, 1] == 0 and K[1, 2] > 0


def test_a_longer_sequence_goes_on_along_a_path_of_its_own():
    k = HiddenMarkov(FORWARD, normalized=False)
    # "a" says nothing about the second step, which is "b" with probability 0.4.
    np.testing.assert_allclose(k(["a", "ab"]), [[1.0, 0.4], [0.4, 0.4]])


def test_it_keeps_its_digits_where_all_states_are_improbable():
    model = HiddenMarkovModel(
        2, "gaussian", start=[0.5, 0.5], transition=[[0.8, 0.2], [0.3, 0.7]],
        means=[[0.0], [1.0]], covariances=[[1.0], [1.0]],
    )  # fmt: skip
    near = [np.array([0.1, 0.9, 0.4]), np.array([1.0, 0.2])]
    far = [series + 1e5 for series in near]
    K = HiddenMarkov(model)(near + far)
    np.testing.assert_allclose(np.diag(K), 1.0, rtol=1e-12)
    expected = [[HiddenMarkov(model).pair(x, z) for z in near + far] for x in near + far]
    np.testing.assert_allclose(K, expected, rtol=1e-10)


def test_sequences_keep_apart_what_is_common_to_all_states():
    logs = np.array([[-1e12, -1e12 - 1], [-3.0, -np.inf], [-np.inf, -np.inf]])
    found, shifts = relative(logs, np.array([0, 1, 1, 3]))
    np.testing.assert_array_equal(found, [[0, -1], [0, -np.inf], [-np.inf, -np.inf]])
    np.testing.assert_array_equal(shifts, [-1e12, 0, -3])


def test_letters_that_the_model_does_not_know_are_refused():
    with pytest.raises(DomainError, match="item 1 of X has 'c'"):
        HiddenMarkov(FORWARD)(["ab", "ac"])


def test_other_models_are_refused():
    with pytest.raises(ValidityError, match="must be a hidden Markov model"):
        HiddenMarkov(GaussianDensity([0.0], 1.0))
    with pytest.raises(ValidityError, match="normalized of HiddenMarkov is True or False"):
        HiddenMarkov(FORWARD, normalized=2)


def test_an_unfitted_model_says_what_to_do():
    with pytest.raises(ValidityError, match="has not been fitted"):
        HiddenMarkov(HiddenMarkovModel(2))(["ab"])
    k = HiddenMarkov(HiddenMarkovModel(2, smoothing=0.1), fit_model=True)
    words = ["abab", "aabb", "bbb"]
    assert k.resolve(words) == HiddenMarkov(HiddenMarkovModel(2, smoothing=0.1).fit(words))
