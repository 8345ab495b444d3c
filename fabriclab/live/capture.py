"""`fabriclab capture`: tcpdump in a node; its packets as pcapng, or as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriclab.errors import ArgumentError
from fabriclab.files import naming
from fabriclab.formats.pcapng import Pcapng
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.labs_up import chosen, labs
from fabriclab.live.terminal import Streams, run_in_node

_EVERY = ("any", "lo")
_OUTPUT = "-"


def capture(port: str, what: Sequence[str], write: str | None) -> int:
    """Capture at a port (`[NAME:]NODE:PORT`) until Ctrl-C; returns tcpdump's exit status.

    `write`: the file that pcapng is written to, `-` the output; None: text. Raises ArgumentError for a port that is
    none, OSError for a file that can't be written.
    """
    lab, node, interface = find_port(port)
    if write is None:
        return run_in_node(lab, node, [*as_text(interface), *what], watches=True, streams=Streams(stdin=None))
    argv = [*_tcpdump(interface), "-U", "-w", "-", *what]
    convert = Pcapng(f"{node}:{interface}").take
    if write == _OUTPUT:
        return run_in_node(lab, node, argv, watches=True, streams=Streams(stdin=None, convert=convert))
    with naming(Path(write)), Path(write).open("wb") as file:
        return run_in_node(lab, node, argv, watches=True, streams=Streams(None, file.fileno(), convert=convert))


def as_text(interface: str) -> list[str]:
    """Return the command that prints what passes a port, a line a packet."""
    return [*_tcpdump(interface), "-l"]


def _tcpdump(interface: str) -> list[str]:
    return ["tcpdump", "-Z", "root", "-n", "-i", interface, "--immediate-mode", "--time-stamp-precision=nano"]


def find_port(written: str) -> tuple[str, str, str]:
    """Return lab, node and port of `[NAME:]NODE:PORT`. Raises ArgumentError, LabsUpError."""
    words = written.split(":")
    if not 2 <= len(words) <= 3 or not all(words):
        raise ArgumentError("{0!r} is not a port; write NODE:PORT, such as s1:eth1", written)
    lab = chosen(words[0] if len(words) == 3 else None)
    node, port = words[-2:]
    ports = labs()[lab]["ports"]
    if node not in ports:
        raise ArgumentError("{0!r}: the lab has no such node; {1}", node, did_you_mean(node, ports))
    if port not in (*ports[node], *_EVERY):
        text = "{0!r}: {1} has no such port; {2}"
        raise ArgumentError(text, written, node, did_you_mean(port, (*ports[node], *_EVERY)))
    return lab, node, port
