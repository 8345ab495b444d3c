"""The experiment that a new lab begins with."""

from __future__ import annotations

from fabriclab.topologies.fabric import Fabric

_TEXT = """title: In-cast over {name}, to begin with

# docs/language explains every key; `fabriclab check` says what is wrong after a change.
switches:
  default: {{buffer: 128 KB}}

hosts:
  default: {{congestion_control: cubic}}

traffic:
  incast: {{kind: rounds, senders: all, receiver: {receiver}, size: 64 KB, rounds: 10}}

probes:
  queues: {{ports: ['{port}']}}

parameters:
  buffer: switches.default.buffer
  senders: traffic.incast.senders
  congestion_control: hosts.default.congestion_control

matrix:
  buffers: {{congestion_control: [cubic, reno], buffer: [64 KB, 128 KB, 512 KB]}}
"""


def experiment_text(fabric: Fabric) -> str:
    """Return an experiment: all hosts answer the first one at once, and the queue before it is sampled."""
    receiver = fabric.hosts[0].name
    port = next(upper for lower, upper in (link.ports for link in fabric.links) if lower.partition(":")[0] == receiver)
    return _TEXT.format(name=fabric.name, receiver=receiver, port=port)
