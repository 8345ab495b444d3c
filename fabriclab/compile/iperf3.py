"""iperf3's flows: for each a server on the receiver and a client on the sender, run by `replay exec`
(`traffic/README.md`).

iperf3 can neither wait for a time nor send for part of a second (`-t` takes whole ones). So its client sends without an
end (`-t 0`) from the flow's start until SIGINT at its stop, which makes it print its results. The server prints its own
when the client's farewell arrives, or, where that is held up in a queue, on a SIGINT of its own.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from fabriclab.formats.job import Program
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import Iperf3Traffic
from fabriclab.resolve.interfaces import first_address
from fabriclab.workload import TraceError

FIRST_PORT = 5201
"""iperf3's own; further flows of the same receiver have the next ones."""
PORT_LIMIT = 7000
"""Where replay's ports begin."""
_FLOW_MEMORY_BYTES = 4 << 20
"""A flow's two iperf3, two `replay exec` and two connections: 2.4 MB measured without what is in the
connections' buffers."""
_SERVER_GRACE_NS = 2_000_000
"""How much longer a server lives than its client, which loses its results if the server ends first. Timers of
containers can be apart."""
_BLOCK = "16K"
"""The size of a write, and the unit in which the receiver counts: an incomplete last block is lost. iperf3's own,
128 KB, is 0.1 s of 10 Mbps."""
_DSCP_SHIFT = 2
"""iperf3 takes the whole TOS byte, whose upper six bits are the code point (RFC 2474)."""
_COLUMNS = ("flow", "start_ns", "stop_ns", "src", "dst", "transport", "congestion_control", "dscp", "ip")


def compile_iperf3(plan: Plan, flows: pl.DataFrame) -> list[Program]:
    """Return the job's processes of the flows of mode `iperf3`, servers first; other rows of the table
    (`compiled_flows`) are passed over.

    Raises TraceError for more flows to one host than there are ports.
    """
    if plan.configured is not None:
        return []  # such labs have no traffic of iperf3, which is told addresses before a run
    hosts = [node for node in plan.nodes if node.role == "host"]
    of_family = {family: {node.name: first_address(node, family) for node in hosts} for family in plan.families}
    servers, clients = [], []
    ports = dict.fromkeys((node.name for node in hosts), FIRST_PORT)
    for flow in flows.filter(pl.col("mode").cast(pl.String) == "iperf3").select(_COLUMNS).iter_rows(named=True):
        host, port = flow["dst"], ports[flow["dst"]]
        if port == PORT_LIMIT:
            most = PORT_LIMIT - FIRST_PORT
            raise TraceError(
                f"flow {flow['flow']}: dst: {host} receives {most} flows of iperf3 already, and has no port left for "
                "another"
            )
        ports[host] += 1
        addresses = of_family[flow["ip"] or plan.families[0]]
        servers.append(_server(flow, addresses[host], port))
        clients.append(_client(flow, addresses, port))
    return servers + clients


def iperf3_memory_bytes(plan: Plan) -> int:
    """Return the memory of the processes of the plan's flows of iperf3, those of a user's trace not among them."""
    return _FLOW_MEMORY_BYTES * sum(
        len(traffic.senders) for traffic in plan.traffic if isinstance(traffic, Iperf3Traffic)
    )


def _server(flow: dict[str, Any], address: str, port: int) -> Program:
    times = ["--until-ns", str(flow["stop_ns"] + _SERVER_GRACE_NS)]
    return _process(flow, "dst", times, ["-s", "-1", "-B", address, "-p", str(port)])


def _client(flow: dict[str, Any], addresses: dict[str, str], port: int) -> Program:
    times = ["--at-ns", str(flow["start_ns"]), "--until-ns", str(flow["stop_ns"])]
    argv = ["-c", addresses[flow["dst"]], "-p", str(port), "-B", addresses[flow["src"]], "-t", "0", "-l", _BLOCK]
    if flow["congestion_control"]:
        argv += ["-C", flow["congestion_control"]]
    if flow["dscp"]:
        argv += ["-S", str(flow["dscp"] << _DSCP_SHIFT)]
    return _process(flow, "src", times, argv)


def _process(flow: dict[str, Any], side: str, times: list[str], options: list[str]) -> Program:
    """Return a process of the job. `-i 0`: no reports on the way, each would wake the process."""
    # iperf3 before 3.19 has no --mptcp; mptcpize puts a library in front that makes every TCP socket an MPTCP one.
    wrapper = ["mptcpize", "run"] if flow["transport"] == "mptcp" else []
    log = f"/job/raw/iperf3/{flow['flow']}-{side}.log"
    argv = ["/tools/replay", "exec", *times, "--log", log, "--", *wrapper, "iperf3", *options, "--json", "-i", "0"]
    return {"name": f"iperf3-{flow['flow']}-{side}@{flow[side]}", "node": flow[side], "argv": argv}
