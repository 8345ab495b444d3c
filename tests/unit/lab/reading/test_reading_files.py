"""What a lab may read: regular files of its own directory, links resolved;
and nothing of another file comes out in an error."""

from __future__ import annotations

import ast
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import patient
from repository import ROOT
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import TraceError, compiled_flows
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan

COMMON = ROOT / "tests" / "errors" / "common"
SONIC = ROOT / "labs" / "sonic-leaf-spine"
SECRET = "root:SECRET:0:0\n"
TRACE = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n0,0,h1,h2,1000\n"
EXPERIMENT = """
title: All that a lab reads
switches: {default: {profile: mine, scale: none, queues: {default: {wred: {min: 30 KB}}}}}
traffic:
  mine: {kind: trace, file: mine.csv}
  drawn: {kind: arrivals, senders: [h1], receivers: [h2], size: {distribution: sizes.txt}, interval: 1 ms, stop: 2 ms}
"""
READ = ("topology.clab.yml", "experiment.yml", "mine.yml", "mine.csv", "sizes.txt", "leaf1.json")
"""A lab's files, one of each kind that is read; the last is bound in another lab."""


def make_lab(directory: Path, file: str) -> Path:
    """Make the lab that reads `file`; return where that is."""
    if file == "leaf1.json":
        shutil.copytree(SONIC, directory)
    else:
        shutil.copytree(COMMON, directory)
        (directory / "experiment.yml").write_text(EXPERIMENT)
        (directory / "mine.csv").write_text(TRACE)
        (directory / "sizes.txt").write_text("1000 0\n2000 1\n")
        shutil.copy(ROOT / "fabriclab" / "switches" / "trident-3.yml", directory / "mine.yml")
    return directory / file


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def sparse(path: Path) -> None:
    with path.open("wb") as made:
        made.truncate(10 * 10**9)


