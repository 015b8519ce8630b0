# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `cudaccl tune` in a real browser: what a user does, and what then is seen."""

import json
import shlex
import subprocess
import sys

import pytest

pytest.importorskip("selenium", reason="python3-selenium is missing")

from tune_made import PATIENCE, Program  # noqa: E402  (Selenium comes first)
from tune_page import ActionChains, By, Keys, Page, until  # noqa: E402


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


def test_a_polygon_is_drawn_and_moved_with_keys_alone(page):
    page.pause()
    page.tab("zones")
    page.press("+ Zone")
    keys = ActionChains(page.driver)
    for key, times in ((Keys.ARROW_LEFT, 4), (" ", 1), (Keys.ARROW_RIGHT, 8), (" ", 1), (Keys.ARROW_DOWN, 6), (" ", 1),
                       (Keys.ARROW_UP, 3), (" ", 1), (Keys.BACKSPACE, 1), (Keys.ENTER, 1)):
        keys.send_keys(*[key] * times)
    keys.perform()
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the zone is in the list")
    polygon = json.loads(page.export("regions"))["zones"][0]["polygon"]
    assert polygon == [[0.375, 0.5], [0.625, 0.5], [0.625, 0.75]]
    page.tab("zones")
    corner = page.find("#corner-0-1")
    corner.send_keys(Keys.ARROW_UP)
    until(lambda: page.find("#corner-0-1").text == "200, 119", "the corner has moved")
    page.find("#corner-0-1").send_keys(Keys.SHIFT + Keys.ARROW_UP)
    until(lambda: page.find("#corner-0-1").text == "200, 109", "the corner has moved farther")
    assert page.driver.switch_to.active_element.get_attribute("id") == "corner-0-1"
    page.press("Undo")
    until(lambda: page.find("#corner-0-1").text == "200, 120", "one undo takes back a row of keys")


def test_a_polygon_is_drawn_moved_and_named_with_the_mouse(page):
    page.pause()
    page.tab("zones")
    page.press("+ Exclude")
    page.click((0.2, 0.2), (0.4, 0.2), (0.4, 0.4), (0.2, 0.2))
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the shape is in the list")
    element, point = page.points()
    ActionChains(page.driver).move_to_element_with_offset(element, *point(0.4, 0.4)).click_and_hold().move_by_offset(
        40, 20).move_by_offset(5, 5).release().perform()
    until(lambda: "96" not in page.find("#corner-0-2").text.split(", ")[1], "the corner has moved")
    name = page.find(".member input[type=text]")
    name.send_keys(Keys.CONTROL + "a")
    name.send_keys("the “wall”" + Keys.ENTER)
    until(lambda: "the “wall”" in page.find(".shapes .pick").text, "the name")
    document = json.loads(page.export("regions"))
    assert document["exclude"][0]["name"] == "the “wall”" and document["exclude"][0]["polygon"][2][0] > 0.41
    page.tab("zones")
    page.find(".shapes button[aria-label^=Delete]").click()
    until(lambda: not page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the shape is gone")


def test_two_zones_of_one_name_are_refused(page):
    """By the library, in its words; what was there stays."""
    page.pause()
    page.tab("zones")
    for left in (0.1, 0.5):
        page.press("+ Zone")
        page.click((left, 0.2), (left + 0.2, 0.2), (left + 0.2, 0.4), (left, 0.2))
        until(lambda: not page.driver.find_elements(By.CSS_SELECTOR, ".shape.new"), "the zone is complete")
    until(lambda: len(page.driver.find_elements(By.CSS_SELECTOR, ".shapes li")) == 2, "two zones")
    name = page.find(".shapes li.selected .member input[type=text]")
    name.send_keys(Keys.CONTROL + "a")
    name.send_keys("zone 1" + Keys.ENTER)
    error = until(lambda: page.find(".zones > .error").text, "the reason")
    assert "zone 1" in error
    until(lambda: "zone 2" in page.find(".shapes li.selected .pick").text, "the old name is there again")


def test_a_drawing_is_cancelled(page):
    page.tab("zones")
    page.press("+ Line")
    page.click((0.2, 0.2))
    ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    until(lambda: not page.driver.find_elements(By.CSS_SELECTOR, ".shape.new"), "the drawing is gone")
    assert page.export("settings") == "threshold=100\ntrack=true\n"


def test_a_refused_value_says_why_beside_its_control(page):
    page.set("min-area", "x1")
    row = page.find("[data-setting=min-area]")
    text = until(lambda: row.find_element(By.CSS_SELECTOR, ".error").text, "the reason")
    assert "possible are whole numbers from 0" in text
    assert not page.find("#refused").is_displayed()
    page.set("min-area", 5)
    until(lambda: not row.find_element(By.CSS_SELECTOR, ".error").text, "the reason is gone")


def test_settings_are_found_and_presets_used(page):
    search = page.find("#search")
    search.send_keys("eccentricity")
    shown = until(lambda: [one.get_attribute("data-setting") for one in page.driver.find_elements(
        By.CSS_SELECTOR, ".row") if one.is_displayed()], "a result")
    assert shown == ["max-eccentricity"]
    search.send_keys(Keys.CONTROL + "a", Keys.DELETE)
    page.find("#preset option[value=people]").click()
    until(lambda: page.find("[data-setting=foreground] select").get_attribute("value") == "motion", "the preset")
    idle = {one.get_attribute("data-setting") for one in page.driver.find_elements(By.CSS_SELECTOR, ".row.idle")}
    assert {"threshold", "threshold-low", "local-radius"} <= idle and "motion-sensitivity" not in idle
    page.find(".settings .check input").click()
    names = [one.get_attribute("data-setting") for one in page.driver.find_elements(By.CSS_SELECTOR, ".row") if one.is_displayed()]
    assert set(names) == {"foreground", "open-radius", "close-radius", "separate", "separate-aspect", "min-area", "min-height", "track"}
    page.press("Reset all")
    until(lambda: not page.find("#reset").is_enabled(), "all settings are the defaults")


def test_a_slider_changes_the_picture_and_is_undone_at_once(page):
    page.pause()
    page.show(1_000_000_000)
    slider = page.find("[data-setting=min-area] input[type=range]")
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", slider)
    slider.send_keys(*[Keys.PAGE_UP] * 4)
    until(lambda: page.count() == 2, "the dot is removed")
    page.press("Undo")
    until(lambda: page.count() == 3, "all steps are undone")
    assert not page.find("#undo").is_enabled()


def test_two_settings_are_compared_on_the_same_frame(page):
    page.pause()
    page.show(1_000_000_000)
    page.find("#compare").click()
    until(lambda: page.head()["secondCount"] == 3, "the other settings have found the same")
    page.set("threshold", 150)
    until(lambda: page.count() == 2 and page.head()["secondCount"] == 3, "the two differ")
    titles = [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, ".pane .title")]
    assert titles == ["Result: 2", "Other settings: 3"]
    page.press("Exchange")
    until(lambda: page.count() == 3 and page.head()["secondCount"] == 2, "they are exchanged")
    page.find("#compare").click()
    until(lambda: page.head()["secondCount"] is None, "there is one picture again")


