# SPDX-License-Identifier: LGPL-2.1-or-later
"""A publisher to be killed: `feeder.py FOLDER FRAMES TRANSPORT ADDRESS…`, with its spool in FOLDER. Prints every 50th
frame, and reads a line of standard input before it goes on, so that a life is never longer than its killer allows. At
the end of standard input it goes on without asking."""

import sys
from pathlib import Path

from cudaccl.publish import BrokerSink, KafkaSettings, KafkaTransport, MqttSettings, MqttTransport
from made import PATIENCE, report

TRANSPORTS = {
    "mqtt": lambda port: MqttTransport(MqttSettings("127.0.0.1", int(port))),
    "kafka": lambda servers, topic: KafkaTransport(KafkaSettings(servers, topic)),
}

folder, frames, transport, *address = sys.argv[1:]
sink = BrokerSink(transport, TRANSPORTS[transport](*address), Path(folder) / "spool.db")
run = sink.interrupted("a", "content") or "r"
for frame in range(sink.begin("a", run, "content"), int(frames)):
    sink.put(report(frame))
    if frame % 50 == 0:
        print(frame, flush=True)
        sys.stdin.readline()
sink.end("a")
assert sink.drain(PATIENCE)
sink.close()
