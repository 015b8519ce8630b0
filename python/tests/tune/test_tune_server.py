# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may open the page, and what a page may send. Without a browser."""

import asyncio
import contextlib
import http.client
import json
import re
import socket
import subprocess
import sys
import urllib.parse

import pytest

from tune_made import SETTINGS, Program, with_page

WEB_KB = 300


@pytest.fixture(scope="module")
def program(clip):
    with Program(*SETTINGS, clip) as one:
        yield one


def get(program, path, **headers):
    """(status, headers, body) of a request without a cookie."""
    url = urllib.parse.urlsplit(program.base)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    connection.request("GET", path, headers={"Host": url.netloc} | {
        name.replace("_", "-"): text for name, text in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def cookie_of(program):
    return get(program, f"/?token={program.token}")[1]["Set-Cookie"].split(";")[0]


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%F0%9F%98%80", "/app.js", "/socket", "/none"])
def test_without_the_token_there_is_nothing(program, path):
    status, _, body = get(program, path)
    assert status == 403 and b"token" in body and len(body) < 200


def test_the_token_is_only_for_the_page_itself(program):
    """So that it is in no address of a file or a socket."""
    assert get(program, f"/app.js?token={program.token}")[0] == 403
    assert get(program, f"/socket?token={program.token}")[0] == 403


def test_the_page_sets_a_cookie_that_scripts_and_other_sites_do_not_get(program):
    status, headers, body = get(program, f"/?token={program.token}")
    assert status == 200 and b"<title>cudaccl tune</title>" in body
    attributes = headers["Set-Cookie"].split("; ")
    assert "HttpOnly" in attributes and "SameSite=Strict" in attributes
    assert get(program, "/app.js", Cookie=attributes[0])[0] == 200


def test_answers_keep_other_sites_out(program):
    for path in ("/", f"/?token={program.token}"):
        headers = get(program, path)[1]
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


def test_strangers_hold_no_connections(monkeypatch):
    """Who sends half a request, or has no token; a page has many at a time, which stay."""
    from cudaccl.tune import server as module

    monkeypatch.setattr(module, "_STRANGER_S", 0.5)
    monkeypatch.setattr(module, "_MOST_CONNECTIONS", 20)

    async def run():
        server = module.Server(None, "secret", "127.0.0.1", 0)
        await server.start()

        async def ask(text):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(text.encode())
            return reader, writer

        async def answer(reader):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"Content-Length: (\d+)", head)[1]))
            return head.split()[1]

        request = f"GET /?token={{}} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        known = await ask(request.format("secret"))
        unknown = await ask(request.format("guess"))
        assert (await answer(known[0]), await answer(unknown[0])) == (b"200", b"403")
        half = [await ask("GET / HTTP/1.1\r\n") for _ in range(30)]
        many = [reader for reader, _ in half[18:]]
        assert await asyncio.wait_for(asyncio.gather(*(reader.read() for reader in many)), 5) == [b""] * len(many)
        for reader, _ in [unknown, *half[:18]]:
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
        known[1].write(request.format("secret").encode())
        assert await answer(known[0]) == b"200"
        assert await answer((await ask(request.format("secret")))[0]) == b"200"
        await server.close()

    asyncio.run(run())


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""])
def test_another_host_is_refused(program, host):
    """A name that another site controls, and that leads here."""
    port = urllib.parse.urlsplit(program.base).port
    assert get(program, f"/?token={program.token}", Host=host.format(port=port))[0] == 421


def test_names_of_this_machine_are_known(program):
    port = urllib.parse.urlsplit(program.base).port
    for host in ("localhost", "127.0.0.1", "[::1]", socket.gethostname()):
        assert get(program, f"/?token={program.token}", Host=f"{host}:{port}")[0] == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1"])
def test_a_socket_of_another_site_is_refused(program, origin):
    headers = {"Origin": origin} if origin else {}
    status, _, body = get(program, "/socket", Cookie=cookie_of(program), Upgrade="websocket", Connection="Upgrade",
                          **headers)
    assert status == 403 and b"another site" in body


