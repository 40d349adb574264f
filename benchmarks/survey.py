"""A survey of fits of support vector machines, where nobody has tuned.

Twenty-four data sets (the open tables and other real data where `MERCER_DATA` is, and six made-up
families), nine settings of each (bandwidths of ½, 1 and 2 times the median distance; C of 0.1, 10
and 1000), sizes from 1,000 to 40,000, beside scikit-learn and scikit-learn-intelex with the same
tolerance. Numbers to predict are for SVR, labels for SVC. Who takes longer than five minutes is
stopped and counted with those.

The whole takes hours. `python -m benchmarks survey:sizes=1000/4000,sets=usps/noisy` measures a
part; further options are ``C=10``, ``widths=1``, ``seconds=60`` (allowed for each fit),
``peers=scikit-learn`` and ``into=FILE``: a file that gets a line for each measured cell. What is
in it already is not measured again, so that the whole can be had in parts, and all of it is
counted in the distribution.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.survey_fits import Fit, Fitter, Setting
from benchmarks.survey_sets import MANY_ROWS, load, names
from mercer.bench.measure import Row, at_least, at_most, columns, render

SIZES = (1000, 4000, 15_000, MANY_ROWS)
PEERS = ("scikit-learn", "intelex")
WORST = 10  # that are listed
MEAN_BAR, LEAST_BAR = 3.5, 1.5
OBJECTIVE_BAR = 1e-6
MEMORY_FACTOR, MEMORY_ROOM = 1.2, 200.0  # of the smaller peer's, and megabytes on top


@dataclass(frozen=True)
class Part:
    """What is measured: the whole survey unless told otherwise."""

    sets: tuple[str, ...] = ()
    sizes: tuple[int, ...] = SIZES
    widths: tuple[float, ...] = (0.5, 1.0, 2.0)
    prices: tuple[float, ...] = (0.1, 10.0, 1000.0)
    seconds: float = 300.0
    peers: tuple[str, ...] = PEERS
    into: str = ""

    @staticmethod
    def of(options: Sequence[str]) -> Part:
        """Read options such as ``sizes=1000/4000``."""
        given: dict[str, str] = {}
        for option in options:
            name, _, value = option.partition("=")
            given[name] = value
        known = {"sets", "sizes", "widths", "C", "seconds", "peers", "into"}
        if unknown := set(given) - known:
            raise SystemExit(f"no option {', '.join(sorted(unknown))}; known are {sorted(known)}")
        whole = Part()

        def several(name: str, default: tuple) -> tuple:
            kind = type(default[0]) if default else str
            return tuple(map(kind, given[name].split("/"))) if name in given else default

        return Part(
            several("sets", ()), several("sizes", SIZES), several("widths", whole.widths),
            several("C", whole.prices), float(given.get("seconds", whole.seconds)),
            several("peers", PEERS), given.get("into", ""),
        )  # fmt: skip

    @property
    def settings(self) -> list[Setting]:
        """All settings, the quick ones first."""
        return [Setting(width, C) for C, width in product(self.prices, self.widths)]


@dataclass(frozen=True)
class Cell:
    """A data set at a size and a setting, fitted by all."""

    name: str
    n: int
    d: int
    width: float
    C: float
    fits: dict[str, Fit] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int, float, float]:
        """What tells it from others."""
        return self.name, self.n, self.width, self.C

    @property
    def best(self) -> str:
        """The faster peer."""
        return min(self.peers, key=lambda name: self.fits[name].seconds)

    @property
    def peers(self) -> list[str]:
        """The names of the peers."""
        return [name for name in self.fits if name != "ours"]

    @property
    def ratio(self) -> float:
        """How many times faster ours is than the faster peer."""
        return self.fits[self.best].seconds / self.fits["ours"].seconds

    @property
    def cut(self) -> bool:
        """Whether somebody was stopped on whom the ratio depends."""
        return self.fits[self.best].cut or self.fits["ours"].cut

    @property
    def missing(self) -> float:
        """Which share of the better peer's objective ours lacks; NaN if nobody came to an end."""
        found = [self.fits[name].objective for name in self.peers if not self.fits[name].cut]
        if not found or self.fits["ours"].cut:
            return np.nan
        return (max(found) - self.fits["ours"].objective) / abs(max(found))

    @property
    def memory(self) -> float:
        """Our memory by what is allowed."""
        others = [self.fits[name].megabytes for name in self.peers if not self.fits[name].cut]
        if not others or self.fits["ours"].cut:
            return np.nan
        return self.fits["ours"].megabytes / (MEMORY_FACTOR * max(min(others), 0.0) + MEMORY_ROOM)

    def line(self) -> tuple[str, ...]:
        """Return the cell as texts."""
        times = [f"{f.seconds:.2f}{'+' if f.cut else ''}" for f in self.fits.values()]
        mine = self.fits["ours"]
        return (
            f"{self.name} {self.n}x{self.d}", f"{self.width:g}", f"{self.C:g}",
            f"{mine.support}", *times, f"{self.ratio:.2f}", f"{self.missing:.0e}",
            f"{mine.megabytes:.0f}",
        )  # fmt: skip


def report(options: Sequence[str] = ()) -> str:
    """Measure a part of the survey and return the distribution."""
    part = Part.of(options)
    cells = {cell.key: cell for cell in saved(part.into)}
    for cell in measure(part, set(cells)):
        cells[cell.key] = cell
        print(_progress(cell), file=sys.stderr, flush=True)
        if part.into:
            with Path(part.into).open("a") as file:
                file.write(json.dumps(asdict(cell)) + "\n")
    return distribution(list(cells.values())) if cells else "nothing to measure"


