"""Ports in bridges and bonds: a frame counts in the priority group of the port that it came by,
and that port's neighbour is paused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from machine import FULL_FRAME, PORT_MTU, QUIET, START_NS, Boot, Device, Process, Star, datagrams, receive, send, shown
from switch_port import Account, Group, Pfc, Port, Queue, read_event

pytestmark = pytest.mark.vm
TC = 3
LIMIT_FRAMES, HEADROOM_FRAMES = 20, 10
POOLS = {0: (2_000_000, 0)}
SLOW_BPS = 100_000_000
GROUP = Group(
    TC, Account(pool=0, limit=LIMIT_FRAMES * FULL_FRAME), lossless=(HEADROOM_FRAMES * FULL_FRAME, 10 * FULL_FRAME, 0)
)
LOSSLESS = Port(pools=POOLS, pfc=Pfc(1 << TC), groups=[GROUP])
SLOW = Port(rate_bps=SLOW_BPS, pools=POOLS, pfc=Pfc(1 << TC), groups=[GROUP], queues=[Queue(TC, event=30_000)])
NIC = Port(pfc=Pfc(1 << TC))
MANY, FEW = 300, 10
"""Frames of a host that congests, and of one that does not: 10 are less than a group's limit."""

LISTEN_NS = 200_000_000
BRIDGE_MAC = "02:fa:00:00:09:02"


@dataclass
class Vlan(Star):
    """Hosts h1, h2 and h3 in a bridge with the address 10.9.0.1 (host n has 10.9.0.1n),
    h4 behind a routed port (10.4.0.2)."""

    members = (1, 2, 3)

    def write_nodes(self, run: Path) -> list[str]:
        bridge = [
            f"link add Vlan10 address {BRIDGE_MAC} type bridge mcast_snooping 0",
            *(f"link set eth{n} master Vlan10" for n in self.members),
            "link set Vlan10 up",
            "addr add 10.9.0.1/24 dev Vlan10",
            *(f"neigh add 10.9.0.1{n} lladdr 02:fa:00:00:{n:02x}:01 dev Vlan10" for n in self.members),
        ]
        routed = ["addr add 10.4.0.1/24 dev eth4", "neigh add 10.4.0.2 lladdr 02:fa:00:00:04:01 dev eth4"]
        self._write_node(run, "s1", {**QUIET, "net.ipv4.ip_forward": "1"}, [*bridge, *routed])
        for n in self.members:
            others = [f"neigh add 10.9.0.1{m} lladdr 02:fa:00:00:{m:02x}:01 dev eth1" for m in self.members if m != n]
            gateway = [f"neigh add 10.9.0.1 lladdr {BRIDGE_MAC} dev eth1", "route add default via 10.9.0.1"]
            self._write_node(run, f"h{n}", QUIET, [f"addr add 10.9.0.1{n}/24 dev eth1", *others, *gateway])
        gateway = ["neigh add 10.4.0.1 lladdr 02:fa:00:00:04:02 dev eth1", "route add default via 10.4.0.1"]
        self._write_node(run, "h4", QUIET, ["addr add 10.4.0.2/24 dev eth1", *gateway])
        return ["s1", "h1", "h2", "h3", "h4"]

    def forwarding(self) -> list[str]:
        """The commands that tell the bridge who is where: it floods nothing."""
        return [f"bridge fdb add 02:fa:00:00:{n:02x}:01 dev eth{n} master static" for n in self.members]


