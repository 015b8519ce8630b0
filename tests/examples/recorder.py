#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records a camera or a clip around motion: a file begins a while before the event `started` and ends with `stopped`.

    recorder.py "filesrc location=clip.avi ! decodebin" --folder recordings
    recorder.py "v4l2src ! decodebin" --pre-roll 5 --set min-area=200 --set event-hold=3000000000
    recorder.py "rtspsrc location=rtsp://camera/stream ! decodebin" --encoder "x264enc tune=zerolatency ! h264parse"

Encoders keep GstCudaCclMeta, so an encoded frame still has the events of its frame. Frames wait, encoded, for the
pre-roll time. With `started` they go into a splitmuxsink, with all frames up to `stopped`.
"""

import argparse
import collections
import sys
from pathlib import Path

try:
    import gi
    import numpy

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    from gi.repository import GLib, Gst, GstApp  # noqa: F401  (GstApp gives appsink and appsrc their methods)
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; install python3-gi, python3-gst-1.0 and python3-numpy")
    sys.exit(77)

EVENT = numpy.dtype([
    ("type", "u4"), ("id", "u4"), ("other", "u4"), ("where", "u4"), ("time", "i8"), ("x", "f4"), ("y", "f4"),
])
STARTED, STOPPED = 11, 12
SETTINGS = ["foreground=motion", "open-radius=1", "close-radius=3", "min-area=50"]


def event_types(buffer: Gst.Buffer) -> list[int]:
    """The types of the frame's events, in their order."""
    meta = buffer.get_custom_meta("GstCudaCclMeta")
    events = meta.get_structure().get_value("events") if meta else None
    data = events.get_data() or b"" if events else b""
    return numpy.frombuffer(data, EVENT, len(data) // EVENT.itemsize)["type"].tolist()


def is_key_frame(buffer: Gst.Buffer) -> bool:
    return not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)


def raise_error(message: Gst.Message) -> None:
    error, details = message.parse_error()
    reason = f" ({details.splitlines()[-1]})" if details else ""
    sys.exit(f"error: {message.src.get_name()}: {error.message}{reason}")


class PreRoll:
    """The encoded frames of the last `duration` nanoseconds, and those before them back to a key frame."""

    def __init__(self, duration: int):
        self.duration = duration
        self.groups: collections.deque[list[Gst.Buffer]] = collections.deque()  # each begins with a key frame

    def add(self, buffer: Gst.Buffer) -> None:
        if is_key_frame(buffer):
            self.groups.append([])
        if self.groups:
            self.groups[-1].append(buffer)
        while len(self.groups) > 1 and self.groups[1][0].pts + self.duration <= buffer.pts:
            self.groups.popleft()

    def take(self) -> list[Gst.Buffer]:
        frames = [buffer for group in self.groups for buffer in group]
        self.groups.clear()
        return frames


class Recording:
    """A file, or several if it is longer than `max_length` nanoseconds. Its first frame has the time 0."""

    def __init__(self, pattern: Path, caps: Gst.Caps, max_length: int):
        self.pipeline = Gst.parse_launch("appsrc name=in format=time ! splitmuxsink name=out muxer-factory=matroskamux")
        self.source = self.pipeline.get_by_name("in")
        self.source.props.caps = caps
        sink = self.pipeline.get_by_name("out")
        sink.props.location = str(pattern)
        sink.props.max_size_time = max_length
        self.begin = None
        self.pipeline.set_state(Gst.State.PLAYING)

    def add(self, buffer: Gst.Buffer) -> None:
        if self.begin is None:
            self.begin = buffer.pts
            self.source.get_static_pad("src").set_offset(-self.begin)  # of all times in the file
        self.source.push_buffer(buffer)

    def end(self) -> None:
        self.source.end_of_stream()

    def is_written(self, timeout: int = 0) -> bool:
        """Whether the file is complete; waits up to `timeout` nanoseconds for it."""
        message = self.pipeline.get_bus().timed_pop_filtered(timeout, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message is None:
            return False
        self.pipeline.set_state(Gst.State.NULL)
        if message.type == Gst.MessageType.ERROR:
            raise_error(message)
        return True


class Recorder:
    def __init__(self, folder: Path, pre_roll: int, max_length: int):
        self.folder = folder
        self.max_length = max_length
        self.pre_roll = PreRoll(pre_roll)
        self.current: Recording | None = None
        self.ending: list[Recording] = []
        self.count = 0

    def add(self, sample: Gst.Sample) -> None:
        buffer = sample.get_buffer()
        types = event_types(buffer)
        if self.current is None:
            self.pre_roll.add(buffer)
        else:
            self.current.add(buffer)
        if STARTED in types and self.current is None:
            self.count += 1
            print(f"recording {self.count} starts", flush=True)
            pattern = self.folder / f"motion-{self.count:04d}-%02d.mkv"
            self.current = Recording(pattern, sample.get_caps(), self.max_length)
            for earlier in self.pre_roll.take():
                self.current.add(earlier)
        if STOPPED in types:
            self.end()
        self.ending = [recording for recording in self.ending if not recording.is_written()]

    def end(self) -> None:
        if self.current is not None:
            print(f"recording {self.count} ends", flush=True)
            self.current.end()
            self.ending.append(self.current)
            self.current = None

    def close(self) -> None:
        """Ends what is being recorded, and waits until all files are complete."""
        self.end()
        for recording in self.ending:
            if not recording.is_written(10 * Gst.SECOND):
                sys.exit("error: a file was not complete after 10 seconds")


def encoded_samples(line: str):
    """Runs a launch line that ends with an appsink named `sink`, and yields what arrives there."""
    pipeline = Gst.parse_launch(line)
    sink = pipeline.get_by_name("sink")
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while not sink.is_eos():
            if message := bus.pop_filtered(Gst.MessageType.ERROR):
                raise_error(message)
            if sample := sink.try_pull_sample(Gst.SECOND // 10):
                yield sample
    finally:
        pipeline.set_state(Gst.State.NULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a launch line up to the decoded video")
    parser.add_argument("--folder", type=Path, default=Path("."), help="where files go")
    parser.add_argument("--pre-roll", type=float, default=2, metavar="SECONDS")
    parser.add_argument("--max-length", type=float, default=600, metavar="SECONDS",
                        help="a longer recording has several files")
    parser.add_argument("--encoder", default="jpegenc", help="elements that encode the video")
    parser.add_argument("--set", action="append", default=[], metavar="PROPERTY=VALUE", help="of cudaccl")
    options = parser.parse_args()

    Gst.init(None)
    options.folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(options.folder, int(options.pre_roll * Gst.SECOND), int(options.max_length * Gst.SECOND))
    settings = " ".join([*SETTINGS, *options.set])
    try:
        for sample in encoded_samples(
            f"{options.source} ! videoconvert ! cudaccl output=passthrough track=true {settings}"
            f" ! {options.encoder} ! appsink name=sink sync=false max-buffers=8"
        ):
            recorder.add(sample)
    except KeyboardInterrupt:
        pass
    except GLib.Error as error:
        sys.exit(f"error: {error.message}")
    recorder.close()


if __name__ == "__main__":
    main()
