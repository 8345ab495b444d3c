"""netlab's own validation: what its tests come to here, which can't be asked, and how what daemons answer is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fabriclab import validation
from fabriclab.formats.plan.model import Plan
from fabriclab.keys.wording import shown
from fabriclab.lab import LabError
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.validation import WrittenValidation, read_validation
from fabriclab.other_labs.netlab_tests import netlab_tests
from fabriclab.results import Results
from fabriclab.validation.bench import Bench, Stage
from fabriclab.validation.wanted_state import judge_routes, judge_sessions, route_collectors, session_collectors

NODES = ("dut", "x1", "h1")
VARIABLES: Mapping[str, Any] = {
    "dut": {
        "loopback": {"ipv4": "10.0.0.1/32", "ipv6": "2001:db8:0:1::1/64"},
        "ospf": {"router_id": "10.0.0.1"},
        "vrfs": {"red": {"ospf": {"router_id": "10.0.0.9"}}},
        "interfaces": [{"linkindex": 1, "ipv4": "10.1.0.1/30", "ifname": "eth1"}, {"linkindex": 2, "ipv4": True}],
    },
    "x1": {
        "interfaces": [{"linkindex": 1, "ipv4": "10.1.0.2/30", "ifname": "eth1"}],
        "bgp": {
            "neighbors": [
                {"name": "other", "ipv4": "10.9.0.1"},
                {"name": "dut", "ipv6": "2001:db8::1", "type": "ebgp"},
                {"name": "dut", "ipv4": "10.1.0.1", "type": "ebgp"},
                {"name": "lla", "ipv4": True, "ipv6": True},
            ]
        },
    },
}


INVENTORY = """\
all: {hosts: {}}
frr: {hosts: {dut: {ansible_host: a, id: 1}, x1: {ansible_host: b, id: 2}}}
linux: {hosts: {h1: {id: 3}}}
probes: {hosts: {x1: {}}}
"""


def read_tests(directory: Path, *entries: str, more: str = "") -> Any:
    """Return what tests come to, each given as the rest of its line after its name."""
    for name, variables in VARIABLES.items():
        (directory / "host_vars" / name).mkdir(parents=True, exist_ok=True)
        (directory / "host_vars" / name / "topology.json").write_text(json.dumps(variables))
    (directory / "hosts.yml").write_text(INVENTORY)
    lines = "".join(f"  t{number}: {entry}\n" for number, entry in enumerate(entries, 1))
    (directory / "topology.yml").write_text(f"{more}validate:\n{lines}")
    return netlab_tests(directory, NODES)


@pytest.mark.parametrize(
    ("call", "section", "wanted"),
    [
        ("ping('h1')", "pings", {"to": "h1", "answers": True}),
        (
            "ping(nodes.dut.loopback.ipv6,src=nodes.x1.interfaces[-1].ipv4,af='ipv6',expect='fail',count=2)",
            "pings",
            {"to": "2001:db8:0:1::1", "ip": "6", "source": "10.1.0.2", "answers": False},
        ),
        ("default6()", "routes", {"table": "kernel", "prefix": "::/0"}),
        (
            "bgp_neighbor(node.bgp.neighbors,'dut')",
            "sessions",
            {"protocol": "bgp", "neighbor": "10.1.0.1", "family": "ipv4"},
        ),
        (
            "bgp_neighbor(node.bgp.neighbors,'dut',af='ipv6',activate='ipv4',state=['missing','Idle'])",
            "sessions",
            {
                "protocol": "bgp",
                "neighbor": "2001:db8::1",
                "family": "ipv4",
                "negotiated": True,
                "state": ["absent", "Idle"],
            },
        ),
        (
            "bgp_neighbor(node.bgp.neighbors,'lla',intf=node.interfaces[0].ifname)",
            "sessions",
            {"protocol": "bgp", "neighbor": "eth1", "family": "ipv4"},
        ),
        ("ospf_neighbor(nodes.dut.ospf.router_id)", "sessions", {"protocol": "ospf", "neighbor": "10.0.0.1"}),
        (
            "ospf6_neighbor(nodes.dut.vrfs.red.ospf.router_id,present=False)",
            "sessions",
            {"protocol": "ospf6", "neighbor": "10.0.0.9", "state": ["absent"]},
        ),
        (
            "isis_neighbor('dut',level='L1L2',area='49.0001')",
            "sessions",
            {"protocol": "isis", "neighbor": "dut", "level": "1-2", "area": "49.0001"},
        ),
        (
            "bgp_prefix(links[0].prefix.ipv4,af='ipv4',nh=nodes.dut.interfaces[0].ipv4,as_elements=[65001],best=False)",
            "routes",
            {"table": "bgp", "prefix": "10.1.0.0/30", "next_hop": "10.1.0.1", "as_numbers": [65001], "best": False},
        ),
        (
            "bgp_prefix(prefix.far.ipv4,community={'largeCommunity': '1:2:3'},state='missing')",
            "routes",
            {"table": "bgp", "prefix": "172.16.0.0/16", "present": False, "large_community": "1:2:3"},
        ),
        (
            "ospf_prefix(pfx=nodes.dut.loopback.ipv4.replace('0.1','0.7'),cost=20,rt='N E2')",
            "routes",
            {"table": "ospf", "prefix": "10.0.0.7/32", "cost": 20, "type": "N E2"},
        ),
        (
            "isis_prefix('10.0.0.1/32',level='1',cost=7)",
            "routes",
            {"table": "isis", "prefix": "10.0.0.1/32", "level": "1", "cost": 7},
        ),
        (
            "rt_prefix('10.0.0.1/32',proto='rip',metric=2)",
            "routes",
            {"table": "rib", "prefix": "10.0.0.1/32", "protocol": "rip", "cost": 2},
        ),
    ],
)
def test_a_function_of_netlabs_is_what_is_wanted(
    call: str, section: str, wanted: Mapping[str, Any], tmp_path: Path
) -> None:
    tests = read_tests(tmp_path, f'{{nodes: [x1], plugin: "{call}"}}', more="prefix: {far: {ipv4: 172.16.0.0/16}}\n")
    who = {"from" if section == "pings" else "on": ["x1"]}
    assert (tests.left, tests.wanted) == ([], {section: {"t1": {**who, **wanted}}})
    problems = Problems()
    document = parse_document(json.dumps({"validation": tests.wanted}), "experiment.yml", problems)
    assert isinstance(document, MappingValue)
    read = read_validation(Section(document, "", problems, None), NODES)
    problems.raise_if_any()
    assert len([*read.pings, *read.sessions, *read.routes]) == 1


def test_what_cannot_be_asked_is_told_by_line_and_name(tmp_path: Path) -> None:
    tests = read_tests(
        tmp_path,
        '{nodes: [x1], plugin: "lldp_neighbor(1)"}',
        "{nodes: [x1], show: bgp summary json, valid: peers}",
        '{nodes: [x1], plugin: "ospf_neighbor(nodes.x1.ospf.router_id)"}',
        "{nodes: [x9], plugin: \"ping('h1')\"}",
        "{nodes: [x1], level: warning, plugin: \"ping('h1')\"}",
        "{nodes: [x1], plugin: \"ping('h1',pkt_len=9)\"}",
        "{nodes: [x1], plugin: \"ping(__import__('os').system('x'))\"}",
        "{nodes: [x1], plugin: \"bgp_neighbor(node.bgp.neighbors,'nobody')\"}",
        "{nodes: [x1, h1], plugin: \"ping('dut')\"}",
        "{nodes: [x1], plugin: \"ping('r1-red')\"}",
        "{nodes: [x1], plugin: ping()}",
        "{nodes: [x1], plugin: \"bgp_neighbor('x','dut')\"}",
        "{nodes: [x1], plugin: ospf_neighbor(None)}",
        "{wait: 7}",
        "{nodes: [dut], config: shut}",
        "{nodes: [x1], plugin: \"ping('h1')\"}",
    )
    assert tests.left == [
        "2: t1 (lldp_neighbor(1))",
        "4: t3 (nodes.x1.ospf.router_id)",
        "5: t4 (nodes: x9)",
        "7: t6 (ping('h1', pkt_len=9): argument pkt_len)",
        "8: t7 (__import__('os').system('x'))",
        "9: t8 (bgp_neighbor(node.bgp.neighbors, 'nobody'): node x1 has no neighbour nobody in ipv4)",
        "11: t10 ('r1-red' is neither a node nor an address; valid here: dut, x1, h1)",
        "12: t11 (ping(): wrong arguments)",
        "13: t12 (bgp_neighbor('x', 'dut'): wrong arguments)",
        "14: t13 (must be an address, an interface, a router ID or a name, but is empty)",
        "16: t15 (the template shut for dut is not beside the lab; copy netlab's folder shut)",
        "17: t16 (it follows t15, which changes the lab)",
    ]
    assert tests.asked == ["t2", "t5", "t9"] and tests.wanted == {
        "answers": {"t2": {"on": ["x1"], "run": "vtysh -c 'show bgp summary json'", "holds": "peers"}},
        "pings": {
            "t5": {"from": ["x1"], "to": "h1", "answers": True, "severity": "warning"},
            "t9": {"from": ["x1", "h1"], "to": "dut", "answers": True},
        },
    }


def test_names_that_come_to_one_stay_apart(tmp_path: Path) -> None:
    tests = read_tests(tmp_path, *("{nodes: [x1], plugin: default6()}",) * 2)
    assert list(tests.wanted["routes"]) == ["t1", "t2"]
    text = (tmp_path / "topology.yml").read_text().replace("t1:", "a.b:").replace("t2:", "'a b':")
    (tmp_path / "topology.yml").write_text(text)
    assert list(netlab_tests(tmp_path, NODES).wanted["routes"]) == ["a-b", "a-b-again"]


def test_the_longest_wait_counts(tmp_path: Path) -> None:
    known = "defaults.const: {validate.stp: 90}\n"
    assert read_tests(tmp_path, "{wait: 7}", "{wait: stp}", more=known).wait_s == 90
    assert read_tests(tmp_path, "{wait: 7}", "{wait: ospfv2_adj_lan}").wait_s == 50


def wanted(**sections: Any) -> WrittenValidation:
    problems = Problems()
    document = parse_document(json.dumps({"validation": sections}), "experiment.yml", problems)
    assert isinstance(document, MappingValue)
    found = read_validation(Section(document, "", problems, None), NODES)
    problems.raise_if_any()
    return found


def judged(directory: Path, wants: WrittenValidation, answers: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return place, measurement and verdict of each finding, by what daemons of x1 (bgpd, isisd) answered."""
    (directory / "collect").mkdir(exist_ok=True)
    daemons = [SimpleNamespace(name=name) for name in ("bgpd", "ospfd", "isisd")]
    nodes = [
        SimpleNamespace(name=name, setup=SimpleNamespace(daemons=daemons if name == "x1" else ())) for name in NODES
    ]
    plan = SimpleNamespace(nodes=nodes, node=lambda name: next(node for node in nodes if node.name == name))
    bench = Bench(cast("Plan", plan), cast("Plan", plan), wants)
    for collector in (*session_collectors(bench), *route_collectors(bench)):
        command = " ".join(collector.argv).removeprefix("vtysh -c ")
        if command in answers:
            path = directory / "collect" / f"{collector.name}@{collector.node}"
            path.write_text(json.dumps(answers[command]))
    results = cast("Results", SimpleNamespace(directory=directory))
    found = [*judge_sessions(bench, results), *judge_routes(bench, results)]
    return [(one.where, one.measured, one.verdict) for one in found]


