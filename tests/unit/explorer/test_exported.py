"""The exported page: small, quick, alone, and with Python's numbers, calculated by the browser."""

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, KernelLogistic, KernelRidge, KernelRidgeClassifier, NuSVR
from mercer.errors import DomainError
from mercer.explorer.entries import EntryTable
from mercer.explorer.exported import ArrayStore, export_page
from mercer.explorer.reasons import swapped_shares
from mercer.explorer.session import Session
from mercer.explorer.subject import Subject
from mercer.exports.formula import ExportError
from mercer.kernels import Categorical, Gaussian, Laplacian, Linear, Polynomial, Shepard
from mercer.studies import SavedModel
from tests.unit.explorer.browsing import (
    PHONE,
    browser,
    complaints,
    look,
    nameless,
    needs_browser,
    open_page,
    too_wide,
    trouble,
    wait,
)
from tests.unit.explorer.subjects import subject_of


def plants(count=80, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "height": rng.normal(20, 6, count),
            "light": rng.normal(5, 2, count),
            "species": rng.choice(["fern", "palm", "</script>"], count),
        }
    )


def of_machine(machine, X, y):
    places = np.arange(len(y))
    return Subject(SavedModel(machine.fit(X, y)), EntryTable.of(X), np.asarray(y), places, places)


def machines():
    """Machines on numbers, categories and both, with all kernels that are promised."""
    rows = plants()
    X = rows[["height", "light"]].to_numpy()
    growth = rows.height / 10 + np.sin(rows.light) + (rows.species == "fern")
    code = np.digitize(growth, np.quantile(growth, [0.33, 0.66]))
    label = np.array(["low", "mid", "high"])[code]
    both = Gaussian(6.0).on("height") + Laplacian(2.0).on("light") * Categorical().on("species")
    yield "gaussian", KernelRidge(Gaussian(3.0), 0.1, intercept=True), X, growth
    yield "laplacian", KernelRidgeClassifier(Laplacian(5.0), 0.1), X, label
    yield "shepard", SVC(Shepard(0.3, 1, 1), C=3.0), X, label
    yield "shepard, euclidean", NuSVR(Shepard(0.3, 2, 1)), X, growth
    yield "polynomial", KernelRidge(Polynomial(3, 1.0, 0.01), 1.0), X, growth
    yield "linear", KernelRidge(Linear(), 1.0, intercept=True), X, growth
    yield "categories", KernelRidge(Categorical().on("species"), 0.1), rows, growth
    yield "mixed", KernelRidgeClassifier(2.0 * both, 0.1), rows, label
    yield "logistic", KernelLogistic(Gaussian(4.0), 0.1), X, label == "low"
    yield "product", KernelRidge(both * Gaussian(9.0).on("height", "light"), 0.1), rows, growth


CASES = {name: (machine, X, y) for name, machine, X, y in machines()}


def test_arrays_are_kept_once():
    store = ArrayStore()
    first = store.add(np.arange(6.0).reshape(2, 3))
    assert store.add(np.arange(6.0)) == {"at": first["at"], "rows": 1, "columns": 6}
    assert store.add(np.arange(5.0))["at"] == 6


def test_machines_that_cannot_be_written_down_are_refused_by_name():
    with pytest.raises(ExportError, match="sequence"):
        export_page(subject_of("sequences"))
    X = np.random.default_rng(0).normal(size=(30, 2))
    from mercer import (
        Calibrated,
        KernelRidge,
        KernelRidgeClassifier,
        PrototypeClassifier,
        ScaledTarget,
    )

    with pytest.raises(ExportError, match="PrototypeClassifier"):
        export_page(of_machine(PrototypeClassifier("gaussian"), X, X[:, 0] > 0))
    scaled = ScaledTarget(KernelRidge("gaussian"), "log")
    with pytest.raises(ExportError, match="a target on another scale"):
        export_page(of_machine(scaled, X, np.exp(X[:, 0])))
    dear = Calibrated(KernelRidgeClassifier("gaussian"), costs=np.array([[0, 5], [1, 0]]))
    with pytest.raises(ExportError, match="answers by costs"):
        export_page(of_machine(dear, X, X[:, 0] > 0))


def test_a_page_that_would_be_huge_is_refused(monkeypatch):
    monkeypatch.setattr("mercer.explorer.exported.MAX_BYTES", 1000)
    with pytest.raises(DomainError, match="fewer rows"):
        export_page(subject_of("flowers"))


def test_long_tables_are_thinned_and_say_so(monkeypatch):
    monkeypatch.setattr("mercer.explorer.exported.EXPORTED_ROWS", 20)
    assert "This page shows 20 of 60 rows" in export_page(subject_of("numbers"))


def test_two_thousand_rows_are_less_than_five_megabytes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    subject = of_machine(KernelRidge(Gaussian(4.0), 0.1), X, X[:, 0])
    assert len(export_page(subject).encode()) < 5e6


