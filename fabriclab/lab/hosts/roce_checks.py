"""What the hosts and links of traffic over RoCE must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabriclab.formats import ranges
from fabriclab.formats.framing import ROCE_AROUND_PAYLOAD_BYTES, ROCE_TELEMETRY_BYTES
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import shown
from fabriclab.lab.hosts.nic import WrittenRoce
from fabriclab.lab.hosts.roce_keys import ROCE_DSCP, ROCE_LOSS_RECOVERY, ROCE_MTU
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.network.keys import DEFAULT_MTU_BYTES
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written

_MOST_NAMED = 3
_BY_ACKNOWLEDGEMENTS = ("hpcc", "timely", "swift", "credit")


def check_roce_ends(root: Section, hosts: Mapping[str, WrittenTransport], traffic: Sequence[Traffic]) -> None:
    """Record traffic over RoCE between hosts whose NICs have none, and in a class that is not the NIC's."""
    for each in traffic:
        if each.carried_by.transport != "roce":
            continue
        section = root.section("traffic", None)
        own = None if section is None else section.section(each.name, None)
        if own is None:
            continue
        ends = each.sending(hosts) | each.receiving()
        lacking = [host for host in hosts if host in ends and roce_of(hosts[host]) is None]
        if lacking:
            who = ", ".join(lacking[:_MOST_NAMED]) + (" and others" if len(lacking) > _MOST_NAMED else "")
            own.complain(
                "transport", f"is roce, but there is no RoCE in the NIC of {who}; write nic: {{roce: {{}}}} for it"
            )
            continue
        dscps = {ROCE_DSCP.or_default(roce.dscp) for host, roce in _nics(hosts) if host in ends}
        dscp = each.carried_by.dscp
        if dscp and dscps != {dscp}:
            of = " and ".join(map(str, sorted(dscps)))
            own.complain("dscp", f"is {dscp}, but the NIC says the class of all its RoCE, {of}; remove the key")


def check_roce_mtu(
    topology: Topology, links_mtu: Written[int] | None, hosts: Mapping[str, WrittenTransport], root: Section
) -> None:
    """Record NICs whose full packets are longer than a link of the lab takes: no fragment of RoCE is ever sent."""
    written = [links_mtu or link.mtu for link in topology.links]
    least = min((DEFAULT_MTU_BYTES if mtu is None else mtu.value for mtu in written), default=DEFAULT_MTU_BYTES)
    said: set[object] = set()
    for host, roce in _nics(hosts):
        mtu = ROCE_MTU.or_default(roce.mtu)
        around = ROCE_AROUND_PAYLOAD_BYTES + (ROCE_TELEMETRY_BYTES if _sends_telemetry(roce) else 0)
        if mtu + around <= least:
            continue
        message = (
            f"a packet of {mtu} B has {mtu + around} B with its headers, more than the MTU of the "
            f"lab's links, {least} B; write a smaller one, or links: {{mtu: ...}}"
        )
        place = roce.place if roce.mtu is None else roce.mtu.place
        if place is not None and place not in said:
            said.add(place)
            root.problems.add(place, f"hosts.{host}.nic.roce.mtu", message, host)


def check_roce_control(hosts: Mapping[str, WrittenTransport], problems: Problems) -> None:
    """Record what a NIC's RoCE says that its congestion control does not know."""
    said: set[object] = set()
    for _, roce in _nics(hosts):
        control = None if roce.congestion_control is None else roce.congestion_control.value
        if roce.options is not None and (control is None or not control.is_own) and roce.options.place not in said:
            said.add(roce.options.place)
            name = "dcqcn" if control is None else control.name
            roce.options.complain(
                problems, f"are those of a C file of your own, but congestion_control is {name}; write its keys instead"
            )


def check_roce_window(hosts: Mapping[str, WrittenTransport], problems: Problems) -> None:
    """Record windows that are longer than what selective repeat remembers."""
    said: set[object] = set()
    most = ranges.ROCE_SELECTIVE_WINDOW.most
    for _, roce in _nics(hosts):
        window = None if roce.window is None else roce.window.value
        selective = ROCE_LOSS_RECOVERY.or_default(roce.loss_recovery) == "selective-repeat"
        if roce.window is None or window is None or not selective or window <= most:
            continue
        if roce.window.place not in said:
            said.add(roce.window.place)
            message = f"is more than selective repeat remembers, {most:,} packets; write that or less"
            roce.window.complain(problems, message)


def check_roce_reorder(hosts: Mapping[str, WrittenTransport], problems: Problems) -> None:
    """Record distances of reordering of NICs for which each packet out of order is a loss."""
    said: set[object] = set()
    for _, roce in _nics(hosts):
        reorder = roce.reorder_window
        if reorder is None or not reorder.value or reorder.place in said:
            continue
        if ROCE_LOSS_RECOVERY.or_default(roce.loss_recovery) == "go-back-n":
            said.add(reorder.place)
            reorder.complain(
                problems,
                f"{shown(reorder.text)} does nothing with loss_recovery: go-back-n; write loss_recovery: "
                "selective-repeat, too",
            )


def check_roce_reads(root: Section, hosts: Mapping[str, WrittenTransport], traffic: Sequence[Traffic]) -> None:
    """Record RDMA READs between NICs that have none, or whose congestion control needs what READs lack."""
    for each in traffic:
        directions = [one for one in each.directions(hosts) if one.mode == "read"]
        section = root.section("traffic", None) if directions else None
        own = None if section is None else section.section(each.name, None)
        if own is None or each.carried_by.transport != "roce":
            continue
        senders = frozenset(host for one in directions for host in one.senders)
        ends = senders.union(*(one.receivers for one in directions))
        for host, roce in _nics(hosts):
            wrong = _why_unreadable(host, roce, is_sender=host in senders) if host in ends else None
            if wrong is not None:
                own.complain("mode", f"is read, but {wrong}")
                break


def _why_unreadable(host: str, roce: WrittenRoce, *, is_sender: bool) -> str | None:
    if ROCE_LOSS_RECOVERY.or_default(roce.loss_recovery) == "selective-repeat":
        return (
            f"the NIC of {host} has selective repeat, which has no READ; write loss_recovery: go-back-n, or mode: push"
        )
    control = None if roce.congestion_control is None else roce.congestion_control.value
    if is_sender and control is not None and (control.name in _BY_ACKNOWLEDGEMENTS or control.telemetry):
        return (
            f"{control.name} of the NIC of {host} needs acknowledgements, which the data of a READ have not; write "
            "congestion_control: dcqcn or none, or mode: push"
        )
    return None


def _sends_telemetry(roce: WrittenRoce) -> bool:
    return roce.congestion_control is not None and roce.congestion_control.value.telemetry


def roce_of(transport: WrittenTransport) -> WrittenRoce | None:
    """Return what is written of the RoCE of a host's NIC; None: it has none."""
    roce = None if transport.nic is None else transport.nic.roce
    return None if roce is None or roce.is_none else roce


def _nics(hosts: Mapping[str, WrittenTransport]) -> Iterator[tuple[str, WrittenRoce]]:
    for host, transport in hosts.items():
        roce = roce_of(transport)
        if roce is not None:
            yield host, roce
