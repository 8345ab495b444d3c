"""What the virtual machine itself needs: its job, its own sysctls, and how much memory."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import polars as pl

from fabriclab.compile.captures import compile_captures
from fabriclab.compile.convergence import compile_ready
from fabriclab.compile.events import compile_events, plans_in_time
from fabriclab.compile.frr import compile_daemons, runs_frr, speaks_bgp
from fabriclab.compile.iperf3 import compile_iperf3, iperf3_memory_bytes
from fabriclab.compile.nic import compile_job_nics
from fabriclab.compile.pause_storm import compile_pause_storms
from fabriclab.compile.programs import (
    compile_drain,
    compile_programs,
    needed_layers,
    program_nodes,
    programs_memory_bytes,
)
from fabriclab.compile.setup import compile_setup, compile_still
from fabriclab.compile.shared_limits import SHARED_LIMITS
from fabriclab.formats.job import FRR_LAYER, JOB_FORMAT, Job, JobNode, Link, OptionalParts, Program
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.switch import lossless_queues
from fabriclab.formats.plan.traffic import ArrivalsTraffic, CollectiveTraffic, ShuffleTraffic, TraceTraffic, Traffic
from fabriclab.formats.run_directory import MODULES
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.registry.applications import applications_of
from fabriclab.workload.sizes import mean_size

MIB = 1 << 20

KERNEL_MEMORY_BYTES = 256 * MIB
_NODE_MEMORY_BYTES = 6 * MIB
"""A node's processes, namespaces and file system overlay: 3 to 5 MiB measured, replay included."""
_ROUTER_MEMORY_BYTES = 40 * MIB
"""FRR's daemons of one switch."""
_PACKET_MEMORY_FACTOR = 3
"""Kernel memory of a queued 1500-byte packet (skb, head, data: 2304 bytes and the slab's share) to
its length, rounded up."""
_SEND_BUFFER_FACTOR = 2
"""Memory of written bytes to their number: skb heads (tcp_sendmsg_locked), rounded up."""
_LARGEST_BACKLOG_BYTES = 4 << 30
_TRACE_MEMORY_FACTOR = 8
"""What the replays hold of a trace to its length: both ends of a row of 45 to 70 bytes keep 90 to 160 bytes each, and
the page cache has the row and two rows of the flow log. Measured with 1,000,000 flows among 16 hosts."""
_GROUP_MEMORY_BYTES = 512
"""What every replay holds of a group that is waited for."""

_ASKED_OF_OWN = {"addresses": ["address", "show"], "routes": ["route", "show", "table", "all"]}
"""What nodes are asked at the end whose own files give them addresses and routes."""


def compile_machine_sysctl(plan: Plan, *, live: bool = False) -> str:
    """Return the sysctls of the machine's first namespace: those that no namespace has of its own.

    `live`: a host may be given any congestion control later.
    """
    # A namespace may only use what is listed here, or gets EPERM.
    every = (*plan.nodes, *(node for event in plan.events for node in event.nodes))
    transports = [node.transport for node in every if node.transport]
    algorithms = (
        {transport.congestion_control for transport in transports} | {"reno", "cubic"} | _carriers_algorithms(plan)
    ) | (set(CONGESTION_CONTROLS) if live else set())
    largest = max(
        (max(transport.receive_buffer_bytes, transport.send_buffer_bytes) for transport in transports), default=0
    )
    settings = {
        "net.ipv4.tcp_allowed_congestion_control": " ".join(sorted(algorithms)),
        **SHARED_LIMITS,
        # What SO_RCVBUF and SO_SNDBUF may ask for.
        "net.core.rmem_max": str(max(largest, 16 * MIB)),
        "net.core.wmem_max": str(max(largest, 16 * MIB)),
    }
    return "".join(f"{key} = {value}\n" for key, value in settings.items())


def _carriers_algorithms(plan: Plan) -> set[str]:
    """Return the congestion controls that traffic asks for. A user's trace may ask for any."""
    algorithms: set[str] = set()
    for traffic in plan.traffic:
        if isinstance(traffic, TraceTraffic):
            return set(CONGESTION_CONTROLS)
        if traffic.carried_by.congestion_control is not None:
            algorithms.add(traffic.carried_by.congestion_control)
    return algorithms


