"""`fabriclab import frr`: what a network's frr.conf become as a lab.

`FABRICLAB_ACCEPT=1 pytest tests/unit/vendors/frr/test_frr_import.py` writes the golden labs and messages anew; read the
difference before you keep it.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from repository import ROOT

from fabriclab.lab.reading.problems import LabError, Problems
from fabriclab.vendors.frr.lab import ImportedNetwork, import_network
from fabriclab.vendors.frr.read import read_frr
from fabriclab.vendors.frr.read.config import FrrConfig

GOLDEN = ROOT / "tests" / "golden" / "frr"
CASES = sorted(path.name for path in GOLDEN.iterdir())


def read(text: str) -> FrrConfig:
    """Return what a text says; a mistake in it is a failure."""
    problems = Problems()
    config = read_frr(text.encode(), "r1.conf", problems)
    problems.raise_if_any()
    return config


def network(directory: Path, links: str = "", **files: str) -> ImportedNetwork:
    """Return the lab of some routers' configurations, `r1="..."`."""
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / f"{name}.conf").write_text(text)
    if links:
        (directory / "links.txt").write_text(links)
    return import_network([directory], "test")


def complaint(directory: Path, links: str = "", **files: str) -> str:
    """Return what is said of configurations that make no lab."""
    with pytest.raises(LabError) as caught:
        network(directory, links, **files)
    return str(caught.value).replace(f"{directory}/", "")


@pytest.mark.parametrize("case", CASES)
def test_golden_labs(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / case)
    made = import_network([Path("given")], case)
    said = [*made.notes, *(f"kept: {one}" for one in made.kept)]
    files = {**made.files, "notes.txt": "".join(f"{line}\n" for line in said).encode()}
    lab = GOLDEN / case / "lab"
    if os.environ.get("FABRICLAB_ACCEPT"):
        shutil.rmtree(lab, ignore_errors=True)
        lab.mkdir()
        for name, data in files.items():
            (lab / name).write_bytes(data)
    assert {path.name: path.read_bytes() for path in lab.iterdir()} == files


def test_contexts_end_where_frr_ends_them() -> None:
    """Neither indentation nor `exit` is needed, and both may stand."""
    bare = read(
        "hostname r1\nint eth1\nip address 10.0.0.1/30\nrouter bgp 65001\nneighbor 10.0.0.2 remote-as 65002\n"
        "address-family ipv4 unicast\nneighbor 10.0.0.2 activate\nexit-address-family\n"
        "neighbor 10.0.0.2 description x y\nip route 10.9.0.0/16 10.0.0.2\nvrf RED\nip route 10.8.0.0/16 10.0.0.2\n"
        "exit-vrf\nip route 10.7.0.0/16 Null0\n"
    )
    neighbour = bare.bgp[0].neighbours["10.0.0.2"]
    assert (neighbour.remote_as, neighbour.families, neighbour.description) == (65002, {"ipv4 unicast"}, "x y")
    assert [(str(route.prefix), route.vrf) for route in bare.routes] == [
        ("10.9.0.0/16", None),
        ("10.8.0.0/16", "RED"),
        ("10.7.0.0/16", None),
    ]
    printed = read(
        "r1> sh run\nBuilding configuration...\n\nCurrent configuration:\n!\nhostname r1\n!\ninterface eth1\n"
        " ip address 10.0.0.1/30\nexit\n!\nrouter bgp 65001\n neighbor 10.0.0.2 remote-as 65002\n !\n"
        " address-family ipv4 unicast\n  neighbor 10.0.0.2 activate\n exit-address-family\n"
        " neighbor 10.0.0.2 description x y\nexit\n!\nend\nr1>\n"
    )
    assert printed.bgp[0].neighbours == {"10.0.0.2": neighbour} | {
        name: one for name, one in printed.bgp[0].neighbours.items() if one.line != neighbour.line
    }
    assert printed.data.decode().startswith("!\nhostname r1\n") and printed.data.decode().endswith("\n!\nend\n")


