# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sinks by their address, as the command line has it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cudaccl._redaction import redacted
from cudaccl.publish.errors import SinkError
from cudaccl.publish.forward import Transport
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.kafka import KafkaSettings, KafkaTransport
from cudaccl.publish.mqtt import MqttSettings, MqttTransport
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.selection import CHOICES, SelectedSink, Selection
from cudaccl.publish.sink import BrokerSink, Sink
from cudaccl.publish.spool import DEFAULT_LIMIT

HELP = """\
  -                              JSON lines on standard output; with options it is jsonl:-
  jsonl:FILE                     JSON lines; what the file has is kept
  parquet:FOLDER[?minutes=60]    tables in Parquet, new files after so many minutes
  mqtt://[USER@]HOST[:PORT]/TOPIC, mqtts://…
        TOPIC may have {source}; it is cudaccl/{source} if it is missing.
        ?password-file=FILE&ca=FILE&cert=FILE&key=FILE&client-id=ID&keepalive=SECONDS
  kafka://[USER@]HOST[:PORT][,HOST…]/TOPIC
        ?password-file=FILE, and any option of librdkafka, such as security.protocol=SASL_SSL; passwords are in
        files: ssl.key.password-file=FILE
  Each may have
        ?what=tracks     no components; ?what=events: only frames with events, and only these. For MQTT, /tracks or
                         /events is added to the topic
        ?rate=2          at most so many frames per second, and those with events
        ?changes=true    only frames with other tracks, or tracks in other zones, than the last one that was sent, and
                         those with events; without track=true, with another number of components"""

_SECRET = re.compile(r"password|passphrase|secret|[.]pem|oauthbearer[.]config|kinit")  # in names of librdkafka's options
_HOST = re.compile(r"(?:[^:\[\]]+|\[[^\]]+\])(:[0-9]+)?")
_WARNED: set[str] = set()  # hosts
_SELECTION = {"what", "rate", "changes"}
_MQTT_OPTIONS = {"password-file", "ca", "cert", "key", "client-id", "keepalive"}


@dataclasses.dataclass(frozen=True)
class Spooling:
    """Where messages for brokers wait, and how many. See `Spool`."""

    folder: Path
    limit: int = DEFAULT_LIMIT


class AddressError(ValueError):
    """An address that is wrong. The text says where."""


def open_sink(
    address: str,
    spooling: Spooling,
    file_name: str = "part",
    say: Callable[[str], None] = lambda text: None,
) -> Sink:
    """The sink of an address; HELP lists the forms.

    file_name: of files in Parquet. say: as of `BrokerSink`.

    Raises AddressError, SinkError if the sink cannot be opened, MissingPackage.
    """
    rest, selection = _selection(address)
    sink = _opener(rest, _read, say, selection)(spooling, file_name)
    return sink if selection == Selection() else SelectedSink(sink, selection)


def check_sink(address: str) -> Selection:
    """Raises AddressError, as `open_sink()` does. Nothing is opened, and no file of a password is read: another machine
    may have it."""
    rest, selection = _selection(address)
    _opener(rest, lambda path: "", None, selection)
    return selection


def file_of(address: str) -> str | None:
    """Where lines of JSON go; - is standard output. None: the sink has no such file."""
    head = address.partition("?")[0]
    return head if head == "-" else _path(head.removeprefix("jsonl:")) if head.startswith("jsonl:") else None


def _path(text: str) -> str:
    """A shell replaces ~ only at the beginning of a word."""
    return os.path.expanduser(text)


def _selection(address: str) -> tuple[str, Selection]:
    """The address without the options of a selection, which each sink may have."""
    shown = redacted(address)
    head, mark, query = address.partition("?")
    parts = [(part, part.partition("=")[0]) for part in query.split("&")]
    rest = "&".join(part for part, name in parts if name not in _SELECTION)
    chosen = _options("&".join(part for part, name in parts if name in _SELECTION), shown, _SELECTION)
    what = chosen.get("what", "frames")
    if what not in CHOICES:
        raise AddressError(f"{shown}: what={what} is not possible; possible are {', '.join(CHOICES)}")
    if what == "events" and len(chosen) > 1:
        raise AddressError(f"{shown}: all events are sent; rate and changes are for frames and tracks")
    changes = chosen.get("changes", "false")
    if changes not in ("true", "false"):
        raise AddressError(f"{shown}: changes={changes} is not possible; possible are true, false")
    rate = _number(chosen["rate"], shown) if "rate" in chosen else None
    return head + (mark + rest if rest else ""), Selection(what, rate, changes == "true")


_Opener = Callable[[Spooling, str], Sink]
_Say = Callable[[str], None] | None  # None: warnings come when the sink is opened


def _opener(address: str, read: Callable[[str], str], say: _Say, selection: Selection) -> _Opener:
    """What opens the sink of an address. read: returns the secret in a file."""
    if address == "-":
        return lambda spooling, file_name: JsonLinesSink("-")
    scheme, _, rest = address.partition(":")
    shown = redacted(address)
    path, _, query = rest.partition("?")
    if scheme == "jsonl" and path:
        _options(query, shown, set())
        return lambda spooling, file_name: JsonLinesSink(_path(path), append=True)
    if scheme == "parquet" and path:
        text = _options(query, shown, {"minutes"}).get("minutes")
        minutes = _number(text, shown) if text is not None else None
        return lambda spooling, file_name: ParquetSink(_path(path), file_name, minutes)
    if scheme in BROKERS and not rest.startswith("//"):
        raise AddressError(f"{shown!r} is no sink: write {scheme}://HOST/TOPIC")
    if scheme not in BROKERS:
        raise AddressError(f"{shown!r} is no sink; possible are -, jsonl:FILE, parquet:FOLDER, mqtt://HOST/TOPIC,"
                           " mqtts://HOST/TOPIC and kafka://HOST/TOPIC")
    # Apart, because urlsplit() refuses several IPv6 addresses, and its errors may have the password.
    authority = re.split("[/?#]", rest[2:], maxsplit=1)[0]
    url = urlsplit(f"{scheme}://{rest[2 + len(authority):]}")._replace(netloc=authority)
    if "@" in url.path or "#" in rest:
        raise AddressError(f"{shown}: / in a user or a password is %2F, # is %23, and @ in a topic is %40")
    name, make = BROKERS[scheme](shown, url, read, say, selection.what)
    return lambda spooling, file_name: BrokerSink(
        name, make(), spooling.folder / f"{_slug(name)}.db", spooling.limit, say or (lambda text: None))