def secret_link(path: Path) -> None:
    other = path.parents[1] / "secret"
    other.write_text(SECRET)
    path.symlink_to(other)


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe": (fifo, "is a pipe, not a file"),
    "a directory": (Path.mkdir, "is a directory, not a file"),
    "a socket": (bound_socket, "is a socket, not a file"),
    "10 GB": (sparse, "has 10000000000 bytes or more; at most"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "outside the lab's directory (with links resolved)"),
    "a link that leads out": (secret_link, "outside the lab's directory (with links resolved)"),
    "a link to nothing outside": (
        lambda path: path.symlink_to("/nowhere/x"),
        "outside the lab's directory (with links resolved)",
    ),
    "a link to itself": (lambda path: path.symlink_to(path.name), "is a link that leads to itself"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("file", READ)
def test_what_is_no_file_of_the_lab_is_refused_at_once(
    file: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = make_lab(tmp_path / "lab", file)
    make, reason = KINDS[kind]
    path.unlink()
    make(path)
    with pytest.raises(LabError) as caught:
        parse_lab(Path("lab"))
    (said,) = [str(problem) for problem in caught.value.mistakes if file in str(problem)]
    assert reason in said
    assert said.startswith(("lab/topology.clab.yml", "lab/experiment.yml"))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("target", ["/etc/passwd", "../secret", "out/secret", "sub/../../secret", "secret\0.json"])
@pytest.mark.parametrize("file", ["mine.csv", "sizes.txt", "leaf1.json"])
def test_a_name_that_leads_out_is_refused_with_its_line(file: str, target: str, tmp_path: Path) -> None:
    path = make_lab(tmp_path / "lab", file)
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "lab" / "out").symlink_to("..")
    (tmp_path / "lab" / "sub").mkdir()
    written = path.with_name("topology.clab.yml" if file == "leaf1.json" else "experiment.yml")
    text = written.read_text()
    line = next(number for number, line in enumerate(text.splitlines(), 1) if file in line)
    quoted = f'"{target}"'.replace("\0", "\\0")
    written.write_text(
        text.replace(f"'{file}:", f'"{quoted[1:-1]}:')
        .replace("config_db.json'", 'config_db.json"')
        .replace(file, quoted)
    )
    if file == "leaf1.json":
        bind = f'["{quoted[1:-1]}:/var/sonic/config_db.json"]'
        written.write_text(text.replace("['leaf1.json:/var/sonic/config_db.json']", bind))
    with pytest.raises(LabError) as caught:
        parse_lab(tmp_path / "lab")
    (said,) = [
        str(problem) for problem in caught.value.mistakes if problem.file == str(written) and problem.line == line
    ]
    assert "a lab reads only files of its own directory" in said or "NUL" in said
    assert repr(target) in said
    assert "SECRET" not in str(caught.value) and "root:" not in str(caught.value)


@pytest.mark.parametrize("file", READ)
def test_links_within_the_directory_are_the_labs_own(file: str, tmp_path: Path) -> None:
    """As a ConfigMap of Kubernetes has them; and the directory itself may be a link."""
    path = make_lab(tmp_path / "real", file)
    (path.parent / "..data").mkdir()
    path.rename(path.parent / "..data" / file)
    path.symlink_to(Path("..data", file))
    (tmp_path / "lab").symlink_to("real")
    lab = parse_lab(tmp_path / "lab")
    assert len(compiled_flows(resolve_plan(lab, {}), lab.directory)) > 0


def test_a_trace_that_becomes_a_link_after_the_plan(tmp_path: Path) -> None:
    path = make_lab(tmp_path / "lab", "mine.csv")
    lab = parse_lab(tmp_path / "lab")
    plan = resolve_plan(lab, {})
    path.rename(tmp_path / "mine.csv")
    path.symlink_to("../mine.csv")
    with pytest.raises(TraceError, match=r"mine\.csv: the trace of traffic\.mine: lies outside the lab's directory"):
        compiled_flows(plan, lab.directory)


@pytest.mark.parametrize(
    "command",
    [
        "check {}",
        "graph {} -o -",
        "convert {} --from hpcc",
        "arista import {}",
        "sonic check {}",
        "sonic import {}",
        "sonic import {} {}",
    ],
)
def test_what_the_command_line_names(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No device, no directory, nothing endless; a named pipe that nobody writes to is empty, and does not block."""
    monkeypatch.chdir(tmp_path)
    sparse(Path("sparse"))
    fifo(Path("fifo"))
    # A lab is no such file, however large.
    too_large = "a lab is a directory" if command.startswith("check") else "has 10000000000 bytes or more"
    for file, reason in (("/dev/zero", "is a device"), ("sparse", too_large), ("fifo", "")):
        result = CliRunner().invoke(app, command.replace("{}", file).split())
        assert result.exit_code == 2, result.output
        assert file in result.output and reason in result.output


def test_a_pipe_on_the_command_line_is_read() -> None:
    """As `<(ssh leaf1 show running-config)` is."""
    text = (ROOT / "tests" / "golden" / "sonic" / "trident-3.json").read_bytes()
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(text)
        os._exit(0)
    os.close(write)
    result = CliRunner().invoke(app, ["sonic", "check", f"/dev/fd/{read}"])
    os.close(read)
    os.wait()
    assert result.exit_code in (0, 1), result.output


def test_the_command_itself_ends_at_a_pipe(tmp_path: Path) -> None:
    path = make_lab(tmp_path / "lab", "experiment.yml")
    path.unlink()
    fifo(path)
    ended = subprocess.run(
        [sys.executable, "-m", "fabriclab", "check", "lab"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patient(120),
    )
    assert (ended.returncode, ended.stderr) == (2, "lab/experiment.yml: is a pipe, not a file\n")


OPENS = {"read_text", "read_bytes", "open", "fdopen"}
OUR_OWN = {"open_file", "read_text"}
"""What of `fabriclab.files` opens a file."""
READS_ITSELF = {
    "lab/reading/files.py": "the one place",
    "lab/setup/machine_contents.py": "lists that come with fabriclab",
    "lab/switch/profile.py": "the profiles that come with fabriclab",
    "hadoop/lab/archives.py": "lists of archives that come with fabriclab",
    "vendors/arista/profile/chip.py": "the profiles that come with fabriclab",
    "vendors/mininet/script/stand_in.py": "a script that its user lets run; it imports nothing of fabriclab",
    "vendors/sonic/commands/baseline.py": "a list that a check wrote",
    "vendors/sonic/daemons/given.py": "scripts that come with fabriclab",
    "vendors/sonic/daemons/run.py": "what the daemons wrote",
    "vendors/sonic/image/boot.py": "a script that comes with fabriclab",
    "vendors/sonic/container.py": "a lab that was read and checked",
    "vendors/sonic/read/source_text.py": "an archive that was read",
    "api/lab_copy.py": "a lab that its user copies",
    "api/new_lab.py": "the starters that come with fabriclab",
    "api/bundles.py": "run directories",
    "api/clusters.py": "algorithms that were just compiled",
    "api/consent.py": "notebooks of a bundle that was unpacked",
    "api/host_report.py": "what the host says of itself",
    "api/kept_lab.py": "a lab that was read and checked",
    "api/measured.py": "run directories",
    "api/validation.py": "run directories",
    "cli/commands/figures.py": "what a lab publishes, to write it anew",
    "cli/commands/published_pictures.py": "pictures that a report just wrote",
    "cli/commands/live/ui.py": "a browser",
    "cli/fast.py": "stands in for descriptors that are closed",
    "cli/host/output.py": "writes",
    "cli/host/streams.py": "stands in for descriptors that are closed",
    "cli/host/limits.py": "what the host says of its limits",
}


def test_nothing_else_reads_a_users_file() -> None:
    """A lab's files and those that the command line names are opened in `lab/reading/files.py`;
    run directories are another matter."""
    found = set()
    for part in ("lab", "hadoop/lab", "resolve", "workload", "compile", "vendors", "api", "cli"):
        for file in sorted((ROOT / "fabriclab" / part).rglob("*.py")):
            calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
            methods = {call.attr for call in calls if isinstance(call, ast.Attribute)}
            names = {call.id for call in calls if isinstance(call, ast.Name)}
            if methods & OPENS or names & {"open", *OUR_OWN}:
                found.add(file.relative_to(ROOT / "fabriclab").as_posix())
    assert found == set(READS_ITSELF)
