"""Flow files of other programs become traces; what can't is named by line."""

from __future__ import annotations

import pkgutil

import pytest
from sample_flow_files import SAMPLES

from fabriclab import flow_importers
from fabriclab.flow_importers import IMPORTERS
from fabriclab.flow_importers.convert import convert_flows
from fabriclab.workload import TraceError, trace_text

HEADER = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode,connection,group,after,class\n"


@pytest.mark.parametrize("name", [importer.name for importer in IMPORTERS if not importer.of_ranks])
def test_a_file_becomes_a_trace(name: str) -> None:
    assert name in SAMPLES, f"tests/support/sample_flow_files.py has no file of {name}"
    sample = SAMPLES[name]
    flows = convert_flows(sample.text, sample.name, name, None).flows
    assert "".join(trace_text(flows)) == HEADER + sample.flows


def test_every_file_of_the_folder_is_listed() -> None:
    listed = {importer.load().__name__ for importer in IMPORTERS}
    found = {module.name for module in pkgutil.iter_modules(flow_importers.__path__, "fabriclab.flow_importers.")}
    assert found - {"fabriclab.flow_importers.convert", "fabriclab.flow_importers.flow"} == listed


def test_nodes_are_hosts_in_the_order_of_their_numbers() -> None:
    text = SAMPLES["hpcc"].text
    converted = convert_flows(text, "flow.txt", "hpcc", None)
    assert (converted.hosts, converted.raised) == (("h1", "h2", "h3", "h4"), 1)
    hosts = ["a", "b", "c", "d"]
    assert convert_flows(text, "flow.txt", "hpcc", hosts).flows["src"].to_list() == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["1: '': the first line must be the number of flows"]),
        ("2 1 3 100 20 1\n", ["1: '2 1 3 100 20 1': the first line must be the number of flows"]),
        ("2\n0 1 3 100 20 1\n", ["1: 2 flows are announced, but the file has 1"]),
        ("1\n2 1 3 100 20\n", ["2: '2 1 3 100 20': 5 values; a flow is `src dst priority port size start`"]),
        (
            "2\n-2 1 3 100 x -1\n1 1 3 100 0 0\n",
            [
                "2: size: 'x' must be a whole number of bytes",
                "2: src: '-2' must be a node's number, 0 to 100000",
                "2: start: '-1' must be a number of seconds, zero or more",
                "3: node 1 sends to itself",
                "3: the size is 0; a flow needs at least one byte",
            ],
        ),
        ("1\n0 9 3 100 20 1e99\n", ["2: node 9 has no host; there are hosts only for nodes 0 to 1"]),
    ],
)
def test_bad_hpcc_files(text: str, problems: list[str]) -> None:
    with pytest.raises(TraceError) as raised:
        convert_flows(text, "f", "hpcc", ["h1", "h2"])
    found = [line.removeprefix("f:") for line in str(raised.value).split("\n")]
    assert [line for line in found if "the latest that a trace can have" not in line] == problems


def test_a_start_beyond_all_times() -> None:
    with pytest.raises(TraceError, match=r"f:2: the start is later than .*, the latest that a trace can have"):
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
        ("Nodes 2\nConnections 2\n0->1 id 1 start 0 size 9\n", ["2: 2 connections are announced, but the file has 1"]),
        (
            "Nodes 2\nConnections 1\n0->2 id 1 start 0 size 9\n",
            ["3: node 2 is not one of the 2 nodes, which are 0 to 1"],
        ),
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


COFLOW = "a coflow is `id arrival mappers port ... reducers port:megabytes ...`"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["1: '': the first line must be the numbers of ports and coflows"]),
        ("2\n", ["1: '2': the first line must be the numbers of ports and coflows"]),
        ("2 2\n1 0 1 0 1 1:1\n", ["1: 2 coflows are announced, but the file has 1"]),
        ("2 1\n1 0 2 0 1 1:1\n", [f"2: '1 0 2 0 1 1:1': {COFLOW}"]),
        ("2 1\n1 0 1 0 1 1:1 7\n", [f"2: '1 0 1 0 1 1:1 7': {COFLOW}"]),
        ("2 1\na/b 0 1 0 1 1:1\n", [f"2: 'a/b 0 1 0 1 1:1': {COFLOW}"]),
        (
            "2 1\n1 soon 1 2 1 1:much\n",
            [
                "2: '1:much' must be a port and megabytes, such as 140:48.0",
                "2: arrival: 'soon' must be a number of milliseconds, zero or more",
                "2: port '2' is not one of the 2 ports, which are 0 to 1",
            ],
        ),
        (
            "2 2\n1 0 1 0 1 1:1\n1 0 1 0 1 1:1\n",
            ["3: coflow '1' is also in line 2; give each a different number"],
        ),
        ("2 1\n1 0 1 0 1 1:0\n", ["2: the size is 0; a flow needs at least one byte"]),
    ],
)
def test_bad_coflow_files(text: str, problems: list[str]) -> None:
    with pytest.raises(TraceError) as raised:
        convert_flows(text, "f", "coflow", None)
    assert [line.removeprefix("f:") for line in str(raised.value).split("\n")] == problems
