"""Which machines are tried, and who wins."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import DomainError, SelectionError
from mercer.kernels import Spectrum
from mercer.sources import Column
from mercer.studies.contest import Procedure, contest
from mercer.studies.families import families
from mercer.studies.folds import splits

TRIED, LEFT = families("classify", None, 2)


class Clock:
    """A clock that goes on by a step whenever somebody looks."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def arenas(count=40, kernel=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=count) > 0, "a", "b").astype(object)
    procedure = Procedure((), True, kernel, 3, 1000, seed)
    everything = np.arange(count)
    parts = splits(y, 3, rng)
    return [procedure.arena(X, y, *split) for split in [*parts, (everything, everything[:0])]]


def ignore(*_):
    """Take a step that nobody watches."""


def test_with_enough_time_all_are_tried_on_all_folds():
    some = arenas()
    rounds = contest(some, TRIED, 1e9, ignore)
    assert [one.note for one in rounds] == [""] * 4
    for arena in some:
        assert set(arena.choices) == {"prototype", "exemplar", "ridge", "svm"}
        lowest = min(choice.error for choice in arena.choices.values())
        assert arena.winner.error == lowest
        first = next(name for name, choice in arena.choices.items() if choice.error == lowest)
        assert arena.winner.family.name == first


def test_without_time_only_the_first_is_tried():
    some = arenas()
    rounds = contest(some, TRIED, 2.0, ignore, Clock(1.5))
    assert rounds[0].note == ""
    assert all("time" in one.note for one in rounds[1:])
    assert all(set(arena.choices) == {"prototype"} for arena in some)


def test_one_that_would_take_too_long_is_left_out_after_its_first_fold():
    some = arenas()
    looks = iter([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 90.0])  # the second machine is slow
    rounds = contest(some, TRIED[:2], 100.0, ignore, lambda: next(looks))
    assert "longer" in rounds[1].note
    assert all("exemplar" not in arena.choices for arena in some)
    assert all("exemplar" not in arena.predictions for arena in some)


@pytest.mark.parametrize("deadline", [2.0, 1e9])
def test_steps_are_counted_also_where_work_is_left_out(deadline):
    counted = []
    contest(arenas(), TRIED, deadline, lambda n=1, _="": counted.append(n), Clock(1.5))
    assert sum(counted) == 4 * len(TRIED)


def test_nothing_that_can_be_fitted_is_an_error_that_says_why():
    with pytest.raises(SelectionError, match="string"):
        contest(arenas(kernel=Spectrum(2)), TRIED, 1e9, ignore)


def test_standardizing_sees_only_training_rows():
    for arena in arenas()[:3]:
        assert np.allclose(arena.X.mean(axis=0), 0) and np.allclose(arena.X.std(axis=0), 1)
        assert abs(arena.new.mean(axis=0)).max() > 1e-3


def test_many_rows_choose_by_a_sample_but_are_all_learned_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    procedure = Procedure((), True, None, 3, 50, 0)
    arena = procedure.arena(X, y, np.arange(100), np.arange(100, 120))
    assert len(arena.task.y) == 50 and len(arena.y) == 100
    arena.admit(TRIED[3])
    assert len(arena.fitted(0).predict(arena.new)) == 20


def test_a_column_without_entries_in_a_fold_is_left_out_there():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"full": rng.normal(size=30), "rare": np.nan, "word": None}, dtype=object)
    X = X.astype({"full": float, "rare": float})
    X.loc[3, "rare"], X.loc[4, "word"] = 1.0, "here"
    y = np.array(["a", "b"] * 15, dtype=object)
    kinds = (Column("word", "categorical", ""),)
    procedure = Procedure(kinds, True, None, 3, 1000, 0)
    everything = np.arange(30)
    some = procedure.arena(X, y, np.setdiff1d(everything, [3, 4]), np.array([3, 4]))
    assert list(some.X.columns) == list(some.new.columns) == ["full"]
    whole = procedure.arena(X, y, everything, everything[:0])
    assert {"full", "rare", "word"} <= set(whole.X.columns)
    contest([some, whole], TRIED, 1e9, ignore)
    with pytest.raises(DomainError, match="too few entries in 'rare'"):
        procedure.arena(X[["rare"]], y, np.setdiff1d(everything, [3]), np.array([3]))
