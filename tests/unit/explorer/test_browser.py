"""The live page in a real browser: every panel is used by clicks and keys, without a complaint."""

import signal

import pytest

from tests.unit.explorer import subjects
from tests.unit.explorer.browsing import (
    DESK,
    PHONE,
    browser,
    complaints,
    exploring,
    look,
    nameless,
    needs_browser,
    open_page,
    shot,
    too_wide,
    trouble,
    wait,
)

pytestmark = [pytest.mark.slow, needs_browser]


@pytest.fixture(scope="module")
def driver():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    subjects.flowers().to_csv(folder / "flowers.csv", index=False)
    subjects.mixed().to_csv(folder / "mixed.csv", index=False)
    subjects.sequences().to_csv(folder / "sequences.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def flowers(tables):
    with exploring(tables / "flowers.csv", "--target", "target", "--port", 0) as (address, _):
        yield address


def by_id(driver, name):
    return driver.find_element("id", name)


def text_of(driver, name):
    return driver.execute_script("return document.getElementById(arguments[0]).textContent", name)


def set_value(driver, name, value):
    """Move a slider as its user would, who is told of by an event."""
    driver.execute_script(
        "const node = document.getElementById(arguments[0]); node.value = arguments[1];"
        "node.dispatchEvent(new Event('input', {bubbles: true}));",
        name, value,
    )  # fmt: skip


@pytest.fixture
def page(driver, flowers):
    look(driver)
    open_page(driver, flowers)
    wait(lambda: "pulled" in text_of(driver, "reasons"))
    complaints(driver)
    yield driver
    assert complaints(driver) == []
    assert trouble(driver) == ""


def place_of(driver, row):
    """Return where a row is on the screen, from the middle of the map."""
    return driver.execute_script(
        "const map = window.mercer.view.map, row = arguments[0];"
        "return [map.across(map.opening.x[row]) - map.canvas.clientWidth / 2,"
        " map.up(map.opening.y[row]) - map.canvas.clientHeight / 2]", row,
    )  # fmt: skip


def test_a_click_on_the_map_asks_why(page):
    from selenium.webdriver import ActionChains

    x, y = place_of(page, 106)
    canvas = by_id(page, "map")
    ActionChains(page).move_to_element_with_offset(canvas, x, y).click().perform()
    wait(lambda: text_of(page, "answer").startswith("Row 106"))
    assert "versicolor" in text_of(page, "answer")
    wait(lambda: not by_id(page, "tip").get_attribute("hidden"))
    wait(lambda: "smallest change" in text_of(page, "changes"))
    links = page.execute_script("return window.mercer.view.map.links.length")
    assert links > 3


def test_arrow_keys_go_from_row_to_row(page):
    from selenium.webdriver.common.keys import Keys

    canvas = by_id(page, "map")
    page.execute_script("arguments[0].focus()", canvas)
    canvas.send_keys(Keys.ARROW_LEFT)
    canvas.send_keys(Keys.ARROW_UP)
    row = page.execute_script("return window.mercer.view.map.hovered")
    assert row >= 0
    assert f"row {row}:" in text_of(page, "status")
    canvas.send_keys(Keys.ENTER)
    wait(lambda: text_of(page, "answer").startswith(f"Row {row}"))
    before = page.execute_script("return window.mercer.view.map.x")
    canvas.send_keys("+")
    after = page.execute_script("return window.mercer.view.map.x")
    assert after[1] - after[0] < before[1] - before[0]
    canvas.send_keys("0")


def test_a_lasso_and_a_search_choose_rows(page):
    from selenium.webdriver import ActionChains

    by_id(page, "lasso").click()
    assert by_id(page, "lasso").get_attribute("aria-pressed") == "true"
    canvas = by_id(page, "map")
    width, height = canvas.size["width"], canvas.size["height"]
    path = ActionChains(page, duration=30).move_to_element_with_offset(canvas, 0, 4 - height // 2)
    path.click_and_hold()
    for dx, dy in ((width // 2 - 8, 0), (0, height - 10), (8 - width // 2, 0), (0, 20 - height)):
        path.move_by_offset(dx // 2, dy // 2).move_by_offset(dx - dx // 2, dy - dy // 2)
    path.release().perform()
    wait(lambda: "rows are chosen" in text_of(page, "group"))
    assert "setosa: 50" in text_of(page, "group")
    by_id(page, "wanted").send_keys("virginica\n")
    wait(lambda: "50 rows" in text_of(page, "found"))
    wait(lambda: text_of(page, "group").startswith("50 rows"))


def test_all_colors_can_be_chosen(page):
    from selenium.webdriver.support.ui import Select

    select = Select(by_id(page, "color"))
    for name in ("class", "prediction", "error", "uncertainty"):
        select.select_by_visible_text(name)
        assert text_of(page, "legend")


def test_a_row_is_typed_and_its_answer_follows(page):
    from selenium.webdriver.common.keys import Keys

    by_id(page, "new-row").click()
    first = wait(lambda: page.find_elements("css selector", "#fields input[type=number]"))
    wait(lambda: "setosa" in text_of(page, "what-if-answer"))
    for one in first:
        one.send_keys(Keys.CONTROL, "a")
        one.send_keys("6.5")
    wait(lambda: "setosa" not in text_of(page, "what-if-answer").split("%")[0])
    wait(lambda: page.find_elements("css selector", "#panel-whatif svg.chart polyline"))
    slider = page.find_element("css selector", "#fields input[type=range]")
    value = float(slider.get_attribute("value"))
    slider.send_keys(Keys.ARROW_LEFT)
    wait(lambda: float(slider.get_attribute("value")) < value)
    by_id(page, "tab-why").click()
    wait(lambda: "changed entries" in text_of(page, "answer"))
    wait(lambda: page.execute_script("return window.mercer.view.map.ghost !== null"))


def test_tabs_go_by_keys_and_knobs_turn(page):
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select

    by_id(page, "tab-why").send_keys(Keys.END)
    wait(lambda: "Held-out error" in text_of(page, "panel-knobs"))
    assert by_id(page, "tab-knobs").get_attribute("aria-selected") == "true"
    before = text_of(page, "knob-errors")
    set_value(page, "penalty", 2.9)
    wait(lambda: text_of(page, "knob-errors") != before)
    for name, column in (
        ("first-column", "petal length (cm)"),
        ("second-column", "sepal width (cm)"),
    ):
        Select(by_id(page, name)).select_by_visible_text(column)
    wait(lambda: page.find_elements("css selector", "#panel-knobs svg.chart image"))
    expression = by_id(page, "expression")
    expression.clear()
    expression.send_keys("Gaussian(1.0) + Linear()")
    wait(lambda: page.execute_script(
        "return document.querySelectorAll('#proof .verdict.proved').length") == 3)  # fmt: skip


def test_a_refuted_kernel_says_what_to_do(page):
    by_id(page, "tab-knobs").click()
    expression = wait(lambda: page.find_elements("id", "expression"))[0]
    expression.clear()
    expression.send_keys("Sigmoid(1.0, -1.0)")
    wait(lambda: "no valid kernel" in text_of(page, "knob-note"))
    assert "witness" in text_of(page, "proof")
    expression.clear()
    expression.send_keys("Gaussian(1.0)")
    wait(lambda: text_of(page, "knob-note") == "")


def test_a_wrong_expression_is_said_beside_it(page):
    by_id(page, "tab-knobs").click()
    expression = wait(lambda: page.find_elements("id", "expression"))[0]
    expression.send_keys("nonsense(")
    wait(lambda: "kernel expression" in text_of(page, "knob-note"))


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_everything_has_a_name(driver, flowers, size, dark, tmp_path):
    look(driver, size, dark)
    open_page(driver, flowers)
    for tab in ("why", "whatif", "knobs"):
        by_id(driver, f"tab-{tab}").click()
        wait(lambda tab=tab: len(text_of(driver, f"panel-{tab}")) > 60)
        assert too_wide(driver) <= 0
        assert nameless(driver) == []
    shot(driver, tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000
    ink, paper = driver.execute_script(
        "const own = getComputedStyle(document.body); return [own.color, own.backgroundColor]"
    )
    assert ("28, 29, 31" in ink) is not dark
    assert ("255, 255, 255" in paper) is not dark
    assert complaints(driver) == []


def test_labels_are_text_whatever_they_say(driver, tables):
    look(driver)
    with exploring(tables / "mixed.csv", "--target", "kind", "--port", 0) as (address, _):
        open_page(driver, address)
        wait(lambda: "pulled" in text_of(driver, "reasons"))
        by_id(driver, "tab-whatif").click()
        wait(lambda: "<b>hill</b>" in text_of(driver, "fields"))
        assert driver.find_elements("css selector", "#fields b, #tip b, #reasons b") == []
        assert complaints(driver) == []


def test_letters_of_sequences_are_told(driver, tables):
    look(driver)
    with exploring(tables / "sequences.csv", "--target", "y", "--port", 0) as (address, run):
        open_page(driver, address)
        wait(lambda: len(driver.find_elements("css selector", "#reasons .unit")) == 12)
        by_id(driver, "tab-whatif").click()
        area = wait(lambda: driver.find_elements("css selector", "#fields textarea"))[0]
        area.clear()
        area.send_keys("AAAAAAAAAAAA")
        wait(lambda: "y: p" in text_of(driver, "what-if-answer"))
        assert complaints(driver) == []
        driver.get("about:blank")
        run.send_signal(signal.SIGINT)
        assert run.wait(30) == 130


def test_two_explorers_run_at_once_and_broken_files_say_so_on_the_page(driver, tables):
    look(driver)
    (tables / "broken.mercer").write_bytes(b"not a model at all")
    one_class = subjects.flowers().assign(target="same")
    one_class.to_csv(tables / "one.csv", index=False)
    table = (tables / "one.csv", "--target", "target")
    driver.get("about:blank")
    complaints(driver)
    with exploring(tables / "broken.mercer") as (first, _), exploring(*table) as (second, _):
        assert first.split("/")[2] != second.split("/")[2]
        open_page(driver, first)
        assert "broken.mercer" in trouble(driver)
        open_page(driver, second)
        assert "there is nothing to learn; choose another column" in trouble(driver)
    assert complaints(driver) == []


HANDLE = """
const handle = document.querySelector('[data-point] .handle');
handle.scrollIntoView({block: 'center'});
const box = handle.getBoundingClientRect();
return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
"""


def first_point(driver):
    """Return what a screen reader says of the first point; it is drawn anew at each answer."""
    return driver.execute_script(
        "return document.querySelector('[data-point]').getAttribute('aria-label')"
    )


def drawn(driver):
    """Return all that the charts show."""
    return driver.execute_script("return document.querySelector('.charts').innerHTML")


def test_the_textbooks_are_touched(driver):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    look(driver)
    with exploring("--textbook", "--port", 0) as (address, _):
        open_page(driver, address)
        buttons = driver.find_elements("css selector", ".demonstrations button")
        assert len(buttons) == 8
        for button in buttons:
            name = button.get_attribute("data-name")
            button.click()
            wait(lambda: driver.find_elements("css selector", ".charts svg.chart .frame"))
            wait(lambda: text_of(driver, "words"))
            before = drawn(driver)
            if driver.find_elements("css selector", "[data-point]"):
                start = first_point(driver)
                assert "arrow keys move it" in start
                driver.execute_script("document.querySelector('[data-point]').focus()")
                ActionChains(driver).send_keys(Keys.ARROW_LEFT).perform()
                wait(lambda s=start: first_point(driver) != s)
                moved = first_point(driver)
                x, y = driver.execute_script(HANDLE)
                drag = ActionChains(driver, duration=50)
                drag.w3c_actions.pointer_action.move_to_location(x, y).pointer_down()
                drag.w3c_actions.pointer_action.move_to_location(x + 25, y - 20).pointer_up()
                drag.perform()
                wait(lambda m=moved: first_point(driver) != m)
            for slider in driver.find_elements("css selector", ".demonstration input[type=range]"):
                slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
            if driver.find_elements("id", "step"):
                by_id(driver, "step").click()
            wait(lambda b=before: drawn(driver) != b)
            assert nameless(driver) == [], name
            assert trouble(driver) == "", name
        for size in (DESK, PHONE):
            look(driver, size)
            driver.refresh()
            wait(lambda: driver.find_elements("css selector", ".charts svg.chart .frame"))
            assert too_wide(driver) <= 0
        assert complaints(driver) == []