@pytest.fixture(scope="module")
def driver():
    with browser() as found:
        yield found


def asked(driver, name, parts):
    """Ask the page's own functions."""
    return driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "window.mercer.ask(arguments[0], arguments[1])"
        ".then(done, (e) => done({error: e.message}))",
        name, parts,
    )  # fmt: skip


def close(found, expected):
    """Compare numbers to 1e-9 of the largest."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


def open_export(driver, subject, tmp_path):
    look(driver)
    (tmp_path / "page.html").write_text(export_page(subject), encoding="utf-8")
    open_page(driver, (tmp_path / "page.html").as_uri())
    assert trouble(driver) == ""


def compare(driver, subject):
    """Hold what the page says against what Python says."""
    session = Session(subject)
    for row, cells in ((0, {}), (7, {}), (3, {subject.rows.typed[0]: subject_entry(subject)})):
        parts = {"row": row, "cells": cells}
        here, there = asked(driver, "predict", parts), session.answer("predict", parts)
        assert "error" not in here, here
        assert here["label"] == there["label"]
        if there["number"] is not None:
            close(here["number"], there["number"])
            if here["interval"] is not None:
                close(here["interval"], there["interval"])
        if here["chances"] is not None:
            close(here["chances"], there["chances"])
        why, expected = asked(driver, "why", parts), session.answer("why", parts)
        close(why["score"], expected["score"])
        close(why["offset"], expected["offset"])
        pulls = {one["row"]: one for one in expected["known"]}
        for one in why["known"][:6]:
            names = ("pull", "similarity", "share", "x", "y")
            close([one[k] for k in names], [pulls[one["row"]][k] for k in names])
        frame = subject.rows.changed(row, cells)
        if len(subject.rows.kinds) > 1:
            shares = dict(zip(subject.rows.kinds, swapped_shares(subject, frame), strict=True))
            close([one["share"] for one in why["columns"]],
                  [shares[one["name"]] for one in why["columns"]])  # fmt: skip
        for column in subject.rows.typed:
            effect = asked(driver, "effect", parts | {"column": column})
            theirs = session.answer("effect", parts | {"column": column})
            if subject.rows.kinds[column] != "categorical":
                close(effect["values"], theirs["values"])
            assert [line["name"] for line in effect["lines"]] == [
                line["name"] for line in theirs["lines"]
            ]
            if effect["unit"] == theirs["unit"]:
                close([line["values"] for line in effect["lines"]],
                      [line["values"] for line in theirs["lines"]])  # fmt: skip


def subject_entry(subject):
    name = subject.rows.typed[0]
    if subject.rows.kinds[name] in ("numeric", "date"):
        return float(subject.rows.spans[name][0]) + 0.37
    return subject.rows.levels[name][-1]


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", CASES)
def test_the_browser_has_pythons_numbers(driver, name, tmp_path):
    subject = of_machine(*CASES[name])
    open_export(driver, subject, tmp_path)
    compare(driver, subject)
    assert complaints(driver) == []


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", ["numbers", "flowers"])
def test_encoded_tables_have_pythons_numbers_too(driver, name, tmp_path):
    subject = subject_of(name)
    open_export(driver, subject, tmp_path)
    compare(driver, subject)
    assert complaints(driver) == []


@pytest.mark.slow
@needs_browser
def test_it_opens_quickly_alone_and_is_used_by_clicks_and_keys(driver, tmp_path):
    from selenium.webdriver.common.keys import Keys

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    label = np.array(["<img src=x onerror=alert(1)>", "b"])[(X[:, 0] > 0).astype(int)]
    open_export(driver, of_machine(KernelRidgeClassifier(Gaussian(4.0), 0.1), X, label), tmp_path)
    driver.refresh()
    wait(lambda: driver.execute_script("return document.documentElement.dataset.ready"))
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    wait(lambda: "pulled" in driver.execute_script(
        "return document.getElementById('reasons').textContent"))  # fmt: skip
    assert not driver.find_element("id", "tab-knobs").is_displayed()
    assert driver.find_elements("css selector", "#answer img") == []
    driver.find_element("id", "tab-why").send_keys(Keys.ARROW_RIGHT)
    slider = wait(lambda: driver.find_elements("css selector", "#fields input[type=range]"))[0]
    before = driver.find_element("id", "what-if-answer").text
    for _ in range(30):
        slider.send_keys(Keys.PAGE_UP)
    wait(lambda: driver.find_element("id", "what-if-answer").text != before)
    canvas = driver.find_element("id", "map")
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    driver.find_element("id", "wanted").send_keys("row 77\n")
    wait(lambda: "rows are chosen" in driver.find_element("id", "group").text)
    assert nameless(driver) == []
    blocked = driver.execute_async_script(
        "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done('went out'),"
        " () => done('blocked'))"
    )
    assert blocked == "blocked"
    assert any("Content Security Policy" in line for line in complaints(driver))
    look(driver, PHONE, dark=True)
    assert too_wide(driver) <= 0