@dataclass
class Channel(Star):
    """Host h1 (10.1.0.2) by a bond of two links, the switch's eth1 and eth2; h2 (10.3.0.2) behind its eth3."""

    bond: str = "mode active-backup"
    """By default one link carries all, and the test says which."""

    def devices(self, node: str) -> dict[int, Device]:
        if node == "h1":
            return {1: self.host_devices[0], 2: self.host_devices[0]}
        return {1: self.host_devices[1]} if node == "h2" else super().devices(node)

    def links(self) -> list[dict[str, Any]]:
        ends = [("h1", 1, 1), ("h1", 2, 2), ("h2", 1, 3)]
        return [
            {
                "a": {"node": host, "interface": f"eth{number}", "mac": f"02:fa:00:00:{port:02x}:01"},
                "b": {"node": "s1", "interface": f"eth{port}", "mac": f"02:fa:00:00:{port:02x}:02"},
                "mtu": PORT_MTU,
            }
            for host, number, port in ends
        ]

    def write_nodes(self, run: Path) -> list[str]:
        members = [line for n in (1, 2) for line in (f"link set eth{n} down", f"link set eth{n} master bond1")]

        def channel(side: int) -> list[str]:
            mac = f"02:fa:00:00:08:{side:02x}"
            return [f"link add bond1 address {mac} type bond {self.bond}", *members, "link set bond1 up"]

        self._write_node(
            run,
            "s1",
            {**QUIET, "net.ipv4.ip_forward": "1"},
            [
                *channel(2),
                "addr add 10.1.0.1/24 dev bond1",
                "neigh add 10.1.0.2 lladdr 02:fa:00:00:08:01 dev bond1",
                "addr add 10.3.0.1/24 dev eth3",
                "neigh add 10.3.0.2 lladdr 02:fa:00:00:03:01 dev eth3",
            ],
        )
        gateway = ["neigh add 10.1.0.1 lladdr 02:fa:00:00:08:02 dev bond1", "route add default via 10.1.0.1"]
        self._write_node(run, "h1", QUIET, [*channel(1), "addr add 10.1.0.2/24 dev bond1", *gateway])
        gateway = ["neigh add 10.3.0.1 lladdr 02:fa:00:00:03:02 dev eth1", "route add default via 10.3.0.1"]
        self._write_node(run, "h2", QUIET, ["addr add 10.3.0.2/24 dev eth1", *gateway])
        return ["s1", "h1", "h2"]

    @staticmethod
    def carried_by(member: int) -> str:
        """The command that lets one member of the bond carry all that leaves by it."""
        return f"ip link set bond1 type bond active_slave eth{member}"


def vlan(slow: int) -> Vlan:
    """All ports lossless; that of host `slow` slow."""
    return Vlan([NIC] * 4, [SLOW if n == slow else LOSSLESS for n in (1, 2, 3, 4)])


LINKS: Process = ("s1", ["links", "ip", "-j", "link", "show"])


def events_by_port(run: Path, log: str) -> list[set[str]]:
    """For each end of a congestion event that was logged, the ports that its frames came by; others by their number."""
    names = {link["ifindex"]: link["ifname"] for link in json.loads((run / "collect/links").read_text())}
    events = [read_event(line)[8] for line in (run / "logs" / f"{log}.log").read_text().splitlines()]
    return [
        {names.get(index, str(index)) for index in ingress}
        for ingress in events
        if isinstance(ingress, dict) and ingress
    ]


@pytest.mark.parametrize(("to", "address"), [(3, "10.9.0.13"), (4, "10.4.0.2")], ids=["bridged", "routed"])
def test_a_frame_counts_in_the_group_of_the_member_that_it_came_by(boot: Boot, to: int, address: str) -> None:
    star = vlan(slow=to)
    senders = [("h1", [send(address, count=MANY, tc=TC)]), ("h2", [send(address, count=FEW, tc=TC)])]
    switch = [("s1", star.forwarding()), ("s1", [f"/job/port-tool events {LISTEN_NS}"])]
    run = boot.run(star, [*switch, *senders, (f"h{to}", [receive(LISTEN_NS)])], collect=[LINKS])
    first, second = (shown(run, "s1", f"eth{n}").groups[TC] for n in (1, 2))
    assert (first["received_packets"], second["received_packets"]) == (MANY, FEW)
    assert first["watermark_bytes"] > LIMIT_FRAMES * FULL_FRAME >= second["watermark_bytes"] > 0
    assert first["xoffs"] > 0
    assert second["xoffs"] == 0
    paused = [shown(run, f"h{n}", "eth1").queues[TC]["pauses_received"] > 0 for n in (1, 2)]
    assert paused == [True, False]
    assert len(datagrams(boot, run, f"h{to}-0")) == MANY + FEW
    assert set().union(*events_by_port(run, "s1-2")) == {"eth1", "eth2"}


def pause(interface: str) -> str:
    """The command that sends one pause of 1,000 quanta, 0.5 ms."""
    return f"/job/port-tool pause {interface} {1 << TC} 1000 1 1 {START_NS}"


def paused_ns(run: Path, ports: Sequence[int]) -> list[int]:
    """How long each port's queue was paused; one that nothing ever was in is not shown."""
    queues = [shown(run, "s1", f"eth{n}").queues.get(TC) for n in ports]
    return [0 if queue is None else queue["paused_ns"] for queue in queues]


def test_a_pause_stops_the_member_of_a_bridge_that_gets_it(boot: Boot) -> None:
    star = vlan(slow=4)
    run = boot.run(
        star, [("s1", star.forwarding()), ("h3", [pause("eth1")]), ("h1", [send("10.9.0.13", count=1, tc=TC)])]
    )
    assert paused_ns(run, (1, 2, 3, 4)) == [0, 0, 1000 * 512, 0]


