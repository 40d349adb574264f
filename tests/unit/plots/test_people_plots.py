"""Pictures of recovery, power and learning curves."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from mercer.cognition import (
    GCM,
    ModelRecovery,
    PowerCurve,
    five_four,
    learning_curve,
    recover,
)
from mercer.errors import DomainError
from mercer.plots import plot_learning_curve, plot_model_recovery, plot_power, plot_recovery

mpl.use("Agg")


def test_recovery_draws_each_person_once():
    found = recover(GCM(3.0, free=("sensitivity",)), five_four(), subjects=7, trials=5)
    ax = plot_recovery(found, "sensitivity")
    assert len(ax.lines[1].get_xdata()) == 7
    np.testing.assert_allclose(ax.lines[1].get_xdata(), found.people["true"])
    with pytest.raises(DomainError, match=r"no parameter 'sensitivty'.*sensitivity"):
        plot_recovery(found, "sensitivty")


def test_the_band_of_a_learning_curve_is_its_interval():
    curve = learning_curve(np.random.default_rng(0).random((9, 4)))
    ax = plot_learning_curve({"people": curve})
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(curve.table["low"].min())
    assert band[:, 1].max() == pytest.approx(curve.table["high"].max())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["people"]


def test_confusions_and_power_show_their_tables():
    shares = pd.DataFrame([[0.75, 0.25], [0.0, 1.0]], ["p", "q"], ["p", "q"])
    ax = plot_model_recovery(ModelRecovery(shares, pd.DataFrame()))
    assert {text.get_text() for text in ax.texts} == {"0.75", "0.25", "0.00", "1.00"}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["p", "q"]
    table = pd.DataFrame({"share": [0.4, 0.95], "low": [0.2, 0.8], "high": [0.6, 1.0]}, [4, 16])
    ax = plot_power(PowerCurve(table, 0.9))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.4, 0.95])


@pytest.mark.parametrize(
    "plot", [plot_learning_curve, plot_model_recovery, plot_power, plot_recovery]
)
def test_other_things_are_refused_with_a_hint(plot):
    with pytest.raises(DomainError, match=r"int is no|int has no"):
        plot(3)
