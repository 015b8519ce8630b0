# SPDX-License-Identifier: LGPL-2.1-or-later
"""The panel Fit of the page: marks in a browser, and the search that runs on them."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("selenium", reason="python3-selenium is missing")
pytest.importorskip("scipy.optimize", reason="SciPy is missing")

from tune_made import FRAMES, HEIGHT, PATIENCE, RATE, WIDTH, Program, with_page  # noqa: E402  (Selenium comes first)
from tune_page import ActionChains, By, Page, until  # noqa: E402

FRAME_NS = 10**9 // RATE
SQUARE = [140, 190, 30, 30]
ON_SQUARE = 155 / WIDTH, 205 / HEIGHT


def document(*frames):
    return {"version": 1, "frames": [
        {"source": "scene", "time": number * FRAME_NS, "width": WIDTH, "height": HEIGHT, "objects": list(objects)}
        for number, *objects in frames]}


def marks(page):
    return page.driver.execute_async_script("const done = arguments[0]; import('/marks.js').then(({frames}) => done(frames))")


def box(page, left, top, right, bottom, pane=1):
    """Draws it; in pixels of the frame."""
    element, point = page.points(pane)
    first, last = point(left / WIDTH, top / HEIGHT), point(right / WIDTH, bottom / HEIGHT)
    ActionChains(page.driver).move_to_element_with_offset(element, *first).click_and_hold().move_by_offset(
        5, 5).move_to_element_with_offset(element, *last).release().perform()


def mark_two(page):
    """The square is clicked, the disc, at 1 s, is drawn."""
    page.pause()
    page.show(20 * FRAME_NS)
    page.tab("fit")
    page.click(ON_SQUARE)
    until(lambda: len(marks(page)) == 1, "the square is marked")
    box(page, 65, 105, 95, 135)
    until(lambda: len(marks(page)[0]["objects"]) == 2, "the disc is marked")


def test_objects_are_marked_and_settings_found(page):
    mark_two(page)
    frame, = marks(page)
    assert frame["time"] == 20 * FRAME_NS and frame["source"] == "scene" and frame["objects"][0] == SQUARE
    assert all(abs(a - b) <= 2 for a, b in zip(frame["objects"][1], (65, 105, 30, 30)))
    assert "2 marked objects in 1 frame" in page.find("#panel-fit").text
    page.find("#search-fit").click()
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#rests-on"), "the result")
    assert page.find("#rests-on").text.startswith("This rests on 2 marked objects in 1 frame. That is little")
    row = [one.text for one in page.driver.find_elements(By.CSS_SELECTOR, ".proposals tbody tr:first-child td")]
    assert row[:2] == ["0.800", "1.000"]
    page.find("[aria-label='Compare with proposal 1']").click()
    until(lambda: page.head()["secondCount"] == 2, "the proposal is beside the settings of now")
    page.find("[aria-label='Use proposal 1']").click()
    until(lambda: page.count() == 2, "the dot is gone")
    page.press("Undo")
    until(lambda: page.count() == 3, "a proposal is undone at once")


def test_a_mark_is_removed_by_a_click(page):
    mark_two(page)
    page.click(ON_SQUARE)
    until(lambda: len(marks(page)[0]["objects"]) == 1, "the mark is gone")
    page.find("[aria-label^='Remove: ']").click()
    until(lambda: marks(page) == [], "the frame is not marked any more")
    page.press("No object in this frame")
    until(lambda: [one["objects"] for one in marks(page)] == [[]], "it is a frame without objects")
    page.find("[aria-label^='Remove the marks']").click()
    until(lambda: marks(page) == [], "it is not marked")


def test_marks_are_set_without_a_pointer(page):
    page.pause()
    page.show(20 * FRAME_NS)
    page.tab("fit")
    page.find("#panel-fit details summary").click()
    until(lambda: page.driver.find_elements(By.CSS_SELECTOR, "[aria-label^='Mark: 30 × 30']"), "the components")
    page.find("[aria-label^='Mark: 30 × 30']").click()
    until(lambda: [one["objects"] for one in marks(page)] == [[SQUARE]], "the square is marked")
    for name, value in zip(("x", "y", "width", "height"), (66, 106, 29, 29)):
        page.find(f"[aria-label='{name} of a box']").send_keys(str(value))
    page.press("Add the box")
    until(lambda: len(marks(page)[0]["objects"]) == 2, "the box is marked")


def test_marks_are_saved_loaded_and_shown(page, tmp_path):
    mark_two(page)
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.press("Save marks…")
    path = tmp_path / "marks.json"
    until(path.exists, "the file")
    assert json.loads(path.read_text()) == {"version": 1, "frames": marks(page)}
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document((30, SQUARE), (50, SQUARE))))
    page.find("#panel-fit input[type=file]").send_keys(str(other))
    until(lambda: len(marks(page)) == 2, "the marks of the file")
    page.driver.find_element(By.XPATH, "//*[@id='panel-fit']//button[starts-with(., '2.50 s')]").click()
    until(lambda: page.head()["time"] == 50 * FRAME_NS, "the marked frame")
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".marked")) == 2  # in both panes
    other.write_text('{"version": 1}')
    page.find("#panel-fit input[type=file]").send_keys(str(other))
    assert "frames" in until(lambda: page.find("#refused").text, "why the file is refused")
    assert len(marks(page)) == 2


def test_playing_is_paused_before_a_frame_is_marked(page):
    page.find(".transport .check input").click()  # loop
    page.tab("fit")
    until(lambda: page.state() == "playing", "it plays")
    page.click((0.5, 0.5))
    until(lambda: page.state() == "paused", "the pause")
    assert marks(page) == []


def test_a_search_without_marks_says_why(page):
    page.tab("fit")
    page.find("#search-fit").click()
    assert "no object is marked" in until(lambda: page.find("#refused").text, "the reason")


def test_a_search_is_stopped(browser, clip):
    """What was found until then is shown. The search is long: its frames are learned from."""
    with Program("-s", "foreground=motion", clip) as program:
        page = Page(browser, program)
        page.pause()
        page.tab("fit")
        browser.execute_script("import('/state.js').then(({link}) => link.send('marks', {document: arguments[0]}))",
                               document((40, [126, 106, 29, 29]), (70, [216, 106, 29, 29])))
        until(lambda: len(marks(page)) == 2, "the marks")
        page.find("#search-fit").click()
        until(lambda: "Searching" in page.find("#fit-state").text, "the progress")
        assert page.find("#panel-fit progress").is_displayed()
        page.find("#stop-fit").click()
        until(lambda: "Stopped after" in page.find("#fit-state").text, "the end")
        browser.get("about:blank")


def test_pages_share_marks_and_results(clip):
    """Also one that comes later; and a second search is refused while one runs."""

    async def first(page):
        await page.wait("hello")
        await page.send("marks", document=document((20, SQUARE), (40, SQUARE)))
        assert (await page.wait("marks", lambda one: one["document"]["frames"]))["text"] == "2 marked objects in 2 frames"
        await page.send("fit", names=["threshold", "max-width", "min-area"])
        await page.send("fit", names=[])
        assert "a search is running" in (await page.wait("refused"))["text"]
        return await page.wait("fit", lambda one: one["state"] == "found")

    async def second(page):
        return (await page.wait("marks"))["document"], await page.wait("fit")

    with Program(clip) as program:
        found = with_page(program, first)
        assert found["proposals"][0]["f1"] == 1 and found["isComplete"]
        assert with_page(program, second) == (document((20, SQUARE), (40, SQUARE)), found)


def test_a_mark_behind_the_end_fails(clip):
    async def look(page):
        await page.send("marks", document=document((FRAMES + 9, SQUARE)))
        await page.send("fit", names=[])
        assert "the last one is at" in (await page.wait("fit", lambda one: one["state"] == "failed"))["text"]

    with Program(clip) as program:
        with_page(program, look)


def test_the_program_ends_while_it_searches(clip):
    async def look(page):
        await page.send("marks", document=document((70, SQUARE)))
        await page.send("fit", names=["foreground", "min-area", "threshold"])
        await page.wait("fit", lambda one: one["state"] == "running")

    with Program(clip) as program:
        with_page(program, look)
        assert program.stop() == (0, "")


def test_saved_marks_work_without_a_page(page, clip, tmp_path):
    mark_two(page)
    path = tmp_path / "marks.json"
    path.write_text(json.dumps({"version": 1, "frames": marks(page)}))
    done = subprocess.run([sys.executable, "-m", "cudaccl", "tune", "--fit", path, clip], capture_output=True, text=True,
                          timeout=2 * PATIENCE)
    assert done.returncode == 0 and "threshold=" in done.stdout and "2 marked objects" in done.stderr
