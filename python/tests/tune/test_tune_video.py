# SPDX-License-Identifier: LGPL-2.1-or-later
"""The video stream of the page: WebRTC in a real browser, and pictures where it cannot be."""

import asyncio
import gc
import os
import time

import pytest

from cudaccl.tune import videos, webrtc

from tune_made import Program, until, with_page

PIXEL = """
const [name, x, y, done] = arguments;
import('/state.js').then(({state}) => {
  const image = state.images[name];
  if (!image || !state.head.video) return done(null);
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  done(context.getImageData(x * image.width, y * image.height, 1, 1).data[0]);
});
"""
SQUARE = 155 / 320, 205 / 240
GROUND = 20 / 320, 20 / 240


@pytest.fixture(scope="module")
def stream():
    absent = webrtc.missing()
    if absent:
        pytest.skip(f"GStreamer has no {absent}")


def test_a_page_shows_the_stream(stream, page):
    """The input and the result are in one picture; a pause shows a picture without loss of sharpness."""
    pytest.importorskip("selenium", reason="python3-selenium is missing")
    page.find(".transport .check input").click()  # loop
    page.find("#video").click()
    pixel = lambda name, place: page.driver.execute_async_script(PIXEL, name, *place)  # noqa: E731
    until(lambda: pixel("input", SQUARE) is not None, "a frame of the stream")
    until(lambda: abs(pixel("input", SQUARE) - 130) < 15 and pixel("input", GROUND) < 45, "the square in the input")
    assert page.head()["count"] == 3 and page.head()["pictures"] == []
    page.press("Pause")
    until(lambda: [name for name, _ in page.head()["pictures"]] == ["input", "result"], "a picture")
    page.press("Play")
    until(lambda: page.head().get("video"), "the stream goes on")
    page.find("#compare").click()
    until(lambda: page.head().get("video") == ["input", "result", "second"], "a stream of three")
    until(lambda: abs((pixel("second", GROUND) or 999) - 20) < 25, "the third picture")
    page.find("#video").click()
    until(lambda: page.head()["pictures"], "pictures again")


def test_more_pages_than_encoders_get_pictures(stream, clip):
    async def ask(page):
        await page.send("video")
        offer = await page.wait("offer")
        assert "m=video" in offer["sdp"] and "a=sendonly" in offer["sdp"] and "a=candidate" in offer["sdp"]
        await page.send("video")
        assert (await page.wait("noVideo"))["text"] == "this page has a video"
        await page.send("answer", sdp="no sdp")
        assert "no SDP" in (await page.wait("refused"))["text"]

    async def first(page):
        await ask(page)
        await asyncio.get_running_loop().run_in_executor(None, with_page, program, second)
        assert (await page.wait("frame"))["pictures"]  # no answer came that could be used

    async def second(page):
        await ask(page)
        await asyncio.get_running_loop().run_in_executor(None, with_page, program, third)

    async def third(page):
        await page.send("video")
        assert (await page.wait("noVideo"))["text"] == "2 pages have a video already"
        assert (await page.wait("frame"))["pictures"]

    with Program("-s", "threshold=100", clip) as program:
        with_page(program, first)
        assert program.stop() == (0, "")


def test_a_program_without_webrtc_says_so(monkeypatch):
    said = []

    class Page:
        put = said.append

    monkeypatch.setattr(webrtc, "_ELEMENTS", ("webrtcbin-that-is-not-there",))
    videos.Videos(lambda function, *arguments: function(*arguments)).open(Page)
    assert said == [{"type": "noVideo", "text": "the program has no webrtcbin-that-is-not-there"}]


def test_streams_that_end_leave_nothing(stream):
    def used():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    def once():
        offers = []
        video = webrtc.Video(offers.append, lambda: None)
        video.start()
        until(lambda: offers, "the offer")
        video.close()

    once()
    before = used()
    for _ in range(5):
        once()
    end = time.monotonic() + 10
    while used() > before and time.monotonic() < end:
        time.sleep(0.1)
    assert used() <= before