def test_what_is_read_of_bgp() -> None:
    config = read(
        "router bgp 1.10\n"
        " neighbor FABRIC peer-group\n neighbor FABRIC remote-as external\n neighbor FABRIC route-reflector-client\n"
        " neighbor swp1 interface peer-group FABRIC\n neighbor swp2 interface v6only remote-as 65002\n"
        " neighbor 2001:db8::2 remote-as internal\n neighbor 2001:db8::2 local-as 65099 no-prepend\n"
        " bgp listen range 10.0.0.0/24 peer-group FABRIC\n"
        " address-family l2vpn evpn\n  neighbor FABRIC activate\n  advertise-all-vni\n exit-address-family\n"
        " address-family ipv6\n  network 2001:db8:1::/48\n  redistribute connected route-map X\n"
    )
    bgp = config.bgp[0]
    assert bgp.asn == 65546 and [peer.name for peer in bgp.peers()] == ["swp1", "swp2", "2001:db8::2"]
    swp1, swp2, numbered = bgp.peers()
    assert (bgp.remote_as(swp1), bgp.is_client(swp1), bgp.local_as(swp1)) == ("external", True, 65546)
    assert (bgp.remote_as(swp2), bgp.is_client(swp2)) == (65002, False)
    assert (bgp.remote_as(numbered), bgp.local_as(numbered)) == ("internal", 65099)
    assert [(str(prefix), group) for prefix, group in bgp.listens] == [("10.0.0.0/24", "FABRIC")]
    assert (list(map(str, bgp.networks)), bgp.redistributes) == (["2001:db8:1::/48"], ["connected"])
    assert config.has_evpn and config.is_vtep and config.daemons["bgpd"] and not config.daemons["ospfd"]


def test_what_is_read_of_interior_protocols_and_routes() -> None:
    config = read(
        "interface eth1\n ip address 10.0.0.1/30\n ip address 10.0.0.1/30\n ip ospf 7 area 1\n ipv6 ospf6 area 0\n"
        " bandwidth 25000\n shutdown\n!\ninterface eth1\n ip router isis X\n no shutdown\n!\n"
        "router ospf 7 vrf RED\n network 10.0.0.0/8 area 0.0.0.1\n redistribute static\n!\n"
        "router ospf6\n interface eth2 area 0.0.0.2\n!\nrouter rip\n network eth3\n network 10.0.0.0/8\n!\n"
        "router isis X\n!\nip route 10.1.0.0 255.255.0.0 10.0.0.2 50 tag 7\nip route 10.2.0.0/16 eth1 vrf RED\n"
        "ip route 10.3.0.0/16 blackhole\nipv6 route 2001:db8::/32 2001:db8::1 eth1 nexthop-vrf BLUE\n"
        "ip route 0.0.0.0/0 10.0.0.2\nbfd\n peer 10.0.0.2\n exit\n!\nrouter pim\n rp 10.0.0.9\nmpls ldp\n"
        " address-family ipv4\n  interface eth1\n  exit\n exit-address-family\n"
    )
    eth1 = config.interfaces["eth1"]
    assert eth1.areas == {"ospf": "1", "ospf6": "0", "isis": "X"}
    assert (eth1.bandwidth_bps, eth1.is_down, len(eth1.addresses)) == (25 * 10**9, False, 1)
    assert [(one.protocol, one.name, one.vrf) for one in config.interiors] == [
        ("ospf", "7", "RED"),
        ("ospf6", "", None),
        ("rip", "", None),
        ("isis", "X", None),
    ]
    assert config.interfaces["eth2"].areas == {"ospf6": "0.0.0.2"} and config.interfaces["eth3"].areas == {"rip": ""}
    assert [(str(one.prefix), str(one.next_hop), one.interface, one.vrf) for one in config.routes] == [
        ("10.1.0.0/16", "10.0.0.2", None, None),
        ("10.2.0.0/16", "None", "eth1", "RED"),
        ("10.3.0.0/16", "None", None, None),
        ("2001:db8::/32", "2001:db8::1", "eth1", "BLUE"),
        ("0.0.0.0/0", "10.0.0.2", None, None),
    ]
    needed = {daemon for daemon, is_needed in config.daemons.items() if is_needed}
    assert needed == {"ospfd", "ospf6d", "isisd", "ripd", "pimd", "ldpd", "bfdd"}
    assert config.unknown == []


