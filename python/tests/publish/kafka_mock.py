# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mock Kafka cluster of one broker that other processes can reach over TCP: that of librdkafka, which confluent-kafka
brings along. Prints its address; reads `down`, `up` and `refuse` (the next requests to produce, because of the topic's
access list) from standard input, and ends with it."""

import ctypes
import sys
from pathlib import Path

import confluent_kafka

PRODUCE = 0  # numbers of Kafka's protocol
TOPIC_AUTHORIZATION_FAILED = 29


def load():
    """The library that the Python package uses."""
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(folder.glob("librdkafka-*.so*"))))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


def main():
    library = load()
    error = ctypes.create_string_buffer(512)
    client = ctypes.c_void_p(library.rd_kafka_new(0, ctypes.c_void_p(library.rd_kafka_conf_new()), error, 512))
    cluster = ctypes.c_void_p(library.rd_kafka_mock_cluster_new(client, 1))
    print(library.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    for command in map(str.strip, sys.stdin):
        if command == "down":
            library.rd_kafka_mock_broker_set_down(cluster, 1)
        elif command == "up":
            library.rd_kafka_mock_broker_set_up(cluster, 1)
        elif command == "refuse":
            errors = [TOPIC_AUTHORIZATION_FAILED]
            library.rd_kafka_mock_push_request_errors(cluster, PRODUCE, ctypes.c_size_t(1), *errors)
        else:
            sys.exit(f"no command: {command}")
        print("done", flush=True)


if __name__ == "__main__":
    main()
