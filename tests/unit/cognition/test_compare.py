"""Comparison of models: the table says what the models say."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier

from mercer.cognition.choices.compare import compare
from mercer.cognition.choices.gcm import GCM, PrototypeModel
from mercer.cognition.experiments.designs import medin_schaffer
from mercer.cognition.experiments.experiment import Experiment
from mercer.errors import DomainError

SEEN = medin_schaffer(counts=True)


class Constant(BaseEstimator):
    """Answers with the shares of all answers that it was fitted to, whatever is shown."""

    def fit(self, exemplars, categories, stimuli=None, responses=None, strengths=None):
        self.classes_ = np.unique(categories)
        total = np.asarray(responses).sum(axis=0)
        self.shares_ = total / total.sum()
        self.log_likelihood_ = float(total @ np.log(self.shares_))
        self.aic_ = 2 * (len(total) - 1) - 2 * self.log_likelihood_
        return self

    def predict_proba(self, stimuli):
        return np.tile(self.shares_, (len(stimuli), 1))


def subjects(count=6, trials=8, seed=0):
    """Return answers of several subjects, who follow the same model."""
    model = GCM(sensitivity=5.0).fit(SEEN.exemplars, SEEN.categories)
    P, rng = model.predict_proba(SEEN.stimuli), np.random.default_rng(seed)
    counts = np.array([rng.multinomial(trials, P) for _ in range(count)])
    return Experiment(SEEN.exemplars, SEEN.categories, SEEN.stimuli, counts)


def test_the_table_has_what_the_models_say_best_first():
    models = {"guess": Constant(), "prototypes": PrototypeModel(), "exemplars": GCM()}
    found = compare(models, SEEN)
    assert list(found.table.index) == ["exemplars", "prototypes", "guess"]
    assert found.best == "exemplars" and found.by == "aic"
    assert list(found.table.parameters) == [4, 4, 1]
    for name in ("exemplars", "prototypes"):
        model, row = found.models[name], found.table.loc[name]
        for column in ("log_likelihood", "aic", "bic", "sse"):
            assert row[column] == pytest.approx(getattr(model, f"{column}_"), rel=1e-9)
    assert found.table.loc["guess", "aic"] == pytest.approx(found.models["guess"].aic_)
    np.testing.assert_allclose(found.observed, SEEN.proportions)
    expected = found.models["exemplars"].predict_proba(SEEN.stimuli)
    np.testing.assert_array_equal(found.predicted["exemplars"], expected)


def test_the_text_has_a_row_for_each_model_and_names_the_best():
    text = str(compare([GCM(), PrototypeModel()], SEEN))
    assert "best by aic: GCM" in text and text.count("\n") == 3
    assert "log likelihood" in text and "held out" not in text


def test_models_of_a_list_are_named_by_their_class():
    found = compare([GCM(), GCM(gamma=2.0), Constant()], SEEN)
    assert set(found.models) == {"GCM 1", "GCM 2", "Constant"}


def test_given_models_stay_unfitted():
    model = GCM()
    compare({"m": model}, SEEN)
    assert not hasattr(model, "params_")


def test_held_out_subjects_are_predicted_by_the_others():
    seen = subjects()
    found = compare({"guess": Constant()}, seen, cv="subjects")
    total = 0.0
    for k in range(6):
        rest = np.delete(seen.responses, k, axis=0).sum(axis=(0, 1))
        total += seen.responses[k].sum(axis=0) @ np.log(rest / rest.sum())
    row = found.table.loc["guess"]
    assert row.held_out == pytest.approx(total / seen.responses.sum())
    assert 0 < row.standard_error < 0.1


def test_held_out_stimuli_are_predicted_by_the_others():
    found = compare({"guess": Constant()}, SEEN, cv="stimuli", folds=4)
    total, groups = 0.0, np.arange(16) % 4
    for k in range(4):
        rest = SEEN.responses[groups != k].sum(axis=0)
        total += SEEN.responses[groups == k].sum(axis=0) @ np.log(rest / rest.sum())
    assert found.table.loc["guess", "held_out"] == pytest.approx(total / SEEN.responses.sum())


def test_the_model_of_the_subjects_predicts_new_subjects_and_stimuli_best():
    for cv in ("subjects", "stimuli"):
        models = {"exemplars": GCM(starts=2), "guess": Constant()}
        found = compare(models, subjects(4, 20), cv=cv, folds=4)
        assert found.best == "exemplars" and found.by == "held_out"


def test_proportions_have_errors_but_no_likelihood():
    found = compare([GCM(loss="sse"), PrototypeModel(loss="sse")], medin_schaffer())
    assert found.by == "sse"
    assert found.table.sse.round(4).to_dict() == {"GCM": 0.0595, "PrototypeModel": 0.2049}
    assert found.table.log_likelihood.isna().all()
    assert "aic" not in str(found)


def test_classifiers_that_know_no_answers_can_be_compared_too():
    found = compare({"neighbors": KNeighborsClassifier(3), "exemplars": GCM()}, SEEN)
    assert found.table.loc["neighbors", "parameters"] == 0
    assert found.table.loc["neighbors", "log_likelihood"] == -np.inf  # some were never expected


@pytest.mark.parametrize(
    ("models", "data", "options", "message"),
    [
        ({}, SEEN, {}, "no models"),
        ({"m": GCM}, SEEN, {}, "m is no model"),
        ({"m": 3}, SEEN, {}, "m is no model"),
        ([GCM()], (1, 2), {}, "must be an Experiment"),
        ([GCM()], SEEN, {"cv": "subject"}, "did you mean 'subjects'"),
        ([GCM()], SEEN, {"cv": "subjects"}, r"found \(16, 2\)"),
        ([GCM()], SEEN, {"folds": 3}, "what to hold out"),
        ([GCM()], SEEN, {"cv": "stimuli", "folds": 17}, "2 to 16 folds, found 17"),
        ([GCM()], SEEN, {"by": "aicc"}, "did you mean 'aic'"),
        ([GCM()], medin_schaffer(), {}, "GCM: responses must be counts: row 0"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(models, data, options, message):
    with pytest.raises(DomainError, match=message):
        compare(models, data, **options)


def test_a_subject_without_answers_is_named():
    seen = subjects()
    seen.responses[2] = 0
    with pytest.raises(DomainError, match="subject 2 has no responses"):
        compare([GCM()], seen, cv="subjects")
