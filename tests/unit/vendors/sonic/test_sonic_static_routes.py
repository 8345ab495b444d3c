"""STATIC_ROUTE of a config_db.json: what becomes of it in a lab, in the files of the machine, and in an export."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sonic_vs_labs import configs_of, plan_of, write_lab

from fabriclab.compile import compile_node
from fabriclab.compile.convergence import compile_ready, routes_without
from fabriclab.compile.events import compile_events
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.model import Event
from fabriclab.formats.plan.node import StaticRoute
from fabriclab.lab import LabError
from fabriclab.vendors.sonic.export import export_switch
from fabriclab.vendors.sonic.read.read import parse_config_db

Tables = dict[str, Any]


@cache
def stock(protocol: str) -> str:
    """Return the configurations of two leaves and a spine."""
    with TemporaryDirectory() as scratch:
        return json.dumps(configs_of(Path(scratch) / "stock", protocol))


def lab_of(
    directory: Path, routes: Tables, protocol: str = "bgp-numbered", switch: str = "leaf1", **tables: Tables
) -> Plan:
    """Return the plan of two leaves and a spine of which one has these static routes alone."""
    directory.mkdir(exist_ok=True)
    configs = json.loads(stock(protocol))
    for config in configs.values():
        config.pop("STATIC_ROUTE", None)
    configs[switch] |= {"STATIC_ROUTE": routes, **tables}
    return plan_of(write_lab(directory / "lab", configs))


def peer(plan: Plan, switch: str, port: int) -> str:
    """Return the address at the other end of a switch's port."""
    own = plan.node(switch).ports[port]
    return str(plan.peer_of(own).address).partition("/")[0]


def spine_address(directory: Path) -> str:
    """Return the address of the spine towards leaf1."""
    return peer(lab_of(directory / "first", {}), "leaf1", 1)


def lines(plan: Plan, node: str) -> list[str]:
    return [line for line in compile_node(plan.node(node), plan).ip.splitlines() if line.startswith("route ")]


def test_a_static_route_is_in_the_plan_and_in_the_kernel(tmp_path: Path) -> None:
    gateway = spine_address(tmp_path)
    plan = lab_of(
        tmp_path,
        {"default|192.0.2.0/24": {"nexthop": gateway, "ifname": "Ethernet4"}, "198.51.100.0/24": {"nexthop": gateway}},
    )
    hops = ((gateway, "Ethernet4"),)
    assert plan.node("leaf1").static_routes == (
        StaticRoute(destination="192.0.2.0/24", next_hops=hops, distance=1),
        StaticRoute(destination="198.51.100.0/24", next_hops=hops, distance=1),
    )
    assert lines(plan, "leaf1") == [
        f"route add 192.0.2.0/24 metric 16777216 via {gateway} dev Ethernet4",
        f"route add 198.51.100.0/24 metric 16777216 via {gateway} dev Ethernet4",
    ]
    assert plan.warnings == lab_of(tmp_path / "without", {}).warnings


def test_without_static_routes_a_plan_is_what_it_was(tmp_path: Path) -> None:
    assert "static_routes" not in lab_of(tmp_path, {}).model_dump_json()


def test_several_next_hops_and_distances(tmp_path: Path) -> None:
    first = lab_of(tmp_path / "first", {}, switch="spine1")
    one, two = peer(first, "spine1", 0), peer(first, "spine1", 1)
    routes = {
        "default|192.0.2.0/24": {"nexthop": f"{one},{two}", "ifname": "Ethernet0,Ethernet4", "distance": "0,0"},
        "default|198.51.100.0/24": {"nexthop": f"{one},{two}", "ifname": ",", "distance": "1,200"},
        "default|203.0.113.0/24": {"blackhole": "true", "distance": "250"},
        "default|0.0.0.0/0": {"nexthop": "0.0.0.0", "ifname": "Ethernet4"},
    }
    plan = lab_of(tmp_path, routes, switch="spine1")
    assert lines(plan, "spine1") == [
        f"route add 192.0.2.0/24 metric 16777216 nexthop via {one} dev Ethernet0 nexthop via {two} dev Ethernet4",
        f"route add 198.51.100.0/24 metric 16777216 via {one} dev Ethernet0",
        f"route add 198.51.100.0/24 metric {200 << 24} via {two} dev Ethernet4",
        f"route add blackhole 203.0.113.0/24 metric {250 << 24}",
        "route add 0.0.0.0/0 metric 16777216 dev Ethernet4",
    ]
    # Of two routes to one prefix, and of what drops, the kernel's table does not tell which is taken.
    expected = {route.destination: len(route.next_hops) for route in plan.node("spine1").routes}
    assert {
        prefix: expected.get(prefix) for prefix in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/0")
    } == {
        "192.0.2.0/24": 2,
        "198.51.100.0/24": None,
        "203.0.113.0/24": None,
        "0.0.0.0/0": 1,
    }


