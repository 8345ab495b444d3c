"""Flow traces: what is generated, and what of a user's own is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sample_plans import LONG, ROUNDS, star

from fabriclab.compile import TraceError, compile_hosts, compile_trace
from fabriclab.plan.model import FlowsTraffic, RoundsTraffic, TraceTraffic, Traffic

NOWHERE = Path("/nonexistent")
HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"


@pytest.fixture
def in_written_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the seed leave the senders in the order in which they are written."""
    monkeypatch.setattr("fabriclab.compile.trace._order", lambda traffic, _: traffic.senders)


def rows(*traffic: Traffic, seed: int = 1) -> list[str]:
    lines = list(compile_trace(star(traffic=traffic, seed=seed), NOWHERE))
    assert "".join(lines[:2]) == HEADER
    return [line.rstrip("\n") for line in lines[2:]]


def sources(rounds: RoundsTraffic, seed: int) -> list[str]:
    return [row.split(",")[2] for row in rows(rounds, seed=seed)]


def test_the_seed_decides_who_is_asked_first_in_every_round_alike() -> None:
    many = ROUNDS.model_copy(update={"senders": tuple(f"h{number}" for number in range(1, 21))})
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
    assert rows(ROUNDS.model_copy(update={"connection": "new", "rounds": 1}))[0] == "0,1000000,h1,h3,256000,,pull,,sru.r0,,sru"


@pytest.mark.usefixtures("in_written_order")
def test_long_flows_start_one_after_the_other_and_stop_together() -> None:
    assert rows(LONG) == ["0,0,h1,h3,,500000000,push,,,,long", "1,1000000,h2,h3,,500000000,push,,,,long"]


@pytest.mark.usefixtures("in_written_order")
def test_numbers_go_on_from_traffic_to_traffic() -> None:
    single = FlowsTraffic(name="mice", senders=("h1",), receiver="h2", size_bytes=9000, count=2, start_ns=5, interval_ns=100, mode="push")
    assert rows(LONG, single)[2:] == ["2,5,h1,h2,9000,,push,,,,mice", "3,105,h1,h2,9000,,push,,,,mice"]


def test_hosts_have_their_first_ports_address() -> None:
    assert compile_hosts(star(2)) == "# fabriclab-hosts-1\nhost,address\nh1,10.0.1.1\nh2,10.0.2.1\n"


def user_trace(directory: Path, text: str, **changes: str) -> list[str]:
    (directory / "mine.csv").write_text(text)
    trace = TraceTraffic(name="mine", file="mine.csv", sha256=hashlib.sha256(text.encode()).hexdigest())
    plan = star(traffic=(LONG, trace.model_copy(update=changes)))
    return [line.rstrip("\n") for line in compile_trace(plan, directory)][2:]


@pytest.mark.usefixtures("in_written_order")
def test_a_users_flows_keep_their_numbers_and_the_others_follow(tmp_path: Path) -> None:
    assert user_trace(tmp_path, HEADER + "7,0,h1,h2,4,,push,,,,web\n") == [
        "7,0,h1,h2,4,,push,,,,web",
        "8,0,h1,h3,,500000000,push,,,,long",
        "9,1000000,h2,h3,,500000000,push,,,,long",
    ]


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    text = "# fabriclab-trace-1\nclass,flow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after\nweb,7,0,h1,h2,4,,push,,,\n"
    assert user_trace(tmp_path, text)[0] == "7,0,h1,h2,4,,push,,,,web"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,0,h1,h9,4,,push,,,,web", "mine.csv:3: dst: 'h9' is no host of this lab: h1, h2, h3"),
        ("0,0,s1,h2,4,,push,,,,web", "mine.csv:3: src: 's1' is no host of this lab: h1, h2, h3"),
        ("x,0,h1,h2,4,,push,,,,web", "mine.csv:3: flow: 'x' must be a whole number from 0 to 4294967295"),
        ("4294967296,0,h1,h2,4,,push,,,,web", "mine.csv:3: flow: '4294967296' must be a whole number from 0 to 4294967295"),
        ("0,-1,h1,h2,4,,push,,,,web", "mine.csv:3: start_ns: '-1' must be a whole number"),
        ("0,0,h1,h2,3,,push,,,,web", "mine.csv:3: size_bytes: '3' must be at least 4"),
        ("0,0,h1,h2,4,9,push,,,,web", "mine.csv:3: exactly one of size_bytes ('4') and stop_ns ('9') must be given"),
        ("0,0,h1,h2,,,push,,,,web", "mine.csv:3: exactly one of size_bytes ('') and stop_ns ('') must be given"),
        ("0,0,h1,h2,4,,shove,,,,web", "mine.csv:3: mode: 'shove' must be push or pull"),
        ("0,0,h1,h2,4", "mine.csv:3: 11 columns are needed"),
        ("0,0,h1,h2,4,,push,,,,web,more", "mine.csv:3: 11 columns are needed"),
        ("0,0,h1,h2,4,,push,,,,web\n0,0,h1,h2,4,,push,,,,web", "mine.csv:4: flow: 0 stands here twice"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(TraceError) as raised:
        user_trace(tmp_path, HEADER + row + "\n")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.csv:1: '': the first line must be '# fabriclab-trace-1'"),
        ("# fabriclab-trace-2\n", "mine.csv:1: '# fabriclab-trace-2': the first line must be '# fabriclab-trace-1'"),
        ("# fabriclab-trace-1\nflow,begin\n", "mine.csv:2: 'flow,begin': the columns must be flow,start_ns,"),
    ],
)
def test_a_bad_head_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TraceError) as raised:
        user_trace(tmp_path, text)
    assert message in str(raised.value)


def test_a_trace_that_changed_since_the_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="has changed since the plan was made"):
        user_trace(tmp_path, HEADER, sha256="0" * 64)
