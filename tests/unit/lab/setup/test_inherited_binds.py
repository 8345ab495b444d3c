"""Binds of /etc/frr that a node inherits: they say less than an image of a host, or than one link."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.api.look import plan

INHERITED = """name: inherited
topology:
  LAYER
  nodes:
    r1: {kind: linux, image: 'quay.io/frrouting/frr:10.2.1', exec: [ip addr add 10.0.1.1/24 dev eth1]}
    r2: {kind: linux, image: mine, group: g}
    pc1: {kind: linux, image: alpine, group: g, exec: [ip addr add 10.0.1.2/24 dev eth1]}
    pc2: {kind: linux, image: mine, group: g, exec: [ip addr add 10.0.2.2/24 dev eth1] LABEL}
  links:
    - endpoints: [pc1:eth1, r1:eth1]
    - endpoints: [pc2:eth1, r2:eth1]
    - endpoints: [r1:eth2, r2:eth2]
    - endpoints: [r1:eth3, pc1:eth2]
"""
BINDS = "binds: ['daemons:/etc/frr/daemons:ro']"
LAYERS = {
    "defaults": f"defaults: {{{BINDS}}}\n  groups: {{g: {{}}}}",
    "kind": f"kinds: {{linux: {{{BINDS}}}}}\n  groups: {{g: {{}}}}",
    "group": f"groups: {{g: {{{BINDS}}}}}",
}


@pytest.mark.parametrize("layer", LAYERS)
def test_an_inherited_bind_makes_no_router_of_a_host(tmp_path: Path, layer: str) -> None:
    """Before: everybody ran FRR, and nobody was a host."""
    (tmp_path / "daemons").write_text("bgpd=yes\n")
    file = tmp_path / "i.clab.yml"
    file.write_text(INHERITED.replace("LAYER", LAYERS[layer]).replace(" LABEL", ""))
    made = plan(file)
    assert {node.name: node.role for node in made.nodes} == {
        "r1": "switch",
        "r2": "switch",
        "pc1": "host",
        "pc2": "host",
    }
    running = {node.name for node in made.nodes if node.setup is not None and node.setup.daemons}
    assert running == {"r1", "r2"}
    assert made.traffic, "hosts send"
    said = "which says more than an inherited bind of /etc/frr: FRR is not started in it"
    assert f"i.clab.yml: pc1 (line {line_of(file, 'pc1:')}) is taken for a host: an image of a host, {said}" in (
        made.warnings
    )
    assert f"i.clab.yml: pc2 (line {line_of(file, 'pc2:')}) is taken for a host: one link, {said}" in made.warnings


def test_a_label_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "daemons").write_text("bgpd=yes\n")
    file = tmp_path / "i.clab.yml"
    label = ", labels: {fabriclab.role: host}"
    file.write_text(INHERITED.replace("LAYER", LAYERS["group"]).replace(" LABEL", label))
    setup = plan(file).node("pc2").setup
    assert setup is not None and setup.daemons, "a host may run FRR"


def line_of(file: Path, word: str) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if word in line)