BGP = {
    "default": {
        "ipv4Unicast": {"peers": {"10.1.0.1": {"state": "Established"}, "10.1.0.5": {"state": "Active"}}},
        "ipv6Unicast": {"peers": {"10.1.0.1": {"state": "Idle"}}},
    },
    "red": {"ipv4Unicast": {"peers": {"10.1.0.9": {"state": "Established"}}}},
}
ISIS = {
    "areas": [
        {
            "circuits": [
                {"circuit": 0},
                {
                    "adj": "dut",
                    "interface": {
                        "name": "eth1",
                        "state": "Up",
                        "circuit-type": "L1",
                        "area-address": {"isonet": "49.1"},
                    },
                },
            ]
        }
    ]
}
NEGOTIATED = {"default": {"ipv4Unicast": {"peers": {"10.1.0.1": {"state": "Established"}}}}}
SESSIONS = {
    "show bgp vrf all summary json": BGP,
    "show bgp vrf all summary established json": NEGOTIATED,
    "show isis neighbor detail json": ISIS,
}


def test_sessions_are_held_against_what_is_wanted(tmp_path: Path) -> None:
    def session(**more: Any) -> dict[str, Any]:
        return {"on": "x1", "protocol": "bgp", "neighbor": "10.1.0.1", **more}

    wants = wanted(
        sessions={
            "up": session(family="ipv4"),
            "one of two is down": session(),
            "other VRF": session(vrf="red"),
            "no such": session(vrf="red", state="absent"),
            "exchanged": session(family="ipv4", negotiated=True),
            "not exchanged": session(family="ipv6", negotiated=True, state="absent"),
            "either": session(family="ipv6", state=["Idle", "Active"]),
            "level": session(protocol="isis", neighbor="dut", level="1", area="49.1"),
            "wrong level": session(protocol="isis", neighbor="dut", level="1-2"),
            "silent": session(protocol="ospf", neighbor="10.0.0.1"),
            "no daemon": session(protocol="ospf6", neighbor="10.0.0.1"),
            "only warns": session(vrf="red", severity="warning"),
        }
    )
    assert judged(tmp_path, wants, SESSIONS) == [
        ("x1, bgp to 10.1.0.1, family ipv4", "Established", "pass"),
        ("x1, bgp to 10.1.0.1", "Established, Idle", "fail"),
        ("x1, bgp to 10.1.0.1, vrf red", "absent", "fail"),
        ("x1, bgp to 10.1.0.1, vrf red", "absent", "pass"),
        ("x1, bgp to 10.1.0.1, family ipv4", "Established", "pass"),
        ("x1, bgp to 10.1.0.1, family ipv6", "absent", "pass"),
        ("x1, bgp to 10.1.0.1, family ipv6", "Idle", "pass"),
        ("x1, isis to dut, level 1, area 49.1", "Up", "pass"),
        ("x1, isis to dut, level 1-2", "absent", "fail"),
        ("x1, ospf to 10.0.0.1", "the daemon gave no answer", "not measured"),
        ("x1, ospf6 to 10.0.0.1", "no ospf6d runs there", "fail"),
        ("x1, bgp to 10.1.0.1, vrf red", "absent", "warning"),
        ("x1, bgp", "10.1.0.5 (ipv4Unicast) Active", "not measured"),
        ("x1, ospf", "the daemon gave no answer", "not measured"),
    ]
    unnamed = [found for found in judged(tmp_path, wanted(), SESSIONS) if "bgp" in found[0]]
    assert [(measured, verdict) for _, measured, verdict in unnamed] == [("Active", "fail"), ("Idle", "fail")]


