# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `cudaccl tune` in a real browser: what a user does, and what then is seen."""

import json
import shlex
import subprocess
import sys

import pytest

from tune_made import PATIENCE, SETTINGS, Program, until

By = pytest.importorskip("selenium.webdriver.common.by", reason="python3-selenium is missing").By
ActionChains = pytest.importorskip("selenium.webdriver").ActionChains
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys


class Page:
    """What a user sees and does."""

    def __init__(self, driver, program):
        self.driver = driver
        driver.get(program.address)
        until(lambda: self.number("Components"), "the first picture")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def number(self, name):
        return self.driver.execute_script(
            "return document.querySelector(`[data-number='${arguments[0]}']`).textContent", name)

    def state(self):
        return self.find("#state").get_attribute("data-state")

    def count(self):
        return int(self.number("Components").split(",")[0])

    def tab(self, name):
        self.find(f"#tab-{name}").click()

    def press(self, text):
        self.driver.find_element(By.XPATH, f"//button[normalize-space()='{text}' and not(ancestor::*[@hidden])]").click()

    def pause(self):
        until(lambda: self.state() in ("playing", "paused", "ended"), "the source is open")
        if self.state() == "playing":
            self.press("Pause")
            until(lambda: self.state() != "playing", "the pause")

    def show(self, place):
        """The frame at this time, after all that came before it."""
        self.driver.execute_script(
            "import('/state.js').then(({link}) => link.send('runTo', {time: arguments[0]}))", place)
        until(lambda: self.head()["time"] == place, f"the frame at {place}")

    def head(self):
        return self.driver.execute_async_script(
            "const done = arguments[0]; import('/state.js').then(({state}) => done(state.head))")

    def set(self, name, text):
        box = self.find(f"[data-setting={name}] input[type=text]")
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", box)
        box.send_keys(Keys.CONTROL + "a")
        box.send_keys(f"{text}{Keys.ENTER}")

    def points(self, pane=1):
        """From parts of the frame to places in a pane, relative to its middle."""
        width, height = self.head()["width"], self.head()["height"]
        zoom = self.driver.execute_async_script(
            "const done = arguments[0]; import('/view.js').then(({view}) => done(view.zoom))")
        element = self.driver.find_elements(By.CSS_SELECTOR, ".pane")[pane]
        return element, lambda x, y: (round((x - 0.5) * width * zoom), round((y - 0.5) * height * zoom))

    def click(self, *places, pane=1):
        element, point = self.points(pane)
        for place in places:
            ActionChains(self.driver).move_to_element_with_offset(element, *point(*place)).click().perform()

    def export(self, form):
        self.tab("export")
        choice = self.find("#form")
        self.driver.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))", choice, form)
        return until(lambda: self.find("#text").get_attribute("value"), "the text")


@pytest.fixture
def page(browser, clip):
    with Program(*SETTINGS, clip) as program:
        page = Page(browser, program)
        yield page
        complaints = [one for one in browser.get_log("browser") if one["level"] in ("SEVERE", "WARNING")]
        browser.get("about:blank")
        assert not complaints


def test_a_threshold_changes_the_count(page):
    page.pause()
    page.show(1_000_000_000)
    assert page.count() == 3
    page.set("threshold", 150)
    until(lambda: page.count() == 2, "the square is background")
    assert "changed" in page.find("[data-setting=threshold]").get_attribute("class")
    page.find("[data-setting=threshold] button.small").click()
    until(lambda: page.find("[data-setting=threshold] input[type=text]").get_attribute("value") == "0", "the default")
    page.press("Undo")
    until(lambda: page.count() == 2, "the change is undone")
    page.press("Undo")
    until(lambda: page.count() == 3, "both changes are undone")


def test_a_polygon_has_events(page):
    page.pause()
    page.tab("zones")
    page.press("+ Zone")
    page.click((0.4, 0.3), (0.7, 0.3), (0.7, 0.7), (0.4, 0.7), (0.4, 0.3))
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the zone is in the list")
    page.show(3_500_000_000)
    events = until(lambda: [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, ".log li.place")], "an event")
    assert any("entered" in text and "zone 1" in text for text in events)
    document = json.loads(page.export("regions"))
    polygon = document["zones"][0]["polygon"]
    assert len(polygon) == 4 and abs(polygon[0][0] - 0.4) < 0.02 and abs(polygon[2][1] - 0.7) < 0.02


def test_the_copied_command_finds_the_same(page):
    """Also with a zone, whose document is in the command."""
    page.pause()
    page.set("min-area", 20)
    page.tab("zones")
    page.press("+ Line")
    page.click((0.5, 0.1), (0.5, 0.9))
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the line is in the list")
    page.show(3_000_000_000)
    head = page.head()
    seen = until(lambda: [one.get_attribute("textContent") for one in page.driver.find_elements(
        By.CSS_SELECTOR, ".log li.place")], "an event")
    words = shlex.split(page.export("command"))
    assert words[0] == "cudaccl"
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    same, = (one for one in records if one["pts"] == head["time"])
    assert [[one[name] for name in ("label", "id", "area")] + one["box"] for one in same["components"]] == head["boxes"]
    crossed = [event for one in records for event in one["events"] if event["line"]]
    assert len(crossed) == len(seen) == 1 and f"{crossed[0]['type']} {crossed[0]['id']}  line 1" in seen[0]
