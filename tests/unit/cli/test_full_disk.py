"""Commands on a disk that is full or read-only: a line that says so, an exit status, nothing half-written,
what was measured kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import fake_machine
import pytest
from command_line import ANSWER
from limited_host import Ended, on_disk
from repository import ROOT
from synthetic_run import long_run

from fabriclab.results import ingest_run

INCAST = str(ROOT / "labs" / "incast")
T0 = str(ROOT / "tests" / "golden" / "sonic" / "t0.json")
FULL = "the disk is full"

# Queues of which hardly anything can be compressed: 2 MB of log, 400 KB of Parquet.
QUEUES = """awk 'BEGIN {
  print "# fabriclab-queues-1\\ntime_ns,port,bytes,packets,drops,marks,sent_bytes,sent_packets,overlimits"
  for (i = 0; i < 40000; i++) print i "00000,s1:eth3," int(rand() * 1e9) "," int(rand() * 1e6) ",0,0,0,0,0"
}' > "$job/raw/queues.csv"
"""
FILLED = 'dd if=/dev/zero of="$job/../filler" bs=4k 2>/dev/null\n'


def manifest_of(ended: Ended, run: str = "out") -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((ended.disk / run / "manifest.json").read_text())
    return manifest


def check_told(ended: Ended, status: int = 1, words: str = FULL) -> None:
    told = ended.output + ended.errors
    assert "Traceback" not in told and "polars" not in told, told
    assert ended.status == status, told
    assert words in told
    assert ended.half_written == set()


def test_a_run_whose_inputs_do_not_fit_leaves_nothing(tmp_path: Path) -> None:
    """There is room for the manifest, not for the nodes' files."""
    ended = on_disk(
        tmp_path, ("run", INCAST, "--set", "senders=1", "--out", "out"), size="600k", body=ANSWER + fake_machine.END
    )
    check_told(ended)
    assert "nothing was run, and no file of it is left" in ended.output
    assert not (ended.disk / "out").exists()


def test_a_disk_that_fills_while_the_machine_runs(tmp_path: Path) -> None:
    body = ANSWER + FILLED + 'for i in $(seq 300); do echo \'@{"event":"progress","t_ns":200000000}\'; done; sleep 60\n'
    ended = on_disk(tmp_path, ("run", INCAST, "--set", "senders=1", "--out", "out"), size="3700k", body=body)
    assert "Traceback" not in ended.errors
    assert ended.status == 1
    manifest = manifest_of(ended)
    assert manifest["status"] == "failed"
    assert f"{FULL}; measurements until then are kept" in manifest["message"]
    assert manifest["message"].splitlines()[0] in ended.output


def test_results_that_do_not_fit_leave_the_raw_logs_and_a_manifest_that_says_so(tmp_path: Path) -> None:
    body = ANSWER + QUEUES + FILLED + fake_machine.END
    ended = on_disk(tmp_path, ("run", INCAST, "--set", "senders=1", "--out", "out"), size="3700k", body=body)
    check_told(ended)
    manifest = manifest_of(ended)
    assert manifest["status"] == "failed"
    assert f"out/queues.parquet: {FULL}; the raw logs are kept, and `fabriclab report out`" in manifest["message"]
    assert {"out/raw/queues.csv", "out/raw/flows/h1.csv"} <= ended.files
    assert not any(name.endswith((".parquet", "summary.json", "report.html")) for name in ended.files)
    ingest_run(ended.disk / "out")  # as `report` does, where there is room
    assert (ended.disk / "out" / "queues.parquet").is_file()


