"""IPv6: which families a fabric has, its addresses and routes, what nodes are told, and what results are measured
against."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, IPv6Network
from pathlib import Path

import pytest
from bgp_fabrics import TWO_LEAVES, next_hops
from small_fabrics import EXPERIMENT, TWO_HOSTS, link, plan_of, star
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_job, compile_node
from fabriclab.compile.iperf3 import compile_iperf3
from fabriclab.compile.trace import compile_hosts, compiled_flows
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json
from fabriclab.formats.plan.traffic import Carrier
from fabriclab.lab import LabError, parse_lab
from fabriclab.picture.network import network_of_plan
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.addressing import IPV6
from fabriclab.topologies.ipv6 import LINKS
from fabriclab.workload import trace_text

WRITTEN = TWO_HOSTS.replace("'s1:eth1'], ", "'s1:eth1'], ipv6: ['fd00:1::1/64', 'fd00:1::2/64'], ", 1)
DUAL = "addresses: dual\n" + EXPERIMENT
ONLY = "addresses: ipv6\n" + EXPERIMENT
MPTCP = EXPERIMENT.replace("size:", "transport: mptcp, size:") + "hosts: {default: {mptcp: {subflows: 4}}}\n"


def addresses(plan: Plan) -> list[tuple[str | None, str | None]]:
    return [(port.address, port.ipv6) for node in plan.nodes for port in node.ports]


def ip_lines(plan: Plan, node: str, *words: str) -> list[str]:
    lines = compile_node(plan.node(node), plan).ip.splitlines()
    return [line for line in lines if all(word in line for word in words)]


def sysctls(plan: Plan, node: str) -> dict[str, str]:
    lines = compile_node(plan.node(node), plan).sysctl.splitlines()
    return {key.removeprefix("net.ipv6."): value for key, _, value in (line.partition(" = ") for line in lines)}


@pytest.mark.parametrize(
    ("topology", "written", "families"),
    [
        (TWO_HOSTS, None, (4,)),
        (TWO_HOSTS, "ipv6", (6,)),
        (TWO_HOSTS, "dual", (4, 6)),
        (WRITTEN, None, (6,)),
        (WRITTEN, "ipv4", (4,)),
        (WRITTEN.replace("ipv6:", "ipv4: [10.1.0.0/31, 10.1.0.1/31], ipv6:"), None, (4, 6)),
    ],
)
def test_families_are_those_named_else_those_written(
    tmp_path: Path, topology: str, written: str | None, families: tuple[int, ...]
) -> None:
    plan = plan_of(tmp_path, topology, EXPERIMENT, **({} if written is None else {"addresses": written}))
    assert plan.families == families
    has = [(4 in families, 6 in families)] * 4
    assert [(ipv4 is not None, ipv6 is not None) for ipv4, ipv6 in addresses(plan)] == has
    assert parse_plan_json(plan_json(plan)) == plan


def test_a_plan_without_ipv6_says_nothing_of_it(tmp_path: Path) -> None:
    text = plan_json(plan_of(tmp_path, TWO_HOSTS, EXPERIMENT))
    assert "ipv6" not in text and '"ip"' not in text and "loopback6" not in text


def test_links_are_numbered_from_the_pool_around_what_is_written(tmp_path: Path) -> None:
    taken = IPv6Interface((int(IPV6.links.network_address) + 1, 127))
    other = IPv6Interface((int(IPV6.links.network_address), 127))
    topology = TWO_HOSTS.replace("'s1:eth1'], ", f"'s1:eth1'], ipv6: ['{taken}', '{other}'], ", 1)
    plan = plan_of(tmp_path, topology, EXPERIMENT)
    assert plan.node("h1").ports[0].ipv6 == str(taken)
    host = IPv6Interface(str(plan.node("h2").ports[0].ipv6))
    # The next pair; the odd address is the host's.
    assert host == IPv6Interface((int(IPV6.links.network_address) + 3, 127))
    assert plan.node("s1").ports[1].ipv6 == str(IPv6Interface((int(host.ip) - 1, 127)))


def test_one_end_of_a_pair_tells_the_other(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, WRITTEN.replace("'fd00:1::1/64', 'fd00:1::2/64'", "'fd00:1::4/127', ''"), EXPERIMENT)
    assert plan.node("s1").ports[0].ipv6 == "fd00:1::5/127"


def test_nobody_asks_and_nothing_is_waited_for(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, ONLY)
    address, peer = plan.node("h1").ports[0], plan.node("s1").ports[0]
    gateway = str(peer.ipv6).partition("/")[0]
    assert compile_node(plan.node("h1"), plan).ip.splitlines() == [
        f"address add {address.ipv6} dev eth1 nodad",
        f"neighbour replace {gateway} lladdr {peer.mac} dev eth1 nud permanent",
        f"route add ::/0 rto_min 200ms initcwnd 10 via {gateway} dev eth1",
    ]
    host, switch = sysctls(plan, "h1"), sysctls(plan, "s1")
    assert (host["conf.all.disable_ipv6"], host["conf.eth1.disable_ipv6"], host["conf.eth1.accept_dad"]) == (
        "1",
        "0",
        "0",
    )
    assert (host["conf.eth1.addr_gen_mode"], host["auto_flowlabels"]) == ("1", "0")
    assert "conf.all.forwarding" not in host and switch["conf.all.forwarding"] == "1"
    assert (switch["fib_multipath_hash_policy"], switch["fib_multipath_hash_fields"]) == ("3", "55")


def test_static_routes_have_all_equal_next_hops_in_both_families(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES, DUAL)
    for of in ("address", "ipv6"):
        h2 = getattr(plan.node("h2").ports[0], of)
        network = str(IPv6Interface(h2).network if ":" in h2 else h2.replace("3/31", "2/31"))
        assert next_hops(plan, "leaf1", network) == ["eth3", "eth4"]
    (route,) = ip_lines(plan, "leaf1", "nexthop", "fdfa:")
    assert route.count("nexthop via fdfa:b1ab::") == 2


@pytest.mark.parametrize("protocol", ["bgp-numbered", "bgp-unnumbered"])
def test_bgp_announces_ipv6_and_the_kernel_is_asked_for_it(tmp_path: Path, protocol: str) -> None:
    plan = plan_of(tmp_path, TWO_LEAVES, f"{DUAL}routing: {{protocol: {protocol}}}\n")
    text = compile_node(plan.node("leaf1"), plan).root["etc/frr/bgpd.conf"]
    leaf = plan.node("leaf1")
    own = IPv6Interface(str(leaf.ports[0].ipv6)).network
    for family, prefixes in ((4, [f"{leaf.loopback}/32"]), (6, [f"{leaf.loopback6}/128", str(own)])):
        section = text.partition(f"address-family ipv{family} unicast\n")[2].partition("exit-address-family")[0]
        assert all(f"  network {prefix}\n" in section for prefix in prefixes) and "maximum-paths 64" in section
    sessions = [
        line.split()[1] for line in text.splitlines() if line.endswith(("peer-group fabric", "peer-group fabric6"))
    ]
    assert len(sessions) == (2 if protocol == "bgp-unnumbered" else 4)
    assert any(":" in session for session in sessions) == (protocol == "bgp-numbered")
    (ready,) = [node for node in compile_job(plan)["ready"]["nodes"] if node["node"] == "leaf1"]
    h2 = str(IPv6Interface(str(plan.node("h2").ports[0].ipv6)).network)
    assert {"prefix": h2, "interfaces": ["eth3", "eth4"], "paths": 2} in ready["routes"]
    assert f"address add {leaf.loopback6}/128 dev lo" in ip_lines(plan, "leaf1")
    # Next hops are link-local, and known.
    assert len(ip_lines(plan, "leaf1", "neighbour replace fe80::")) == 2
    assert sysctls(plan, "leaf1")["conf.eth3.addr_gen_mode"] == "0"
    assert sysctls(plan, "leaf1")["conf.eth1.addr_gen_mode"] == "1"


def test_a_router_of_ipv6_only_has_an_identifier_and_no_ipv4_address(tmp_path: Path) -> None:
    labelled = TWO_LEAVES.replace(
        "leaf2: {kind: linux, labels: {", "leaf2: {kind: linux, labels: {fabriclab.loopback6: 'fd00:9::2', "
    )
    plan = plan_of(tmp_path, labelled, f"{ONLY}routing: {{protocol: bgp-unnumbered}}\n")
    text = compile_node(plan.node("leaf2"), plan).root["etc/frr/bgpd.conf"]
    assert " bgp router-id 10.255.0.2\n" in text and "ipv4 unicast\n" not in text.replace("default ipv4-unicast", "")
    assert "  network fd00:9::2/128\n" in text
    assert ip_lines(plan, "leaf2", "address add", "dev lo") == ["address add fd00:9::2/128 dev lo"]
    loopbacks = [node.loopback6 for node in plan.nodes if node.role == "switch"]
    assert loopbacks[0] == "fdfa:b1ab:ff::1" and len(set(loopbacks)) == 4


def test_mptcp_has_endpoints_of_the_families_that_it_runs_over(tmp_path: Path) -> None:
    over_ipv6 = MPTCP.replace("size:", "ip: 6, size:")
    plan = plan_of(tmp_path, TWO_HOSTS, "addresses: dual\n" + over_ipv6)
    endpoints = [line.split()[3] for line in ip_lines(plan, "h1", "mptcp endpoint add")]
    extra = plan.node("h1").ports[0].extra_ipv6
    assert endpoints == [str(plan.node("h1").ports[0].ipv6).partition("/")[0], *extra] and len(extra) == 3
    assert IPv6Network(f"{extra[0]}/126").overlaps(IPV6.extra[0])
    # Only those that name it use it (RFC 6724 would take the most alike).
    assert ip_lines(plan, "h1", f"address add {extra[0]}/128") == [
        f"address add {extra[0]}/128 dev eth1 nodad preferred_lft 0"
    ]
    assert ip_lines(plan, "s1", f"route add {extra[0]}/126")


def test_rules_of_ipv6_have_a_file_of_their_own(tmp_path: Path) -> None:
    dual_homed = star(
        link("h1:eth1", "s1:eth1"), link("h1:eth2", "s1:eth2"), link("h2:eth1", "s1:eth3"), switches=("s1",)
    )
    files = compile_node(
        (plan := plan_of(tmp_path, dual_homed, "addresses: dual\n" + MPTCP)).node("h1"), plan
    ).by_name()
    rules = files["ip6.batch"].splitlines()
    assert len(rules) == 4 and all(":" in line.split()[3] for line in rules)
    assert all(":" not in line.split()[3] for line in files["ip.batch"].splitlines() if line.startswith("rule "))
    assert "ip6.batch" not in compile_node(plan.node("h2"), plan).by_name()


def test_a_window_counts_the_longer_headers(tmp_path: Path) -> None:
    limited = "hosts: {h2: {window_limit: 10}}\n"
    plan = plan_of(tmp_path, TWO_HOSTS, DUAL + limited)
    windows = [line.partition(" window ")[2].split()[0] for line in ip_lines(plan, "h1", "route add", "window")]
    assert windows == [str(10 * 1460), str(10 * 1440)]


def test_traffic_chooses_its_family_and_the_trace_says_so(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, DUAL.replace("size:", "ip: 6, size:"))
    (traffic,) = plan.traffic
    assert traffic.carried_by == Carrier(ip=6)
    flows = compiled_flows(plan, tmp_path)
    text = "".join(trace_text(flows))
    assert text.splitlines()[1].endswith(",ip") and text.splitlines()[2].endswith(",6")
    h1 = plan.node("h1").ports[0]
    assert compile_hosts(plan).splitlines()[1:3] == [
        "host,address,ipv6",
        f"h1,{str(h1.address).partition('/')[0]},{str(h1.ipv6).partition('/')[0]}",
    ]
    only = plan_of(tmp_path, TWO_HOSTS, ONLY)
    assert compile_hosts(only).splitlines()[1:3] == ["host,address", f"h1,{str(only.node('h1').ports[0].ipv6)[:-4]}"]
    assert ",ip" not in "".join(trace_text(compiled_flows(only, tmp_path)))


def test_iperf3_goes_to_the_address_of_its_family(tmp_path: Path) -> None:
    traffic = "traffic: {one: {kind: iperf3, senders: [h1], receiver: h2, stop: 1 s, ip: 6}}\n"
    experiment = f"title: T\naddresses: dual\nswitches: {{default: {{buffer: 64 KB}}}}\n{traffic}"
    plan = plan_of(tmp_path, TWO_HOSTS, experiment)
    server, client = compile_iperf3(plan, compiled_flows(plan, tmp_path))
    address = str(plan.node("h2").ports[0].ipv6).partition("/")[0]
    assert address in server["argv"] and client["argv"][client["argv"].index("-c") + 1] == address


def test_a_users_trace_may_name_what_the_fabric_has(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,ip\n0,0,h1,h2,9,6\n")
    experiment = "title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic: {own: {kind: trace, file: flows.csv}}\n"
    plan = plan_of(tmp_path, TWO_HOSTS, "addresses: dual\n" + experiment)
    assert compiled_flows(plan, tmp_path)["ip"].to_list() == [6]
    with pytest.raises(ValueError, match=r"flows\.csv:3: ip: '6' must be an IP version of the fabric's addresses"):
        compiled_flows(plan_of(tmp_path, TWO_HOSTS, experiment), tmp_path)


def test_addresses_are_no_setting_of_a_lab_that_runs(tmp_path: Path) -> None:
    event = "events:\n  later: {at: 1 s, set: {addresses: dual}}\n"
    with pytest.raises(LabError, match="a fabric's addresses are fixed when the lab begins"):
        plan_of(tmp_path, TWO_HOSTS, EXPERIMENT + event)


@pytest.mark.parametrize("shape", ["star --hosts 3", "dumbbell", "leaf-spine --hosts 2", "fat-tree --k 4"])
def test_a_generated_fabric_has_ipv6_beside_ipv4(tmp_path: Path, shape: str) -> None:
    assert CliRunner().invoke(app, ["generate", *shape.split(), "--ipv6", "--out", str(tmp_path)]).exit_code == 0
    assert f"generate {shape.split()[0]} " in (text := (tmp_path / "topology.clab.yml").read_text(encoding="utf-8"))
    plan = resolve_plan(parse_lab(tmp_path), {"routing.protocol": "bgp-unnumbered"})
    assert plan.families == (4, 6) and "--ipv6\n" in text
    for node in plan.nodes:
        for port in node.ports:
            # One address tells the other.
            ipv4, ipv6 = IPv4Interface(str(port.address)), IPv6Interface(str(port.ipv6))
            assert int(ipv6.ip) & 0xFFFFFFFF == int(ipv4.ip) and ipv6 in LINKS and ipv6.network.prefixlen == 127
        if node.role == "switch":
            assert int(IPv6Address(str(node.loopback6))) & 0xFFFFFFFF == int(IPv4Address(str(node.loopback)))
    assert resolve_plan(parse_lab(tmp_path), {"addresses": "ipv6"}).families == (6,)


def test_a_generated_fabric_of_narrow_links_has_no_ipv6() -> None:
    result = CliRunner().invoke(app, ["generate", "star", "--mtu", "1000", "--ipv6"])
    assert result.exit_code == 2 and "--mtu 1000: a link with IPv6 needs at least 1280 bytes" in result.output


def test_a_picture_has_the_addresses_of_both_families(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TWO_HOSTS, DUAL)
    port = plan.node("h1").ports[0]
    (h1,) = (vertex for vertex in network_of_plan(plan).vertices if vertex.name == "h1")
    assert h1.details == (f"eth1 {port.address} {port.ipv6}",)
