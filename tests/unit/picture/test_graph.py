"""The drawing of topologies: tiers, places that do not overlap, well-formed SVG with everything in it."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from generated_fabrics import make_dumbbell, make_fat_tree, make_leaf_spine, make_star, read
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_plans import star as star_plan
from typer.testing import CliRunner

from fabriclab.api.drawing import network_of_topology
from fabriclab.cli.app import app
from fabriclab.picture import Edge, Network, Vertex, network_svg
from fabriclab.picture.layout import Box, Layout, lay_out
from fabriclab.picture.network import network_of_plan
from fabriclab.topologies import Fabric

SVG = "{http://www.w3.org/2000/svg}"
FABRICS = {
    "star of 49": make_star(49),
    "star of 3": make_star(3),
    "dumbbell": make_dumbbell(8, 1),
    "leaf-spine 2x4x16": make_leaf_spine(2, 4, 16),
    "leaf-spine 4x2x2": make_leaf_spine(4, 2, 2),
    "fat-tree k=4": make_fat_tree(4),
    "fat-tree k=8": make_fat_tree(8),
}


def network_of(fabric: Fabric) -> Network:
    return network_of_topology(read(fabric))


def overlap(a: Box, b: Box) -> bool:
    return abs(a.x - b.x) < (a.width + b.width) / 2 and abs(a.y - b.y) < (a.height + b.height) / 2


def check_places(network: Network, layout: Layout) -> None:
    """Every node has its place inside the drawing, and none lies on another."""
    assert set(layout.boxes) == {vertex.name for vertex in network.vertices}
    for box in layout.boxes.values():
        assert box.width / 2 <= box.x <= layout.width - box.width / 2
        assert box.bottom <= layout.bottom
    rows: dict[float, list[Box]] = {}
    for box in layout.boxes.values():
        rows.setdefault(box.y, []).append(box)
    for row in rows.values():
        ordered = sorted(row, key=lambda box: box.x)
        assert not any(overlap(a, b) for a, b in itertools.pairwise(ordered))
    heights = sorted(rows)
    assert all(not overlap(a, b) for high, low in itertools.pairwise(heights) for a in rows[high] for b in rows[low])


@pytest.mark.parametrize("name", FABRICS)
def test_places(name: str) -> None:
    network = network_of(FABRICS[name])
    layout = lay_out(network, 60)
    check_places(network, layout)
    for edge in network.edges:
        a, b = edge.nodes
        if network.tiers[a] != network.tiers[b]:
            assert (layout.boxes[a].y < layout.boxes[b].y) == (network.tiers[a] < network.tiers[b])


@pytest.mark.parametrize("name", FABRICS)
def test_everything_is_in_the_picture(name: str) -> None:
    network = network_of(FABRICS[name])
    text = network_svg(network)
    assert text == network_svg(network)
    root = ET.fromstring(text)
    words = {element.text for element in root.iter(f"{SVG}text")}
    assert {vertex.name for vertex in network.vertices} <= words
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert all(any(title and title.startswith(f"{edge.a} to {edge.b}\n") for title in titles) for edge in network.edges)


def test_hosts_stand_in_pods_and_racks_where_they_are_many() -> None:
    large = lay_out(network_of(FABRICS["fat-tree k=8"]), 60)
    assert len(large.panels) == 8
    assert len(large.racked) == 128
    small = lay_out(network_of(FABRICS["fat-tree k=4"]), 60)
    assert len(small.panels) == 4
    assert not small.racked
    assert not lay_out(network_of(FABRICS["leaf-spine 4x2x2"]), 60).panels


def legend(network: Network) -> list[str]:
    """Return the texts below the drawing, those with counts in brackets."""
    root = ET.fromstring(network_svg(network))
    return [element.text for element in root.iter(f"{SVG}text") if element.text and element.text.endswith(")")]


def test_legend() -> None:
    assert legend(network_of(make_leaf_spine(2, 4, 16, uplink_bps=10**10))) == [
        *("spine (2)", "leaf (4)", "host (64)", "1 Gbps (64)", "10 Gbps (8)"),
    ]
    assert legend(network_of(FABRICS["fat-tree k=4"]))[:3] == ["core (4)", "aggregation (8)", "edge (8)"]
    assert legend(network_of(FABRICS["dumbbell"])) == ["switch (2)", "host (9)", "100 Mbps (1)", "1 Gbps (9)"]


def test_a_faster_link_is_a_wider_line() -> None:
    root = ET.fromstring(network_svg(network_of(make_leaf_spine(1, 2, 1, uplink_bps=10**11))))
    widths = {}
    for path in root.iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None and title.text is not None:
            widths[title.text.splitlines()[0]] = float(path.get("stroke-width", "0"))
    assert widths["leaf1:eth2 to spine1:eth1"] > widths["h1:eth1 to leaf1:eth1"]


def edge(a: str, b: str, rate_bps: int | None = 10**9) -> Edge:
    return Edge(a, b, (rate_bps, rate_bps), (1000, 1000))


def switches(*names: str, hosts: tuple[str, ...] = ()) -> tuple[Vertex, ...]:
    return (*(Vertex(name, False) for name in names), *(Vertex(name, True) for name in hosts))


def test_tiers_without_labels_come_from_the_distance_to_hosts() -> None:
    fabric = make_fat_tree(4)
    with_labels = network_of(fabric)
    bare = Network(
        "bare", tuple(Vertex(vertex.name, vertex.is_host) for vertex in with_labels.vertices), with_labels.edges
    )
    assert bare.tiers == with_labels.tiers


def test_a_label_has_the_last_word() -> None:
    vertices = (Vertex("a", False, tier=1), Vertex("b", False, tier=3), Vertex("h", True))
    network = Network("n", vertices, (edge("a:eth1", "b:eth1"), edge("b:eth2", "h:eth1"), edge("a:eth2", "h:eth2")))
    assert network.tiers == {"a": 1, "b": 2, "h": 3}


def test_tiers_have_their_usual_names_only_in_a_clos_fabric() -> None:
    ring = (edge("a:eth1", "b:eth1"), edge("b:eth2", "c:eth1"), edge("c:eth2", "a:eth2"), edge("a:eth3", "h:eth1"))
    assert legend(Network("ring", switches("a", "b", "c", hosts=("h",)), ring))[:2] == [
        "switch, tier 1 (2)",
        "switch, tier 2 (1)",
    ]


def test_directions_that_differ_are_told_apart() -> None:
    network = Network("n", switches("s", hosts=("h",)), (Edge("h:eth1", "s:eth1", (10**9, 10**8), (1000, None)),))
    assert "h:eth1 to s:eth1\nfrom h:eth1: 1 Gbps, 1 us\nfrom s:eth1: 100 Mbps" in network_svg(network)
    assert legend(network)[-1] == "100 Mbps (1)"


def test_names_are_escaped() -> None:
    network = Network("<&\"'>", switches("s", hosts=("h",)), (edge("h:eth1", "s:eth1", None),))
    root = ET.fromstring(network_svg(network))
    assert "<&\"'>" in {element.text for element in root.iter(f"{SVG}text")}
    assert "rate not given (1)" in legend(network)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_network_can_be_drawn(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    hosts = data.draw(st.sets(st.integers(0, count - 1)))
    tiers = data.draw(st.dictionaries(st.integers(0, count - 1), st.integers(1, 9)))
    pairs = data.draw(
        st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] != pair[1])
        )
    )
    vertices = tuple(Vertex(f"n{number}", number in hosts, tiers.get(number)) for number in range(count))
    edges = tuple(edge(f"n{a}:eth{index}", f"n{b}:eth{index}") for index, (a, b) in enumerate(pairs))
    network = Network("any", vertices, edges)
    check_places(network, lay_out(network, 60))
    ET.fromstring(network_svg(network))


def test_a_plan_gives_the_same_picture_as_its_topology() -> None:
    plan = star_plan(3)
    network = network_of_plan(plan)
    assert {vertex.name for vertex in network.vertices if vertex.is_host} == {"h1", "h2", "h3"}
    assert len(network.edges) == 3
    assert network.tiers["s1"] == 1
    assert {each.rates_bps for each in network.edges} == {(10**9, 10**9)}


def test_the_command(tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    assert CliRunner().invoke(app, ["generate", "star", "--hosts", "3", "--out", str(lab)]).exit_code == 0
    out = tmp_path / "star.svg"
    assert CliRunner().invoke(app, ["graph", str(lab), "--out", str(out)]).exit_code == 0
    assert CliRunner().invoke(app, ["graph", str(lab), "--out", "-"]).output == out.read_text(encoding="utf-8")
    refused = CliRunner().invoke(app, ["graph", str(lab), "--out", str(out)])
    assert refused.exit_code == 2
    assert "star.svg already exists; --force replaces it" in refused.output
    missing = CliRunner().invoke(app, ["graph", str(tmp_path / "nothing")])
    assert missing.exit_code == 2
    assert "no such directory" in missing.output