def channel() -> Channel:
    """The way to h2 slow."""
    return Channel([NIC, NIC], [LOSSLESS, LOSSLESS, SLOW])


@pytest.mark.parametrize("member", [1, 2])
def test_a_frame_counts_in_the_group_of_the_bonds_member(boot: Boot, member: int) -> None:
    other = 3 - member
    run = boot.run(
        channel(),
        [
            ("h1", [channel().carried_by(member), send("10.3.0.2", count=MANY, tc=TC)]),
            ("s1", [channel().carried_by(member), f"/job/port-tool events {LISTEN_NS}"]),
            ("h2", [receive(LISTEN_NS)]),
        ],
        collect=[LINKS],
    )
    groups = {n: shown(run, "s1", f"eth{n}").groups[TC] for n in (1, 2)}
    assert (groups[member]["received_packets"], groups[other]["received_packets"]) == (MANY, 0)
    assert groups[member]["xoffs"] > 0
    pauses = {n: shown(run, "h1", f"eth{n}").port["pauses_received"] for n in (1, 2)}
    assert pauses[member] > 0
    assert pauses[other] == 0
    assert len(datagrams(boot, run, "h2-0")) == MANY
    assert set().union(*events_by_port(run, "s1-1")) == {f"eth{member}"}


@pytest.mark.parametrize("member", [1, 2])
def test_a_pause_stops_the_member_of_a_bond_that_gets_it(boot: Boot, member: int) -> None:
    """Whether that member carries the frames or not: MAC control is between two neighbours."""
    for name, active in (("same", member), ("other", 3 - member)):
        carry = channel().carried_by(active)
        senders = [
            ("h1", [carry, pause(f"eth{member}")]),
            ("h2", [send("10.1.0.2", count=1, tc=TC, start_ns=START_NS + 100_000)]),
        ]
        run = boot.run(channel(), [("s1", [carry]), *senders], name=name)
        received = [shown(run, "s1", f"eth{n}").port["pauses_received"] for n in (1, 2, 3)]
        assert received == [int(n == member) for n in (1, 2, 3)]
        assert paused_ns(run, (1, 2, 3)) == [1000 * 512 if n == member == active else 0 for n in (1, 2, 3)]


def is_empty(run: Path, ports: Sequence[int]) -> bool:
    stats = [shown(run, "s1", f"eth{n}") for n in ports]
    return stats[0].port["pools"][0]["used"] == 0 and all(port.backlog["qlen"] == 0 for port in stats)


def test_members_leave_a_bridge_under_load_and_nothing_is_left(boot: Boot) -> None:
    star = vlan(slow=4)
    churn = [
        *star.forwarding(),
        "sleep 0.012; for i in 1 2 3 4 5 6 7 8 9 10; do",
        "ip link set eth1 nomaster; sleep 0.001; ip link set eth1 master Vlan10; sleep 0.001",
        "/job/port-tool del eth2; sleep 0.001; /job/port-tool add eth2 /job/s1-eth2; sleep 0.001",
        "done; ip link del Vlan10; sleep 0.5",
    ]
    senders = [(f"h{n}", [send("10.4.0.2", count=1_000, tc=TC), send("10.9.0.13", count=1_000, tc=TC)]) for n in (1, 2)]
    run = boot.run(star, [("s1", churn), *senders])
    assert is_empty(run, (1, 2, 3, 4))
    assert shown(run, "s1", "eth4").queues[TC]["sent_packets"] > 100


def test_members_leave_a_bond_under_load_and_nothing_is_left(boot: Boot) -> None:
    churn = [
        "sleep 0.015; for i in 1 2 3 4 5 6 7 8 9 10; do",
        "ip link set eth1 nomaster; sleep 0.001; ip link set eth1 down; ip link set eth1 master bond1; sleep 0.001",
        "/job/port-tool del eth2; sleep 0.001; /job/port-tool add eth2 /job/s1-eth2; sleep 0.001",
        "done; ip link del bond1; sleep 0.5",
    ]
    star = Channel([NIC, NIC], [LOSSLESS] * 3, bond="mode balance-xor xmit_hash_policy layer3+4 miimon 1")
    flows = [send("10.3.0.2", count=500, tc=TC, port=7000 + number) for number in range(8)]
    run = boot.run(star, [("s1", churn), ("h1", flows)])
    assert is_empty(run, (1, 2, 3))
    assert shown(run, "s1", "eth3").queues[TC]["sent_packets"] > 100