PATHS = {
    "prefix": "10.9.0.0/16",
    "paths": [
        {
            "aspath": {"string": "65001 65002", "segments": [{"list": [65001, 65002]}]},
            "nexthops": [{"ip": "10.1.0.1"}],
            "bestpath": {"overall": True},
            "peer": {"routerId": "10.0.0.1"},
            "community": {"string": "65000:1 65000:2"},
            "locPrf": 100,
            "clusterList": {"list": ["10.0.0.8"]},
        },
        {"aspath": {"string": "65003", "segments": []}, "nexthops": [], "metric": 5},
    ],
}
TABLES = {
    "show bgp ipv4 unicast 10.9.0.0/16 json": PATHS,
    "show bgp vrf red ipv4 unicast 10.9.0.0/16 json": {},
    "show ip ospf vrf red route json": {"red": {"10.9.0.0/16": {"routeType": "N E2", "cost": 10, "type2cost": 20}}},
    "show ip ospf route json": {"10.9.0.0/16": {"routeType": "N", "cost": 10}},
    "show ipv6 ospf6 route detail json": {"routes": {"2001:db8::/64": [{"pathType": "Inter-Area", "metricCost": 3}]}},
    "show isis route level-1 json": [{"level-1": {"ipv4": [{"prefix": "10.9.0.0/16", "metric": 7}]}}],
    "show ip route json": {"10.9.0.0/16": [{"protocol": "bgp", "metric": 0}]},
    "ip -j -6 route show": [{"dst": "default"}],
}


