"""Each law of kernels notices a kernel that breaks it."""

import dataclasses
import itertools
import math
import threading
import warnings

import numpy as np
import pytest

from mercer.engine.block import dots
from mercer.engine.distances import squared_distances
from mercer.kernels import (
    Exponential,
    Gaussian,
    Linear,
    Polynomial,
    QuadraticForm,
    Sigmoid,
    from_function,
)
from mercer.kernels.base import Kernel, VectorKernel, kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.proof import Proof, Witness, proved, unknown
from mercer.testing import KERNEL_LAWS, KernelCase, apply, check_kernel
from tests.laws.entries import complaints

X = np.random.default_rng(3).normal(size=(20, 3))


def longer(a, b):
    return float(len(a) > len(b))


@kernel
class Noisy(Linear):
    """Carries its own noise, so that k(A) is not k(A, A)."""

    def evaluate(self, block):
        return dots(block) + (0.1 * np.eye(block.shape[0]) if block.symmetric else 0.0)


@kernel
class Misprinted(Gaussian):
    """Has another formula for a pair than for a block."""

    def pair(self, x, z):
        return math.exp(-float(np.sum(self.difference(x, z) ** 2)))


@kernel
class Flat(Linear):
    """Takes its diagonal to be one."""

    def evaluate_diagonal(self, points):
        return self.constant(points)


@kernel
class Downhill(Gaussian):
    """Has the gradient of its negative."""

    def gradient(self, block, G):
        return -super().gradient(block, G)


@kernel
class Kinked(Exponential):
    """Does not leave the pair (x, x) out."""

    def gradient(self, block, G):
        pull = np.where(squared_distances(block) > 0, 0.0, np.inf)
        return super().gradient(block, G) + pull.sum(axis=1)[:, None]


@kernel
class Centered(Linear):
    """Looks at the other items of a block."""

    def evaluate(self, block):
        left, right = block.left.array, block.right.array
        return (left - left.mean(axis=0)) @ (right - right.mean(axis=0)).T


@kernel
class Counting(Linear):
    """Remembers how often it was asked."""

    calls = itertools.count()

    def evaluate(self, block):
        return dots(block) + 1e-9 * next(self.calls)


@kernel
class Careless(Linear):
    """Works in the memory of its input."""

    def evaluate(self, block):
        block.left.array.sort(axis=1)
        return dots(block) + 0.0


@kernel
class Lending(Linear):
    """Gives its input away as features."""

    def features(self, A):
        return A


@kernel
class Raveled(Linear):
    """Reads memory in the order in which it lies."""

    def evaluate(self, block):
        return dots(block) * float(block.left.array.ravel(order="K")[1])


@kernel
class Unweighted(Gaussian):
    """Overlooks the weights of its heuristic."""

    def resolve_heuristics(self, points, weights):
        return super().resolve_heuristics(points, None)


@kernel
class Forgiving(Linear):
    """Makes something of nothing, and numbers of what is not a number."""

    def __call__(self, A, B=None):
        A = np.nan_to_num(np.real(np.asarray(A)))
        return super().__call__(A, B) if len(A) else np.zeros((0, 0))


@kernel
class Infinite(Linear):
    """Overflows on its diagonal."""

    def diagonal(self, A):
        return np.sum(np.asarray(A) ** 8, axis=1)


@kernel
class Warning_(Linear):
    """Warns of large numbers instead of refusing them."""

    def evaluate(self, block):
        if np.max(np.abs(block.left.array)) > 1e9:
            warnings.warn("these are large numbers", RuntimeWarning, stacklevel=2)
        return dots(block) + 0.0


@kernel
class Overconfident(Sigmoid):
    """Claims to be valid."""

    def prove(self):
        return proved(self, "everybody uses it")


@kernel
class Slandered(Linear):
    """Is refuted by a witness that shows nothing."""

    def prove(self):
        return Proof(self, "refuted", "hearsay", witness=Witness([[0.0], [1.0]], -1.0))


@kernel
class Unfounded(Linear):
    """Is proved from a premise that is not."""

    def prove(self):
        return proved(self, "it is like", unknown(from_function(longer), "nobody knows"))


@kernel
class Rootless(Polynomial):
    """Forgets the roots of the multinomial coefficients among its features."""

    def map_features(self, points):
        true = super().map_features(points)
        return FeatureMap(true.count, lambda p: np.sign(true.transform(p)))


@kernel
class Adaptive(Linear):
    """Scales its features by whatever it is shown."""

    def map_features(self, points):
        return FeatureMap(points.width, lambda p: p.array / np.abs(points.array).max())


@kernel
class Dissonant(Gaussian):
    """Draws its frequencies for another bandwidth."""

    def frequencies(self, rng, count, width):
        return super().frequencies(rng, count, width) * 1.3


@kernel
class Anonymous(Gaussian):
    """Has a formula without its parameter."""

    def __repr__(self):
        return "Gaussian()"


@kernel
class Forgetful(Gaussian):
    """Comes back from a pickle with another bandwidth."""

    def __reduce__(self):
        return Forgetful, (2.5,)


@kernel
class Inimitable(Gaussian):
    """Has copies with another bandwidth."""

    def __deepcopy__(self, memo):
        return Inimitable(2.5)


@kernel
class Unhashed(Gaussian):
    """Has a hash of its own for every instance."""

    def __hash__(self):
        return id(self)


