"""Decision bounds: categories as regions of a space, with noise in perceiving it.

General recognition theory (Ashby & Townsend, 1986; Ashby & Gott, 1988; Ashby & Maddox, 1993): the
same stimulus looks different each time, people divide the space by a bound, and answer by the side
on which the percept falls. Bounds are linear or quadratic; free ones are fitted, fixed ones are
those that make fewest errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.cognition.choices.choice_model import ChoiceModel
from mercer.cognition.choices.fitting import (
    Constraint,
    ParameterLayout,
    PositiveReal,
    Rule,
    Slopes,
)
from mercer.cognition.choices.gaussian_bounds import (
    best_linear,
    best_quadratic,
    center,
    real_weights,
    spreads,
)
from mercer.cognition.choices.noisy_bounds import Discriminant, binary_scores, curvature_pairs
from mercer.cognition.choices.reals import Reals
from mercer.cognition.experiments.stimuli import Memory
from mercer.errors import DomainError, ValidityError
from mercer.kernels import Polynomial
from mercer.rkhs import Function
from mercer.values import Seed, finite, positive

__all__ = ["DecisionBound", "LinearBound", "QuadraticBound"]


class DecisionBound(ChoiceModel):
    """What decision-bound models share: two categories, and a discriminant in units of noise."""

    order, exponent = 1.0, 1.0  # of no meaning here; other choice models have a metric

    def _rule(self, memory: Memory, rows: np.ndarray) -> Rule:
        def rule(params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
            u, pull = self._decide(memory, rows, params)
            scores, bend = binary_scores(u)

            def slopes(G: np.ndarray) -> dict[str, Any]:
                return pull(np.sum(G * bend, axis=1))

            return scores, slopes

        return rule

    def _store(self, memory: Memory) -> Memory:
        if len(memory.classes) != 2:
            raise DomainError(
                f"{type(self).__name__} divides two categories, found {len(memory.classes)}: "
                f"{memory.classes.tolist()}; fit pairs of them"
            )
        return memory

    def _function(self, memory: Memory, params: Mapping[str, Any]) -> Function:
        """Return the discriminant h as a function of a polynomial kernel."""
        h = self._discriminant(memory, params)
        d = memory.width
        degree = 2 if h.Q.any() else 1
        nodes = [np.zeros(d), *np.eye(d)]
        if degree == 2:  # as many as there are monomials
            nodes += [np.eye(d)[i] + np.eye(d)[j] for i, j in curvature_pairs(d)]
        unit = max(1.0, float(np.abs(memory.rows).max()))
        points = np.array(nodes) * unit
        kernel = Polynomial(degree, 1.0, 1.0 / unit**2)
        return Function(kernel, points, np.linalg.solve(kernel(points), h(points))[:, None])

    def _starts(
        self, memory: Memory, layout: ParameterLayout, rows: np.ndarray
    ) -> list[np.ndarray]:
        """Return the given parameters, those of the best bound, and others around them."""
        rng = np.random.default_rng(self.random_state)
        best = layout.coordinates({**layout.given, **self._guess(memory)})
        others = max(0, int(self.starts) - 2) if layout.parts else 0
        near = [best + rng.normal(size=best.shape) for _ in range(others)]
        return [layout.coordinates(layout.given), best, *near]

    def _guess(self, memory: Memory) -> dict[str, Any]:
        """Return parameters near which good ones are expected."""
        return {}

    def _discriminant(self, memory: Memory, params: Mapping[str, Any]) -> Discriminant:
        raise NotImplementedError

    def _decide(
        self, memory: Memory, rows: np.ndarray, params: Mapping[str, Any]
    ) -> tuple[np.ndarray, Any]:
        """Return h in units of its noise, and what brings slopes for it to the parameters."""
        raise NotImplementedError


class LinearBound(DecisionBound):
    """A line, plane or single criterion divides the categories (Ashby & Gott, 1988).

    With m the mean of the exemplars, P(first category | x) = Φ(wᵀ(x − m) + b). The bound is where
    that is ½. Noise of perception and of the criterion cannot be told apart, so that they are in
    the length of w: together they have the standard deviation 1/‖w‖ in the units of the stimuli.

    As a kernel: a function of the linear kernel with an intercept, like probit regression.

    Parameters
    ----------
    weights : sequence of float, optional
        w. By default that of the smallest error for two Gaussians with one covariance.
    intercept : float
        b, in units of noise at the mean of the exemplars.
    dimension : int, optional
        The only dimension that counts, as in a verbal rule; by default all do.
    free : sequence of {"weights", "intercept"}
    loss, starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    params_, classes_, kernel_, log_likelihood_, sse_, aic_, bic_, fit_, subjects_, free_
        As in `GCM`.
    function_ : Function
        h: positive for the first category.
    noise_ : float
        1/‖w‖.

    Examples
    --------
    >>> X, y = [[0, 0], [1, 2], [3, 1], [4, 3]], ["a", "a", "b", "b"]
    >>> model = LinearBound().fit(X, y, responses=[[19, 1], [16, 4], [5, 15], [2, 18]])
    >>> model.params_["weights"].round(2), round(model.noise_, 2)
    (array([-0.75,  0.03]), 1.34)
    """

    kinds: ClassVar[dict[str, str]] = {"weights": "real", "intercept": "real"}

    def __init__(
        self,
        weights: Sequence[float] | None = None,
        intercept: float = 0.0,
        dimension: int | None = None,
        free: Sequence[str] = ("weights", "intercept"),
        loss: str = "likelihood",
        *,
        starts: int = 3,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.weights = weights
        self.intercept = intercept
        self.dimension = dimension
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    @property
    def noise_(self) -> float:
        """Standard deviation of the noise, in the units of the stimuli."""
        return 1 / float(np.linalg.norm(self.params_["weights"]))

    def _used(self, memory: Memory) -> list[int]:
        if self.dimension is None:
            return list(range(memory.width))
        if self.dimension not in range(memory.width):
            raise ValidityError(
                f"dimension must be a number below {memory.width}, found {self.dimension!r}"
            )
        return [int(self.dimension)]

    def _value(self, name: str, memory: Memory) -> Any:
        if name == "intercept":
            return finite(self, name, self.intercept)
        used = self._used(memory)
        if self.weights is None:
            return best_linear(memory).w[used]
        return real_weights(self, "weights", self.weights, len(used), "dimension")

    def _constraint(self, name: str, memory: Memory) -> Constraint:
        if name == "intercept":
            return Reals(name, (1.0,), scalar=True)
        return Reals(name, tuple(1 / spreads(memory)[self._used(memory)]))

    def _discriminant(self, memory: Memory, params: Mapping[str, Any]) -> Discriminant:
        w = np.zeros(memory.width)
        w[self._used(memory)] = params["weights"]
        zero = np.zeros((memory.width, memory.width))
        return Discriminant(zero, w, params["intercept"], center(memory))

    def _decide(
        self, memory: Memory, rows: np.ndarray, params: Mapping[str, Any]
    ) -> tuple[np.ndarray, Any]:
        used, h = self._used(memory), self._discriminant(memory, params)
        Y = (rows - h.m)[:, used]

        def pull(g: np.ndarray) -> dict[str, Any]:
            return {"weights": Y.T @ g, "intercept": float(g.sum())}

        return h(rows), pull


class QuadraticBound(DecisionBound):
    """A quadratic bound, with noise of the criterion and of perception (Ashby & Maddox, 1993).

    With y = x − m and m the mean of the exemplars, h(x) = Σ_{i≤j} q_ij yᵢyⱼ + wᵀy + b, and

        P(first category | x) = Φ((h + σ² tr Q) / √(1 + 2σ⁴ tr Q² + σ²‖∇h‖²)),

    Q being the symmetric matrix of the q_ij. Noise of the criterion is the unit of h, σ that of
    perception in the units of the stimuli. As a kernel: h is a function of the polynomial kernel
    of degree 2.

    Parameters
    ----------
    curvature : sequence of float, optional
        q₁₁, q₁₂, …, q₂₂, …: the upper triangle, row by row; by default zero.
    weights, intercept
        w and b, as in `LinearBound`.
    noise : float
        σ ≥ 0.
    free : sequence of {"curvature", "weights", "intercept", "noise"}
        The noise of perception can hardly be estimated unless people answer many stimuli near a
        bound that is strongly curved, so that it is not free by default.
    loss, starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    params_, classes_, function_, kernel_, free_
        As in `LinearBound`.
    log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["in", "out", "out", "in"]
    >>> model = QuadraticBound().fit(X, y, responses=[[18, 2], [5, 15], [4, 16], [17, 3]])
    >>> bool(model.params_["curvature"][0] > 0)
    True
    """

    kinds: ClassVar[dict[str, str]] = {
        "curvature": "real",
        "weights": "real",
        "intercept": "real",
        "noise": "positive",
    }

    def __init__(
        self,
        curvature: Sequence[float] | None = None,
        weights: Sequence[float] | None = None,
        intercept: float = 0.0,
        noise: float = 0.0,
        free: Sequence[str] = ("curvature", "weights", "intercept"),
        loss: str = "likelihood",
        *,
        starts: int = 5,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.curvature = curvature
        self.weights = weights
        self.intercept = intercept
        self.noise = noise
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    def _value(self, name: str, memory: Memory) -> Any:
        d = memory.width
        if name == "intercept":
            return finite(self, name, self.intercept)
        if name == "noise":
            return positive(self, name, self.noise, zero=True)
        if name == "weights":
            if self.weights is None:
                return best_linear(memory).w
            return real_weights(self, name, self.weights, d, "dimension")
        pairs = len(curvature_pairs(d))
        if self.curvature is None:
            return np.zeros(pairs)
        return real_weights(self, name, self.curvature, pairs, "pair of dimensions")

    def _constraint(self, name: str, memory: Memory) -> Constraint:
        unit = 1 / spreads(memory)
        if name == "noise":
            return PositiveReal(name)
        if name == "intercept":
            return Reals(name, (1.0,), scalar=True)
        if name == "weights":
            return Reals(name, tuple(unit))
        return Reals(name, tuple(unit[i] * unit[j] for i, j in curvature_pairs(memory.width)))

    def _guess(self, memory: Memory) -> dict[str, Any]:
        h = best_quadratic(memory)
        pairs = curvature_pairs(memory.width)
        curvature = np.array([h.Q[i, j] * (1 if i == j else 2) for i, j in pairs])
        noise = {} if self.noise > 0 else {"noise": 0.1 * float(spreads(memory).min())}
        return {"curvature": curvature, "weights": h.w, "intercept": h.b, **noise}

    def _discriminant(self, memory: Memory, params: Mapping[str, Any]) -> Discriminant:
        Q = np.zeros((memory.width, memory.width))
        for (i, j), q in zip(curvature_pairs(memory.width), params["curvature"], strict=True):
            Q[i, j] += q / 2
            Q[j, i] += q / 2
        return Discriminant(Q, params["weights"], params["intercept"], center(memory))

    def _decide(
        self, memory: Memory, rows: np.ndarray, params: Mapping[str, Any]
    ) -> tuple[np.ndarray, Any]:
        h, sigma = self._discriminant(memory, params), params["noise"]
        found, v = h.noisy(rows, sigma, 1.0), params["noise"] ** 2
        Y, gradients = rows - h.m, h.slopes(rows)

        def pull(g: np.ndarray) -> dict[str, Any]:
            mean, variance = g * found.for_mean, g * found.for_variance
            curvature = []
            for i, j in curvature_pairs(memory.width):
                here = mean @ (Y[:, i] * Y[:, j]) + (i == j) * v * mean.sum()
                # ∂‖∇h‖²/∂q_ij, with ∂(∇h)ᵢ/∂q_ij = yⱼ, and twice that on the diagonal.
                turn = 2 * (gradients[:, i] * Y[:, j] + gradients[:, j] * Y[:, i])
                here += variance @ (v * turn) + 4 * v**2 * variance.sum() * h.Q[i, j]
                curvature.append(here)
            return {
                "curvature": np.array(curvature),
                "weights": Y.T @ mean + 2 * v * gradients.T @ variance,
                "intercept": float(mean.sum()),
                "noise": float(g @ h.noise_slope(rows, sigma, found)),
            }

        return found.u, pull
