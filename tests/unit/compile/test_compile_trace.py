"""The flow trace of a plan: order, numbers, the text; a user's own among it. (Bad ones:
test_workload_bad_traces.py.)"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sample_plans import LONG, ROUNDS, changed, star

from fabriclab.compile import TraceError, compile_hosts, compiled_flows, trace_text
from fabriclab.formats.plan.traffic import FlowsTraffic, RoundsTraffic, TraceTraffic, Traffic

NOWHERE = Path("/nonexistent")
HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"


@pytest.fixture
def in_written_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the seed leave the senders in the order in which they are written."""
    monkeypatch.setattr("fabriclab.workload.site.Site.order", lambda _, __, senders: list(senders))


def rows(*traffic: Traffic, seed: int = 1) -> list[str]:
    text = "".join(trace_text(compiled_flows(star(20, traffic=traffic, seed=seed), NOWHERE)))
    assert text.startswith(HEADER)
    return text.removeprefix(HEADER).splitlines()


def sources(rounds: RoundsTraffic, seed: int) -> list[str]:
    return [row.split(",")[2] for row in rows(rounds, seed=seed)]


def test_the_seed_decides_who_is_asked_first_in_every_round_alike() -> None:
    many = changed(ROUNDS, **{"senders": tuple(f"h{number}" for number in range(1, 21))})
    one, other = sources(many, 1), sources(many, 2)
    assert one == sources(many, 1)
    assert one != other
    assert one[:20] == one[20:]
    assert sorted(one[:20]) == sorted(other[:20]) == sorted(many.senders)


def test_flows_that_start_one_after_the_other_keep_their_order() -> None:
    assert {row.split(",")[2] for seed in range(20) for row in rows(LONG, seed=seed)[:1]} == {"h1"}


@pytest.mark.usefixtures("in_written_order")
def test_rounds_wait_for_the_round_before_and_keep_their_connections() -> None:
    assert rows(ROUNDS) == [
        "0,1000000,h1,h3,256000,,pull,sru,sru.r0,,sru",
        "1,1000000,h2,h3,256000,,pull,sru,sru.r0,,sru",
        "2,0,h1,h3,256000,,pull,sru,sru.r1,sru.r0,sru",
        "3,0,h2,h3,256000,,pull,sru,sru.r1,sru.r0,sru",
    ]


@pytest.mark.usefixtures("in_written_order")
def test_new_connections_have_no_name() -> None:
    assert rows(changed(ROUNDS, connection="new", rounds=1))[0] == "0,1000000,h1,h3,256000,,pull,,sru.r0,,sru"


@pytest.mark.usefixtures("in_written_order")
def test_long_flows_start_one_after_the_other_and_stop_together() -> None:
    assert rows(LONG) == ["0,0,h1,h3,,500000000,push,,,,long", "1,1000000,h2,h3,,500000000,push,,,,long"]


@pytest.mark.usefixtures("in_written_order")
def test_numbers_go_on_from_traffic_to_traffic() -> None:
    single = FlowsTraffic(
        name="mice", senders=("h1",), receiver="h2", size_bytes=9000, count=2, start_ns=5, interval_ns=100, mode="push"
    )
    assert rows(LONG, single)[2:] == ["2,5,h1,h2,9000,,push,,,,mice", "3,105,h1,h2,9000,,push,,,,mice"]


def test_hosts_have_their_first_ports_address() -> None:
    assert compile_hosts(star(2)) == "# fabriclab-hosts-1\nhost,address\nh1,10.0.1.1\nh2,10.0.2.1\n"


def user_trace(directory: Path, text: str, **changes: str) -> list[str]:
    (directory / "mine.csv").write_text(text)
    trace = TraceTraffic(name="mine", file="mine.csv", sha256=hashlib.sha256(text.encode()).hexdigest())
    plan = star(traffic=(LONG, changed(trace, **changes)))
    return "".join(trace_text(compiled_flows(plan, directory))).splitlines()[2:]


@pytest.mark.usefixtures("in_written_order")
def test_a_users_flows_keep_their_numbers_and_the_others_follow(tmp_path: Path) -> None:
    assert user_trace(tmp_path, HEADER + "7,0,h1,h2,4,,push,,,,web\n") == [
        "7,0,h1,h2,4,,push,,,,web",
        "8,0,h1,h3,,500000000,push,,,,long",
        "9,1000000,h2,h3,,500000000,push,,,,long",
    ]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    text = (
        "# fabriclab-trace-1\nclass,flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after\nweb,7,0,h1,"
        "h2,4,,push,,,\n"
    )
    assert user_trace(tmp_path, text)[0] == "7,0,h1,h2,4,,push,,,,web"


def test_a_trace_that_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has changed since the plan was made"):
        user_trace(tmp_path, HEADER, sha256="0" * 64)
