# SPDX-License-Identifier: LGPL-2.1-or-later
"""One CUDA context for all pipelines of a process, one after the other.

Without it each pipeline makes a context and destroys it at its end, and processes that make contexts at the same time
wait for each other in the driver.
"""

from __future__ import annotations

from typing import Any

from cudaccl._gst_pipeline import gstreamer

TYPE = "gst.cuda.context"

_of_process: list[Any] = []  # the Gst.Context, if there is one


def open_for_process() -> None:
    """The context that the element opens, on its default device. Nothing is kept if there is no GPU."""
    gst = gstreamer().Gst
    pipeline = gst.Pipeline()
    element = gst.ElementFactory.make("cudaccl")
    pipeline.add(element)
    try:
        pipeline.set_state(gst.State.READY)
        context = element.get_context(TYPE) or pipeline.get_context(TYPE)
    finally:
        pipeline.set_state(gst.State.NULL)
    if context is not None:
        _of_process[:] = [context]


def share(pipeline: Any) -> None:
    """Before it plays. An element with the property cuda-device-id of another device does not take the context."""
    for context in _of_process:
        pipeline.set_context(context)