def compile_job(plan: Plan, flows: pl.DataFrame | None = None, *, stock: bool = False) -> Job:
    """Return the machine's job (`machine/job.json`). `flows` is the table of the plan's flows; iperf3's have processes
    of their own.

    `stock`: for a kernel without the machine's own qdisc, where nobody would listen to pauses.

    Raises TraceError for more flows of iperf3 than can be.
    """
    playing = _playing(plan) if flows is None or not stock else _playing(plan) & _ends_of(flows)
    layers = _layers(plan)
    replays = [_replay(node) for node in plan.nodes if node.role == "host" and node.name in playing]
    return {
        "format": JOB_FORMAT,
        "limit_ns": plan.limit_ns,
        "sysctl": "machine/sysctl.conf",
        "nodes": [_node(node, layers.get(node.name, []), stock=stock) for node in plan.nodes],
        "links": _links(plan),
        "daemons": [daemon for node in plan.nodes if speaks_bgp(node, plan) for daemon in compile_daemons(node, plan)],
        **_optional_parts(plan, playing, stock=stock),
        "probes": _probes(plan),
        "traffic": replays
        + ([] if flows is None else compile_iperf3(plan, flows))
        + compile_programs(plan, serves=False),
        "collect": _collect(plan, playing | program_nodes(plan), stock),
    }


def _layers(plan: Plan) -> dict[str, list[str]]:
    """Return the layers of each node that has some."""
    of_programs = [name for name in needed_layers(plan) if not name.startswith(FRR_LAYER)]
    brought = program_nodes(plan)
    found = {
        node.name: [
            *([f"{FRR_LAYER}{node.frr}"] if node.frr is not None else []),
            *(of_programs if node.name in brought else []),
        ]
        for node in plan.nodes
    }
    return {name: layers for name, layers in found.items() if layers}


def _node(node: Node, layers: list[str], *, stock: bool) -> JobNode:
    job = JobNode(name=node.name, files=f"nodes/{node.name}")
    if layers:
        job["layers"] = layers
    if not stock and (nics := compile_job_nics(node)):
        job["nics"] = nics
    if not stock and node.setup is not None and node.setup.environment:
        job["environment"] = node.setup.environment
    return job


def _optional_parts(plan: Plan, playing: set[str], *, stock: bool) -> OptionalParts:
    """Return the job's parts about routes, changes of links and pause storms,
    each only where there is something to say."""
    parts: OptionalParts = {}
    if ready := compile_ready(plan):
        parts["ready"] = ready
    setup = list(compile_setup(plan, stock=stock))
    for application in applications_of(plan):
        setup += application.load("compile.cluster").setup_steps(plan, stock=stock)
    if setup:
        parts["setup"] = setup
    hosts = [node.name for node in plan.nodes if node.role == "host" and node.name in playing]
    if still := compile_still(plan, hosts):
        parts["still"] = still
    if events := compile_events(plan, stock=stock):
        parts["events"] = events
    if plan.algorithms:
        parts["modules"] = [f"{MODULES}/{algorithm.module}.ko" for algorithm in plan.algorithms]
    serving = compile_programs(plan, serves=True)
    if disturbances := [*serving, *([] if stock else compile_pause_storms(plan))]:
        parts["disturbances"] = disturbances
    if drain := compile_drain(plan):
        parts["drain"] = drain
    return parts


def _links(plan: Plan) -> list[Link]:
    links: dict[frozenset[tuple[str, str]], dict[str, Any]] = {}
    for node in plan.nodes:
        for port in node.ports:
            here, there = (node.name, port.interface), (port.peer_node, port.peer_interface)
            end = {"node": node.name, "interface": port.interface, "mac": port.mac}
            link = links.setdefault(frozenset((here, there)), {})
            link["b" if link else "a"] = end
            link["mtu"] = port.mtu
    return [{"a": link["a"], "b": link["b"], "mtu": link["mtu"]} for link in links.values()]


