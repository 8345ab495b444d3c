"""Labs of which a test says what is sampled."""

from __future__ import annotations

from pathlib import Path

TOPOLOGY = """\
name: t
topology:
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    s2: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux}
    h2: {kind: linux}
    h3: {kind: linux}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps}}
    - {endpoints: ['s1:eth3', 's2:eth1'], vars: {rate: 1 Gbps}}
    - {endpoints: ['h3:eth1', 's2:eth2'], vars: {rate: 1 Gbps}}
"""


EXPERIMENT = """\
title: Probes
switches: {default: {buffer: 64 KB}}
"""


LONG = "long: {kind: long, senders: [h1, h2], receiver: h3, stop: 1 s}"


QUERY = "ask: {kind: query, aggregators: [h1], workers: [h2, h3], response: 2 KB, interval: 10 ms, stop: 1 s}"


def lab(directory: Path, traffic: str, more: str = "") -> Path:
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(f"{EXPERIMENT}traffic:\n  {traffic}\n{more}")
    return directory
