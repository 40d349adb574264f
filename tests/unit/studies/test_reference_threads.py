"""Reference trees of few rows grow on one thread of OpenMP: more would wait for each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from mercer import study
from mercer.studies import references


def test_trees_of_few_rows_grow_on_one_thread(monkeypatch):
    seen = []
    answers = references._answers

    def watched(model, new, fold):
        if "HistGradientBoosting" in type(model).__name__:
            seen.extend(
                info["num_threads"] for info in threadpool_info() if info["user_api"] == "openmp"
            )
        return answers(model, new, fold)

    monkeypatch.setattr(references, "_answers", watched)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80)}).assign(kind=rng.choice(["x", "y"], 80))
    found = study(frame, "kind", budget=1, show=False)
    assert [one.name for one in found.references] == ["linear model", "boosted trees"]
    assert seen and set(seen) == {1}
