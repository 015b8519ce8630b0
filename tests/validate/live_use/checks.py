# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is watched while the parts run: hangs, messages of GLib, live objects, memory, threads and files."""

import collections
import ctypes
import faulthandler
import gc
import os
import re
import sys
import threading
import time
import weakref
from pathlib import Path

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst


class Failed(Exception):
    """A check of this test did not hold."""


class Watchdog:
    """Ends the process with a report if no step ends for `limit` seconds."""

    def __init__(self, limit, folder):
        self.limit = limit
        self.folder = Path(folder)
        self.lines = weakref.WeakSet()
        self.step_began("start")
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def step_began(self, step):
        self.step = step
        self.since = time.monotonic()
        # Needs no lock of the interpreter, for a hang that stops all threads of Python.
        faulthandler.dump_traceback_later(self.limit + 60, exit=True)

    def _watch(self):
        while True:
            time.sleep(1)
            if time.monotonic() - self.since > self.limit:
                self._report()
                os._exit(1)

    def _report(self):
        print(f"\nHANG: no progress for {self.limit} s in step: {self.step}", flush=True)
        faulthandler.dump_traceback(file=sys.stdout, all_threads=True)
        for task in Path("/proc/self/task").iterdir():
            print(f"thread {task.name} {(task / 'comm').read_text().strip()}: {(task / 'wchan').read_text()}")
        for number, line in enumerate(list(self.lines)):
            print(line.describe())
            dot = self.folder / f"hang-{number}.dot"
            dot.write_text(Gst.debug_bin_to_dot_data(line.pipeline, Gst.DebugGraphDetails.ALL))
            print(f"  graph: {dot}", flush=True)


class LogMessages:
    """Records what GLib, GObject and GStreamer log as WARNING or CRITICAL."""

    # PyGObject has handlers for these domains, which would hide the messages.
    REDIRECTED = ("GLib", "GLib-GObject", "GThread")
    # Misuse of GLib or GObject, and whatever names the element. All criticals count, whatever their domain.
    OURS = re.compile("cudaccl|GstCudaCcl|gst_cuda_ccl|^GLib", re.IGNORECASE)

    def __init__(self):
        self.ours = collections.Counter()
        self.others = collections.Counter()
        levels = GLib.LogLevelFlags.LEVEL_MASK | GLib.LogLevelFlags.FLAG_FATAL | GLib.LogLevelFlags.FLAG_RECURSION
        for domain in self.REDIRECTED:
            GLib.log_set_handler(domain, levels, self._on_message, None)
        GLib.log_set_writer_func(self._on_fields, None)

    def _on_message(self, domain, level, text, _data):
        self._record(level, f"{domain}: {text}")

    def _on_fields(self, level, fields, _count, _data):
        text = GLib.log_writer_format_fields(level, fields, False)
        # Without the process number and the time, so that equal messages are counted together.
        text = re.sub(r"\(process:\d+\): |\([^()]*:\d+\): |\d\d:\d\d:\d\d\.\d+: ", "", text.strip())
        self._record(level, text)
        return GLib.LogWriterOutput.HANDLED

    def _record(self, level, text):
        level = int(level)
        is_severe = level & int(GLib.LogLevelFlags.LEVEL_CRITICAL | GLib.LogLevelFlags.LEVEL_ERROR)
        if is_severe or (level & int(GLib.LogLevelFlags.LEVEL_WARNING) and self.OURS.search(text)):
            self.ours[text] += 1
        elif level & int(GLib.LogLevelFlags.LEVEL_WARNING):
            self.others[text] += 1

    def check(self):
        if self.ours:
            raise Failed("messages in the log:\n" + "\n".join(f"{n} x {text}" for text, n in self.ours.items()))


