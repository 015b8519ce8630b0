# SPDX-License-Identifier: LGPL-2.1-or-later
"""An HTTP server for figures, of one thread. Whatever clients do, it has few connections, and none of them for long: a
process that has no descriptors left cannot open its brokers and files.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import socket
import threading
import urllib.parse
from collections.abc import Callable, Iterable
from typing import Any

_CONNECTIONS = 16
_ACCEPTED = 4  # more in a moment, until the first of them gives way
_WAITING = 1024  # in the system, without a descriptor
_TIME_S = 5.0  # for a request and its answer together
_HEAD = 16 << 10  # bytes

App = Callable[[dict[str, str], Callable[[str, list[tuple[str, str]]], Any]], Iterable[bytes]]


def start(app: App, host: str, port: int) -> Callable[[], None]:
    """Answers with a WSGI application; returns a function that ends it. Raises OSError.

    The application gets no more of a request than prometheus-client's reads.
    """
    listener = listen(host, port)
    server = _Server(app, listener)
    thread = threading.Thread(target=server.run_until_stopped, name="cudaccl-metrics", daemon=True)
    thread.start()
    server.ready.wait()
    if server.failure is not None:
        listener.close()
        raise server.failure

    def stop() -> None:
        server.stop()
        thread.join()

    return stop


def listen(host: str, port: int) -> socket.socket:
    """A socket for this address; [::] is every address. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, *_, address = found[0]
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server(address[:2], family=family, dualstack_ipv6=both)


class _Server:
    def __init__(self, app: App, listener: socket.socket) -> None:
        self._app = app
        self._listener = listener
        self._open: dict[asyncio.Task[None], None] = {}  # in the order in which they came
        self.ready = threading.Event()  #: or it has failed
        self.failure: Exception | None = None

    def run_until_stopped(self) -> None:
        """Takes the thread."""
        try:
            asyncio.run(self._run())
        except Exception as error:  # without descriptors there is no loop
            self.failure = error
        finally:
            self.ready.set()

    async def _run(self) -> None:
        """Until `stop()`. Connections that are open then end with the loop."""
        self._loop = asyncio.get_running_loop()
        # Without descriptors nobody is accepted for a second, which asyncio would log with a traceback.
        self._loop.set_exception_handler(lambda *_: None)
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._connected, sock=self._listener, limit=_HEAD, backlog=_ACCEPTED)
        self._listener.listen(_WAITING)
        self.ready.set()
        await self._stopping.wait()
        server.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while len(self._open) >= _CONNECTIONS:  # the oldest one gives way
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.cancel()
        task = asyncio.current_task()
        self._open[task] = None
        try:
            with contextlib.suppress(OSError, EOFError, asyncio.LimitOverrunError, asyncio.TimeoutError):
                await asyncio.wait_for(self._answer(reader, writer), _TIME_S)
        finally:
            self._open.pop(task, None)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)  # drain() returns when the system has all of it
        writer.write(_reply(self._app, await reader.readuntil(b"\r\n\r\n")))
        await writer.drain()


def _reply(app: App, head: bytes) -> bytes:
    """The answer to a request without a body."""
    try:
        line, _, fields = head.partition(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ")
        url = urllib.parse.urlsplit(target)
        headers = http.client.parse_headers(io.BytesIO(fields))
    except (ValueError, http.client.HTTPException):
        return _message("400 Bad Request", [], b"")
    environment = {"REQUEST_METHOD": method, "PATH_INFO": url.path, "QUERY_STRING": url.query}
    for name in ("Accept", "Accept-Encoding"):
        if name in headers:
            environment[f"HTTP_{name.upper().replace('-', '_')}"] = headers[name]
    began: list[Any] = []
    try:
        body = b"".join(app(environment, lambda *arguments: began.extend(arguments)))
    except Exception:  # of a collector; the next request may do
        return _message("500 Internal Server Error", [], b"")
    return _message(began[0], began[1], body)


def _message(status: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
    fields = [*headers, ("Content-Length", str(len(body))), ("Connection", "close")]
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
