"""What a study needs, as predicted and as measured."""

import numpy as np
import pandas as pd
import pytest

from mercer.studies import design
from mercer.studies.predicted import table_bytes
from tests.measure import peak


def table(count):
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal(size=(count, 8)), columns=list("abcdefgh"))
    found["y"] = np.sin(found["a"]) * found["b"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("machine", [None, "ridge", "learned"])
def test_a_study_needs_hardly_more_than_predicted(machine):
    design(table(60), "y", machine=machine).run()  # loads and compiles what is not the study's
    plan = design(table(1500), "y", machine=machine)
    assert peak(plan.run) < 1.3 * plan.bytes


def test_a_plan_says_what_it_needs_and_more_rows_need_more():
    small, large = (design(table(count), "y", machine="learned") for count in (200, 3000))
    assert small.bytes < large.bytes and "of memory at most" in small.explain()


def test_texts_count_in_a_table():
    numbers = pd.DataFrame({"x": np.zeros(100)})
    assert table_bytes(numbers.assign(word="x").astype({"word": object})) > table_bytes(numbers)
    assert table_bytes(np.zeros((10, 2))) == 160
