"""DIVA: a network that redraws stimuli, once for each category, and answers by which drawing fits.

Kurtz (2007), Psychonomic Bulletin & Review 14, 560–576. All categories share a hidden layer; each
has a channel of its own from there back to the features. No exemplar, prototype or bound is
stored.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from mercer.cognition.learners.chance import begin, coin, mix
from mercer.cognition.learners.learner import Learner, Trials
from mercer.cognition.learners.trial_loops import RESET, TRANSFER
from mercer.compiled import compiled
from mercer.errors import DomainError, ValidityError, suggestion
from mercer.values import positive, whole

__all__ = ["DIVA"]

ERRORS = ("squares", "cross-entropy")
TINY = 1e-12  # squared error of a drawing that could not be better


class DIVA(Learner):
    """Learn to redraw the members of each category (Kurtz, 2007).

    Features x go from 0 to 1. With s the logistic function, the hidden layer h and the drawing yᵏ
    of the channel of category k are

        h_j = s(Σᵢ v_jᵢ(2xᵢ − 1) + v_j0),   yᵏᵢ = s(Σ_j wᵏᵢ_j h_j + wᵏᵢ0),

    and with the squared errors Eᵏ = Σᵢ fᵢ (xᵢ − yᵏᵢ)²

        P(k) = (1/Eᵏ)^φ / Σ (1/E)^φ,   fᵢ ∝ exp(β·max over pairs of categories of |yᵏᵢ − yˡᵢ|).

    When the category is told, its channel and the hidden layer go down the gradient of
    ½Σ(xᵢ − yᵢ)², or of −Σ(xᵢ log yᵢ + (1 − xᵢ) log(1 − yᵢ)), by backpropagation at the rate η.
    Weights begin uniformly in ±range.

    As a kernel: none. The features h are learned, and the answer is a ratio of squared errors.

    Parameters
    ----------
    rate : float
        η ≥ 0.
    hidden : int
        Units of the hidden layer.
    spread : float
        Range of the first weights.
    focus : float
        β ≥ 0 (Conaway & Kurtz, 2014); 0, as in 2007, for features that count alike.
    choice : float
        φ ≥ 0; 1 is the rule of 2007.
    error : {"squares", "cross-entropy"}
        Of which the gradient is taken.
    random_state : int
        Of the first weights, which also depend on the sequence of trials, so that simulated
        subjects differ.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    encoder_ : ndarray of shape (hidden, dimensions + 1)
        v at the end, the constants last.
    decoders_ : ndarray of shape (categories, dimensions, hidden + 1)
    classes_ : ndarray

    Notes
    -----
    The paper says backpropagation, not of which error. Squares were the custom of the time; the
    programs of later papers (Conaway & Kurtz, 2014) take cross-entropy for features that are 0 or
    1, with which a wrong channel at 0 or 1 still learns. Printed figures are of simulations whose
    numbers were not published, so that only the order of difficulty is held against them.

    Examples
    --------
    >>> from mercer.cognition import shj
    >>> model = DIVA(rate=1.5, hidden=3, spread=1.0)
    >>> errors = [model.simulate(shj(kind), 50).mean() for kind in ("I", "II", "VI")]
    >>> bool(errors[0] < errors[1] < errors[2])
    True
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "rate": (0.01, 10.0),
        "choice": (0.1, 10.0),
        "focus": (0.01, 20.0),
    }

    def __init__(
        self,
        rate: float,
        hidden: int = 3,
        spread: float = 0.5,
        focus: float = 0.0,
        choice: float = 1.0,
        random_state: int = 0,
        error: str = "squares",
    ) -> None:
        self.rate = rate
        self.hidden = hidden
        self.spread = spread
        self.focus = focus
        self.choice = choice
        self.random_state = random_state
        self.error = error

    def _learn(self, trials: Trials) -> Self:
        stimuli = _between(trials.stimuli)
        d, K = stimuli.shape[1], len(trials.classes)
        v = np.empty((int(self.hidden), d + 1))
        w = np.empty((K, d, int(self.hidden) + 1))
        trace = np.empty((len(trials.order), K))
        stop = learn_diva(
            stimuli, trials.codes, trials.order, trials.control, self._rule(),
            self._options(), v, w, trace,
        )  # fmt: skip
        self._finish(trials, trace, stop, v, w)
        self.encoder_, self.decoders_ = v, w
        return self

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        d, K = stimuli.shape[1], len(self.classes_)
        P = np.empty((len(stimuli), K))
        h, y = np.empty(int(self.hidden)), np.empty((K, d))
        for row, x in enumerate(stimuli):
            _draw(x, self.encoder_, self.decoders_, h, y)
            _compare(x, y, float(self.focus), float(self.choice), P[row])
        return P

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return outputs

    def _prepare(self, stimuli: np.ndarray) -> Any:
        return _between(stimuli)

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        rule, options = self._rule(), self._options()
        simulate_diva(task, codes, orders, classes, int(self.hidden), rule, options, errors)

    def _rule(self) -> tuple[float, ...]:
        return tuple(float(getattr(self, name)) for name in ("rate", "spread", "focus", "choice"))

    def _options(self) -> tuple[int, int]:
        return int(self.random_state), int(self.error == "squares")

    def _check(self) -> None:
        if self.error not in ERRORS:
            raise ValidityError(
                f"error cannot be {self.error!r}{suggestion(str(self.error), ERRORS)}"
            )
        for name in ("rate", "spread", "focus", "choice"):
            positive(self, name, getattr(self, name), zero=True)
        whole(self, "hidden", self.hidden)
        whole(self, "random_state", self.random_state, least=0)
        if self.spread == 0:
            raise ValidityError("spread of DIVA must be positive: equal weights would stay equal")


