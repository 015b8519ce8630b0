# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames for a sink, in a process whose disk fails as its input says: `writer.py ADDRESS SPOOL`.

A line of standard input is `put COUNT`, `fail ERRNO`, `heal` or `close`; each answer has what was sent, waits, and is
lost."""

import json
import os
import sys
from pathlib import Path

from cudaccl.publish import Account, Spooling, open_sink
from made import report

address, spool = sys.argv[1:]
content = os.environ.get("CONTENT")  # of a stream that can be read again
sink = open_sink(address, Spooling(Path(spool)))
sink.begin("a", "r", content)
frame = 0
for line in sys.stdin:
    command, *arguments = line.split()
    if command == "put":
        for frame in range(frame, frame + int(arguments[0])):
            sink.put(report(frame))
        frame += 1
    elif command == "fail":
        Path(os.environ["FAILING_ERROR"]).write_text(arguments[0])
    elif command == "heal":
        os.unlink(os.environ["FAILING_ERROR"])
    else:
        sink.close()
    account = sink.accounts().get("a", Account())
    print(json.dumps([account.sent, account.spooled, account.lost]), flush=True)
