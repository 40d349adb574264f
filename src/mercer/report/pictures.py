"""Pictures: drawings inside the page, the same bytes each time."""

from __future__ import annotations

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots.palette import INK, style
from mercer.report.words import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Figure", "drawing", "figure", "gray", "sketch"]

# Texts stay texts: the reader's browser has letters for all scripts, matplotlib's font has not.
SETTINGS: Any = {"svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans", "sans-serif"]}
# Nothing of the day or the maker.
METADATA: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
RASTER = re.compile(r"(?<=data:image/png;base64,)[^\"]+")
SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
HEAD = re.compile(r"\A.*?(?=<svg )", re.DOTALL)


@dataclass(frozen=True)
class Figure:
    """A drawing with what to see in it."""

    source: str  # a data URI
    alt: str  # for those who do not see it
    caption: str
    width: int
    height: int  # pixels of the page


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of the report, and let the browser find letters for rare scripts."""
    import matplotlib

    with style(), matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        yield


def figure(ax: Axes, alt: str, caption: str) -> Figure:
    """Return what was drawn on axes; to be called inside `drawing`."""
    file = io.StringIO()
    whole: Any = ax.figure
    whole.savefig(file, format="svg", metadata=METADATA, bbox_inches="tight", pad_inches=0.04)
    text = RASTER.sub(_smaller, HEAD.sub("", file.getvalue()))
    found = SIZE.search(text)
    assert found is not None
    width, height = (round(float(points) * 96 / 72) for points in found.groups())
    return Figure(_svg(text), alt, caption, width, height)


def _svg(text: str) -> str:
    """Return a drawing as an address that holds all of it.

    In an image nothing can run, whatever the labels are.
    """
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode("utf-8")).decode()


def _smaller(found: re.Match[str]) -> str:
    """Return an embedded picture with one byte for each pixel, if it has few colors."""
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(found[0]))) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=np.uint32)
    packed = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    colors, places = np.unique(packed, return_inverse=True)
    if len(colors) > 256:
        return found[0]
    palette = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1)
    indexed = Image.fromarray(places.reshape(packed.shape).astype(np.uint8), mode="P")
    indexed.putpalette(palette.astype(np.uint8).tobytes())
    return _png(indexed)


def gray(pixels: np.ndarray, low: float, high: float) -> str:
    """Return numbers as a tiny picture, dark where they are large.

    Examples
    --------
    >>> gray(np.eye(2), 0.0, 1.0)[:22]
    'data:image/png;base64,'
    """
    from PIL import Image

    shade = 255 * (1 - np.clip((pixels - low) / ((high - low) or 1.0), 0.0, 1.0))
    image = Image.fromarray(np.nan_to_num(shade, nan=255.0).round().astype(np.uint8))
    return "data:image/png;base64," + _png(image)


def _png(image: Any) -> str:
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def sketch(
    places: np.ndarray, edges: np.ndarray, strokes: list[int], names: list[str], dots: float = 3
) -> str:
    """Return nodes joined by lines as a small drawing, a tenth of what matplotlib would write.

    Nodes without a name are dots of the size `dots`; with size 0 there are no circles at all.

    Examples
    --------
    >>> flat = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> sketch(flat, np.array([[0, 1]]), [1], ["C", "O"])[:26]
    'data:image/svg+xml;base64,'
    """
    from markupsafe import escape

    low, high = places.min(axis=0, initial=0.0), places.max(axis=0, initial=0.0)
    size = 18 * (high - low) + 22
    at = 18 * (places - low) + 11
    at[:, 1] = size[1] - at[:, 1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]:.0f}" height="{size[1]:.0f}" '
        f'viewBox="0 0 {size[0]:.1f} {size[1]:.1f}" font-family="sans-serif" font-size="9" '
        f'text-anchor="middle" stroke="#6e6e6e">'
    ]
    for (i, j), times in zip(edges, strokes, strict=True):
        along = at[j] - at[i]
        aside = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
        for k in range(times):
            shift = 2.4 * (k - (times - 1) / 2) * aside
            (a, b), (c, d) = at[i] + shift, at[j] + shift
            parts.append(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}"/>')
    for (x, y), name in zip(at, names, strict=True):
        size_of = 6 if name else dots
        if size_of:
            line = "" if dots else ' stroke="none"'
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size_of}" fill="#fff"{line}/>')
        if name:
            text = escape(clean(name[:3]))
            parts.append(
                f'<text x="{x:.1f}" y="{y + 3.2:.1f}" stroke="none" fill="{INK}">{text}</text>'
            )
    return _svg("".join([*parts, "</svg>"]))
