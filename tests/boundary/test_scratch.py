"""What a machine leaves in its scratch directory, as a stranger would, and what of it becomes part of the run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabriclab.files import write_text
from fabriclab.scratch import Scratch, open_plain, while_it_runs


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """The scratch directory of a run whose inputs are written."""
    run = tmp_path / "run"
    for name in ("machine", "nodes", "traffic", "logs", "raw/flows"):
        (run / name).mkdir(parents=True)
    (run / "traffic" / "hosts.csv").write_text("hosts\n")
    scratch = Scratch(run)
    scratch.make()
    return scratch


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's, outside of the run."""
    path = tmp_path / "victim"
    path.write_text("untouched\n")
    return path


def test_what_a_run_prepares_is_the_machine_s_to_fill_and_comes_back(scratch: Scratch) -> None:
    run = scratch.run_directory
    assert not (run / "raw").exists() and (scratch.path / "raw" / "flows").is_dir()
    (scratch.path / "raw" / "flows" / "h1.csv").write_text("flows\n")
    (scratch.path / "collect").mkdir()
    (scratch.path / "collect" / "nstat@h1").write_text("nstat\n")
    assert scratch.take_over() == []
    assert (run / "raw" / "flows" / "h1.csv").read_text() == "flows\n"
    assert (run / "collect" / "nstat@h1").read_text() == "nstat\n"
    assert not scratch.path.exists()
    assert scratch.take_over() == [], "there is nothing more to take"


def test_inputs_stay_the_host_s(scratch: Scratch) -> None:
    for name in ("machine/job.json", "nodes/h1", "traffic/trace.csv", "plan.json", "manifest.json", "report.html"):
        (scratch.path / name).parent.mkdir(exist_ok=True)
        (scratch.path / name).write_text("changed\n")
    scratch.take_over()
    run = scratch.run_directory
    assert sorted(path for path in run.rglob("*") if path.is_file() and path.read_text() == "changed\n") == [
        run / "output" / name for name in ("manifest.json", "plan.json", "report.html")
    ]


def test_addresses_that_the_machine_adds_come_back(tmp_path: Path) -> None:
    (tmp_path / "traffic").mkdir()
    (tmp_path / "traffic" / "hosts.csv").write_text("host,address\n")
    scratch = Scratch(tmp_path)
    scratch.make(["traffic"])
    with (scratch.path / "traffic" / "hosts.csv").open("a") as hosts:
        hosts.write("h1,10.0.0.1\n")
    assert while_it_runs(tmp_path, "traffic/hosts.csv").read_text().endswith("h1,10.0.0.1\n")
    scratch.take_over()
    assert (tmp_path / "traffic" / "hosts.csv").read_text() == "host,address\nh1,10.0.0.1\n"


@pytest.mark.parametrize(
    "place", ["raw/flows/h1.csv", "logs/sampler.log", "output/mine", "report.html", "summary.json"]
)
def test_a_link_is_left_out_and_never_followed(place: str, scratch: Scratch, victim: Path) -> None:
    link = scratch.path / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(victim)
    (said,) = scratch.take_over()
    assert said == f"'{place}' is not a plain file: left out"
    run = scratch.run_directory
    assert not [path for path in run.rglob("*") if path.is_symlink()]
    write_text(run / "report.html", "ours\n")
    assert victim.read_text() == "untouched\n"


@pytest.mark.parametrize("name", ["raw", "logs", "collect", "output", "hadoop", "live", "traffic"])
def test_a_directory_that_has_become_a_link_is_left_out(name: str, scratch: Scratch, victim: Path) -> None:
    elsewhere = victim.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hosts.csv").write_text("theirs\n")
    place = scratch.path / name
    if place.is_dir():
        for inner in place.iterdir():
            inner.rmdir()
        place.rmdir()
    place.symlink_to(elsewhere)
    scratch.take_over()
    assert (elsewhere / "hosts.csv").read_text() == "theirs\n"
    assert not [path for path in scratch.run_directory.rglob("*") if path.is_symlink()]
    assert (scratch.run_directory / "traffic" / "hosts.csv").read_text() == "hosts\n"


