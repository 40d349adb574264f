"""Distributions of one number, from SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from mercer.domains import Domain, VectorDomain, Vectors
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.models.base import Model, model
from mercer.models.log_density import STEP
from mercer.models.parameter_arrays import rows
from mercer.values import finite

__all__ = ["FromSciPy"]


@model
class FromSciPy(Model):
    """A distribution of one number from `scipy.stats`, continuous or discrete.

    Scores and information are exact for the exponential families norm, expon, gamma, beta,
    poisson and binom; of other distributions the scores are central differences (see
    `FromLogDensity`) and the information is not known. Items are rows of one number.

    Parameters
    ----------
    distribution : str or frozen distribution
        Its name in `scipy.stats`, or a distribution with its parameters:
        ``FromSciPy(stats.gamma(2.0, scale=3.0))``.
    theta : dict, optional
        The parameters by SciPy's names: shapes, loc and scale.
    free : tuple of str, optional
        Those that have a score and are learned; by default the shapes, and loc and scale where
        they are given. The number of trials n of a binomial distribution never is.

    Examples
    --------
    >>> model = FromSciPy("poisson", {"mu": 4.0})
    >>> model.score([[6.0]]), model.information()
    (array([[0.5]]), array([[0.25]]))
    >>> model.fit([[1.0], [2.0]])
    FromSciPy(distribution='poisson', theta=(('mu', 1.5),), free=('mu',))
    """

    distribution: Any
    theta: Any = None
    free: Any = None

    domain: ClassVar[Domain] = VectorDomain(dense_for="FromSciPy")

    def __post_init__(self) -> None:
        name, theta = self.distribution, self.theta
        if not isinstance(name, str):
            name, theta = _thaw(name, theta)
        self._normalize("distribution", name)
        family = _family(name)
        known = _parameters(family)
        pairs = dict(theta.items() if isinstance(theta, Mapping) else theta or ())
        for key in pairs:
            if key not in known:
                raise ValidityError(f"{name} has no parameter {key!r}{suggestion(key, known)}")
        missing = [key for key in known if key not in pairs and key not in ("loc", "scale")]
        if missing:
            raise ValidityError(f"{name} needs its parameter {missing[0]!r}")
        clean = tuple((key, finite(self, key, pairs[key])) for key in known if key in pairs)
        self._normalize("theta", clean)
        self._normalize("free", self._free_names(known))
        with np.errstate(all="ignore"):
            support = self._frozen.support()
        if any(math.isnan(border) for border in support):
            raise ValidityError(f"{name} does not exist for {dict(clean)}")

    def _free_names(self, known: tuple[str, ...]) -> tuple[str, ...]:
        values = dict(self.theta)
        counted = ("n",) if self.distribution == "binom" else ()
        if self.free is None:
            some = tuple(key for key in known if key in values and key not in counted)
            return some or tuple(key for key in ("loc", "scale") if key in known)
        chosen = (self.free,) if isinstance(self.free, str) else tuple(self.free)
        for key in chosen:
            if key not in known or key in counted:
                possible = [name for name in known if name not in counted]
                raise ValidityError(
                    f"{self.distribution} has no free parameter {key!r}{suggestion(key, possible)}"
                )
        return tuple(key for key in known if key in chosen)

    @cached_property
    def _frozen(self) -> Any:
        family = _family(self.distribution)
        if hasattr(family, "logpdf"):
            return family(**dict(self.theta))
        # Numbers of trials and the like are whole, and NumPy draws for whole numbers only.
        whole = {key: int(value) if value.is_integer() else value for key, value in self.theta}
        return family(**whole)

    @cached_property
    def _family(self) -> ExponentialFamily | None:
        """The formulas of an exponential family, if this is one in its usual form."""
        family = FAMILIES.get(self.distribution)
        if family is None or not set(self.free) <= set(family.known):
            return None
        return family

    def _values(self) -> dict[str, float]:
        """Return all parameters, with SciPy's defaults for loc and scale."""
        return {"loc": 0.0, "scale": 1.0, **dict(self.theta)}

    def log_densities(self, points: Vectors) -> np.ndarray:
        return self._log(self._column(points), dict(self.theta))

    def scores(self, points: Vectors) -> np.ndarray:
        x, found = self._column(points), []
        if self._family is not None:
            values = self._values()
            slopes = self._family.scores(x - values["loc"], values)
            impossible = self._log(x, dict(self.theta)) == -np.inf
            return np.where(
                impossible[:, None], np.nan, np.column_stack([slopes[key] for key in self.free])
            )
        for key in self.free:
            value = self._values()[key]
            h = STEP * self._size(key)
            up, down = ({**dict(self.theta), key: moved} for moved in (value + h, value - h))
            with np.errstate(invalid="ignore"):
                rise = self._log(x, up) - self._log(x, down)
            found.append(rise / (up[key] - down[key]))
        return np.column_stack(found)

    def _size(self, key: str) -> float:
        """Return how large a change of a parameter is that makes a difference."""
        if key in ("loc", "scale") and hasattr(_family(self.distribution), "logpdf"):
            return self._values()["scale"]  # wherever it is, and in whatever units
        return max(abs(self._values()[key]), 1e-3)  # of shapes near zero, as if they were larger

    def _log(self, x: np.ndarray, theta: dict[str, float]) -> np.ndarray:
        family = _family(self.distribution)
        logarithm = family.logpdf if hasattr(family, "logpdf") else family.logpmf
        with np.errstate(divide="ignore"):
            return np.asarray(logarithm(x, **theta), dtype=np.float64)

    def _column(self, points: Vectors) -> np.ndarray:
        if points.width != 1:
            raise DomainError(
                f"X has {points.width} columns, but {self.distribution} is a distribution of one "
                "number"
            )
        return rows(points, 1, self)[:, 0]

    @property
    def parameter_names(self) -> list[str]:
        return list(self.free)

    def information(self) -> np.ndarray | None:
        if self._family is None:
            return None
        F = self._family.information(self._values())
        places = [self._family.known.index(key) for key in self.free]
        return np.asarray(F, dtype=np.float64)[np.ix_(places, places)]

    def learn(self, points: Vectors, weights: np.ndarray | None, seed: int) -> Self:
        x, values = self._column(points), self._values()
        learn = None if self._family is None else self._family.learn
        if learn is not None:
            w = np.ones(len(x)) if weights is None else weights
            found = learn(x - values["loc"], w / w.sum(), values, self.free)
            return self._with(found)
        family = _family(self.distribution)
        if weights is not None or not hasattr(family, "fit"):
            what = "weights of items" if weights is not None else "data"
            raise ValidityError(f"{self.distribution} cannot be fitted to {what} by SciPy")
        fixed = {f"f{key}": value for key, value in values.items() if key not in self.free}
        known = {f"f{key}" for key in _parameters(family)}
        fitted = family.fit(x, **{key: value for key, value in fixed.items() if key in known})
        return self._with(dict(zip(_parameters(family), fitted, strict=True)))

    def _with(self, found: dict[str, float]) -> Self:
        theta = {**dict(self.theta), **{key: float(found[key]) for key in self.free}}
        return self.set_params(theta=theta, free=self.free)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        found = self._frozen.rvs(size=count, random_state=rng)
        return np.asarray(found, dtype=np.float64)[:, None]


