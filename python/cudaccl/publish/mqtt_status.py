# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether frames of a source come, as a message that an MQTT broker keeps."""

from __future__ import annotations

import threading
import time
from typing import Any

_ONLINE, _OFFLINE = b"online", b"offline"
_FIRST_PAUSE_S = 1
_LONGEST_PAUSE_S = 60


class MqttStatus:
    """A connection of its own, because a connection has one will: `offline`, which the broker sends if this process
    dies. It connects again by itself, and less often where that does not last: mosquitto 2.0 ends the connection of a
    user who may not write to the topic.

    States have quality of service 0: a new connection says the present one, and an old one never comes late.

    client: one of paho that is not connected.
    """

    def __init__(self, client: Any, host: str, port: int, keepalive: int, topic: str, online: bool) -> None:
        self._client = client
        self._topic = topic
        self._online = online
        self._changing = threading.Lock()  # so that states are sent in their order
        self._connected_at = 0.0
        self._pause = _FIRST_PAUSE_S
        client.will_set(topic, _OFFLINE, qos=1, retain=True)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.reconnect_delay_set(_FIRST_PAUSE_S, _LONGEST_PAUSE_S)
        client.connect_async(host, port, keepalive)
        client.loop_start()

    def set_online(self, online: bool) -> None:
        with self._changing:
            self._online = online
            self._tell()

    def _tell(self) -> None:
        if self._client.is_connected():
            self._client.publish(self._topic, _ONLINE if self._online else _OFFLINE, retain=True)

    def _on_connect(self, client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._connected_at = time.monotonic()
        if not reason.is_failure:
            with self._changing:
                self._tell()
            client.subscribe(self._topic)

    def _on_disconnect(self, client: Any, *_reason: Any) -> None:
        lasted = time.monotonic() - self._connected_at > _LONGEST_PAUSE_S
        self._pause = _FIRST_PAUSE_S if lasted else min(2 * self._pause, _LONGEST_PAUSE_S)
        client.reconnect_delay_set(self._pause, _LONGEST_PAUSE_S)

    def _on_message(self, _client: Any, _data: Any, message: Any) -> None:
        """The will of a connection that was there before comes late, if the broker did not see its end."""
        with self._changing:
            if self._online and message.payload == _OFFLINE:
                self._tell()

    def close(self) -> None:
        self.set_online(False)
        is_connected = self._client.is_connected()
        self._client.disconnect()
        if is_connected:  # else its thread may wait for the network, and ends by itself
            self._client.loop_stop()