@pytest.mark.slow("types commands on disks of many sizes")
def test_a_sweep_stops_where_the_disk_is_full(tmp_path: Path) -> None:
    """That it goes on with a failed point is tested in test_run.py, with what is done in test_cli.py."""
    command = ("sweep", INCAST, "--set", "senders=1", "--out", "out", "-j", "1")
    ended = on_disk(tmp_path, command, size="1700k", body=ANSWER + fake_machine.END)
    check_told(ended)
    assert "1 of 2 points are not done; the same command continues with them" in ended.output
    points = json.loads((ended.disk / "out" / "sweep.json").read_text())["points"]
    assert [point["status"] for point in points] == ["complete", "failed"]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run that nobody has made results of."""
    place = tmp_path_factory.mktemp("logged")
    long_run(place / "run", report={"figures": [{"kind": "queue"}]})
    return place


@pytest.mark.slow("types commands on disks of many sizes")
def test_a_report_that_does_not_fit_takes_nothing_away(tmp_path: Path, logged: Path) -> None:
    """The report of a run that nobody has made results of, then pictures of one whose results are
    there, in one process."""
    shutil.copytree(logged, tmp_path / "before")
    shutil.copytree(logged / "run", tmp_path / "before" / "read")
    ingest_run(tmp_path / "before" / "read")
    before = {
        path.relative_to(tmp_path / "before").as_posix() for path in (tmp_path / "before").rglob("*") if path.is_file()
    }
    pictures = ("report", "read", "--out", "../page.html", "--pictures", "pictures")
    ended = on_disk(
        tmp_path, ("report", "run", "::", *pictures, "::"), size="16m", before=tmp_path / "before", fill="40K"
    )
    check_told(ended, status=0, words=f".parquet: {FULL}")
    assert f".svg: {FULL}" in ended.errors
    assert ended.output.count("== 1\n") == 2
    assert (tmp_path / "page.html").is_file()
    assert ended.files == before


COMMANDS = {
    "trace.csv": ("trace", INCAST, "-o", "trace.csv"),
    "new": ("generate", "fat-tree", "--k", "4", "-o", "new"),
    "picture.svg": ("graph", str(ROOT / "labs" / "leaf-spine"), "-o", "picture.svg"),
    "lab": ("sonic", "import", T0, "-o", "lab"),
    "configs": ("sonic", "export", str(ROOT / "labs" / "sonic-leaf-spine"), "-o", "configs"),
    "found": ("sonic", "check", T0, "--junit", "found/findings.xml"),
    "converted.csv": ("convert", "flows.txt", "--from", "hpcc", "-o", "converted.csv"),
    "run": ("report", "run"),
}
"""By the file or directory that each makes."""


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.slow("types every command that writes, on a disk of its own")
def test_what_cannot_be_written_is_not_begun(tmp_path: Path, logged: Path, read_only: bool) -> None:
    """All in one process, one after the other: a command leaves nothing that the next one would find."""
    shutil.copytree(logged, tmp_path / "before")
    (tmp_path / "before" / "flows.txt").write_text("2000\n" + "0 1 3 100 1000 2.0\n" * 2000)
    before = {
        path.relative_to(tmp_path / "before").as_posix() for path in (tmp_path / "before").rglob("*") if path.is_file()
    }
    # A run without room even for its manifest says so where others say how they ended.
    run = ("run", INCAST, "--set", "senders=1", "--out", "out")
    words = tuple(word for arguments in (*COMMANDS.values(), run) for word in (*arguments, "::"))
    ended = on_disk(
        tmp_path, words, size="4m", before=tmp_path / "before", fill="" if read_only else "0K", read_only=read_only
    )
    assert "Traceback" not in ended.errors
    assert ended.files == before
    why = "the file system is read-only" if read_only else FULL
    told = [line for line in ended.errors.splitlines() if line.endswith(f": {why}")]
    assert [line.partition(":")[0].partition("/")[0] for line in told] == [*COMMANDS, *(["out"] if read_only else [])]
    assert ("nothing was run, and no file of it is left" in ended.output) != read_only
    assert not (ended.disk / "out").exists()
    assert ended.output.count(f"== {2 if read_only else 1}\n") == len(COMMANDS) + 1
