"""Every topology that fabriclab ships or writes names the images that `--engine containerlab` needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT
from shared_labs import two_tiers
from shipped_labs import shipped_plan

from fabriclab.engine.containers.topology import read_containers
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

LABS = sorted(path.parent for path in (ROOT / "labs").glob("*/topology.clab.yml"))


def images_of(topology: Path) -> dict[str, str]:
    """Return the image of each node. Raises EngineError for a node that has none."""
    return {container.node: container.image for container in read_containers(topology)}


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_every_lab_has_images_and_switches_that_speak_bgp_have_frr(lab: Path) -> None:
    images = images_of(lab / "topology.clab.yml")
    plan = shipped_plan(lab.name)
    for node in plan.nodes:
        assert images[node.name]
        if plan.bgp is not None and node.role == "switch":
            assert images[node.name] != "fabriclab/host:latest", f"{node.name} speaks BGP"


def test_an_imported_switch_has_images(tmp_path: Path) -> None:
    config = ROOT / "labs" / "sonic-qos" / "leaf.json"
    argv = [sys.executable, "-m", "fabriclab", "sonic", "import", str(config), "-o", str(tmp_path / "lab")]
    subprocess.run(argv, check=True, capture_output=True)
    images = images_of(tmp_path / "lab" / "topology.clab.yml")
    assert set(images.values()) == {"fabriclab/host:latest", "fabriclab/switch:latest"}
    plan = resolve_plan(parse_lab(tmp_path / "lab"), {}, None)
    assert all((images[node.name] == "fabriclab/switch:latest") == (node.role == "switch") for node in plan.nodes)


def test_a_generated_topology_has_images(tmp_path: Path) -> None:
    (tmp_path / "topology.clab.yml").write_text(two_tiers())
    assert set(images_of(tmp_path / "topology.clab.yml").values()) == {
        "fabriclab/host:latest",
        "fabriclab/switch:latest",
    }
