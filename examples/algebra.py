"""A kernel for a table whose columns are of different kinds.

How many bicycles are rented in an hour? That depends on the hour (which comes again every day), on
the temperature, and on the weather. Each column gets the similarity that suits it; sums and
products join them, and the proof of the whole follows from the proofs of its parts.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_score

from mercer import KernelRidge
from mercer.kernels import Categorical, Gaussian, Kernel, Periodic, check

HOUR = Periodic(period=24.0, bandwidth=1.0).on("hour")
WARMTH = Gaussian("median").on("temperature")
WEATHER = Categorical().on("weather")


def main() -> None:
    table, rented = rentals(300)
    print(table.head(3), end="\n\n")

    # Alike, for bicycles: about the same hour and about as warm; or the same weather.
    kernel = HOUR * WARMTH + WEATHER
    print(kernel.proof(), end="\n\n")
    print(check(kernel, table), end="\n\n")

    print("share of the variance explained (R², five folds)")
    for k in (HOUR, WARMTH, WEATHER, HOUR + WARMTH + WEATHER, kernel):
        print(f"  {score(k, table, rented):.2f}  {k}")


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
    main()
