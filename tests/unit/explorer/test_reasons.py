"""The map, the reasons and the changes are what the machine itself says, computed plainly."""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelPCA, KernelRidge
from mercer.explanations import shapley
from mercer.explorer.reasons import column_shares, reasons, scores_toward, swapped_shares
from mercer.explorer.session import Session
from mercer.explorer.similarity_map import SimilarityMap, principal_axes
from mercer.explorer.subject import Subject, evenly
from mercer.explorer.what_if import effect, nearest_other, smallest_changes
from mercer.studies import SavedModel
from tests.unit.explorer.subjects import TABLES, subject_of


def shown(subject):
    return SimilarityMap.of(subject.machine.kernel_, subject.points)


@pytest.mark.parametrize("name", TABLES)
def test_the_map_is_that_of_kernel_components(name):
    subject = subject_of(name)
    found = shown(subject)
    machine = KernelPCA(subject.machine.kernel_, 2)
    theirs = machine.fit_transform(subject.points)
    np.testing.assert_allclose(np.abs(found.places), np.abs(theirs), atol=1e-8)
    np.testing.assert_allclose(found.locate(subject.points), found.places, atol=1e-8)


def test_large_maps_have_the_same_axes():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(700, 6))
    K = A @ A.T
    values, axes = principal_axes(K, 2)
    dense = np.linalg.eigvalsh(K)[::-1][:2]
    np.testing.assert_allclose(values, dense, rtol=1e-8)
    np.testing.assert_allclose(K @ axes, axes * values, atol=1e-4)


def test_one_row_has_a_map():
    values, axes = principal_axes(np.zeros((1, 1)), 2)
    assert values.shape == (2,)
    assert axes.shape == (1, 2)


@pytest.mark.parametrize("name", TABLES)
def test_pulls_and_columns_add_up_to_the_score(name):
    subject = subject_of(name)
    row = subject.rows.changed(3, {})
    why = reasons(subject, shown(subject), row)
    label = subject.ask(row).prediction[0] if subject.classes else None
    assert why["score"] == pytest.approx(scores_toward(subject, row, label)[0], abs=1e-9)
    assert len(why["known"]) > 0
    one = why["known"][0]
    place = shown(subject).places[one["place"]]
    np.testing.assert_allclose([one["x"], one["y"]], place, atol=1e-8)
    if why["columns_how"] == "shapley":
        total = sum(column["share"] for column in why["columns"]) + why["columns_base"]
        assert total == pytest.approx(why["score"], abs=1e-8)
        theirs = shapley(subject.known.machine, subject.rows.items(row)).table(0)
        assert [c["name"] for c in why["columns"]] == theirs["column"].tolist()


def test_letters_and_words_are_told():
    strings = subject_of("sequences")
    why = reasons(strings, shown(strings), strings.rows.changed(0, {}))
    assert "".join(unit["name"] for unit in why["units"]) == strings.rows.frame["dna"].iloc[0]
    words = subject_of("texts")
    found = reasons(words, shown(words), words.rows.changed(0, {}))
    assert found["features"][0]["name"] in words.rows.frame["text"].iloc[0]


def test_swapped_shares_are_the_mean_differences():
    subject = subject_of("flowers")
    row = subject.rows.changed(60, {})
    label = subject.ask(row).prediction[0]
    others = subject.rows.frame.iloc[evenly(len(subject), 16)]
    for k, name in enumerate(subject.rows.kinds):
        lost = []
        for entry in others[name]:
            changed = row.assign(**{name: entry})
            lost.append(
                scores_toward(subject, row, label) - scores_toward(subject, changed, label)
            )
        assert swapped_shares(subject, row)[k] == pytest.approx(np.mean(lost), abs=1e-9)


def test_shapley_values_that_take_long_give_way(monkeypatch):
    subject = subject_of("flowers")
    monkeypatch.setattr("mercer.explorer.reasons.SHAPLEY_WORK", 0)
    found, how, base = column_shares(subject, subject.rows.changed(0, {}))
    assert how == "swaps"
    assert base is None
    assert sorted(c["name"] for c in found) == sorted(subject.rows.kinds)


