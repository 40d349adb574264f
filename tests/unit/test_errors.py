"""Errors: one for each room, each also the built-in error that a scikit-learn user expects."""

import importlib

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning as TheirConvergenceWarning

from mercer import errors


@pytest.mark.parametrize(
    ("error", "parents"),
    [
        (errors.DomainError, (errors.MercerError, ValueError)),
        (errors.DomainTypeError, (errors.DomainError, TypeError)),
        (errors.ValidityError, (errors.MercerError, ValueError)),
        (errors.PlanError, (errors.MercerError, MemoryError)),
        (errors.SolveError, (errors.MercerError, np.linalg.LinAlgError)),
        (errors.FileError, (errors.MercerError, ValueError)),
        (errors.ConvergenceWarning, (UserWarning, TheirConvergenceWarning)),
    ],
)
def test_every_error_is_also_a_built_in_one(error, parents):
    assert all(issubclass(error, parent) for parent in parents)
    assert str(error("what and why")) == "what and why"


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("gausian", "; did you mean 'gaussian'?"),
        ("linaer", "; did you mean 'linear'?"),
        ("zzz", "; known are 'gaussian', 'linear'"),
        ("", "; known are 'gaussian', 'linear'"),
        (3, "; known are 'gaussian', 'linear'"),
        (None, "; known are 'gaussian', 'linear'"),
    ],
)
def test_a_close_match_is_suggested_otherwise_all_that_is_known(word, answer):
    assert errors.suggestion(word, ["linear", "gaussian"]) == answer


def test_an_old_name_answers_with_a_warning():
    from mercer import studies

    with pytest.warns(
        DeprecationWarning, match=r"mercer\.studies\.kept is now called .*open_model"
    ):
        assert studies.kept is studies.open_model
    with pytest.raises(AttributeError, match="no attribute 'keeping'"):
        _ = studies.keeping


@pytest.mark.parametrize(
    ("room", "old"),
    [
        (
            "studies",
            ("Curve", "Design", "Exhibit", "HeldOut", "Kept", "Predicted", "Rest", "placed"),
        ),
        ("explanations", ("Decision", "Part")),
        ("gram", ("Rows", "Stored")),
        ("gram.device", ("Engine", "explained")),
    ],
)
def test_every_old_name_is_still_there(room, old):
    module = importlib.import_module(f"mercer.{room}")
    for name in old:
        with pytest.warns(DeprecationWarning, match=f"{room}.{name} is now called"):
            assert getattr(module, name).__module__.startswith(f"mercer.{room}")


@pytest.mark.parametrize(
    ("former", "home", "names"),
    [
        ("kernels.block", "engine.block", ("Block", "dots", "norms")),
        ("kernels.distances", "engine.distances", ("cityblock", "minkowski", "squared_distances")),
    ],
)
def test_a_former_home_answers_with_a_warning(former, home, names):
    old, new = (importlib.import_module(f"mercer.{path}") for path in (former, home))
    for name in names:
        with pytest.warns(DeprecationWarning, match=f"{former}.{name} is now called"):
            assert getattr(old, name) is getattr(new, name)


def test_the_old_name_of_a_size_in_words_answers_with_a_warning():
    from mercer import plans

    with pytest.warns(DeprecationWarning, match="now called mercer.plans.format_bytes"):
        assert plans.human is plans.format_bytes
