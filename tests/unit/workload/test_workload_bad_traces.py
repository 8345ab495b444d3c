"""A user's flow trace that breaks the rules of traffic/README.md: what is said, with file and line."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
import pytest
from sample_plans import star

from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.workload import TraceError, UserTrace, read_traces, site_of
from fabriclab.workload.groups import waiting_loop

VERSION = "# fabriclab-trace-1\n"
COLUMNS = (
    *(
        "flow",
        "start_ns",
        "src",
        "dst",
        "size_bytes",
        "stop_ns",
        "mode",
        "request_bytes",
        "connection",
        "group",
        "after",
    ),
    *("class", "transport", "congestion_control", "dscp", "deadline_ns", "ip"),
)
GOOD = {"flow": "0", "start_ns": "0", "src": "h1", "dst": "h2", "size_bytes": "4"}
LONG = {"size_bytes": "", "stop_ns": "9"}


def line(**changes: str) -> str:
    return ",".join((GOOD | changes).get(column, "") for column in COLUMNS) + "\n"


def numbered(*rows: dict[str, str]) -> str:
    return (
        VERSION
        + ",".join(COLUMNS)
        + "\n"
        + "".join(line(**{"flow": str(number), **row}) for number, row in enumerate(rows))
    )


def read(*texts: str) -> pl.DataFrame:
    traces = [UserTrace(f"t{number}", f"t{number}.csv", text.encode()) for number, text in enumerate(texts)]
    return read_traces(traces, site_of(star(3)), CONGESTION_CONTROLS)


def complaints(*texts: str) -> list[str]:
    with pytest.raises(TraceError) as raised:
        read(*texts)
    return str(raised.value).split("\n")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"flow": "x"}, "flow: 'x' must be a whole number from 0 to 4294967294"),
        ({"flow": ""}, "flow: '' must be a whole number from 0 to 4294967294"),
        ({"flow": "4294967295"}, "flow: '4294967295' must be a whole number from 0 to 4294967294"),
        ({"flow": "+1"}, "flow: '+1' must be a whole number from 0 to 4294967294"),
        ({"start_ns": "-1"}, "start_ns: '-1' must be a whole number from 0 to 4611686018427387903"),
        ({"start_ns": "1.5"}, "start_ns: '1.5' must be a whole number from 0 to 4611686018427387903"),
        (
            {"start_ns": "99999999999999999999"},
            "start_ns: '99999999999999999999' must be a whole number from 0 to 4611686018427387903",
        ),
        (
            {"start_ns": "9999999999999999999"},
            "start_ns: '9999999999999999999' must be a whole number from 0 to 4611686018427387903",
        ),
        ({"src": "s1"}, "src: 's1' is not a host of this lab: h1, h2, h3"),
        ({"dst": "h9"}, "dst: 'h9' is not a host of this lab: h1, h2, h3"),
        ({"dst": ""}, "dst: '' is not a host of this lab: h1, h2, h3"),
        ({"dst": "h1"}, "dst: 'h1' is also src; it must be another host"),
        ({"size_bytes": "3"}, "size_bytes: '3' must be at least 4, a whole number of bytes"),
        ({"size_bytes": "0"}, "size_bytes: '0' must be at least 4, a whole number of bytes"),
        ({"size_bytes": "4 KB"}, "size_bytes: '4 KB' must be at least 4, a whole number of bytes"),
        ({"stop_ns": "9"}, "exactly one of size_bytes ('4') and stop_ns ('9') must be given"),
        ({"size_bytes": ""}, "exactly one of size_bytes ('') and stop_ns ('') must be given"),
        (LONG | {"stop_ns": "0"}, "stop_ns: '0' must be a whole number from 1 to 4611686018427387903"),
        (LONG | {"start_ns": "9"}, "stop_ns: '9' must be later than start_ns, 9"),
        ({"mode": "shove"}, "mode: 'shove' must be one of push, pull, read, iperf3"),
        ({"mode": "read"}, "mode: 'read' is RDMA READ, which only RoCE has; write push or pull, or transport roce"),
        ({"mode": "iperf3"}, "mode: 'iperf3' needs a stop_ns, because iperf3 sends until a set time"),
        (LONG | {"request_bytes": "4"}, "request_bytes: '4' is only for mode pull; leave it empty"),
        (
            {"mode": "pull", "request_bytes": "3"},
            "request_bytes: '3' must be a whole number of bytes from 4 to 4294967295",
        ),
        (
            LONG | {"connection": "c"},
            "connection: 'c' would be kept, but a long flow ends with its connection; leave it empty where stop_ns is "
            "given",
        ),
        (
            {"connection": "c", "transport": "mptcp"},
            "connection: 'c' would be kept, but each flow over MPTCP has its own connection; leave it empty",
        ),
        ({"after": "nobody"}, "after: no flow has the group 'nobody'"),
        ({"transport": "udp"}, "transport: 'udp' must be one of tcp, mptcp, roce, homa"),
        (
            {"congestion_control": "Cubic"},
            f"congestion_control: 'Cubic' must be one of {', '.join(CONGESTION_CONTROLS)}",
        ),
        ({"dscp": "64"}, "dscp: '64' must be a whole number from 0 to 63"),
        ({"dscp": "ef"}, "dscp: 'ef' must be a whole number from 0 to 63"),
        ({"deadline_ns": "0"}, "deadline_ns: '0' must be a whole number from 1 to 4611686018427387903"),
    ],
)
def test_a_bad_row_is_named_by_line(row: dict[str, str], message: str) -> None:
    assert complaints(numbered({}, row)) == [f"t0.csv:4: {message}"]


def test_iperf3_waits_for_no_group() -> None:
    late = LONG | {"mode": "iperf3", "after": "g"}
    assert complaints(numbered({"group": "g"}, late)) == [
        "t0.csv:4: after: 'g' can't be used with iperf3, which starts at start_ns; leave it empty"
    ]


def test_a_flow_that_waits_may_stop_before_its_start_counts() -> None:
    assert read(numbered({"group": "g"}, LONG | {"start_ns": "100", "after": "g"})).height == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: '': the first line must be '# fabriclab-trace-1'"),
        ("# fabriclab-trace-2\n", "1: '# fabriclab-trace-2': the first line must be '# fabriclab-trace-1'"),
        (VERSION, "2: '': flow, start_ns, src, dst, size_bytes must be among the columns"),
        (f"{VERSION}flow,start_ns,src,dst\n", "2: 'flow,start_ns,src,dst': size_bytes must be among the columns"),
        (
            f"{VERSION}flow,start_ns,src,dst,size_bytes,size\n",
            f"2: 'size' is not a column; the columns are {', '.join(COLUMNS)}",
        ),
        (f"{VERSION}flow,start_ns,src,dst,size_bytes,dst\n", "2: the column dst occurs twice"),
        (
            f"{VERSION}flow,start_ns,src,dst,size_bytes\n\n0,0,h1,h2\n",
            "4: the row has 4 values, not one for each of the 5 columns: flow,start_ns,src,dst,size_bytes",
        ),
        (
            f"{VERSION}flow,start_ns,src,dst,size_bytes\r\n0,0,h1,h2,4,\r\n",
            "3: the row has 6 values, not one for each of the 5 columns: flow,start_ns,src,dst,size_bytes",
        ),
        (
            f"{VERSION}flow,start_ns,src,dst,size_bytes\n0,0,h1,h2,4\0\n",
            "3: the line has a zero byte; a trace must be UTF-8 text",
        ),
    ],
)
def test_a_file_of_another_form_is_named_by_line(text: str, message: str) -> None:
    assert complaints(text)[-1] == f"t0.csv:{message}"


def test_bytes_that_are_no_text_are_named_by_line() -> None:
    trace = UserTrace("t", "t.csv", VERSION.encode() + b"flow\n\xff\n")
    with pytest.raises(TraceError, match=r"t\.csv:3: invalid start byte; a trace must be UTF-8 text"):
        read_traces([trace], site_of(star(3)), CONGESTION_CONTROLS)


def test_quoted_values_may_hold_commas_and_lines() -> None:
    text = numbered({"class": '"a, ""b""\nc"'}, {"dst": "h3"})
    assert read(text)["class"].to_list() == ['a, "b"\nc', None]
    assert complaints(text + line(flow="2", dst="h7")) == ["t0.csv:6: dst: 'h7' is not a host of this lab: h1, h2, h3"]
    assert complaints(text + '2,"0\n')[0].startswith(
        "t0.csv:6: unexpected end of data; a quoted value must end with a quote"
    )


def test_numbers_are_unique_over_all_traces() -> None:
    assert complaints(numbered({}, {}), numbered({"flow": "5"}, {})) == [
        "t1.csv:4: flow: 1 occurs twice; every flow has its own number"
    ]


@pytest.mark.parametrize(("column", "value"), [("transport", "tcp"), ("congestion_control", "dctcp"), ("dscp", "8")])
def test_a_connection_is_of_one_kind(column: str, value: str) -> None:
    kept = {"connection": "c", "mode": "pull"}
    text = numbered(kept, kept | {"dst": "h3", column: value}, kept | {column: value})
    assert complaints(text) == [f"t0.csv:5: {column}: {value!r} differs within the connection 'c': line 3 has none"]


def test_groups_must_not_wait_in_a_loop() -> None:
    text = numbered({"group": "job/a", "after": "b"}, {"group": "b", "after": "c"}, {"group": "c", "after": "job"})
    (complaint,) = complaints(text)
    assert complaint.startswith("t0.csv:")
    assert "makes this flow's group wait for itself: " in complaint
    assert complaint.endswith(
        (
            "job waits for job/a waits for b waits for c waits for job",
            "b waits for c waits for job waits for job/a waits for b",
        )
    )


def test_a_loop_is_given_in_the_order_of_waiting() -> None:
    flows = pl.DataFrame({"group": ["job/a", "b", "c"], "after": ["b", "c", "job"]})
    loop = waiting_loop(flows)
    assert loop[0] == loop[-1]
    assert set(pairwise(loop)) == {("job", "job/a"), ("job/a", "b"), ("b", "c"), ("c", "job")}
    assert waiting_loop(flows.head(2)) == []


def test_a_group_may_not_wait_for_the_whole_that_it_is_part_of() -> None:
    assert "makes this flow's group wait for itself: " in complaints(numbered({"group": "job/a", "after": "job"}))[0]
    both = numbered({"group": "job", "after": "job/a"}, {"group": "job/a", "after": "job"})
    assert "job waits for job/a waits for job" in complaints(both)[0]


def test_a_group_may_wait_for_another_part_of_the_same_whole() -> None:
    assert read(numbered({"group": "job/shuffle/h1"}, {"group": "job/output", "after": "job/shuffle"})).height == 2


def test_the_first_twenty_problems_are_shown_by_line() -> None:
    found = complaints(numbered(*({"size_bytes": "0", "dscp": "99"} for _ in range(40))))
    assert len(found) == 21
    assert [entry.split(":")[1] for entry in found[:4]] == ["3", "3", "4", "4"]
    assert found[-1] == "there are more; these are the first 20"
