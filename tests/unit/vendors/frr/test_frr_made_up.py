"""Hosts that `import frr` makes up: what is said where nobody can learn of their networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.vendors.frr.lab import ImportedNetwork, import_network

INTERFACE = "interface eth1\n ip address 10.0.0.{number}/24\n{more}"
BGP = "router bgp 6500{number}\n{more} neighbor 10.0.0.{other} remote-as 6500{other}\n{family}"
ANNOUNCED = "lines at the end of their routers' frr.conf announce their networks"


def imported(directory: Path, *texts: str) -> ImportedNetwork:
    for number, text in enumerate(texts, 1):
        (directory / f"r{number}.conf").write_text(f"hostname r{number}\n{text}")
    return import_network([directory], "test")


def pair(directory: Path, routing: str = "", more: str = "") -> list[str]:
    """Return what is said of made-up hosts of two routers alike."""
    interface = INTERFACE.replace("{more}", more)
    texts = ((interface + routing).format(number=number, other=3 - number) for number in (1, 2))
    return [note for note in imported(directory, *texts).notes if "-host" in note or note.startswith("the policies")]


def bgp(more: str = "", family: str = "") -> str:
    return BGP.replace("{more}", more).replace("{family}", family)


EVPN = " address-family l2vpn evpn\n  neighbor 10.0.0.{other} activate\n"
IPV4 = " address-family ipv4 unicast\n  neighbor 10.0.0.{other} activate\n"
LEFT = " address-family ipv4 unicast\n  no neighbor 10.0.0.{other} activate\n"


@pytest.mark.parametrize(
    ("routing", "more", "why"),
    [
        ("", "", "runs no routing protocol,"),
        ("router ospf6\n", " ipv6 ospf6 area 0\n", "runs no routing protocol for IPv4, only ospf6,"),
        (
            bgp(" no bgp default ipv4-unicast\n", EVPN),
            "",
            "exchanges IPv4 unicast routes with none of its 1 neighbours",
        ),
        (bgp(family=LEFT), "", "exchanges IPv4 unicast routes with none of its 1 neighbours"),
    ],
)
def test_a_network_of_which_nobody_learns(routing: str, more: str, why: str, tmp_path: Path) -> None:
    first, *each = pair(tmp_path, routing, more)
    assert first == "added, because too few networks have room for a host: r1-host, r2-host"
    assert len(each) == 2 and each[0].startswith(f"no host behind another router reaches r1-host: r1 {why}")


@pytest.mark.parametrize(
    ("routing", "more"),
    [
        ("router ospf\n", " ip ospf area 0\n"),
        (bgp(" no bgp ebgp-requires-policy\n"), ""),
        (bgp(" no bgp ebgp-requires-policy\n no bgp default ipv4-unicast\n", IPV4), ""),
    ],
)
def test_one_that_is_announced(routing: str, more: str, tmp_path: Path) -> None:
    assert pair(tmp_path, routing, more) == [
        f"added, because too few networks have room for a host: r1-host, r2-host; {ANNOUNCED}"
    ]


def test_a_policy_may_keep_it(tmp_path: Path) -> None:
    policy = " address-family ipv4 unicast\n  neighbor 10.0.0.{other} prefix-list out out\n"
    said = pair(tmp_path, bgp(" no bgp ebgp-requires-policy\n", policy))
    assert said[1].startswith("the policies of r1, r2 do not know the networks that were added")


def test_one_router_has_an_interface_for_each(tmp_path: Path) -> None:
    made = imported(tmp_path, "router rip\n version 2\n")
    assert [(host.name, host.end.interface) for host in made.hosts] == [("r1-host", "eth101"), ("r1-host2", "eth102")]
    assert made.notes == (f"added, because too few networks have room for a host: r1-host, r1-host2; {ANNOUNCED}",)


def test_hosts_of_which_each_has_a_vrf(tmp_path: Path) -> None:
    made = imported(
        tmp_path, "interface eth1\n ip address 10.0.0.1/24\ninterface eth2 vrf red\n ip address 10.1.0.1/24\n"
    )
    said = [note for note in made.notes if note.startswith("each host is in a VRF of its own")]
    assert len(said) == 1 and said[0].endswith("r1-host in the default one, r1-host2 in red")


@pytest.mark.parametrize(
    ("more", "is_said"),
    [
        ("", True),
        (" neighbor 10.0.0.1 next-hop-self\n", False),
        (" redistribute connected\n", False),
        (" network 10.1.0.0/24\n", False),
        ("router ospf\n", False),
    ],
)
def test_external_next_hops_that_internal_neighbours_cannot_reach(more: str, is_said: bool, tmp_path: Path) -> None:
    second = (
        "interface eth1\n ip address 10.0.0.2/24\ninterface eth2\n ip address 10.1.0.1/24\nrouter bgp 65001\n"
        f" neighbor 10.0.0.1 remote-as internal\n neighbor 10.1.0.2 remote-as 65002\n{more}"
    )
    first = "interface eth1\n ip address 10.0.0.1/24\nrouter bgp 65001\n neighbor 10.0.0.2 remote-as 65001\n"
    third = "interface eth1\n ip address 10.1.0.2/24\nrouter bgp 65002\n neighbor 10.1.0.1 remote-as external\n"
    said = [note for note in imported(tmp_path, first, second, third).notes if "internal neighbours" in note]
    assert len(said) == is_said
    if is_said:
        assert said[0].startswith(
            "r2: announces routes with next hop 10.1.0.2 to internal neighbours (10.0.0.1), but no router announces "
        )
