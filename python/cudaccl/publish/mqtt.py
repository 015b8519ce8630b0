# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends messages to an MQTT broker with quality of service 1: each arrives at least once.

MQTT 5 is used, because a broker of MQTT 3.1.1 cannot say that it refuses a message.
"""

from __future__ import annotations

import dataclasses
import os
import selectors
import socket
import ssl
import threading
import time
import unicodedata
from typing import Any

from cudaccl import _host_name
from cudaccl.publish.errors import Refused, SinkError, Unavailable, need
from cudaccl.publish.mqtt_status import MqttStatus
from cudaccl.publish.spool import Message

_CONNECT_S = 5.0
_WINDOW = 100
_MAX_TEXT = 65535  # bytes
_REFUSED = (0x90, 0x95, 0x99)  # a name of a topic, too large, format: it is the message, and not the connection
# Reasons of a CONNACK that ask for another configuration, with what to look at.
_REFUSALS = {
    0x84: "it does not speak MQTT 5",
    0x85: "it does not accept the client id",
    0x86: "it does not accept the user name or the password",
    0x87: "this user is not authorized; is a user name or a password missing?",
    0x8A: "this client is banned",
    0x8C: "it does not accept the way to authenticate",
}


@dataclasses.dataclass(frozen=True)
class MqttSettings:
    """Where an MQTT broker is, and how to speak with it."""

    host: str
    port: int = 1883
    topic: str = "cudaccl/{source}"  #: {source} is replaced by the name of the stream
    user: str | None = None
    password: str | None = None
    tls: bool = False
    ca: str | None = None  #: file of certificates that are trusted; None: those of the system
    cert: str | None = None  #: files of this client's certificate and key
    key: str | None = None
    client_id: str = ""  #: empty: a random one
    keepalive: int = 30  #: seconds
    what: str = "frames"  #: that is sent; all else has a topic below `topic`

    def __post_init__(self) -> None:
        _host_name.checked(self.host)
        topic = self.topic.replace("{source}", "")
        if not self.topic or any(letter in topic for letter in "+#{}\0"):
            raise ValueError(f"{self.topic!r} is no topic to publish to; the only placeholder is {{source}}")

    @property
    def message_topic(self) -> str:
        return self.topic if self.what == "frames" else f"{self.topic}/{self.what}"

    @property
    def status_topic(self) -> str:
        """The same for all that is sent of a source."""
        return f"{self.topic}/status" if "{source}" in self.topic else f"{self.topic}/{{source}}/status"


def _is_text(text: str) -> bool:
    """Whether MQTT takes it: a broker closes the connection for others."""
    return 0 < len(text.encode(errors="replace")) <= _MAX_TEXT and not any(
        unicodedata.category(letter) in ("Cc", "Cs") or ord(letter) & 0xFFFE == 0xFFFE
        or 0xFDD0 <= ord(letter) <= 0xFDEF for letter in text)


def _is_topic(text: str) -> bool:
    return _is_text(text) and "+" not in text and "#" not in text


class MqttTransport:
    """A `forward.Transport`. MissingPackage: paho-mqtt is not installed."""

    def __init__(self, settings: MqttSettings) -> None:
        self._mqtt = need("paho.mqtt.client", "mqtt")
        self._settings = settings
        self._name = f"{settings.host}:{settings.port}"
        self._client: Any = None
        self._numbers: dict[int, int] = {}  # number of a message by MQTT's id of it
        self._sent: list[int] = []
        self._refused: dict[int, str] = {}
        self._failure: Unavailable | None = None
        self._connack: Any = None
        self._max_packet = 0
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self.window = _WINDOW
        self.trouble = ""
        self._tls = self._tls_context() if settings.tls else None
        self._changing = threading.Lock()
        self._statuses: dict[str, MqttStatus] = {}  # by source

    def _tls_context(self) -> ssl.SSLContext:
        settings = self._settings
        try:
            context = ssl.create_default_context(cafile=settings.ca)
            if settings.cert:
                context.load_cert_chain(settings.cert, settings.key)
        except OSError as error:  # ssl.SSLError is one
            files = ", ".join(f"{name}={file}" for name, file in
                              (("ca", settings.ca), ("cert", settings.cert), ("key", settings.key)) if file)
            raise SinkError(f"the certificates for {self._name} cannot be read ({files}): {error.strerror}") from error
        return context

    def _new_client(self, suffix: str, **options: Any) -> Any:
        """suffix: of its id."""
        settings = self._settings
        client = self._mqtt.Client(
            self._mqtt.CallbackAPIVersion.VERSION2, (settings.client_id or f"cudaccl-{os.urandom(6).hex()}") + suffix,
            protocol=self._mqtt.MQTTv5, **options)
        client.connect_timeout = _CONNECT_S
        if settings.user is not None:
            client.username_pw_set(settings.user, settings.password)
        if self._tls is not None:
            client.tls_set_context(self._tls)
        return client

    def connect(self) -> None:
        """See `forward.Transport`."""
        self._disconnect()
        settings = self._settings
        client = self._new_client("", reconnect_on_failure=False)
        client.max_inflight_messages_set(_WINDOW)  # the forwarder keeps to the window
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_publish = self._on_publish
        self._connack = self._failure = None
        try:
            client.connect(settings.host, settings.port, settings.keepalive, clean_start=True)
        except ssl.SSLCertVerificationError as error:
            raise Refused(f"{self._name}: its certificate is not trusted: {error.verify_message}") from error
        except OSError as error:
            raise Unavailable(f"{self._name} cannot be reached: {error.strerror or error}") from error
        self._client = client
        self._await_connack()

    def _await_connack(self) -> None:
        deadline = time.monotonic() + _CONNECT_S
        while self._connack is None and self._failure is None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Unavailable(f"{self._name} does not answer")
            self._serve(left)
        if self._failure is not None:
            raise self._failure
        limit = getattr(self._connack, "ReceiveMaximum", _WINDOW)
        self.window = min(_WINDOW, limit)
        self._max_packet = getattr(self._connack, "MaximumPacketSize", 0)

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            text = _REFUSALS.get(reason.value)
            self._failure = (Refused(f"{self._name} refuses the connection: {text}") if text else
                             Unavailable(f"{self._name} refuses the connection: {reason}"))
        else:
            self._connack = properties

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._failure = self._failure or Unavailable(f"{self._name} has closed the connection ({reason})")

    def _on_publish(self, _client: Any, _data: Any, packet: int, reason: Any, _properties: Any) -> None:
        number = self._numbers.pop(packet, None)
        if number is None:
            return
        if not reason.is_failure:
            self._sent.append(number)
        elif reason.value in _REFUSED:
            self._refused[number] = str(reason)
        else:
            self._failure = Refused(f"{self._name} refuses messages: {reason}")

    def send(self, message: Message) -> None:
        """See `forward.Transport`."""
        topic = self._settings.message_topic.replace("{source}", message.source)
        if not _is_topic(topic) or not _is_text(message.key):
            self._refused[message.number] = f"{message.source[:100]!r} cannot be in a topic"
            return
        properties = self._properties(message)
        # 2 bytes each for the lengths of the topic and the packet id, 5 at most for the header.
        size = len(message.payload) + len(topic.encode()) + len(properties.pack()) + 9
        if self._max_packet and size > self._max_packet:
            self._refused[message.number] = f"{size} bytes are more than its limit of {self._max_packet}"
            return
        info = self._client.publish(topic, message.payload, qos=1, properties=properties)
        self._numbers[info.mid] = message.number
        if info.rc not in (self._mqtt.MQTT_ERR_SUCCESS, self._mqtt.MQTT_ERR_QUEUE_SIZE):
            raise self._failure or Unavailable(f"{self._name}: {self._mqtt.error_string(info.rc)}")

    def _properties(self, message: Message) -> Any:
        """The key of the message, and that it is JSON."""
        properties = need("paho.mqtt.properties", "mqtt").Properties(
            need("paho.mqtt.packettypes", "mqtt").PacketTypes.PUBLISH)
        properties.ContentType = "application/json"
        properties.UserProperty = [("key", message.key)]
        return properties

    def poll(self, timeout: float) -> tuple[list[int], dict[int, str]]:
        """See `forward.Transport`."""
        if not self._sent and not self._refused and self._failure is None:
            self._serve(timeout)
        if not self._sent and not self._refused and self._failure is not None:
            raise self._failure
        sent, self._sent = self._sent, []
        refused, self._refused = self._refused, {}
        return sent, refused

    def _serve(self, timeout: float) -> None:
        """Waits for the network or for `wake()`, and lets the client read and write."""
        connection = self._client.socket()
        if connection is None:
            self._failure = self._failure or Unavailable(f"{self._name} has closed the connection")
            return
        pending = self._tls is not None and connection.pending()
        waiting = selectors.PollSelector()  # select() takes no descriptor above 1023
        waiting.register(self._wake_read, selectors.EVENT_READ)
        waiting.register(connection, selectors.EVENT_READ | (selectors.EVENT_WRITE if self._client.want_write() else 0))
        ready = {key.fileobj: events for key, events in waiting.select(0 if pending else timeout)}
        if self._wake_read in ready:
            self._wake_read.recv(4096)
        if pending or ready.get(connection, 0) & selectors.EVENT_READ:
            self._client.loop_read()
        if ready.get(connection, 0) & selectors.EVENT_WRITE and self._client.socket() is not None:
            self._client.loop_write()
        self._client.loop_misc()

    def wake(self) -> None:
        """See `forward.Transport`."""
        try:
            self._wake_write.send(b"\0")
        except (BlockingIOError, OSError):  # it is awake already, or closed
            pass

    def set_online(self, source: str, online: bool) -> None:
        """See `forward.Transport`. Of a source that cannot be in a topic nothing is said."""
        settings = self._settings
        topic = settings.status_topic.replace("{source}", source)
        if not _is_topic(topic):
            return
        with self._changing:
            status = self._statuses.get(source)
            if status is None:
                client = self._new_client(f"-{source}")
                self._statuses[source] = MqttStatus(
                    client, settings.host, settings.port, settings.keepalive, topic, online)
            else:
                status.set_online(online)

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.on_disconnect = None
            self._client.disconnect()
            self._client = None
        self._numbers.clear()
        self._sent.clear()
        self._refused.clear()

    def close(self) -> None:
        """See `forward.Transport`."""
        self._disconnect()
        for status in self._statuses.values():
            status.close()
