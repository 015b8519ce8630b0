# SPDX-License-Identifier: LGPL-2.1-or-later
"""Answers browsers: the files of the page, and a websocket for each page. Only with the token.

A page of another site can make a browser send requests here, and with a name that it controls even read the answers
(DNS rebinding). So the token is needed for everything, the host of a request must be this server, and the origin of a
websocket as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import logging
import mimetypes
import secrets
import socket
import weakref
from importlib import resources
from typing import Any

from aiohttp import WSMsgType, web

from cudaccl.publish.metrics_server import listen
from cudaccl.tune.commands import BadMessage, obey
from cudaccl.tune.page import Page
from cudaccl.tune.session import Session

_LOG = logging.getLogger("cudaccl.tune")

_MOST_PAGES = 32
_MOST_CONNECTIONS = 256  # a browser has some for each page
_STRANGER_S = 10.0  # for so long a connection may be without the token
_LARGEST_MESSAGE = 2 << 20  # bytes; a document of regions has at most 1 MiB
_HEARTBEAT_S = 20.0  # a browser that does not answer has gone
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
                               " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY"}
_FILES = frozenset(one.name for one in resources.files("cudaccl.tune").joinpath("web").iterdir() if one.is_file())


class Server:
    """For the thread of the event loop."""

    def __init__(self, session: Session, token: str, host: str, port: int, origin: str = "") -> None:
        self._session = session
        self._token = token.encode()
        self._once: bytes | None = None
        self._host = host
        self._origin = origin  # of a proxy before the page
        self.port = port  #: 0: the system chooses one, which is here after `start()`
        self._sockets: set[web.WebSocketResponse] = set()
        self._known: weakref.WeakSet[asyncio.BaseTransport] = weakref.WeakSet()  # connections that had the token
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._index)
        app.router.add_get("/socket", self._socket)
        app.router.add_get("/{name}", self._file)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> None:
        """Raises OSError."""
        listener = listen(self._host, self.port)
        self.port = listener.getsockname()[1]
        await self._runner.setup()
        self._listening = await asyncio.get_running_loop().create_server(self._connect, sock=listener)

    def address(self, token: str) -> str:
        """Of the page, on this machine."""
        host = "127.0.0.1" if self._host in ("0.0.0.0", "::") else self._host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={token}"

    def address_for_once(self) -> str:
        """Of the page, for one request: the arguments of a browser can be read by all users of this machine."""
        token = secrets.token_urlsafe(24)
        self._once = token.encode()
        return self.address(token)

    async def close(self) -> None:
        self._listening.close()
        for one in list(self._sockets):
            await one.close(code=1001, message=b"the program has ended")
        await self._runner.cleanup()

    def _connect(self) -> asyncio.BaseProtocol:
        """Who says nothing, or has no token, holds no descriptor for long."""
        if len(self._runner.server.connections) >= _MOST_CONNECTIONS:
            return _Refused()
        protocol = self._runner.server()
        asyncio.get_running_loop().call_later(_STRANGER_S, self._drop_stranger, protocol)
        return protocol

    def _drop_stranger(self, protocol: web.RequestHandler) -> None:
        if protocol.transport is not None and protocol.transport not in self._known:
            protocol.transport.abort()

    @property
    def _cookie(self) -> str:
        return f"cudaccl-tune-{self.port}"  # browsers keep the cookies of all ports together

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if not self._is_this_host(request.headers.get("Host", "")):
            return _refusal(421, "This is not the address of this server.")
        if not self._has_token(request):
            return _refusal(403, "The address has no token, or a wrong one: use the one that cudaccl tune prints.")
        if request.transport is not None:  # else it has gone
            self._known.add(request.transport)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            return _refusal(error.status, error.reason)
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _is_this_host(self, host: str) -> bool:
        """An address, or a name of this machine or of its proxy: no other site can have these."""
        if self._origin and host.lower() == self._origin.partition("://")[2]:
            return True
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            name, port = host, "80"
        if port != str(self.port):
            return False
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name.strip("[]"))
            return True
        return name.lower() in {"localhost", self._host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}

    def _has_token(self, request: web.Request) -> bool:
        given = [request.cookies.get(self._cookie, "").encode(errors="replace")]
        if request.path == "/":
            given.append(request.query.get("token", "").encode(errors="replace"))
        if self._once is not None and hmac.compare_digest(given[-1], self._once):
            self._once = None
            return True
        return any([hmac.compare_digest(one, self._token) for one in given])  # a list: each takes the same time

    async def _index(self, _request: web.Request) -> web.Response:
        response = _file_response("index.html")
        response.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="Strict", path="/",
                            secure=self._origin.startswith("https://"))
        return response

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in _FILES:
            raise web.HTTPNotFound
        return _file_response(name)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") != (self._origin or f"{request.scheme}://{request.headers['Host']}"):
            return _refusal(403, "The origin is another site.")
        if len(self._sockets) >= _MOST_PAGES:
            return _refusal(503, f"There are {_MOST_PAGES} pages.")
        connection = web.WebSocketResponse(max_msg_size=_LARGEST_MESSAGE, heartbeat=_HEARTBEAT_S, compress=False)
        await connection.prepare(request)
        self._sockets.add(connection)
        page = Page(connection)
        sending = asyncio.create_task(self._send(page, connection))
        try:
            self._session.join(page)
            async for message in connection:
                if message.type != WSMsgType.TEXT:
                    break
                await obey(self._session, page, _parsed(message.data))
        except BadMessage as error:
            await connection.close(code=1008, message=str(error).encode()[:100])
        finally:
            sending.cancel()
            self._session.leave(page)
            self._sockets.discard(connection)
        return connection

    @staticmethod
    async def _send(page: Page, connection: web.WebSocketResponse) -> None:
        with contextlib.suppress(ConnectionError):
            await page.send()
            await connection.close(code=1013, message=b"the page takes no messages")


class _Refused(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("the message is no JSON") from None


def _refusal(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=f"{text}\n", headers=_HEADERS)


def _file_response(name: str) -> web.Response:
    data = resources.files("cudaccl.tune").joinpath("web", name).read_bytes()
    kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0]
    return web.Response(body=data, content_type=kind, charset="utf-8")
