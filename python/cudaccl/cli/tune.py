# SPDX-License-Identifier: LGPL-2.1-or-later
"""`cudaccl tune`: a page on which settings and zones are found by eye."""

from __future__ import annotations

import argparse
import asyncio
import mimetypes
import os
import re
import secrets
import threading
import webbrowser
from pathlib import Path
from typing import Any

from cudaccl.cli import tune_fit, video_options
from cudaccl.cli.operator import fail, say
from cudaccl.cli.stopping import stop_on_signals
from cudaccl.publish.errors import need
from cudaccl.video import errors, values
from cudaccl.video.sources import Source, parse_sources

_STEP_S = 0.1

_HELP = """\
Shows a video and what is found in it on a page in the browser, on which settings are changed and zones are drawn while
it plays. What is on the page can be copied as a launch line, a program, settings for --settings, a preset or regions. A
SOURCE is what it is for run; a folder stands for the images in it."""

_EXAMPLES = """\
examples:
  cudaccl tune clip.mp4
  cudaccl tune --preset people /dev/video0
  cudaccl tune --settings yard.txt --listen 8080 rtsp://cam1/live
  cudaccl tune --fit marks.json clip.mp4 > settings.txt

"""


def add(subparsers: argparse._SubParsersAction) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "tune", help="settings and zones by eye, on a page in the browser", description=_HELP,
        epilog=_EXAMPLES + errors.HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", metavar="[NAME=]SOURCE", help="what to look at")
    parser.add_argument(
        "--listen", type=values.option(values.endpoint), default=("127.0.0.1", 0), metavar="[HOST:]PORT",
        help="where the page is; without a host only this machine can open it (default: a port that is free)")
    parser.add_argument(
        "--origin", default="", metavar="URL",
        help="the address at which a proxy with TLS shows the page, such as https://tune.example; the page is there only")
    parser.add_argument(
        "--output", default="overlay", metavar="NAME", help="what is shown first: the property output (default: overlay)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser, only print the address")
    video_options.add(parser, stall=10.0)
    tune_fit.add(parser)
    parser.set_defaults(command=tune)


def tune(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    tune_fit.check(options)
    properties = video_options.properties_of(options)
    sources = _sources(options.sources)
    _check_output(options.output)  # first: without the plugin there is none
    if options.fit is not None:
        return tune_fit.fit(options, sources, properties)
    _check_origin(options.origin)
    need("aiohttp", "tune")
    from cudaccl.tune.session import Session

    session = Session(sources, properties, options.output, float(options.stall))
    with stop_on_signals() as stopping:
        return asyncio.run(_serve(session, options, stopping))


def _check_origin(origin: str) -> None:
    if origin and not re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]+)?|https?://\[[0-9a-f:]+\](:[0-9]+)?", origin):
        raise errors.UsageError(f"--origin is {origin!r}; it is an address in small letters, without a path:"
                                " https://HOST or https://HOST:PORT")


def _check_output(output: str) -> None:
    from cudaccl.tune import description

    outputs = [name for name, _ in description.outputs()]
    if output not in outputs:
        raise errors.UsageError(f"--output is {output!r}; possible are {', '.join(outputs)}")


def _sources(texts: list[str]) -> list[Source]:
    """Folders are replaced by the images in them. Raises UsageError."""
    found = []
    for text in texts:
        if not os.path.isdir(text):
            found.append(text)
            continue
        try:
            images = [str(path) for path in sorted(Path(text).iterdir()) if _is_image(path)]
        except OSError as error:
            raise errors.UsageError(f"the folder {text} cannot be read: {error.strerror}") from None
        if not images:
            raise errors.UsageError(f"there is no image in the folder {text}")
        found += [f"{number:04}-{_plain(image)}={image}" for number, image in enumerate(images, 1)]
    return parse_sources(found)


def _is_image(path: Path) -> bool:
    return path.is_file() and (mimetypes.guess_type(path)[0] or "").startswith("image/")


def _plain(path: str) -> str:
    """The name of a file as that of a source, which has fewer letters."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in Path(path).stem)


async def _serve(session: Any, options: argparse.Namespace, stopping: threading.Event) -> int:
    from cudaccl.tune.server import Server

    token = secrets.token_urlsafe(24)
    host, port = options.listen
    server = Server(session, token, host, port, options.origin)
    try:
        await server.start()
    except OSError as error:
        raise errors.UsageError(f"--listen {host}:{port}: {error.strerror or error}") from None
    session.start()
    say(f"the page is {server.address(token)}")
    if options.origin:
        say(f"behind its proxy the page is {options.origin}/?token={token}")
    elif not options.no_browser and _has_screen():
        address = server.address_for_once()
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    try:
        return await _wait(session, stopping)
    finally:
        await server.close()
        await asyncio.get_running_loop().run_in_executor(None, session.close)


def _has_screen() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


async def _wait(session: Any, stopping: threading.Event) -> int:
    """Until the process shall stop, or it is clear that there is nothing to see."""
    player = session.player
    while not stopping.is_set():
        await asyncio.sleep(_STEP_S)
        if player.error is not None and not player.has_shown and not _may_come(player.source):
            break
    if player.error is not None:
        return fail(f"{player.source.name}: {player.error}", errors.SOURCE_FAILED)
    return errors.OK


def _may_come(source: Source) -> bool:
    """Whether it may work when it is opened again, as a camera does."""
    return source.path is None and not source.is_launch_line
