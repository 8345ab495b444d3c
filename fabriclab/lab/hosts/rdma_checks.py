"""What a host with RDMA devices for programs must be."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.lab.hosts.rdma_keys import RDMA
from fabriclab.lab.hosts.roce_checks import roce_of
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written


def check_rdma(hosts: Mapping[str, WrittenTransport], problems: Problems) -> None:
    """Record devices beside a RoCE NIC, which takes all packets of RoCEv2 (UDP port 4791) before they come to a socket,
    and a class of devices that are not there."""
    said: set[object] = set()
    for host, transport in hosts.items():
        wrong = _wrong_of(host, transport)
        if wrong is not None and wrong[0].place not in said:
            said.add(wrong[0].place)
            wrong[0].complain(problems, wrong[1])


def _wrong_of(host: str, transport: WrittenTransport) -> tuple[Written[bool] | Written[int], str] | None:
    if transport.rdma is not None and RDMA.or_default(transport.rdma):
        if roce_of(transport) is not None:
            return transport.rdma, (
                f"is on, but the NIC of {host} has RoCE itself and takes all of its packets; remove nic.roce, or write "
                "rdma: off"
            )
    elif transport.rdma_dscp is not None:
        return transport.rdma_dscp, f"is written, but {host} has no RDMA device; write rdma: on, or remove the key"
    return None
