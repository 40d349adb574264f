"""Generalization gradients: how the answer to one stimulus carries over to others.

The strength of generalization is g(d) = floor + (height − floor)·exp(−c·dᵖ) at the psychological
distance d: exponential for p = 1 (Shepard, 1987), Gaussian for p = 2. Counts are fitted by the
binomial likelihood, strengths by least squares, which is the likelihood of normal errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.stats import chi2, t

from mercer.cognition.choices.fitting import aic, bic
from mercer.cognition.choices.intervals import profile_interval
from mercer.domains.targets import real_numbers
from mercer.errors import DomainError, suggestion
from mercer.kernels import Shepard

__all__ = ["Gradient", "fit_gradient"]

NAMES = ("sensitivity", "exponent", "height", "floor")
LOGARITHMIC = NAMES[:2]  # positive, and searched on a logarithmic scale
FARTHEST_LOGARITHM = 25.0  # of a parameter; beyond it counts as 0 or infinite
SMALLEST_NUMBER = 1e-300  # whose logarithm is taken
LARGEST_LOG_POWER = 6.5  # of c·dᵖ: its e^−x is nearly 0, and no product overflows


@dataclass(frozen=True)
class Gradient:
    """A fitted generalization gradient; call it with distances.

    Attributes
    ----------
    sensitivity, exponent, height, floor : float
        c, p, and the responses at distance 0 and far away.
    free : tuple of str
        Which of them were estimated.
    intervals : dict
        Profile-likelihood interval of each free parameter.
    level : float
        Of the intervals.
    log_likelihood : float
        Of counts without the binomial coefficients, of strengths with normal errors.
    aic, bic : float
    distances, responses : ndarray
        The data; counts as proportions.
    trials : ndarray or None
        How many answers there were at each distance, if responses were counts.
    alternatives : tuple of Gradient
        Other shapes that were tried, the better ones first.

    Examples
    --------
    >>> from mercer.cognition import fit_gradient
    >>> found = fit_gradient([0.1, 1.0, 2.0, 3.0], [97, 61, 35, 23], trials=100)
    >>> found.shape, round(float(found(1.0)), 2)
    ('exponential', 0.61)
    """

    sensitivity: float
    exponent: float
    height: float
    floor: float
    free: tuple[str, ...]
    intervals: dict[str, tuple[float, float]]
    level: float
    log_likelihood: float
    aic: float
    bic: float
    distances: np.ndarray = field(repr=False)
    responses: np.ndarray = field(repr=False)
    trials: np.ndarray | None = field(default=None, repr=False)
    alternatives: tuple[Gradient, ...] = field(default=(), repr=False)

    def __call__(self, distances: ArrayLike) -> np.ndarray:
        """Return the expected response at some distances."""
        d = np.asarray(distances, dtype=float)
        fall = np.exp(-self.sensitivity * d**self.exponent)
        return self.floor + (self.height - self.floor) * fall

    @property
    def shape(self) -> str:
        """Exponential, Gaussian, or a power that was estimated."""
        if "exponent" in self.free:
            return "free exponent"
        return {1.0: "exponential", 2.0: "Gaussian"}.get(
            self.exponent, f"exponent {self.exponent:g}"
        )

    def kernel(self, order: float = 2.0, attention: Any = None) -> Shepard:
        """Return the similarity with this gradient as a kernel on coordinates.

        Examples
        --------
        >>> gradient = fit_gradient([0.0, 1.0, 2.0], [1.0, 0.4, 0.1], exponent=1.0)
        >>> print(gradient.kernel(order=1))
        Shepard(sensitivity=0.98..., order=1.0, exponent=1.0, attention=None)
        """
        return Shepard(self.sensitivity, order, self.exponent, attention)

    def __str__(self) -> str:
        lines = [f"{self.shape}, AIC {self.aic:.2f}, log-likelihood {self.log_likelihood:.2f}"]
        for name in self.free:
            low, high = self.intervals[name]
            lines.append(
                f"  {name} {getattr(self, name):.4g}, {self.level:.0%} interval "
                f"{low:.4g} to {high:.4g}"
            )
        lines += [f"{other.shape}: AIC {other.aic:.2f}" for other in self.alternatives]
        return "\n".join(lines)


def fit_gradient(
    distances: ArrayLike,
    responses: ArrayLike,
    trials: ArrayLike | None = None,
    *,
    exponent: float | None = None,
    height: float = 1.0,
    floor: float = 0.0,
    free: tuple[str, ...] = ("sensitivity",),
    level: float = 0.95,
) -> Gradient:
    """Fit a generalization gradient to responses at known distances.

    Parameters
    ----------
    distances : array
        Psychological distance of each test stimulus from the trained one.
    responses : array of the same shape
        Strengths (proportions, ratings, rates); or counts, if `trials` are given.
    trials : array or int, optional
        Out of how many each count is.
    exponent : float, optional
        p. By default 1, 2 and a free exponent are tried, and the AIC decides.
    height, floor : float
        Responses at distance 0 and far away.
    free : tuple of {"sensitivity", "exponent", "height", "floor"}
        What is estimated; the rest is taken as given.
    level : float
        Of the profile-likelihood intervals.

    Returns
    -------
    Gradient
        The best one, with the others in its `alternatives`.

    Examples
    --------
    >>> answers = [97, 61, 35, 23, 14, 8]
    >>> print(fit_gradient([0.1, 1.0, 2.0, 3.0, 4.0, 5.0], answers, trials=100))
    exponential, AIC 537.85, log-likelihood -267.93
      sensitivity 0.4976, 95% interval 0.4424 to 0.5583
    free exponent: AIC 539.59
    Gaussian: AIC 611.98
    """
    data = _admit(distances, responses, trials)
    given = {"sensitivity": 1.0, "exponent": 1.0, "height": height, "floor": floor}
    free = _free(free)
    if not 0 < level < 1:
        raise DomainError(f"level must lie between 0 and 1, found {level}")
    if exponent is not None or "exponent" in free:
        if exponent is not None and not 0 < exponent < np.inf:
            raise DomainError(f"exponent must be positive, found {exponent}")
        given["exponent"] = 1.0 if exponent is None else float(exponent)
        return _Problem(*data, given, free).solve(level)
    fits = [
        _Problem(*data, {**given, "exponent": 1.0}, free).solve(level),
        _Problem(*data, {**given, "exponent": 2.0}, free).solve(level),
    ]
    both = tuple(name for name in NAMES if name in (*free, "exponent"))
    if len(np.unique(data[0])) >= len(both) + (trials is None):
        fits.append(_Problem(*data, given, both).solve(level))
    best, *others = sorted(fits, key=lambda fit: fit.aic)
    return replace(best, alternatives=tuple(others))


class _Problem:
    """The loss of a gradient as a function of its free parameters."""

    def __init__(
        self,
        d: np.ndarray,
        y: np.ndarray,
        trials: np.ndarray | None,
        given: dict[str, float],
        free: tuple[str, ...],
    ) -> None:
        self.d, self.y, self.trials, self.given, self.free = d, y, trials, given, free
        near = float(np.median(d[d > 0]))
        self.unit = np.log(near)  # distances in this unit make sensitivity and exponent separate
        spread = float(np.sum((y - y.mean()) ** 2))
        self.scale = 1.0 / (spread or 1.0) if trials is None else 1.0 / float(trials.sum())
        self._refuse()

    def _refuse(self) -> None:
        """Refuse what no gradient can explain, or nothing could be learned from."""
        needed = len(self.free) + (self.trials is None)
        if len(np.unique(self.d)) < needed:
            raise DomainError(
                f"{len(self.free)} free parameters need responses at {needed} different distances "
                f"or more, found {len(np.unique(self.d))}"
            )
        if self.trials is None:
            return
        for name in ("height", "floor"):
            if not 0 <= self.given[name] <= 1:
                raise DomainError(
                    f"counts are probabilities times trials, so {name} must lie between 0 and 1, "
                    f"found {self.given[name]}"
                )
        at_zero = (self.d == 0) & (self.y < 1)
        if self.given["height"] == 1 and "height" not in self.free and at_zero.any():
            row = int(np.flatnonzero(at_zero)[0])
            raise DomainError(
                f"at distance 0 a gradient of height 1 is answered always, but row {row} was not; "
                "let the height be free: free=('sensitivity', 'height')"
            )

    def values(self, theta: np.ndarray) -> dict[str, float]:
        """Return all parameters, the free ones from their place in `theta`."""
        found = dict(zip(self.free, theta.tolist(), strict=True))
        return {
            name: float(np.exp(found[name]) if name in LOGARITHMIC else found[name])
            if name in found
            else self.given[name]
            for name in NAMES
        }

    def loss(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return minus the scaled log-likelihood (or squared errors), and its gradient."""
        v = self.values(theta)
        c, p, top, low = (v[name] for name in NAMES)
        logs = np.log(self.d, out=np.zeros_like(self.d), where=self.d > 0)
        power = np.where(
            self.d > 0, np.exp(np.minimum(np.log(c) + p * logs, LARGEST_LOG_POWER)), 0.0
        )
        fall = np.exp(-power)
        g = low + (top - low) * fall
        steep = -(top - low) * fall * power
        slopes = {
            "sensitivity": steep,
            "exponent": steep * p * logs,
            "height": fall,
            "floor": 1.0 - fall,
        }
        if self.trials is None:
            value, outer = float(np.sum((self.y - g) ** 2)), 2 * (g - self.y)
        else:
            # The second is 1 − g to all digits.
            yes = np.maximum(g, SMALLEST_NUMBER)
            no = np.maximum(1 - top - (top - low) * np.expm1(-power), SMALLEST_NUMBER)
            hit, miss = self.y * self.trials, (1 - self.y) * self.trials
            value = -float(np.sum(hit * np.log(yes) + miss * np.log(no)))
            outer = miss / no - hit / yes
        gradient = np.array([float(outer @ slopes[name]) for name in self.free])
        return self.scale * value, self.scale * gradient

    def bounds(self) -> list[tuple[float, float]]:
        """Return how far each free parameter may go."""
        logs = (-FARTHEST_LOGARITHM, FARTHEST_LOGARITHM)
        counted = self.trials is not None
        level = (1e-9, 1 - 1e-9) if counted else (-np.inf, np.inf)
        known = {"sensitivity": logs, "exponent": (-4.0, 3.0), "height": level, "floor": level}
        return [known[name] for name in self.free]

    def minimize(self, start: np.ndarray, fixed: int | None = None) -> Any:
        """Search from a start, all but one parameter if that one is fixed.

        The sensitivity is searched in the middle distance as unit, log c + p·log unit, on which
        it hardly depends on the exponent; not while either of them is fixed.
        """
        moving = np.array([k for k in range(len(self.free)) if k != fixed], dtype=int)
        if not len(moving):
            return start, self.loss(start)[0]
        mix = np.zeros(len(self.free))
        if fixed is None and "sensitivity" in self.free and "exponent" in self.free:
            mix[self.free.index("sensitivity")] = self.unit
        e = self.free.index("exponent") if "exponent" in self.free else 0

        def inside(x: np.ndarray) -> np.ndarray:
            theta = start.copy()
            theta[moving] = x
            return theta - mix * np.exp(theta[e]) if mix.any() else theta

        def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
            theta = inside(x)
            value, gradient = self.loss(theta)
            if mix.any():
                gradient[e] -= float(gradient @ mix) * np.exp(theta[e])
            return value, gradient[moving]

        x = (start + mix * np.exp(start[e]) if mix.any() else start)[moving]
        limits = [self.bounds()[k] for k in moving]
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500}
        found = minimize(loss, x, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        return inside(found.x), float(found.fun)

    def solve(self, level: float) -> Gradient:
        """Return the best gradient, with its intervals."""
        found = [self.minimize(start) for start in self._starts()]
        theta, value = min(found, key=lambda pair: pair[1])
        v, m = self.values(theta), len(self.d)
        if self.trials is None:
            likelihood = (
                -m / 2 * (np.log(2 * np.pi * max(value, SMALLEST_NUMBER) / self.scale / m) + 1)
            )
            rest = m - len(theta)
            odds = t.ppf((1 + level) / 2, rest) ** 2 / rest if rest else np.inf
            limit = value * (1 + odds)
        else:
            likelihood = -value / self.scale
            limit = value + self.scale * chi2.ppf(level, 1) / 2
        count = len(theta) + (self.trials is None)
        total = m if self.trials is None else float(self.trials.sum())
        return Gradient(
            v["sensitivity"], v["exponent"], v["height"], v["floor"],
            free=self.free, level=level, log_likelihood=float(likelihood),
            intervals={n: self._interval(k, theta, limit) for k, n in enumerate(self.free)},
            aic=aic(float(likelihood), count), bic=bic(float(likelihood), count, total),
            distances=self.d, responses=self.y, trials=self.trials,
        )  # fmt: skip

    def _starts(self) -> list[np.ndarray]:
        """Return some starts: falls that are slow and fast, of several shapes."""
        power = (0.5, 1.0, 2.0) if "exponent" in self.free else (self.given["exponent"],)
        high, low = float(self.y.max()), float(self.y.min())
        if self.trials is not None:
            high, low = min(high, 0.99), max(low, 0.01)
        levels = {"height": high, "floor": low}
        starts = []
        for p in power:
            for fall in (0.2, 1.0, 4.0):
                known = {"sensitivity": np.log(fall) - p * self.unit, "exponent": np.log(p)}
                starts.append(np.array([{**known, **levels}[name] for name in self.free]))
        return starts

    def _interval(self, k: int, theta: np.ndarray, limit: float) -> tuple[float, float]:
        """Return the profile interval of one parameter, in its own units."""
        if not np.isfinite(limit):
            return float("nan"), float("nan")
        last = theta

        def profile(value: float) -> float:
            nonlocal last
            start = last.copy()
            start[k] = value
            last, loss = self.minimize(start, fixed=k)
            return loss

        low, high = profile_interval(profile, float(theta[k]), limit, self.bounds()[k])
        if self.free[k] not in LOGARITHMIC:
            return low, high
        bottom, top = self.bounds()[k]
        return (
            float(np.exp(low)) if low > bottom else 0.0,
            float(np.exp(high)) if high < top else float("inf"),
        )


def _admit(
    distances: ArrayLike, responses: ArrayLike, trials: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return flat distances and responses, counts as proportions of their trials."""
    d = np.ravel(real_numbers(distances, "distances"))
    y = np.ravel(real_numbers(responses, "responses"))
    if len(d) != len(y):
        raise DomainError(f"there are {len(d)} distances, but {len(y)} responses")
    for name, values in (("distances", d), ("responses", y)):
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DomainError(f"{name} must be finite, row {row} has {values[row]}")
    if (d < 0).any():
        row = int(np.flatnonzero(d < 0)[0])
        raise DomainError(f"distances cannot be negative, row {row} has {d[row]:g}")
    if not d.any():
        raise DomainError("all distances are 0, so there is no gradient to see")
    if trials is None:
        return d, y, None
    n = np.broadcast_to(np.ravel(real_numbers(trials, "trials")), d.shape).astype(float)
    bad = (y < 0) | (y != np.round(y)) | (y > n) | (n <= 0) | ~np.isfinite(n)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DomainError(
            f"with trials, responses are counts from 0 to the trials; row {row} has {y[row]:g} "
            f"of {n[row]:g}"
        )
    return d, y / n, n


def _free(names: Any) -> tuple[str, ...]:
    """Return the free parameters in their order, at least one."""
    asked = (names,) if isinstance(names, str) else tuple(names)
    for name in asked:
        if name not in NAMES:
            raise DomainError(f"there is no parameter {name!r}{suggestion(str(name), NAMES)}")
    if not asked:
        raise DomainError("nothing is free; name what to estimate, such as 'sensitivity'")
    return tuple(name for name in NAMES if name in asked)