R1 = "hostname r1\ninterface eth1\n ip address 10.0.0.1/31\ninterface eth2\n ip address 10.1.0.1/24\n"
R2 = "hostname r2\ninterface eth1\n ip address 10.0.0.0/31\ninterface eth2\n ip address 10.2.0.1/24\n"


def test_mistakes_name_file_and_line(tmp_path: Path) -> None:
    said = complaint(
        tmp_path,
        r1="interface eth1\n ip address 10.0.0.1\n ip address 10.0.0.1/33\n bandwidth fast\nrouter bgp\n"
        "router bgp 4294967296\nip route 10.0.0.0/8\nip route nowhere 10.0.0.1\nvrf X\n vni lots\n",
        r2="router bgp 65001\n neighbor 10.0.0.1 remote-as outside\n network 10.0.0.300/24\n"
        "router ospf\n network 10.0.0.0 area 0\n network 10.0.0.0/8888 area 0\n",
    )
    assert said.splitlines() == [
        "r1.conf:2: ip address 10.0.0.1: '10.0.0.1' is not an address with a prefix length; write one such as "
        "10.0.0.1/31",
        "r1.conf:3: ip address 10.0.0.1/33: '10.0.0.1/33' is not an address with a prefix length; "
        "write one such as 10.0.0.1/31",
        "r1.conf:4: bandwidth fast: 'fast' is not a bandwidth; write megabits per second, such as 10000",
        "r1.conf:5: router bgp: has no AS number; write router bgp 65001, as `show running-config` prints it",
        "r1.conf:6: router bgp 4294967296: '4294967296' is not an AS number; write one such as 65001",
        "r1.conf:7: ip route 10.0.0.0/8: no next hop; write ip route 10.1.0.0/16 10.0.0.1",
        "r1.conf:8: ip route nowhere 10.0.0.1: 'nowhere' is not a network; write one such as 10.0.0.0/24",
        "r1.conf:10: vni lots: 'lots' is not a VNI; write a number up to 16777215",
        "r2.conf:2: neighbor 10.0.0.1 remote-as outside: 'outside' is not a remote AS; "
        "write its number, or internal, external, auto",
        "r2.conf:3: network 10.0.0.300/24: '10.0.0.300/24' is not a network; write one such as 10.0.0.0/24",
        "r2.conf:5: network 10.0.0.0 area 0: '10.0.0.0' is not a network; write one such as 10.0.0.0/24",
        "r2.conf:6: network 10.0.0.0/8888 area 0: '10.0.0.0/8888' is not a network; write one such as 10.0.0.0/24",
    ]


def test_files_that_are_no_routers(tmp_path: Path) -> None:
    said = complaint(tmp_path, r1=R1, r2="<html>\n")
    assert said == (
        "r2.conf: is not an FRR configuration: no line begins with hostname, interface or router; "
        "give the output of `vtysh -c 'show running-config'`"
    )
    assert "the file is empty" in complaint(tmp_path, r2="\n")
    (tmp_path / "r2.conf").write_bytes(b"hostname r2\n\xff\n")
    assert "r2.conf:2: byte 0xff is not UTF-8" in complaint(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        LabError, match=r"has no router's configuration; for each router it needs NAME\.conf or NAME/frr\.conf"
    ):
        import_network([tmp_path / "empty"], "test")
    with pytest.raises(LabError, match="no such file"):
        import_network([tmp_path / "nothing.conf"], "test")


