# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pages ask for. A message is an object of JSON whose member `type` is one of these names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from cudaccl._gst_pipeline import PipelineError
from cudaccl.publish.errors import MissingPackage
from cudaccl.tune import description
from cudaccl.tune.fit import TRIALS
from cudaccl.tune.marks import MarksError
from cudaccl.tune.page import Page
from cudaccl.tune.session import Session
from cudaccl.tune.settings import Refused, checked, of_preset, with_tracks

_LONGEST_NAME = 60
_FASTEST = 16


class BadMessage(ValueError):
    """A page would not send this."""


async def obey(session: Session, page: Page, message: Any) -> None:
    """Does what a page asks for. Raises BadMessage."""
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in _COMMANDS:
        raise BadMessage("the type of the message is not known")
    try:
        await _COMMANDS[kind](session, page, message)
    except Refused as refusal:
        page.put({"type": "refused", "names": refusal.names, "text": str(refusal)})
    except (PipelineError, IndexError, MarksError, MissingPackage) as error:
        page.put({"type": "refused", "names": [], "text": str(error)})


def _texts(message: dict[str, Any], name: str) -> dict[str, str | None]:
    found = message.get(name)
    if not isinstance(found, dict) or not all(
            isinstance(value, str) or value is None for value in found.values()):
        raise BadMessage(f"{name} must have texts")
    return found


def _no_file(values: dict[str, str | None]) -> dict[str, str | None]:
    """A page sends regions as a document; with the name of a file, a page could read files of this machine."""
    if (values.get("regions") or "{").lstrip()[:1] != "{":
        raise Refused(["regions"], "the page takes a JSON document, and no name of a file")
    return values


def _number(message: dict[str, Any], name: str, largest: float) -> float:
    found = message.get(name)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= largest:
        raise BadMessage(f"{name} must be a number up to {largest}")
    return found


def _flag(message: dict[str, Any], name: str) -> bool:
    found = message.get(name)
    if not isinstance(found, bool):
        raise BadMessage(f"{name} must be true or false")
    return found


def _text(message: dict[str, Any], name: str) -> str:
    found = message.get(name)
    if not isinstance(found, str):
        raise BadMessage(f"{name} must be a text")
    return found


async def _ready(session: Session, page: Page, _message: dict[str, Any]) -> None:
    session.ready(page)


async def _set(session: Session, _page: Page, message: dict[str, Any]) -> None:
    changes = _no_file(_texts(message, "values"))
    drag = message.get("drag")
    session.use(lambda: session.settings.change(changes, drag if isinstance(drag, str) else None))


async def _regions(session: Session, _page: Page, message: dict[str, Any]) -> None:
    text = _text(message, "text")
    changes = with_tracks(session.settings.values, _no_file({"regions": text})["regions"])
    drag = message.get("drag")
    session.use(lambda: session.settings.change(changes, drag if isinstance(drag, str) else None))


async def _undo(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.use(session.settings.undo)


async def _redo(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.use(session.settings.redo)


async def _preset(session: Session, _page: Page, message: dict[str, Any]) -> None:
    """Regions stay: presets have none."""
    name = _text(message, "name")
    kept = {key: text for key, text in session.settings.values.items() if key == "regions"}
    session.use(lambda: session.settings.replace({**kept, **of_preset(name)}))


async def _reset(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.use(lambda: session.settings.replace({}))


async def _output(session: Session, _page: Page, message: dict[str, Any]) -> None:
    output = _text(message, "output")
    if output not in dict(description.outputs()):
        raise BadMessage("there is no such output")
    session.show_output(output)


async def _compare(session: Session, _page: Page, message: dict[str, Any]) -> None:
    """With the settings of the message; null: no longer."""
    if message.get("values") is None:
        session.compare(None)
        return
    values = {name: text for name, text in _no_file(_texts(message, "values")).items() if text is not None}
    session.compare(checked(list(values), values))


async def _export(session: Session, page: Page, message: dict[str, Any]) -> None:
    name = "".join(_text(message, "preset").splitlines())[:_LONGEST_NAME].strip("[] ") or "mine"
    page.put({"type": "exports", "texts": session.exports(name)})


async def _play(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    if session.player.state == "failed":
        session.player.reopen()
    elif session.player.gate.at_end:
        session.player.gate.play()
        await _in_thread(session.seek, 0)
    session.player.gate.play()
    session.state_has_changed()


async def _pause(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.player.gate.pause()
    session.state_has_changed()


async def _step(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.player.step()
    session.state_has_changed()


async def _seek(session: Session, _page: Page, message: dict[str, Any]) -> None:
    await _sought(session.seek, session, message)


async def _run_to(session: Session, _page: Page, message: dict[str, Any]) -> None:
    await _sought(session.run_to, session, message)


async def _sought(seek: Callable[[int], bool], session: Session, message: dict[str, Any]) -> None:
    place = int(_number(message, "time", 2**62))
    if not await _in_thread(seek, place):
        raise Refused([], "this source has no other places: it is a camera, or cannot seek")
    session.state_has_changed()


async def _loop(session: Session, page: Page, message: dict[str, Any]) -> None:
    session.player.loops = _flag(message, "on")
    if session.player.loops and session.player.gate.at_end:
        await _play(session, page, message)
    session.state_has_changed()


async def _speed(session: Session, _page: Page, message: dict[str, Any]) -> None:
    speed = _number(message, "speed", _FASTEST)
    session.player.gate.set_speed(speed)
    session.pictures.hurry(speed == 0)
    session.state_has_changed()


async def _source(session: Session, _page: Page, message: dict[str, Any]) -> None:
    await _in_thread(session.player.show, int(_number(message, "index", len(session.player.sources) - 1)))


async def _explain(session: Session, page: Page, message: dict[str, Any]) -> None:
    x, y = (int(_number(message, name, 32767)) for name in ("x", "y"))
    page.put(await _in_thread(session.explain, x, y))


async def _marks(session: Session, _page: Page, message: dict[str, Any]) -> None:
    session.marking.mark(message.get("document"))


async def _fit(session: Session, _page: Page, message: dict[str, Any]) -> None:
    names = message.get("names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadMessage("names must be a list of texts")
    try:
        session.fit(names, TRIALS)
    except MarksError:
        raise
    except ValueError as error:
        raise BadMessage(str(error)) from None


async def _stop_fit(session: Session, _page: Page, _message: dict[str, Any]) -> None:
    session.marking.stop()


async def _video(session: Session, page: Page, _message: dict[str, Any]) -> None:
    session.videos.open(page)


async def _no_video(session: Session, page: Page, _message: dict[str, Any]) -> None:
    session.videos.close(page)


async def _answer(session: Session, page: Page, message: dict[str, Any]) -> None:
    session.videos.answer(page, _text(message, "sdp"))


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)


_COMMANDS: dict[str, Callable[[Session, Page, dict[str, Any]], Awaitable[None]]] = {
    "ready": _ready, "set": _set, "regions": _regions, "undo": _undo, "redo": _redo, "preset": _preset, "reset": _reset,
    "output": _output, "compare": _compare, "export": _export, "play": _play, "pause": _pause, "step": _step,
    "seek": _seek, "runTo": _run_to, "loop": _loop, "speed": _speed, "source": _source, "explain": _explain,
    "marks": _marks, "fit": _fit, "stopFit": _stop_fit, "video": _video, "noVideo": _no_video, "answer": _answer}
