"""Generated topologies: their text (golden), that Containerlab's schema and our own reader take them,
what holds for all of them."""

from __future__ import annotations

import os
import shlex
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from generated_fabrics import GBPS, make_dumbbell, make_fat_tree, make_leaf_spine, make_star, read
from hypothesis import given, settings
from hypothesis import strategies as st
from json_schemas import Draft7Validator
from outside_files import containerlab_schema
from repository import ROOT
from ruamel.yaml import YAML
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.topologies import Fabric, FabricError, leaf_spine, parse_ratio, topology_text
from fabriclab.topologies.fabric import FABRIC_POOL, HOST_POOL, LOOPBACK_POOL

GOLDEN = ROOT / "tests" / "golden" / "topologies"


FABRICS = {
    "leaf-spine": make_leaf_spine(),
    "leaf-spine-many": make_leaf_spine(4, 8, 3, ratio=Fraction(3, 2)),
    "fat-tree": make_fat_tree(),
    "fat-tree-oversubscribed": make_fat_tree(2, 4, ratio=Fraction(4), core_bps=10 * GBPS),
    "star": make_star(),
    "dumbbell": make_dumbbell(),
}


@pytest.mark.parametrize("name", FABRICS)
def test_text(name: str) -> None:
    text, file = topology_text(FABRICS[name]), GOLDEN / f"{name}.clab.yml"
    if os.environ.get("FABRICLAB_ACCEPT"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_golden_file_has_its_fabric() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.clab.yml" for name in FABRICS}


def test_containerlabs_schema_takes_the_files() -> None:
    takes = Draft7Validator(containerlab_schema())
    documents = {name: YAML(typ="safe", pure=True).load(topology_text(fabric)) for name, fabric in FABRICS.items()}
    assert [(name, str(error)) for name, text in documents.items() for error in takes.iter_errors(text)] == []


@pytest.mark.parametrize("name", FABRICS)
def test_the_command_in_the_comment_makes_the_same_file(name: str) -> None:
    words = shlex.split(FABRICS[name].command)
    assert words[0] == "fabriclab"
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0
    assert result.output == topology_text(FABRICS[name])


def test_the_wrapped_command_can_be_pasted_into_a_shell() -> None:
    lines = topology_text(FABRICS["fat-tree"]).splitlines()[2:]
    pasted = "\n".join(line.removeprefix("#") for line in lines[: lines.index("#")])
    assert shlex.split(pasted.replace("\\\n", " ")) == shlex.split(FABRICS["fat-tree"].command)


def test_the_lab_leaf_spine_is_what_its_command_makes() -> None:
    text = (ROOT / "labs" / "leaf-spine" / "topology.clab.yml").read_text(encoding="utf-8")
    assert text == topology_text(make_leaf_spine(2, 4, 4))


def check_numbers(fabric: Fabric) -> None:
    """Addresses, loopbacks and ports: each once, each from its pool, a host's end of its link odd."""
    hosts = {node.name for node in fabric.hosts}
    ports = [port for link in fabric.links for port in link.ports]
    assert len(set(ports)) == len(ports)
    addresses = [address for link in fabric.links for address in link.addresses]
    loopbacks = [node.loopback for node in fabric.nodes if node.loopback is not None]
    assert len({address.ip for address in addresses} | set(loopbacks)) == len(addresses) + len(loopbacks)
    assert all(loopback in LOOPBACK_POOL for loopback in loopbacks)
    for link in fabric.links:
        lower, upper = link.addresses
        pool = HOST_POOL if link.ports[0].partition(":")[0] in hosts else FABRIC_POOL
        assert lower.network == upper.network
        assert lower.network.subnet_of(pool)
        assert int(lower.ip) % 2 == 1


def degrees(fabric: Fabric) -> Counter[str]:
    return Counter(port.partition(":")[0] for link in fabric.links for port in link.ports)


@given(spines=st.integers(1, 6), leaves=st.integers(1, 12), hosts=st.integers(1, 9))
@settings(max_examples=40, deadline=None)
@pytest.mark.slow("generates a hundred drawn fabrics and reads each")
def test_leaf_spine(spines: int, leaves: int, hosts: int) -> None:
    if leaves * hosts < 2:
        return
    fabric = make_leaf_spine(spines, leaves, hosts)
    check_numbers(fabric)
    topology = read(fabric)
    assert topology.hosts == tuple(f"h{number}" for number in range(1, leaves * hosts + 1))
    assert len(topology.switches) == spines + leaves
    ports = degrees(fabric)
    assert all(ports[f"spine{number}"] == leaves for number in range(1, spines + 1))
    assert all(ports[f"leaf{number}"] == hosts + spines for number in range(1, leaves + 1))
    asns = {node.name: node.asn for node in fabric.nodes if not node.is_host}
    assert len({asn for name, asn in asns.items() if name.startswith("spine")}) == 1
    assert len(set(asns.values())) == 1 + leaves


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_fat_tree_is_that_of_al_fares(k: int) -> None:
    fabric = make_fat_tree(k)
    check_numbers(fabric)
    topology = read(fabric)
    assert len(topology.hosts) == k**3 // 4
    assert len(topology.switches) == k * k + (k // 2) ** 2
    ports = degrees(fabric)
    assert {ports[switch] for switch in topology.switches} == {k}
    above = defaultdict(set)
    for link in fabric.links:
        lower, upper = (port.partition(":")[0] for port in link.ports)
        above[lower].add(upper)
    for core in (name for name in topology.switches if name.startswith("core")):
        pods = [name.removeprefix("agg").partition("-")[0] for name, uppers in above.items() if core in uppers]
        assert sorted(map(int, pods)) == list(range(1, k + 1))
    for pod in range(1, k + 1):
        reached = [above[f"agg{pod}-{number}"] for number in range(1, k // 2 + 1)]
        assert len(set.union(*reached)) == sum(map(len, reached)) == (k // 2) ** 2


def test_as_numbers_of_a_fat_tree_are_those_of_rfc_7938() -> None:
    asns = {node.name: node.asn for node in make_fat_tree(4).nodes if not node.is_host}
    by_kind = {stem: [asn for name, asn in asns.items() if name.startswith(stem)] for stem in ("core", "agg", "edge")}
    assert len(set(by_kind["core"])) == 1
    assert all(asns[f"agg{pod}-1"] == asns[f"agg{pod}-2"] for pod in range(1, 5))
    assert len(set(by_kind["agg"])) == 4
    assert len(set(by_kind["edge"])) == 8
    assert len(set(asns.values())) == 1 + 4 + 8


def test_labels_reach_the_reader() -> None:
    nodes = {node.name: node for node in read(make_leaf_spine()).nodes}
    leaf, host = nodes["leaf1"], nodes["h1"]
    assert leaf.asn is not None and leaf.asn.value == 64513
    assert leaf.loopback is not None and str(leaf.loopback.value) == "10.255.0.3"
    assert leaf.tier is not None and leaf.tier.value == 2
    assert (host.asn, host.loopback) == (None, None)
    assert host.tier is not None and host.tier.value == 3


def test_more_switches_than_short_private_as_numbers_take_long_ones() -> None:
    asns = [node.asn for node in make_leaf_spine(1, 1023, 1).nodes if node.asn is not None]
    assert (min(asns), max(asns)) == (4_200_000_000, 4_200_001_023)
    assert max(node.asn for node in make_leaf_spine(1, 1022, 1).nodes if node.asn is not None) == 65_534


def test_a_switch_with_many_hosts_has_a_larger_block() -> None:
    fabric = leaf_spine(
        "wide",
        spines=1,
        leaves=2,
        hosts_per_leaf=129,
        host_rate_bps=GBPS,
        uplink_rate_bps=GBPS,
        oversubscription=None,
        delay_ns=0,
        mtu_bytes=1500,
    )
    check_numbers(fabric)
    first = {
        link.ports[1].partition(":")[0]: link.addresses[0].network
        for link in reversed(fabric.links)
        if link.ports[0].startswith("h")
    }
    assert {name: str(network) for name, network in first.items()} == {"leaf1": "10.64.0.0/31", "leaf2": "10.64.2.0/31"}


@pytest.mark.parametrize(
    ("hosts", "spines", "uplink_bps", "ratio", "expected_bps"),
    [
        (4, 2, None, None, GBPS),
        (4, 2, 10 * GBPS, None, 10 * GBPS),
        (12, 4, None, Fraction(3), GBPS),
        (4, 2, None, Fraction(1, 2), 4 * GBPS),
        (4, 2, GBPS, Fraction(2), GBPS),
    ],
)
def test_uplink_rate(
    hosts: int, spines: int, uplink_bps: int | None, ratio: Fraction | None, expected_bps: int
) -> None:
    links = make_leaf_spine(spines, 2, hosts, uplink_bps, ratio).links
    assert {link.rate_bps for link in links if link.ports[0].startswith("leaf")} == {expected_bps}
    assert {link.rate_bps for link in links if link.ports[0].startswith("h")} == {GBPS}


def test_rates_of_a_fat_tree_follow_from_below() -> None:
    links = make_fat_tree(4, 4, ratio=Fraction(4)).links
    rates = {stem: {link.rate_bps for link in links if link.ports[0].startswith(stem)} for stem in ("h", "edge", "agg")}
    assert rates == {"h": {GBPS}, "edge": {GBPS // 2}, "agg": {GBPS // 2}}


@pytest.mark.parametrize(
    ("text", "ratio"), [("3:1", Fraction(3)), ("1.5:1", Fraction(3, 2)), (" 1:2 ", Fraction(1, 2))]
)
def test_ratio(text: str, ratio: Fraction) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize("text", ["3", "3:0", "0:1", "3/1", "-3:1", "", ":", "a:b", "1e3:1"])
def test_no_ratio(text: str) -> None:
    with pytest.raises(FabricError, match="is not a ratio; write downwards:upwards, such as 3:1"):
        parse_ratio(text)


WRONG = {
    "fat-tree --k 5": "--k 5: half of a switch's k ports lead up, so k must be even; write 4 or 6",
    "fat-tree --k 0": "--k 0: half of a switch's k ports lead up, so k must be even; write 2 or 4",
    "fat-tree --k -3": "--k -3: half of a switch's k ports lead up, so k must be even; write 2 or 4",
    "fat-tree --k 40": "--k 40: this makes 18000 nodes, but at most 4096 fit into one virtual machine",
    "fat-tree --hosts-per-edge 0": "--hosts-per-edge 0: a fabric needs some; write 1 or more",
    "fat-tree --core-rate 1": "--core-rate: '1' has no unit",
    "leaf-spine --hosts 0": "--hosts 0: a fabric needs some; write 1 or more",
    "leaf-spine --leaves 1 --hosts 1": "--leaves 1 --hosts 1: one host has no receiver; write 2 leaves or 2 hosts",
    "leaf-spine --oversubscription 3:1": "needs 666666666.667 bps each; choose another ratio, or give --uplink-rate",
    "leaf-spine --oversubscription 3:1 --uplink-rate 1Gbps": (
        "--oversubscription 3:1 contradicts --uplink-rate '1 Gbps': 4 x 1 Gbps to 2 x 1 Gbps = 2:1; "
        "remove one of the two"
    ),
    "leaf-spine --name my.lab": "--name 'my.lab' is not a lab name",
    "star --hosts 1": "--hosts 1: a fabric needs some; write 2 or more",
    "star "
    "--rate "
    "2Tbps": "Hosts, link h1:eth1 to s1:eth1: a rate of 2 Tbps is out of range; choose one from 10 kbps to 1.6 Tbps",
    "star --delay 2s": "a delay of 2 s is out of range; choose one up to 1 s",
    "star --delay 25": "--delay: '25' has no unit",
    "star --mtu 100": "--mtu 100 is out of range; write 576 to 65535 bytes of an IP packet",
    "dumbbell --left 0": "--left 0: a fabric needs some; write 1 or more",
    "dumbbell --bottleneck-rate 5ms": "--bottleneck-rate: '5ms' is a duration; write a rate, in",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_options(arguments: str) -> None:
    result = CliRunner().invoke(app, ["generate", *arguments.split()])
    assert result.exit_code == 2
    assert WRONG[arguments] in result.output
    assert len(result.output.splitlines()) == 1


def test_a_topology_is_not_replaced_unasked(tmp_path: Path) -> None:
    directory = tmp_path / "labs" / "mine"
    arguments = ["generate", "star", "--hosts", "3", "--out", str(directory)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    file = directory / "topology.clab.yml"
    file.write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2
    assert "topology.clab.yml already exists; --force replaces it" in refused.output
    assert file.read_text(encoding="utf-8") == "mine"
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0
    assert file.read_text(encoding="utf-8").startswith("# 3 hosts, 1 switch, 3 links. Made by:")
