"""EXIT: the predictions of Kruschke (2001) for the inverse base-rate effect.

The published shares are means of 56 simulated learners, whose sequences of trials were not
published. Ours are means of 280, and are held against the spread of means of 56.
"""

import numpy as np
import pytest

from mercer.cognition import EXIT, inverse_base_rate, inverse_base_rate_human

PUBLISHED = EXIT(2.87, 2.48, 4.42, 4.42, 0.222, 1.13, context=0.401)
ASKED = {
    "I": "100000", "PC": "010000", "PR": "001000", "PC+PR": "011000", "I+PC+PR": "111000",
    "I+PCo": "100010", "I+PRo": "100001", "PC+PRo": "010001", "I+PC+PRo": "110001",
}  # fmt: skip
SHARES = {  # of the answers C, R, Co, Ro
    "I": (.740, .152, .060, .048), "PC": (.901, .026, .039, .033), "PR": (.017, .942, .024, .018),
    "PC+PR": (.345, .582, .039, .034), "I+PC+PR": (.574, .388, .019, .019),
    "I+PCo": (.335, .093, .534, .038), "I+PRo": (.253, .063, .027, .657),
    "PC+PRo": (.360, .023, .024, .593), "I+PC+PRo": (.728, .023, .014, .236),
}  # fmt: skip


@pytest.fixture(scope="module")
def predicted():
    """Shares of answers: (learners, combinations, answers)."""
    problem = inverse_base_rate()
    one = np.array([[float(digit) for digit in word] for word in ASKED.values()])
    other = np.hstack([one[:, 3:], one[:, :3]])
    found = []
    for order in problem.orders(280, seed=0):
        PUBLISHED.fit(problem.stimuli[order], problem.categories[order])
        assert PUBLISHED.classes_.tolist() == ["C1", "C2", "R1", "R2"]
        first = PUBLISHED.predict_proba(one)[:, [0, 2, 1, 3]]
        second = PUBLISHED.predict_proba(other)[:, [1, 3, 0, 2]]
        found.append((first + second) / 2)
    return np.array(found)


def test_the_published_predictions(predicted):
    published = np.array(list(SHARES.values()))
    error = predicted.std(axis=0) * np.sqrt(1 / 56 + 1 / 280)
    gap = np.abs(predicted.mean(axis=0) - published)
    assert (gap < 3 * error + 0.0015).all()  # printed to three decimals
    assert gap.max() < 0.02


def test_people_and_model_prefer_the_rare_disease_for_conflicting_symptoms(predicted):
    people = inverse_base_rate_human()
    assert list(people.index) == list(ASKED)
    for table in (people.to_numpy(), predicted.mean(axis=0)):
        shares = dict(zip(ASKED, table, strict=True))
        assert shares["PC+PR"][1] > shares["PC+PR"][0] + 0.2
        assert shares["I"][0] > shares["I"][1] + 0.5
    assert np.sqrt(np.mean((predicted.mean(axis=0) - people.to_numpy()) ** 2)) < 0.03
