# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pipelines beside the one that is shown, when they are slower than the threads that wait for them."""

import threading
import time

import numpy

from cudaccl import _gst_pipeline
from cudaccl.tune.luma import as_frame
from cudaccl.tune.side import _SidePipeline

from tune_made import FRAMES, PATIENCE, Program, with_page


def grey(value):
    return as_frame(numpy.full((8, 8), value, numpy.uint8))


def test_a_late_answer_is_not_that_of_the_next_frame():
    side = _SidePipeline("identity sleep-time=300000", 1)
    try:
        assert side.exchange(*grey(10), timeout=10**7) is None
        for value in (20, 30):
            buffer = side.exchange(*grey(value)).get_buffer()
            assert set(buffer.extract_dup(0, buffer.get_size())) == {value}
    finally:
        side.close()


def test_a_still_picture_gets_its_comparison(clip):
    """Also if that comes after the picture itself."""
    async def look(page):
        await page.wait("frame")
        await page.send("pause")
        await page.wait("state", lambda one: one["state"] in ("paused", "ended"))
        for _ in range(5):
            await page.send("compare", values={"threshold": "150"})
            found = await page.wait("frame", lambda one: one["secondCount"] is not None)
            while "second" not in dict(found["pictures"]):
                found = await page.wait("frame")
            assert found["count"] == 3 and found["secondCount"] == 2
            await page.send("compare", values=None)
            await page.wait("frame", lambda one: one["secondCount"] is None)

    with Program("-s", "threshold=100", clip) as program:
        with_page(program, look)


def test_a_jump_waits_for_the_frame_that_is_read(clip):
    """At a flush nobody may have a sample of appsink."""
    done, found = [], []

    class Pipeline(_gst_pipeline.Pipeline):
        def _image(self, sample):
            if not done:
                jump.start()
                time.sleep(0.2)
                found.append(list(done))
            done.append("read")

        def jump(self):
            assert self.seek(0)
            done.append("sought")

    pipeline = Pipeline(str(clip), None, False, {"threshold": "100"})
    jump = threading.Thread(target=pipeline.jump)
    n_frames = sum(1 for _ in pipeline.run())
    jump.join(PATIENCE)
    assert found == [[]] and done[:2] in (["read", "sought"], ["read", "read"]) and "sought" in done
    assert n_frames > FRAMES