@pytest.mark.parametrize(("distance", "expected"), [("1", ["Ethernet0"]), ("200", None)])
def test_a_lower_distance_wins_over_bgp(tmp_path: Path, distance: str, expected: list[str] | None) -> None:
    """leaf1 leads what BGP knows behind its spine to its host."""
    first = lab_of(tmp_path / "first", {})
    far = f"{first.node('leaf2').loopback}/32"  # bgpcfgd announces no networks of routed ports
    plan = lab_of(tmp_path, {f"default|{far}": {"nexthop": peer(first, "leaf1", 0), "distance": distance}})
    ready = compile_ready(plan)
    assert ready is not None
    (leaf,) = (node for node in ready["nodes"] if node["node"] == "leaf1")
    found = {route["prefix"]: route["interfaces"] for route in leaf["routes"]}
    assert found.get(far) == expected
    assert len(found) == len(first.node("leaf1").routes) - (expected is None)


def test_an_advertised_route_is_known_to_the_others(tmp_path: Path) -> None:
    host = peer(lab_of(tmp_path / "first", {}), "leaf1", 0)
    plan = lab_of(tmp_path, {"default|192.0.2.0/24": {"nexthop": host, "advertise": "true"}})
    assert "  network 192.0.2.0/24" in compile_node(plan.node("leaf1"), plan).root["etc/frr/bgpd.conf"].splitlines()
    for switch, interface in (("leaf1", "Ethernet0"), ("spine1", "Ethernet0"), ("leaf2", "Ethernet4")):
        (route,) = (route for route in plan.node(switch).routes if route.destination == "192.0.2.0/24")
        assert [hop for _, hop in route.next_hops] == [interface], switch
    # Its link down, it is withdrawn.
    without = routes_without(plan, ["leaf1:Ethernet0", "h1:eth1"])
    assert all(route.destination != "192.0.2.0/24" for routes in without.values() for route in routes)


def test_in_a_lab_without_bgp_the_topology_fills_in_what_the_file_leaves(tmp_path: Path) -> None:
    bare = lab_of(tmp_path / "bare", {}, "static")
    (far,) = (
        route.destination
        for route in bare.node("leaf1").routes
        if bare.node("leaf2").ports[0].address in _hosts(route.destination)
    )
    host = peer(bare, "leaf1", 0)
    plan = lab_of(tmp_path, {f"default|{far}": {"nexthop": host}}, "static")
    assert plan.bgp is None
    assert {route.destination for route in plan.node("leaf1").routes} == {
        route.destination for route in bare.node("leaf1").routes
    }
    assert f"route add {far} metric 16777216 via {host} dev Ethernet0" in lines(plan, "leaf1")
    assert len(lines(plan, "leaf1")) == len(lines(bare, "leaf1"))
    everything = lab_of(tmp_path / "default", {"default|0.0.0.0/0": {"nexthop": host}}, "static")
    assert lines(everything, "leaf1") == [f"route add 0.0.0.0/0 metric 16777216 via {host} dev Ethernet0"]


def _hosts(destination: str) -> list[str]:
    """Return the addresses of a network with its prefix length, or of the networks of /31 in it."""
    network = ip_network(destination)
    return [f"{address}/{length}" for address in network for length in (network.prefixlen, 31)]


