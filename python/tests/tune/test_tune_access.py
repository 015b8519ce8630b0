# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `cudaccl tune` for all: axe-core finds no violation of WCAG 2.2 AA in any view, light or dark; touch."""

import importlib.metadata
import json

import pytest

pytest.importorskip("selenium", reason="python3-selenium is missing")

from tune_made import SETTINGS, Program  # noqa: E402  (Selenium comes first)
from tune_page import By, Page, until  # noqa: E402

TABS = "settings", "zones", "pixel", "charts", "fit", "export"
TAGS = "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"
RUN = """
const done = arguments[1];
axe.run(document, {runOnly: {type: 'tag', values: arguments[0]}, resultTypes: ['violations']}).then(
  ({violations, passes}) => done({passes: passes.length, violations: violations.map(
    ({id, nodes}) => `${id}: ${nodes.map(({html, failureSummary}) => `${html.slice(0, 120)} ${failureSummary}`).join(' | ')}`)}),
  (error) => done({passes: 0, violations: [String(error)]}));
"""


@pytest.fixture(scope="module")
def axe():
    try:
        package = importlib.metadata.distribution("axe-playwright-python")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("axe-playwright-python, which has axe-core, is missing")
    return package.locate_file("axe_playwright_python/axe.min.js").read_text()


@pytest.fixture(params=["light", "dark"])
def shown(request, browser, clip):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": request.param}]})
    with Program(*SETTINGS, clip) as program:
        page = Page(browser, program)
        page.pause()
        yield page
        assert page.leave() == []


def check(page, axe):
    """Nothing is violated, and something was looked at."""
    driver = page.driver
    if not driver.execute_script("return Boolean(window.axe)"):
        driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})  # a script of the page would be refused
    found = driver.execute_async_script(RUN, TAGS)
    assert found["passes"] > 10 and found["violations"] == []


def test_no_view_violates_wcag(shown, axe):
    for name in TABS:
        shown.tab(name)
        check(shown, axe)


def test_no_state_violates_wcag(shown, axe):
    """With a wipe, a comparison, a zone that is selected, an answer about a pixel, marks and a proposal, a refusal."""
    page = shown
    page.press("Wipe")
    page.find("#compare").click()
    page.tab("zones")
    page.press("+ Zone")
    check(page, axe)
    page.click((0.1, 0.1), (0.4, 0.1), (0.4, 0.4), (0.1, 0.1), pane=0)
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li.selected"), "the zone")
    check(page, axe)
    page.press("Side by side")
    page.tab("pixel")
    page.click((155 / 320, 205 / 240), pane=0)
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".record"), "the answer")
    check(page, axe)
    page.tab("fit")
    page.find("#panel-fit details summary").click()
    page.click((155 / 320, 205 / 240), pane=0)
    until(lambda: "1 marked object" in page.find("#panel-fit").text, "the mark")
    page.find("#search-fit").click()
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".proposals"), "a proposal")
    check(page, axe)
    page.tab("settings")
    page.find(".settings .check input").click()
    page.set("threshold", "x")
    until(lambda: page.find("[data-setting=threshold] .error").text, "the reason")
    check(page, axe)


def test_a_violation_is_noticed(shown, axe):
    shown.driver.execute_script("document.querySelector('main').append(Object.assign(document.createElement('p'), "
                                "{textContent: 'pale', style: 'color: #888; background: #999'}))")
    with pytest.raises(AssertionError, match="color-contrast"):
        check(shown, axe)


def test_texts_can_be_read(shown):
    """Contrast of 4.5 : 1, as WCAG 2.2 AA asks for texts, also where axe-core cannot decide; every control has a name."""
    for name in TABS:
        shown.tab(name)
        assert shown.driver.execute_script(CONTRAST) == []
        assert shown.driver.execute_script(NAMELESS) == []


def touch(page, kind, *points):
    page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
        {"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]})


def places(page, *parts, pane=1):
    """Places of the window of parts of the frame."""
    element, point = page.points(pane)
    box = page.driver.execute_script("const {x, y, width, height} = arguments[0].getBoundingClientRect(); return [x + width / 2, y + height / 2]", element)
    return [[middle + offset for middle, offset in zip(box, point(*part))] for part in parts]


def tap(page, *parts):
    for place in places(page, *parts):
        touch(page, "touchStart", place)
        touch(page, "touchEnd")


def drag(page, begin, end):
    first, last = places(page, begin, end)
    touch(page, "touchStart", first)
    for step in range(1, 6):
        touch(page, "touchMove", [a + (b - a) * step / 5 for a, b in zip(first, last)])
    touch(page, "touchEnd")


def polygons(page):
    document = json.loads(page.export("regions"))
    page.tab("zones")
    return [one["polygon"] for one in document["zones"]]


def test_a_zone_is_drawn_and_moved_by_touch(page):
    page.pause()
    page.tab("zones")
    page.press("+ Zone")
    tap(page, (0.2, 0.3), (0.6, 0.3), (0.6, 0.7), (0.2, 0.7), (0.2, 0.3))
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the zone is in the list")
    (polygon,) = polygons(page)
    assert len(polygon) == 4 and abs(polygon[2][0] - 0.6) < 0.02 and abs(polygon[2][1] - 0.7) < 0.02
    drag(page, (0.6, 0.7), (0.8, 0.9))
    until(lambda: polygons(page)[0][2][0] > 0.7, "the corner has moved")
    assert abs(polygons(page)[0][2][1] - 0.9) < 0.03
    drag(page, (0.3, 0.4), (0.35, 0.4))
    until(lambda: polygons(page)[0][0][0] > 0.22, "the zone has moved")


def test_a_finger_that_is_cancelled_leaves_the_zone(page):
    """A call, for example, while a corner is moved."""
    page.pause()
    page.tab("zones")
    page.press("+ Zone")
    tap(page, (0.2, 0.3), (0.6, 0.3), (0.6, 0.7), (0.2, 0.3))
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, ".shapes li"), "the zone is in the list")
    before = polygons(page)
    touch(page, "touchStart", *places(page, (0.6, 0.7)))
    touch(page, "touchMove", *places(page, (0.8, 0.8)))
    touch(page, "touchCancel")
    tap(page, (0.9, 0.1))
    assert polygons(page) == before


def test_two_fingers_zoom(page):
    page.pause()
    before = int(page.find("#zoom").text.split()[0])
    left, right, far_left, far_right = places(page, (0.45, 0.5), (0.55, 0.5), (0.3, 0.5), (0.7, 0.5))
    touch(page, "touchStart", left, right)
    touch(page, "touchMove", far_left, far_right)
    touch(page, "touchEnd")
    until(lambda: int(page.find("#zoom").text.split()[0]) > 2 * before, "the picture is larger")


CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
function rgb(text) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}
function light([r, g, b]) {
  const [x, y, z] = [r, g, b].map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function ground(element) {
  for (let one = element; one; one = one.parentElement) {
    const color = rgb(getComputedStyle(one).backgroundColor);
    if (color[3] > 128) return color;
  }
  return [255, 255, 255, 255];
}
const bad = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || element.closest('svg, option, .idle, [hidden]') || element.disabled || !element.checkVisibility()) continue;
  const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) bad.push(`${element.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
}
return bad;
"""
NAMELESS = """
return [...document.querySelectorAll('button, input, select, textarea, [role=slider], [tabindex]')].filter((one) =>
  one.checkVisibility() && !(one.labels?.length || one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim()))
  .map((one) => one.outerHTML.slice(0, 100));
"""
