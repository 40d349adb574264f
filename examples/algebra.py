"""A kernel for a table whose columns are of different kinds.

How many bicycles are rented in an hour? That depends on the hour (which comes again every day), on
the temperature, and on the weather. Each column gets the similarity that suits it; sums and
products join them, and the proof of the whole follows from the proofs of its parts.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_score

from mercer import KernelRidge
from mercer.kernels import Categorical, Gaussian, Kernel, Periodic, check

HOUR = Periodic(period=24.0, bandwidth=1.0).on("hour")
WARMTH = Gaussian("median").on("temperature")
WEATHER = Categorical().on("weather")


def main(out: Path | None) -> None:
    table, rented = rentals(300)
    print(table.head(3), end="\n\n")

    # Alike, for bicycles: about the same hour and about as warm; or the same weather.
    kernel = HOUR * WARMTH + WEATHER
    print(kernel.proof(), end="\n\n")
    print(check(kernel, table), end="\n\n")

    print("share of the variance explained (R², five folds)")
    for k in (HOUR, WARMTH, WEATHER, HOUR + WARMTH + WEATHER, kernel):
        print(f"  {score(k, table, rented):.2f}  {k}")
    if out is not None:
        draw(KernelRidge(kernel, penalty=0.1, intercept=True).fit(table, rented), out)


def draw(machine: KernelRidge, out: Path) -> None:
    """Draw what was learned: hour against temperature, a panel for each weather."""
    hours, degrees = np.linspace(0, 24, 97), np.linspace(0, 30, 61)
    rows = pd.DataFrame(
        {"hour": np.tile(hours, 61), "temperature": np.repeat(degrees, 97), "weather": ""}
    )
    figure, axes = plt.subplots(1, 3, figsize=(8.0, 3.0), sharey=True, layout="constrained")
    for ax, weather in zip(axes, ("sun", "cloud", "rain"), strict=True):
        expected = machine.predict(rows.assign(weather=weather)).reshape(61, 97)
        shades = ax.pcolormesh(hours, degrees, expected, cmap="cividis", vmin=-30, vmax=90)
        ax.set(title=weather, xlabel="hour", xticks=[0, 6, 12, 18, 24])
    axes[0].set_ylabel("temperature (°C)")
    figure.colorbar(shades, ax=axes, label="expected rentals")
    figure.savefig(out, dpi=144)


def score(kernel: Kernel, table: pd.DataFrame, target: np.ndarray) -> float:
    """Return the cross-validated R² of ridge regression; "median" is resolved in each fold."""
    machine = KernelRidge(kernel, penalty=0.1, intercept=True)
    return cross_val_score(
        machine, table, target, cv=KFold(5, shuffle=True, random_state=0)
    ).mean()


def rentals(count: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Make up some hours of a bicycle rental: warm evenings are busiest, rain keeps people in."""
    rng = np.random.default_rng(0)
    hour = rng.uniform(0, 24, count)
    temperature = rng.normal(15, 7, count)
    weather = rng.choice(["sun", "cloud", "rain"], count)
    evening = np.exp(3 * np.cos((hour - 18) * np.pi / 12) - 3)
    rented = 80 * evening * np.clip(temperature / 20, 0, 1.5) - 30 * (weather == "rain")
    table = pd.DataFrame({"hour": hour, "temperature": temperature, "weather": weather})
    return table.round(1), rented + rng.normal(0, 5, count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=None, help="file for a drawing")
    main(parser.parse_args().out)
