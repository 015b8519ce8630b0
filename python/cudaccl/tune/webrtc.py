# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures of a page as one stream of video, by WebRTC: less to send than pictures, for a page on another machine.

The input is above the result in one picture of VP8. One message goes each way: an offer and an answer, with all
addresses in them. Frames that come too fast are dropped before the encoder, whose threads are less urgent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import PipelineError, gstreamer, parse
from cudaccl.tune.side import Converter, be_less_urgent

_ELEMENTS = ("webrtcbin", "nicesink", "vp8enc", "rtpvp8pay")
_LONGEST_SIDE = 1280
_RATE = 4_000_000  # bits per second
_KEY_FRAMES = 120  # frames between two, if none is asked for


def missing() -> str | None:
    """What is not there of what this needs; None: nothing."""
    gst = gstreamer().Gst
    absent = [name for name in _ELEMENTS if gst.ElementFactory.find(name) is None]
    try:
        _bindings()
    except (ImportError, ValueError) as error:
        absent.append(str(error))
    return ", ".join(absent) or None


def _bindings() -> tuple[Any, Any]:
    import gi

    gi.require_version("GstWebRTC", "1.0")
    gi.require_version("GstSdp", "1.0")
    from gi.repository import GstSdp, GstWebRTC

    return GstSdp, GstWebRTC


class Video:
    """To one page. Its methods are for any thread."""

    def __init__(self, offered: Callable[[str], None], failed: Callable[[], None]) -> None:
        """offered: is called with the offer, for the page. failed: the connection is lost. Both in other threads. Raises
        PipelineError."""
        self._gst = gstreamer().Gst
        self._sdp, self._webrtc = _bindings()
        self._offered = offered
        self._failed = failed
        self._lock = threading.Lock()
        self._is_closed = False
        self._converters: list[Converter] = []
        self.is_connected = False
        self._pipeline = parse(
            "appsrc name=in format=time is-live=true do-timestamp=true leaky-type=downstream max-buffers=1 max-bytes=0"
            f" max-time=0 ! vp8enc deadline=1 cpu-used=8 threads=1 target-bitrate={_RATE} keyframe-max-dist={_KEY_FRAMES}"
            " error-resilient=default ! rtpvp8pay ! application/x-rtp,media=video,encoding-name=VP8,payload=96 ! webrtcbin"
            " name=rtc bundle-policy=max-bundle")
        self._source, self._rtc = (self._pipeline.get_by_name(name) for name in ("in", "rtc"))
        bus = self._pipeline.get_bus()
        bus.enable_sync_message_emission()
        self._handlers = [(bus, bus.connect("sync-message::stream-status", self._thread_has_begun))]
        for signal, function in (
                ("on-negotiation-needed", self._make_offer), ("notify::ice-gathering-state", self._gathered),
                ("notify::connection-state", self._changed)):
            self._handlers.append((self._rtc, self._rtc.connect(signal, function)))

    def start(self) -> None:
        """Makes the offer, which follows from a first picture: a grey one."""
        self._pipeline.set_state(self._gst.State.PLAYING)
        self._emit(bytes([128]) * (64 * 64 * 3 // 2), 64, 64)

    def push(self, frames: list[tuple[Any, Any]]) -> None:
        """The frames of one picture: buffers and caps, one above the other. For one thread."""
        with self._lock:
            if not self._is_closed:
                self._push(frames)

    def _push(self, frames: list[tuple[Any, Any]]) -> None:
        while len(self._converters) < len(frames):
            self._converters.append(Converter(_LONGEST_SIDE))
        planes = [converter.planes(*frame) for converter, frame in zip(self._converters, frames)]
        sizes = {one[0].shape for one in planes if one is not None}
        if len(sizes) != 1 or None in planes:
            return
        (height, width), = sizes
        data = b"".join(one[plane].tobytes() for plane in range(3) for one in planes)  # type: ignore[index]
        self._emit(data, width, height * len(planes))

    def _emit(self, data: bytes, width: int, height: int) -> None:
        caps = self._gst.Caps.from_string(f"video/x-raw,format=I420,width={width},height={height},framerate=30/1")
        self._source.emit("push-sample", self._gst.Sample.new(self._gst.Buffer.new_wrapped(data), caps, None, None))

    def answer(self, text: str) -> None:
        """What the page says to the offer. Raises PipelineError."""
        status, message = self._sdp.SDPMessage.new_from_text(text)
        if status != self._sdp.SDPResult.OK or message.medias_len() != 1:
            raise PipelineError("the answer of the page is no SDP of one stream")
        description = self._webrtc.WebRTCSessionDescription.new(self._webrtc.WebRTCSDPType.ANSWER, message)
        self._rtc.emit("set-remote-description", description, self._gst.Promise.new())

    def close(self) -> None:
        """Not in a thread of the pipeline."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            for converter in self._converters:
                converter.close()
        self.is_connected = False
        for one, handler in self._handlers:
            one.disconnect(handler)
        self._pipeline.set_state(self._gst.State.NULL)
        self._pipeline.get_bus().disable_sync_message_emission()

    # ---- in GStreamer's threads ----

    def _thread_has_begun(self, _bus: Any, message: Any) -> None:
        if message.parse_stream_status()[0] == self._gst.StreamStatusType.ENTER:
            be_less_urgent()

    def _make_offer(self, rtc: Any) -> None:
        transceiver = rtc.emit("get-transceiver", 0)
        transceiver.set_property("direction", self._webrtc.WebRTCRTPTransceiverDirection.SENDONLY)
        rtc.emit("create-offer", None, self._gst.Promise.new_with_change_func(self._offer_is_made))

    def _offer_is_made(self, promise: Any) -> None:
        reply = promise.get_reply()
        if reply is not None and reply.has_field("offer"):
            self._rtc.emit("set-local-description", reply.get_value("offer"), self._gst.Promise.new())

    def _gathered(self, rtc: Any, _spec: Any) -> None:
        if rtc.get_property("ice-gathering-state") == self._webrtc.WebRTCICEGatheringState.COMPLETE:
            self._offered(rtc.get_property("local-description").sdp.as_text())

    def _changed(self, rtc: Any, _spec: Any) -> None:
        states = self._webrtc.WebRTCPeerConnectionState
        state = rtc.get_property("connection-state")
        self.is_connected = state == states.CONNECTED
        if state in (states.FAILED, states.DISCONNECTED, states.CLOSED):
            self._failed()
