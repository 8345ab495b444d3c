"""What a lab or a bundle brings that runs outside of its nodes runs when somebody said that it may, and not before."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import strangers
from patience import patient
from sample_algorithms import CONTROL
from strangers import Desk

import fabriclab
from fabriclab.api.consent import code_subject, lab_request, lab_subject, recorded_request
from fabriclab.consent.gate import SHIPPED_LABS, is_shipped, is_trusted
from fabriclab.consent.request import ConsentError, ConsentRequest
from fabriclab.errors import ArgumentError
from fabriclab.formats.plan import parse_plan_json
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.speed import parse_speed
from fabriclab.lab import parse_lab
from fabriclab.live.recording import Header, Recorder
from fabriclab.live.replaying import open_recording
from fabriclab.live.wanted import plan_hash
from fabriclab.resolve import resolve_plan
from fabriclab.shipped import PROJECT, shipped

TOLD = "an algorithm in C, which gcc compiles here and the virtual machine's kernel runs"


@pytest.fixture
def desk(tmp_path: Path, state_home: Path) -> Desk:
    return Desk.at(tmp_path, state_home)


COMMANDS = {
    "run": ("run", "lab"),
    "sweep": ("sweep", "lab"),
    "validate": ("validate", "lab"),
    "up": ("up", "lab"),
    "figures": ("figures", "lab"),
    "run in containers": ("run", "lab", "--set", "control=reno", "--engine", "containerlab"),
    "sweep in containers": ("sweep", "lab", "--set", "control=reno", "--engine", "containerlab"),
    "up in containers": ("up", "lab", "--set", "control=reno", "--engine", "containerlab"),
    "open": ("open", "x.zip", "--reproduce"),
    "open unpacked": ("open", "opened", "--reproduce"),
}


@pytest.mark.parametrize("way", COMMANDS)
def test_without_a_terminal_a_stranger_s_code_is_refused(desk: Desk, way: str) -> None:
    strangers.lab(desk.directory / "lab")
    strangers.bundle(desk.directory / "x.zip")
    if way == "open unpacked":
        fabriclab.open_bundle(desk.directory / "x.zip", desk.directory / "opened")
    done = desk.type(*COMMANDS[way])
    assert done.returncode == 2, done.stderr
    assert "is not trusted yet, and brings code that runs outside of its nodes:" in done.stderr
    assert "Traceback" not in done.stderr and not desk.compiled and not (desk.directory / "runs").exists()
    typed = done.stderr.splitlines()[-1].split()
    assert typed[:2] == ["fabriclab", COMMANDS[way][0]] and typed[-1] == "--trust"
    if "containers" in way:
        assert "example.org/stranger:1: a container image, which Docker runs as root" in done.stderr
        assert "lab/topology.clab.yml (" in done.stderr and "root on this host" in done.stderr
    else:
        assert TOLD in done.stderr and "mine.c (" in done.stderr
        assert f"{len(strangers.BROKEN.splitlines())} lines, sha256 {sha256_of(strangers.BROKEN)[:12]}" in done.stderr


@pytest.mark.usefixtures("artefacts")
@pytest.mark.parametrize("way", ["run", "open"])
@pytest.mark.slow("types four commands, each a process of its own, one of which compiles")
def test_the_line_to_type_runs_it(desk: Desk, way: str) -> None:
    """It gets as far as the compiler, which does not take it: so it is known that the compiler was asked."""
    strangers.lab(desk.directory / "lab")
    strangers.bundle(desk.directory / "x.zip")
    refused = desk.type_in_a_process(*COMMANDS[way])
    words = refused.stderr.splitlines()[-1].split()[1:]
    assert not desk.compiled
    done = desk.type_in_a_process(*words)
    assert desk.compiled and "mine.c:" in done.stderr and done.returncode in (1, 2), done.stderr
    assert desk.type("trust").stdout == ("" if way == "open" else f"lab  {desk.directory / 'lab'}\n")
    assert (desk.type(*words[:-1]).returncode == 2) and "Traceback" not in done.stderr


@pytest.mark.usefixtures("artefacts")
@pytest.mark.slow("types three commands, one of which compiles")
def test_check_compiles_nothing_that_it_was_not_asked_to(desk: Desk) -> None:
    strangers.lab(desk.directory / "lab")
    done = desk.type("check", "lab")
    assert done.returncode == 0 and not desk.compiled
    assert (
        "warning: lab/mine.c: not compiled, because the lab is not trusted yet; `check --compile` does" in done.stdout
    )
    assert desk.type("check", "lab", "--compile").returncode == 2 and desk.compiled
    assert desk.type("trust").stdout == "", "to compile is not to trust"


@pytest.mark.usefixtures("artefacts")
@pytest.mark.slow("types seven commands, each a process of its own, two of which compile")
def test_a_lab_made_here_asks_nothing_and_its_copy_elsewhere_does(desk: Desk) -> None:
    assert desk.type("new", "mycc", "--template", "congestion-control").returncode == 0
    assert "warning" not in desk.type("check", "mycc").stdout and desk.compiled
    assert desk.type("new", "again", "--from", "mycc").returncode == 0
    shutil.copytree(desk.directory / "mycc", desk.directory / "sent")
    listed = desk.type("trust").stdout.splitlines()
    assert listed == [f"lab  {desk.directory / name}" for name in ("mycc", "again")]
    done = desk.type("new", "laundered", "--from", "sent")
    assert "note: sent is not trusted, so its copy is not" in done.stderr
    assert desk.type("run", "laundered").returncode == 2
    assert desk.type("run", "sent").returncode == 2


@pytest.mark.slow("types six commands, each a process of its own")
def test_trust_is_said_listed_and_taken_back(desk: Desk) -> None:
    strangers.lab(desk.directory / "lab")
    assert desk.type("trust", "lab").stdout == f"trusted from now on: lab {desk.directory / 'lab'}\n"
    assert is_trusted(lab_subject(desk.directory / "lab"))
    (desk.directory / "link").symlink_to("lab")
    assert is_trusted(lab_subject(desk.directory / "link")) and not is_trusted(lab_subject(desk.directory))
    assert desk.type("trust", "lab", "--forget").returncode == 0 and desk.type("trust").stdout == ""
    done = desk.type("trust", "lab", "--forget")
    assert done.returncode == 2 and "lab: was not trusted; `fabriclab trust` lists everything that is" in done.stderr
    done = desk.type("trust", "nowhere")
    assert done.returncode == 2 and "nowhere: no such directory" in done.stderr
    assert desk.type("trust", "--forget").returncode == 2


def test_what_is_gone_can_be_forgotten(tmp_path: Path) -> None:
    lab = strangers.lab(tmp_path / "lab")
    fabriclab.trust(lab)
    shutil.rmtree(lab)
    assert fabriclab.forget(lab) and not fabriclab.trusted()


def test_code_of_a_bundle_is_trusted_by_its_hash(tmp_path: Path) -> None:
    opened = fabriclab.open_bundle(strangers.bundle(tmp_path / "x.zip"), tmp_path / "opened")
    subject = fabriclab.trust(opened.directory)
    assert subject.kind == "code" and fabriclab.trusted() == [subject]
    plan = fabriclab.open_run(opened.content.directory).results.plan
    assert recorded_request({opened.directory: plan}, opened.directory).subject == subject
    (one,) = plan.algorithms
    other = plan.model_copy(update={"algorithms": (OwnAlgorithm(**{**vars(one), "source": one.source + " "}),)})
    assert not is_trusted(recorded_request({opened.directory: other}, opened.directory).subject)
    assert fabriclab.forget(subject.name) and not fabriclab.trusted()
    fabriclab.trust(opened.content.directory)
    assert fabriclab.forget(opened.directory)


def test_notebooks_of_a_bundle_are_named_and_not_run(desk: Desk) -> None:
    run = strangers.run_with_code(desk.directory / "x")
    (run / "lab").mkdir()
    (run / "lab" / "look \x1b[2J.ipynb").write_text("{}")
    fabriclab.bundle(run, desk.directory / "x.zip")
    done = desk.type("open", "x.zip", "-o", "opened")
    assert done.returncode == 0 and "\x1b" not in done.stdout
    told = f"lab/look \\x1b[2J.ipynb (sha256 {sha256_of('{}')[:12]}): a notebook; its code runs with your rights"
    assert told in done.stdout


def test_what_is_named_has_the_text_that_would_run(tmp_path: Path) -> None:
    """A file beside the plan with another text is not shown in its place."""
    run = strangers.run_with_code(tmp_path / "run")
    plans = {run: fabriclab.open_run(run).results.plan}
    (item,) = recorded_request(plans, run).items
    assert item.name == f"{run}/plan.json, algorithm mine.c"
    (run / "lab").mkdir()
    (run / "lab" / "mine.c").write_text("int harmless;\n")
    assert recorded_request(plans, run).items == (item,)
    (run / "lab" / "mine.c").write_text(strangers.BROKEN)
    (item,) = recorded_request(plans, run).items
    assert item.name == f"{run}/lab/mine.c" and item.sha256 == sha256_of(strangers.BROKEN)


def test_a_run_without_code_is_nothing_to_trust(tmp_path: Path) -> None:
    from synthetic_run import incast_run

    with pytest.raises(ArgumentError, match="has no algorithm in C, so there is nothing to trust"):
        fabriclab.trust(incast_run(tmp_path / "run", 2, rounds=2))


def typed_on_a_terminal(desk: Desk, answer: str, *words: str) -> tuple[int, str]:
    """Return how a command ends that asks on a terminal, and all that stands there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "fabriclab", *words],
        cwd=desk.directory,
        env={**desk.environment, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown, end = b"", time.monotonic() + patient(300)
        while time.monotonic() < end:
            try:
                data = os.read(ours, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not data:
                break
            shown += data
            if b"[y/N]" in shown and answer:
                os.write(ours, answer.encode())
                answer = ""
        os.close(ours)
        return process.wait(timeout=patient(60)), shown.decode(errors="replace").replace("\r\n", "\n")


@pytest.mark.parametrize("answer", ["n\n", "\n", "nonsense\n", "\x04"])
def test_on_a_terminal_a_no_runs_nothing(desk: Desk, answer: str) -> None:
    strangers.lab(desk.directory / "lab")
    status, shown = typed_on_a_terminal(desk, answer, "run", "lab")
    assert status == 2 and not desk.compiled and not (desk.directory / "runs").exists(), shown
    assert f"Run it, and trust {desk.directory / 'lab'} from now on? [y/N]" in shown
    assert TOLD in shown and "Nothing of it was run." in shown
    assert desk.type("trust").stdout == ""


@pytest.mark.usefixtures("artefacts")
@pytest.mark.parametrize("way", ["run", "open"])
@pytest.mark.slow("types two commands on a terminal, one of which compiles")
def test_on_a_terminal_a_yes_runs_it_and_is_remembered_of_a_lab(desk: Desk, way: str) -> None:
    strangers.lab(desk.directory / "lab")
    strangers.bundle(desk.directory / "x.zip")
    status, shown = typed_on_a_terminal(desk, "y\n", *COMMANDS[way])
    assert desk.compiled and "mine.c:" in shown and status in (1, 2), shown
    assert desk.type("trust").stdout == ("" if way == "open" else f"lab  {desk.directory / 'lab'}\n")


def test_ctrl_c_at_the_question_runs_nothing(desk: Desk) -> None:
    strangers.lab(desk.directory / "lab")
    script = (
        "import sys\n"
        "from fabriclab.cli.app import app\n"
        "sys.argv = ['fabriclab', 'run', 'lab']\n"
        "sys.stderr.isatty = lambda: True\n"
        "class Interrupted:\n"
        "    def isatty(self): return True\n"
        "    def readline(self): raise KeyboardInterrupt\n"
        "sys.stdin = Interrupted()\n"
        "app()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=desk.directory,
        env=desk.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130 and "interrupted" in done.stderr and not desk.compiled


def test_python_raises_what_would_run(tmp_path: Path) -> None:
    lab = strangers.lab(tmp_path / "lab")
    opened = fabriclab.open_bundle(strangers.bundle(tmp_path / "x.zip"), tmp_path / "opened")
    for call in (
        lambda: fabriclab.run(lab, out=tmp_path / "out"),
        lambda: fabriclab.sweep(lab, out=tmp_path / "out"),
        lambda: fabriclab.validate(lab, out=tmp_path / "out"),
        lambda: fabriclab.reproduce(opened),
    ):
        with pytest.raises(ConsentError, match="trust=True allows it") as caught:
            call()
        (item,) = caught.value.request.items
        assert item.lines == len(strangers.BROKEN.splitlines()) and item.sha256 == sha256_of(strangers.BROKEN)
    assert not (tmp_path / "out").exists() and not (opened.directory / "again").exists()


def test_a_live_lab_is_asked_about_where_it_is_wanted(served_here: Path) -> None:
    strangers.lab(served_here / "lab")
    with pytest.raises(ConsentError, match=r"lab/mine\.c"):
        fabriclab.up("lab")


def test_a_point_that_brings_nothing_is_run(tmp_path: Path) -> None:
    """What counts is what would run, not what lies in the folder."""
    lab = parse_lab(strangers.lab(tmp_path / "lab"))
    assert lab_request(lab, [resolve_plan(lab, {"control": "reno"})], "vm").items == ()
    assert len(lab_request(lab, [resolve_plan(lab, {})], "vm").items) == 1


def recorded(directory: Path, lab: Path, source: str) -> Path:
    """Write the run directory of a live lab, as far as a replay reads it before it starts anything."""
    run = strangers.run_with_code(directory, source)
    text = (run / "plan.json").read_text()
    header = Header(
        version="0",
        lab="lab",
        lab_directory=str(lab),
        seed=1,
        idle=True,
        artefacts={"kernel": "0", "rootfs": "0", "tools": "0"},
        plan_sha256=plan_hash(text),
    )
    Recorder(run, header)
    return run


def test_a_replay_runs_the_code_of_trusted_labs_alone(tmp_path: Path) -> None:
    """What a recording says of its lab's directory is a stranger's word: the text decides."""
    lab = strangers.lab(tmp_path / "lab", CONTROL)
    mine, other = recorded(tmp_path / "mine", lab, CONTROL), recorded(tmp_path / "other", lab, CONTROL + "\n")
    for run in (mine, other):
        with pytest.raises(ConsentError):
            open_recording(run, parse_speed("max"), ())
    fabriclab.trust(lab)
    plans = {run: parse_plan_json((run / "plan.json").read_text()) for run in (mine, other)}
    assert recorded_request({mine: plans[mine]}, mine, lab).items == ()
    assert len(recorded_request({other: plans[other]}, other, lab).items) == 1
    with pytest.raises(ConsentError):
        open_recording(other, parse_speed("max"), ())


def test_names_of_a_bundle_reach_no_terminal_as_they_are(tmp_path: Path) -> None:
    plan = fabriclab.open_run(strangers.run_with_code(tmp_path / "run")).results.plan
    (one,) = plan.algorithms
    evil = plan.model_copy(update={"algorithms": (OwnAlgorithm(**{**vars(one), "file": "\x1b[2Ja\nb.c"}),)})
    request = recorded_request({Path("run"): evil}, Path("bun\x1bdle"))
    said = "\n".join(map(str, (*request.items, ConsentError(request))))
    assert "\x1b" not in said and "\\x1b[2Ja\\nb.c" in said and "bun\\x1bdle" in said


def test_a_request_goes_through_a_channel() -> None:
    lab = parse_lab(PROJECT / "fabriclab" / ".." / "labs" / "incast", every_point=False)
    request = lab_request(lab, [], "containerlab")
    assert request.items and ConsentRequest.from_json(json.loads(json.dumps(request.as_json()))) == request


def test_the_labs_that_are_shipped_are_those_that_are_there() -> None:
    if not (PROJECT / ".git").exists():
        pytest.skip("no checkout")
    listed = subprocess.run(["git", "ls-files", "labs"], cwd=PROJECT, capture_output=True, text=True, check=True)
    there = {Path(line).parts[1] for line in listed.stdout.splitlines() if len(Path(line).parts) > 2}
    assert there == set(SHIPPED_LABS)


def test_what_lies_beside_a_shipped_lab_is_a_stranger_s(tmp_path: Path) -> None:
    labs = shipped("labs").resolve()
    assert is_shipped(labs / "incast") and is_trusted(lab_subject(labs / "l4s"))
    assert not is_shipped(labs / "from-a-stranger") and not is_shipped(labs / "incast" / "incast")
    assert not is_trusted(lab_subject(tmp_path / "labs" / "incast"))


def test_what_can_not_be_remembered_holds_for_this_time(desk: Desk, state_home: Path) -> None:
    strangers.lab(desk.directory / "lab")
    (state_home / "fabriclab").write_text("a file, where a directory should be")
    done = desk.type("run", "lab", "--trust")
    assert "note: trusted for this time only: " in done.stderr and "Traceback" not in done.stderr
    assert desk.compiled or "not built" in done.stderr
    done = desk.type("run", "lab")
    assert done.returncode == 2 and "trust.json: Not a directory; this file lists what may run" in done.stderr


def test_code_is_one_subject_in_whatever_order(tmp_path: Path) -> None:
    plan = fabriclab.open_run(strangers.run_with_code(tmp_path / "run")).results.plan
    (one,) = plan.algorithms
    two = OwnAlgorithm(**{**vars(one), "file": "other.c"})
    assert code_subject([one, two]) == code_subject([two, one]) != code_subject([one])
