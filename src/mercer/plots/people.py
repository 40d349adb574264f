"""People and groups of them: recovery of parameters and models, power, learning with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.errors import DomainError, suggestion
from mercer.plots.axes import axes_for
from mercer.plots.palette import INK, PALE, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mercer.cognition.choices.profiles import ParameterProfile
    from mercer.cognition.people.curves import BlockCurve
    from mercer.cognition.people.recovery import ModelRecovery, PowerCurve, Recovery

__all__ = [
    "plot_learning_curve",
    "plot_model_recovery",
    "plot_power",
    "plot_profile",
    "plot_recovery",
]


def plot_recovery(
    recovery: Recovery, parameter: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what was found of a parameter against what it was; on the diagonal it is right.

    Parameters
    ----------
    recovery : Recovery
    parameter : str, optional
        By default the first.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.cognition import GCM, five_four, recover
    >>> ax = plot_recovery(recover(GCM(3.0, free=("sensitivity",)), five_four(), subjects=8))
    >>> ax.get_xlabel()
    'sensitivity of made-up people'
    """
    if not hasattr(recovery, "people") or not hasattr(recovery, "group"):
        raise DomainError(f"{type(recovery).__name__} is no recovery; give one of recover()")
    names = list(recovery.table.index)
    name = names[0] if parameter is None else parameter
    if name not in names:
        raise DomainError(f"there is no parameter {name!r}{suggestion(str(name), names)}")
    part = recovery.people[recovery.people["parameter"] == name]
    ax = axes_for(ax, (3.4, 3.2))
    values = part[["true", "found"]].to_numpy()
    ends = values.min(), values.max()
    ax.plot(ends, ends, color=PALE, zorder=0)
    ax.plot(part["true"], part["found"], "o", color=color(0), markersize=4, alpha=0.8)
    r = recovery.table.loc[name, "correlation"]
    ax.set(xlabel=f"{name} of made-up people", ylabel="found", title=f"correlation {r:.2f}")
    return ax


def plot_model_recovery(recovery: ModelRecovery, ax: Axes | None = None) -> Axes:
    """Draw how often each model is chosen (columns) where another one is true (rows).

    Parameters
    ----------
    recovery : ModelRecovery
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.cognition import ModelRecovery
    >>> shares = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]], ["p", "q"], ["p", "q"])
    >>> ax = plot_model_recovery(ModelRecovery(shares, pd.DataFrame()))
    >>> sorted(text.get_text() for text in ax.texts)
    ['0.10', '0.20', '0.80', '0.90']
    """
    if not hasattr(recovery, "confusion"):
        raise DomainError(f"{type(recovery).__name__} has no confusions; give recover_models()")
    table = recovery.confusion
    ax = axes_for(ax, (1.6 + 0.8 * len(table), 1.2 + 0.7 * len(table)))
    ax.imshow(table.to_numpy(), cmap="Blues", vmin=0, vmax=1)
    for (row, column), share in np.ndenumerate(table.to_numpy()):
        ink = "white" if share > 0.6 else INK
        ax.text(column, row, f"{share:.2f}", ha="center", va="center", color=ink)
    places: Any = np.arange(len(table))
    ax.set(xticks=places, yticks=places, xlabel="chosen", ylabel="true")
    ax.set_xticklabels([str(name) for name in table.columns])
    ax.set_yticklabels([str(name) for name in table.index])
    ax.tick_params(length=0)
    return ax


def plot_power(found: PowerCurve, ax: Axes | None = None) -> Axes:
    """Draw how often the right model is chosen, against the number of people.

    Parameters
    ----------
    found : PowerCurve
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.cognition import PowerCurve
    >>> table = pd.DataFrame({"share": [0.5, 0.9], "low": [0.3, 0.7], "high": [0.7, 1]}, [5, 20])
    >>> plot_power(PowerCurve(table, 0.9)).get_xlabel()
    'people'
    """
    if not hasattr(found, "wanted"):
        raise DomainError(f"{type(found).__name__} is no power analysis; give one of power()")
    ax = axes_for(ax)
    x, y = found.table.index.to_numpy(dtype=float), found.table["share"].to_numpy()
    bars = np.abs(found.table[["low", "high"]].to_numpy().T - y)
    ax.axhline(found.wanted, color=PALE, zorder=0)
    ax.errorbar(x, y, bars, fmt="o-", color=color(0), markersize=4, linewidth=1.2)
    ax.set(xlabel="people", ylabel="share of right choices", ylim=(0, 1.05), xticks=x)
    return ax


def plot_profile(profile: ParameterProfile, ax: Axes | None = None) -> Axes:
    """Draw by how much the likelihood falls while a parameter is held at other values.

    Below the line the data put up with the value.

    Parameters
    ----------
    profile : ParameterProfile
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.cognition import ParameterProfile
    >>> table = pd.DataFrame({"value": [1.0, 2.0, 3.0], "fall": [2.0, 0.0, 3.0]})
    >>> plot_profile(ParameterProfile("sensitivity", table, 2.0, 1.92, 0.95)).get_xlabel()
    'sensitivity'
    """
    if not hasattr(profile, "cutoff"):
        raise DomainError(f"{type(profile).__name__} is no profile; give parameter_profile()")
    ax = axes_for(ax)
    ax.axhline(-profile.cutoff, color=PALE, zorder=0)
    ax.plot(profile.table["value"], -profile.table["fall"], color=color(0))
    ax.plot(profile.best, 0.0, "o", color=color(0), markersize=4)
    ax.set(xlabel=profile.name, ylabel="log-likelihood, from its maximum")
    return ax


def plot_learning_curve(
    curves: BlockCurve | Mapping[str, BlockCurve], ax: Axes | None = None
) -> Axes:
    """Draw learning curves with their intervals over people.

    Parameters
    ----------
    curves : BlockCurve, or dict of name to BlockCurve
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from mercer.cognition import learning_curve
    >>> plot_learning_curve(learning_curve([[0.5, 0.25], [0.25, 0.0]])).get_ylabel()
    'share of errors'
    """
    named = curves if isinstance(curves, Mapping) else {"": curves}
    ax = axes_for(ax)
    for k, (name, curve) in enumerate(named.items()):
        if not hasattr(curve, "persons") or not hasattr(curve, "table"):
            raise DomainError(f"{type(curve).__name__} is no learning curve; see learning_curve()")
        blocks = curve.table.index.to_numpy()
        ax.fill_between(blocks, curve.table["low"], curve.table["high"], color=color(k), alpha=0.2,
                        linewidth=0)  # fmt: skip
        ax.plot(blocks, curve.table["errors"], color=color(k), label=str(name) or None)
    ax.set(xlabel="block", ylabel="share of errors", ylim=(0, None))
    if any(named):
        ax.legend()
    return ax