class LiveObjects:
    """Counts elements, pools and buffers with GStreamer's `leaks` tracer. Made before Gst.init()."""

    def __init__(self, folder):
        self.log = Path(folder) / "tracer.log"
        os.environ["GST_TRACERS"] = 'leaks(filters="GstElement,GstBufferPool,GstBuffer")'
        os.environ["GST_DEBUG"] = f"{os.environ.get('GST_DEBUG', '*:0')},GST_TRACER:7"
        os.environ["GST_DEBUG_NO_COLOR"] = "1"
        os.environ["GST_DEBUG_FILE"] = str(self.log)

    def count(self):
        """By type; None where this GStreamer has no tracers."""
        tracers = [t for t in Gst.tracing_get_active_tracers() if t.__gtype__.name == "GstLeaksTracer"]
        if not tracers:
            return None
        gc.collect()
        start = self.log.stat().st_size
        tracers[0].emit("log-live-objects")
        with self.log.open() as file:
            file.seek(start)
            return collections.Counter(re.findall(r"object-alive, type-name=\(string\)(\w+)", file.read()))

    def check(self):
        """Waits a little, since threads that end may hold the last references."""
        for _ in range(100):
            alive = self.count()
            if not alive:
                return
            time.sleep(0.1)
        raise Failed(f"objects that were not freed after all pipelines were closed: {dict(alive)}")


class MallocInfo(ctypes.Structure):
    """struct mallinfo2 of the C library."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def load_c_library():
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = MallocInfo
    # Freed memory returns to the system, so that growth is a leak: frames use separate mappings, heaps are few.
    mmap_threshold, arena_max = -3, -8
    library.mallopt(mmap_threshold, 64 << 10)
    library.mallopt(arena_max, 2)
    return library


class Resources:
    """Memory, threads and file descriptors of the process, once it is at rest."""

    LIBRARY = load_c_library()
    # MiB that may be added after the warm-up, however long the test takes: bytes in use, and pages of the process.
    ALLOCATED_BOUND = 8
    RESIDENT_BOUND = {"cpu": 24, "cuda": 64}

    def __init__(self):
        gc.collect()
        GLib.ThreadPool.stop_unused_threads()
        self.LIBRARY.malloc_trim(0)
        info = self.LIBRARY.mallinfo2()
        self.allocated = (info.uordblks + info.hblkhd) / (1 << 20)
        status = Path("/proc/self/status").read_text()
        self.resident = int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
        self.threads = collections.Counter(Resources._thread_names())
        self.files = collections.Counter(Resources._targets())

    @staticmethod
    def _thread_names():
        for task in Path("/proc/self/task").iterdir():
            try:
                yield (task / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                pass  # the thread has ended

    @staticmethod
    def _targets():
        for file in Path("/proc/self/fd").iterdir():
            try:
                yield re.sub(r"\d+", "N", os.readlink(file))
            except FileNotFoundError:  # the descriptor of this very listing
                continue

    def __str__(self):
        memory = f"{self.allocated:.1f} MiB allocated, {self.resident:.1f} MiB resident"
        return f"{memory}, {self.threads.total()} threads, {self.files.total()} files"

    def check(self, begin, backend):
        """Fails if this is more than at the beginning."""
        if self.allocated > begin.allocated + self.ALLOCATED_BOUND:
            raise Failed(f"more than {self.ALLOCATED_BOUND} MiB more are allocated: from {begin} to {self}")
        if self.resident > begin.resident + self.RESIDENT_BOUND[backend]:
            raise Failed(f"memory grew by more than {self.RESIDENT_BOUND[backend]} MiB: from {begin} to {self}")
        if self.threads.total() > begin.threads.total():
            raise Failed(f"more threads than at the beginning: {dict(self.threads - begin.threads)}")
        if self.files.total() > begin.files.total():
            raise Failed(f"more open files than at the beginning: {dict(self.files - begin.files)}")

    @staticmethod
    def at_rest(begin=None):
        """The first measurement with no more threads and files than `begin`, or the last one after a while."""
        for _ in range(2):  # an idle thread waits half a second for its next task before it can be stopped
            time.sleep(1)
            Resources()
        for _ in range(100):
            now = Resources()
            if begin is None or (
                now.threads.total() <= begin.threads.total() and now.files.total() <= begin.files.total()
            ):
                break
            time.sleep(0.1)
        return now
