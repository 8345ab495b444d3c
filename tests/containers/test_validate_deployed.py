"""`fabriclab validate` in real containers: a small fabric with FRR.

Only what stands whatever the host's load is asked for.
"""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from fabriclab.api.engine import fit_engine
from fabriclab.engine.artefacts import EngineError
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import leaf_spine, topology_text

EXPERIMENT = """
title: A small fabric
links: {rate: 20 Mbps, delay: 0 us}
routing: {protocol: bgp-unnumbered, convergence_limit: 120 s}
switches: {default: {buffer: 64 KB}}
traffic: {a: {kind: flows, senders: all, receiver: h1, size: 20 KB}}
"""

pytestmark = [pytest.mark.containers, pytest.mark.xdist_group("containers")]


def test_sessions_paths_pairs_and_mtu(tmp_path: Path) -> None:
    size = {"spines": 2, "leaves": 2, "hosts_per_leaf": 1, "host_rate_bps": 10**9}
    fabric = leaf_spine("fabric", **size, uplink_rate_bps=None, oversubscription=None, delay_ns=0, mtu_bytes=1500)
    (tmp_path / "topology.clab.yml").write_text(topology_text(fabric))
    (tmp_path / "experiment.yml").write_text(EXPERIMENT)
    try:
        lab = parse_lab(tmp_path)
        fit_engine("containerlab", lab, [resolve_plan(lab, {})], trust=True)
    except EngineError as error:
        pytest.skip(f"validation in containers was NOT tested for real: {error}")
    command = [
        sys.executable,
        "-m",
        "fabriclab",
        "validate",
        ".",
        "--trust",
        "--engine",
        "containerlab",
        "--only",
        "reach",
        "--junit",
        "out.xml",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = list(ElementTree.parse(tmp_path / "out.xml").getroot().iter("testcase"))
    passed = {case.attrib["classname"].removeprefix("validate.") for case in cases if len(case) == 0}
    assert passed >= {"sessions", "paths"}