def test_a_file_with_another_name_a_pipe_and_a_socket_are_left_out(scratch: Scratch, victim: Path) -> None:
    logs = scratch.path / "logs"
    os.link(victim, logs / "hard")
    os.mkfifo(logs / "pipe")
    assert scratch.take_over() == [
        "'logs/hard' has another name elsewhere: left out",
        "'logs/pipe' is not a plain file: left out",
    ]
    assert victim.stat().st_nlink == 1 and list((scratch.run_directory / "logs").iterdir()) == []


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o0000, 0o0777])
def test_modes_are_set_anew(mode: int, scratch: Scratch) -> None:
    (scratch.path / "logs" / "shell").write_text("#!/bin/sh\n")
    (scratch.path / "logs" / "shell").chmod(mode)
    scratch.take_over()
    assert (scratch.run_directory / "logs" / "shell").stat().st_mode & 0o7777 == 0o644


def test_the_host_s_own_logs_stay_its_own(scratch: Scratch) -> None:
    for name in ("kernel.log", "kernel-1.log", "events-0.jsonl", "server.log"):
        (scratch.run_directory / "logs" / name).write_text("host\n")
        (scratch.path / "logs" / name).write_text("guest\n")
    (scratch.path / "logs" / "kernel-release.log").write_text("guest\n")
    assert len(scratch.take_over()) == 4
    assert (scratch.run_directory / "logs" / "kernel.log").read_text() == "host\n"
    assert (scratch.run_directory / "logs" / "kernel-release.log").read_text() == "guest\n"


def test_names_that_cannot_be_shown_and_depths_without_end(scratch: Scratch) -> None:
    (scratch.path / "logs" / "a\x1b[31mb").write_text("red\n")
    os.close(os.open(os.fsencode(scratch.path / "logs") + b"/\xff", os.O_CREAT | os.O_WRONLY))
    deep = scratch.path / "output"
    deep.mkdir()
    for _ in range(100):
        deep /= "d"
        deep.mkdir()
    said = scratch.take_over()
    assert "'logs/a\\x1b[31mb' has a name that can't be shown: left out" in said
    assert any("64 directories deep" in line for line in said)
    assert not any(ord(letter) < 32 or letter == "\x1b" for line in said for letter in line)


def test_a_run_that_goes_on_is_read_without_being_touched(scratch: Scratch, victim: Path) -> None:
    log = scratch.path / "raw" / "flows" / "h1.csv"
    log.write_text("one\n")
    (scratch.path / "raw" / "link").symlink_to(victim)
    scratch.copy_out()
    assert log.read_text() == "one\n", "it is the machine's"
    assert (scratch.run_directory / "raw" / "flows" / "h1.csv").read_text() == "one\n"
    assert not (scratch.run_directory / "raw" / "link").exists()
    log.write_text("one\ntwo\n")
    scratch.take_over()
    assert (scratch.run_directory / "raw" / "flows" / "h1.csv").read_text() == "one\ntwo\n"


def test_the_wish_to_stop_follows_no_link(scratch: Scratch, victim: Path) -> None:
    before = victim.stat().st_mtime_ns
    (scratch.path / "stop").symlink_to(victim.parent / "new")
    scratch.ask_to_stop()
    assert not (victim.parent / "new").exists() and victim.stat().st_mtime_ns == before
    (scratch.path / "stop").unlink()
    scratch.ask_to_stop()
    scratch.ask_to_stop()
    assert (scratch.path / "stop").is_file()


def test_only_plain_files_are_opened(scratch: Scratch, victim: Path) -> None:
    os.mkfifo(scratch.path / "pipe")
    (scratch.path / "link").symlink_to(victim)
    for name in ("pipe", "link", "logs", "/dev/null"):
        with pytest.raises(OSError):
            open_plain(scratch.path / name)
    with open_plain(victim) as file:
        assert file.read() == b"untouched\n"
