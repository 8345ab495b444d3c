"""Traffic that is started by hand in a live lab: from the plan to the files and programs that its machine is given.

All of it goes in as inputs, so a replay needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fabriclab.compile import compiled_flows, trace_text
from fabriclab.errors import ArgumentError
from fabriclab.formats.job import Program
from fabriclab.formats.live import LIVE_FILES
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import Carrier, FlowsTraffic, Iperf3Traffic, Traffic
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.live.gather import LIVE_TRACE

_PART_BYTES = 24_000
"""What of a trace goes into one input: as JSON, every character escaped, it still fits."""
_FIRST_PORT = 7000
"""The lab's own replays listen there, and on a few after it (`traffic/README.md`)."""
_PORTS = 16
"""How many ports a start has: one for each pair of transport and congestion control."""
_MOST_STARTS = 3000
_RENDEZVOUS = "/run/fabriclab/rendezvous"


@dataclass(frozen=True)
class Start:
    """A traffic as the machine is given it."""

    traffic: str
    parts: tuple[dict[str, dict[str, str]], ...]
    """The trace, a piece an input by its path in the run directory: `files` has the first, `append` the others."""
    programs: tuple[Program, ...]
    flows: int
    next_flow: int
    """The first number that no flow has."""


def traffic_named(plan: Plan, name: str) -> Traffic:
    """Return a traffic of the lab. Raises ArgumentError."""
    for traffic in plan.traffic:
        if traffic.name == name:
            if isinstance(traffic, Iperf3Traffic):
                raise ArgumentError(
                    "{0}: traffic of iperf3 can start only with its lab; while the lab is up, use `exec NODE -- "
                    "iperf3 ...`",
                    name,
                )
            if traffic.program_nodes():
                raise ArgumentError(
                    "{0}: a program can start only with its lab; while the lab is up, use `exec NODE -- PROGRAM ...`",
                    name,
                )
            return traffic
    raise ArgumentError(
        "{0!r}: the lab has no such traffic; {1}", name, did_you_mean(name, [t.name for t in plan.traffic])
    )


def one_flow(plan: Plan, src: str, dst: str, size_bytes: int, congestion_control: str | None) -> FlowsTraffic:
    """Return a single flow as a traffic. Raises ArgumentError for what is not a host, or no congestion control."""
    hosts = sorted(plan.host_names)
    for host in (src, dst):
        if host not in plan.host_names:
            raise ArgumentError("{0!r}: the lab has no such host; {1}", host, did_you_mean(host, hosts))
    if src == dst:
        raise ArgumentError("{0}: a flow needs two different hosts", src)
    if congestion_control is not None and congestion_control not in CONGESTION_CONTROLS:
        known = list(CONGESTION_CONTROLS)
        text = "--cc {0!r}: no such congestion control; {1}"
        raise ArgumentError(text, congestion_control, did_you_mean(congestion_control, known))
    if size_bytes < 4:
        raise ArgumentError("--size {0} B: a flow has at least 4 B", size_bytes)
    return FlowsTraffic(
        name="flow",
        senders=(src,),
        receiver=dst,
        size_bytes=size_bytes,
        count=1,
        start_ns=0,
        interval_ns=0,
        mode="push",
        carrier=Carrier(congestion_control=congestion_control),
    )


def compile_start(plan: Plan, lab_directory: Path, traffic: Traffic, number: int, first_flow: int) -> Start:
    """Return what the machine is given for a traffic; `number` counts the starts, `first_flow` is its first flow's.

    Raises TraceError, ArgumentError where there were too many.
    """
    if number > _MOST_STARTS:
        raise ArgumentError(
            "the lab has ports for {0} starts, and all are used; take it down and bring it up again", _MOST_STARTS
        )
    alone = plan.model_copy(update={"traffic": (traffic,)})
    flows = compiled_flows(alone, lab_directory)
    lowest = int(flows["flow"].min() or 0)  # type: ignore[arg-type]
    flows = flows.with_columns((pl.col("flow").cast(pl.Int64) - lowest + first_flow).cast(pl.UInt32).alias("flow"))
    place = f"{LIVE_FILES}/{number}"
    parts = tuple(_parts(place, trace_text(flows)))
    hosts = sorted({str(name) for column in ("src", "dst") for name in flows[column].cast(pl.String).unique()})
    waits = flows["after"].null_count() < flows.height
    return Start(
        traffic.name,
        parts,
        tuple(_program(traffic.name, host, number, waits) for host in hosts),
        flows.height,
        first_flow + (int(flows["flow"].max() or 0) - first_flow + 1),  # type: ignore[arg-type]
    )


def _parts(place: str, text: Iterator[str]) -> Iterator[dict[str, dict[str, str]]]:
    whole = "".join(text)
    for start in range(0, len(whole), _PART_BYTES):
        yield {"append" if start else "files": {f"{place}/{LIVE_TRACE}": whole[start : start + _PART_BYTES]}}


def _program(traffic: str, host: str, number: int, waits: bool) -> Program:
    place = f"/job/{LIVE_FILES}/{number}"
    rendezvous = f"{_RENDEZVOUS}/live-{number}" if waits else _RENDEZVOUS
    argv = [
        *("/tools/replay", "--host", host, "--trace", f"{place}/{LIVE_TRACE}", "--hosts", "/job/traffic/hosts.csv"),
        *("--log", f"{place}/{host}.csv", "--rendezvous", rendezvous, "--port", str(_FIRST_PORT + _PORTS * number)),
    ]
    if waits:  # a directory of its own: a socket of the same host may be there already
        argv = ["/bin/sh", "-c", 'mkdir -p "$0" && exec "$@"', rendezvous, *argv]
    return {"name": f"{traffic}-{number}@{host}", "node": host, "argv": argv}


def names_of(programs: Sequence[Program]) -> list[str]:
    """Return the programs' names."""
    return [program["name"] for program in programs]
