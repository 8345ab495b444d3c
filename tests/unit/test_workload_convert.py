"""Flow files of simulators become traces; what can't is named by line."""

from __future__ import annotations

import pytest

from fabriclab.workload import TraceError, convert_flows, trace_text

HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"


def test_hpcc_flows() -> None:
    """As traffic_gen.py writes them, with the text that flow.txt has below its last flow."""
    text = (
        "3 \n2 1 3 100 200000000 2.000000000\n3 1 3 100 3 2.0000000015\n\n1 0 3 100 20 1.5\n\nFirst line: # of flows\n"
    )
    converted = convert_flows(text, "flow.txt", "hpcc", None)
    assert "".join(trace_text(converted.flows)) == (
        HEADER
        + "0,1500000000,h2,h1,20,,push,,,,hpcc\n1,2000000000,h3,h2,200000000,,push,,,,hpcc\n2,2000000002,h4,h2,4,,"
        "push,,,,hpcc\n"
    )
    assert converted.hosts == ("h1", "h2", "h3", "h4")
    assert converted.raised == 1


def test_htsim_connections() -> None:
    text = (
        "# a comment\nNodes 16\nConnections 2\n7->5 id 1 start 1500 size 2000000\n\n15->1 id 2 start 0 size 100 prio "
        "3\n"
    )
    hosts = [f"a{number}" for number in range(1, 17)]
    flows = convert_flows(text, "perm.cm", "htsim", hosts).flows
    assert "".join(trace_text(flows)) == HEADER + "0,0,a16,a2,100,,push,,,,htsim\n1,2,a8,a6,2000000,,push,,,,htsim\n"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["1: '': the first line must be the number of flows"]),
        ("2 1 3 100 20 1\n", ["1: '2 1 3 100 20 1': the first line must be the number of flows"]),
        ("2\n0 1 3 100 20 1\n", ["1: 2 flows are announced and 1 are there"]),
        ("1\n2 1 3 100 20\n", ["2: '2 1 3 100 20': 5 values; a flow is `src dst priority port size start`"]),
        (
            "2\n-2 1 3 100 x -1\n1 1 3 100 0 0\n",
            [
                "2: size: 'x' must be a whole number of bytes",
                "2: src: '-2' must be a node's number, 0 to 100000",
                "2: start: '-1' must be a number of seconds, zero or more",
                "3: node 1 sends to itself",
                "3: size 0; a flow has bytes",
            ],
        ),
        ("1\n0 9 3 100 20 1e99\n", ["2: node 9 has no host; there are 2, for nodes 0 to 1"]),
    ],
)
def test_bad_hpcc_files(text: str, problems: list[str]) -> None:
    with pytest.raises(TraceError) as raised:
        convert_flows(text, "f", "hpcc", ["h1", "h2"])
    found = [line.removeprefix("f:") for line in str(raised.value).split("\n")]
    assert [line for line in found if "later than a trace" not in line] == problems


def test_a_start_beyond_all_times() -> None:
    with pytest.raises(TraceError, match="f:2: the start is later than a trace can say"):
        convert_flows("1\n0 1 3 100 20 1e99\n", "f", "hpcc", ["h1", "h2"])


FORM = "a connection is `src->dst id K start PICOSECONDS size BYTES`"
TRIGGERS = "triggers can't be converted; give the connection a start, or write a trace whose `after` names a `group`"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("Nodes 2\n0->1 id 1 start 0 size 9\n", ["1: the header has no line `Connections N`"]),
        (
            "Nodes x\nConnections 0\n",
            ["1: 'Nodes x': Nodes must be followed by a whole number", "1: the header has no line `Nodes N`"],
        ),
        ("Nodes 2\nConnections 2\n0->1 id 1 start 0 size 9\n", ["2: 2 connections are announced and 1 are there"]),
        ("Nodes 2\nConnections 1\n0->2 id 1 start 0 size 9\n", ["3: node 2 is none of the 2, which are 0 to 1"]),
        ("Nodes 2\nConnections 1\n0->1 id 1 trigger 4 size 9\n", [f"3: trigger: {TRIGGERS}"]),
        (
            "Nodes 2\nConnections 1\n0->1 id 1 start 0 size 9 send_done_trigger 1\n",
            [f"3: send_done_trigger: {TRIGGERS}"],
        ),
        ("Nodes 2\nConnections 0\nTriggers 1\ntrigger id 1 oneshot\n", [f"4: trigger: {TRIGGERS}"]),
        (
            "Nodes 2\nConnections 0\nFailures 1\nfailure switch_type TOR switch_id 0 link_id 0\n",
            ["4: failures of links can't be in a trace; write them as events of the lab"],
        ),
        ("Nodes 2\nConnections 1\n0->1 id 1 start 0\n", [f"3: '0->1 id 1 start 0': {FORM}"]),
        ("Nodes 2\nConnections 1\n0 -> 1 start 0 size 9\n", [f"3: '0 -> 1 start 0 size 9': {FORM}"]),
        ("Nodes 2\nConnections 1\n0->1 start 0 size 9 colour red\n", [f"3: '0->1 start 0 size 9 colour red': {FORM}"]),
        (
            "Nodes 2\nConnections 1\n0->1 start soon size much\n",
            [
                "3: size: 'much' must be a whole number of bytes",
                "3: start: 'soon' must be a number of picoseconds, zero or more",
            ],
        ),
    ],
)
def test_bad_htsim_files(text: str, problems: list[str]) -> None:
    with pytest.raises(TraceError) as raised:
        convert_flows(text, "f", "htsim", ["h1", "h2", "h3"])
    assert [line.removeprefix("f:") for line in str(raised.value).split("\n")] == problems
