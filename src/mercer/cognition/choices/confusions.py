"""Choice models of confusions: which stimulus is taken for which.

P(j | i) = b_j s_ij / Σ_k b_k s_ik, with a bias b toward each answer and a similarity s of stimulus
i to what the answer j stands for. In Luce's similarity choice model (1963) s is any symmetric
matrix with ones on its diagonal; in the MDS-choice model (Nosofsky, 1985) it falls off with the
distance of the stimuli in a psychological space.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.choices.fitting import (
    Minimum,
    ParameterLayout,
    ResponseLoss,
    Simplex,
    Slopes,
    Unconstrained,
    aic,
    bic,
    search,
)
from mercer.cognition.experiments.responses import Responses, log_softmax
from mercer.cognition.similarity.similarity_axioms import admit_square, first_true, name_items
from mercer.errors import DomainError

__all__ = ["ConfusionModel", "SimilarityChoice", "admit_confusions"]

MAX_STEPS = 5000  # of L-BFGS
LOG_NEVER = -40.0  # log similarity of stimuli that nobody has confused


class ConfusionModel(BaseEstimator):
    """What both models share: what is kept of a fit."""

    n_parameters_: int

    def _keep(self, objective: ResponseLoss, found: Minimum, labels: tuple) -> None:
        """Store probabilities, biases and the likelihood."""
        data = objective.data
        scores = objective.rule(found.params)[0]
        self.labels_, self.confusions_ = labels, data.counts
        self.bias_ = found.params["bias"]
        self.similarities_ = np.exp(scores - np.log(self.bias_))
        self.probabilities_ = np.exp(log_softmax(scores))
        self.log_likelihood_ = data.log_likelihood(log_softmax(scores))
        shares = np.where(data.shares > 0, data.shares, 1.0)
        self.deviance_ = 2 * (data.log_likelihood(np.log(shares)) - self.log_likelihood_)

    @property
    def aic_(self) -> float:
        """Akaike's criterion."""
        return aic(self.log_likelihood_, self.n_parameters_)

    @property
    def bic_(self) -> float:
        """Schwarz's criterion, of all answers."""
        return bic(self.log_likelihood_, self.n_parameters_, float(self.confusions_.sum()))


class SimilarityChoice(ConfusionModel):
    """Luce's similarity choice model: a free similarity for each pair, a bias for each answer.

    The most that a symmetric similarity can explain; `MDSChoice` is compared with it. The
    likelihood is concave in the logarithms, so there is one maximum.

    Attributes
    ----------
    similarities_ : ndarray of shape (n, n)
    bias_ : ndarray of shape (n,)
        Sums to one.
    probabilities_ : ndarray of shape (n, n)
        Of each answer (column) to each stimulus (row).
    log_likelihood_, aic_, bic_ : float
    deviance_ : float
        Twice the difference to the log-likelihood of each row's own proportions.
    n_parameters_ : int

    Examples
    --------
    >>> model = SimilarityChoice().fit([[8, 2], [1, 9]])
    >>> model.similarities_.round(3)
    array([[1.   , 0.167],
           [0.167, 1.   ]])
    """

    def fit(self, confusions: ArrayLike, labels: Sequence[object] | None = None) -> Self:
        """Fit to counts of answers (columns) to stimuli (rows)."""
        N, known = admit_confusions(confusions, labels)
        n = len(N)
        rows, columns = np.triu_indices(n, 1)
        seen = (N + N.T)[rows, columns] > 0
        rows, columns = rows[seen], columns[seen]

        def rule(params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
            logs = np.full((n, n), LOG_NEVER)
            np.fill_diagonal(logs, 0.0)
            logs[rows, columns] = logs[columns, rows] = params["logs"]
            return logs + np.log(params["bias"]), lambda G: {
                "logs": (G + G.T)[rows, columns],
                "bias": G.sum(axis=0) / params["bias"],
            }

        parts: Any = (
            Unconstrained("logs", len(rows), (LOG_NEVER, -LOG_NEVER)),
            Simplex("bias", n),
        )
        layout = ParameterLayout({"bias": np.full(n, 1 / n)}, parts)
        objective = ResponseLoss(rule, layout, Responses(N))
        found = search(objective, [np.append(np.full(len(rows), -1.0), np.zeros(n))], MAX_STEPS)
        self._keep(objective, found, known)
        self.similarities_[(N + N.T) + np.eye(n) == 0] = 0.0
        self.n_parameters_ = n * (n - 1) // 2 + n - 1
        return self

    def predict_proba(self) -> np.ndarray:
        """Return the probability of each answer to each stimulus."""
        check_is_fitted(self)
        return self.probabilities_


def admit_confusions(
    confusions: ArrayLike, labels: Sequence[object] | None
) -> tuple[np.ndarray, tuple]:
    """Return a confusion matrix of counts, every stimulus shown at least once."""
    N, known = admit_square(confusions, labels, "confusions")
    bad = (N < 0) | (N != np.round(N))
    if bad.any():
        place = first_true(bad)
        raise DomainError(
            f"confusions must be counts, found {N[place]:g} for {name_items(place, known)}"
        )
    if not N.sum(axis=1).all():
        row = int(np.flatnonzero(N.sum(axis=1) == 0)[0])
        raise DomainError(f"the row of {known[row]} has no trials; leave that stimulus out")
    return N, known
