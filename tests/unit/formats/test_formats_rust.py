"""The formats of `fabriclab/formats` and what Rust and C say of them: the same names, order, versions and bounds."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rust_text import (
    INIT,
    REPLAY,
    ROOT,
    SAMPLER,
    constant,
    defined,
    enumerated,
    fields,
    names,
    only,
    series,
    string_constant,
    words,
)

from fabriclab.formats import job, live, live_break, live_look, trace
from fabriclab.formats.classes import QUEUES
from fabriclab.formats.logs import CONNECTIONS, EXEC_LOG, FLOW_LOG, INTERFACES, TCP
from fabriclab.formats.logs import QUEUES as QUEUE_LOG
from fabriclab.formats.run_directory import SAMPLER_FORMAT
from fabriclab.formats.switch_logs import CONGESTION_EVENTS, SWITCH_TABLES
from fabriclab.formats.table import Table

ROW, TRACE, HOSTS, LOG, EXEC = (
    REPLAY / name for name in ("trace/row.rs", "trace/mod.rs", "hosts.rs", "log.rs", "exec.rs")
)
LIVE_UAPI = next(ROOT.glob("images/machine/kernel/**/uapi/**/fabriclab_live.h"))
UAPI = next(ROOT.glob("images/machine/kernel/**/uapi/**/switch_port.h"))
LARGEST = {"i64::MAX as u64 / 2": 2**63 // 2 - 1, "u32::MAX": 2**32 - 1, "1 << 62": 2**62}
"""What Rust calls by a name."""


def input_is(table: Table, columns: str, version: str) -> None:
    assert string_constant("VERSION", version) == table.first_line
    found, required = names(columns)
    assert found == list(table.columns)
    assert set(found[required:]) == table.optional


def trace_columns(row: str) -> None:
    input_is(trace.TRACE, row, TRACE.read_text())
    for place, name in enumerate(trace.TRACE.columns):
        if name not in ("class",):
            assert int(constant(name.upper(), row)) == place


def trace_words(row: str) -> None:
    assert words("parse_mode", row) == list(trace.MODES)
    assert words("parse_transport", row) == list(trace.TRANSPORTS)


def trace_bounds(row: str) -> None:
    assert LARGEST[constant("MAX_NS", row)] == trace.LARGEST_NS
    assert LARGEST[constant("MAX_BYTES", row)] == trace.LARGEST_BYTES
    assert "(HEAD_BYTES..=MAX_BYTES).contains(&bytes)" in row
    assert int(constant("MAX_DSCP", row)) == trace.LARGEST_DSCP
    # The flow's number is below this, the request's length at most.
    assert "number < u32::MAX" in row and LARGEST["u32::MAX"] - 1 == trace.LARGEST_FLOW
    assert "filter(|&bytes: &u32|" in row and LARGEST["u32::MAX"] == trace.LARGEST_REQUEST_BYTES


def largest_roce_flow(text: str) -> None:
    assert constant("MAX_ROCE_FLOW", text) == "(1 << 24) - 3" and trace.LARGEST_ROCE_FLOW == (1 << 24) - 3


def smallest_flow(text: str) -> None:
    assert int(constant("HEAD_BYTES", text)) == trace.SMALLEST_BYTES


def hosts(text: str) -> None:
    input_is(trace.HOSTS, text, text)


def flow_log(text: str) -> None:
    assert string_constant("HEADER", text) == FLOW_LOG.head


def exec_log(text: str) -> None:
    assert string_constant("LOG_HEAD", text) == EXEC_LOG.head


def sampler_config(text: str) -> None:
    assert f'#[serde(rename = "{SAMPLER_FORMAT}")]' in text


def tables(*expected: Table) -> Callable[[str], None]:
    def check(text: str) -> None:
        assert series(text) == {table.format: table.header for table in expected}

    return check


def job_form(text: str) -> None:
    assert constant("FORMAT", text) == f'"{job.JOB_FORMAT}"'
    for name, ours in JOB_OBJECTS.items():
        wanted = fields(name, text)
        keys = set(ours.__annotations__)
        assert keys == set(wanted), name
        assert {key for key, needed in wanted.items() if needed} <= ours.__required_keys__, name


def queues_of_a_port(header: str) -> None:
    assert defined("TC_SWITCH_QUEUES", header) == QUEUES


def kernel_messages(header: str) -> None:
    for name, ours in (("request", live.Request), ("answer", live.Answer), ("stop", live.Stop)):
        wanted = {f"LIVE_{'STOP_' if ours is live.Stop else ''}{one.name}": one.value for one in ours}
        assert enumerated(f"live_{name}", header) == wanted
    assert defined("LIVE_PAYLOAD_MAX", header) == live.PAYLOAD_MAX
    assert "#define LIVE_REAL_TIME\t\t(1ULL << 32)" in header and live.REAL_TIME == 1 << 32
    words = re.findall(r"__u(32|64) (\w+);", only(r"struct live_header \{(.*?)\};", header)[1])
    assert words == [("32", "kind"), ("32", "length"), ("64", "a"), ("64", "b")] and live.HEADER == "=IIQQ"
    words = re.findall(r"(?:__u64|char) (\w+)(?:\[(\d+)\])?;", only(r"struct live_nap \{(.*?)\};", header)[1])
    assert words == [("calls", ""), ("length_ns", ""), ("ticks", ""), ("program", "16"), ("node", "64")]
    assert live.NAP == "=QQQ16s64s"


def codes(structure: str, header: str) -> str:
    """Return the letters of struct(3) for a C structure's fields."""
    body = re.sub(r"/\*.*?\*/", "", only(rf"struct {structure} \{{(.*?)\n\}};", header)[1], flags=re.DOTALL)
    found = ""
    for kind, declared in re.findall(r"(__u(?:8|16|32|64)|char) ([^;]+);", body):
        letter = {"__u8": "s", "__u16": "H", "__u32": "I", "__u64": "Q", "char": "s"}[kind]
        for size in re.findall(r"\w+(?:\[(\w+)\])?", declared):
            length = {"": 1, "LIVE_NAME_MAX": defined("LIVE_NAME_MAX", header)}.get(size) or int(size)
            found += f"{length}s" if letter == "s" else letter * length
    return found