def test_routers_that_nothing_joins(tmp_path: Path) -> None:
    said = complaint(tmp_path, r1=R1, r2=R2.replace("10.0.0.0/31", "10.0.9.0/31"))
    assert said == (
        "r2.conf: r2: no link to r1 was found: there is neither a common network nor a description of an unnumbered "
        "interface; write a line such as r2:eth1 r1:eth1 in --links FILE, or leave the file out"
    )
    made = network(tmp_path, "r1:eth1 r2:eth1\n")
    assert [str(end) for end in made.links[0].ends] == ["r1:eth1", "r2:eth1"]


def test_two_files_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / "frr.conf").write_text(R1)
    assert (
        "r1.conf:1: hostname: 'r1' is also the name of the router in r1/frr.conf:1; give each router's file once"
        in complaint(tmp_path, r1=R1).replace(
            "r1/frr.conf:1: hostname: 'r1' is also the name of the router in r1.conf:1",
            "r1.conf:1: hostname: 'r1' is also the name of the router in r1/frr.conf:1",
        )
    )
    (tmp_path / "r1" / "frr.conf").unlink()
    made = network(tmp_path, r1=R1, r2=R2.replace("hostname r2", "hostname r1"))
    assert made.routers == ("r1", "r2") and "the lab calls this router r2, after the file" in made.notes[0]


def test_one_address_twice(tmp_path: Path) -> None:
    said = complaint(tmp_path, r1=R1, r2=R2.replace("10.0.0.0/31", "10.0.0.1/31"))
    assert said == (
        "r2.conf:3: eth1: is also the address 10.0.0.1 of r1:eth1 (r1.conf:3); each end of a link needs its own address"
    )
    gateway = "interface vlan10\n ip address 10.10.0.1/24\n"
    made = network(tmp_path, r1=R1 + gateway, r2=R2 + gateway)
    assert [host.end.interface for host in made.hosts] == ["eth2", "vlan10", "eth2", "vlan10"]
    assert any("it is taken to be an anycast gateway, and no link joins the two" in note for note in made.notes)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r1:eth1", "links.txt:1: 'r1:eth1' is not a link; write its two ends, leaf1:swp1 spine1:swp3"),
        ("r1 r2:eth1", "links.txt:1: r1: 'r1' is not an end of a link; write leaf1:swp1"),
        ("r3:eth1 r4:eth1", "links.txt:1: r3:eth1: neither r3 nor r4 is a router here; valid here: r1, r2"),
        ("r1:eth1 r1:eth2", "links.txt:1: r1:eth1: joins r1 with itself; a link has two nodes"),
        ("rr:eth1 vrf RED", "links.txt:1: rr:eth1: 'rr' is not a router here; valid here: r1, r2"),
        ("r1:eth9 vrf RED", "links.txt:1: r1:eth9: r1 has no interface 'eth9' (r1.conf); did you mean 'eth2'?"),
        (
            "r1:eth1 r2:eth1\nr1:eth1 r2:eth2",
            "links.txt:2: r1:eth1: has a link already, r1:eth1 to r2:eth1 (links.txt); an interface has only one link",
        ),
        ("{", "links.txt:1: is not JSON; give the output of `lldpctl -f json`"),
        (
            "{}",
            "links.txt: is not named after a router; the file has a router's neighbours, so give it the router's "
            "name, such as leaf1.lldp.json; valid here: r1, r2",
        ),
    ],
)
def test_wrong_lines_of_links(line: str, message: str, tmp_path: Path) -> None:
    assert complaint(tmp_path, line, r1=R1, r2=R2) == message


BARE = "hostname {}\n" + "".join(f"interface eth{number}\n ip ospf area 0\n" for number in (1, 2, 3)) + "router ospf\n"


