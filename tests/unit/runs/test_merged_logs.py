"""What the samplers of several machines wrote becomes what one would have written."""

from __future__ import annotations

from pathlib import Path

from cores_lab import plan_of, write_lab

from fabriclab.runs.parts import merge_logs

HEAD = "# fabriclab-queues-1\ntime_ns,port,bytes\n"


def test_rows_are_by_time_then_as_the_configuration_names_ports(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path / "lab"))
    raw = tmp_path / "run" / "raw"
    first = ["0,leaf1:eth2,1", "0,leaf3:eth1,2", "200,leaf1:eth1,3"]
    second = ["0,leaf2:eth1,4", "100,leaf2:eth1,5"]
    for part, rows in enumerate((first, second)):
        (raw / f"part-{part}").mkdir(parents=True)
        (raw / f"part-{part}" / "queues.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows))
    assert list(plan.probes.queue_ports).index("leaf1:eth2") < list(plan.probes.queue_ports).index("leaf2:eth1")
    merge_logs(plan, tmp_path / "run", tmp_path / "lab")
    merged = [*first[:1], *second[:1], *first[1:2], *second[1:], *first[2:]]
    assert (raw / "queues.csv").read_text() == HEAD + "".join(f"{row}\n" for row in merged)
    assert not list(raw.glob("part-*"))


def test_half_a_row_of_a_machine_that_died_is_left_out(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path / "lab"))
    raw = tmp_path / "run" / "raw"
    (raw / "part-0").mkdir(parents=True)
    (raw / "part-0" / "queues.csv").write_text(HEAD + "0,leaf1:eth1,1\n100,lea")
    merge_logs(plan, tmp_path / "run", tmp_path / "lab")
    assert (raw / "queues.csv").read_text() == HEAD + "0,leaf1:eth1,1\n"


def test_the_rows_of_the_end_come_behind_those_of_a_sample_at_that_time(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path / "lab"))
    raw = tmp_path / "run" / "raw"
    first = ["900,leaf1:eth1,1", "1000,leaf1:eth2,2", "1000,leaf1:eth1,1", "1000,leaf1:eth2,2"]
    second = ["1000,leaf2:eth1,3", "1000,leaf2:eth2,4"]
    for part, rows in enumerate((first, second)):
        (raw / f"part-{part}").mkdir(parents=True)
        (raw / f"part-{part}" / "interfaces.csv").write_text(HEAD + "".join(f"{row}\n" for row in rows))
    merge_logs(plan, tmp_path / "run", tmp_path / "lab")
    assert (raw / "interfaces.csv").read_text() == HEAD + "".join(f"{row}\n" for row in (*first, *second))
