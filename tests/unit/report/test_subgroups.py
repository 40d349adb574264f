"""Subgroups are shown where the error is larger, and no two sentences contradict each other."""

import numpy as np
import pandas as pd

from mercer.report import html
from mercer.report.subgroups import subgroups
from mercer.studies import study

QUICK = {"machine": "ridge", "kernel": "gaussian", "budget": 5.0, "references": False}


def rows(noisy, seed=0, n=400):
    """Return a line whose noise is larger in one city, if asked for."""
    rng = np.random.default_rng(seed)
    x, city = rng.normal(size=n), rng.choice(["Bern", "Basel", "Chur"], n)
    spread = np.where((city == "Chur") & noisy, 3.0, 0.3)
    return pd.DataFrame({"x": x, "city": city, "y": 2 * x + spread * rng.normal(size=n)})


def test_the_worse_city_is_named_with_its_error():
    how = {name: value for name, value in QUICK.items() if name != "kernel"}
    found = study(rows(True), "y", **how)
    first = subgroups(found)[0]
    there = found.X["city"].to_numpy() == "Chur"
    off = (found.held_out.prediction - found.truth)[there]
    assert first.name == "city is “Chur”" and first.rows == str(there.sum())
    assert abs(float(first.error) - np.sqrt(np.mean(off**2))) < 0.01
    assert "Where it is worse than elsewhere" in html(found)


def test_even_errors_have_no_subgroups():
    how = {name: value for name, value in QUICK.items() if name != "kernel"}
    alarms = sum(len(subgroups(study(rows(False, seed), "y", **how))) for seed in range(3))
    assert alarms == 0


def test_no_page_says_that_more_rows_help_and_that_they_do_not():
    rng = np.random.default_rng(1)
    for n in (24, 60, 160):
        x = rng.normal(size=(n, 2))
        table = pd.DataFrame(x, columns=["a", "b"]).assign(
            kind=np.where(x[:, 0] + 2 * rng.normal(size=n) > 0, "up", "down")
        )
        page = html(study(table, "kind", **QUICK))
        hardly = "would hardly help" in page
        more = "More rows would" in page.replace("More rows would probably", "")
        assert not (hardly and ("Collect more before" in page or more))
        assert page.index("Where it goes wrong") < page.index("For specialists</h2>")
        assert page.index("For specialists</h2>") < page.index("How alike the")
