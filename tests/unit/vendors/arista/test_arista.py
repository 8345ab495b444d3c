"""The QoS part of Arista EOS configurations as switch profiles.

`FABRICLAB_ACCEPT=1 pytest tests/unit/vendors/arista/test_arista.py` writes the golden profile as it is now; read the
difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import Account, Pfc, Scheduler, SwitchPort, Watchdog, Wred
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import star, topology_text
from fabriclab.vendors.arista.profile import ChipError, ImportedQos, import_qos, parse_config_text, read_chip

GOLDEN = ROOT / "tests" / "golden" / "arista"
GBPS = 10**9


def imported(text: str, chip: str = "trident-3") -> ImportedQos:
    return import_qos(parse_config_text(text.encode(), "leaf.cfg"), read_chip(chip))


def port_of(text: str, directory: Path, chip: str = "trident-3") -> SwitchPort:
    """Return a port of the first interface, at 100 Gbps and with the profile's own figures."""
    profile = imported(text, chip)
    topology = star("lab", hosts=2, rate_bps=100 * GBPS, delay_ns=25, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / f"{profile.name}.yml").write_text(profile.text)
    traffic = "traffic: {x: {kind: long, senders: [h1], receiver: h2, stop: 1 ms}}"
    (directory / "experiment.yml").write_text(
        f"title: T\nswitches: {{default: {{profile: {profile.name}, scale: none}}}}\n{traffic}\n"
    )
    port: Port = resolve_plan(parse_lab(directory), {}).node("s1").ports[0]
    assert port.switch_port is not None
    return port.switch_port


def interface(*commands: str) -> str:
    """Return a configuration with commands of one interface; a comma begins those of a queue."""
    return "interface Ethernet1\n" + "".join(f"   {command}\n" for command in commands)


def complaint(text: str, chip: str = "trident-3") -> str:
    with pytest.raises(LabError) as caught:
        imported(text, chip)
    return str(caught.value)


def test_the_hadoop_study(tmp_path: Path) -> None:
    """S0: ECN from 128 to 1280 kbytes on tx-queue 1, PFC of priorities 0 and 1, DSCP 0 to 7 in class 1."""
    text = (GOLDEN / "hadoop.cfg").read_text()
    profile = imported(text)
    expected = GOLDEN / "hadoop.yml"
    if os.environ.get("FABRICLAB_ACCEPT"):
        expected.write_text(profile.text)
    assert profile.text == expected.read_text()
    port = port_of(text.replace("Ethernet1/1", "Ethernet1").replace("Ethernet2/1", "Ethernet2"), tmp_path)
    queue = next(queue for queue in port.queues if queue.index == 1)
    assert queue.wred == Wred(min=128_000, max=1_280_000, probability_ppm=10**6, ecn=True, non_ect="queue")
    assert queue.scheduler == Scheduler(kind="dwrr", weight=60)
    assert port.pfc == Pfc(priorities=(0, 1), watchdog=Watchdog(detection_ns=200_000_000, restoration_ns=400_000_000))
    assert port.maps.dscp_to_tc[:17] == (*(1,) * 8, *(0,) * 8, 2)
    assert port.maps.tc_to_group[:3] == (1, 0, 2)
    assert port.maps.priority_to_queue[:3] == (1, 0, 2)
    assert {group.index for group in port.groups if group.lossless is not None} == {0, 1}


def test_what_is_not_taken_is_counted() -> None:
    profile = imported((GOLDEN / "hadoop.cfg").read_text())
    counts = {one.what: one.count for one in profile.left_out}
    assert counts["router"] == 2
    assert counts["interface"] == 11
    assert counts["random-detect ecn count"] == 1
    assert profile.interfaces == 2


def test_queues_are_strict_until_no_priority(tmp_path: Path) -> None:
    """And a round-robin queue takes those below it along; what has no percentage shares the rest: 100 - 50 for two."""
    port = port_of(interface("tx-queue 2", "   no priority", "   bandwidth percent 50"), tmp_path)
    kinds = [(queue.scheduler.kind, queue.scheduler.weight) for queue in port.queues]
    assert kinds == [("dwrr", 25), ("dwrr", 25), ("dwrr", 50), *[("strict", 1)] * 5]


def test_an_interface_s_words_win_over_its_profile_s(tmp_path: Path) -> None:
    text = "qos profile P\n   tx-queue 1\n      no priority\n      bandwidth percent 40\n" + interface(
        "service-profile P", "tx-queue 1", "   bandwidth percent 70"
    )
    (queue,) = [queue for queue in port_of(text, tmp_path).queues if queue.index == 1]
    assert queue.scheduler == Scheduler(kind="dwrr", weight=70)


