# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which pages get a stream of video in place of pictures, while the source plays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from cudaccl._gst_pipeline import PipelineError
from cudaccl.tune import webrtc
from cudaccl.tune.page import Page

_MOST = 2  # each one has an encoder


class Videos:
    """Its methods are for the thread of the event loop, where no other one is named."""

    def __init__(self, call: Callable[..., None]) -> None:
        """call: of a function, in the event loop; for any thread."""
        self._call = call
        self._videos: dict[Page, webrtc.Video] = {}

    def open(self, page: Page) -> None:
        """The page gets an offer, or why there is none."""
        absent = webrtc.missing()
        reason = (f"the program has no {absent}" if absent else "this page has a video" if page in self._videos else
                  f"{_MOST} pages have a video already" if len(self._videos) >= _MOST else None)
        if reason is not None:
            page.put({"type": "noVideo", "text": reason})
            return
        try:
            video = webrtc.Video(
                lambda text: self._call(page.put, {"type": "offer", "sdp": text}),
                lambda: self._call(self._lost, page))
        except PipelineError as error:
            page.put({"type": "noVideo", "text": str(error)})
            return
        self._videos = {**self._videos, page: video}
        video.start()

    def answer(self, page: Page, text: str) -> None:
        """Raises PipelineError."""
        if page in self._videos:
            self._videos[page].answer(text)

    def close(self, page: Page) -> None:
        video = self._videos.get(page)
        if video is not None:
            self._videos = {one: other for one, other in self._videos.items() if one is not page}
            threading.Thread(target=video.close, name="cudaccl-video-end", daemon=True).start()

    def _lost(self, page: Page) -> None:
        if page in self._videos:
            self.close(page)
            page.put({"type": "noVideo", "text": "the connection is lost"})

    def streaming(self) -> frozenset[Page]:
        """Pages whose video is connected. For any thread."""
        return frozenset(page for page, video in self._videos.items() if video.is_connected)

    def push(self, pages: Iterable[Page], frames: list[tuple[Any, Any]]) -> None:
        """The frames of one picture. For one other thread."""
        videos = self._videos
        for page in pages:
            if page in videos:
                videos[page].push(frames)
