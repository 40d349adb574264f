"""EXIT: attention to cues that shifts within a trial, and is remembered by exemplars.

Kruschke (2001), Journal of Experimental Psychology: Learning, Memory, and Cognition 27, 1385–1400;
numbers of equations are those of its appendix. It explains the inverse base-rate effect: a rare
disease is learned by turning attention away from the symptom that it shares with a common one.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.cognition.learners.exit_loops import learn_exit, respond_exit, simulate_exit
from mercer.cognition.learners.learner import (
    Learner,
    Trials,
    admit_new,
    admit_trials,
    distinct_rows,
    softmax,
)
from mercer.domains import Items
from mercer.errors import DomainError
from mercer.values import positive, whole

__all__ = ["EXIT"]


class EXIT(Learner):
    """Learn what to attend to in which company (Kruschke, 2001).

    Cues x are there (1) or not (0), with saliences σ. Exemplars h_j are active and say how much
    gain g a cue gets; attention α is gain divided by its P-norm (its capacity):

        a_j = exp(−c Σᵢ σᵢ|h_jᵢ − xᵢ|),   gᵢ = xᵢσᵢ exp(Σ_j v_jᵢ a_j),   αᵢ = gᵢ/(Σ g^P)^(1/P),
        o_k = Σᵢ αᵢ xᵢ wᵢ_k,   P(k) = e^{φ o_k} / Σ e^{φ o}.

    When the answer is told (t_k = 1 for it, 0 for others), gains go down the gradient of the error
    in several steps, then cues and exemplars learn, the latter to shift so at once:

        Δgᵢ = λ_g Σ_k (t_k − o_k)(wᵢ_k xᵢ − αᵢ^(P−1) o_k)/(Σ g^P)^(1/P),
        Δwᵢ_k = λ_w (t_k − o_k) αᵢ xᵢ,   Δv_jᵢ = λ_x (gᵢ − gᵢ before) a_j h_jᵢ gᵢ before.

    With P = 1 attention sums to one; without shifts (λ_g = 0) it is Rescorla & Wagner's model with
    normalized cues.

    Parameters
    ----------
    specificity : float
        c ≥ 0.
    capacity : float
        P > 0.
    choice : float
        φ ≥ 0.
    shift_rate : float
        λ_g ≥ 0.
    rate : float
        λ_w ≥ 0.
    gain_rate : float
        λ_x ≥ 0.
    context : float
        Salience of a cue that is always there; 0 for none. The others have 1.
    iterations : int
        Steps of attention in a trial, 10 in the paper.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        Probabilities of the categories in each trial, before its update.
    association_ : ndarray of shape (cues, categories)
        w at the end, that of the context last.
    gain_ : ndarray of shape (exemplars, cues)
        v at the end.
    nodes_ : ndarray of shape (exemplars, cues)
    classes_ : ndarray

    Notes
    -----
    Exemplars learn the gains of their own cues only (the factor h_jᵢ, as in catlearn's program).
    The equations can be read without it; the published predictions do not tell the two apart.

    Examples
    --------
    >>> from mercer.cognition import inverse_base_rate
    >>> model = EXIT(2.87, 2.48, 4.42, 4.42, 0.222, 1.13, context=0.401)  # of the paper
    >>> problem = inverse_base_rate()
    >>> trials = problem.trials(np.random.default_rng(0))
    >>> model = model.fit(problem.stimuli[trials], problem.categories[trials])
    >>> both_perfect_cues = [[0, 1, 1, 0, 0, 0]]  # of the common and of the rare disease
    >>> model.predict(both_perfect_cues)
    array(['R1'], dtype='<U2')
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "specificity": (0.05, 10.0),
        "capacity": (0.5, 10.0),
        "choice": (0.1, 20.0),
        "shift_rate": (0.01, 20.0),
        "rate": (0.001, 1.0),
        "gain_rate": (0.001, 10.0),
        "context": (0.01, 1.0),
    }

    def __init__(
        self,
        specificity: float,
        capacity: float,
        choice: float,
        shift_rate: float,
        rate: float,
        gain_rate: float,
        context: float = 0.0,
        iterations: int = 10,
    ) -> None:
        self.specificity = specificity
        self.capacity = capacity
        self.choice = choice
        self.shift_rate = shift_rate
        self.rate = rate
        self.gain_rate = gain_rate
        self.context = context
        self.iterations = iterations

    def fit(
        self,
        X: Items,
        categories: ArrayLike,
        nodes: ArrayLike | None = None,
        *,
        control: ArrayLike | None = None,
    ) -> Self:
        """Learn trial by trial, in the order of the rows.

        Parameters
        ----------
        X : array of shape (trials, cues)
            1 for each cue that is there, 0 for others.
        categories : sequence of shape (trials,)
            The right answer of each trial.
        nodes : array of shape (exemplars, cues), optional
            By default the distinct rows of `X` from which something is learned.
        control : sequence of int, optional
            What each trial does: 0 (learn, the default), 1 (forget everything, then learn) or 2
            (answer without learning).
        """
        self._check()
        trials = admit_trials(X, categories, control)
        if nodes is None:
            return self._learn(trials)
        return self._learn(trials, admit_new(nodes, "nodes", trials.stimuli.shape[1]))

    def _learn(self, trials: Trials, nodes: np.ndarray | None = None) -> Self:
        stimuli = self._cues(trials.stimuli)
        if nodes is None:
            learned = trials.stimuli[np.unique(trials.order[trials.control != 2])]
            H = self._cues(distinct_rows(learned))
        else:
            H = self._cues(nodes)
        w, v = np.zeros((stimuli.shape[1], len(trials.classes))), np.zeros(H.shape)
        trace = np.empty((len(trials.order), len(trials.classes)))
        stop = learn_exit(
            stimuli, trials.codes, trials.order, trials.control, H, self._saliences(stimuli),
            self._rule(), int(self.iterations), w, v, trace,
        )  # fmt: skip
        self._finish(trials, trace, stop, w, v)
        self.nodes_, self.association_, self.gain_ = H, w, v
        return self

    def attention(self, X: Items) -> np.ndarray:
        """Return α of each cue (columns, the context last) for each stimulus, before any shift."""
        return self._respond(admit_new(X, "X", self.n_features_in_, self._columns))[1]

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        return self._respond(stimuli)[0]

    def _respond(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        stimuli = self._cues(rows)
        d, K = self.association_.shape
        outputs, attention = np.empty((len(rows), K)), np.empty((len(rows), d))
        active, g = np.empty(len(self.nodes_)), np.empty(d)
        for row, x in enumerate(stimuli):
            respond_exit(
                x, self.nodes_, self._saliences(stimuli), self._rule(), self.association_,
                self.gain_, active, g, attention[row], outputs[row],
            )  # fmt: skip
        return outputs, attention

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return softmax(self.choice * outputs)

    def _prepare(self, stimuli: np.ndarray) -> Any:
        cues = self._cues(stimuli)
        return cues, distinct_rows(cues)

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        stimuli, nodes = task
        simulate_exit(
            stimuli, codes, orders, nodes, classes, self._saliences(stimuli), self._rule(),
            int(self.iterations), errors,
        )  # fmt: skip

    def _cues(self, rows: np.ndarray) -> np.ndarray:
        """Return cues with the context, refusing what is neither there nor not."""
        wrong = ~np.isin(rows, (0.0, 1.0))
        if wrong.any():
            row, cue = (int(place) for place in np.argwhere(wrong)[0])
            raise DomainError(
                f"cue {cue} of stimulus {row} is {rows[row, cue]}; the cues of EXIT are there (1) "
                "or not (0)"
            )
        if self.context == 0:
            return rows
        return np.ascontiguousarray(np.hstack([rows, np.ones((len(rows), 1))]))

    def _saliences(self, stimuli: np.ndarray) -> np.ndarray:
        salience = np.ones(stimuli.shape[1])
        if self.context > 0:
            salience[-1] = self.context
        return salience

    def _rule(self) -> tuple[float, ...]:
        names = ("specificity", "capacity", "choice", "shift_rate", "rate", "gain_rate")
        return tuple(float(getattr(self, name)) for name in names)

    def _check(self) -> None:
        positive(self, "capacity", self.capacity)
        for name in ("specificity", "choice", "shift_rate", "rate", "gain_rate", "context"):
            positive(self, name, getattr(self, name), zero=True)
        whole(self, "iterations", self.iterations, least=0)
