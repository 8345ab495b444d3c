"""A lab of four hosts around one switch, with a switch profile of its own beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shared_labs import star

from fabriclab.lab import Experiment, parse_lab

TRAFFIC = "traffic: {one: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}\n"


PROFILE = """format: fabriclab-switch-1
title: A switch
source: [made up]
bandwidth: 1 Tbps
port_rate: 100 Gbps
pools: {ingress: {size: 30 MB, headroom: 1 MB}, egress: {size: 30 MB}}
queues:
  default: {pool: egress, reserved: 1 KB, alpha: 8, scheduler: dwrr, weight: 2}
  3..4: {pool: none, limit: none, weight: 4}
priority_groups:
  default: {pool: ingress, limit: none}
  3..4: {alpha: 1/8, lossless: true, headroom: 50 KB, xon: 5 KB}
maps: {dscp_to_tc: {0..63: 1, 3: 3}}
"""


def experiment_of(
    directory: Path,
    switches: str,
    more: str = TRAFFIC,
    changes: Mapping[str, str] | None = None,
    profile: str = PROFILE,
) -> Experiment:
    """Return the experiment of a star of four hosts; `profile` lies beside it as mine.yml."""
    (directory / "topology.clab.yml").write_text(star(), encoding="utf-8")
    (directory / "mine.yml").write_text(profile, encoding="utf-8")
    (directory / "experiment.yml").write_text(f"title: T\nswitches: {{{switches}}}\n{more}", encoding="utf-8")
    return parse_lab(directory).apply(changes or {}).experiment
