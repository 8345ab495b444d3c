"""The one gate: what a person should know about runs when it was said that it may, and not before."""

from __future__ import annotations

from pathlib import Path

from fabriclab.consent.request import ConsentError, ConsentRequest, Subject
from fabriclab.consent.store import read_trusted
from fabriclab.shipped import shipped

SHIPPED_LABS = (
    *("ai-sonic", "allreduce", "applications", "buffer-pressure", "buffer-rule", "buffer-sharing", "bufferbloat"),
    *("buffers", "convergence", "dctcp-fluid", "dctcp-queue", "dx", "dx-fat-tree", "ecn-thresholds", "hadoop"),
    *("hpcc", "hull", "incast", "l4s", "leaf-spine", "link-failure", "moe", "mptcp-short-flows", "multi-hop"),
    *("pfc-deadlock", "pfc-storm", "qcn", "query-mix", "queue-buildup", "roce-incast", "roce-storage"),
    *("shared-buffer", "sonic-leaf-spine", "sonic-qos", "spark", "two-jobs", "websearch-load"),
)
"""The labs that fabriclab brings along. They are trusted: who runs fabriclab runs them.

In a checkout labs of one's own lie beside them, and so may a stranger's, so that the folder alone says nothing. The
names are written down here, and compared with what is shipped by `tests/boundary/test_consent.py`."""


def is_shipped(lab: Path) -> bool:
    """Return whether a lab's directory, links resolved, is that of a lab that fabriclab brings along."""
    return lab.name in SHIPPED_LABS and lab.parent == shipped("labs").resolve()


def require(request: ConsentRequest, given: bool) -> None:
    """Return where all of a request may run: nothing in it needs consent, it is `given`, or it is trusted already.

    Raises ConsentError, TrustStateError.
    """
    if request.items and not given and not is_trusted(request.subject):
        raise ConsentError(request)


def is_trusted(subject: Subject) -> bool:
    """Return whether a lab is shipped or was said to be trusted, or code was. Raises TrustStateError."""
    if subject.kind == "lab" and is_shipped(Path(subject.name)):
        return True
    return any(entry.holds(subject) for entry in read_trusted())
