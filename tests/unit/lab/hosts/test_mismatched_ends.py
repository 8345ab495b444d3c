"""Settings that need both ends of a connection: who follows whom, and what is said where the ends
contradict each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from shipped_labs import NAMES, shipped_lab, shipped_resolver
from small_fabrics import link, plan_of, star

from fabriclab.compile import compiled_flows, trace_text
from fabriclab.formats.plan import Plan, parse_plan_json, plan_json

THREE_HOSTS = star(*(link(f"h{number}:eth1", f"s1:eth{number}") for number in (1, 2, 3)), hosts=("h1", "h2", "h3"))
HEAD = "title: T\nswitches: {default: {buffer: 64 KB, ecn_threshold: 30 KB}}\n"
PUSH = "traffic:\n  bulk: {kind: long, senders: [h1, h2], receiver: h3, stop: 1 s}\n"
PULL = "traffic:\n  ask: {kind: flows, senders: [h1, h2], receiver: h3, size: 100 KB, mode: pull}\n"
IPERF3 = "traffic:\n  bulk: {kind: iperf3, senders: [h1, h2], receiver: h3, stop: 1 s}\n"
MIXED_SENDERS = "h1..h2: {congestion_control: dctcp}"


def plan_with(directory: Path, hosts: str, traffic: str = PUSH, **settings: str) -> Plan:
    return plan_of(directory, THREE_HOSTS, f"{HEAD}hosts: {{{hosts}}}\n{traffic}", **settings)


def controls(plan: Plan, directory: Path) -> list[str | None]:
    """Return the congestion control of each flow, by the names of the senders."""
    return compiled_flows(plan, directory).sort("src")["congestion_control"].to_list()


@pytest.mark.parametrize("traffic", [PUSH, PULL])
def test_a_host_that_nobody_spoke_of_runs_dctcp_where_its_sender_does(tmp_path: Path, traffic: str) -> None:
    plan = plan_with(tmp_path, MIXED_SENDERS, traffic)
    assert controls(plan, tmp_path) == ["dctcp", "dctcp"]
    assert plan.warnings == ()
    receiver = plan.node("h3").transport
    assert receiver is not None and (receiver.congestion_control, receiver.answers_dctcp) == ("cubic", True)
    assert parse_plan_json(plan_json(plan)) == plan


def test_only_flows_of_dctcp_are_answered_so(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, "h1: {congestion_control: dctcp}")
    assert controls(plan, tmp_path) == ["dctcp", None]


@pytest.mark.parametrize(
    "hosts", ["", "default: {congestion_control: dctcp}", "default: {congestion_control: cubic}", "h3: {ecn: on}"]
)
def test_where_the_ends_agree_nothing_is_written_and_nothing_said(tmp_path: Path, hosts: str) -> None:
    plan = plan_with(
        tmp_path, hosts, PUSH.replace("senders: [h1, h2]", "senders: [h3]").replace("receiver: h3", "receiver: h1")
    )
    assert plan.warnings == ()
    assert "congestion_control" not in "".join(trace_text(compiled_flows(plan, tmp_path)))
    assert "answers_dctcp" not in plan_json(plan)


def test_a_users_trace_is_answered_too(tmp_path: Path) -> None:
    rows = "0,0,h1,h3,1000,,,\n1,0,h1,h3,1000,,,reno\n2,0,h2,h3,1000,,,\n"
    head = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,congestion_control\n"
    (tmp_path / "mine.csv").write_text(head + rows)
    plan = plan_with(tmp_path, "h1: {congestion_control: dctcp}", "traffic:\n  mine: {kind: trace, file: mine.csv}\n")
    assert controls(plan, tmp_path) == ["dctcp", "reno", None]


REFUSED = "with which Linux refuses ECN to DCTCP's SYN; write dctcp for both ends"
BETWEEN = "flows of traffic.bulk between h3 and h1, h2 get no marks, only losses"


@pytest.mark.parametrize(
    ("hosts", "sentence"),
    [
        # What was written stays; it is said.
        (
            f"{MIXED_SENDERS}, h3: {{congestion_control: cubic}}",
            f"experiment.yml:3: hosts.h3.congestion_control is cubic: {BETWEEN}, because the listening end runs cubic, "
            f"{REFUSED}",
        ),
        (
            f"{MIXED_SENDERS}, default: {{congestion_control: reno}}",
            f"experiment.yml:3: hosts.default.congestion_control is reno: {BETWEEN}, because the listening end runs "
            "reno, "
            f"{REFUSED}",
        ),
        (
            f"{MIXED_SENDERS}, h3: {{ecn: off}}",
            f"experiment.yml:3: hosts.h3.ecn is off: {BETWEEN}, because the listening end runs cubic, {REFUSED}",
        ),
        (
            "h1..h2: {ecn: on}, h3: {ecn: off}",
            f"experiment.yml:3: hosts.h3.ecn is off: {BETWEEN}, because ecn of the other end is on; write accept or on",
        ),
        (
            "h1..h2: {ecn: off}, h3: {ecn: on}",
            "experiment.yml:3: hosts.h1..h2.ecn is off: flows of traffic.bulk between h1, h2 and h3 get no marks, "
            "only losses, because ecn of the other end is on; write accept or on",
        ),
        (
            "h3: {ecn: on}",
            f"experiment.yml:3: hosts.h3.ecn is on: {BETWEEN}, because the other end opens them and does not request "
            "ECN; write ecn: on for it, too",
        ),
        (
            "h3: {congestion_control: dctcp}",
            f"experiment.yml:3: hosts.h3.congestion_control is dctcp: {BETWEEN}, because the other end opens them and "
            "does not request ECN; write ecn: on for it, too",
        ),
        (
            "h3: {window_limit: 4}",
            "experiment.yml:3: hosts.h3.window_limit is 4, but h3 sends no data, and the limit applies only to a host "
            "that sends",
        ),
    ],
)
def test_ends_that_contradict_each_other_are_named(tmp_path: Path, hosts: str, sentence: str) -> None:
    plan = plan_with(tmp_path, hosts)
    assert plan.warnings == (sentence,)
    assert controls(plan, tmp_path) == [None, None]


def test_who_opens_a_connection_asks_for_ecn(tmp_path: Path) -> None:
    assert plan_with(tmp_path, "h3: {ecn: on}", PULL).warnings == ()
    (warning,) = plan_with(tmp_path, "h3: {congestion_control: dctcp}", PULL).warnings
    assert warning.startswith(
        "experiment.yml:3: hosts.h3.congestion_control is dctcp: flows of traffic.ask between h3 and h1, "
        "h2 get no marks"
    )
    (warning,) = plan_with(tmp_path, "h1..h2: {ecn: on}", PULL).warnings
    assert warning.endswith(
        "between h1, h2 and h3 get no marks, only losses, because the other end opens them and does not request ECN; "
        "write ecn: on for it, too"
    )


def test_a_shuffle_pulls_and_its_output_is_pushed(tmp_path: Path) -> None:
    shuffle = (
        "traffic:\n  job: {{kind: shuffle, sources: [h3], mappers: [h1], reducers: [h2], size: 1 MB, replicas: {}}}\n"
    )
    hosts = "h1..h2: {ecn: on}"
    assert plan_with(tmp_path, hosts, shuffle.format(2)).warnings == ()
    (warning,) = plan_with(tmp_path, hosts, shuffle.format(3)).warnings
    assert "traffic.job between h1, h2 and h3 get no marks" in warning


def test_iperf3_can_not_follow(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, MIXED_SENDERS, IPERF3)
    (warning,) = plan.warnings
    assert warning.startswith(
        "experiment.yml:3: hosts.h1..h2.congestion_control is dctcp: flows of traffic.bulk between h1, h2 and h3"
    )
    assert controls(plan, tmp_path) == [None, None]
    assert plan_with(tmp_path, "default: {congestion_control: dctcp}", IPERF3).warnings == ()
    asked = IPERF3.replace("stop: 1 s", "stop: 1 s, congestion_control: dctcp")
    (warning,) = plan_with(tmp_path, "", asked).warnings
    assert warning.startswith(
        "traffic.bulk.congestion_control is dctcp: flows of traffic.bulk between h1, h2 and h3 get no marks"
    )
    assert plan_with(tmp_path, "h1..h2: {ecn: on}", asked).warnings == ()
    (warning,) = plan_with(tmp_path, "default: {window_limit: 3}", IPERF3).warnings
    assert "hosts.default.window_limit is 3: flows of traffic.bulk between h1, h2 and h3 do not obey it" in warning


def test_mptcp_at_one_end_is_told(tmp_path: Path) -> None:
    mptcp = PUSH.replace("stop: 1 s", "stop: 1 s, transport: mptcp")
    (warning,) = plan_with(tmp_path, "h3: {mptcp: {subflows: 4}}", mptcp).warnings
    assert warning == (
        "experiment.yml:3: only one end has mptcp: flows of traffic.bulk between h3 and h1, h2 have one subflow each; "
        "write mptcp for the other end, too"
    )
    assert plan_with(tmp_path, "default: {mptcp: {subflows: 4}}", mptcp).warnings == ()
    for kind in (mptcp, IPERF3.replace("stop: 1 s", "stop: 1 s, transport: mptcp")):
        assert plan_with(tmp_path, "default: {mptcp: {subflows: 4}, window_limit: 8}", kind).warnings == ()
    assert plan_with(tmp_path, "h3: {mptcp: {subflows: 4}}").warnings == ()


def test_what_a_traffic_says_itself_holds_for_both_ends(tmp_path: Path) -> None:
    asked = PUSH.replace("stop: 1 s", "stop: 1 s, congestion_control: dctcp")
    assert plan_with(tmp_path, "h3: {congestion_control: cubic}", asked).warnings == ()
    (warning,) = plan_with(
        tmp_path, "default: {congestion_control: cubic}", **{"hosts.h1.congestion_control": "dctcp"}
    ).warnings
    assert "hosts.default.congestion_control is cubic: flows of traffic.bulk between h3 and h1 get no marks" in warning


@pytest.mark.no_cover
@pytest.mark.slow("plans each lab with its variants")
def test_no_shipped_lab_follows(tmp_path: Path) -> None:
    """Their hosts' congestion control is written wherever DCTCP runs: their flows are what they were
    before hosts followed."""
    for lab in map(shipped_lab, NAMES):
        resolver = shipped_resolver(lab.name)
        for settings in [{}, *({"variant": name} for name in lab.variants)]:
            plan = resolver.resolve(settings)
            assert not any(node.transport is not None and node.transport.answers_dctcp for node in plan.nodes), (
                lab.name,
                settings,
            )


def test_check_says_it_with_file_and_line(tmp_path: Path) -> None:
    plan_with(tmp_path, f"{MIXED_SENDERS}, h3: {{congestion_control: cubic}}")
    done = subprocess.run(
        [sys.executable, "-m", "fabriclab", "check", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert (
        "warning: experiment.yml:3: hosts.h3.congestion_control is cubic: flows of traffic.bulk between h3 and h1, h2"
        in done.stdout
    )
