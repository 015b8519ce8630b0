# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages to a real Kafka broker, which must run already.

CUDACCL_TEST_KAFKA is its address, HOST:PORT. CUDACCL_TEST_KAFKA_RESTART is a shell command that kills it and starts it
again, such as `docker restart --time 0 kafka`; without it the broker runs on.
"""

import os
import subprocess
import time
import uuid

import pytest

pytest.importorskip("confluent_kafka", reason="confluent-kafka is missing")

from cudaccl.publish import Account, Spool  # noqa: E402
from made import feeder, kill_after, read_kafka, until  # noqa: E402
from test_kafka import expect_order_of_each_source, open_sink  # noqa: E402

SERVERS = os.environ.get("CUDACCL_TEST_KAFKA")
RESTART = os.environ.get("CUDACCL_TEST_KAFKA_RESTART")
if SERVERS is None:
    pytest.skip("no Kafka broker: CUDACCL_TEST_KAFKA is the address of one", allow_module_level=True)

FRAMES = 1000


def is_on_disk(topic):
    """Whether the broker answers, and has the topic again."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        found = AdminClient({"bootstrap.servers": SERVERS, "log_level": 0}).list_topics(topic, timeout=2)
    except KafkaException:
        return False
    partitions = found.topics[topic].partitions.values()
    return len(partitions) > 0 and all(partition.leader >= 0 for partition in partitions)


@pytest.fixture
def topic():
    """A new one, of three partitions. A broker that cannot make one makes it for the first message."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": SERVERS})
    name = f"cudaccl-test-{uuid.uuid4().hex[:12]}"
    try:
        admin.create_topics([NewTopic(name, 3)], request_timeout=10)[name].result()
    except KafkaException as error:
        print(f"{SERVERS} makes no topic: {error}")
    until(lambda: is_on_disk(name), 30)
    yield name
    try:
        admin.delete_topics([name], request_timeout=10)[name].result()
    except KafkaException as error:
        print(f"{SERVERS} does not delete {name}: {error}")


def keys_of(found):
    return [headers[0][1].decode() for _, _, headers, _ in found]


def test_messages_arrive_in_order_of_each_source(topic, tmp_path):
    expect_order_of_each_source(
        open_sink(tmp_path, SERVERS, topic=topic), lambda: read_kafka(SERVERS, topic), FRAMES)


def test_nothing_is_lost_if_both_are_killed(topic, tmp_path):
    """The publisher by SIGKILL, the broker by the command; at last a broker restarts while the publisher works."""
    command = feeder(tmp_path, FRAMES, "kafka", SERVERS, topic)
    for life in (3, 5, 4):  # in lines of 50 frames; a publisher that has ended its source must not be killed
        kill_after(command, life, pause=0.001 * life)
        restart()
    last = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert last.stdout.readline(), "the publisher has ended too early"
    restart()
    last.communicate(timeout=120)
    assert last.returncode == 0
    spool = Spool(tmp_path / "spool.db")
    assert spool.accounts() == {"a": Account(sent=FRAMES)}
    spool.close()
    until(lambda: is_on_disk(topic), 60)
    keys = keys_of(read_kafka(SERVERS, topic))
    assert list(dict.fromkeys(keys)) == [f"a/r/{i}" for i in range(FRAMES)]
    print(f"{len(keys) - FRAMES} messages twice")


def restart():
    if RESTART is None:
        print("the broker runs on: CUDACCL_TEST_KAFKA_RESTART is the command that kills it and starts it again")
        return
    subprocess.run(RESTART, shell=True, check=True, timeout=120)
    time.sleep(0.2)
