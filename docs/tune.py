#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the pictures of docs/tune.md: tune.png, tune-zones.png, tune-charts.png and tune-fit.png.

    tune.py [CLIP]    CLIP: vtest.avi of the package opencv-doc, if it is another file

Needs the Python package with GStreamer's plugin, chromium, chromium-driver, python3-selenium and pillow.
"""

import io
import sys
import time
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "python/tests/tune"))

from tune_made import Program, until  # noqa: E402  (the path comes first)

CLIP = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
REGIONS = ('{"version":1,"zones":[{"name":"road","polygon":[[0.35,0.3],[0.9,0.32],[0.9,0.6],[0.3,0.55]],"dwell":3}],'
           '"lines":[{"name":"gate","from":[0.45,0.2],"to":[0.5,0.6]}]}')
SETTINGS = ("foreground=motion", "open-radius=1", "close-radius=3", "min-area=150", "track=true", f"regions={REGIONS}")
PLACE_NS = 13_500_000_000
SIZE = "1440,900"


# Marks the large components of the frame that is shown: people.
MARK = """
import('/marks.js').then(({mark}) => import('/state.js').then(({state}) => mark(
  state.head.boxes.filter(([, , area]) => area >= arguments[0]).map(([, , , ...box]) => box))));
"""
LEAST_AREA = 500


def until_found(driver):
    for _ in range(10):  # each waits for a minute
        try:
            return until(lambda: driver.find_elements(By.ID, "rests-on"), "the proposals")
        except AssertionError:
            pass
    raise AssertionError("the search did not end")


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for text in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={SIZE}"):
        options.add_argument(text)
    return webdriver.Chrome(options=options, service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))


def save(driver, name):
    """Few colours: the pictures are for reading, and small."""
    time.sleep(1)
    until(lambda: not driver.find_elements(By.CSS_SELECTOR, ".flash"), "the end of a flash")  # of a zone with an event
    image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    image.quantize(192).save(DOCS / name, optimize=True)


def main():
    clip = sys.argv[1] if len(sys.argv) > 1 else CLIP
    driver = browser()
    try:
        with Program(*(word for text in SETTINGS for word in ("-s", text)), clip) as program:
            driver.get(program.address)
            number = "return document.querySelector('[data-number=Components]').textContent"
            until(lambda: driver.execute_script(number), "the first picture")
            driver.execute_script(
                "import('/state.js').then(({link}) => { link.send('pause'); link.send('runTo', {time: arguments[0]}); })", PLACE_NS)
            until(lambda: "13.50" in driver.find_element(By.CSS_SELECTOR, ".time").text, "the frame")
            save(driver, "tune.png")
            driver.find_element(By.ID, "tab-zones").click()
            driver.find_element(By.CSS_SELECTOR, ".pick").click()
            save(driver, "tune-zones.png")
            driver.find_element(By.ID, "tab-charts").click()
            driver.find_element(By.XPATH, "//button[text()='Wipe']").click()
            save(driver, "tune-charts.png")
            driver.find_element(By.XPATH, "//button[text()='Side by side']").click()
            driver.find_element(By.ID, "tab-fit").click()
            driver.execute_script(MARK, LEAST_AREA)
            until(lambda: driver.find_elements(By.CSS_SELECTOR, "#panel-fit .shapes li"), "the marks")
            driver.find_element(By.ID, "search-fit").click()
            until_found(driver)
            driver.execute_script("document.querySelector('#rests-on').scrollIntoView()")
            save(driver, "tune-fit.png")
            driver.get("about:blank")
    finally:
        driver.quit()


main()
