# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends messages to Kafka with an idempotent producer: in order within a source, and without duplicates while the
process lives. After a restart the messages without an acknowledgement are sent again."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from cudaccl.publish.errors import Refused, SinkError, Unavailable, need
from cudaccl.publish.spool import Message

_CONNECT_S = 5.0
_WINDOW = 1000
_STEP_S = 0.02


def _is_topic(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name) is not None and name not in (".", "..")


@dataclasses.dataclass(frozen=True)
class KafkaSettings:
    """Where a Kafka cluster is, and how to speak with it."""

    servers: str  #: "host:port,host:port"
    topic: str = "cudaccl"  #: {source} is replaced by the name of the stream
    user: str | None = None
    password: str | None = None
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: of librdkafka, such as security.protocol

    def __post_init__(self) -> None:
        if not _is_topic(self.topic.replace("{source}", "x")):
            raise ValueError(
                f"{self.topic!r} is no Kafka topic: letters, digits, '.', '_', '-' and the placeholder {{source}}")


class KafkaTransport:
    """A `forward.Transport`. The key of a Kafka message is its source, so that a source stays in one partition; the
    header `key` is that of the frame. MissingPackage: confluent-kafka is not installed."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._kafka = need("confluent_kafka", "kafka")
        self._settings = settings
        self._producer: Any = None
        self._sent: list[int] = []
        self._refused: dict[int, str] = {}
        self._failure: Unavailable | None = None
        self._woken = threading.Event()
        self.window = _WINDOW
        self.trouble = ""

    def _make_producer(self) -> Any:
        settings = self._settings
        options: dict[str, Any] = {"linger.ms": 5, "compression.type": "zstd"} | dict(settings.options)
        if settings.user is not None:
            options |= {"sasl.username": settings.user, "sasl.password": settings.password or ""}
            options = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"} | options
        options |= {
            "bootstrap.servers": settings.servers,
            "enable.idempotence": True,
            "message.timeout.ms": 0,  # never: the spool decides what is lost
            "error_cb": self._on_error,
            "log_level": 0,
        }
        try:
            return self._kafka.Producer(options)
        except self._kafka.KafkaException as error:
            raise SinkError(f"Kafka at {settings.servers}: {error.args[0].str()}") from error

    def connect(self) -> None:
        """See `forward.Transport`."""
        self.close()
        self._sent.clear()
        self._refused.clear()
        self._failure = None
        self.trouble = ""
        self._producer = self._make_producer()
        try:
            self._producer.list_topics(timeout=_CONNECT_S)
        except self._kafka.KafkaException as error:
            self._producer.poll(0)  # calls _on_error
            reason = self.trouble or error.args[0].str()
            raise self._failure or Unavailable(
                f"Kafka at {self._settings.servers} cannot be reached: {reason}") from error

    def _on_error(self, error: Any) -> None:
        if error.code() in (self._kafka.KafkaError._AUTHENTICATION, self._kafka.KafkaError.SASL_AUTHENTICATION_FAILED,
                            self._kafka.KafkaError._SSL):
            self._failure = Refused(f"Kafka at {self._settings.servers} refuses the connection: {error.str()}")
        elif error.fatal():
            self._failure = Unavailable(f"Kafka at {self._settings.servers}: {error.str()}")
        else:
            self.trouble = error.str()

    def send(self, message: Message) -> None:
        """See `forward.Transport`."""
        number = message.number
        topic = self._settings.topic.replace("{source}", message.source)
        if not _is_topic(topic):
            self._refused[number] = f"{topic[:100]!r} is no topic"
            return

        def on_delivery(error: Any, _delivered: Any) -> None:
            self._settle(number, error)

        try:
            self._producer.produce(
                topic, message.payload, message.source, headers={"key": message.key}, on_delivery=on_delivery)
        except self._kafka.KafkaException as error:
            self._settle(number, error.args[0])
        except BufferError as error:
            raise Unavailable(f"Kafka at {self._settings.servers}: {error}") from error

    def _settle(self, number: int, error: Any) -> None:
        codes = self._kafka.KafkaError
        if error is None:
            self.trouble = ""
            self._sent.append(number)
        elif error.code() in (codes.MSG_SIZE_TOO_LARGE, codes.INVALID_MSG_SIZE, codes.INVALID_RECORD):
            self._refused[number] = error.str()
        elif error.code() not in (codes._PURGE_QUEUE, codes._PURGE_INFLIGHT):
            self._failure = self._failure or Refused(
                f"Kafka at {self._settings.servers} refuses messages: {error.str()}")

    def poll(self, timeout: float) -> tuple[list[int], dict[int, str]]:
        """See `forward.Transport`."""
        deadline = time.monotonic() + timeout
        while True:
            self._producer.poll(_STEP_S)
            if self._sent or self._refused or self._failure or self._woken.is_set() or time.monotonic() > deadline:
                break
        self._woken.clear()
        if not self._sent and not self._refused and self._failure is not None:
            raise self._failure
        sent, self._sent = self._sent, []
        refused, self._refused = self._refused, {}
        return sent, refused

    def set_online(self, source: str, online: bool) -> None:
        """Kafka keeps no state for later consumers."""

    def wake(self) -> None:
        """See `forward.Transport`."""
        self._woken.set()

    def close(self) -> None:
        """See `forward.Transport`."""
        if self._producer is not None:
            self._producer.purge()
            self._producer.flush(1)
            self._producer = None