def _slug(name: str) -> str:
    """A name for a file, which no other sink has."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:80] + "-" + digest


def _options(query: str, address: str, known: set[str] | None) -> dict[str, str]:
    """known: None allows names with a dot, too."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise AddressError(f"{address}: the options after ? must be NAME=VALUE&NAME=VALUE") from None
    options = dict(pairs)
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise AddressError(f"{address}: the option {name!r} is given {count} times")
        if known is not None and name not in known:
            possible = ", ".join(sorted(known | _SELECTION))
            raise AddressError(f"{address}: there is no option {name!r}; possible are {possible}")
    return options


def _number(text: str, address: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise AddressError(f"{address}: {text!r} is no number above 0")
    return number


def _read(path: str) -> str:
    """A secret in a file."""
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SinkError(f"the password file {path} cannot be read: {error}") from error


def _credentials(
    url: SplitResult, address: str, options: dict[str, str], read: Callable[[str], str]
) -> tuple[str | None, str | None]:
    """User and password."""
    user, _, host = url.netloc.rpartition("@")
    if ":" in user:
        raise AddressError(
            f"{url.scheme}://…@{host}: everybody on this machine can read a password in an address; write it into"
            " a file, and add ?password-file=FILE")
    path = options.pop("password-file", None)
    if path is None:
        return unquote(user) or None, None
    if not user:
        raise AddressError(f"{address}: there is a password, but no user")
    return unquote(user), read(path)


def _hosts(url: SplitResult, address: str) -> list[re.Match[str]]:
    """Of each the text, and the port with its colon or None."""
    hosts = url.netloc.rpartition("@")[2]
    if not hosts:
        raise AddressError(f"{address}: the host is missing")
    found = [match for host in hosts.split(",") if (match := _HOST.fullmatch(host))]
    if len(found) != len(hosts.split(",")):
        raise AddressError(f"{address}: a host is NAME:PORT, and an IPv6 address has brackets")
    return found


def _warn_once(host: str, say: Callable[[str], None]) -> None:
    if host not in _WARNED and host not in ("localhost", "127.0.0.1", "::1"):
        _WARNED.add(host)
        say(f"mqtt://{host}: the password is sent as it is, for everybody to read; take mqtts://")


def _mqtt(
    address: str, url: SplitResult, read: Callable[[str], str], say: _Say, what: str
) -> tuple[str, Callable[[], Transport]]:
    options = _options(url.query, address, _MQTT_OPTIONS)
    user, password = _credentials(url, address, options, read)
    if len(_hosts(url, address)) > 1 or not url.hostname:
        raise AddressError(f"{address}: one host is needed")
    tls = url.scheme == "mqtts"
    if not tls and options.keys() & {"ca", "cert", "key"}:
        raise AddressError(f"{address}: certificates need mqtts://")
    topic = unquote(url.path.removeprefix("/")) or "cudaccl/{source}"
    try:
        port = url.port or (8883 if tls else 1883)
    except ValueError:
        raise AddressError(f"{address}: the port is no number up to 65535") from None
    try:
        settings = MqttSettings(
            url.hostname, port, topic, user, password, tls, options.get("ca"), options.get("cert"), options.get("key"),
            options.get("client-id", ""), round(_number(options.get("keepalive", "30"), address)), what)
    except AddressError:
        raise
    except ValueError as error:
        raise AddressError(f"{address}: {error}") from None
    if password is not None and not tls and say is not None:
        _warn_once(url.hostname, say)
    return f"{url.scheme}://{url.hostname}:{port}/{settings.message_topic}", functools.partial(MqttTransport, settings)


def _kafka(
    address: str, url: SplitResult, read: Callable[[str], str], say: _Say, what: str
) -> tuple[str, Callable[[], Transport]]:
    options = _options(url.query, address, None)
    user, password = _credentials(url, address, options, read)
    for name in list(options):
        if "." not in name:
            raise AddressError(f"{address}: there is no option {name!r}; possible are password-file, what, rate,"
                               " changes and librdkafka's")
        if _SECRET.search(name):
            if not name.endswith("-file"):
                raise AddressError(f"{address}: everybody on this machine can read {name}; write it into a file, and"
                                   f" add {name}-file=FILE")
            options[name.removesuffix("-file")] = read(options.pop(name))
    servers = ",".join(host[0] if host[1] else f"{host[0]}:9092" for host in _hosts(url, address))
    topic = unquote(url.path.removeprefix("/")) or "cudaccl"
    try:
        settings = KafkaSettings(servers, topic, user, password, options)
    except ValueError as error:
        raise AddressError(f"{address}: {error}") from None
    return f"kafka://{servers}/{topic}", functools.partial(KafkaTransport, settings)


BROKERS = {"mqtt": _mqtt, "mqtts": _mqtt, "kafka": _kafka}  #: by the scheme of the address
