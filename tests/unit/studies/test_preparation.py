"""How rows are prepared before a kernel sees them."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError
from mercer.machines import Encode, KernelRidge, Standardize
from mercer.sources import Column
from mercer.studies.preparation import Preparation, PreparedFold, encodable, numeric

COLUMNS = (
    Column("size", "numeric", ""),
    Column("kind", "categorical", ""),
    Column("seen", "date", ""),
)
TABLE = pd.DataFrame(
    {
        "size": [1.0, 2.0, 40.0, 3.0, np.nan, 5.0],
        "kind": ["a", "b", "a", None, "b", "a"],
        "seen": [10.0, 20.0, 30.0, 400.0, 50.0, 800.0],
    }
)
Y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def prepared(encode=True, table=TABLE, columns=COLUMNS):
    how = Preparation(columns, "regress", encode, not encode, 0)
    return PreparedFold(how, table[:5], Y[:5], table[5:])


def test_numbers_categories_and_dates_can_be_encoded_and_texts_cannot():
    assert encodable(TABLE, COLUMNS)
    assert not encodable(TABLE, (*COLUMNS[:2], Column("seen", "text", "")))
    assert not encodable(TABLE.to_numpy(), COLUMNS)


def test_only_several_columns_of_numbers_may_share_a_unit():
    assert numeric(TABLE[["size"]].assign(other=1.0), ())
    assert not numeric(TABLE, COLUMNS) and not numeric(TABLE[["size"]], COLUMNS)


@pytest.mark.parametrize("name", ["standard", "ranks", "both"])
def test_each_preparation_is_made_once_from_training_rows(name):
    rows = prepared()
    first = rows.rows(name)
    assert first is rows.rows(name) and isinstance(rows.fitted(name), Encode)
    assert np.array_equal(rows.new_rows(name), rows.fitted(name).transform(TABLE[5:]))
    assert rows.fitted(name).kinds_ == {"size": "numeric", "kind": "categorical", "seen": "date"}
    assert rows.new_rows(name).shape[1] == first.shape[1]


def test_both_scales_are_there():
    widths = {name: prepared().rows(name).shape[1] for name in ("standard", "ranks", "both")}
    assert widths["both"] > max(widths["standard"], widths["ranks"])


def test_columns_of_one_unit_are_divided_by_one_number():
    table = pd.DataFrame({"dark": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "light": [0.0, 9, 0, 9, 0, 9]})
    rows = prepared(table=table, columns=()).fitted("common")
    assert isinstance(rows, Standardize) and rows.spreads_[0] == rows.spreads_[1]


def test_a_model_takes_rows_as_they_are_in_the_file():
    rows = prepared()
    machine = KernelRidge("gaussian").fit(rows.rows("both"), Y[:5])
    model = rows.model("both", machine)
    assert np.array_equal(
        model.predict(TABLE), machine.predict(rows.fitted("both").transform(TABLE))
    )
    plain = prepared(encode=False)
    assert next(iter(dict(plain.model("", machine).steps))) == "standardize"


def test_columns_without_entries_among_training_rows_are_left_out():
    empty = TABLE.assign(gone=[None] * 5 + ["here"])
    rows = prepared(table=empty)
    assert "gone" not in rows.X.columns and "gone" not in rows.new.columns
    with pytest.raises(DomainError, match="too few entries in 'gone'"):
        prepared(table=empty[["gone"]])