def test_behind_a_proxy_the_page_has_its_origin(clip):
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
    with Program("--origin", "https://tune.example", clip) as one:
        line = one.process.stderr.readline()
        assert line == f"cudaccl: behind its proxy the page is https://tune.example/?token={one.token}\n"
        headers = get(one, f"/?token={one.token}", Host="tune.example")[1]
        assert "Secure" in headers["Set-Cookie"].split("; ")
        cookie = headers["Set-Cookie"].split(";")[0]
        for origin, status in [("https://tune.example", 400), ("http://tune.example", 403), (one.base, 403)]:
            # 400: it is let in, and sends no key for a socket
            assert get(one, "/socket", Cookie=cookie, Host="tune.example", Origin=origin, **upgrade)[0] == status
        assert get(one, "/", Cookie=cookie, Host="evil.example")[0] == 421


@pytest.mark.parametrize("origin", ["tune.example", "https://tune.example/", "https://a b", "ftp://tune.example"])
def test_an_origin_is_an_address_without_a_path(clip, origin):
    found = subprocess.run([sys.executable, "-m", "cudaccl", "tune", "--origin", origin, clip], capture_output=True,
                           text=True)
    assert found.returncode == 2 and "--origin is" in found.stderr


def test_a_cookie_that_is_no_text_is_refused(program):
    name = cookie_of(program).split("=")[0]
    assert get(program, "/app.js", Cookie=f"{name}=\xff".encode("latin-1"))[0] == 403


@pytest.mark.parametrize("kind,members", [("set", {"values": {"regions": "/etc/passwd"}}), ("regions", {"text": "/etc/passwd"}),
                                          ("compare", {"values": {"regions": " ./yard.json"}})])
def test_a_page_names_no_file(program, kind, members):
    async def run(page):
        await page.wait("hello")
        await page.send(kind, **members)
        assert "no name of a file" in json.dumps(await page.wait("refused"))

    with_page(program, run)


@pytest.mark.parametrize("path", ["/none.js", "/..%2fserver.py", "/%2e%2e/server.py", "/__init__.py", "/app.js/x"])
def test_only_files_of_the_page_are_served(program, path):
    assert get(program, path, Cookie=cookie_of(program))[0] == 404


def test_the_page_is_small_and_complete(program):
    """All that it names is there, and nothing of it is elsewhere."""
    cookie = cookie_of(program)
    waiting, size, seen = ["/"], 0, set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        status, _, body = get(program, path, Cookie=cookie)
        assert status == 200, path
        size += len(body)
        text = body.decode()
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//|@import|url\(", text), path
        waiting += ["/" + name for name in re.findall(r"(?:src|href)=\"([\w.-]+)\"|from '\./([\w.-]+)'|import '\./([\w.-]+)'", text)
                    for name in name if name]
    assert len(seen) > 15 and size <= WEB_KB * 1000


@pytest.mark.parametrize("message", [
    "no json", "[]", "{}", '{"type": "none"}', '{"type": ["set"]}', '{"type": "set", "values": []}',
    '{"type": "set", "values": {"min-area": 5}}', '{"type": "seek", "time": "0"}', '{"type": "seek", "time": -1}',
    '{"type": "seek", "time": NaN}', '{"type": "speed", "speed": 1e9}', '{"type": "loop"}', '{"type": "source", "index": 1}',
    '{"type": "output", "output": "none"}', '{"type": "explain", "x": true, "y": 0}', "[" * 100000])
def test_what_no_page_sends_closes_the_socket(program, message):
    async def send(page):
        await page.connection.send_str(message)
        with pytest.raises(ConnectionError, match="1008"):
            await page.wait("none")

    with_page(program, send)


def test_a_message_that_is_too_large_closes_the_socket(program):
    async def send(page):
        # The program closes before it has read all: whether 1009 is read, or a connection that is gone, is chance.
        with pytest.raises(ConnectionError):
            await page.connection.send_str(json.dumps({"type": "regions", "text": "x" * (3 << 20)}))
            await page.wait("none")

    with_page(program, send)
    with_page(program, lambda page: page.wait("frame"))  # another page is served


