"""The keys of a host's RDMA device for programs (verbs): Linux's own `rdma_rxe`."""

from __future__ import annotations

from fabriclab.keys.mappings import Key
from fabriclab.keys.quantities import Flag
from fabriclab.lab.hosts.roce_keys import ROCE_DSCP
from fabriclab.lab.reading.dscp import DSCP_VALUE

RDMA = Key(
    "rdma",
    Flag(),
    "Whether programs of the host find an RDMA device (verbs): Linux's `rdma_rxe`, RoCEv2 in software, one device for "
    "each interface: `rxe1` for `eth1`. Not beside `nic.roce`.",
    default=False,
    source="A host without an RDMA NIC",
)
RDMA_DSCP = Key(
    "rdma_dscp",
    DSCP_VALUE,
    "The DSCP of packets of queue pairs for which a program sets no traffic class.",
    default=ROCE_DSCP.default,
    source="That of the RoCE NIC",
    examples=("af31",),
)