def test_machines_that_are_no_sums_tell_the_rows_most_alike():
    from mercer import KernelNeighbors

    X = np.random.default_rng(0).normal(size=(30, 2))
    machine = KernelNeighbors("gaussian").fit(X, (X[:, 0] > 0).astype(int))
    from mercer.explorer.entries import EntryTable

    places = np.arange(30)
    subject = Subject(SavedModel(machine), EntryTable.of(X), None, places, places)
    why = Session(subject).answer("why", {"row": 4})
    assert "does not decide by a sum" in why["note"]
    assert why["known"][0]["place"] == 4
    assert why["known"][0]["pull"] is None


@pytest.mark.parametrize("name", ["numbers", "mixed", "flowers"])
def test_effects_are_predictions_of_changed_rows(name):
    subject = subject_of(name)
    for column, kind in subject.rows.kinds.items():
        row = subject.rows.changed(5, {})
        found = effect(subject, row, column)
        k = len(found["values"]) // 2
        entry = found["values"][k]
        single = subject.ask(row.assign(**{column: entry}))
        lines = {line["code"]: line["values"][k] for line in found["lines"]}
        theirs = single.chances[0] if subject.classes else single.prediction
        for code, value in lines.items():
            assert value == pytest.approx(theirs[code], abs=1e-9)
        if subject.classes is None:
            assert found["band"][k] == pytest.approx(single.intervals[0].tolist())
        assert kind in ("numeric", "date", "categorical")


def test_effects_reach_entries_beyond_those_that_were_seen():
    subject = subject_of("numbers")
    found = effect(subject, subject.rows.changed(0, {"a": 50.0}), "a")
    assert found["values"][-1] == 50.0


def test_changes_lead_to_another_answer_and_smaller_ones_do_not():
    subject = subject_of("flowers")
    row = subject.rows.changed(60, {})
    own = subject.ask(row).prediction[0]
    found = smallest_changes(subject, shown(subject), row)
    assert found["changes"]
    for one in found["changes"]:
        changed = row.assign(**{one["column"]: one["to"]})
        assert subject.ask(changed).prediction[0] == one["answer"] != own
        # By brute force: nothing that is clearly smaller, in that column, turns it.
        low, high, spread = subject.rows.spans[one["column"]]
        entries = np.linspace(low, high, 2001)
        many = pd.concat([row] * len(entries), ignore_index=True).assign(
            **{one["column"]: entries}
        )
        turned = subject.ask(many).prediction != own
        least = np.abs(entries[turned] - one["from"]).min() / spread
        assert one["size"] <= least + (high - low) / spread / 500
    sizes = [one["size"] for one in found["changes"]]
    assert sizes == sorted(sizes)


def test_changes_of_numbers_move_the_prediction_by_a_standard_deviation():
    subject = subject_of("numbers")
    row = subject.rows.changed(2, {})
    spread = np.std(subject.answers.prediction)
    own = subject.ask(row).prediction[0]
    found = smallest_changes(subject, shown(subject), row)["changes"]
    assert found
    assert all(abs(one["answer"] - own) >= spread for one in found)


@pytest.mark.parametrize("name", ["sequences", "texts", "mixed"])
def test_letters_words_and_levels_are_changed_one_at_a_time(name):
    subject = subject_of(name)
    turned = 0
    for place in range(12):
        row = subject.rows.changed(place, {})
        found = smallest_changes(subject, shown(subject), row)
        assert found["asked"] > 5
        for one in found["changes"]:
            turned += 1
            changed = subject.rows.changed(place, {one["column"]: one["to"]})
            assert str(subject.ask(changed).prediction[0]) == one["answer"]
            if name == "sequences":
                apart = sum(a != b for a, b in zip(one["from"], one["to"], strict=True))
                assert apart == 1
    assert turned > 0


def test_the_nearest_row_with_another_answer_is_the_most_alike():
    subject = subject_of("mixed")
    row = subject.rows.changed(1, {})
    found = nearest_other(subject, shown(subject), row, subject.ask(row))
    K = np.asarray(subject.machine.kernel_(subject.points))[1]
    others = subject.answers.prediction != subject.answers.prediction[1]
    assert found["similarity"] == pytest.approx(K[others].max())


def test_without_another_answer_there_is_none():
    X = np.random.default_rng(0).normal(size=(20, 1))
    machine = KernelRidge("linear", 1e9).fit(X, 1.0 + X[:, 0])
    from mercer.explorer.entries import EntryTable

    places = np.arange(20)
    subject = Subject(SavedModel(machine), EntryTable.of(X), None, places, places)
    found = Session(subject).answer("changes", {"row": 0})
    assert found["asked"] > 0