class ExponentialFamily(NamedTuple):
    """The formulas of a family; x is seen from loc. `learn` gives the weighted maximum."""

    known: tuple[str, ...]
    scores: Callable[[np.ndarray, dict[str, float]], dict[str, Any]]
    information: Callable[[dict[str, float]], Any]
    learn: Callable[..., dict[str, float]] | None = None


def _normal_scores(x: np.ndarray, t: dict[str, float]) -> dict[str, Any]:
    z = x / t["scale"]
    return {"loc": z / t["scale"], "scale": (z * z - 1) / t["scale"]}


def _normal_learn(x: np.ndarray, w: np.ndarray, t: dict[str, float], free: Any) -> dict:
    shift = float(w @ x) if "loc" in free else 0.0
    scale = math.sqrt(float(w @ (x - shift) ** 2))
    if "scale" in free and scale == 0:
        raise DomainError("the items of X are all equal, so that their spread cannot be learned")
    return {"loc": t["loc"] + shift, "scale": scale}


def _gamma_scores(x: np.ndarray, t: dict[str, float]) -> dict[str, Any]:
    from scipy.special import digamma

    with np.errstate(all="ignore"):
        a, scale = t["a"], t["scale"]
        return {"a": np.log(x / scale) - digamma(a), "scale": (x / scale - a) / scale}