def test_a_click_explains_a_pixel(page):
    page.pause()
    page.show(1_000_000_000)
    page.click((155 / 320, 205 / 240), pane=0)
    until(lambda: "value 130" in page.find(".verdict").text, "the answer")
    steps = [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, ".steps li")]
    assert len(steps) == 2 and "passes threshold=100" in steps[0]
    record = page.find(".record").text
    assert "900" in record and "140, 190, 30, 30" in record
    page.tab("settings")
    page.set("max-width", 20)
    page.tab("pixel")
    page.click((155 / 320, 205 / 240), pane=0)
    until(lambda: "removed by max-width=20" in page.find(".steps").text, "why it is removed")


def test_handles_in_charts_move_settings(page):
    page.pause()
    page.show(1_000_000_000)
    page.tab("charts")
    until(lambda: "3 of 3 components" in page.find("#panel-charts").text, "all components")
    handle = page.find(".handle[aria-label=min-area]")
    page.driver.execute_script("arguments[0].focus()", handle)
    for _ in range(40):
        ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
        if page.count() == 2:
            break
    until(lambda: "2 of 3 components" in page.find("#panel-charts").text, "the dot is removed")
    page.driver.find_element(By.XPATH, "//button[starts-with(., 'Use Otsu')]").click()
    until(lambda: page.find(".handle[aria-label=threshold]").get_attribute("aria-valuenow") == "21", "Otsu's threshold")


def test_wipe_zoom_and_pan(page):
    page.pause()
    page.press("Wipe")
    divider = page.find(".divider")
    divider.send_keys(*[Keys.ARROW_RIGHT] * 5)
    assert divider.get_attribute("aria-valuenow") == "60"
    for _ in range(12):
        page.find("#zoom-in").click()
    assert int(page.find("#zoom").text.split()[0]) > 1000
    page.find("#fit").click()
    assert int(page.find("#zoom").text.split()[0]) < 1000
    for name in ("labels", "mask", "distance", "passthrough", "colorized"):
        page.find(f"#output option[value={name}]").click()
        before = page.head()["number"]
        until(lambda: page.head()["number"] > before or page.head()["isAgain"], f"a picture of {name}")


def test_a_second_page_follows(page):
    """What one page changes, the other one shows, also while it has another value in a box."""
    first = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.driver.get(page.driver.execute_script("return 'about:blank'"))
    page.driver.switch_to.window(first)
    address = page.driver.current_url
    page.driver.switch_to.window(page.driver.window_handles[-1])
    page.driver.get(address)  # the cookie is enough
    until(lambda: page.number("Components"), "the second page")
    page.set("min-area", 77)
    page.driver.close()
    page.driver.switch_to.window(first)
    until(lambda: page.find("[data-setting=min-area] input[type=text]").get_attribute("value") == "77", "the other page")


def test_a_page_opens_its_connection_again(browser, clip):
    with Program(clip) as program:
        page = Page(browser, program)
        assert program.stop()[0] == 0
        until(lambda: page.find("#lost").is_displayed(), "the loss is shown")
        browser.get_log("browser")  # of attempts that fail
        browser.get("about:blank")