def test_a_link_that_comes_back_has_its_static_routes_again(tmp_path: Path) -> None:
    """The kernel forgets them when the interface goes down, and zebra, which has only heard of them,
    does not bring them back."""
    gateway = spine_address(tmp_path)
    plan = lab_of(tmp_path, {"192.0.2.0/24": {"nexthop": gateway}, "203.0.113.0/24": {"blackhole": "true"}})
    ends = (("leaf1:Ethernet4", "spine1:Ethernet0"),)
    down = Event(
        name="down", at_ns=10**6, links=ends, node=None, action="down", rate_bps=None, delay_ns=None, loss_ppm=None
    )
    up = down.model_copy(update={"name": "up", "at_ns": 2 * 10**6, "action": "up"})
    text = json.dumps(compile_events(plan.model_copy(update={"events": (down, up)})))
    assert text.count(f"route replace 192.0.2.0/24 metric 16777216 via {gateway} dev Ethernet4") == 1
    assert "203.0.113.0/24" not in text


LEFT_OUT = [
    ({"Vrf1|192.0.2.0/24": {"nexthop": "10.0.0.1"}}, "STATIC_ROUTE|Vrf1|192.0.2.0/24: in VRF 'Vrf1', left out"),
    ({"default|2001:db8::/32": {"nexthop": "fe80::1"}}, "STATIC_ROUTE|default|2001:db8::/32: IPv6, left out"),
    (
        {"192.0.2.0/24": {"nexthop": "203.0.113.9"}},
        "STATIC_ROUTE|192.0.2.0/24|nexthop: 203.0.113.9 is not on a link",
    ),
    (
        {"192.0.2.0/24": {"nexthop": "2001:db8::1"}},
        "STATIC_ROUTE|192.0.2.0/24|nexthop: '2001:db8::1': that next hop was left out",
    ),
    (
        {"192.0.2.0/24": {"ifname": "Ethernet8"}},
        "STATIC_ROUTE|192.0.2.0/24|ifname: 'Ethernet8' has no link or no address in the lab",
    ),
    ({"192.0.2.0/24": {"ifname": "Ethernet4", "bfd": "true"}}, "STATIC_ROUTE|192.0.2.0/24|bfd: not emulated"),
    (
        {"192.0.2.0/24": {"ifname": "Ethernet4", "nexthop-vrf": "Vrf2"}},
        "STATIC_ROUTE|192.0.2.0/24|nexthop-vrf: 'Vrf2': that next hop",
    ),
    ({"192.0.2.0/24": {"ifname": "Ethernet4", "distance": "255"}}, "STATIC_ROUTE|192.0.2.0/24|distance: 255"),
    (
        {"192.0.2.0/24": {"nexthop": "0.0.0.0"}},
        "STATIC_ROUTE|192.0.2.0/24|nexthop: a next hop without address and interface",
    ),
]


@pytest.mark.parametrize(("routes", "words"), LEFT_OUT, ids=[words for _, words in LEFT_OUT])
def test_what_a_lab_cannot_have_is_told_with_its_line(tmp_path: Path, routes: Tables, words: str) -> None:
    plan = lab_of(tmp_path, routes)
    warning = next((warning for warning in plan.warnings if words in warning), str(plan.warnings))
    text = (tmp_path / "lab" / "leaf1.json").read_text().splitlines()
    key = next(iter(routes))
    field = words.partition(": ")[0].removeprefix(f"STATIC_ROUTE|{key}").removeprefix("|")
    start = next(number for number, line in enumerate(text, 1) if f'"{key}"' in line)
    line = next(number for number, line in enumerate(text, 1) if number >= start and f'"{field or key}"' in line)
    # What only the links tell is told of the entry.
    assert words in warning and (f"leaf1.json:{line}: " in warning or f"leaf1.json:{start}: " in warning), warning


WRONG = [
    (
        {"192.0.2.0/24": {"nexthop": "10.0.0.1,10.0.0.3", "ifname": "Ethernet4"}},
        "ifname",
        "1 in this list, but 2 in nexthop",
    ),
    ({"192.0.2.0/33": {"nexthop": "10.0.0.1"}}, "", "'192.0.2.0/33' is not a network"),
    ({"192.0.2.0/24": {"nexthop": "10.0.0"}}, "nexthop", "'10.0.0' is not an IPv4 address"),
    (
        {"192.0.2.0/24": {"ifname": "Ethernet4", "distance": "256"}},
        "distance",
        "'256': must be a whole number from 0 to 255",
    ),
    ({"192.0.2.0/24": {"ifname": "Ethernet4", "distance": "9" * 5000}}, "distance", "a whole number from 0 to 255"),
    ({"192.0.2.0/24": {"blackhole": "yes"}}, "blackhole", "'yes' is unknown; write true or false"),
    ({"192.0.2.0/24": {}}, "", "no next hop; write nexthop, ifname, or blackhole true"),
]


