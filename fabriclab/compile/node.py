"""The files of one node, the same for both engines but for the qdisc that only the machine's kernel has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabriclab.compile.cables import node_without_delays, without_delays
from fabriclab.compile.filters import compile_filters
from fabriclab.compile.frr import compile_frr, speaks_bgp
from fabriclab.compile.layer2 import compile_bridge
from fabriclab.compile.link_state import changing_ports
from fabriclab.compile.load_balancing import without_choice
from fabriclab.compile.port import EVERYTHING, Changing, compile_port
from fabriclab.compile.rdma import compile_rdma, preloads, without_rdma
from fabriclab.compile.routing import compile_ip, compile_ip6
from fabriclab.compile.setup import compile_dummies, own_files
from fabriclab.compile.transport import compile_sysctl
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.registry.applications import applications_of
from fabriclab.resolve.interfaces import interfaces

NAMES_FILE = "names/etc/hosts"
"""Where a node has the names of all nodes, in the directory of its files: `names/` is copied into it as `root/` is."""
_OWN_NAMES = "127.0.0.1 localhost\n::1 localhost\n"


class NodeFiles(NamedTuple):
    """Texts of a node's `sysctl.conf`, `ip.batch`, `tc.batch`, and of `bridge.batch`, `ip6.batch` and `rdma.batch`
    (where these are not empty), and of the files below `root/` by their paths."""

    sysctl: str
    ip: str
    tc: str
    bridge: str = ""
    ip6: str = ""
    rdma: str = ""
    root: Mapping[str, str] = {}
    binaries: Mapping[str, bytes] = {}
    """Files below `root/` that are not text."""
    executables: frozenset[str] = frozenset()
    """Paths below `root/` of files that can be run."""

    def by_name(self) -> dict[str, str]:
        """Return the texts by the names of their files."""
        below_root = {f"root/{path}": text for path, text in self.root.items()}
        some = {"bridge.batch": self.bridge, "ip6.batch": self.ip6, "rdma.batch": self.rdma}
        optional = {name: text for name, text in some.items() if text}
        return {"sysctl.conf": self.sysctl, "ip.batch": self.ip, "tc.batch": self.tc, **optional, **below_root}


class NodeCompiler:
    """Compiles nodes of a plan: what it needs of the whole plan it finds once.

    `stock`: for a kernel without the machine's own qdisc (`fabriclab.compile.stock_switch`), whose links have delays in
    their ports; `live`: whatever can change may change.
    """

    def __init__(self, plan: Plan, *, stock: bool = False, live: bool = False) -> None:
        """Find what of the plan's ports can change."""
        self._plan, self._stock, self._live = plan, stock, live
        self._compiling = plan if stock else without_delays(plan)
        self._known = changing_ports(self._compiling, settings=not stock)

    def files_of(self, node: Node) -> NodeFiles:
        """Return a node's files."""
        plan = self._plan
        node = without_choice(without_rdma(node)) if self._stock else node_without_delays(node)
        root = compile_frr(node, plan) if speaks_bgp(node, plan) else {}
        for application in applications_of(plan):
            root |= application.load("compile.cluster").node_files(node.name, plan)
        own = own_files(node, stock=self._stock)
        return NodeFiles(
            sysctl=compile_sysctl(node, plan),
            ip=("" if self._stock else compile_dummies(node)) + compile_ip(node, plan),
            tc=self._tc(node),
            bridge=compile_bridge(node, plan),
            ip6=compile_ip6(node, plan),
            rdma=compile_rdma(node),
            root={**root, **preloads(node), **{file.path.lstrip("/"): file.text for file in own if not file.base64}},
            binaries={file.path.lstrip("/"): file.content for file in own if file.base64},
            executables=frozenset(file.path.lstrip("/") for file in own if file.executable),
        )

    def _tc(self, node: Node) -> str:
        lines = (
            line
            for port in node.ports
            for line in compile_port(
                self._compiling, node, port, self._changing(f"{node.name}:{port.interface}"), stock=self._stock
            )
        )
        # Stock kernels need not have the classifiers (`container_differences`).
        filters = () if self._stock else compile_filters(node)
        return "".join(line + "\n" for line in (*lines, *filters))

    def _changing(self, port: str) -> Changing:
        changing = EVERYTHING if self._live else self._known.get(port, Changing())
        return changing if self._stock else changing._replace(line=False)


def compile_node(node: Node, plan: Plan, *, stock: bool = False) -> NodeFiles:
    """Return the files of one node."""
    return NodeCompiler(plan, stock=stock).files_of(node)


def compile_names(plan: Plan) -> str:
    """Return the text of /etc/hosts, for people who work in a live lab (`ping h2`).

    Each node has its loopback's address, or else that of its first interface. What fabriclab itself runs knows
    addresses alone.
    """
    return _OWN_NAMES + "".join(f"{address} {node.name}\n" for node in plan.nodes for address in _addresses(node))


def _addresses(node: Node) -> Iterator[str]:
    if node.loopback is not None:
        yield node.loopback
        return
    yield from [interface.ip for interface in interfaces(node) if interface.ip][:1]