def letters(form: str) -> str:
    return "".join(
        code if code.endswith("s") else code[-1] * int(code[:-1] or 1) for code in re.findall(r"\d*[A-Za-z]", form)
    )


def look_records(header: str) -> None:
    assert enumerated("live_record_kind", header) == {f"LIVE_RECORD_{one.name}": one.value for one in live_look.Record}
    statistics = UAPI.read_text()
    pool = only(r"struct tc_switch_pool_xstats \{(.*?)\};", statistics)[1].count(",") + 1
    assert pool == live_look.POOL_WORDS and defined("TC_SWITCH_POOLS", statistics) == live_look.POOLS
    account = codes("live_account", header)
    for structure, ours in (
        ("live_place", live_look.PLACE),
        ("live_record", live_look.RECORD),
        ("live_port", live_look.PORT),
        ("live_qdisc", live_look.QDISC),
        ("live_frame", live_look.FRAME),
        ("live_connection", live_look.CONNECTION),
        ("live_connection_state", live_look.CONNECTION_STATE),
    ):
        assert codes(structure, header) == letters(ours), structure
    assert letters(live_look.SWITCH_PORT) == codes("live_switch_port", header) + "Q" * (7 + pool * live_look.POOLS)
    assert letters(live_look.QUEUE) == account + "Q" * 18 and letters(live_look.GROUP) == account + "Q" * 8


def conditions(header: str) -> None:
    wanted = {f"LIVE_CONDITION_{one.name}": one.value for one in live_break.ConditionKind}
    assert enumerated("live_condition_kind", header) == wanted
    assert codes("live_condition", header) == letters(live_break.CONDITION)
    assert defined("LIVE_CONDITIONS", header) == live_break.CONDITIONS


