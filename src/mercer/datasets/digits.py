"""Handwritten digits from envelopes of the U.S. Postal Service.

The images are those of Le Cun et al. (1990) as published with Hastie, Tibshirani & Friedman, *The
Elements of Statistical Learning*. The public files are text with three decimals, so the check sums
the numbers themselves, as thousandths: it does not depend on how they are packed.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from mercer.datasets.dataset import Dataset
from mercer.errors import DomainError

__all__ = ["usps"]

ADDRESS = "https://hastie.su.domains/ElemStatLearn/datasets/zip.{part}.gz"
SHA256 = "9a7c62d4ae8456936534c29d88ac7b31468dc4bd63526a13f81bfe40dadaf27c"
PARTS = ("train", "test")
Arrays = dict[str, np.ndarray]


def usps(path: str | os.PathLike[str] | None = None, *, download: bool = True) -> Dataset:
    """Return 7291 training and 2007 test images of digits, 16 × 16 pixels in [−1, 1].

    They are looked for in `path`, or else in ``$MERCER_DATA/usps/usps.npz`` and in the user's
    cache; if they are not there, they are downloaded once and kept (in ``$MERCER_DATA`` if that is
    set). Their check sum is verified whenever they come from outside.

    Parameters
    ----------
    path : path, optional
        Of an npz file with arrays X_train, y_train, X_test and y_test.
    download : bool
        Whether the network may be used if no file is found.

    Returns
    -------
    Dataset
        The training images. ``extra`` holds X_test, y_test and the shape of an image.

    Examples
    --------
    >>> digits = usps()  # doctest: +SKIP
    >>> digits.X.shape, digits.extra["X_test"].shape  # doctest: +SKIP
    ((7291, 256), (2007, 256))
    """
    if path is not None:
        return _dataset(_read(Path(path)))
    places = _places()
    for place in places:
        if place.exists():
            return _dataset(_read(place))
    if not download:
        raise DomainError(f"the USPS digits are not at {places[0]}; {_advice()}")
    arrays = _download()
    _keep(arrays, places[0])
    return _dataset(arrays)


def _places() -> list[Path]:
    """Return where the file may lie, the place for a new one first."""
    folder = os.environ.get("MERCER_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mercer"
    folders = [Path(folder), cache] if folder else [cache]
    return [place / "usps" / "usps.npz" for place in folders]


def _advice() -> str:
    files = " and ".join(ADDRESS.format(part=part) for part in PARTS)
    return (
        f"call usps() with the network on, which reads {files}; or set MERCER_DATA to a folder "
        "that holds usps/usps.npz with the arrays X_train, y_train, X_test and y_test"
    )


def _read(path: Path) -> Arrays:
    """Return the arrays of a file, refusing what are not such digits."""
    try:
        with path.open("rb") as handle, np.load(handle) as file:
            arrays = {name: file[name] for name in _names()}
    except FileNotFoundError as error:
        raise DomainError(f"there is no file {path}; {_advice()}") from error
    except (KeyError, ValueError, OSError, BadZipFile) as error:
        raise DomainError(f"{path} holds no USPS digits ({error}); {_advice()}") from error
    for part in PARTS:
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        if X.shape != (len(y), 256):
            raise DomainError(f"{path}: X_{part} has shape {X.shape}, expected {(len(y), 256)}")
    return arrays


def _download() -> Arrays:
    """Fetch, parse and verify the public files."""
    from urllib.error import URLError
    from urllib.request import urlopen

    arrays: Arrays = {}
    for part in PARTS:
        address = ADDRESS.format(part=part)
        try:
            with urlopen(address, timeout=60) as answer:
                text = gzip.decompress(answer.read()).decode("ascii")
        except (URLError, TimeoutError, OSError, EOFError, UnicodeDecodeError) as error:
            raise DomainError(f"{address} could not be read ({error}); {_advice()}") from error
        try:
            rows = np.loadtxt(text.splitlines(), dtype=np.float64, ndmin=2)
        except ValueError as error:
            raise DomainError(f"{address} is not a table of numbers ({error})") from error
        arrays[f"X_{part}"] = rows[:, 1:].astype(np.float32)
        arrays[f"y_{part}"] = rows[:, 0].astype(np.uint8)
    found = _sum(arrays)
    if found != SHA256:
        raise DomainError(
            f"what came from {ADDRESS.format(part='*')} is not the USPS digits: its SHA-256 is "
            f"{found}, expected {SHA256}; nothing was kept"
        )
    return arrays


def _sum(arrays: Arrays) -> str:
    """Return the SHA-256 of labels and thousandths."""
    total = hashlib.sha256()
    for part in PARTS:
        thousandths = np.round(arrays[f"X_{part}"].astype(np.float64) * 1000)
        total.update(arrays[f"y_{part}"].astype("u1").tobytes())
        total.update(thousandths.astype("<i2").tobytes())
    return total.hexdigest()


def _keep(arrays: Arrays, path: Path) -> None:
    """Write the file in one step, so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{os.getpid()}.npz")
    try:
        np.savez_compressed(part, **arrays)  # type: ignore[arg-type]
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _names() -> list[str]:
    return [f"{what}_{part}" for part in PARTS for what in ("X", "y")]


def _dataset(arrays: Arrays) -> Dataset:
    extra: dict[str, Any] = {"X_test": arrays["X_test"], "y_test": arrays["y_test"]}
    names = tuple(str(digit) for digit in range(10))
    return Dataset(arrays["X_train"], arrays["y_train"], names, extra | {"shape": (16, 16)})
