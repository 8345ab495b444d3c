"""What the counters of frames come to: what balances, what is told, what fails a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_plans import star

from fabriclab.compile.cut import Cut
from fabriclab.formats.audit import AUDIT, AuditError, Counters, audit_files, read_counters
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.runs.audit import Audit, audit_run, judge

BEGIN = "begin,,,without_room,0"
END = "end,,,without_room,0"


def write(directory: Path, *rows: str, last: str | None = None) -> Path:
    """Write a run's counters; returns the run directory."""
    path = audit_files(directory, None)[0]
    path.parent.mkdir(exist_ok=True)
    every = (BEGIN, END, *rows)
    path.write_text(AUDIT.head + "".join(f"{row}\n" for row in every) + (last or f"rows,,,,{len(every)}\n"))
    return directory


def counters(directory: Path, *rows: str) -> Counters:
    return read_counters(audit_files(write(directory, *rows), None))


def audit(directory: Path, *rows: str, plan: Plan | None = None) -> Audit:
    return judge(counters(directory, *rows), plan or star())


def test_what_a_queue_dropped_and_counted_balances(tmp_path: Path) -> None:
    rows = (
        *("begin,s1,eth3,lost QDISC_DROP,2", "begin,s1,eth3,queue_dropped,2", "begin,s1,eth3,queue_sent,10"),
        *("end,s1,eth3,lost QDISC_DROP,7", "end,s1,eth3,queue_dropped,4", "end,s1,eth3,queue_lost,3"),
        *(
            "end,s1,eth3,queue_sent,110",
            "end,s1,eth3,sent,99",
            "end,s1,eth3,queue_waiting,1",
            "end,h3,eth1,received,99",
        ),
    )
    found = audit(tmp_path, *rows)
    assert found.missing == found.told == []
    assert found.lost == {"s1:eth3": {"QDISC_DROP": 5}}
    assert found.figures()["audit"]["balanced"] is True


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["end,h1,eth1,lost CPU_BACKLOG,979"], "h1:eth1 lost 979 frames for what all nodes share in one kernel: CPU_"),
        (["end,h1,,lost PROTO_MEM,1"], "h1 lost 1 frames for what all nodes share in one kernel: PROTO_MEM"),
        (["end,,,lost NOT_SPECIFIED,3"], "an unknown node lost 3 frames that nobody counted"),
        (["end,h1,eth1,lost NEW_REASON,1"], "h1:eth1 lost 1 frames for what all nodes share in one kernel: NEW_REASON"),
        (["end,h1,eth1,send_dropped,4", "end,h1,eth1,lost NOT_SPECIFIED,4"], "h1:eth1: the link's device dropped 4"),
        (["end,s1,eth1,send_dropped,4", "end,s1,eth1,lost NOT_SPECIFIED,5"], "s1:eth1 lost 1 frames that nobody"),
        (
            ["end,s1,eth1,queue_sent,0", "end,s1,eth1,lost FQ_FLOW_LIMIT,2"],
            "s1:eth1: the kernel freed 2 frames as dropped by the queue, and the queue counted 0",
        ),
        (["end,s1,eth1,queue_sent,0", "end,s1,eth1,queue_dropped,2"], "freed 0 frames as dropped by the queue, and"),
        (
            ["end,s1,eth1,queue_sent,9", "end,s1,eth1,sent,7", "end,s1,eth1,queue_waiting,1"],
            "s1:eth1: the queue gave 9 frames to the device, which sent or dropped 7",
        ),
        (["end,,,without_room,6"], "6 lost frames had no room in the kernel's table"),
    ],
)
def test_what_is_missing_names_the_place(tmp_path: Path, rows: list[str], said: str) -> None:
    found = audit(tmp_path, *rows)
    assert said in found.message()
    assert found.figures()["audit"]["balanced"] is False


def test_what_a_node_refuses_by_its_own_rules_is_told(tmp_path: Path) -> None:
    found = audit(tmp_path, "end,s1,eth1,lost IP_INNOROUTES,8", "end,h1,,lost TCP_OFO_DROP,1")
    assert found.missing == []
    assert found.message() == "s1:eth1 refused 8 frames: no route leads to where they are addressed (IP_INNOROUTES)"
    assert found.lost["h1"] == {"TCP_OFO_DROP": 1}


def test_frames_that_a_program_sends_around_the_queue_are_not_lost(tmp_path: Path) -> None:
    rows = ("end,h1,eth1,queue_sent,0", "end,h1,eth1,sent,31", "end,h1,eth1,queue_waiting,0")
    assert audit(tmp_path, *rows).missing == []


