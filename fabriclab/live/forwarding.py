"""`fabriclab forward`: connections to a port of this computer end at a service in a node."""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading

from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.client import Connection, Session
from fabriclab.live.labs_up import chosen, labs
from fabriclab.live.terminal import Streams, relay

_MOST_CONNECTIONS = 64
_LARGEST_PORT = 65535
_LOOPBACK = "127.0.0.1"


def forward(lab: str | None, written: str) -> None:
    """Forward `[ADDRESS:]PORT:NODE:PORT` until Ctrl-C. Raises ArgumentError, OSError, LabsUpError."""
    address, port, node, target = parse_forward(written)
    name = chosen(lab)
    nodes = labs()[name]["nodes"]
    if node not in nodes:
        raise ArgumentError("{0!r}: the lab has no such node; {1}", node, did_you_mean(node, nodes))
    with listening(address, port) as end:
        bound = end.getsockname()[1]
        sys.stderr.write(f"{address}:{bound} leads to {node}:{target} of {name}; Ctrl-C ends it\n")
        try:
            accept(end, name, node, target)
        except KeyboardInterrupt:
            return


def parse_forward(written: str) -> tuple[str, int, str, int]:
    """Return address, port, node and its port. Raises ArgumentError for what is none, or is not on loopback."""
    words = written.rsplit(":", 3)
    if len(words) == 3:
        words = [_LOOPBACK, *words]
    if len(words) != 4 or not words[1].isdigit() or not words[3].isdigit():
        raise ArgumentError(
            "{0!r} does not say what to forward; write [ADDRESS:]PORT:NODE:PORT, such as 8080:h1:80", written
        )
    address, node = words[0].strip("[]"), words[2]
    port, target = int(words[1]), int(words[3])
    if port > _LARGEST_PORT or not 0 < target <= _LARGEST_PORT:
        raise ArgumentError("{0!r}: the largest port number is {1}", written, _LARGEST_PORT)
    if not _is_loopback(address):
        raise ArgumentError(
            "{0!r}: {1} is not on loopback (127.0.0.1, ::1, localhost), so others could connect", written, address
        )
    return _LOOPBACK if address == "localhost" else address, port, node, target


def _is_loopback(address: str) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any. Raises OSError that names the place."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family, backlog=_MOST_CONNECTIONS)
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"{address}:{port}") from None


def accept(end: socket.socket, lab: str, node: str, port: int) -> None:
    """Serve connections, each in a thread of its own; who comes when all are taken waits. It ends by an exception."""
    room = threading.BoundedSemaphore(_MOST_CONNECTIONS)
    while True:
        room.acquire()
        connection, _ = end.accept()
        threading.Thread(target=_serve, args=(connection, lab, node, port, room), daemon=True).start()


def _serve(connection: socket.socket, lab: str, node: str, port: int, room: threading.BoundedSemaphore) -> None:
    try:
        with connection, Connection(lab) as server:
            session = Session(server, {"open": {"connect": {"node": node, "port": port}}})
            descriptor = connection.fileno()
            relay(session, Streams(descriptor, descriptor))
    except FabriclabError as error:
        sys.stderr.write(f"{error}\n")
    finally:
        room.release()
