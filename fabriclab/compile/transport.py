"""A node's sysctl settings: TCP as the plan says, and nothing left to a kernel's or a distribution's default that a
result depends on.

Source of names and meanings: Linux Documentation/networking/ip-sysctl.rst.
"""

from __future__ import annotations

from fabriclab.compile.frr import compile_router_sysctl
from fabriclab.compile.homa import compile_homa_sysctl
from fabriclab.compile.ipv6 import compile_ipv6_sysctl
from fabriclab.compile.load_balancing import compile_load_balancing_sysctl
from fabriclab.compile.mptcp import compile_mptcp_sysctl
from fabriclab.compile.rdma import compile_rdma_sysctl
from fabriclab.formats import client_ports
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Transport
from fabriclab.lab.setup.absent import known_sysctls

_TCP_ECN = {"off": 0, "on": 1, "accept": 2, "accurate": 3}
"""Linux, Documentation/networking/ip-sysctl.rst; 3 from Linux 7.0 on."""

_EVERY_NODE = (
    # No router solicitation, no duplicate address detection: an idle network sends nothing.
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    # Several paths lead to a host; the reverse path need not be the same one.
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
    ("net.ipv4.conf.all.accept_redirects", "0"),
    ("net.ipv4.conf.default.accept_redirects", "0"),
)

_SACK = "net.ipv4.tcp_sack"
_HOST = (
    # No memory from one connection to the next.
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv4.tcp_slow_start_after_idle", "1"),
    ("net.ipv4.tcp_timestamps", "1"),
    (_SACK, "1"),
    ("net.ipv4.tcp_window_scaling", "1"),
    # Thousands of flows may start at one moment.
    ("net.core.somaxconn", "65535"),
    ("net.ipv4.tcp_max_syn_backlog", "65535"),
    ("net.ipv4.ip_local_port_range", f"{client_ports.FIRST} {client_ports.LAST}"),
    # So may more than there are ports, one after the other: a port is free again a second after its connection was
    # closed, not a minute.
    ("net.ipv4.tcp_tw_reuse", "1"),
    # A connection answers with the DSCP that its first packet came with.
    ("net.ipv4.tcp_reflect_tos", "1"),
)

_SWITCH = (
    ("net.ipv4.ip_forward", "1"),
    # What is forwarded is for no socket here: it is not worth a look for one.
    ("net.ipv4.ip_early_demux", "0"),
    # ECMP by the five-tuple, so that a connection stays on its path: source and destination (1, 2), protocol (4), ports
    # (16, 32). Not policy 1, which takes the hash that the sender's socket gave the packet where there is one
    # (fib_multipath_hash in net/ipv4/route.c). A veth keeps it: every switch would choose alike, whatever its seed, and
    # a socket changes it after a timeout.
    ("net.ipv4.fib_multipath_hash_policy", "3"),
    ("net.ipv4.fib_multipath_hash_fields", "55"),
    # A next hop behind a dead link is none, as on a switch whose hardware watches its ports.
    ("net.ipv4.conf.all.ignore_routes_with_linkdown", "1"),
    # A switch's hardware drops in silence what it has no route for; an ICMP message would make connect(2) fail at once.
    # (So long an interval lets not even the first one pass, inet_peer_xrlim_allow in net/ipv4/inetpeer.c; path MTU
    # discovery's are free.)
    ("net.ipv4.icmp_ratelimit", "2147483000"),
)


_OWN_NETWORK = (
    # IPv6 is never off: that would take the addresses away that Containerlab's exec has given.
    *(setting for setting in _EVERY_NODE if "disable_ipv6" not in setting[0]),
    # As Containerlab has it for Linux nodes, without the seconds of duplicate address detection.
    ("net.ipv6.conf.all.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    # What a VRF's listener does not take, one of the others may.
    ("net.ipv4.tcp_l3mdev_accept", "1"),
)
_OWN_SWITCH = (
    *(item for item in _SWITCH if item[0] not in ("net.ipv4.icmp_ratelimit", "net.ipv4.ip_early_demux")),
    # FRR's `ipv6 forwarding` sets it, but not in a container that is not privileged.
    ("net.ipv6.conf.all.forwarding", "1"),
)
"""Who walks through somebody's network by ping and traceroute gets answers."""


def compile_sysctl(node: Node, plan: Plan) -> str:
    """Return the node's `sysctl.conf`."""
    settings = [*(_EVERY_NODE if plan.configured is None else _OWN_NETWORK)]
    if node.role == "switch":
        settings += _SWITCH if plan.configured is None else _OWN_SWITCH
        settings += compile_load_balancing_sysctl(node, plan)
        settings += compile_router_sysctl(node, plan)
    else:
        settings += _host(node.transport)
    settings += compile_ipv6_sysctl(node, plan)
    if node.transport is not None:
        settings += [*_transport(node.transport), *compile_mptcp_sysctl(node, plan)]
        if plan.configured is not None:
            # Elsewhere a metric of the host's routes.
            settings.append(("net.ipv4.tcp_rto_min_us", str(node.transport.rto_min_us)))
    settings += compile_homa_sysctl(node, plan)
    settings += compile_rdma_sysctl(node)
    settings += [] if node.setup is None else known_sysctls(node.setup.sysctls).items()
    return "".join(f"{key} = {value}\n" for key, value in settings)


def _host(transport: Transport | None) -> list[tuple[str, str]]:
    has_sack = transport is None or transport.sack
    return [(key, value if has_sack or key != _SACK else "0") for key, value in _HOST]


def _transport(transport: Transport) -> list[tuple[str, str]]:
    # Minimum, default, maximum. Default = maximum: the window that a receiver offers does not depend on its autotuning.
    receive, send = transport.receive_buffer_bytes, transport.send_buffer_bytes
    error_ns = transport.timestamp_error_ns
    return [
        *([("net.ipv4.tcp_delay_error_ns", str(error_ns))] if error_ns else []),
        ("net.ipv4.tcp_congestion_control", transport.congestion_control),
        ("net.ipv4.tcp_ecn", str(_TCP_ECN[transport.ecn])),
        # ECN is what the plan says, even where a handshake with it failed once (RFC 3168 fallback).
        ("net.ipv4.tcp_ecn_fallback", "0"),
        ("net.ipv4.tcp_rmem", f"{min(4096, receive)} {receive} {receive}"),
        ("net.ipv4.tcp_wmem", f"{min(4096, send)} {send} {send}"),
    ]
