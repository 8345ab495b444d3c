"""What `check` says of RoCE where it will not get what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

TOPOLOGY = """
name: star
topology:
  kinds: {linux: {image: 'fabriclab/host:latest'}}
  nodes:
    s1: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
  links:
    - endpoints: ["h1:eth1", "s1:eth1"]
    - endpoints: ["h2:eth1", "s1:eth2"]
"""
LOSSLESS = """
switches:
  default:
    pools: {lossy: {size: 500 KB}, lossless: {size: 500 KB}}
    queues: {default: {pool: lossy, alpha: 1}, 3: {pool: none, limit: none, WRED}}
    priority_groups: {3: {pool: lossless, alpha: 1/4, lossless: true}}
    pfc: {priorities: [3]}
"""
MARKS = "wred: {min: 30 KB, max: 100 KB, ecn: on}"
MIXED = "traffic:\n  tcp: {kind: flows, senders: [h1], receiver: h2, size: 9 KB, dscp: af31}"


def warnings(directory: Path, switches: str, hosts: str = "{nic: {roce: {}}}", traffic: str = "traffic:") -> list[str]:
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(
        f"title: RoCE\nlinks: {{rate: 10 Gbps}}\n{switches}\nhosts: {{default: {hosts}}}\n{traffic}\n"
        "  one: {kind: flows, senders: [h1], receiver: h2, size: 9 KB, transport: roce}\n"
    )
    return list(resolve_plan(parse_lab(directory), {}).warnings)


def test_a_lossless_class_with_marks_is_right(tmp_path: Path) -> None:
    assert warnings(tmp_path, LOSSLESS.replace("WRED", MARKS)) == []


@pytest.mark.parametrize(
    ("switches", "hosts", "said"),
    [
        (LOSSLESS.replace("WRED", "weight: 1"), "{nic: {roce: {}}}", ["gets no marks at s1, so DCQCN never lowers"]),
        (LOSSLESS.replace("WRED", "weight: 1"), "{nic: {roce: {congestion_control: none}}}", []),
        (
            LOSSLESS.replace("WRED", MARKS),
            "{nic: {roce: {dscp: cs1}}}",
            ["DSCP 8 is in a class that loses packets at s1", "DSCP 8 gets no marks"],
        ),
        (
            LOSSLESS.replace("WRED", MARKS),
            "{nic: {roce: {cnp_dscp: 27}}}",
            ["notifications (CNPs, DSCP 27) wait behind the data of RoCE (DSCP 26) at s1"],
        ),
        (
            "switches: {default: {buffer: 100 KB, ecn_threshold: 30 KB}}",
            "{nic: {roce: {}}}",
            ["DSCP 26 is in a class that loses packets at s1", "wait behind the data"],
        ),
    ],
)
def test_what_is_missing_is_told(tmp_path: Path, switches: str, hosts: str, said: list[str]) -> None:
    found = warnings(tmp_path, switches, hosts)
    assert len(found) == len(said)
    for sentence, part in zip(found, said, strict=True):
        assert part in sentence


def test_tcp_in_the_class_of_roce_is_told(tmp_path: Path) -> None:
    (found,) = warnings(tmp_path, LOSSLESS.replace("WRED", MARKS), traffic=MIXED)
    assert found.startswith("traffic.tcp: packets of TCP (DSCP 26) are in the queue of RoCE (DSCP 26)")


def test_tcp_of_another_dscp_in_the_queue_of_roce_is_told(tmp_path: Path) -> None:
    one_class = LOSSLESS.replace("WRED", MARKS).replace("pfc:", "maps: {dscp_to_tc: {0..63: 3}}\n    pfc:")
    found = warnings(tmp_path, one_class, traffic=MIXED.replace("af31", "0"))
    assert any("packets of TCP (DSCP 0) are in the queue of RoCE" in sentence for sentence in found)


ASIDE = """
    s2: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}
    s3: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}
    h3: {kind: linux, labels: {fabriclab.role: host}}
  links:
    - endpoints: ["s1:eth3", "s2:eth1"]
    - endpoints: ["s3:eth1", "s2:eth2"]
    - endpoints: ["h1:eth2", "s3:eth2"]
    - endpoints: ["h3:eth1", "s2:eth3"]
