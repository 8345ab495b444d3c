"""A small fabric that can be cut: racks, two spines, everything that a lab in several machines may have."""

from __future__ import annotations

from pathlib import Path

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import leaf_spine, topology_text

EXPERIMENT = """
title: A small fabric
switches: {default: SWITCHES}
hosts: {default: {congestion_control: CONTROL, ecn: on, rto_min: 10 ms, nic: NICHOST}}
traffic:
  long: {kind: long, senders: [h1, h3], receiver: h5, stop: 20 msTRANSPORT}
  mice: {kind: arrivals, senders: all, pairs: out-of-rack, size: {distribution: web-search, cap: 200 KB}, load: 30 %,
         stop: 20 msTRANSPORT}
probes:
  queues: {interval: SAMPLED, ports: all}
  tcp: {interval: 1 ms, traffic: [long]}
  interfaces: {interval: 1 ms}
MORE"""
STOCK = "{buffer: 100 KB, ecn_threshold: 30 KB}"
_WRED = "{min: 30 KB, max: 30 KB, ecn: true}"
SHARED = f"{{profile: triumph, pools: {{egress: {{size: 200 KB}}}}, queues: {{default: {{wred: {_WRED}}}}}}}"


def write_lab(
    directory: Path,
    switches: str = STOCK,
    more: str = "",
    delay_ns: int = 10_000,
    nic: str = "{}",
    sampled: str = "100 us",
    control: str = "dctcp",
    racks: int = 3,
    hosts: str = "",
    transport: str = "",
) -> Path:
    """Write the lab; returns its directory. `hosts`: what all hosts have besides."""
    directory.mkdir(exist_ok=True)
    fabric = leaf_spine(
        "cores",
        spines=2,
        leaves=racks,
        hosts_per_leaf=2,
        host_rate_bps=10**9,
        uplink_rate_bps=None,
        oversubscription=None,
        delay_ns=delay_ns,
        mtu_bytes=1500,
    )
    (directory / "topology.clab.yml").write_text(topology_text(fabric))
    text = (
        EXPERIMENT.replace("SWITCHES", switches)
        .replace("NIC", nic)
        .replace("HOST", hosts and f", {hosts}")
        .replace("SAMPLED", sampled)
    )
    text = text.replace("TRANSPORT", transport and f", transport: {transport}")
    text = text.replace("CONTROL", control).replace("MORE", more)
    (directory / "experiment.yml").write_text(text)
    return directory


def plan_of(directory: Path, seed: int = 1) -> Plan:
    """Return the lab's plan."""
    return resolve_plan(parse_lab(directory), {}, seed)