def live_frames(text: str) -> None:
    found = {name: int(value) for name, value in re.findall(r"^const (\w+): u8 = (\d+);", text, re.MULTILINE)}
    assert found == {one.name: one.value for one in live.Input}
    answers = only(r"pub enum Answer \{(.*?)\}", text)[1]
    wanted = {one.name.capitalize(): one.value for one in live.Output if one is not live.Output.ANSWER}
    assert {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", answers)} == wanted
    for name, value in (
        ("PAYLOAD_MAX", live.PAYLOAD_MAX),
        ("OUTPUT_CREDIT", live.OUTPUT_CREDIT),
        ("INPUT_CREDIT", live.INPUT_CREDIT),
        ("HEAD_BYTES", struct.calcsize(live.FRAME)),
    ):
        assert int(constant(name, text).replace("_", "")) == value


JOB_OBJECTS: dict[str, Any] = {
    **{
        "Live": job.Live,
        "Job": job.Job,
        "Node": job.JobNode,
        "Link": job.Link,
        "Endpoint": job.Endpoint,
        "Program": job.Program,
    },
    **{"Ready": job.Ready, "Change": job.Change, "Step": job.Step, "Expectation": job.Expectation},
    "Settling": job.Settling,
    "Drain": job.Drain,
    **{"ExpectedNode": job.ExpectedNode, "ExpectedRoute": job.ExpectedRoute},
}
"""What `job.rs` calls the objects of the job."""
SWITCHES = [table for table in SWITCH_TABLES.values() if table is not CONGESTION_EVENTS]
CONTRACTS: list[tuple[Path, Callable[[str], None], str, str]] = [
    (ROW, trace_columns, '"src",\n        "dst"', '"dst",\n        "src"'),
    (ROW, trace_columns, "required: 5", "required: 6"),
    (ROW, trace_columns, "const DSCP: usize = 14", "const DSCP: usize = 15"),
    (ROW, trace_words, '"pull" =>', '"fetch" =>'),
    (ROW, trace_words, '"mptcp" =>', '"quic" =>'),
    (ROW, trace_bounds, "i64::MAX as u64 / 2", "i64::MAX as u64"),
    (ROW, trace_bounds, "MAX_DSCP: u8 = 63", "MAX_DSCP: u8 = 64"),
    (ROW, trace_bounds, "MAX_BYTES: u64 = 1 << 62", "MAX_BYTES: u64 = 1 << 63"),
    (ROW, trace_bounds, "HEAD_BYTES..=MAX_BYTES", "HEAD_BYTES.."),
    (ROW, trace_bounds, "number < u32::MAX", "number <= u32::MAX"),
    (REPLAY / "trace/suits.rs", largest_roce_flow, "(1 << 24) - 3", "(1 << 24) - 2"),
    (REPLAY / "trace/flow.rs", smallest_flow, "HEAD_BYTES: u64 = 4", "HEAD_BYTES: u64 = 8"),
    (HOSTS, hosts, 'fabriclab-hosts-1";', 'fabriclab-hosts-2";'),
    (LOG, flow_log, "marks,delivered", "delivered,marks"),
    (EXEC, exec_log, "ended_by", "ended"),
    (SAMPLER / "config.rs", sampler_config, "sampler-1", "sampler-2"),
    (SAMPLER / "queue.rs", tables(QUEUE_LOG), "drops,marks", "marks,drops"),
    (SAMPLER / "tcp.rs", tables(TCP), "fabriclab-tcp-2", "fabriclab-tcp-3"),
    (SAMPLER / "interface.rs", tables(INTERFACES), ",tx_dropped", ""),
    (SAMPLER / "connections/row.rs", tables(CONNECTIONS), "peer_port,state", "state,peer_port"),
    (SAMPLER / "switch/tables.rs", tables(*SWITCHES), "paused_ns,storms", "storms,paused_ns"),
    (SAMPLER / "switch/tables.rs", tables(*SWITCHES), "dropped_wred,", "dropped_red,"),
    (SAMPLER / "switch/journal.rs", tables(CONGESTION_EVENTS), "peak_bytes", "peak"),
    (INIT / "job.rs", job_form, "fabriclab-job-1", "fabriclab-job-2"),
    (INIT / "job.rs", job_form, "pub argv: Vec<String>", "pub command: Vec<String>"),
    (INIT / "job.rs", job_form, "pub reconvergence: Option<Expectation>", "pub reconvergence: Expectation"),
    (LIVE_UAPI, kernel_messages, "LIVE_PACE = 3", "LIVE_PACE = 7"),
    (LIVE_UAPI, kernel_messages, "LIVE_STOP_UNTIL = 2", "LIVE_STOP_UNTIL = 4"),
    (LIVE_UAPI, kernel_messages, "LIVE_PAYLOAD_MAX\t65536", "LIVE_PAYLOAD_MAX\t32768"),
    (LIVE_UAPI, kernel_messages, "__u64 b;", "__u32 b;"),
    (LIVE_UAPI, look_records, "LIVE_RECORD_FRAME = 6", "LIVE_RECORD_FRAME = 8"),
    (LIVE_UAPI, look_records, "__u32 paused;", "__u64 paused;"),
    (LIVE_UAPI, look_records, "__u64 waited_ns;", "__u32 waited_ns;"),
    (LIVE_UAPI, conditions, "LIVE_CONDITION_FLOW = 6", "LIVE_CONDITION_FLOW = 7"),
    (LIVE_UAPI, conditions, "__u64 threshold;", "__u32 threshold;"),
    (INIT / "live" / "frame.rs", live_frames, "const CREDIT: u8 = 6", "const CREDIT: u8 = 7"),
    (INIT / "live" / "frame.rs", live_frames, "Ended = 4", "Ended = 7"),
    (INIT / "live" / "frame.rs", live_frames, "OUTPUT_CREDIT: u64 = 262_144", "OUTPUT_CREDIT: u64 = 262_145"),
    (UAPI, queues_of_a_port, "TC_SWITCH_QUEUES 8", "TC_SWITCH_QUEUES 16"),
]
"""A file, what is compared, and a change of the file that has to be noticed."""


@pytest.mark.parametrize(
    ("path", "check", "before", "after"), CONTRACTS, ids=lambda value: getattr(value, "name", None)
)
def test_the_source_says_what_the_format_says_and_a_change_is_noticed(
    path: Path, check: Callable[[str], None], before: str, after: str
) -> None:
    text = path.read_text(encoding="utf-8")
    check(text)
    changed = text.replace(before, after)
    assert changed != text
    with pytest.raises((AssertionError, KeyError)):
        check(changed)