def test_links_that_lldp_saw(tmp_path: Path) -> None:
    seen = {
        "lldp": {
            "interface": [
                {
                    "eth1": {
                        "via": "LLDP",
                        "chassis": {"r2.example.com": {"id": {"type": "mac", "value": "0c:00:00:00:00:01"}}},
                        "port": {"id": {"type": "ifname", "value": "eth3"}, "descr": "eth3"},
                    }
                },
                {"eth2": {"chassis": {"a-phone": {}}, "port": {"id": {"type": "mac", "value": "x"}}}},
            ]
        }
    }
    (tmp_path / "r1.lldp.json").write_text(json.dumps(seen))
    (tmp_path / "r2.lldp.txt").write_text(
        "-----\nLLDP neighbors:\n-----\nInterface:    eth3, via: LLDP, RID: 1, Time: 0 day\n  Chassis:\n"
        "    ChassisID:    mac 0c:00:00:00:00:02\n    SysName:      r1\n  Port:\n    PortID:       ifname eth1\n"
        "    PortDescr:    to r2\n-----\nInterface:    eth1, via: LLDP, RID: 2, Time: 0 day\n  Chassis:\n"
        "    SysName:      r3\n  Port:\n    PortID:       mac 0c:00:00:00:00:03\n    PortDescr:    eth2\n-----\n"
    )
    made = network(tmp_path, **{name: BARE.format(name) for name in ("r1", "r2", "r3")})
    assert [(str(link.a), str(link.b), link.found_by) for link in made.links] == [
        ("r1:eth1", "r2:eth3", "LLDP"),
        ("r2:eth1", "r3:eth2", "LLDP"),
    ]
    assert any("unnumbered, without a description that names the other end" in note for note in made.notes)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("to r2:eth3", "", "r1:eth1 r2:eth3"),
        ("r2_eth3", "", "r1:eth1 r2:eth3"),
        ("r2", "R1", "r1:eth1 r2:eth1"),
    ],
)
def test_links_that_descriptions_tell(first: str, second: str, found: str, tmp_path: Path) -> None:
    one, two = (
        BARE.format(name).replace("interface eth1\n", f"interface eth1\n description {text or '-'}\n")
        for name, text in (("r1", first), ("r2", second))
    )
    made = network(tmp_path, r1=one, r2=two)
    assert [f"{link.a} {link.b}" for link in made.links] == [found]
    assert made.links[0].found_by == "descriptions"


def test_the_last_two_unnumbered_interfaces_are_a_link(tmp_path: Path) -> None:
    text = "hostname {}\nrouter bgp 65001\n neighbor eth9 interface remote-as external\ninterface eth9\n"
    made = network(tmp_path, r1=text.format("r1"), r2=text.format("r2"))
    assert [(str(link.a), str(link.b), link.found_by) for link in made.links] == [
        ("r1:eth9", "r2:eth9", "being the only two left")
    ]


def test_sessions_that_never_come_up_are_said(tmp_path: Path) -> None:
    one = R1 + "router bgp 65001\n bgp router-id 1.1.1.1\n neighbor 10.0.0.0 remote-as 65003\n"
    two = R2 + "router bgp 65002\n bgp router-id 1.1.1.1\n neighbor 10.0.0.1 remote-as external\n"
    notes = "\n".join(network(tmp_path, r1=one, r2=two).notes).replace(f"{tmp_path}/", "")
    assert "r1: neighbor 10.0.0.0 has AS 65003 (r1.conf:8), but r2 is in AS 65002 (r2.conf:6): the session" in notes
    assert "r1: exchanges no routes with these external neighbours, because they lack a policy in or out" in notes
    assert "r2: exchanges no routes" in notes
    policy = " neighbor 10.0.0.1 route-map ANY in\n neighbor 10.0.0.1 prefix-list ANY out\n"
    one_way = network(tmp_path, r1=one.replace("65003\n", "65003\n no bgp ebgp-requires-policy\n"), r2=two + policy)
    assert not any("exchanges no routes" in note for note in one_way.notes)
    assert "bgp router-id 1.1.1.1 is r1's (r1.conf:6) and r2's (r2.conf:6)" in notes
    notes = "\n".join(network(tmp_path, r1=one, r2=R2 + "router ospf\n network 10.0.0.0/8 area 0\n").notes)
    assert "r1 has a BGP session with r2 (neighbor 10.0.0.0" in notes
    assert "OSPF runs at r2:eth1" in notes and "but not at the other end, r1:eth1" in notes


