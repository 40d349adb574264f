"""Published figures of selective attention: Nosofsky (1989), Nosofsky & Palmeri (1997).

The coordinates of the second were read from a figure of the paper by others (F. Aust,
"Reproduction of model-based analysis by Nosofsky & Palmeri (1997)"), who warn of stimuli 3, 12.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

from mercer.cognition import ALCOVE, EBRW, GCM, circles, condensation_human
from mercer.cognition import filtration_condensation as problem

# Table 5: weight of the angle, sensitivity, bias; and figure 5: shares of category 2 by stimulus.
FITTED = {"size": (0.10, 1.60, 0.50), "angle": (0.98, 3.20, 0.43)}
PREDICTED = {
    "size": (.01, .01, .01, .01, .14, .16, .19, .17, .69, .67, .72, .72, .97, .98, .99, .98),
    "angle": (.06, .44, .81, .99, .04, .38, .77, .97, .08, .45, .86, .99, .02, .44, .87, .99),
}  # fmt: skip
EQUAL = (2.40, 0.49)  # sensitivity and bias of the size condition, if attention is equal


def learned(kind):
    seen = circles(kind)
    return seen.exemplars, seen.categories, seen.stimuli, seen.responses


@pytest.mark.parametrize("kind", ["size", "angle"])
def test_attention_to_circles_is_that_of_the_paper(kind):
    model = GCM(order=2, exponent=2, free=("sensitivity", "attention", "bias"))
    model.fit(*learned(kind))
    found = [model.params_[name] for name in ("attention", "sensitivity", "bias")]
    rounded = [round(float(np.ravel(value)[0]), 2) for value in found]
    assert rounded == pytest.approx(FITTED[kind], abs=0.0051)
    P = model.predict_proba(circles(kind).stimuli)
    np.testing.assert_allclose(P[:, 1], PREDICTED[kind], atol=0.0151)


def test_with_equal_attention_sensitivity_is_that_of_the_paper_too():
    model = GCM(order=2, exponent=2, free=("sensitivity", "bias")).fit(*learned("size"))
    assert model.params_["sensitivity"] == pytest.approx(EQUAL[0], abs=0.025)
    assert model.params_["bias"][0] == pytest.approx(EQUAL[1], abs=0.0051)


# Participant 3 of experiment 1: saturation and brightness of twelve colors, their categories,
# published predictions of correct answers (percent) and times (ms), table C1, and the parameters
# of table C2.
COLORS = np.array([
    (-1.891, .778), (-.588, 1.059), (-1.054, .246), (.224, 1.049), (-1.067, -.630), (.249, .495),
    (1.482, 1.188), (-.466, -.693), (1.272, .389), (.217, -2.024), (.748, -1.500), (1.016, -.372),
])  # fmt: skip
TOLD = np.array([1, 2, 2, 2, 1, 2, 2, 1, 2, 1, 1, 1])
CORRECT = [99.84, 99.93, 94.67, 99.99, 99.12, 99.88, 100, 99.26, 99.69, 100, 99.99, 93.78]
TIMES = [766.33, 740.77, 985.17, 706.54, 837.17, 753.02, 692.40, 827.37, 786.71, 684.81, 710.44,
         1003.30]  # fmt: skip


def test_the_random_walk_has_the_published_choices_and_times():
    correct, times = np.zeros(12), np.zeros(12)
    blocks = range(31, 151)  # every block adds an exemplar of each color
    for block in blocks:
        model = EBRW(
            2.196, (0.716, 0.284), 5, 5, step=0.242, residual=491.07, scale=125.07, order=2
        )
        model.fit(COLORS, TOLD, strengths=np.full(12, block - 1.0))
        correct += 100 * model.predict_proba(COLORS)[np.arange(12), TOLD - 1] / len(blocks)
        times += model.mean_times(COLORS) / len(blocks)
    np.testing.assert_allclose(correct, CORRECT, atol=0.3)
    np.testing.assert_allclose(times, TIMES, atol=6.0)
    clear = np.delete(np.arange(12), [2, 11])  # the two points that could not be read well
    np.testing.assert_allclose(times[clear], np.array(TIMES)[clear], atol=2.5)


def test_condensation_is_attended_to_nearly_equally():
    """The Bayes factor for free against equal attention is given as 3.99 and 4.44.

    Both are Monte Carlo estimates, with priors c ~ U(0, 5) and w ~ U(0, 1) (M. Franke's page on
    Bayes factors, of the data of Lee & Wagenmakers, 2014). The integral itself is 3.80.
    """
    seen = condensation_human()
    model = GCM().fit(seen.exemplars, seen.categories)

    def log_likelihood(c, w):
        again = GCM(c, (w, 1 - w)).fit(seen.exemplars, seen.categories)
        return again.log_likelihood(seen.stimuli, seen.responses)

    assert model.classes_.tolist() == ["A", "B"]
    c, w = np.linspace(0.7, 1.4, 36), (np.arange(60) + 0.5) / 60
    free = np.array([[log_likelihood(a, b) for b in w] for a in c])
    equal = np.array([log_likelihood(a, 0.5) for a in c])
    factor = np.exp(logsumexp(free) - np.log(len(w)) - logsumexp(equal))
    assert factor == pytest.approx(3.80, abs=0.05)


def test_filtration_is_easier_than_condensation_where_attention_is_learned():
    """Kruschke (1993): people, and ALCOVE, but no network without dimensional attention."""
    means = {}
    for rate in (0.0, 0.3):
        model = ALCOVE(2.0, 2.0, 0.05, rate)
        means[rate] = [model.simulate(problem(kind), 100).mean()
                       for kind in ("filtration", "condensation")]  # fmt: skip
    assert means[0.3][0] < means[0.3][1] - 0.05
    gain = means[0.3][1] - means[0.3][0] - (means[0.0][1] - means[0.0][0])
    assert gain > 0.03