@pytest.mark.parametrize(
    ("route", "measured"),
    [
        ({"as_path": "65001 65002", "as_numbers": [65002], "best": True, "peer": "10.0.0.1"}, "there"),
        ({"next_hop": "10.1.0.1", "community": "65000:2", "local_preference": 100, "cluster": "10.0.0.8"}, "there"),
        ({"med": 5, "best": False}, "there"),
        ({"med": 5, "as_path": "65001 65002"}, "present, but different"),
        ({"large_community": "65000:1"}, "present, but different"),
        ({"vrf": "red"}, "absent"),
        ({"table": "ospf", "vrf": "red", "cost": 20, "type": "N E2"}, "there"),
        ({"table": "ospf", "cost": 20}, "present, but different"),
        ({"table": "ospf6", "prefix": "2001:db8::/64", "cost": 3, "type": "Inter-Area"}, "there"),
        ({"table": "isis", "level": "1", "cost": 7}, "there"),
        ({"table": "isis"}, "the daemon gave no answer"),
        ({"table": "rib", "protocol": "bgp"}, "there"),
        ({"table": "rib", "protocol": "rip"}, "present, but different"),
        ({"table": "kernel", "prefix": "::/0"}, "there"),
    ],
)
def test_a_route_is_looked_for_with_all_its_attributes(route: Mapping[str, Any], measured: str, tmp_path: Path) -> None:
    values = {"on": "x1", "table": "bgp", "prefix": "10.9.0.0/16", **route}
    for present in (True, False):
        found = judged(tmp_path, wanted(routes={"r": {**values, "present": present}}), TABLES)[-1]
        unasked = measured.startswith("the daemon")
        holds = (measured == "there") == present
        assert found[1:] == (measured, "not measured" if unasked else "pass" if holds else "fail")