@pytest.mark.parametrize(("routes", "field", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_what_is_wrong_is_an_error_with_its_place(routes: Tables, field: str, words: str) -> None:
    data = json.dumps({"PORT": {"Ethernet4": {"speed": "1000"}}, "STATIC_ROUTE": routes}, indent=1).encode()
    with pytest.raises(LabError) as caught:
        parse_config_db(data, "leaf1.json")
    (problem,) = caught.value.mistakes
    assert problem.key == "|".join(["STATIC_ROUTE", *routes, *([field] if field else [])]) and words in problem.message


def test_one_file_alone_says_what_becomes_of_its_routes(tmp_path: Path) -> None:
    """As a user runs it: fabriclab sonic import."""
    configs = json.loads(stock("bgp-numbered"))
    configs["leaf1"]["STATIC_ROUTE"] = {"default|192.0.2.0/24": {"blackhole": "true"}}
    (tmp_path / "leaf1.json").write_text(json.dumps(configs["leaf1"], indent=1))
    command = [sys.executable, "-m", "fabriclab", "sonic", "import", "leaf1.json", "-o", "lab"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "STATIC_ROUTE: 1 route(s) left out" in " ".join((done.stdout + done.stderr).split())


@st.composite
def tables_of_routes(draw: st.DrawFn) -> Tables:
    """Draw STATIC_ROUTE of leaf1, with HOST and SPINE for the addresses of its neighbours."""
    prefixes = draw(st.lists(st.integers(0, 30), unique=True, max_size=4))
    found: Tables = {}
    for number in prefixes:
        count = draw(st.integers(1, 3))
        hops = draw(
            st.lists(st.sampled_from(["host", "spine", "link", "drop"]), min_size=count, max_size=count, unique=True)
        )
        words = {
            "host": ("HOST", "Ethernet0"),
            "spine": ("SPINE", ""),
            "link": ("0.0.0.0", "Ethernet4"),
            "drop": ("0.0.0.0", ""),
        }
        fields = {
            "nexthop": ",".join(words[hop][0] for hop in hops),
            "ifname": ",".join(words[hop][1] for hop in hops),
            "blackhole": ",".join("true" if hop == "drop" else "false" for hop in hops),
            "distance": ",".join(str(draw(st.sampled_from([0, 1, 20, 200]))) for _ in hops),
        }
        if draw(st.booleans()):
            fields["advertise"] = ",".join("true" for _ in hops)
        found[f"default|{number}.0.0.0/{draw(st.integers(8, 24))}" if number else "default|0.0.0.0/0"] = fields
    return {key: fields for key, fields in found.items() if not key.startswith("default|10.")}


@settings(max_examples=12, deadline=None)
@given(drawn=tables_of_routes(), protocol=st.sampled_from(["bgp-numbered", "bgp-unnumbered", "static"]))
def test_an_import_of_an_export_has_the_same_routes(
    tmp_path_factory: pytest.TempPathFactory, drawn: Tables, protocol: str
) -> None:
    directory = tmp_path_factory.mktemp("round")
    configs = json.loads(stock(protocol))
    bare = plan_of(write_lab(directory / "bare", configs))
    addresses = {"HOST": peer(bare, "leaf1", 0), "SPINE": peer(bare, "leaf1", 1)}
    text = json.dumps(drawn)
    for word, address in addresses.items():
        text = text.replace(word, address)
    configs["leaf1"]["STATIC_ROUTE"] = json.loads(text)
    before = plan_of(write_lab(directory / "lab", configs))
    again = {name: json.loads(export_switch(before.node(name), before).text) for name in configs}
    after = plan_of(write_lab(directory / "again", again))
    for name in configs:
        was, now = before.node(name), after.node(name)
        # What the topology filled in is the file's own then.
        assert {(one.destination, one.next_hops) for one in now.routes} == {
            (one.destination, one.next_hops) for one in was.routes
        }
        assert set(was.static_routes) <= set(now.static_routes)
        assert len(lines(before, name)) == len(lines(after, name))
