"""COVIS: a verbal system that tests rules, and a procedural one that learns by reward.

Ashby, Alfonso-Reese, Turken & Waldron (1998), Psychological Review 105, 442–481, in the version of
Ashby, Paul & Maddox (2011), whose letters are used here. Both systems decide in every trial; the
more confident one, weighed by how much it is trusted, answers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer.cognition.learners.covis_filter import filter_covis
from mercer.cognition.learners.covis_loops import answer_covis, learn_covis, simulate_covis
from mercer.cognition.learners.learner import Learner, Trials, distinct_rows
from mercer.errors import DomainError, ValidityError
from mercer.values import finite, positive, whole

__all__ = ["COVIS"]

SYSTEMS = ("both", "explicit", "procedural")


class COVIS(Learner):
    """Compete between rules and habits (Ashby et al., 1998; Ashby, Paul & Maddox, 2011).

    *Explicit.* There is a rule for each dimension, "is xᵢ above C?", and one is in use. Right, its
    salience grows by Δ_C and it stays; wrong, the salience falls by Δ_E and a rule is drawn with
    probability Yᵢ^a/ΣY^a, where Y is the salience, plus γ for the rule in use and plus a Poisson
    number with mean λ for one rule at random. Its discriminant is h_E = xᵢ − C, with noise σ_E.

    *Procedural.* Units at the stimuli are active by I_k = exp(−‖x − x_k‖²/α). For each answer
    S_J = Σ_k w_kJ I_k + noise σ_P; the larger wins, h_P = S_A − S_B. With R = ±1 for right and
    wrong, P its running mean (P ← P + 0.025(R − P)), the dopamine D is 1 for R − P > 1, 0 for R −
    P < −0.25, else 0.8(R − P) + 0.2; and the weights of the winner change by

        Δw = α_w I [S − θ_N]⁺ [D − D_b]⁺ (1 − w) − β_w I [S − θ_N]⁺ [D_b − D]⁺ w
             − γ_w I [[θ_N − S]⁺ − θ_A]⁺ w.

    *Both.* The explicit system answers if θ_E|h_E|/max|h_E| > (1 − θ_E)|h_P|/max|h_P|. Its trust
    grows by Δ_OC(1 − θ_E) when its own answer was right, and falls by Δ_OE θ_E when that was
    wrong.

    As a kernel: the procedural system is a perceptron of the Gaussian kernel whose learning rate
    depends on reward; the explicit one has no kernel.

    Parameters
    ----------
    criterion : float
        C, of all dimensions.
    rule_noise : float
        σ_E ≥ 0.
    right, wrong : float
        Δ_C and Δ_E ≥ 0.
    perseveration, curiosity, sharpness : float
        γ ≥ 0, λ ≥ 0 and a ≥ 0.
    width : float
        α > 0.
    noise : float
        σ_P ≥ 0.
    up, down, decay : float
        α_w, β_w and γ_w ≥ 0.
    baseline, nmda, ampa : float
        D_b, θ_N and θ_A.
    trust : float
        θ_E before the first trial.
    trust_up, trust_down : float
        Δ_OC and Δ_OE, from 0 to 1.
    system : {"both", "explicit", "procedural"}
        Which is there; alone, a system answers always.
    random_state : int
        Noise, rules and first weights also depend on the sequence of trials.
    lapse : float
        Share of the answers that are given by chance, whatever the systems say. Not in the
        papers, but people press wrong keys; without it one answer that no rule gives rules out
        all there is.
    particles : int
        How many learners stand for what a person may have in mind, where answers are fitted.

    Attributes
    ----------
    trace_ : ndarray of shape (trials, categories)
        What this one simulated person answered, as 0 and 1: chances are averages over people
        (`simulate`).
    salience_ : ndarray of shape (dimensions,)
    rule_ : int
        The dimension of the rule in use at the end.
    weights_ : ndarray of shape (units, 2)
    trust_ : float
        θ_E at the end.
    spoke_ : ndarray of shape (trials,)
        1 where the explicit system answered, 0 where the procedural one did.
    classes_ : ndarray

    Notes
    -----
    Which rule a person has in mind is not seen, nor what the noise was, so that the likelihood of
    answers is an integral over both. `fit_people` and `posterior` take it by a particle filter:
    many learners see the trials; in each trial the probability of the person's answer is known in
    closed form for each of them, given its rule and weights (that part of the integral is exact,
    Rao & Blackwell), its noise is drawn so that it answers as the person did, and learners whose
    answers are improbable give way to others. The mean over random numbers of this likelihood is
    the true one. Its logarithm is known to 0.3 to 1 for 100 trials of type III and 1000
    particles, but only to 15 to 25 for 256 trials of type II and 500: where habits answer, each
    particle has learned its own, and few have those of the person. The notes of a fit say how
    much it is. The random numbers stay the same for all parameters, so that fits repeat.

    Choices where the chapter leaves some: max|h_P| is the largest |h_P| so far; one rule for each
    dimension points in the direction that is right more often in the whole task, because rules
    below chance are left out there; each system learns from whether its own answer was right. The
    weights begin at 0.001 plus a uniform number up to 0.0025. The default parameters are ours, of
    the size of those in the literature: no published figure is reproduced with them.

    Examples
    --------
    >>> from mercer.cognition import shj
    >>> easy, hard = (COVIS().simulate(shj(kind), 100).mean() for kind in ("I", "VI"))
    >>> bool(easy < hard)
    True
    """

    fittable: ClassVar[dict[str, tuple[float, float]]] = {
        "perseveration": (0.05, 50.0),
        "curiosity": (0.05, 20.0),
        "up": (0.01, 10.0),
        "lapse": (0.001, 0.5),
    }
    rough = True
    saved: ClassVar[tuple[str, ...]] = ("_columns", "_signs", "_largest")

    def __init__(
        self,
        criterion: float = 0.5,
        rule_noise: float = 0.0,
        right: float = 0.0025,
        wrong: float = 0.02,
        perseveration: float = 1.0,
        curiosity: float = 5.0,
        sharpness: float = 1.0,
        width: float = 0.14,
        noise: float = 0.0125,
        up: float = 0.65,
        down: float = 0.19,
        decay: float = 0.02,
        baseline: float = 0.2,
        nmda: float = 0.0022,
        ampa: float = 0.01,
        trust: float = 0.99,
        trust_up: float = 0.01,
        trust_down: float = 0.04,
        system: str = "both",
        random_state: int = 0,
        lapse: float = 0.0,
        particles: int = 500,
    ) -> None:
        self.criterion = criterion
        self.rule_noise = rule_noise
        self.right = right
        self.wrong = wrong
        self.perseveration = perseveration
        self.curiosity = curiosity
        self.sharpness = sharpness
        self.width = width
        self.noise = noise
        self.up = up
        self.down = down
        self.decay = decay
        self.baseline = baseline
        self.nmda = nmda
        self.ampa = ampa
        self.trust = trust
        self.trust_up = trust_up
        self.trust_down = trust_down
        self.system = system
        self.random_state = random_state
        self.lapse = lapse
        self.particles = particles

    def _learn(self, trials: Trials) -> Self:
        _two(len(trials.classes), trials.classes)
        units = distinct_rows(trials.stimuli)
        T, d = len(trials.order), trials.stimuli.shape[1]
        signs = _signs(trials.stimuli, trials.codes)
        salience, w = np.empty(d), np.empty((len(units), 2))
        answers, spoke = np.empty(T, dtype=np.int64), np.empty(T, dtype=np.int64)
        state = np.empty(4)
        learn_covis(
            trials.stimuli, trials.codes, trials.order, trials.control, units, signs,
            self._rule(), self._options(), salience, w, state, answers, spoke,
        )  # fmt: skip
        trace = (answers[:, None] == np.arange(2)).astype(np.float64)
        self._finish(trials, trace, -1, salience, w)
        self.units_, self.salience_, self.weights_, self.spoke_ = units, salience, w, spoke
        self.trust_, self.rule_, self._signs = float(state[0]), int(state[1]), signs
        self._largest = float(state[2])
        return self

    def _chances(self, trials: Trials, answers: np.ndarray) -> np.ndarray:
        _two(len(trials.classes), trials.classes)
        chances = np.empty(len(trials.order))
        filter_covis(
            trials.stimuli, trials.codes, trials.order, trials.control,
            distinct_rows(trials.stimuli), _signs(trials.stimuli, trials.codes), answers,
            self._rule(), self._options(), int(self.particles), chances,
        )  # fmt: skip
        return chances

    def _outputs(self, stimuli: np.ndarray) -> np.ndarray:
        """Return the answer of either system, without noise, to each stimulus."""
        answers = np.empty(len(stimuli), dtype=np.int64)
        state = np.array([self.trust_, float(self.rule_), self._largest, 0.0])
        answer_covis(
            stimuli, self.units_, self._signs, self._rule(), self._options(), self.weights_, state,
            answers,
        )  # fmt: skip
        return (answers[:, None] == np.arange(2)).astype(np.float64)

    def _choose(self, outputs: np.ndarray) -> np.ndarray:
        return outputs

    def _prepare(self, stimuli: np.ndarray) -> Any:
        return stimuli, distinct_rows(stimuli)

    def _simulate(
        self, task: Any, codes: np.ndarray, classes: int, orders: np.ndarray, errors: np.ndarray
    ) -> None:
        _two(classes, None)
        stimuli, units = task
        signs = _signs(stimuli, codes)
        simulate_covis(stimuli, codes, orders, units, signs, self._rule(), self._options(), errors)

    def _rule(self) -> tuple[float, ...]:
        names = (
            "criterion", "rule_noise", "right", "wrong", "perseveration", "curiosity", "sharpness",
            "width", "noise", "up", "down", "decay", "baseline", "nmda", "ampa", "trust",
            "trust_up", "trust_down", "lapse",
        )  # fmt: skip
        return tuple(float(getattr(self, name)) for name in names)

    def _options(self) -> tuple[int, int]:
        return SYSTEMS.index(self.system), int(self.random_state)

    def _check(self) -> None:
        finite(self, "criterion", self.criterion)
        positive(self, "width", self.width)
        for name in (
            "rule_noise", "right", "wrong", "perseveration", "curiosity", "sharpness", "noise",
            "up", "down", "decay", "baseline", "nmda", "ampa", "trust", "trust_up", "trust_down",
            "lapse",
        ):  # fmt: skip
            positive(self, name, getattr(self, name), zero=True)
        for name in ("trust", "trust_up", "trust_down", "lapse"):
            if getattr(self, name) > 1:
                raise ValidityError(
                    f"{name} of COVIS must be from 0 to 1, found {getattr(self, name)!r}"
                )
        whole(self, "random_state", self.random_state, least=0)
        whole(self, "particles", self.particles)
        if self.system not in SYSTEMS:
            raise ValidityError(f"system cannot be {self.system!r}; they are {', '.join(SYSTEMS)}")


def _two(count: int, classes: Any) -> None:
    if count != 2:
        found = "" if classes is None else f": {classes.tolist()}"
        raise DomainError(f"COVIS has two answers, found {count} categories{found}")


def _signs(stimuli: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return 1 for each dimension whose large values are more often of the second category."""
    centered = stimuli - stimuli.mean(axis=0)
    return np.where((codes - codes.mean()) @ centered >= 0, 1.0, -1.0)