def _between(rows: np.ndarray) -> np.ndarray:
    wrong = (rows < 0) | (rows > 1)
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise DomainError(
            f"dimension {column} of stimulus {row} is {rows[row, column]}; DIVA redraws features "
            "from 0 to 1, so scale them"
        )
    return rows


@compiled(error_model="numpy")
def _draw(x, v, w, h, y):
    """Let h be the hidden layer, and y the drawing of each channel."""
    d, J = len(x), len(h)
    for j in range(J):
        total = v[j, d]
        for i in range(d):
            total += v[j, i] * (2.0 * x[i] - 1.0)
        h[j] = 1.0 / (1.0 + math.exp(-total))
    for k in range(len(y)):
        for i in range(d):
            total = w[k, i, J]
            for j in range(J):
                total += w[k, i, j] * h[j]
            y[k, i] = 1.0 / (1.0 + math.exp(-total))


@compiled(error_model="numpy")
def _compare(x, y, focus, choice, p):
    """Let p be the probabilities of the categories, by how well each has drawn the stimulus."""
    K, d = y.shape
    p[:] = 0.0
    for i in range(d):
        low, high = y[0, i], y[0, i]
        for k in range(1, K):
            low, high = min(low, y[k, i]), max(high, y[k, i])
        weight = math.exp(focus * (high - low))
        for k in range(K):
            p[k] += weight * (x[i] - y[k, i]) ** 2
    best = p[0]
    for k in range(1, K):
        best = min(best, p[k])
    best = max(best, TINY)
    total = 0.0
    for k in range(K):
        p[k] = (best / max(p[k], TINY)) ** choice
        total += p[k]
    for k in range(K):
        p[k] /= total


@compiled(error_model="numpy")
def _first_weights(v, w, spread, chance):
    for j in range(v.shape[0]):
        for i in range(v.shape[1]):
            chance = mix(chance, 1)
            v[j, i] = spread * (2.0 * coin(chance) - 1.0)
    for k in range(w.shape[0]):
        for i in range(w.shape[1]):
            for j in range(w.shape[2]):
                chance = mix(chance, 2)
                w[k, i, j] = spread * (2.0 * coin(chance) - 1.0)


@compiled(error_model="numpy")
def learn_diva(stimuli, codes, order, control, rule, options, v, w, trace):
    """Let DIVA learn trial by trial; return the first trial that is not finite, or −1.

    Parameters
    ----------
    stimuli : float64 array of shape (n, dimensions)
    codes, order, control : int64 arrays
    rule : (η, range, β, φ)
    options : (seed, whether the error is that of squares)
    v : float64 array of shape (hidden, dimensions + 1)
    w : float64 array of shape (categories, dimensions, hidden + 1)
    trace : float64 array of shape (trials, categories)
        The last three are changed.
    """
    rate, spread, focus, choice = rule
    seed, squares = options
    K, d, J = w.shape[0], w.shape[1], v.shape[0]
    h, y, back = np.empty(J), np.empty((K, d)), np.empty(J)
    chance = begin(seed, order)
    _first_weights(v, w, spread, chance)
    for t in range(len(order)):
        if control[t] == RESET:
            _first_weights(v, w, spread, chance)
        x, k = stimuli[order[t]], codes[order[t]]
        _draw(x, v, w, h, y)
        _compare(x, y, focus, choice, trace[t])
        if not math.isfinite(trace[t, 0]):
            return t
        if control[t] == TRANSFER:
            continue
        back[:] = 0.0
        for i in range(d):
            slope = x[i] - y[k, i]
            if squares:
                slope *= y[k, i] * (1.0 - y[k, i])
            for j in range(J):
                back[j] += slope * w[k, i, j]
                w[k, i, j] += rate * slope * h[j]
            w[k, i, J] += rate * slope
        for j in range(J):
            slope = back[j] * h[j] * (1.0 - h[j])
            for i in range(d):
                v[j, i] += rate * slope * (2.0 * x[i] - 1.0)
            v[j, d] += rate * slope
    return -1


@compiled(error_model="numpy")
def simulate_diva(stimuli, codes, orders, classes, hidden, rule, options, errors):
    """Let each row of `orders` be learned by a new subject; errors[s, t] is 1 − P(correct)."""
    T, d = orders.shape[1], stimuli.shape[1]
    v, w = np.empty((hidden, d + 1)), np.empty((classes, d, hidden + 1))
    trace, control = np.empty((T, classes)), np.zeros(T, dtype=np.int64)
    for s in range(len(orders)):
        stop = learn_diva(stimuli, codes, orders[s], control, rule, options, v, w, trace)
        for t in range(T):
            errors[s, t] = 1.0 - trace[t, codes[orders[s, t]]] if stop < 0 else np.nan
