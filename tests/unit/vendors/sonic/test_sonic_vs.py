"""Nodes of kind sonic-vs: the lab is what their config_db.json says, and names both places where
it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from sonic_vs_labs import SONIC, SWITCHES, configs_of, plan_of, stock_plan, write_lab

from fabriclab.compile import compile_node
from fabriclab.lab import LabError, parse_lab


@pytest.mark.parametrize("protocol", ["bgp-unnumbered", "bgp-numbered"])
def test_a_lab_of_exported_switches_is_the_lab_that_they_are_of(tmp_path: Path, protocol: str) -> None:
    stock = stock_plan(tmp_path, protocol)
    sonic = plan_of(write_lab(tmp_path / "sonic", configs_of(tmp_path / "stock", protocol)))
    assert sonic.bgp is not None and stock.bgp is not None and sonic.bgp.unnumbered == stock.bgp.unnumbered
    for name in SWITCHES:
        was, now = stock.node(name), sonic.node(name)
        assert (now.role, now.asn, now.loopback) == ("switch", was.asn, was.loopback)
        assert [port.interface for port in now.ports] == [f"Ethernet{4 * number}" for number in range(len(was.ports))]
        for before, after in zip(was.ports, now.ports, strict=True):
            assert (after.address, after.rate_bps, after.delay_ns, after.mtu) == (
                before.address,
                before.rate_bps,
                before.delay_ns,
                before.mtu,
            )
            assert before.switch_port is not None and after.switch_port is not None
            assert (
                after.switch_port.maps == before.switch_port.maps
                and after.switch_port.groups == before.switch_port.groups
            )
            assert [queue.wred for queue in after.switch_port.queues] == [
                queue.wred for queue in before.switch_port.queues
            ]
    assert [port.address for port in sonic.node("h1").ports] == [port.address for port in stock.node("h1").ports]


def test_bgp_is_what_the_file_says(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path / "sonic", configs_of(tmp_path / "stock", "bgp-numbered")))
    leaf, spine = plan.node("leaf1"), plan.node("spine1")
    lines = compile_node(leaf, plan).root["etc/frr/bgpd.conf"].splitlines()
    peer = str(spine.ports[0].address).partition("/")[0]
    assert f"router bgp {leaf.asn}" in lines and f" neighbor {peer} remote-as {spine.asn}" in lines
    assert f" neighbor {peer} timers 3 9" in lines
    # bgpcfgd announces the loopback and VLANs only.
    assert [line.split()[-1] for line in lines if line.startswith("  network")] == [f"{leaf.loopback}/32"]


def test_frrcfgd_announces_what_its_tables_say(tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock")
    tables = configs["leaf1"]
    del tables["BGP_GLOBALS_AF_NETWORK"]
    tables["ROUTE_REDISTRIBUTE"] = {"default|connected|bgp|ipv4": {}}
    tables["BGP_GLOBALS_AF"]["default|ipv4_unicast"]["max_ebgp_paths"] = "7"
    plan = plan_of(write_lab(tmp_path / "sonic", configs))
    leaf = plan.node("leaf1")
    assert leaf.bgp is not None and leaf.bgp.max_paths == 7
    # Of the link to the host, of the link to the spine, and its loopback.
    assert len(leaf.bgp.networks) == 3 and f"{leaf.loopback}/32" in leaf.bgp.networks
    assert "  maximum-paths 7" in compile_node(leaf, plan).root["etc/frr/bgpd.conf"]


def test_an_experiment_overrides_a_file_key_by_key(tmp_path: Path) -> None:
    directory = write_lab(tmp_path / "sonic", configs_of(tmp_path / "stock"))
    plan = plan_of(directory, {"switches.leaf1.queues.0.wred.min": "40 KB"})
    ports = plan.node("leaf1").ports
    assert {
        queue.wred.min for port in ports if port.switch_port for queue in port.switch_port.queues if queue.wred
    } == {40_000}
    slow = plan_of(write_lab(tmp_path / "sonic", {}, experiment=SONIC + "links: {rate: 100 Mbps}\n"))
    assert slow.node("leaf1").ports[0].rate_bps == 10**8
    scaled, whole = slow.node("leaf1").switch, plan.node("leaf1").switch
    assert scaled is not None and whole is not None
    assert [pool.size_bytes * 10 for pool in scaled.pools] == pytest.approx(
        [pool.size_bytes for pool in whole.pools], rel=0.01
    )


def disagreement(directory: Path) -> str:
    with pytest.raises(LabError) as caught:
        parse_lab(directory)
    return str(caught.value)


@pytest.mark.parametrize(
    ("links", "words"),
    [
        (
            "{endpoints: ['leaf1:eth2', 'spine1:eth1'], vars: {rate: 10 Gbps}}",
            "10 Gbps here, but 1 Gbps in PORT|Ethernet4|speed (LEAF:",
        ),
        ("{endpoints: ['leaf1:eth2', 'spine1:eth1'], mtu: 9000}", "9000 here, but 1500 in PORT|Ethernet4|mtu (LEAF:"),
        (
            "{endpoints: ['leaf1:eth9', 'spine1:eth1']}",
            "'leaf1:eth9' is Ethernet32 in SONiC, but PORT of LEAF has no port of that name (LEAF:",
        ),
        ("{endpoints: ['leaf1:Ethernet4', 'spine1:eth1']}", "Containerlab names the interfaces of sonic-vs eth1, eth2"),
        (
            "{endpoints: ['leaf1:eth2', 'spine1:eth1'], ipv4: ['10.9.0.0/31', '']}",
            "10.9.0.0/31 here, but INTERFACE|Ethernet4|",
        ),
    ],
    ids=["speed", "mtu", "port", "name", "address"],
)
def test_a_link_that_the_file_does_not_have_so(tmp_path: Path, links: str, words: str) -> None:
    directory = write_lab(tmp_path / "sonic", configs_of(tmp_path / "stock", "bgp-numbered"), links=f"    - {links}")
    message = disagreement(directory)
    assert words.replace("LEAF", str(directory / "leaf1.json")) in message and "topology.clab.yml:12: " in message


def test_a_neighbour_that_has_another_address(tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock", "bgp-numbered")
    interfaces = configs["spine1"]["INTERFACE"]
    (old,) = [key for key in interfaces if key.startswith("Ethernet0|")]
    interfaces[old.rpartition(".")[0] + ".77/31"] = interfaces.pop(old)
    directory = write_lab(tmp_path / "sonic", configs)
    message = disagreement(directory)
    assert "is the neighbour behind leaf1:Ethernet4, but spine1:Ethernet0 has 10.0.0.77 (" in message
    assert "leaf1.json:" in message and "spine1.json:" in message


def test_a_session_with_somebody_else(tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock", "bgp-numbered")
    neighbours = configs["leaf1"]["BGP_NEIGHBOR"]
    (address,) = neighbours
    own = next(
        key.partition("|")[2].partition("/")[0] for key in configs["leaf1"]["INTERFACE"] if key.startswith("Ethernet4|")
    )
    neighbours[own] = neighbours.pop(address)
    directory = write_lab(tmp_path / "sonic", configs)
    message = disagreement(directory)
    assert (
        f"BGP_NEIGHBOR|{own}: {own} is the neighbour behind leaf1:Ethernet4, but spine1:Ethernet0 has {address} ("
        in message
    )
    assert message.count("leaf1.json:") == 1 and "spine1.json:" in message


@pytest.mark.parametrize(
    ("leaf1", "words"),
    [
        (
            "{kind: sonic-vs}",
            "topology.nodes.leaf1.binds: no config_db.json; write binds: ['leaf1.json:/var/sonic/config_db.json']",
        ),
        ("{kind: sonic-vs, binds: ['no.json:/etc/sonic/config_db.json']}", "'no.json': no such file"),
        ("{kind: sonic-vs, binds: ['bad.json:/var/sonic/config_db.json']}", "bad.json:1: the file ends within a value"),
        (
            "{kind: sonic-vs, binds: ['leaf1.json:/etc/sonic/config_db.json'], labels: {fabriclab.role: host}}",
            "is of kind sonic-vs, a switch; remove the label",
        ),
        (
            "{kind: sonic-vs, binds: ['leaf1.json:/etc/sonic/config_db.json'], labels: {fabriclab.asn: 65001}}",
            "65001 here, but 64513 in BGP_GLOBALS|default|local_asn (",
        ),
    ],
    ids=["none", "missing", "no-json", "role", "asn"],
)
def test_a_node_that_cannot_be(tmp_path: Path, leaf1: str, words: str) -> None:
    directory = write_lab(tmp_path / "sonic", configs_of(tmp_path / "stock"), leaf1=leaf1)
    (directory / "bad.json").write_text("{")
    assert words in disagreement(directory)


def test_a_profile_beside_a_file(tmp_path: Path) -> None:
    directory = write_lab(
        tmp_path / "sonic",
        configs_of(tmp_path / "stock"),
        experiment=SONIC + "switches: {leaf1: {profile: trident-2}}\n",
    )
    assert "switches.leaf1.profile: the switch is what its config_db.json says" in disagreement(directory)


def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock")
    configs["leaf1"]["WRED_PROFILE"][next(iter(configs["leaf1"]["WRED_PROFILE"]))]["green_min_threshold"] = "-3"
    message = disagreement(write_lab(tmp_path / "sonic", configs))
    assert "leaf1.json:" in message and "green_min_threshold" in message


def test_files_without_buffers_want_one_from_the_lab(tmp_path: Path) -> None:
    configs = configs_of(tmp_path / "stock")
    for tables in configs.values():
        for table in [
            name for name in tables if name.startswith(("BUFFER", "QUEUE", "WRED", "SCHEDULER", "DEFAULT_LOSSLESS"))
        ]:
            del tables[table]
    message = disagreement(write_lab(tmp_path / "sonic", configs))
    assert [
        f"buffer: missing for switch '{name}'" in line
        for name, line in zip(SWITCHES, message.splitlines(), strict=True)
    ] == [True] * 3
