"""The tool that measures a host's links, in network namespaces of its own: it is told of what changes, and answers come
back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from patience import patient

from fabriclab.engine.artefacts import locate_artefacts

PATIENCE_S = patient(120)
_ISOLATED = ("unshare", "--user", "--map-root-user", "--net")


@pytest.fixture(scope="module")
def gauge() -> Path:
    """The built tool, where this host lets us have a network namespace."""
    tools = locate_artefacts()["tools"]
    if tools is None or not (tools / "gauge").exists():
        pytest.skip("the gauge is not built: make machine")
    if subprocess.run([*_ISOLATED, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode:
        pytest.skip("this host gives no network namespace: run the tests as root")
    return tools / "gauge"


def isolated(script: str, gauge: Path) -> str:
    """Return what a script says in a network namespace of its own."""
    argv = [*_ISOLATED, "sh", "-euc", script, "sh", str(gauge)]
    return subprocess.run(argv, capture_output=True, check=True, text=True, timeout=PATIENCE_S).stdout


# Each step waits until the tool has told of the one before: a change may take several looks.
CHANGES = """
log=$(mktemp)
"$1" changes ip -j route show >"$log" &
until grep -q . "$log"; do sleep 0.05; done
ip link set lo up
until [ "$(wc -l <"$log")" -ge 2 ]; do sleep 0.05; done
ip route add 10.9.0.0/24 dev lo
until tail -n 1 "$log" | grep -q 10.9.0.0; do sleep 0.05; done
ip route del 10.9.0.0/24
while tail -n 1 "$log" | grep -q 10.9.0.0; do sleep 0.05; done
kill $!
cat "$log"
rm "$log"
"""


def test_it_is_told_of_links_and_routes(gauge: Path) -> None:
    looks = [line.split(" ", 2) for line in isolated(CHANGES, gauge).splitlines()]
    tables = [json.loads(table) for _, _, table in looks]
    assert tables[0] == [] and tables[-1] == []
    assert any(route["dst"] == "10.9.0.0/24" for table in tables for route in table)
    times = [int(time) for began, ended, _ in looks for time in (began, ended)]
    assert times == sorted(times), "a look ends before the next begins"


def test_round_trips_of_both_families_come_back(gauge: Path) -> None:
    said = isolated('ip link set lo up; "$1" round-trips --count 3 --pause-us 1 127.0.0.1 ::1', gauge)
    found = [json.loads(line) for line in said.splitlines()]
    assert [record["address"] for record in found] == ["127.0.0.1", "::1"]
    for record in found:
        assert record["sent"] == len(record["round_trips_ns"]) == 3
        assert min(record["round_trips_ns"]) > 0


def test_what_nobody_answers_is_missing(gauge: Path) -> None:
    # No route at all: nothing is sent, and that is not a failure of the tool's.
    said = isolated('"$1" round-trips --count 3 192.0.2.1 || true', gauge)
    assert [json.loads(line)["round_trips_ns"] for line in said.splitlines()] in ([], [[]])


def test_a_lines_rate_is_its_own_counters(gauge: Path) -> None:
    script = """
ip link set lo up
ip link add a type veth peer name b 2>/dev/null || exit 0
ip link set a up; ip link set b up
"$1" rates a:1514:60000:40
"""
    said = isolated(script, gauge)
    if not said:
        pytest.skip("this kernel has no veth: sudo modprobe veth")
    record = json.loads(said)
    assert record["interface"] == "a" and record["frames"] > 0
    assert record["bytes"] == record["frames"] * 1514 and record["time_ns"] > 0


def test_a_line_that_is_none_is_named(gauge: Path) -> None:
    argv = [*_ISOLATED, str(gauge), "rates", "nothing:1514:60000:40"]
    failed = subprocess.run(argv, capture_output=True, check=False, text=True, timeout=PATIENCE_S)
    assert failed.returncode == 1 and failed.stderr.startswith("gauge: nothing: ")


def test_a_queue_that_delays_holds_no_more_than_the_window(gauge: Path) -> None:
    # netem takes frames off their socket's account: the gauge counts for itself what has not left.
    script = """
ip link set lo up
ip link add a type veth peer name b 2>/dev/null || exit 0
ip link set a up; ip link set b up
tc qdisc add dev a root handle 1: tbf rate 20mbit burst 1514 limit 15000000 2>/dev/null || exit 0
tc qdisc add dev a parent 1:1 handle 2: netem limit 1000000 delay 25us 2>/dev/null || exit 0
"$1" rates a:1514:60000:100 >/dev/null
tc -j -s qdisc show dev a
"""
    said = isolated(script, gauge)
    if not said:
        pytest.skip("this kernel lacks veth, or tbf and netem: sudo modprobe -a veth sch_tbf sch_netem")
    queue = next(one for one in json.loads(said) if one["kind"] == "tbf")
    assert queue["packets"] > 0 and queue["drops"] == 0
    assert queue["backlog"] <= 60000
