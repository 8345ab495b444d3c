"""Run and sweep directories, with a stand-in for the machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import fake_machine
import pytest
from sample_plans import star

from fabriclab.engine.events import Event
from fabriclab.formats.plan.model import Plan
from fabriclab.runs import IngestError, PointState, RunContext, Sweep, run_point, run_sweep
from fabriclab.runs.point import remove_run
from fabriclab.runs.sweep import slug

COMPLETE = (
    fake_machine.EPOCH
    + 'echo flow > "$job/raw/flows/h1.csv"; echo 6.12.43 > "$job/collect/kernel-release"\n'
    + fake_machine.END
)


def ingest(directory: Path) -> None:
    """Stand in for the results: leave a summary."""
    (directory / "summary.json").write_text("{}")


def context(directory: Path, body: str = COMPLETE, **changes: Any) -> RunContext:
    known: dict[str, Any] = {
        "lab_directory": directory,
        "command": ("fabriclab", "run"),
        "ingest": ingest,
        "stall_s": 60,
    }
    return RunContext(artefacts=fake_machine.artefacts(directory, body), **(known | changes))


def manifest_of(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "manifest.json").read_text())
    return found


def ignore(*_: object) -> None:
    pass


def test_a_run_directory_holds_inputs_and_manifest(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    result = run_point(star(), directory, context(tmp_path), ignore)
    assert result.status == "complete"
    manifest = manifest_of(directory)
    assert (manifest["format"], manifest["status"], manifest["message"]) == ("fabriclab-run-1", "complete", "")
    assert manifest["versions"]["kernel"] == "6.12.43"
    assert manifest["versions"]["packages"] == ["iproute2_6.15.0-1_amd64", "frr_10.3-3_amd64"]
    assert Plan.model_validate(manifest["plan"]) == star()
    assert Plan.model_validate_json((directory / "plan.json").read_text()) == star()
    for name in (
        "machine/job.json",
        "machine/sampler.json",
        "machine/sysctl.conf",
        "traffic/trace.csv",
        "traffic/hosts.csv",
        "nodes/s1/tc.batch",
    ):
        assert manifest["files"][name] == hashlib.sha256((directory / name).read_bytes()).hexdigest()


def test_while_it_runs_the_manifest_says_unfinished(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(event: Event) -> None:
        seen.append(manifest_of(tmp_path / "run")["status"])

    run_point(star(), tmp_path / "run", context(tmp_path), look)
    assert set(seen) == {"interrupted"}


def test_logs_that_cannot_be_read_fail_the_run_and_stay(tmp_path: Path) -> None:
    def refuse(directory: Path) -> None:
        raise IngestError("raw/flows/h1.csv:1: 'flow': the first line must be '# fabriclab-flows-1'")

    result = run_point(star(), tmp_path / "run", context(tmp_path, ingest=refuse), ignore)
    assert result.status == "failed"
    assert "raw/flows/h1.csv:1" in manifest_of(tmp_path / "run")["message"]
    assert (tmp_path / "run" / "raw" / "flows" / "h1.csv").is_file()


def test_a_crash_keeps_its_message_and_is_ingested(tmp_path: Path) -> None:
    body = fake_machine.EPOCH + 'echo flow > "$job/raw/flows/h1.csv"; echo Oops; kill -KILL $$\n'
    result = run_point(star(), tmp_path / "run", context(tmp_path, body), ignore)
    assert result.status == "crashed"
    assert "Oops" in manifest_of(tmp_path / "run")["message"]
    assert (tmp_path / "run" / "summary.json").is_file()


def sweep_of(directory: Path, body: str = COMPLETE) -> Sweep:
    plans = [star(settings={"variant": "cubic", "senders": number}, seed=number) for number in (1, 2, 3)]
    made = Sweep(directory / "sweep", "star", "demo", "A star", plans, fake_machine.artefacts(directory, body))
    made.recall()
    return made


def statuses(sweep: Sweep) -> list[str]:
    return [point.status for point in sweep.points]


def test_a_sweep_runs_every_point_once(tmp_path: Path) -> None:
    run_sweep(sweep_of(tmp_path), context(tmp_path), 2, ignore, ignore)
    data = json.loads((tmp_path / "sweep" / "sweep.json").read_text())
    assert [(point["settings"]["senders"], point["seed"], point["status"]) for point in data["points"]] == [
        (1, 1, "complete"),
        (2, 2, "complete"),
        (3, 3, "complete"),
    ]
    again = sweep_of(tmp_path)
    assert [point.reused for point in again.points] == [True, True, True]
    ended: list[PointState] = []
    run_sweep(again, context(tmp_path), 2, ignore, lambda point, _: ended.append(point))
    assert ended == []


def test_another_plan_or_another_machine_is_another_point(tmp_path: Path) -> None:
    run_sweep(sweep_of(tmp_path), context(tmp_path), 2, ignore, ignore)
    built = fake_machine.artefacts(tmp_path, COMPLETE)
    moved = built.kernel.parent.with_name("ffffffffffffffff")
    built.kernel.parent.rename(moved)
    other = type(built)(kernel=moved / "linux", rootfs=built.rootfs, tools=built.tools)
    sweep = Sweep(
        tmp_path / "sweep", "star", "demo", "A star", [point.plan for point in sweep_of(tmp_path).points], other
    )
    sweep.recall()
    assert not any(point.reused for point in sweep.points)


def test_a_point_that_fails_does_not_stop_the_others_and_is_run_again(tmp_path: Path) -> None:
    body = COMPLETE.replace("echo flow", '[[ " $* " == *" fabriclab.seed=2 "* ]] && kill -KILL $$; echo flow')
    sweep = sweep_of(tmp_path, body)
    run_sweep(sweep, context(tmp_path, body), 2, ignore, ignore)
    assert statuses(sweep) == ["complete", "crashed", "complete"]
    again = sweep_of(tmp_path)
    assert statuses(again) == ["complete", "waiting", "complete"]
    run_sweep(again, context(tmp_path), 2, ignore, ignore)
    assert statuses(again) == ["complete", "complete", "complete"]


def test_an_interrupt_ends_the_sweep_and_what_is_done_stays(tmp_path: Path) -> None:
    body = fake_machine.EPOCH + fake_machine.STOPPABLE
    stopping = context(tmp_path, body)
    sweep = sweep_of(tmp_path, body)
    run_sweep(
        sweep, stopping, 1, lambda _, __: None if stopping.interrupt.requested else stopping.interrupt.request(), ignore
    )
    assert statuses(sweep) == ["interrupted", "waiting", "waiting"]
    data = json.loads((tmp_path / "sweep" / "sweep.json").read_text())
    assert [point["status"] for point in data["points"]] == ["interrupted", "missing", "missing"]


def test_foreign_directories_are_not_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years")
    with pytest.raises(FileExistsError):
        remove_run(tmp_path)
    assert (tmp_path / "thesis.txt").is_file()


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"variant": "cubic", "senders": 16, "buffer": "64 KB"}, "cubic-senders-16-buffer-64KB"),
        ({}, "default"),
        ({"a": "../../etc"}, "a-....etc"),
        ({"key": "x" * 100}, "key-" + "x" * 56),
    ],
)
def test_slugs_are_file_names(settings: dict[str, str | int], name: str) -> None:
    assert slug(dict(settings)) == name
