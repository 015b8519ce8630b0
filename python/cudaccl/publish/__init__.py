# SPDX-License-Identifier: LGPL-2.1-or-later
"""Brings records to files and brokers. docs/publishing.md explains it.

    sink = open_sink("mqtt://localhost/cudaccl/{source}", Spooling(Path("/var/spool/cudaccl")))
    sink.begin("door", run="2026-01-31T12:00:00Z")
    sink.put(report)

Each broker needs an optional package, which is imported when it is used: cudaccl[mqtt], cudaccl[kafka],
cudaccl[parquet], cudaccl[metrics].
"""

from cudaccl.publish.address import AddressError, Spooling, open_sink
from cudaccl.publish.errors import MissingPackage, Refused, SinkError, Unavailable
from cudaccl.publish.json_lines import JsonLinesSink
from cudaccl.publish.kafka import KafkaSettings, KafkaTransport
from cudaccl.publish.metrics import Metrics
from cudaccl.publish.mqtt import MqttSettings, MqttTransport
from cudaccl.publish.parquet import ParquetSink
from cudaccl.publish.report import Report
from cudaccl.publish.sink import BrokerSink, Sink
from cudaccl.publish.spool import Account, Message, Spool

__all__ = [
    "Account", "AddressError", "BrokerSink", "JsonLinesSink", "KafkaSettings", "KafkaTransport", "Message", "Metrics",
    "MissingPackage", "MqttSettings", "MqttTransport", "ParquetSink", "Refused", "Report", "Sink", "SinkError", "Spool",
    "Spooling", "Unavailable", "open_sink",
]
