"""A small Hadoop lab for tests, which run where they are asked for (its JVMs compute for minutes), and have its layers:
2 + 2 nodes, a TeraSort of 8 MiB.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabriclab.compile import needed_layers
from fabriclab.engine.layers import find_layer
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

ASKED = "FABRICLAB_HADOOP"
NOT_ASKED = f"its JVMs take minutes of CPU: {ASKED}=1 runs it"
_SWITCHES, _HOSTS = ("leaf1", "leaf2", "spine"), ("d1", "d2", "master", "c1", "c2")
_NODES = dict.fromkeys(_SWITCHES, "switch") | dict.fromkeys(_HOSTS, "host")
_LINKS = (
    *((f"{node}:eth1", f"leaf1:eth{port}", "1 Gbps") for port, node in enumerate(_HOSTS[:3], start=1)),
    *((f"{node}:eth1", f"leaf2:eth{port}", "1 Gbps") for port, node in enumerate(_HOSTS[3:], start=1)),
    *((f"leaf{number}:eth4", f"spine:eth{number}", "4 Gbps") for number in (1, 2)),
)
_EXPERIMENT = """\
title: TeraSort
switches: {{default: {{buffer: 256 KB}}}}
traffic:
  hadoop:
    kind: hadoop
    namenode: master
    data_nodes: d1..d2
    compute_nodes: c1..c2
    replication: {replication}
    block_size: 4 MiB
    slots: 4
    costs: none
    {cluster}
    jobs:
      sort: {{kind: terasort, framework: {framework}, size: 8 MiB, splits: 2, reducers: 2}}
events: {{{events}}}
limit: 900 s
"""


def write_lab(
    directory: Path, cluster: str, events: str = "", replication: int = 1, framework: str = "mapreduce"
) -> Path:
    """Return a lab with a line of the cluster's keys more, and events."""
    lab = directory / "lab"
    lab.mkdir()
    text = _EXPERIMENT.format(cluster=cluster, events=events, replication=replication, framework=framework)
    (lab / "experiment.yml").write_text(text)
    nodes = (f"    {name}: {{kind: linux, labels: {{fabriclab.role: {role}}}}}" for name, role in _NODES.items())
    links = (
        f"    - {{endpoints: ['{one}', '{other}'], vars: {{rate: {rate}, delay: 5 us}}}}" for one, other, rate in _LINKS
    )
    topology = ["name: hadoop", "topology:", "  nodes:", *nodes, "  links:", *links]
    (lab / "topology.clab.yml").write_text("\n".join(topology) + "\n")
    return lab


def skip_unless_asked(rootfs: Path, lab: Path) -> None:
    """Skip a test that nobody asked for, or whose layers over the root file system are not there."""
    needed = needed_layers(resolve_plan(parse_lab(lab), {}))
    missing = [kind for kind, items in needed.items() if find_layer(rootfs, kind, items) is None]
    if missing:
        who = "spark" if lab.name == "spark" else "hadoop"
        pytest.skip(f"layers are not built ({', '.join(missing)}): `fabriclab run labs/{who}` builds them")
    if not os.environ.get(ASKED):
        pytest.skip(NOT_ASKED)
