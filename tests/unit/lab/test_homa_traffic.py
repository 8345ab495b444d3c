"""Traffic over Homa: what a lab must say, what its plan holds, and the hosts' settings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from own_labs import TOPOLOGY
from sample_modules import write_module

from fabriclab.compile import compile_job
from fabriclab.compile.homa import compile_homa_sysctl
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.workload import TraceError, generate_flows

EXPERIMENT = """title: homa
switches: {default: {buffer: 64 KB}}
traffic:
  one: {kind: flows, senders: h1, receiver: h2, size: 1 MB, transport: homa, module: ./homa}
"""
PROTOCOL = """static struct proto homa_prot = {
	.name		   = "HOMA",
};

static int __init load(void)
{
	return proto_register(&homa_prot, 1);
}
module_init(load);
MODULE_LICENSE("Dual BSD/GPL");
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "topology.clab.yml").write_text(TOPOLOGY)
    (tmp_path / "experiment.yml").write_text(EXPERIMENT)
    (tmp_path / "homa").mkdir()
    (tmp_path / "homa" / "homa_plumbing.c").write_text(PROTOCOL)
    return tmp_path


def mistakes(directory: Path, old: str, new: str) -> str:
    assert old in EXPERIMENT
    (directory / "experiment.yml").write_text(EXPERIMENT.replace(old, new))
    with pytest.raises(LabError) as caught:
        parse_lab(directory)
    return "\n".join(str(mistake) for mistake in caught.value.mistakes)


def test_the_module_is_loaded_and_hosts_are_told_their_rate(lab: Path) -> None:
    plan = resolve_plan(parse_lab(lab), {})
    (module,) = plan.algorithms
    assert (module.kind, module.name, module.module) == ("transport", "HOMA", "own_proto_HOMA")
    assert compile_job(plan)["modules"] == ["machine/modules/own_proto_HOMA.ko"]
    assert parse_plan_json(plan_json(plan)) == plan
    settings = {node.name: dict(compile_homa_sysctl(node, plan)) for node in plan.nodes}
    of_host = {"net.homa.link_mbps": "1000", "net.homa.grant_fifo_fraction": "50", "net.homa.poll_usecs": "0"}
    assert settings == {"h1": of_host, "h2": of_host, "s1": {}}
    flows = generate_flows(plan)
    assert flows.select(pl.col("transport", "connection", "dscp").cast(pl.String)).rows() == [("homa", None, None)]


def test_without_homa_there_is_nothing_of_it(lab: Path) -> None:
    plan = resolve_plan(parse_lab(lab), {"traffic.one.transport": "tcp"})
    assert plan.algorithms == () and all(compile_homa_sysctl(node, plan) == [] for node in plan.nodes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (", module: ./homa", "", "is homa, which Linux does not have; write module: and the directory"),
        ("./homa", "./hom", "'./hom'"),
        ("./homa", "../elsewhere", "lies outside the lab's directory"),
        ("./homa}", "./homa, congestion_control: reno}", "is TCP's; remove the key"),
        ("./homa}", "./homa, dscp: 8}", "is what Homa decides for each packet; remove the key"),
        ("kind: flows, senders: h1, receiver: h2, size: 1 MB", "kind: long, senders: h1, receiver: h2, stop: 1 s", ""),
    ],
)
def test_what_is_wrong_is_told(lab: Path, old: str, new: str, said: str) -> None:
    assert (said or "sends messages of a size; write kind: flows") in mistakes(lab, old, new)


def test_another_protocol_is_not_homa(lab: Path) -> None:
    (lab / "homa" / "homa_plumbing.c").write_text(PROTOCOL.replace('"HOMA"', '"UDPX"'))
    assert "registers the protocol 'UDPX'; Homa's module registers 'HOMA'" in mistakes(lab, "one:", "two:")
    write_module(lab / "other")
    assert "registers no transport; write a `struct proto`" in mistakes(lab, "./homa", "./other")


def test_messages_have_a_largest_size(lab: Path) -> None:
    (lab / "experiment.yml").write_text(EXPERIMENT.replace("1 MB", "1001 KB"))
    plan = resolve_plan(parse_lab(lab), {})
    with pytest.raises(TraceError, match="a flow of 1001000 bytes; Homa's messages have at most 1000000"):
        generate_flows(plan)