@dataclasses.dataclass(eq=False, repr=False)
class Loose(Kernel):
    """Can be changed."""

    bandwidth: float = 1.0


@kernel
class Writable(QuadraticForm):
    """Has a matrix that can be written into."""

    def __post_init__(self):
        self._normalize("matrix", np.array(self.matrix))


@kernel
class Stubborn(Gaussian):
    """Ignores what it is told."""

    def set_params(self, **changes):
        return self


@kernel
class Coarse(Linear):
    """Works in single precision, and says so in its type."""

    def __call__(self, A, B=None):
        return super().__call__(A, B).astype(np.float32)


@kernel
class Provincial(Linear):
    """Knows only NumPy."""

    def evaluate(self, block):
        return np.exp(np.asarray(block.left.array) @ np.asarray(block.right.array).T)


@kernel
class Sparing(Linear):
    """Counts the entries that are not zero differently in sparse rows."""

    def evaluate(self, block):
        return dots(block) + float(block.left.is_sparse)


@kernel
class Tiled(Linear):
    """Depends on the size of a tile."""

    def evaluate(self, block):
        return dots(block) * (1 + 1e-6 * len(block.left))


@kernel
class Threaded(Linear):
    """Depends on the thread that it runs in."""

    def evaluate(self, block):
        main = threading.current_thread() is threading.main_thread()
        return dots(block) * (1.0 if main else 1.0 + 1e-15)


@kernel
class Squared(VectorKernel):
    """Is not broken at all: the smallest kernel that a user would write."""

    def pair(self, x, z):
        return float(np.dot(x, z)) ** 2

    def evaluate(self, block):
        return dots(block) ** 2

    def prove(self):
        return proved(self, "it is a product (6.18) of inner products")


WORDS = ["a", "bb", "ccc", "dd", "e", "ffff", "gg", "hhh", "i"]
BROKEN = [
    ("symmetry", from_function(longer), WORDS),
    ("one_argument", Noisy(), X),
    ("oracle", Misprinted(1.0), X),
    ("diagonal", Flat(), X),
    ("self_similarity", Flat(), X),
    ("gradient", Downhill(1.0), X),
    ("gradient", Kinked(1.0), X),
    ("slices", Centered(), X),
    ("admitted_slices", Centered(), X),
    ("purity", Counting(), X),
    ("inputs", Careless(), X),
    ("inputs", Lending(), X),
    ("layouts", Raveled(), X),
    ("heuristics", Unweighted("median"), X),
    ("empty_set", Forgiving(), X),
    ("bad_rows", Forgiving(), X),
    ("overflow", Infinite(), X),
    ("silence", Warning_(), X),
    ("spectrum", Overconfident(1.0, -1.0), X),
    ("refutation", Slandered(), X),
    ("derivation", Unfounded(), X),
    ("features", Rootless(2), X),
    ("features_of_new_items", Adaptive(), X),
    ("random_features", Dissonant(1.0), X),
    ("formula", Anonymous(1.0), X),
    ("pickling", Forgetful(1.0), X),
    ("copies", Inimitable(1.0), X),
    ("hashing", Unhashed(1.0), X),
    ("immutability", Loose(1.0), X),
    ("immutability", Writable(np.eye(3)), X),
    ("parameters", Stubborn(1.0), X),
    ("unknown_parameters", Stubborn(1.0), X),
    ("single_precision", Coarse(), X),
    ("strict_arrays", Provincial(), X),
    ("sparse_rows", Sparing(), X),
    ("tiling", Tiled(), X),
    ("threads", Threaded(), X),
]


@pytest.mark.parametrize(
    ("law", "broken", "items"), BROKEN, ids=[f"{law}-{type(k).__name__}" for law, k, _ in BROKEN]
)
def test_a_broken_kernel_is_noticed(law, broken, items):
    with pytest.raises(AssertionError, match=f"{law} does not hold for"):
        apply(KERNEL_LAWS[law], KernelCase(broken, items.copy()))


def test_every_law_has_a_kernel_that_breaks_it():
    # The law of torch is that of array-api-strict, with another library.
    assert set(KERNEL_LAWS) - {law for law, _, _ in BROKEN} == {"torch_tensors"}


def test_the_report_names_the_law_the_kernel_and_the_numbers():
    with pytest.raises(AssertionError) as report:
        check_kernel(Misprinted(1.0), X)
    assert "oracle does not hold for Misprinted(bandwidth=1.0) on 20 items" in str(report.value)
    assert "differ by" in str(report.value) and "allowed are" in str(report.value)


def test_a_kernel_of_ones_own_is_held_against_the_same_laws():
    kept = check_kernel(Squared(), X, names={"Squared": Squared})
    optional = {"gradient", "features", "features_of_new_items", "random_features", "heuristics"}
    assert set(KERNEL_LAWS) - set(kept) - {"torch_tensors"} == {*optional, "refutation"}


def test_a_wrong_entry_is_noticed():
    laws = {name: KERNEL_LAWS[name] for name in ("symmetry", "oracle", "features")}
    found = complaints(laws, lambda: KernelCase(Misprinted(1.0), X), {"symmetry"})
    assert len(found) == 3
    assert found[0].startswith("symmetry claims something about Misprinted")
    assert found[1].startswith("oracle does not hold for Misprinted")
    assert found[2].startswith("features claims nothing about Misprinted")
    assert complaints(laws, lambda: KernelCase(Squared(), X), {"features"}) == []
