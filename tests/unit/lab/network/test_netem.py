"""netem in nodes' commands: it becomes the link's delay, rate and loss, or what is gone is told by node and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabriclab.api.lab import Lab
from fabriclab.api.look import node_files, plan
from fabriclab.compile import compile_job
from fabriclab.formats.plan import Plan, plan_json
from fabriclab.formats.plan.node import Port
from fabriclab.lab.setup.tc import Netem, RootChange, root_changes

TOPOLOGY = """name: impaired
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    r1:
      image: 'quay.io/frrouting/frr:10.2.1'
      exec:
        - ip addr add 10.1.0.1/24 dev eth1
        - ip addr add 10.2.0.1/24 dev eth2
        - COMMAND
    h1: {exec: [ip addr add 10.1.0.10/24 dev eth1]}
    h2: {exec: [ip addr add 10.2.0.10/24 dev eth1]}
  links:
    - endpoints: ['h1:eth1', 'r1:eth1']
    - endpoints: ['h2:eth1', 'r1:eth2']
"""
SAID = "impaired.clab.yml: r1: topology.nodes.r1.exec[2] (line 10): "
GONE = f"{SAID}tc changes the root qdisc of eth2: from then on the link's rate and the port's buffer do not act there"


def impaired(directory: Path, command: str, variables: str = "") -> Plan:
    file = directory / "impaired.clab.yml"
    text = TOPOLOGY.replace("COMMAND", command)
    file.write_text(text.replace("'r1:eth2']", f"'r1:eth2']\n      vars: {variables}") if variables else text)
    return plan(file)


def port_of(made: Plan, node: str, interface: str) -> Port:
    return next(port for port in made.node(node).ports if port.interface == interface)


def commands_of(made: Plan) -> list[str]:
    setup = made.node("r1").setup
    return [] if setup is None else [" ".join(command.argv) for command in setup.commands]


def test_a_delay_is_the_links_of_this_direction(tmp_path: Path) -> None:
    made = impaired(tmp_path, "tc qdisc add dev eth2 root netem delay 50ms")
    assert port_of(made, "r1", "eth2").delay_ns == 50_005_000, "the 5 us of a link that says none are there, too"
    assert port_of(made, "h2", "eth1").delay_ns == port_of(made, "r1", "eth1").delay_ns == 5_000
    assert commands_of(made) == ["ip addr add 10.1.0.1/24 dev eth1", "ip addr add 10.2.0.1/24 dev eth2"]
    assert f"{SAID}netem of eth2 is its link's: 50 ms more delay" in made.warnings
    assert "impaired.clab.yml: 2 links without a rate: 10 Gbps, 5 us each way" in made.warnings


def test_it_adds_to_what_the_link_says(tmp_path: Path) -> None:
    command = (
        "/sbin/tc qdisc replace dev eth2 root handle 1:0 netem limit 9999 delay 1.5ms rate 20mbit loss random 0.25%"
    )
    port = port_of(impaired(tmp_path, command, "{rate: 1 Gbps, delay: 2 ms}"), "r1", "eth2")
    assert (port.delay_ns, port.rate_bps, port.loss_ppm) == (3_500_000, 20_000_000, 2_500)


def test_a_slower_link_stays_slower(tmp_path: Path) -> None:
    made = impaired(tmp_path, "tc qdisc add dev eth2 root netem rate 1gbit", "{rate: 10 Mbps}")
    assert port_of(made, "r1", "eth2").rate_bps == 10**7 and len(commands_of(made)) == 2


@pytest.mark.parametrize("stock", [False, True])
def test_a_loss_is_the_ports(tmp_path: Path, stock: bool) -> None:
    made = impaired(tmp_path, "sh -c 'tc qdisc add dev eth2 root netem loss 1%'")
    lines = node_files(made, "r1", engine="containerlab" if stock else "vm")["tc.batch"].splitlines()
    losing = [line for line in lines if "loss 1.0000%" in line]
    assert len(losing) == 1 and "dev eth2" in losing[0]
    assert '"loss_ppm": 10000' in plan_json(made)
    assert plan_json(made).count("loss_ppm") == 1, "no other plan changes"


def test_a_host_loses_too(tmp_path: Path) -> None:
    file = tmp_path / "h.clab.yml"
    more = "dev eth1, tc qdisc add dev eth1 root netem loss 5%]}\n    h2"
    file.write_text(TOPOLOGY.replace("dev eth1]}\n    h2", more).replace("        - COMMAND\n", ""))
    (line,) = [line for line in node_files(plan(file), "h1")["tc.batch"].splitlines() if "dev eth1 root" in line]
    assert "switch_port" in line and " loss 5.0000% " in line


def test_an_event_ends_a_loss(tmp_path: Path) -> None:
    text = TOPOLOGY.replace("COMMAND", "tc qdisc add dev eth2 root netem loss 1%")
    text = text.replace("'r1:eth1']", "'r1:eth1']\n      vars: {rate: 1 Gbps}")
    text = text.replace("'r1:eth2']", "'r1:eth2']\n      vars: {rate: 1 Gbps}")
    experiment = (
        "title: T\nswitches: {default: {pools: {m: {size: 1 MB}}, queues: {default: {alpha: 1}}}}\n"
        "events: {e: {at: 1 s, link: 'r1:eth2', CHANGE}}\n"
        "traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 2 s}}\n"
    )
    (slower,) = _lines(Lab.from_yaml(text, experiment.replace("CHANGE", "rate: 100 Mbps")), "eth2")
    assert slower.endswith("loss 1.0000%"), "what an event says nothing of stays"
    (clean,) = _lines(Lab.from_yaml(text, experiment.replace("CHANGE", "loss: 0 %")), "eth2")
    assert clean.endswith("loss 0.0000%")


def _lines(lab: Lab, interface: str) -> list[str]:
    job: Any = compile_job(plan(lab))
    steps = [step for event in job["events"] for step in event["steps"] if step["tool"] == "tc"]
    return [line for step in steps for line in step["lines"] if f"dev {interface} " in line]


@pytest.mark.parametrize(
    "command",
    [
        "tc qdisc add dev eth2 root netem delay 50ms 5ms",
        "tc qdisc add dev eth2 root netem delay 2s",
        "tc qdisc add dev eth2 root netem loss gemodel 1%",
        "tc qdisc add dev eth2 root netem duplicate 1%",
        "tc qdisc add dev eth2 root tbf rate 1mbit burst 32kbit latency 400ms",
        "tc qdisc del dev eth2 root",
        "sh -c 'sleep 1 && tc qdisc add dev eth2 root netem delay 1ms'",
    ],
)
def test_what_a_link_cannot_have_is_told_and_stays(tmp_path: Path, command: str) -> None:
    made = impaired(tmp_path, command)
    assert GONE in made.warnings
    assert len(commands_of(made)) == 3
    assert (port_of(made, "r1", "eth2").delay_ns, port_of(made, "r1", "eth2").loss_ppm) == (5_000, 0)


def test_two_changes_of_a_port_stay_both(tmp_path: Path) -> None:
    command = "tc qdisc add dev eth2 root netem delay 1ms\n        - tc qdisc replace dev eth2 root netem delay 2ms"
    made = impaired(tmp_path, command)
    assert GONE in made.warnings and len(commands_of(made)) == 4


def test_a_script_is_told_by_the_command_that_runs_it(tmp_path: Path) -> None:
    (tmp_path / "slow.sh").write_text("#!/bin/sh\ntc qdisc add dev eth2 root netem delay 9ms\n")
    command = "sh /slow.sh\n      binds: ['slow.sh:/slow.sh']"
    assert GONE in impaired(tmp_path, command).warnings


@pytest.mark.parametrize(
    "command",
    [
        "tc qdisc show dev eth2",
        "tc qdisc add dev eth2 clsact",
        "tc qdisc add dev lo root netem delay 1ms",
        "tc -s qdisc",
    ],
)
def test_other_commands_are_no_matter(tmp_path: Path, command: str) -> None:
    made = impaired(tmp_path, command)
    assert not [warning for warning in made.warnings if "root qdisc" in warning or "netem" in warning]
    assert len(commands_of(made)) == 3


@pytest.mark.parametrize(
    ("words", "netem"),
    [
        ("delay 100", Netem(delay_ns=100_000)),
        ("delay 7us", Netem(delay_ns=7_000)),
        ("latency 1sec", Netem(delay_ns=10**9)),
        ("rate 8000", Netem(rate_bps=8_000)),
        ("rate 1Mbit", Netem(rate_bps=10**6)),
        ("rate 1mbps", Netem(rate_bps=8 * 10**6)),
        ("rate 1kibit", Netem(rate_bps=1024)),
        ("loss 100%", Netem(loss_ppm=10**6)),
        ("loss 0.5", Netem(loss_ppm=5_000)),
        ("loss 1% 25%", None),
        ("delay", None),
        ("delay 5 parsecs", None),
        ("limit 1000", None),
        ("delay 1ms delay 2ms", None),
    ],
)
def test_netems_words(words: str, netem: Netem | None) -> None:
    argv = ["tc", "qdisc", "add", "dev", "eth1", "root", "netem", *words.split()]
    assert root_changes(argv) == [RootChange("eth1", netem)]
