"""VLANs and port channels: the plan, its interfaces and routes, and the nodes' files."""

from __future__ import annotations

from pathlib import Path

from layer2_labs import GROUPS, TOPOLOGY, experiment, plan_of

from fabriclab.cli.text.plan import plan_text
from fabriclab.compile import compile_job, compile_node
from fabriclab.compile.trace import compile_hosts
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.node import PortChannel, Vlan
from fabriclab.resolve.bgp import bgp_routes
from fabriclab.resolve.interfaces import first_address, interfaces, neighbours

BGP = "routing: {protocol: bgp-numbered}\n"


def ip_lines(plan: Plan, node: str, *words: str) -> list[str]:
    lines = compile_node(plan.node(node), plan).ip.splitlines()
    return [line for line in lines if all(word in line for word in words)]


def steps_of(plan: Plan, number: int) -> dict[str, list[str]]:
    steps = compile_job(plan)["events"][number]["steps"]
    return {
        node: [line for step in steps if step["node"] == node for line in step["lines"]]
        for node in {step["node"] for step in steps}
    }


def test_groups_have_what_their_members_lose(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    leaf = plan.node("leaf")
    macs = [port.mac for port in leaf.ports]
    members = ("eth1", "eth2", "PortChannel2")
    assert leaf.vlans == (Vlan(name="Vlan10", vlan_id=10, members=members, mac=macs[0], address="192.168.0.1/24"),)
    assert leaf.port_channels == (
        PortChannel(name="PortChannel2", members=("eth3", "eth4"), peer_interface="bond0", mac=macs[2], address=None),
        PortChannel(
            name="PortChannel1",
            members=("eth5", "eth6"),
            peer_interface="PortChannel1",
            mac=macs[4],
            address="10.1.0.0/31",
        ),
    )
    assert {port.address for port in leaf.ports} == {None}
    assert parse_plan_json(plan_json(plan)) == plan


def test_the_other_end_follows(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    (channel,) = plan.node("spine").port_channels
    assert (channel.name, channel.members, channel.address) == ("PortChannel1", ("eth1", "eth2"), "10.1.0.1/31")
    (bond,) = plan.node("h3").port_channels
    assert (bond.name, bond.members, bond.peer_interface, bond.address) == (
        "bond0",
        ("eth1", "eth2"),
        "PortChannel2",
        "192.168.0.3/24",
    )


def test_the_other_switch_may_name_its_end(tmp_path: Path) -> None:
    spine = "  spine: {port_channels: {PortChannel7: {members: [eth2, eth1]}}}\n"
    plan = plan_of(tmp_path, experiment(GROUPS + spine))
    (channel,) = plan.node("spine").port_channels
    assert (channel.name, channel.peer_interface, channel.address) == ("PortChannel7", "PortChannel1", "10.1.0.1/31")
    assert plan.node("leaf").port_channels[1].peer_interface == "PortChannel7"


def test_names_that_nobody_wrote_are_free_ones(tmp_path: Path) -> None:
    """Two leaves that call their uplinks alike, as leaves do; a host with a port called bond0."""
    topology = TOPOLOGY.replace("    leaf: {", "    other: {labels: {fabriclab.role: switch}}\n    leaf: {").replace(
        "'h3:eth1'", "'h3:bond0'"
    )
    topology += "    - {endpoints: ['other:eth1', 'spine:eth4']}\n"
    other = "  other: {port_channels: {PortChannel1: {members: eth1}}}\n"
    plan = plan_of(tmp_path, experiment(GROUPS + other), topology)
    assert [(one.name, one.members, one.peer_interface) for one in plan.node("spine").port_channels] == [
        ("PortChannel1", ("eth1", "eth2"), "PortChannel1"),
        ("PortChannel0", ("eth4",), "PortChannel1"),
    ]
    assert plan.node("other").port_channels[0].peer_interface == "PortChannel0"
    assert [one.name for one in plan.node("h3").port_channels] == ["bond1"]


def test_hosts_of_a_vlan_have_written_addresses_or_the_first_free_ones(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    assert {host: first_address(plan.node(host)) for host in ("h1", "h2", "h3", "far")} == {
        "h1": "192.168.0.2",
        "h2": "192.168.0.20",
        "h3": "192.168.0.3",
        "far": "10.0.0.1",
    }


def test_what_is_not_written_is_numbered_apart_from_what_is(tmp_path: Path) -> None:
    groups = GROUPS.replace(", ipv4: 192.168.0.1/24, hosts: {h2: 192.168.0.20}", "").replace(", ipv4: 10.1.0.0/31", "")
    plan = plan_of(tmp_path, experiment(groups))
    assert plan.node("leaf").vlans[0].address == "192.168.0.1/24"
    assert [interface.address for interface in interfaces(plan.node("leaf"))] == ["192.168.0.1/24", "10.0.0.0/31"]
    taken = experiment(groups.replace("eth5, eth6]", "eth5, eth6], ipv4: 192.168.0.8/31"))
    assert plan_of(tmp_path, taken).node("leaf").vlans[0].address == "192.168.1.1/24"


def test_interfaces_and_who_is_behind_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    around = {
        node.name: {
            one.name: [f"{far.node.name}:{far.interface.name}" for far in neighbours(node, one, plan.by_name())]
        }
        for node in plan.nodes
        for one in interfaces(node)[:1]
    }
    assert around == {
        "spine": {"PortChannel1": ["leaf:PortChannel1"]},
        "leaf": {"Vlan10": ["h1:eth1", "h2:eth1", "h3:bond0"]},
        "h1": {"eth1": ["leaf:Vlan10", "h2:eth1", "h3:bond0"]},
        "h2": {"eth1": ["leaf:Vlan10", "h1:eth1", "h3:bond0"]},
        "h3": {"bond0": ["leaf:Vlan10", "h1:eth1", "h2:eth1"]},
        "far": {"eth1": ["spine:eth3"]},
    }


def test_static_routes_lead_over_groups(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    routes = {node.name: [(route.destination, route.next_hops) for route in node.routes] for node in plan.nodes}
    assert routes == {
        "spine": [("192.168.0.0/24", (("10.1.0.0", "PortChannel1"),))],
        "leaf": [("10.0.0.0/31", (("10.1.0.1", "PortChannel1"),))],
        "h1": [("default", (("192.168.0.1", "eth1"),))],
        "h2": [("default", (("192.168.0.1", "eth1"),))],
        "h3": [("default", (("192.168.0.1", "bond0"),))],
        "far": [("default", (("10.0.0.0", "eth1"),))],
    }


def test_bgp_announces_the_network_of_a_vlan_over_the_port_channel(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, experiment() + BGP)
    loopback = plan.node("leaf").loopback
    assert [(route.destination, route.next_hops) for route in plan.node("spine").routes] == [
        (f"{loopback}/32", (("10.1.0.0", "PortChannel1"),)),
        ("192.168.0.0/24", (("10.1.0.0", "PortChannel1"),)),
    ]
    bgpd = compile_node(plan.node("leaf"), plan).root["etc/frr/bgpd.conf"]
    assert "  network 192.168.0.0/24\n" in bgpd
    assert " neighbor 10.1.0.1 description spine:PortChannel1\n" in bgpd


def test_a_session_lives_until_the_last_member_is_dead(tmp_path: Path) -> None:
    nodes = plan_of(tmp_path, experiment() + BGP).nodes
    first, both = ["leaf:eth5", "spine:eth1"], ["leaf:eth5", "spine:eth1", "leaf:eth6", "spine:eth2"]
    assert bgp_routes(nodes, unnumbered=False, dead=first) == bgp_routes(nodes, unnumbered=False)
    assert bgp_routes(nodes, unnumbered=False, dead=both)["spine"] == ()


def test_unnumbered_sessions_have_settings_before_the_bond_is_made(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, experiment() + BGP.replace("numbered", "unnumbered"))
    sysctl = compile_node(plan.node("leaf"), plan).sysctl
    assert "net.ipv6.conf.default.disable_ipv6 = 0\n" in sysctl
    assert "PortChannel" not in sysctl
    assert ip_lines(plan, "leaf", "addrgenmode") == ["link set dev Vlan10 addrgenmode none"]


def test_a_port_channel_is_a_bond_and_a_vlan_a_bridge(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    leaf = plan.node("leaf")
    bond = (
        f"link add name PortChannel2 address {leaf.ports[2].mac} mtu 1500 type bond mode balance-xor xmit_hash_policy "
        "layer3+4 miimon 10"
    )
    bridge = f"link add name Vlan10 address {leaf.ports[0].mac} mtu 1500 type bridge stp_state 0 mcast_snooping 0"
    lines = ip_lines(plan, "leaf")
    assert [line for line in lines if line.startswith("link add")][::2] == [bond, bridge]
    assert (
        lines.index("link set dev eth3 down")
        < lines.index("link set dev eth3 master PortChannel2")
        < lines.index(bridge)
    )
    assert "link set dev PortChannel2 master Vlan10" in lines
    hosts = [plan.node(host).ports[0].mac for host in ("h1", "h2", "h3")]
    assert compile_node(leaf, plan).by_name()["bridge.batch"].splitlines() == [
        f"fdb add {mac} dev {member} master static"
        for mac, member in zip(hosts, ("eth1", "eth2", "PortChannel2"), strict=True)
    ]
    assert "bridge.batch" not in compile_node(plan.node("spine"), plan).by_name()


def test_hosts_of_a_vlan_know_each_other_and_send_with_the_metrics_of_their_transport(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, experiment() + "hosts: {h1: {rto_min: 5 ms}, h2: {window_limit: 2}}\n")
    assert len(ip_lines(plan, "h1", "neighbour replace")) == 3
    scope = "dev eth1 proto kernel scope link src 192.168.0.2 rto_min 5ms initcwnd 10"
    assert ip_lines(plan, "h1", "scope link") == [
        f"route replace 192.168.0.0/24 {scope} window 2920",
        f"route replace 192.168.0.3/32 {scope}",
    ]


def test_a_member_that_goes_down_leaves_the_port_channel_up(tmp_path: Path) -> None:
    events = """\
events:
  first: {at: 1 ms, link: 'leaf:eth5', action: down}
  second: {at: 2 ms, link: 'leaf:eth6', action: down}
  again: {at: 3 ms, link: 'leaf:eth5', action: up}
limit: 1 s
"""
    plan = plan_of(tmp_path, experiment() + events)
    assert steps_of(plan, 0) == {"leaf": ["link set dev eth5 down"], "spine": ["link set dev eth1 down"]}
    assert steps_of(plan, 1)["leaf"] == ["link set dev eth6 down", "link set dev PortChannel1 down"]
    leaf = steps_of(plan, 2)["leaf"]
    assert leaf[:2] == ["link set dev eth5 up", "link set dev PortChannel1 up"]
    assert (
        leaf[2].startswith("neighbour replace 10.1.0.1 ")
        and leaf[3] == "route replace 10.0.0.0/31 via 10.1.0.1 dev PortChannel1"
    )


def test_a_member_of_a_vlan_restores_what_its_host_forgot(tmp_path: Path) -> None:
    events = (
        "events:\n  cut: {at: 1 ms, link: 'h1:eth1', action: down}\n  mended: {at: 2 ms, link: 'h1:eth1', action: "
        "up}\nlimit: 1 s\n"
    )
    steps = steps_of(plan_of(tmp_path, experiment() + events), 1)
    assert steps["leaf"] == ["link set dev eth1 up"]
    assert len([line for line in steps["h1"] if line.startswith("neighbour")]) == 3
    assert [line for line in steps["h1"] if line.startswith("route replace 192.168.0.0/24")]


def test_the_plan_says_it_in_words(tmp_path: Path) -> None:
    text = plan_text(plan_of(tmp_path))
    assert "  leaf PortChannel1: 2 x 1 Gbps (eth5, eth6) to spine PortChannel1, 10.1.0.0/31\n" in text
    hosts = "h1 192.168.0.2, h2 192.168.0.20, h3 192.168.0.3"
    assert f"  leaf Vlan10: 192.168.0.1/24, members eth1, eth2, PortChannel2; hosts {hosts}\n" in text


def test_traffic_goes_to_the_address_of_the_interface(tmp_path: Path) -> None:
    hosts = compile_hosts(plan_of(tmp_path)).splitlines()[2:]
    assert hosts == ["h1,192.168.0.2", "h2,192.168.0.20", "h3,192.168.0.3", "far,10.0.0.1"]