@pytest.mark.parametrize("name, value, reason", [
    ("min-area", "-5", "possible are whole numbers from 0 to"), ("foreground", "none", "possible are binary, otsu"),
    ("none", "1", "has no setting none"), ("output", "mask", "has no setting output"), ("regions", "{", "line 1"),
    ("draw-ids", "true", "track=true gives")])
def test_a_value_that_is_refused_changes_nothing(clip, name, value, reason):
    async def change(page):
        before = (await page.wait("hello"))["values"]
        await page.send("set", values={name: value})
        refused = await page.wait("refused")
        assert refused["names"] == [name] and reason in refused["text"]
        await page.send("set", values={"top-n": "9"})
        assert (await page.wait("values"))["values"] == before | {"top-n": "9"}

    with Program("-s", "threshold=100", clip) as one:
        with_page(one, change)


def test_presets_that_cannot_be_read(clip, tmp_path):
    """The page is there without them, and says why, until they can be read."""
    file = tmp_path / "data/gstreamer-1.0/presets/GstCudaCcl.prs"
    file.parent.mkdir(parents=True)
    file.write_text("min-area=5\n")

    async def broken(page):
        hello, refused = await page.wait("hello"), await page.wait("refused")
        assert hello["presets"] == [] and refused["names"] == [] and str(file) in refused["text"]
        await page.wait("frame")

    async def whole(page):
        assert (await page.wait("hello"))["presets"]

    with Program(*SETTINGS, clip) as one:
        with_page(one, broken)
        file.unlink()
        with_page(one, whole)


def test_a_page_that_cannot_join_leaves_nothing():
    """Else the places for pages would be used up."""
    aiohttp = pytest.importorskip("aiohttp")
    from cudaccl.tune.server import Server

    class Session:
        pages = set()

        def join(self, page):
            self.pages.add(page)
            raise RuntimeError("no presets")

        def leave(self, page):
            self.pages.discard(page)

    async def run():
        server = Server(Session(), "token", "127.0.0.1", 0)
        await server.start()
        headers = {"Origin": f"http://127.0.0.1:{server.port}", "Cookie": f"{server._cookie}=token"}
        async with aiohttp.ClientSession(headers=headers) as client:
            async with client.ws_connect(f"http://127.0.0.1:{server.port}/socket") as connection:
                await connection.receive()
        left = len(server._sockets), len(Session.pages)
        await server.close()
        return left

    assert asyncio.run(run()) == (0, 0)


def test_two_pages_have_the_same_settings(program):
    """The last change counts, and both get it."""
    async def first(page):
        await page.wait("hello")
        await asyncio.get_running_loop().run_in_executor(None, with_page, program, second)
        assert (await page.wait("values", lambda one: one["values"].get("min-area") == "9"))["canUndo"]

    async def second(page):
        await page.wait("hello")
        await page.send("set", values={"min-area": "7"})
        await page.send("set", values={"min-area": "9"})
        await page.wait("values", lambda one: one["values"]["min-area"] == "9")

    with_page(program, first)


def test_a_page_that_goes_away_in_the_middle_changes_nothing(program):
    async def gone(page):
        await page.wait("frame")
        page.connection._writer.transport.abort()

    async def here(page):
        return (await page.wait("hello"))["values"].get("regions"), await page.wait("frame")

    with_page(program, gone)
    regions, frame = with_page(program, here)
    assert regions is None and frame["count"] >= 1


def test_many_pages_at_once(program):
    async def many(page):
        async def other():
            return await asyncio.get_running_loop().run_in_executor(None, with_page, program, one)

        found = await asyncio.gather(*(other() for _ in range(9)), page.wait("frame"))
        assert len(found) == 10 and all(frame["pictures"][0][0] == "input" for frame in found)

    async def one(page):
        return await page.wait("frame")

    with_page(program, many)
