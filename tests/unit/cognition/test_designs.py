"""Designs: what is shown, how often, and in which order."""

import numpy as np
import pytest

from mercer.cognition import (
    GCM,
    LinearBound,
    RescorlaWagner,
    circles,
    condensation_human,
    dot_patterns,
    dot_patterns_asked,
    filtration_condensation,
    information_integration,
    probabilistic_diagnosis,
    simulate_people,
)
from mercer.cognition.experiments.classics import DISTORTIONS
from mercer.cognition.experiments.designs import Design, five_four, medin_schaffer, shj, shj_human
from mercer.datasets import shj_types
from mercer.errors import DomainError

NAMES = ("I", "II", "III", "IV", "V", "VI")


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES, 1)))
def test_a_type_is_known_by_number_and_by_name(number, name):
    X, y = shj_types()[name]
    for design in (shj(number), shj(name), shj(name.lower()), shj(np.int64(number))):
        np.testing.assert_array_equal(design.stimuli, X)
        np.testing.assert_array_equal(design.categories, y)
        assert design.blocks == 16


def test_the_first_block_is_two_permutations_and_later_ones_are_of_sixteen():
    design = shj("III")
    assert design.lengths.tolist() == [16] * 16
    halves_differ = False
    for seed in range(20):
        blocks = design.trials(rng(seed)).reshape(16, 16)
        for half in (blocks[0, :8], blocks[0, 8:]):
            assert sorted(half) == list(range(8))
        for block in blocks[1:]:
            assert sorted(block) == sorted([*range(8)] * 2)
            halves_differ |= sorted(block[:8]) != list(range(8))
    assert halves_differ


def test_every_subject_has_an_order_of_its_own_that_the_seed_decides():
    design = shj("I")
    orders = design.orders(5, seed=3)
    assert orders.shape == (5, 256)
    assert len({tuple(row) for row in orders}) == 5
    np.testing.assert_array_equal(design.orders(5, seed=3), orders)
    np.testing.assert_array_equal(design.orders(2, seed=3), orders[:2])
    assert (design.orders(5, seed=4) != orders).any()


def test_the_human_table():
    table = shj_human()
    assert table.shape == (6, 16)
    means = [0.0149, 0.0507, 0.0924, 0.1016, 0.1107, 0.1947]
    np.testing.assert_allclose(table.mean(axis=1), means, atol=0.00005)
    np.testing.assert_array_equal(table[:, 0], [0.211, 0.378, 0.459, 0.422, 0.472, 0.498])


def test_the_five_four_structure():
    design = five_four(blocks=3)
    assert design.stimuli.shape == (9, 4)
    assert "".join(design.categories) == "AAAAABBBB"
    assert all(sorted(block) == list(range(9)) for block in design.trials(rng()).reshape(3, 9))
    # The signature: 1110 is nearer to the mean of A, 1010 has nearer neighbors in it.
    A = design.stimuli[:5]
    to_mean = np.abs(A[:2] - A.mean(axis=0)).sum(axis=1)
    assert to_mean[0] < to_mean[1]
    neighbors = (np.abs(A[:2, None] - A[None]).sum(axis=-1) == 1).sum(axis=1)
    assert neighbors[0] < neighbors[1]


def test_the_answers_to_the_five_four_structure():
    shown, counts = medin_schaffer(), medin_schaffer(counts=True)
    np.testing.assert_array_equal(shown.exemplars, five_four().stimuli)
    np.testing.assert_array_equal(shown.stimuli[:9], shown.exemplars)
    assert shown.names[9:] == ("1001", "1000", "1111", "0010", "0101", "0011", "0100")
    assert shown.responses.shape == (16, 2)
    np.testing.assert_allclose(shown.responses.sum(axis=1), 1)
    assert (counts.responses.sum(axis=1) == 32).all()
    np.testing.assert_allclose(counts.proportions, shown.proportions, atol=0.0051)
    assert len(np.unique(shown.stimuli, axis=0)) == 16
    assert "Medin & Schaffer (1978)" in shown.source


def test_a_stimulus_may_be_shown_with_two_categories():
    design = Design([[0.0], [0.0], [1.0]], ["a", "b", "b"])
    assert sorted(design.trials(rng())) == [0, 1, 2]


@pytest.mark.parametrize(
    ("kind", "message"),
    [("VII", "did you mean 'VI'"), (7, "they are 1 to 6"), (0, "1 to 6"), (True, "1 to 6")],
)
def test_an_unknown_type(kind, message):
    with pytest.raises(DomainError, match=message):
        shj(kind)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shj("I", blocks=0), "blocks must be a whole number from 1 on, found 0"),
        (lambda: shj("I").orders(0, seed=0), "subjects must be a whole number from 1 on"),
        (lambda: shj("I").orders(2.5, seed=0), "subjects must be a whole number"),
        (lambda: Design([[0.0], [1.0]], list("ab"), schedule=()), "there are no trials"),
        (lambda: Design([[0.0], [1.0]], list("ab"), schedule=((1,), ())), "block 1 .* no trials"),
        (lambda: Design([[0.0], [1.0]], list("ab"), schedule=((1, 0),)), "shuffle of block 0"),
        (lambda: Design([[0.0], [1.0]], list("ab"), schedule=3), "sequence of blocks"),
        (lambda: Design([[0.0], [np.nan]], list("ab")), "stimuli contains NaN at row 1"),
        (lambda: Design([[0.0], [1.0]], ["a", None]), "category of row 1 is missing"),
        (lambda: Design([[0.0], [1.0]], ["a"]), "2 stimuli, but 1 categories"),
    ],
)
def test_what_is_no_design_is_refused(call, message):
    with pytest.raises(DomainError, match=message):
        call()