@pytest.mark.parametrize(
    ("command", "rates"),
    [
        ("shape rate 500000", (0, 500_000_000)),
        ("shape rate 500000 kbps", (0, 500_000_000)),
        ("shape rate 40 percent", (0, 40 * GBPS)),
        ("bandwidth guaranteed percent 10", (10 * GBPS, 0)),
        ("bandwidth guaranteed 9000000", (9 * GBPS, 0)),
    ],
)
def test_rates(command: str, rates: tuple[int, int], tmp_path: Path) -> None:
    (queue,) = [
        queue for queue in port_of(interface("uc-tx-queue 4", f"   {command}"), tmp_path).queues if queue.index == 4
    ]
    assert (queue.scheduler.cir_bps, queue.scheduler.pir_bps) == rates


@pytest.mark.parametrize(
    ("words", "wred"),
    [
        (
            "ecn minimum-threshold 3 mbytes maximum-threshold 4 mbytes",
            Wred(min=3_000_000, max=4_000_000, non_ect="queue"),
        ),
        (
            "ecn minimum-threshold 100 segments maximum-threshold 100 segments",
            Wred(min=25_600, max=25_600, non_ect="queue"),
        ),
        (
            "ecn minimum-threshold 3 milliseconds maximum-threshold 9 milliseconds max-mark-probability 90 weight 2",
            Wred(unit="ns", min=3_000_000, max=9_000_000, probability_ppm=900_000, weight_log=2, non_ect="queue"),
        ),
        (
            "drop minimum-threshold 10 kbytes maximum-threshold 20 kbytes drop-probability 50",
            Wred(min=10_000, max=20_000, probability_ppm=500_000, ecn=False),
        ),
    ],
)
def test_random_detect(words: str, wred: Wred, tmp_path: Path) -> None:
    (queue,) = [
        queue
        for queue in port_of(interface("tx-queue 1", f"   random-detect {words}"), tmp_path).queues
        if queue.index == 1
    ]
    assert queue.wred == wred


def test_a_lossless_class_is_bounded_by_its_group(tmp_path: Path) -> None:
    port = port_of(interface("priority-flow-control on", "priority-flow-control priority 3 no-drop"), tmp_path)
    assert port.pfc == Pfc(priorities=(3,))
    (queue,) = [queue for queue in port.queues if queue.index == 3]
    assert queue.account.pool is None
    (group,) = [group for group in port.groups if group.lossless is not None]
    assert (group.index, group.account) == (3, Account(pool="ingress", reserved_bytes=4608, alpha_log=0))


def test_no_drop_alone_is_no_pfc(tmp_path: Path) -> None:
    text = interface("priority-flow-control priority 3 no-drop")
    assert port_of(text, tmp_path).pfc is None
    assert any("no-drop without priority-flow-control on" in note for note in imported(text).notes)


def test_maps(tmp_path: Path) -> None:
    lines = """
qos map dscp 24,26 40-47 to traffic-class 3
qos map traffic-class 3 4 to tx-queue 6
qos map traffic-class 3 to priority-group 5
"""
    maps = port_of(lines, tmp_path).maps
    assert [maps.dscp_to_tc[dscp] for dscp in (24, 25, 26, 40, 47)] == [3] * 5
    assert maps.tc_to_queue == (0, 1, 2, 6, 6, 5, 6, 7)
    assert maps.tc_to_group[3] == 5


def test_ports_that_differ() -> None:
    text = "".join(
        f"interface Ethernet{number}/1\n   tx-queue 1\n      shape rate {rate} percent\n"
        for number, rate in ((1, 40), (2, 40), (3, 50), (4, 40))
    )
    assert [line for line in imported(text).text.splitlines() if line.startswith("  'eth")] == [
        "  'eth1_1, eth2_1, eth4_1':",
        "  'eth3_1':",
    ]


