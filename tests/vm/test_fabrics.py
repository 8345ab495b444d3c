"""Generated fabrics in the machine: every host reaches every other over static ECMP routes,
and equal paths get equal shares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner
from vm import Vm

from fabriclab.cli.app import app
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

pytestmark = pytest.mark.vm

LEAF_SPINE = "leaf-spine --spines 2 --leaves 4 --hosts 4"
FAT_TREE = "fat-tree --k 4"
EXPERIMENT = """
title: A trace in a fabric
switches: {default: {buffer: 256 KB}}
traffic:
  flows: {kind: trace, file: trace.csv}
probes:
  interfaces: {interval: 100 ms}
"""
COLUMNS = "flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class"
SHARED_FLOWS = 1000


def run_pairs(
    vm: Vm, arguments: str, pairs: Iterable[tuple[str, str]], size_bytes: int, apart_ns: int
) -> dict[str, int]:
    """Run one flow for each pair of source and destination; return the bytes that each port has sent."""
    assert CliRunner().invoke(app, ["generate", *arguments.split(), "--out", str(vm.directory)]).exit_code == 0
    rows = [f"{flow},{flow * apart_ns},{src},{dst},{size_bytes},,push,,,,pair" for flow, (src, dst) in enumerate(pairs)]
    (vm.directory / "trace.csv").write_text("\n".join(["# fabriclab-trace-1", COLUMNS, *rows]) + "\n")
    (vm.directory / "experiment.yml").write_text(EXPERIMENT)
    assert vm.run(resolve_plan(parse_lab(vm.directory), {}, 1)).status == "complete"
    flows = vm.flows()
    assert [flow["status"] for flow in flows] == ["complete"] * len(rows)
    return sent_bytes(vm.directory / "run")


def sent_bytes(run: Path) -> dict[str, int]:
    last = pl.read_parquet(run / "interfaces.parquet").group_by("port").agg(pl.col("tx_bytes").max())
    return dict(last.iter_rows())


def hosts_of(arguments: str) -> list[str]:
    if arguments == FAT_TREE:
        return [f"h{pod}-{edge}-{number}" for pod in range(1, 5) for edge in (1, 2) for number in (1, 2)]
    return [f"h{number}" for number in range(1, 17)]


@pytest.mark.parametrize("arguments", [LEAF_SPINE, FAT_TREE])
def test_every_host_reaches_every_other(vm: Vm, arguments: str) -> None:
    pairs = list(itertools.permutations(hosts_of(arguments), 2))
    assert len(pairs) == 240
    sent = run_pairs(vm, arguments, pairs, size_bytes=20_000, apart_ns=200_000)
    assert all(sent[f"{host}:eth1"] > 15 * 20_000 for host in hosts_of(arguments))


@pytest.mark.parametrize(
    ("arguments", "sources", "sinks", "choices"),
    [
        (LEAF_SPINE, [f"h{n}" for n in range(1, 5)], [f"h{n}" for n in range(13, 17)], [("leaf1:eth5", "leaf1:eth6")]),
        (
            FAT_TREE,
            ["h1-1-1", "h1-1-2"],
            ["h3-1-1", "h3-2-2"],
            [("edge1-1:eth3", "edge1-1:eth4"), ("agg1-1:eth3", "agg1-1:eth4"), ("agg1-2:eth3", "agg1-2:eth4")],
        ),
    ],
)
def test_equal_paths_get_equal_shares(
    vm: Vm, arguments: str, sources: list[str], sinks: list[str], choices: list[tuple[str, str]]
) -> None:
    every = list(itertools.product(sources, sinks))
    pairs = [every[flow % len(every)] for flow in range(SHARED_FLOWS)]
    sent = run_pairs(vm, arguments, pairs, size_bytes=4000, apart_ns=100_000)
    flows = SHARED_FLOWS
    for one, other in choices:
        # As many standard deviations as a fair coin stays within, but for one time in 16,000.
        allowed = 4 * math.sqrt(0.25 / flows)
        assert sent[one] / (sent[one] + sent[other]) == pytest.approx(0.5, abs=allowed), (one, other)
        flows = SHARED_FLOWS // 2 - 70  # behind the first choice about half is left
