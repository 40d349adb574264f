"""A real browser: pages are opened, clicked, typed into, and complaints are collected."""

import base64
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
DRIVER = shutil.which("chromedriver")
NEEDED = {"selenium": find_spec("selenium"), "chromium": CHROMIUM, "chromedriver": DRIVER}
MISSING = [name for name, there in NEEDED.items() if there is None]
needs_browser = pytest.mark.skipif(bool(MISSING), reason=f"there is no {' and no '.join(MISSING)}")
DESK, PHONE = (1400, 1000), (390, 844)


@contextmanager
def browser():
    """Yield a browser without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for one in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--hide-scrollbars", "--disable-background-networking", "--disable-sync",
                "--disable-component-update", "--no-first-run"):  # fmt: skip
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def look(driver, size=DESK, dark=False):
    """Set the size of the window, and whether it is dark outside."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def open_page(driver, address):
    """Open a page, and wait until it is there or says why not."""
    driver.get(address)
    there = (
        "return document.documentElement.dataset.ready"
        " || document.getElementById('trouble').textContent"
    )
    wait(lambda: driver.execute_script(there))


def wait(condition, seconds=30.0):
    """Wait until something is so, and return it."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, "the page does not get there"
        time.sleep(0.05)


def complaints(driver):
    """Return what the browser has complained about."""
    return [line["message"] for line in driver.get_log("browser")]


def trouble(driver):
    """Return what the page says is wrong."""
    return driver.execute_script("return document.getElementById('trouble').textContent")


def shot(driver, path):
    """Take a picture of the whole page."""
    height = driver.execute_script("return document.documentElement.scrollHeight")
    width = driver.execute_script("return window.innerWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    found = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    path.write_bytes(base64.b64decode(found["data"]))


def too_wide(driver):
    """Return by how many pixels the page is wider than its window."""
    return driver.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def nameless(driver):
    """Return what can be used and has no name for a screen reader."""
    from selenium.common.exceptions import StaleElementReferenceException

    for _ in range(20):
        try:
            return _nameless(driver)
        except StaleElementReferenceException:  # an answer has come meanwhile
            time.sleep(0.2)
    raise AssertionError("the page does not come to rest")


def _nameless(driver):
    wanted = "button, input, select, textarea, canvas, [tabindex], [role=tab]"
    found = driver.find_elements("css selector", wanted)
    return [one.get_attribute("outerHTML")[:200] for one in found
            if one.is_displayed() and not one.accessible_name]  # fmt: skip


@contextmanager
def exploring(*arguments):
    """Run `mercer explore` as users do, and yield its address and process."""
    command = [sys.executable, "-m", "mercer.cli", "explore", *map(str, arguments), "--no-browser"]
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    said = []
    try:
        while " is at http://" not in "".join(said):
            line = run.stderr.readline()
            assert line, "".join(said)
            said.append(line)
        address = said[-1].split(" is at ")[1].split()[0]
        yield address, run
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGINT)
            run.wait(30)
        run.stderr.close()
