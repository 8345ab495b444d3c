"""What a live lab's machine, PID 1, server and clients say to each other, and what a session is written down in.

The kernel's messages are those of `include/uapi/linux/fabriclab_live.h`, those of PID 1 of `images/machine/README.md`
("A live lab"). Nothing heavy is imported here: `fabriclab exec` is to be quick.
"""

from __future__ import annotations

from enum import IntEnum

SESSION_FORMAT = "fabriclab-session-1"
"""The version of a recording, key `format` of its first line."""
SESSION_FILE = "session.jsonl"
"""The recording's name in the run directory."""
LIVE_FILES = "live"
"""Where inputs put files, in the run directory: flow traces of what was started by hand, and their logs."""

HEADER = "=IIQQ"
"""A message of the kernel's: kind, length of what follows, two numbers (`struct live_header`)."""
NAP = "=QQQ16s64s"
"""What says of a nap where it was, how long, after how many ticks, whose and in which node (`struct live_nap`)."""
FRAME = "<IB"
"""What an input or output begins with: the session's number, the kind. Between client and server: length, kind."""
PAYLOAD_MAX = 65536
"""The longest input, and the longest output, in bytes."""
REAL_TIME = 1 << 32
"""The speed at which a virtual second takes a second; 0 is as fast as the host can."""
FOR_EVER = 2**64 - 1
"""The end of time, in nanoseconds: a pace that holds until another is set."""
OUTPUT_CREDIT = 262144
"""How many bytes of output a session may send at first."""
INPUT_CREDIT = 65536
"""How many bytes of input a session may be sent at first."""


class Request(IntEnum):
    """What the host says to the kernel (`enum live_request`)."""

    INPUT = 1
    INPUT_AT = 2
    PACE = 3
    STOP = 4
    REPLAY = 5
    LOOK = 6
    CONNECTIONS = 7
    BREAK = 8
    NAP_AT = 16


class Answer(IntEnum):
    """What the kernel says to the host (`enum live_answer`)."""

    OUTPUT = 1
    TAKEN = 2
    CLOCK = 3
    STOPPED = 4
    DIVERGED = 5
    LOOKED = 6
    NAPPED = 16
    CHARGED = 17


class Stop(IntEnum):
    """Why time stands still (`enum live_stop`)."""

    ASKED = 1
    UNTIL = 2
    BY_INIT = 3
    BREAK = 4


class Input(IntEnum):
    """Kinds of what PID 1 is told; a client says the same to its server."""

    OPEN = 1
    DATA = 2
    EOF = 3
    RESIZE = 4
    SIGNAL = 5
    CREDIT = 6


class Output(IntEnum):
    """Kinds of what PID 1 says; the server says the same to its client, and ANSWER besides."""

    STARTED = 1
    STDOUT = 2
    STDERR = 3
    ENDED = 4
    ERROR = 5
    CREDIT = 6
    ANSWER = 7
    """Of the server alone, and the last: JSON, what was asked for."""