def test_addresses_that_only_the_kernel_has(tmp_path: Path) -> None:
    """As ifupdown2 has it on Cumulus Linux: frr.conf has no address at all."""
    text = (
        "hostname {0}\nrouter bgp 6500{1}\n bgp router-id 10.10.10.{1}\n neighbor swp1 interface remote-as external\n"
        " address-family ipv4 unicast\n  redistribute connected\n"
    )
    links = "leaf:swp1 spine:swp1\n"
    made = network(tmp_path, links, leaf=text.format("leaf", 1), spine=text.format("spine", 2))
    assert b"- ip address add 10.10.10.1/32 dev lo\n" in made.files["topology.clab.yml"]
    assert any(
        "so only the kernel knew the addresses; lo gets 10.10.10.1, BGP's router-id" in note for note in made.notes
    )
    assert (
        made.files["leaf.frr.conf"]
        .decode()
        .endswith(
            "!\n! Added by fabriclab import frr: the network of leaf-host, a host that fabriclab added.\ninterface "
            "eth101\n ip address 172.31.0.0/31\nexit\nrouter bgp 65001\n address-family ipv4 unicast\n  network "
            "172.31.0.0/31\n exit-address-family\nexit\n!\nend\n"
        )
    )


def test_addresses_and_vrfs_that_the_kernel_tells(tmp_path: Path) -> None:
    facts = [
        {"ifname": "lo", "addr_info": [{"scope": "host", "local": "127.0.0.1", "prefixlen": 8}]},
        {"ifname": "eth0", "addr_info": [{"scope": "global", "local": "192.168.0.5", "prefixlen": 24}]},
        {"ifname": "eth1", "addr_info": [{"scope": "global", "local": "10.0.0.1", "prefixlen": 31}]},
        {"ifname": "eth2", "master": "RED", "addr_info": [{"scope": "global", "local": "10.1.0.1", "prefixlen": 24}]},
        {"ifname": "eth3", "master": "br0", "addr_info": [{"scope": "link", "local": "fe80::1", "prefixlen": 64}]},
    ]
    (tmp_path / "r1.address.json").write_text(json.dumps(facts))
    made = network(tmp_path, r1="hostname r1\nvrf RED\nexit-vrf\nrouter bgp 65001\n", r2=R2)
    assert [str(link.a) for link in made.links] == ["r1:eth1"]
    text = made.files["topology.clab.yml"].decode()
    for command in ("link set eth2 master RED", "address add 10.0.0.1/31 dev eth1", "address add 10.1.0.1/24 dev eth2"):
        assert f"- ip {command}\n" in text
    assert "192.168.0.5" not in text and "eth3" not in text
    (tmp_path / "r9.address.json").write_text("{")
    assert "r9.address.json: is not named after a router" in complaint(tmp_path)
    (tmp_path / "r9.address.json").rename(tmp_path / "r2.address.json")
    assert "r2.address.json:1: is not JSON; give the output of `ip -j address show`" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("routing", "added"),
    [
        ("router ospf\n network 10.0.0.0/8 area 3\n", "router ospf\n network 172.31.0.0/31 area 3\nexit\n"),
        ("interface lo\n ip ospf area 4\nrouter ospf\n", " ip ospf area 4\n ip ospf passive\n"),
        ("router isis X\n", " ip router isis X\n isis passive\n"),
        ("router rip\n", "router rip\n network 172.31.0.0/31\nexit\n"),
        ("router ospf vrf RED\n", " ip address 172.31.0.0/31\nexit\n!\nend\n"),
    ],
)
def test_networks_that_are_made_up_are_announced(routing: str, added: str, tmp_path: Path) -> None:
    one, two = (text.partition("interface eth2")[0] + routing for text in (R1, R2))
    made = network(tmp_path, r1=one, r2=two)
    assert [host.is_made_up for host in made.hosts] == [True, True]
    assert added in made.files["r1.frr.conf"].decode()
