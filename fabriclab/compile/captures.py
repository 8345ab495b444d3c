"""The probes that capture packets: a tcpdump for each port, whose file becomes pcapng when the run is over."""

from __future__ import annotations

from fabriclab.formats.job import Program
from fabriclab.formats.pcapng import HEADS_BYTES, packet_bytes
from fabriclab.formats.plan.model import Pcap
from fabriclab.formats.run_directory import RAW_PCAP, capture_name, captured_epoch

_RING_KIB = 512
"""What the kernel keeps for a tcpdump that has not yet run: all that passes a port at one instant, many times over.
Memory is the one thing that a capture takes from others: with 16 MiB a port, where 20 ports were captured in a machine
of 2.5 GB, other packets were lost (lab `pfc-storm`)."""
_SCRIPT = """\
echo "$FABRICLAB_EPOCH_NS" > "$1" && shift || exit 1
asked=
trap 'asked=1; kill $child' TERM
"$@" & child=$!
wait $child; status=$?
[ -z "$asked" ] || { wait $child; exit $?; }
[ $status = 0 ] || exit $status
while [ -z "$asked" ]; do sleep 86400 & child=$!; wait $child; done
exit 0
"""
"""Run the rest of the command line until SIGTERM comes. A tcpdump that has its number of packets ends, which no probe
may before the traffic does: then a `sleep` holds its place. Beside the packets stands the instant their times count
from."""


def captures_by_port(pcap: Pcap | None) -> dict[str, Program]:
    """Return the program for each port. They are the machine's own, in the ports' network namespaces: a node that loses
    its power loses its programs, and what passes its ports until then and after is to be seen."""
    return {} if pcap is None else {port: _capture(port, pcap) for port in pcap.ports}


def compile_captures(pcap: Pcap | None) -> list[Program]:
    """Return the programs."""
    return list(captures_by_port(pcap).values())


def most_packets(pcap: Pcap) -> int:
    """Return how many packets of a port are captured at most: so many of the longest fill its file."""
    return (pcap.file_limit_bytes - HEADS_BYTES) // packet_bytes(pcap.snaplen_bytes)


def _capture(port: str, pcap: Pcap) -> Program:
    node, _, interface = port.partition(":")
    # Promiscuous mode (without -p) is a flag of the interface, of which routing daemons are told: they wake, and draw.
    file = f"/job/{RAW_PCAP}/{capture_name(port)}.pcap"
    tcpdump = ["tcpdump", "-Z", "root", "-n", "-p", "-i", interface, "--immediate-mode", "--time-stamp-precision=nano"]
    tcpdump += ["-B", str(_RING_KIB), "-s", str(pcap.snaplen_bytes), "-c", str(most_packets(pcap)), "-w", file]
    inside = ["nsenter", f"--net=/run/netns/{node}", "--", *tcpdump]
    argv = ["/bin/sh", "-c", _SCRIPT, "capture", f"/job/{captured_epoch(port)}", *inside]
    return {"name": f"pcap@{capture_name(port)}", "node": None, "argv": argv}