@pytest.mark.parametrize("chip", ["trident-2", "trident-3", "jericho-2", "jericho-plus", "triumph", "scorpion"])
def test_every_chip(chip: str, tmp_path: Path) -> None:
    assert len(port_of(interface("tx-queue 1", "   no priority"), tmp_path, chip).queues) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (interface("tx-queue 9"), "leaf.cfg:2: tx-queue 9: the queue '9': must be a whole number from 0 to 7"),
        (
            interface("tx-queue 1", "   bandwidth percent 0"),
            "leaf.cfg:3: bandwidth percent 0: percent '0': must be a whole number from 1 to 100",
        ),
        (interface("tx-queue 1", "   bandwidth percent"), "ends before percent; write a whole number from 1 to 100"),
        (interface("tx-queue 1", "   shape rate 5 pps"), "'pps': a profile's rates are in kbps or percent"),
        (
            interface("tx-queue 1", "   shape rate 5"),
            "5 kbps is below 8 kbps, the lowest rate that a lab's queue can be shaped to",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-threshold 9 kbytes"),
            "no maximum-threshold; write it with its unit",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-threshold 9 maximum-threshold 9"),
            "no unit after minimum-threshold; write one of segments",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-threshold 9 kbyte maximum-threshold 9 kbytes"),
            "'kbyte': did you mean 'kbytes'?",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-threshold 9 mbytes maximum-threshold 9 kbytes"),
            "thresholds in mbytes and in kbytes; write both in one unit",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-threshold 10 kbytes maximum-threshold 9 kbytes"),
            "minimum-threshold 10 is above maximum-threshold 9; write the smaller one first",
        ),
        (
            interface("tx-queue 1", "   random-detect ecn minimum-treshold 9 kbytes"),
            "'minimum-treshold' is unknown; did you mean 'minimum-threshold'?",
        ),
        (
            interface("priority-flow-control priority 8 no-drop"),
            "the priority '8': must be a whole number from 0 to 7",
        ),
        (interface("priority-flow-control priority 3 lossless"), "'lossless': write no-drop or drop"),
        (
            "qos profile HADOOP\n" + interface("service-profile HADOP"),
            "'HADOP' is not a qos profile; did you mean 'HADOOP'?",
        ),
        (
            "qos map dscp 64 to traffic-class 1\n",
            "leaf.cfg:1: qos map dscp 64 to traffic-class 1: dscp '64': must be numbers from 0 to 63",
        ),
        ("qos map dscp 0 to traffic-class 8\n", "traffic-class '8': must be a whole number from 0 to 7"),
        ("qos map dscp to traffic-class 1\n", "no dscp before `to`; write a number from 0 to 63"),
        ("qos map dscp 1\n", "no `to`; write such as qos map dscp 0 to traffic-class 1"),
        (
            "priority-flow-control pause watchdog default timeout 200\n",
            "timeout '200': must be at most 60 seconds, such as 0.2",
        ),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    assert message in complaint(text)


def test_all_mistakes_at_once() -> None:
    text = "qos map dscp 64 to traffic-class 1\n" + interface("tx-queue 9", "priority-flow-control priority 8 no-drop")
    assert [line.partition(": ")[0] for line in complaint(text).splitlines()] == [
        "leaf.cfg:1",
        "leaf.cfg:3",
        "leaf.cfg:4",
    ]


def test_a_chip_without_lossless_groups_has_no_pfc() -> None:
    text = interface("priority-flow-control on", "priority-flow-control priority 3 no-drop")
    assert "profile triumph has no lossless priority groups; take another --chip" in complaint(text, "triumph")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"a\n\xff", "leaf.cfg:2: byte 0xff is not UTF-8"),
        (b"a" * (8 * 2**20 + 1), "more than 8 MiB"),
    ],
)
def test_what_is_no_configuration(data: bytes, message: str) -> None:
    with pytest.raises(LabError, match=message):
        parse_config_text(data, "leaf.cfg")


def test_an_unknown_chip() -> None:
    with pytest.raises(ChipError, match="did you mean 'trident-3'"):
        read_chip("trident3")


def test_hostile_indentation() -> None:
    text = "\n".join(" " * depth + "tx-queue 1" for depth in range(3000))
    assert parse_config_text(text.encode(), "leaf.cfg").commands[0].size == 3000


COMMANDS = (
    "qos map dscp 0-7 99 to traffic-class 1",
    "qos profile P",
    "interface Ethernet1",
    "service-profile P",
    "priority-flow-control on",
    "no priority-flow-control priority 1 no-drop",
    "priority-flow-control pause watchdog default timeout 0.2",
    "uc-tx-queue 1",
    "random-detect ecn minimum-threshold 9 kbytes maximum-threshold",
    "bandwidth guaranteed percent shape rate no priority strict",
)
WORDS = st.sampled_from(sorted({word for command in COMMANDS for word in command.split()}))
LINES = st.lists(st.tuples(st.integers(0, 9), st.lists(WORDS, min_size=1, max_size=8)), min_size=1, max_size=12)


@settings(max_examples=200, deadline=None)
@given(lines=LINES)
def test_any_words_are_taken_or_told(lines: list[tuple[int, list[str]]]) -> None:
    text = "".join(f"{' ' * indent}{' '.join(words)}\n" for indent, words in lines)
    try:
        profile = imported(text)
    except LabError as error:
        assert all(str(problem).startswith("leaf.cfg:") for problem in error.mistakes)
    else:
        assert profile.text.startswith("# QoS of leaf.cfg")


def test_the_command(tmp_path: Path) -> None:
    arguments = ["arista", "import", str(GOLDEN / "hadoop.cfg"), "-o", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert (tmp_path / "leaf-b.yml").read_text() == (GOLDEN / "hadoop.yml").read_text().replace(
        "leaf.cfg", "hadoop.cfg"
    )
    assert "leaf-b.yml: profile leaf-b, QoS of 2 interfaces on the memory of trident-3" in done.stderr
    assert "  router (2 lines): not QoS" in done.stderr
    again = CliRunner().invoke(app, arguments)
    assert (again.exit_code, "already exists; --force replaces it" in again.stderr) == (2, True)
    assert CliRunner().invoke(app, [*arguments, "--force", "--chip", "tomahawk"]).exit_code == 2
    assert CliRunner().invoke(app, ["arista", "import", str(tmp_path / "none.cfg")]).exit_code == 2
