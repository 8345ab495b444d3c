"""Flows that `replay` sends over RoCE in the machine: what their logs say, by the arithmetic of the headers."""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from machine import START_NS, Boot, Star
from switch_port import Port, Roce
from test_roce_machine import (
    AETH,
    CRC,
    DELAY_NS,
    ETHERNET,
    HEADERS,
    MTU,
    NIC,
    RATE_BPS,
    ends,
    wire_bytes,
)

pytestmark = pytest.mark.vm
ACKNOWLEDGEMENT = max(84, HEADERS + AETH + CRC + ETHERNET)
MESSAGE = 256 * 1024
"""A long flow's messages."""
COLUMNS = "flow,start_ns,src,dst,size_bytes,stop_ns,mode,request_bytes,group,after,transport"
HOSTS = "# fabriclab-hosts-1\nhost,address\nh1,10.1.0.2\nh2,10.2.0.2\n"
Row = dict[str, str]


def played(boot: Boot, rows: str, nics: list[Port]) -> tuple[list[Row], list[Row]]:
    """Return the logs of both hosts, in the order in which flows ended."""
    star = Star(nics, [Port(RATE_BPS)] * 2, cable_ns=DELAY_NS)
    until_ns = START_NS + 100_000_000
    processes = [
        (
            host,
            [
                f"/tools/replay --host {host} --trace /job/trace.csv --hosts /job/hosts.csv --log /job/{host}.csv"
                f" --until-ns {until_ns} 2> /job/{host}.err &"
            ],
        )
        for host in ("h1", "h2")
    ]
    trace = f"# fabriclab-trace-1\n{COLUMNS}\n{rows}"
    run = boot.run(star, processes, files={"trace.csv": trace, "hosts.csv": HOSTS})
    return log(run, "h1"), log(run, "h2")


def log(run: Path, host: str) -> list[Row]:
    return list(csv.DictReader((run / f"{host}.csv").read_text().splitlines()[1:]))


def data(size: int) -> list[int]:
    """What a WRITE of a size takes on the line, frame by frame."""
    payloads = [min(MTU, size - place) for place in range(0, size, MTU)]
    return [wire_bytes(payload, begins=place == 0) for place, payload in enumerate(payloads)]


def test_a_push_and_a_pull_after_it_end_when_their_frames_do(boot: Boot) -> None:
    rows = f"0,{START_NS},h1,h2,2148,,push,,round,,roce\n1,1000,h1,h2,100000,,pull,64,,round,roce\n"
    sent, received = played(boot, rows, [NIC, NIC])
    push, pull = received
    arrived = START_NS + ends(data(2148))[-1]
    assert (push["flow"], push["status"], push["bytes"], push["transport"]) == ("0", "complete", "2148", "roce")
    assert int(push["end_ns"]) == arrived
    assert push["start_ns"] == push["connected_ns"] == push["retransmits"] == ""
    assert int(push["first_byte_ns"]) == START_NS + ends(data(2148))[0]
    assert sent[0]["retransmits"] == sent[0]["timeouts"] == sent[0]["marks"] == "0"
    assert int(sent[0]["end_ns"]) == arrived + ends([ACKNOWLEDGEMENT])[0]
    assert sent[0]["start_ns"] == sent[0]["first_byte_ns"] == str(START_NS)

    asked = int(pull["start_ns"])
    assert asked == arrived + 1000
    # The request is acknowledged before the data go.
    answered = asked + ends([wire_bytes(64)])[0]
    assert (pull["status"], pull["bytes"]) == ("complete", "100000")
    assert int(pull["end_ns"]) == answered + ends([ACKNOWLEDGEMENT, *data(100_000)])[-1]
    begun = answered + ACKNOWLEDGEMENT * 8 * 10**9 // RATE_BPS
    assert (sent[1]["start_ns"], int(sent[1]["first_byte_ns"])) == ("", begun)
    assert sent[1]["status"] == "complete"


def test_a_long_flow_stops_at_its_time_with_whole_messages(boot: Boot) -> None:
    length_ns = 5_000_000
    rows = f"0,{START_NS},h1,h2,,{START_NS + length_ns},push,,,,roce\n"
    sent, received = played(boot, rows, [NIC, NIC])
    messages = list(itertools.chain.from_iterable(itertools.repeat(data(MESSAGE), 30)))
    arrivals = ends(messages)[MESSAGE // MTU - 1 :: MESSAGE // MTU]
    whole = sum(time <= length_ns for time in arrivals)
    acknowledged = sum(time + ends([ACKNOWLEDGEMENT])[0] <= length_ns for time in arrivals)
    for row, count in ((sent[0], acknowledged), (received[0], whole)):
        assert (row["status"], int(row["end_ns"])) == ("stopped", START_NS + length_ns)
        assert int(row["bytes"]) == count * MESSAGE
    assert whole > 20, "the line is never idle"


def test_a_nic_without_roce_fails_its_flows_and_a_peer_without_it_costs_the_retries(boot: Boot) -> None:
    nic = replace(NIC, roce=Roce(retries=2, timeout_ns=1_000_000))
    rows = f"0,{START_NS},h1,h2,9,,push,,,,roce\n1,{START_NS},h2,h1,9,,push,,,,roce\n"
    ours, theirs = played(boot, rows, [nic, Port(RATE_BPS)])
    by_flow = {row["flow"]: row for row in ours}
    assert by_flow["0"]["status"] == "failed: ETIMEDOUT"
    assert int(by_flow["0"]["end_ns"]) == START_NS + 3_000_000
    assert by_flow["1"]["status"] == "unstarted"
    assert {row["flow"]: row["status"] for row in theirs} == {"0": "failed: ENODEV", "1": "failed: ENODEV"}
    assert all(row["transport"] == "" for row in theirs)
