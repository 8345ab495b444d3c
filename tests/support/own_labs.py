"""A lab that brings its own congestion control."""

from __future__ import annotations

from sample_algorithms import CONTROL

from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of

TOPOLOGY = """name: two
topology:
  nodes:
    h1: {kind: linux}
    h2: {kind: linux}
    s1: {kind: linux, labels: {fabriclab.role: switch}}
  links:
    - {endpoints: ["h1:eth1", "s1:eth1"], vars: {rate: 1 Gbps}}
    - {endpoints: ["h2:eth1", "s1:eth2"], vars: {rate: 1 Gbps}}
"""


EXPERIMENT = """title: own
switches: {default: {buffer: 64 KB}}
hosts:
  default: {congestion_control: ./mine.c}
traffic:
  one: {kind: flows, senders: h1, receiver: h2, size: 1 MB}
parameters: {control: hosts.default.congestion_control}
matrix: {all: {control: [./mine.c, reno, ./other.c]}}
"""


def own(source: str = CONTROL, name: str = "mine") -> OwnAlgorithm:
    return OwnAlgorithm(kind="congestion_control", name=name, file="mine.c", sha256=sha256_of(source), source=source)
