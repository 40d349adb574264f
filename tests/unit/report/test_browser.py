"""A real browser shows the report: nothing is wider than a phone, and it has no complaints."""

import html as markup
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from tests.unit.report.reading import page_of

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)  # fmt: skip
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on the path"),
]
PHONE = 360
WIDEST = ("nasty", "digits", "regression", "mixed", "thousand")


def browse(folder, *options, page):
    """Open a page without a window, and return what the browser wrote."""
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--hide-scrollbars", f"--user-data-dir={folder / 'browser'}", *options, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_no_report_is_wider_than_a_phone(tmp_path):
    """All reports stand in frames of a phone's width, and a script around them measures."""
    frames = "".join(
        f'<iframe style="border:0;width:{PHONE}px;height:800px" '
        f'srcdoc="{markup.escape(page_of(name))}"></iframe>'
        for name in WIDEST
    )
    script = """
    window.onload = () => {
      const found = [...document.querySelectorAll("iframe")].map(frame => {
        const page = frame.contentDocument;
        const images = [...page.images].filter(image => image.naturalWidth === 0).length;
        return [page.documentElement.scrollWidth, page.body.scrollHeight, images];
      });
      document.title = JSON.stringify(found);
    };
    """
    page = tmp_path / "frames.html"
    page.write_text(f"<!doctype html><meta charset='utf-8'><script>{script}</script>{frames}",
                    encoding="utf-8")  # fmt: skip
    run = browse(tmp_path, "--dump-dom", page=page)
    title = re.search(r"<title>(.*?)</title>", run.stdout, re.DOTALL)
    assert title, run.stderr[-2000:]
    found = dict(zip(WIDEST, json.loads(markup.unescape(title[1])), strict=True))
    for name, (width, height, broken) in found.items():
        assert width <= PHONE, f"the report {name!r} is {width} pixels wide"
        assert height > 2500
        assert broken == 0, f"{broken} pictures of {name!r} cannot be shown"


def test_the_browser_shows_it_and_does_not_complain(tmp_path):
    from PIL import Image

    page = tmp_path / "report.html"
    page.write_text(page_of("nasty"), encoding="utf-8")
    shot = tmp_path / "shot.png"
    run = browse(
        tmp_path, "--enable-logging=stderr", f"--screenshot={shot}", "--window-size=1200,3000",
        page=page,
    )  # fmt: skip
    assert "CONSOLE" not in run.stderr
    with Image.open(shot) as image:
        pixels = np.asarray(image.convert("L"), dtype=float)
    assert pixels.shape == (3000, 1200)
    ink = (pixels < 128).mean(axis=1)
    assert 0.005 < ink.mean() < 0.5
    for part in np.array_split(ink, 10):  # there is something everywhere
        assert part.max() > 0.005


def test_a_complaint_would_be_noticed(tmp_path):
    page = tmp_path / "bad.html"
    text = page_of("iris").replace("<nav", '<img src="http://localhost:1/x.png" alt="x"><nav')
    page.write_text(text, encoding="utf-8")
    run = browse(tmp_path, "--enable-logging=stderr", "--dump-dom", page=page)
    assert "Content Security Policy" in run.stderr