# ---- Other classic experiments -----------------------------------------------------------------


def test_the_distortions_of_dot_patterns_are_probabilities_and_grow_with_their_level():
    for chances in DISTORTIONS.values():
        assert sum(chances) == pytest.approx(1.0)
    spread = []
    for level in DISTORTIONS:
        X = dot_patterns(level, sizes=(200, 2)).stimuli[:200]
        spread.append(X.std(axis=0).mean())
    assert spread == sorted(spread)


def test_patients_have_the_published_probabilities():
    X, y = probabilistic_diagnosis(40_000)
    assert (y == "rare").mean() == pytest.approx(0.25, abs=0.02)
    # P(rare | first symptom) is ½, which people do not believe.
    assert (y[X[:, 0] == 1] == "rare").mean() == pytest.approx(0.5, abs=0.02)


def test_who_learns_by_rescorla_and_wagner_neglects_base_rates():
    """Gluck & Bower (1988): given the first symptom, the rare disease is thought more probable."""
    X, y = probabilistic_diagnosis(4000)
    model = RescorlaWagner(0.01, choice=2.0).fit(X, y)
    rare = model.predict_proba([[1.0, 0.0, 0.0, 0.0]])[0, model.classes_.tolist().index("rare")]
    assert rare > 0.52


def test_a_rule_is_enough_for_one_kind_only():
    for kind, gain in (("rule", 0.02), ("integration", 0.05)):
        design = information_integration(kind, 400)
        one = LinearBound(dimension=0).fit(design.stimuli, design.categories)
        both = LinearBound().fit(design.stimuli, design.categories)
        accuracy = [(m.predict(design.stimuli) == design.categories).mean() for m in (one, both)]
        assert (accuracy[1] - accuracy[0] > gain) == (kind == "integration")


def test_prototypes_that_nobody_has_seen_are_nearest_to_all_that_was_learned():
    asked, design = (
        dot_patterns_asked(5, (6, 6), (5, 7.7), each=3, seed=4),
        dot_patterns(5, (6, 6), seed=4),
    )
    np.testing.assert_array_equal(asked.exemplars, design.stimuli)
    np.testing.assert_array_equal(asked.stimuli[:12], design.stimuli)
    names = np.array(asked.names)
    assert (names == "A prototype").sum() == 1 and (names == "B new 7.7").sum() == 3
    members = asked.exemplars[asked.categories == "A"]

    def gap(name):
        rows = asked.stimuli[names == name]
        return np.abs(rows[:, None] - members).mean()

    assert gap("A prototype") < gap("A new 5") < gap("A new 7.7")
    made = simulate_people(GCM(0.02, free=("sensitivity",)), asked, subjects=2, trials=3)
    assert made.experiment.responses.shape == (2, len(names), 2)


def test_condensation_needs_both_dimensions_and_filtration_one():
    for kind in ("filtration", "condensation"):
        design = filtration_condensation(kind)
        X, y = design.stimuli, design.categories == "A"
        told = [abs((X[:, i] <= c)[y].mean() - (X[:, i] <= c)[~y].mean())
                for i in (0, 1) for c in (1, 2, 3)]  # fmt: skip
        assert (max(told) == 1) == (kind == "filtration")
        assert y.sum() == 4
    assert (condensation_human().responses.sum(axis=1) == 320).all()


def test_circles_were_learned_by_size_or_by_angle():
    for kind, axis in (("angle", 0), ("size", 1)):
        seen = circles(kind)
        one, two = (seen.exemplars[seen.categories == k, axis] for k in (1, 2))
        assert one.max() < two.min()


def test_levels_and_kinds_that_are_not_there():
    with pytest.raises(DomainError, match="no level 2"):
        dot_patterns(2)
    with pytest.raises(DomainError, match="kind cannot be 'rules'"):
        information_integration("rules")
    with pytest.raises(DomainError, match="kind cannot be 'color'"):
        circles("color")
    with pytest.raises(DomainError, match="did you mean 'filtration'"):
        filtration_condensation("filtratoin")
    with pytest.raises(DomainError, match="no level 2"):
        dot_patterns_asked(new=(2,))
    with pytest.raises(DomainError, match="sizes must be 2 to 10 whole numbers"):
        dot_patterns(sizes=(3,))
