"""What a metric of encoded columns says of the columns of the table."""

import numpy as np
import pytest

from mercer.studies.attention import column_attention

BLOCKS = np.array([0, 1, 1, 2])
NAMES = ["size", "kind", "age"]


def test_shares_of_levels_are_added_up_by_column():
    found = column_attention(np.array([1.0, 0.5, 1.5, 2.0]), BLOCKS, NAMES)
    assert dict(zip(found.names, found.shares, strict=True)) == pytest.approx(
        {"kind": 0.4, "age": 0.4, "size": 0.2}
    )
    assert found.spreads == (0.0, 0.0, 0.0) and found.pairs == ()


def test_spreads_are_over_folds_by_name_also_where_a_column_is_missing():
    metric = np.array([1.0, 0.5, 0.5, 2.0])
    folds = [(metric, BLOCKS, NAMES), (np.array([1.0, 1.0]), np.array([0, 1]), ["age", "size"])]
    found = column_attention(metric, BLOCKS, NAMES, folds)
    spread = dict(zip(found.names, found.spreads, strict=True))
    assert spread["kind"] == pytest.approx(np.std([0.25, 0.0], ddof=1))
    assert spread["age"] == pytest.approx(0.0)


def test_pairs_are_what_stands_off_the_diagonal():
    metric = np.diag([1.0, 0.5, 0.5, 1.0])
    metric[0, 3] = metric[3, 0] = -0.9
    found = column_attention(metric, BLOCKS, NAMES)
    assert [pair[:2] for pair in found.pairs] == [("size", "age")]
    assert found.pairs[0][2] == pytest.approx(0.9)


def test_a_column_that_hardly_matters_acts_together_with_none():
    metric = np.diag([1.0, 0.0, 0.0, 1e-4])
    metric[0, 3] = metric[3, 0] = 0.99e-2
    assert column_attention(metric, BLOCKS, NAMES).pairs == ()


def test_a_metric_of_zeros_has_no_shares():
    assert column_attention(np.zeros(4), BLOCKS, NAMES).shares == (0.0, 0.0, 0.0)