def _gamma_information(t: dict[str, float]) -> Any:
    from scipy.special import polygamma

    a, scale = t["a"], t["scale"]
    return [[polygamma(1, a), 1 / scale], [1 / scale, a / scale**2]]


def _beta_scores(x: np.ndarray, t: dict[str, float]) -> dict[str, Any]:
    from scipy.special import digamma

    both = digamma(t["a"] + t["b"])
    with np.errstate(all="ignore"):
        return {
            "a": np.log(x) - digamma(t["a"]) + both,
            "b": np.log1p(-x) - digamma(t["b"]) + both,
        }


def _beta_information(t: dict[str, float]) -> Any:
    from scipy.special import polygamma

    a, b, both = (polygamma(1, value) for value in (t["a"], t["b"], t["a"] + t["b"]))
    return [[a - both, -both], [-both, b - both]]


FAMILIES = {
    "norm": ExponentialFamily(
        ("loc", "scale"),
        _normal_scores,
        lambda t: np.diag([1.0, 2.0]) / t["scale"] ** 2,
        _normal_learn,
    ),
    "expon": ExponentialFamily(
        ("scale",),
        lambda x, t: {"scale": (x / t["scale"] - 1) / t["scale"]},
        lambda t: [[1 / t["scale"] ** 2]],
        lambda x, w, t, free: {"scale": w @ x},
    ),
    "poisson": ExponentialFamily(
        ("mu",),
        lambda x, t: {"mu": x / t["mu"] - 1},
        lambda t: [[1 / t["mu"]]],
        lambda x, w, t, free: {"mu": w @ x},
    ),
    "binom": ExponentialFamily(
        ("p",),
        lambda x, t: {"p": x / t["p"] - (t["n"] - x) / (1 - t["p"])},
        lambda t: [[t["n"] / (t["p"] * (1 - t["p"]))]],
        lambda x, w, t, free: {"p": w @ x / t["n"]},
    ),
    "gamma": ExponentialFamily(("a", "scale"), _gamma_scores, _gamma_information),
    "beta": ExponentialFamily(("a", "b"), _beta_scores, _beta_information),
}


def _family(name: str) -> Any:
    """Return a distribution of one number by its name."""
    from scipy import stats

    found = getattr(stats, name, None)
    if not isinstance(found, stats.rv_continuous | stats.rv_discrete):
        advice = "; use GaussianDensity" if name == "multivariate_normal" else ""
        raise ValidityError(f"scipy.stats has no distribution of one number {name!r}{advice}")
    return found


def _parameters(family: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a distribution, in SciPy's order."""
    shapes = tuple(family.shapes.replace(" ", "").split(",")) if family.shapes else ()
    return (*shapes, "loc", "scale") if hasattr(family, "logpdf") else (*shapes, "loc")


def _thaw(frozen: Any, theta: Any) -> tuple[str, dict[str, float]]:
    """Return name and parameters of a frozen distribution."""
    family: Any = getattr(frozen, "dist", None)
    if theta is not None or not hasattr(family, "name") or not hasattr(frozen, "kwds"):
        raise ValidityError(
            "FromSciPy needs the name of a distribution with theta, or a distribution with its "
            f"parameters such as stats.norm(0, 1); found {frozen!r}"
        )
    given = dict(zip(_parameters(family), frozen.args, strict=False))
    return family.name, {**given, **frozen.kwds}
