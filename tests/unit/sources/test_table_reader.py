"""One object from the raw table to the answer, in scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import mercer
from mercer.errors import DomainError
from mercer.sources import TableReader, read, read_frame
from mercer.sources.table_reader import with_reader, without_reader


def people(count=40, seed=0):
    rng = np.random.default_rng(seed)
    born = pd.to_datetime("1960-01-01") + pd.to_timedelta(rng.integers(0, 20_000, count), "D")
    table = pd.DataFrame(
        {
            "height": [f"{x:.2f}".replace(".", ",") for x in rng.normal(1.7, 0.1, count)],
            "born": born.strftime("%d.%m.%Y"),
            "job": rng.choice(["baker", "smith"], count),
        }
    )
    return table, born.year.to_numpy() > 1985


def test_a_pipeline_takes_raw_tables_and_is_cloned_and_scored():
    table, young = people()
    model = make_pipeline(TableReader(), mercer.Encode(), mercer.KernelRidgeClassifier())
    assert cross_val_score(clone(model), table, young, cv=4).mean() > 0.9
    model.fit(table, young)
    assert model.feature_names_in_.tolist() == ["height", "born", "job"]
    assert model[0].recipe_["columns"][0] == {
        "name": "height", "kind": "numeric", "style": {"decimal": ","}
    }  # fmt: skip


def test_files_frames_dicts_and_shuffled_columns_are_read_alike(tmp_path):
    table, young = people()
    model = make_pipeline(TableReader(), mercer.Encode(), mercer.KernelRidgeClassifier())
    model.fit(table, young)
    expected = model.predict(table).tolist()
    table.to_csv(tmp_path / "people.csv", index=False, sep=";")
    assert model.predict(tmp_path / "people.csv").tolist() == expected
    assert model.predict(table.to_dict("records")).tolist() == expected
    assert model.predict(table[["job", "born", "height"]].assign(more=1)).tolist() == expected
    assert model.predict(table.to_numpy()).tolist() == expected


def test_the_file_of_a_model_holds_it_and_says_the_same(tmp_path):
    table, young = people()
    table.assign(young=young).to_csv(tmp_path / "people.csv", index=False, sep=";")
    sheet = read(tmp_path / "people.csv", "young", missing="smith")
    inner = make_pipeline(mercer.Encode(), mercer.KernelRidgeClassifier()).fit(sheet.X, sheet.y)
    model = with_reader(inner, sheet)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.decision_function(table), inner.decision_function(sheet.X))
    assert np.array_equal(again.predict(table), inner.predict(sheet.X))
    assert type(without_reader(again)[0]) is mercer.Encode
    assert clone(again[0]).fit(table).recipe_["missing"] == {"": ["smith"]}


def test_a_machine_without_an_encoding_stays_itself_behind_the_reader():
    sheet = read_frame(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]}), "y")
    machine = mercer.KernelRidge("linear", 0.1).fit(sheet.X, sheet.y)
    assert without_reader(with_reader(machine, sheet)) is machine
    assert without_reader(machine) is machine


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"height": ["1,7"], "born": ["1.1.1990"]}), "no column 'job'"),
        (pd.DataFrame({"height": ["tall"], "born": ["1.1.1990"], "job": ["baker"]}), "not a num"),
        (3.0, "a table with the columns"),
    ],
)
def test_what_cannot_be_read_is_refused_and_no_row_is_dropped(given, message):
    table, young = people()
    model = make_pipeline(TableReader(), mercer.Encode(), mercer.KernelRidgeClassifier())
    model.fit(table, young)
    with pytest.raises(DomainError, match=message):
        model.predict(given)


def test_a_table_that_was_read_before_is_read_again():
    table, _ = people()
    reader = TableReader().fit(table)
    once = reader.transform(table)
    assert once["born"].dtype == float
    pd.testing.assert_frame_equal(reader.transform(once), once)
    with pytest.raises(DomainError, match="not a date"):
        reader.transform(once.assign(born=1.7e9))  # seconds since 1970