def _probes(plan: Plan) -> list[Program]:
    probes = plan.probes
    intervals = (
        probes.queue_interval_ns,
        probes.tcp_interval_ns,
        probes.interface_interval_ns,
        probes.switch_interval_ns,
    )
    captures = compile_captures(probes.pcap)
    if all(interval is None for interval in intervals) and not probes.connection_hosts:
        return captures
    argv = ["/tools/sampler", "--config", "/job/machine/sampler.json"]
    return [{"name": "sampler", "node": None, "argv": argv}, *captures]


def _playing(plan: Plan) -> set[str]:
    """Return the hosts that have traffic."""
    every = [node.name for node in plan.nodes]
    return {name for traffic in plan.traffic for name in traffic.sending(every) | traffic.receiving()}


def _ends_of(flows: pl.DataFrame) -> set[str]:
    """Return the hosts that flows go between: a user's trace may name all of a lab's hosts, and names few of them.

    A container that has nothing to do is not worth making; in the machine a host costs nothing.
    """
    return {str(name) for column in ("src", "dst") for name in flows[column].cast(pl.String).unique()}


def _replay(node: Node) -> Program:
    files = [
        "--trace",
        "/job/traffic/trace.csv",
        "--hosts",
        "/job/traffic/hosts.csv",
        "--log",
        f"/job/raw/flows/{node.name}.csv",
    ]
    argv = ["/tools/replay", "--host", node.name, *files, "--rendezvous", "/run/fabriclab/rendezvous"]
    return {"name": f"replay@{node.name}", "node": node.name, "argv": argv}


def _show_qdiscs(node: Node, stock: bool) -> list[str]:
    # tc writes of a qdisc that it doesn't know what is no JSON.
    is_known = stock or all(port.switch_port is None for port in node.ports)
    return ["tc", "-s", *(["-j"] if is_known else []), "qdisc", "show"]


def _collect(plan: Plan, playing: set[str], stock: bool) -> list[Program]:
    collect: list[Program] = [{"name": "kernel-release", "node": None, "argv": ["uname", "-r"]}]
    collect += [
        {"name": f"qdisc@{node.name}", "node": node.name, "argv": _show_qdiscs(node, stock)}
        for node in plan.nodes
        if node.role == "switch"
    ]
    for family in plan.families:
        name, words = ("routes", []) if family == 4 else ("routes6", ["-6"])
        collect += [
            {"name": f"{name}@{node.name}", "node": node.name, "argv": ["ip", "-j", *words, "route", "show"]}
            for node in plan.nodes
            if speaks_bgp(node, plan)
        ]
    if plan.configured is not None:
        for node in plan.nodes:
            collect += [
                {"name": f"{name}@{node.name}", "node": node.name, "argv": ["ip", "-j", *words]}
                for name, words in _ASKED_OF_OWN.items()
            ]
    for application in applications_of(plan):
        collect += application.load("compile.cluster").last_programs(plan)
    hosts = [node.name for node in plan.nodes if node.name in playing]
    collect += [{"name": f"nstat@{host}", "node": host, "argv": ["nstat", "-a", "-j"]} for host in hosts]
    return collect