def test_frames_without_a_reason_are_no_loss_where_connections_end(tmp_path: Path) -> None:
    found = audit(tmp_path, "end,h1,eth1,lost NOT_SPECIFIED,2", "end,h1,,lost NOT_SPECIFIED,1")
    assert found.missing == found.told == []
    assert found.lost == {"h1": {"NOT_SPECIFIED": 1}, "h1:eth1": {"NOT_SPECIFIED": 2}}


def test_many_places_are_counted(tmp_path: Path) -> None:
    found = audit(tmp_path, *(f"end,h{number},eth1,lost CPU_BACKLOG,1" for number in range(20)))
    assert found.message().splitlines()[-1] == "and 12 more places (manifest.json, audit)"


def test_cables_hold_what_their_delay_lets_them(tmp_path: Path) -> None:
    rows = ["end,h1,eth1,sent,100", "end,s1,eth1,received,63"]
    assert audit(tmp_path, *rows).missing == []  # 25 us of 1 Gbps: 38 frames of 84 bytes
    found = audit(tmp_path, rows[0], "end,s1,eth1,received,61")
    assert found.missing == [
        "h1:eth1: 100 frames left for s1:eth1, where 61 arrived; 38 at most can be on their way",
    ]


def test_a_token_bucket_lets_its_short_frames_leave_at_once(tmp_path: Path) -> None:
    rows = ["end,s1,eth1,sent,100", "end,h1,eth1,received,44"]
    assert audit(tmp_path, *rows).missing == []  # 38 frames of 84 bytes as above, and 18 for the bucket's 1,514 bytes
    found = audit(tmp_path, rows[0], "end,h1,eth1,received,43")
    assert found.missing == [
        "s1:eth1: 100 frames left for h1:eth1, where 43 arrived; 56 at most can be on their way",
    ]


def test_a_cable_holds_as_much_as_the_longest_delay_that_an_event_gives_it(tmp_path: Path) -> None:
    rows = ["end,h1,eth1,sent,100", "end,s1,eth1,received,30", "end,s1,eth1,receive_dropped,20"]
    link = (("h1:eth1", "s1:eth1"),)
    longer = star().model_copy(
        update={"events": (Event(name="longer", at_ns=1, links=link, action="set", delay_ns=50_000),)}
    )
    assert len(audit(tmp_path, *rows).missing) == 2
    found = audit(tmp_path, *rows, plan=longer)
    assert found.missing == found.told == []  # what a link that was down has lost is no news


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "audit.csv:1: it does not begin with # fabriclab-audit-1"),
        (AUDIT.head, "it is cut short"),
        (f"{AUDIT.head}{BEGIN}\n{END}\n", "audit.csv:4: it is cut short"),
        (f"{AUDIT.head}{BEGIN}\n{END}\nrows,,,,3\n", "it is cut short"),
        (f"{AUDIT.head}{BEGIN}\nrows,,,,1\n", "it has no counters of the beginning or of the end"),
        (f"{AUDIT.head}{BEGIN}\nend,h1,eth1,sent,many\nrows,,,,2\n", "4: 'end,h1,eth1,sent,many' is not a row"),
        (f"{AUDIT.head}{BEGIN}\nthen,h1,eth1,sent,1\nrows,,,,2\n", "is not a row of moment,node,device,counter,frames"),
        (f"{AUDIT.head}{BEGIN}\nend,h1\nrows,,,,2\n", "is not a row"),
    ],
)
def test_counters_that_are_not_all_there_fail(tmp_path: Path, text: str, said: str) -> None:
    path = audit_files(write(tmp_path), None)[0]
    path.write_text(text)
    with pytest.raises(AuditError) as raised:
        read_counters([path])
    assert said in str(raised.value)
    assert "the counters of frames can't be read" in audit_run(star(), tmp_path, None).message()


def test_a_machine_without_its_file_fails(tmp_path: Path) -> None:
    write(tmp_path).joinpath("collect/audit.csv").rename(tmp_path / "collect/audit-0.csv")
    assert "audit-1.csv" in audit_run(star(), tmp_path, Cut((("h1",), ("s1",)), 25_000, 1)).message()


def test_a_kernel_that_does_not_count_is_not_audited(tmp_path: Path) -> None:
    path = audit_files(write(tmp_path), None)[0]
    path.write_text(f"{AUDIT.head}not audited,,,this kernel has no counters,0\nrows,,,,1\n")
    found = audit_run(star(), tmp_path, None)
    assert found.missing == []
    assert found.figures()["audit"]["balanced"] is None
    assert found.figures()["audit"]["why_not"] == "this kernel has no counters"
