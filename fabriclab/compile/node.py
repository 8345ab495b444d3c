"""The files of one node, the same for both engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fabriclab.compile.events import impaired_ports
from fabriclab.compile.frr import compile_frr, speaks_bgp
from fabriclab.compile.qdisc import compile_tc
from fabriclab.compile.routing import compile_ip
from fabriclab.compile.transport import compile_sysctl
from fabriclab.plan.model import Node, Plan


class NodeFiles(NamedTuple):
    """Texts of a node's `sysctl.conf`, `ip.batch` and `tc.batch`, and of the files below `root/` by their paths."""

    sysctl: str
    ip: str
    tc: str
    root: Mapping[str, str] = {}

    def by_name(self) -> dict[str, str]:
        """Return the texts by the names of their files."""
        below_root = {f"root/{path}": text for path, text in self.root.items()}
        return {"sysctl.conf": self.sysctl, "ip.batch": self.ip, "tc.batch": self.tc, **below_root}


def compile_node(node: Node, plan: Plan) -> NodeFiles:
    """Return the node's files."""
    impaired = impaired_ports(plan)
    tc = "".join(line + "\n" for port in node.ports for line in compile_tc(port, impaired=f"{node.name}:{port.interface}" in impaired))
    root = compile_frr(node, plan) if speaks_bgp(node, plan) else {}
    return NodeFiles(sysctl=compile_sysctl(node, plan), ip=compile_ip(node, plan), tc=tc, root=root)
