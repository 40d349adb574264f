"""Studies on a cluster: the same choices, and a note that says what ran where."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mercer.cluster import Cluster, InProcess
from mercer.errors import ValidityError
from mercer.report.output import metrics
from mercer.studies import study
from mercer.studies.nested_cv import OuterFold
from mercer.studies.on_cluster import choices_on


def rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    kind = np.where(X[:, 0] * X[:, 1] > 0, "u", "v")
    return pd.DataFrame(X, columns=["a", "b"]).assign(kind=kind)


def found(**how):
    return study(rows(), "kind", machine="ridge", references=False, budget=5, **how)


@pytest.mark.slow
def test_a_study_chooses_what_it_would_choose_here():
    here = found()
    with Cluster(InProcess()) as cluster:
        there = found()
    assert here.kernel == there.kernel and here.parameters == there.parameters
    assert here.error == there.error
    np.testing.assert_array_equal(here.held_out.prediction, there.held_out.prediction)
    assert cluster.account.workers["here"].tasks >= 2
    (note,) = [note for note in there.notes if "cluster" in note]
    assert note.startswith("Kernels and parameters were chosen on 1 workers of a cluster: here (")
    assert note in metrics(there)["notes"]
    assert not any("cluster" in note for note in here.notes)


class Fold:
    """Rows of which families choose nothing, or refuse."""

    y = np.zeros(7)

    def __init__(self):
        self.choices = {}

    def choose(self, family):
        if family.refuses:
            raise ValidityError("no kernel is valid here")
        self.choices[family.name] = f"the choice of {family.name}"


class Family:
    def __init__(self, name, refuses=False):
        self.name = self.label = name
        self.refuses = refuses


def test_choices_and_refusals_come_from_every_fold():
    steps = []
    folds, families = [Fold(), Fold()], [Family("a"), Family("b", refuses=True)]
    with Cluster(InProcess(travel=True)) as cluster:
        found = choices_on(cluster, folds, families, lambda *told: steps.append(told))
    assert found[0, "a"] == found[1, "a"] == "the choice of a"
    assert isinstance(found[1, "b"], ValidityError) and "no kernel" in str(found[1, "b"])
    assert sorted(steps) == [(1, "a"), (1, "a"), (1, "b"), (1, "b")]
    assert cluster.account.workers["here"].rows == 28


def test_a_choice_from_elsewhere_is_taken_and_a_refusal_raised():
    fold = SimpleNamespace(choices={})
    OuterFold.take(fold, Family("a"), "chosen")
    assert fold.choices == {"a": "chosen"}
    with pytest.raises(ValidityError, match="no kernel"):
        OuterFold.take(fold, Family("b"), ValidityError("no kernel"))