"""


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ("", ["s1"]),
        ("events: {off: {at: 1 ms, link: 'h2:eth1', action: down}}\n", ["s1"]),
        ("events: {off: {at: 1 ms, link: 'h1:eth1', action: down}}\n", ["s1", "s2", "s3"]),
    ],
)
def test_only_switches_that_roce_passes_are_told_of(
    tmp_path: Path, events: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All switches lose packets. RoCE goes from h1 to h2 by s1 alone, until h1's link to s1 is down."""
    monkeypatch.setattr("test_roce_warnings.TOPOLOGY", TOPOLOGY.replace("\n  links:\n", ASIDE))
    found = warnings(tmp_path, f"{events}switches: {{default: {{buffer: 100 KB, ecn_threshold: 30 KB}}}}")
    (lossy,) = (sentence for sentence in found if "loses packets" in sentence)
    assert [name for name in ("s1", "s2", "s3") if name in lossy] == told


def test_nobody_is_told_of_nics_that_no_traffic_uses(tmp_path: Path) -> None:
    directory = tmp_path
    warnings(directory, "switches: {default: {buffer: 100 KB}}")
    experiment = directory / "experiment.yml"
    experiment.write_text(experiment.read_text().replace(", transport: roce", ""))
    assert resolve_plan(parse_lab(directory), {}).warnings == ()


TRIMMED = """
switches:
  default:
    pools: {lossy: {size: 500 KB}}
    queues: {default: {alpha: 1, WRED}, 3: {limit: 100 KB, discard: trim, WRED}, 5: {SCHEDULER}}
    trimming: {size: 256 B, dscp: 48, queue: 5}
""".replace("WRED", "wred: {min: 30 KB, max: 60 KB, ecn: on}")
KNOWING = "loss_recovery: selective-repeat, trimmed: nack"


@pytest.mark.parametrize(
    ("scheduler", "roce", "part"),
    [
        ("scheduler: strict", KNOWING, "are sent before all data at s1, where their queue is strict"),
        ("scheduler: dwrr", KNOWING, None),
        ("scheduler: strict, pir: 1 Gbps", KNOWING, None),
        ("scheduler: strict", f"{KNOWING}, congestion_control: credit", None),
        ("scheduler: dwrr", "loss_recovery: selective-repeat", "write trimmed: nack"),
    ],
)
def test_headers_that_may_starve_the_data_are_told(tmp_path: Path, scheduler: str, roce: str, part: str | None) -> None:
    found = warnings(tmp_path, TRIMMED.replace("SCHEDULER", scheduler), f"{{nic: {{roce: {{{roce}}}}}}}")
    said = [sentence for sentence in found if "trimmed" in sentence]
    assert len(said) == (part is not None)
    assert part is None or part in said[0]


@pytest.mark.parametrize(("h1", "h2", "said"), [("credit", "none", 1), ("credit", "credit", 0), ("none", "credit", 0)])
def test_a_receiver_that_gives_no_credit_is_told(tmp_path: Path, h1: str, h2: str, said: int) -> None:
    hosts = f"{{nic: {{roce: {{congestion_control: {h1}, loss_recovery: selective-repeat}}}}}}"
    other = f"{{nic: {{roce: {{congestion_control: {h2}}}}}}}"
    found = warnings(tmp_path, LOSSLESS.replace("WRED", MARKS), f"{hosts}, h2: {other}")
    assert sum("traffic.one: senders wait for credit" in sentence for sentence in found) == said
    assert all("h2 give none" in sentence for sentence in found)
