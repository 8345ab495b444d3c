"""The labs that fabriclab brings along. They are trusted: who runs fabriclab runs them.

In a checkout labs of one's own lie beside them, and so may a stranger's, so that the folder alone says nothing. The
names are written down here, and compared with what is shipped by `tests/boundary/test_consent.py`.
"""

from __future__ import annotations

from pathlib import Path

from fabriclab.shipped import shipped

SHIPPED_LABS = (
    *("applications", "buffer-pressure", "bufferbloat", "buffers", "convergence", "dctcp-fluid", "dctcp-queue", "dx"),
    *("dx-fat-tree", "ecn-thresholds", "hadoop", "hull", "incast", "l4s", "leaf-spine", "link-failure"),
    *("mptcp-short-flows", "multi-hop", "pfc-storm", "qcn", "query-mix", "queue-buildup", "shared-buffer"),
    *("sonic-leaf-spine", "sonic-qos", "spark", "websearch-load"),
)


def is_shipped(lab: Path) -> bool:
    """Return whether a lab's directory, links resolved, is that of a lab that fabriclab brings along."""
    return lab.name in SHIPPED_LABS and lab.parent == shipped("labs").resolve()