def machine_memory_bytes(plan: Plan, trace_bytes: int = 0) -> int:
    """Return the memory that the machine needs, a whole number of 64 MiB; `trace_bytes` is the length of the flow
    trace.

    Of nothing else: the kernel's defaults follow its memory, and must be the same on every host.
    """
    need = max(_need_bytes(one, trace_bytes) for one in plans_in_time(plan))
    return -(-need // (64 * MIB)) * 64 * MIB


def _need_bytes(plan: Plan, trace_bytes: int) -> int:
    switches = [node for node in plan.nodes if node.role == "switch"]
    queues = _PACKET_MEMORY_FACTOR * sum(
        port.queue.limit_bytes for node in switches for port in node.ports if port.queue is not None
    )
    queues += min(_PACKET_MEMORY_FACTOR * sum(map(_buffer_bytes, switches)), _LARGEST_BACKLOG_BYTES)
    long_flows, playing = _long_flows(plan), _playing(plan)
    sockets = sum(_socket_bytes(node, long_flows[node.name]) for node in plan.nodes if node.name in playing)
    sockets += _backlog_bytes(plan)
    routers = sum(runs_frr(node, plan) for node in plan.nodes)
    processes = len(plan.nodes) * _NODE_MEMORY_BYTES + routers * _ROUTER_MEMORY_BYTES + iperf3_memory_bytes(plan)
    processes += programs_memory_bytes(plan)
    return KERNEL_MEMORY_BYTES + processes + queues + sockets + _replay_bytes(plan, trace_bytes)


def _buffer_bytes(switch: Node) -> int:
    """Return what a switch with a shared buffer may hold: its pools, their headroom, and what is in no pool. No host's
    queues: what stands there is in the send buffers of its sockets. No lossless class's queues: what stands there has
    come in by its priority groups."""
    buffers = [port.switch_port for port in switch.ports if port.switch_port is not None]
    groups = [group for buffer in buffers for group in buffer.groups]
    queues = [
        queue.account for buffer in buffers for queue in buffer.queues if queue.index not in lossless_queues(buffer)
    ]
    accounts = queues + [group.account for group in groups]
    own = sum(account.reserved_bytes + (account.limit_bytes or 0) for account in accounts if account.pool is None)
    headroom = sum(group.lossless.headroom_bytes for group in groups if group.lossless is not None)
    return own + headroom + sum(pool.size_bytes for pool in (switch.switch.pools if switch.switch is not None else ()))


def _replay_bytes(plan: Plan, trace_bytes: int) -> int:
    """Return what the replays need for their flows; a small trace has room in what a node needs anyway."""
    waits = sum(_groups(traffic) for traffic in plan.traffic)
    groups = waits * len(_playing(plan)) * _GROUP_MEMORY_BYTES
    return max(0, _TRACE_MEMORY_FACTOR * trace_bytes + groups - len(plan.nodes) * MIB)


def _groups(traffic: Traffic) -> int:
    """Return how many groups a traffic has that flows wait for, about."""
    if isinstance(traffic, ShuffleTraffic):
        return len(traffic.mappers) * len(traffic.reducers)
    return traffic.flows if isinstance(traffic, CollectiveTraffic) else 0


def _backlog_bytes(plan: Plan) -> int:
    """Return what may lie unsent in the sockets of an open loop: flows start whatever becomes of those before, each
    with its bytes written.

    It is all that arrives, up to a bound: what no packet ever touches costs the host nothing but the kernel's page
    table of it, 1/64.
    """
    arrivals = [traffic for traffic in plan.traffic if isinstance(traffic, ArrivalsTraffic)]
    return min(
        _SEND_BUFFER_FACTOR * sum(_arriving_bytes(plan, traffic) for traffic in arrivals), _LARGEST_BACKLOG_BYTES
    )


def _arriving_bytes(plan: Plan, traffic: ArrivalsTraffic) -> int:
    flows = -(-(traffic.stop_ns - traffic.start_ns) // traffic.arrivals.interval_ns)
    mean_bytes = math.ceil(mean_size(traffic.size))
    transports = {node.name: node.transport for node in plan.nodes}
    buffers = [
        transport.send_buffer_bytes for name in traffic.pairs.senders if (transport := transports[name]) is not None
    ]
    return sum(flows * min(mean_bytes, buffer) for buffer in buffers)


def _long_flows(plan: Plan) -> Counter[str]:
    """Return how many long flows each host sends: all may run at once."""
    flows: Counter[str] = Counter()
    for traffic in plan.traffic:
        flows.update(traffic.long_flows())
    return flows


def _socket_bytes(node: Node, long_flows: int) -> int:
    """Return the memory of a host's sockets.

    Each long flow may fill a send buffer; what it receives is read at once.
    """
    if node.transport is None:
        return 0
    # Each subflow of a connection has a send buffer of its own; they share the receive buffer.
    subflows = 1 if node.transport.mptcp is None else node.transport.mptcp.subflows
    send_bytes = subflows * node.transport.send_buffer_bytes
    return max(node.transport.receive_buffer_bytes + send_bytes, long_flows * send_bytes)
