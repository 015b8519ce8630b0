# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures of the tests of `cudaccl tune`: the clip, and a real browser."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

gi = pytest.importorskip("gi", reason="python3-gi is missing")
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

from tune_made import write_scene  # noqa: E402  (the path comes first)

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True, scope="session")
def element():
    Gst.init(None)
    if Gst.ElementFactory.find("cudaccl") is None:
        pytest.skip("GStreamer has no element cudaccl")
    pytest.importorskip("aiohttp", reason="aiohttp is missing")


@pytest.fixture(autouse=True)
def preset_files(tmp_path, monkeypatch):
    """Those of this tree, and none of the user's."""
    monkeypatch.setenv("GST_PRESET_PATH", str(ROOT / "gst/properties"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "system"))


@pytest.fixture(scope="session")
def clip(tmp_path_factory):
    return write_scene(tmp_path_factory.mktemp("tune") / "scene.mkv")


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="python3-selenium is missing")
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    for name, path in programs.items():
        if path is None:
            pytest.skip(f"{name} is missing")
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    # Without a sandbox: containers have none, and the only page is ours.
    for text in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1400,900"):
        options.add_argument(text)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(programs["chromedriver"])
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, clip):
    """The page of a program that plays the clip. No error and no warning in the console."""
    from tune_made import SETTINGS, Program
    from tune_page import Page

    with Program(*SETTINGS, clip) as program:
        page = Page(browser, program)
        yield page
        assert page.leave() == []
