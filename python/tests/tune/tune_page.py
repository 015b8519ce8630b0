# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `cudaccl tune` as a user of a browser sees and uses it, for the tests."""

import contextlib

import pytest

import tune_made

errors = pytest.importorskip("selenium.common.exceptions", reason="python3-selenium is missing")
By = pytest.importorskip("selenium.webdriver.common.by", reason="python3-selenium is missing").By
ActionChains = pytest.importorskip("selenium.webdriver").ActionChains
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys


def until(condition, text):
    """As of tune_made; an element that is not there yet, or is made again, is no error."""

    def holds():
        with contextlib.suppress(errors.NoSuchElementException, errors.StaleElementReferenceException):
            return condition()
        return False

    return tune_made.until(holds, text)


class Page:
    """What a user sees and does."""

    def __init__(self, driver, program):
        self.driver = driver
        driver.get(program.address)
        until(lambda: self.number("Components"), "the first picture")

    def leave(self):
        """Returns the errors and warnings of the console."""
        found = [one for one in self.driver.get_log("browser") if one["level"] in ("SEVERE", "WARNING")]
        self.driver.get("about:blank")
        return found

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
        # Where the clip ends meanwhile, there is nothing to press.
        until(lambda: self.state() != "playing" or self.press("Pause"), "the pause")

    def show(self, place):
        """The frame at this time, after all that came before it. It stays, also where the clip had ended: without a pause,
        that would play."""
        self.driver.execute_script(
            "import('/state.js').then(({link}) => { link.send('pause'); link.send('runTo', {time: arguments[0]}); })", place)
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
