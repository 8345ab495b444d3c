"""The RDMA devices that programs of a host find, with every default explicit."""

from __future__ import annotations

from fabriclab.formats.plan.node import Rdma
from fabriclab.lab.hosts.rdma_keys import RDMA, RDMA_DSCP
from fabriclab.lab.hosts.transport import WrittenTransport


def resolve_rdma(written: WrittenTransport | None) -> Rdma | None:
    """Return what is written of a host's RDMA devices; None: it has none, as every switch."""
    if written is None or not RDMA.or_default(written.rdma):
        return None
    return Rdma(dscp=RDMA_DSCP.or_default(written.rdma_dscp))