def _progress(cell: Cell) -> str:
    return "  ".join(cell.line())


def saved(path: str) -> list[Cell]:
    """Return the cells of a file."""
    if not path or not Path(path).is_file():
        return []
    found = []
    for line in Path(path).read_text().splitlines():
        values = json.loads(line)
        fits = {name: Fit(**fit) for name, fit in values.pop("fits").items()}
        found.append(Cell(**values, fits=fits))
    return found


def measure(part: Part, known: set) -> Iterator[Cell]:
    """Yield the cells of a part that are not known yet."""
    chosen = part.sets or tuple(names())
    if missing := set(chosen) - set(names()):
        raise SystemExit(f"no data set {', '.join(sorted(missing))}; there are {names()}")
    for name in chosen:
        whole = load(name, min(max(part.sizes), MANY_ROWS))
        for size in sizes_of(len(whole.y), part.sizes):
            left = [s for s in part.settings if (name, size, s.width, s.C) not in known]
            if not left:
                continue
            sample = whole.first(size)
            unit = sample.median_distance()
            fitters = [Fitter(m, sample, unit, part.seconds) for m in ("ours", *part.peers)]
            try:
                for setting in left:
                    fits = {fitter.name: fitter.fit(setting) for fitter in fitters}
                    width = int(sample.X.shape[1])
                    yield Cell(name, size, width, setting.width, setting.C, fits)
            finally:
                for fitter in fitters:
                    fitter.stop()


def sizes_of(rows: int, sizes: Sequence[int]) -> list[int]:
    """Return the sizes at which a set of so many rows is measured: all of it at last.

    Examples
    --------
    >>> sizes_of(7000, (1000, 4000, 15000)), sizes_of(4100, (1000, 4000)), sizes_of(300, (1000,))
    ([1000, 4000, 7000], [1000, 4000], [])
    """
    found = [size for size in sizes if size <= rows]
    if rows < max(sizes) and rows >= 1.5 * max(found, default=rows):
        found.append(rows)
    return found


def distribution(cells: list[Cell]) -> str:
    """Return the bars, the worst cells, and the distribution by data set and by size."""
    ratios = np.array([cell.ratio for cell in cells])
    uncut = np.array([cell.ratio for cell in cells if not cell.cut])
    slices = np.percentile(ratios, [10, 25, 50, 75, 90])
    rows = [
        Row(
            f"geometric mean of {len(cells)}", "", "faster peer", mean(ratios), at_least(MEAN_BAR)
        ),
        Row("worst", "", "", float(ratios.min()), at_least(LEAST_BAR)),
    ]
    if len(uncut):
        rows.append(Row("worst of those not cut", "", "", float(uncut.min()), at_least(2.0)))
    rows += [
        Row("objective missing, at worst", "", "", worst([c.missing for c in cells]),
            at_most(OBJECTIVE_BAR, "{:.1e}")),
        Row("memory, of 1.2 times the smaller peer's and 200 MB", "", "",
            worst([c.memory for c in cells]), at_most(1.0)),
    ]  # fmt: skip
    texts = [
        render(rows),
        "10, 25, 50, 75, 90 % of the ratios are below: "
        + ", ".join(f"{value:.2f}" for value in slices),
        f"The {min(WORST, len(cells))} worst of {len(cells)} (seconds; + stopped):",
        listing(sorted(cells, key=lambda cell: cell.ratio)[:WORST]),
        "Those whose objective lacks most:",
        listing(sorted(cells, key=lambda c: -np.nan_to_num(c.missing, nan=-1.0))[:3]),
        by_set(cells),
        exponents(cells),
    ]
    return "\n\n".join(texts)


def mean(ratios: Sequence[float] | np.ndarray) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def worst(values: list[float]) -> float:
    """Return the largest value that is a number; NaN if none is."""
    known = [value for value in values if not np.isnan(value)]
    return max(known, default=np.nan)


def listing(cells: list[Cell]) -> str:
    """Return some cells as a table."""
    header = ("data", "width", "C", "SV", *cells[0].fits, "ratio", "objective", "MB")
    return columns([header, *(cell.line() for cell in cells)])


def by_set(cells: list[Cell]) -> str:
    """Return geometric mean and worst ratio of each data set and size."""
    lines = [("data", "rows", "mean", "worst", "cut")]
    for name in dict.fromkeys(cell.name for cell in cells):
        for n in sorted({cell.n for cell in cells if cell.name == name}):
            some = [cell for cell in cells if (cell.name, cell.n) == (name, n)]
            ratios = [cell.ratio for cell in some]
            cut = sum(cell.cut for cell in some)
            lines.append((name, str(n), f"{mean(ratios):.2f}", f"{min(ratios):.2f}", str(cut)))
    return columns(lines)


def exponents(cells: list[Cell]) -> str:
    """Return how time grows with n: the median slope over data sets and settings, for each."""
    found: dict[str, list[float]] = {}
    groups: dict[tuple, list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.name, cell.width, cell.C), []).append(cell)
    for some in groups.values():
        for machine in some[0].fits:
            known = [c for c in some if machine in c.fits and not c.fits[machine].cut]
            if len(known) > 1:
                n = np.log([c.n for c in known])
                t = np.log([c.fits[machine].seconds for c in known])
                found.setdefault(machine, []).append(float(np.polyfit(n, t, 1)[0]))
    told = ", ".join(f"{name} {np.median(slopes):.2f}" for name, slopes in found.items())
    return f"Exponent of n, median of data sets and settings: {told or 'one size only'}"
