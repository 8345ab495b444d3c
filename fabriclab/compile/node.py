"""The files of one node, the same for both engines."""

from __future__ import annotations

from typing import NamedTuple

from fabriclab.compile.qdisc import compile_tc
from fabriclab.compile.routing import compile_ip
from fabriclab.compile.transport import compile_sysctl
from fabriclab.plan.model import Node, Plan


class NodeFiles(NamedTuple):
    """Texts of a node's `sysctl.conf`, `ip.batch` and `tc.batch`."""

    sysctl: str
    ip: str
    tc: str

    def by_name(self) -> dict[str, str]:
        """Return the texts by the names of their files."""
        return {"sysctl.conf": self.sysctl, "ip.batch": self.ip, "tc.batch": self.tc}


def compile_node(node: Node, plan: Plan) -> NodeFiles:
    """Return the node's files."""
    tc = "".join(line + "\n" for port in node.ports for line in compile_tc(port))
    return NodeFiles(sysctl=compile_sysctl(node, plan), ip=compile_ip(node, plan), tc=tc)
