"""Jobs for the machine's init as a live lab gives them."""

from __future__ import annotations

SECOND_NS = 1_000_000_000


END = {"node": "a", "interface": "eth1", "mac": "02:fa:00:00:00:01"}


PEER = {"node": "b", "interface": "eth1", "mac": "02:fa:00:00:00:02"}


FILES = {f"nodes/{node}/ip.batch": f"address add 10.0.0.{host}/24 dev eth1\n" for host, node in enumerate("ab", 1)}


def job(**parts: object) -> dict[str, object]:
    """Two nodes and a link between them, no traffic."""
    return {
        "format": "fabriclab-job-1",
        "limit_ns": SECOND_NS,
        "nodes": [{"name": node, "files": f"nodes/{node}"} for node in "ab"],
        "links": [{"a": END, "b": PEER, "mtu": 1500}],
        "live": {"idle": False},
        **parts,
    }
