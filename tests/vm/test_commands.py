"""The commands as a user types them, on a small lab of the user's own, with the real machine."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from processes import live_processes
from vm import called, fabriclab, fabriclab_command

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

TOPOLOGY = """name: small
topology:
  kinds:
    linux: {image: 'fabriclab/host:latest'}
  nodes:
    s1: {kind: linux, labels: {fabriclab.role: switch}}
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
    h3: {kind: linux, labels: {fabriclab.role: host}}
  links:
    - {endpoints: ['h1:eth1', 's1:eth1'], vars: {rate: 1 Gbps, delay: 25 us}}
    - {endpoints: ['h2:eth1', 's1:eth2'], vars: {rate: 1 Gbps, delay: 25 us}}
    - {endpoints: ['h3:eth1', 's1:eth3'], vars: {rate: 1 Gbps, delay: 25 us}}
"""
EXPERIMENT = """title: A small lab
switches:
  default: {buffer: 100 KB}
hosts:
  default: {congestion_control: cubic}
traffic:
  long: {kind: long, senders: [h1, h2], receiver: h3, stop: 100 ms}
probes:
  queues: {interval: 100 us, ports: [s1:eth3]}
parameters:
  buffer: switches.default.buffer
  stop: traffic.long.stop
matrix:
  demo:
    buffer: [50 KB, 100 KB, 200 KB]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a lab `small` in it."""
    lab = tmp_path / "small"
    lab.mkdir()
    (lab / "topology.clab.yml").write_text(TOPOLOGY)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    return tmp_path


def manifest_of(run: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return manifest


@pytest.mark.slow("commands as users type them, each a process of its own")
def test_run_and_report(place: Path) -> None:
    result = fabriclab(place, "run", "small", "--seed", "3", "--out", "run")
    assert result.returncode == 0, result.stdout + result.stderr
    manifest = manifest_of(place / "run")
    assert manifest["status"] == "complete"
    assert manifest["seed"] == 3
    assert manifest["versions"]["kernel"]
    assert {"flows.parquet", "queues.parquet", "traffic/trace.csv"} <= set(manifest["files"])
    report = fabriclab(place, "report", "run", "--out", "page.html")
    assert report.returncode == 0, report.stderr
    assert "</html>" in (place / "page.html").read_text()


def test_a_host_with_hardly_any_shared_memory_and_a_directory_with_blanks(place: Path) -> None:
    """Docker's containers have 64 MB of it; the run directory is relative, as it is where nobody names one."""
    labs = place / "my labs, all"
    labs.mkdir()
    (place / "small").rename(labs / "small")
    hostile = 'mount -t tmpfs -o size=1m tmpfs /dev/shm || exit 77; umask 077; exec "$@"'
    command = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        hostile,
        "sh",
        *fabriclab_command(),
        "run",
        "small",
        "--no-report",
    ]
    result = subprocess.run(command, cwd=labs, capture_output=True, text=True, check=False)
    if result.returncode == 77 or "unshare" in result.stderr:
        pytest.skip("a file system can't be mounted here: run the tests as root, in no container")
    assert result.returncode == 0, result.stdout + result.stderr
    (run,) = (labs / "runs" / "small").iterdir()
    manifest = manifest_of(run)
    assert manifest["status"] == "complete"
    assert manifest["memory_directory"] not in ("/dev/shm", None)
    assert not list(Path(manifest["memory_directory"]).glob("fabriclab-machine-*/run"))


@pytest.mark.slow("commands as users type them, each a process of its own")
def test_sweep_runs_the_matrix_once(place: Path) -> None:
    first = fabriclab(place, "sweep", "small", "--out", "sweep", "-j", "2")
    assert first.returncode == 0, first.stdout + first.stderr
    points = json.loads((place / "sweep" / "sweep.json").read_text())["points"]
    assert [(point["settings"]["buffer"], point["status"]) for point in points] == [
        ("50 KB", "complete"),
        ("100 KB", "complete"),
        ("200 KB", "complete"),
    ]
    started = [manifest_of(place / "sweep" / point["run"])["started"] for point in points]
    again = called(place, "sweep", "small", "--out", "sweep")
    assert "3 of 3 points are done already" in again.stderr
    assert [manifest_of(place / "sweep" / point["run"])["started"] for point in points] == started


def test_plan_shows_what_a_node_gets(place: Path) -> None:
    shown = called(place, "plan", "small", "--node", "s1").stdout
    assert called(place, "run", "small", "--out", "run", "--no-report").returncode == 0
    for name in ("sysctl.conf", "ip.batch", "tc.batch"):
        assert (place / "run" / "nodes" / "s1" / name).read_text() in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_runs_keep_what_they_measured(place: Path, number: signal.Signals) -> None:
    running = subprocess.Popen(
        [*fabriclab_command(), "run", "small", "--set", "stop=1000 s", "--out", "run"],
        cwd=place,
        stdout=subprocess.PIPE,
        text=True,
    )
    events = place / "run" / "events.jsonl"
    wait_until(lambda: events.is_file() and '"progress"' in events.read_text())
    running.send_signal(number)
    output, _ = running.communicate()
    assert running.returncode == 130
    assert "measurements until then are kept" in output
    assert manifest_of(place / "run")["status"] == "interrupted"
    assert (place / "run" / "flows.parquet").is_file()
    wait_until(lambda: live_processes(f"{place}/run") == [])


def test_nothing_survives_a_killed_fabriclab_and_the_report_still_works(place: Path) -> None:
    running = subprocess.Popen(
        [*fabriclab_command(), "run", "small", "--set", "stop=1000 s", "--out", "run"], cwd=place
    )
    events = place / "run" / "events.jsonl"
    wait_until(lambda: events.is_file() and '"progress"' in events.read_text())
    machine = [process for process in live_processes(f"fabriclab-machine {place}/run") if process != running.pid]
    private = {Path(f"/proc/{process}/cwd").readlink() for process in machine}
    assert private and all(path.name.startswith("fabriclab-machine-") for path in private)
    running.send_signal(signal.SIGKILL)
    running.wait()
    wait_until(lambda: live_processes(f"{place}/run") == [])
    wait_until(lambda: not any(path.exists() for path in private))
    assert manifest_of(place / "run")["message"] == "the run did not finish, because fabriclab was killed"
    assert called(place, "report", "run").returncode == 0


@pytest.mark.slow("a sweep is interrupted and gone on with, each a process of its own")
def test_an_interrupted_sweep_stops_all_and_goes_on_later(place: Path) -> None:
    command = [*fabriclab_command(), "sweep", "small", "--set", "stop=1 s", "--out", "sweep", "-j", "1"]
    running = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL)
    wait_until(lambda: any('"progress"' in events.read_text() for events in place.glob("sweep/points/*/events.jsonl")))
    running.send_signal(signal.SIGINT)
    assert running.wait() == 130
    statuses = [point["status"] for point in json.loads((place / "sweep" / "sweep.json").read_text())["points"]]
    # A busy host may be done with the first point, or two, before the signal is sent.
    done = statuses.index("interrupted")
    assert statuses == [*["complete"] * done, "interrupted", *["missing"] * (2 - done)]
    assert subprocess.run(command, cwd=place, stdout=subprocess.DEVNULL).returncode == 0
