"""Generative models: how things come about, as far as kernels need to know.

A model says how probable a thing is, ln p(x|θ), and, for the Fisher kernel, how that changes with
its parameters, the score g(θ, x) = ∇_θ ln p(x|θ) (Bishop, 6.32). Models are values: fitting one
returns another. To write a new one, say what it is about (`domain`) and give `log_densities`;
everything else has a default or is optional.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.domains import ANYTHING, Domain, Items, Points, admit_weights
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.values import Value
from mercer.values import frozen as model

__all__ = ["Model", "model"]


class Model(Value):
    """A probability distribution of things, with parameters θ.

    Parameters that are None have not been learned yet: `fit` returns the model with all of them.

    Attributes
    ----------
    domain : Domain
        What it is about; admits and encodes the user's objects.

    Examples
    --------
    >>> from mercer.models import GaussianDensity
    >>> model = GaussianDensity().fit([[1.0], [3.0]])
    >>> isinstance(model, Model), model.log_density([[2.0]]).round(3), model.fitted
    (True, array([-0.919]), True)
    """

    domain: ClassVar[Domain] = ANYTHING
    whole_rows: ClassVar[bool] = False  # whether an item without a score has a row of NaN

    # ---- what the author of a model writes; points are those that its domain admits ----------

    def log_densities(self, points: Any) -> np.ndarray:
        """Return ln p(x|θ) of each point; −∞ for what the model holds to be impossible."""
        raise NotImplementedError

    def scores(self, points: Any) -> np.ndarray:
        """Return g(θ, x) of each point, one column for each free parameter."""
        raise NotImplementedError(f"{type(self).__name__} has no scores")

    @property
    def parameter_names(self) -> list[str]:
        """What the columns of `scores` are."""
        raise NotImplementedError(f"{type(self).__name__} has no scores")

    def information(self) -> np.ndarray | None:
        """Return the Fisher information E[g gᵀ] (6.34), or None where it is not known."""
        return None

    def learn(self, points: Any, weights: np.ndarray | None, seed: int) -> Self:
        """Return this model with parameters of highest likelihood for the points."""
        raise NotImplementedError(f"{type(self).__name__} cannot be fitted")

    def draw(self, count: int, rng: np.random.Generator) -> Any:
        """Draw things as a user would have them."""
        raise NotImplementedError(f"{type(self).__name__} cannot be sampled from")

    @property
    def fitted(self) -> bool:
        """Whether all parameters are known."""
        return True

    # ---- what its users call ----------------------------------------------------------------

    def log_density(self, X: Items) -> np.ndarray:
        """Return ln p(x|θ) of each item of `X`; −∞ for what is impossible."""
        found = np.asarray(self.log_densities(self._admit(X)), dtype=np.float64)
        bad = np.flatnonzero(np.isnan(found) | (found == np.inf))
        if len(bad):
            raise DomainError(
                f"the log density of item {bad[0]} of X under {type(self).__name__} is "
                f"{found[bad[0]]}; it must be a number or −∞"
            )
        return found

    def score(self, X: Items) -> np.ndarray:
        """Return the Fisher score of each item of `X` (6.32), one column for each parameter."""
        found = np.asarray(self.scores(self._admit(X)), dtype=np.float64)
        looked_at = found[:, :1] if self.whole_rows else found
        # A sum is finite only if every term is; which one is not is looked for only then.
        with np.errstate(all="ignore"):
            if np.isfinite(looked_at.sum()):
                return found
        bad = np.argwhere(~np.isfinite(found))
        if len(bad):
            i, j = bad[0]
            raise DomainError(
                f"the score of item {i} of X is {found[i, j]} for {self.parameter_names[j]}: the "
                "model holds the item to be impossible, or its parameters are at a border"
            )
        return found

    def fit(self, X: Any, weights: np.ndarray | None = None, seed: int = 0) -> Self:
        """Return the model that was learned from the items of `X`; this one stays as it is.

        A weight of an item counts like its repetition. What this model has learned before is
        forgotten, so that nothing of other items leaks in.
        """
        points = self.domain.admit(X)
        return self.learn(points, admit_weights(weights, len(points)), seed)

    def sample(self, count: int, seed: int = 0) -> Any:
        """Draw `count` things."""
        self.require_fitted()
        return self.draw(count, np.random.default_rng(seed))

    def require_fitted(self) -> None:
        """Refuse to compute with parameters that have not been learned."""
        if not self.fitted:
            raise ValidityError(
                f"{self!r} has not been fitted: use model.fit(X), or a kernel with fit_model=True"
            )

    def _admit(self, X: Items) -> Points:
        self.require_fitted()
        return self.domain.admit(X)


def choice(owner: object, name: str, value: Any, known: tuple[str, ...]) -> str:
    """Return a parameter that is one of a few words."""
    if value not in known:
        raise ValidityError(
            f"{name} of {type(owner).__name__} cannot be {value!r}{suggestion(value, known)}"
        )
    return value
