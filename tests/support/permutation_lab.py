"""Fat-trees of one rate, and the lab in which every host of one sends to the one half of the fabric away."""

from __future__ import annotations

from pathlib import Path

from fabriclab.topologies import fat_tree, topology_text

EXPERIMENT = """
title: A permutation
routing: {{protocol: {protocol}}}
switches: {{default: {{buffer: 64 KB}}}}
hosts: {{default: {{rto_min: 10 ms}}}}
traffic:
{traffic}
probes:
  interfaces: {{interval: {sampled}}}
"""


PORTS = "buffer: 64 KB"
WRED = "wred: {min: 100 KB, max: 400 KB, ecn: on}"
CHIPS = {
    "tcp": f"profile: trident-3, queues: {{default: {{{WRED}}}}}",
    "roce": f"profile: trident-3, pfc: {{priorities: [3]}}, queues: {{3: {{{WRED}}}}}",
}
"""Switches with a shared buffer that mark, for either transport: for RoCE with a lossless class."""


def write_fat_tree(directory: Path, k: int, *, rate_bps: int, delay_ns: int, mtu_bytes: int = 1500) -> None:
    """Write the topology of a fat-tree whose links are all alike."""
    directory.mkdir(exist_ok=True)
    fabric = fat_tree(
        "fat-tree",
        k=k,
        hosts_per_edge=None,
        host_rate_bps=rate_bps,
        edge_rate_bps=None,
        core_rate_bps=None,
        oversubscription=None,
        delay_ns=delay_ns,
        mtu_bytes=mtu_bytes,
    )
    (directory / "topology.clab.yml").write_text(topology_text(fabric))


def write_permutation(
    directory: Path, k: int, *, protocol: str, rate_bps: int, delay_ns: int, stop: str, sampled: str
) -> Path:
    """Write the lab; return its directory."""
    write_fat_tree(directory, k, rate_bps=rate_bps, delay_ns=delay_ns)
    halves = range(1, k // 2 + 1)
    hosts = [f"h{pod}-{edge}-{host}" for pod in range(1, k + 1) for edge in halves for host in halves]
    pairs = zip(hosts, hosts[len(hosts) // 2 :] + hosts[: len(hosts) // 2], strict=True)
    traffic = "\n".join(
        f"  to-{to}: {{kind: long, senders: [{sender}], receiver: {to}, stop: {stop}}}" for sender, to in pairs
    )
    text = EXPERIMENT.format(protocol=protocol, traffic=traffic, sampled=sampled)
    (directory / "experiment.yml").write_text(text)
    return directory


def over_chips(directory: Path, transport: str) -> None:
    """Give the lab's switches shared buffers, and its flows the transport, `tcp` or `roce`."""
    text = (directory / "experiment.yml").read_text().replace(PORTS, CHIPS[transport])
    if transport == "roce":
        text = text.replace("hosts: {default: {", "hosts: {default: {nic: {roce: {}}, ")
        text = text.replace("kind: long,", "kind: long, transport: roce,")
    (directory / "experiment.yml").write_text(text)
