"""tcpdump's files of a run, `raw/pcap`, as `pcap/NODE-PORT.pcapng`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fabriclab.files import replacing
from fabriclab.formats.pcapng import CaptureError, Pcapng
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import PCAP, RAW_PCAP, capture_name, captured_epoch
from fabriclab.results.csv_logs import ResultsError

BOOT_NS = 1_700_000_000
"""The machine's wall clock (CLOCK_REALTIME) where its monotonic one has 0: its `time-travel-start`."""
EPOCH_NS = 946_684_800 * 10**9
"""2000-01-01 00:00:00 UTC: what the epoch is called in the files. Their times of day are the tables' times."""
_PIECE_BYTES = 1 << 20
_DROPPED = re.compile(rb"^([0-9]+) packets? dropped by kernel", re.MULTILINE)


def write_captures(run_dir: Path, plan: Plan) -> list[str]:
    """Write the files of what was captured; returns notes of what is not in them. Raises ResultsError, OSError."""
    pcap = plan.probes.pcap
    if pcap is None:
        return []
    (run_dir / PCAP).mkdir(exist_ok=True)
    macs = {f"{node.name}:{port.interface}": port.mac for node in plan.nodes for port in node.ports}
    return [note for port in pcap.ports for note in _write(run_dir, port, macs[port])]


def _write(run_dir: Path, port: str, mac: str) -> Iterator[str]:
    source, epoch = run_dir / RAW_PCAP / f"{capture_name(port)}.pcap", run_dir / captured_epoch(port)
    name = f"{PCAP}/{capture_name(port)}.pcapng"
    if not source.exists() or not epoch.exists():
        yield f"{name}: missing; the run ended before anything was captured"
        return
    pcapng = Pcapng(port, bytes.fromhex(mac.replace(":", "")), BOOT_NS + _read_epoch(epoch) - EPOCH_NS)
    try:
        with source.open("rb") as raw, replacing(run_dir / name) as part, part.open("wb") as file:
            while piece := raw.read(_PIECE_BYTES):
                file.write(pcapng.take(piece))
    except CaptureError as error:
        raise ResultsError(f"{source}: {error}") from error
    if pcapng.is_cut:
        yield f"{name}: the last packets are missing: tcpdump was killed"
    yield from _told(run_dir / "logs" / f"pcap@{capture_name(port)}.log", name)


def _read_epoch(path: Path) -> int:
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not text.isdigit():
        raise ResultsError(f"{path}: must be a number of nanoseconds, not {text!r}")
    return int(text)


def _told(log: Path, name: str) -> Iterator[str]:
    """Yield what tcpdump says that it lacks."""
    dropped = _DROPPED.search(log.read_bytes()) if log.exists() else None
    if dropped is not None and int(dropped[1]):
        yield f"{name}: {int(dropped[1])} packets are missing: tcpdump did not read them in time"