def test_what_is_wrong_in_what_is_wanted_is_told() -> None:
    with pytest.raises(LabError) as raised:
        wanted(
            pings={"p": {"from": "x1", "to": "h1", "source": "here"}},
            sessions={
                "s": {"on": ["x1", "x3"], "protocol": "ospf", "neighbor": "10.0.0.1", "family": "ipv4"},
                "t": {"on": "x1", "protocol": "rip"},
            },
            routes={
                "r": {"on": "x1", "table": "ospf", "prefix": "2001:db8::/64", "med": 5},
                "q": {"on": "x1", "table": "bgp", "prefix": "10.0.0", "as_numbers": ["x", "9" * 5000]},
            },
        )
    text = str(raised.value)
    for message in (
        "validation.pings.p.source: 'here' is not an address; write one such as 10.0.0.1",
        "validation.sessions.s.on[1]: 'x3' is not a node; valid here: dut, x1, h1",
        "validation.sessions.s.family: a session of ospf has none; only bgp",
        "validation.sessions.t.neighbor: missing",
        "validation.sessions.t.protocol: 'rip' is unknown",
        "validation.routes.r.med: routes of table ospf have none; only of bgp",
        "validation.routes.r.prefix: table ospf has no such prefixes; table ospf6 has IPv6's",
        "validation.routes.q.prefix: '10.0.0' is not a prefix; write one such as 10.1.0.0/24",
        "validation.routes.q.as_numbers[0]: 'x' is not an AS number; write one such as 65001",
        f"validation.routes.q.as_numbers[1]: {shown('9' * 5000)} is not an AS number; write one such as 65001",
    ):
        assert message in text, text


def test_what_is_wanted_of_labs_as_configured_is_not_asked_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "reach_stage", lambda bench: Stage("reach", bench.plan, lambda _: []))
    wants = wanted(routes={"r": {"on": "x1", "table": "kernel", "prefix": "::/0"}})
    bench = cast("Bench", SimpleNamespace(plan=SimpleNamespace(configured=None), wanted=wants))
    (finding,) = validation.first_stage(bench).judge(cast("Results", None))
    assert (finding.where, finding.verdict) == ("validation.routes", "not measured")
