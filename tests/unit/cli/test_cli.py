"""The command line as far as it needs no machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import fake_machine
import pytest
from command_line import ANSWER, Invoke
from repository import LABS

from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.commands.outcome import exit_status
from fabriclab.cli.host.failure import BadInputError
from fabriclab.engine.artefacts import Artefacts
from fabriclab.formats.plan.model import Plan

INCAST = str(LABS / "incast")


def test_plan_says_what_traffic_comes_to(invoke: Invoke) -> None:
    result = invoke("plan", INCAST, "--set", "senders=4")
    assert result.exit_code == 0
    assert (
        "  sru (rounds): 4 hosts to client, over tcp\n    40 rounds of 256 KB from each, from 0 s on\n" in result.stdout
    )


def test_plan_is_json_that_reads_back(invoke: Invoke) -> None:
    result = invoke("plan", INCAST, "--json", "--set", "senders=4", "--seed", "7")
    assert result.exit_code == 0
    plan = Plan.model_validate_json(result.stdout)
    assert (plan.seed, plan.settings) == (7, {"senders": 4})


def test_plan_of_a_node_shows_its_files(invoke: Invoke) -> None:
    result = invoke("plan", INCAST, "--node", "client")
    assert result.exit_code == 0
    assert [line for line in result.stdout.splitlines() if line.startswith("#")] == [
        "# nodes/client/sysctl.conf",
        "# nodes/client/ip.batch",
        "# nodes/client/tc.batch",
    ]


def test_check_says_what_a_lab_has(invoke: Invoke) -> None:
    result = invoke("check", INCAST)
    assert result.exit_code == 0
    assert result.stdout.startswith("incast: OK\n  49 hosts, 1 switch, 49 links\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", INCAST, "--node", "h99"), "--node 'h99': the lab has no such node"),
        (("plan", INCAST, "--set", "senders"), "--set 'senders': write KEY=VALUE"),
        (("plan", INCAST, "--set", "sender=4"), "sender=4: unknown setting"),
        (("plan", "nowhere"), "nowhere: no such directory"),
        (
            ("sweep", INCAST, "--matrix", "demp"),
            "--matrix 'demp': the experiment has demo, algorithms, sixty-seeds, newreno, buffers",
        ),
        (("run", INCAST, "--seed", "-1"), "Invalid value for '--seed'"),
        (
            ("sweep", INCAST, "--seeds", "many"),
            "--seeds 'many': write their number, such as 200, or a range such as 1..1000",
        ),
        (("sweep", INCAST, "--seeds", "5..2"), "--seeds '5..2': '5..2' runs backwards; write '2..5'"),
        (("sweep", INCAST, "--seeds", "2", "--seed", "3"), "--seed and --seeds: write one of the two"),
        (("sweep", INCAST, "--seeds", "1000"), "--seeds: 14000 points with these seeds; a sweep has at most 10000"),
        (("report", "nowhere"), "nowhere"),
    ],
)
def test_a_users_mistake_is_a_message_and_status_2(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_run_makes_a_run_directory(invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path) -> None:
    machine(ANSWER + fake_machine.END)
    result = invoke("run", INCAST, "--set", "senders=1", "--out", "out")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["status"] == "complete"
    assert "<html" in (tmp_path / "out" / "report.html").read_text()
    assert not (tmp_path / "out" / "raw").exists()


@pytest.mark.slow("runs a stand-in's lab twice, with what is made of its results")
def test_run_does_not_overwrite_unless_told(
    invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path
) -> None:
    machine(ANSWER + fake_machine.END)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years")
    for force in ((), ("--force",)):
        result = invoke("run", INCAST, "--out", "out", *force)
        assert result.exit_code == 2
        assert "--out out" in result.stderr
    assert (tmp_path / "out" / "thesis.txt").is_file()
    mine = ("run", INCAST, "--set", "senders=1", "--out", "mine", "--no-report")
    assert invoke(*mine).exit_code == 0
    assert invoke(*mine).exit_code == 2
    assert invoke(*mine, "--force").exit_code == 0


def test_a_check_that_does_not_hold_is_status_1(invoke: Invoke, machine: Callable[[str], Artefacts]) -> None:
    # 16 flows of 256 KB that all end after 2.5 ms: far above the link's rate, and above what the lab's check expects of
    # 16 senders.
    machine(ANSWER + fake_machine.END)
    result = invoke("run", INCAST, "--set", "variant=cubic", "--set", "senders=16", "--out", "out", "--no-report")
    assert result.exit_code == 1
    assert "fail: goodput_bps <" in result.stdout


def test_a_machine_that_dies_is_status_1_with_its_last_words(
    invoke: Invoke, machine: Callable[[str], Artefacts]
) -> None:
    machine(ANSWER + "echo 'Kernel panic - not syncing: test'\nkill -KILL $$\n")
    result = invoke("run", INCAST, "--set", "senders=1", "--out", "out")
    assert result.exit_code == 1
    assert "Kernel panic - not syncing: test" in result.stdout


def test_a_run_without_a_report_shows_what_it_measured(
    invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path
) -> None:
    """As on a disk that the page does not fit on."""
    machine(ANSWER + f"mkdir {tmp_path}/out/report.html\n" + fake_machine.END)
    result = invoke("run", INCAST, "--set", "senders=1", "--out", "out")
    assert result.exit_code == 1
    assert result.stderr == "no report: out/report.html: is a directory, not a file\n"
    assert "Flows complete" in result.stdout and "report:" not in result.stdout
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["status"] == "complete"


def test_a_run_may_leave_the_report_for_later(
    invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path
) -> None:
    machine(ANSWER + fake_machine.END)
    result = invoke("run", INCAST, "--set", "senders=1", "--out", "out", "--no-report")
    assert result.exit_code == 0
    assert "Flows complete" in result.stdout and "report:" not in result.stdout
    assert not (tmp_path / "out" / "report.html").exists()
    assert invoke("report", "out").exit_code == 0
    assert (tmp_path / "out" / "report.html").is_file()


def test_sweep_goes_on_where_it_stopped(invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path) -> None:
    machine(ANSWER + fake_machine.END)
    arguments = ("sweep", INCAST, "--set", "senders=1", "--out", "out")
    assert invoke(*arguments).exit_code == 0
    assert [point["status"] for point in json.loads((tmp_path / "out" / "sweep.json").read_text())["points"]] == [
        "complete",
        "complete",
    ]
    again = invoke(*arguments)
    assert again.exit_code == 0
    assert "2 of 2 points are done already" in again.stderr


def test_sweep_repeats_every_point_with_seeds(
    invoke: Invoke, machine: Callable[[str], Artefacts], tmp_path: Path
) -> None:
    machine(ANSWER + fake_machine.END)
    result = invoke("sweep", INCAST, "--set", "senders=1", "--set", "variant=dctcp", "--seeds", "2..3", "--out", "out")
    assert result.exit_code == 0
    points = json.loads((tmp_path / "out" / "sweep.json").read_text())["points"]
    assert [(point["seed"], point["settings"]["seed"], point["status"]) for point in points] == [
        (2, 2, "complete"),
        (3, 3, "complete"),
    ]


def test_doctor_names_what_mends(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "fabriclab.api.host_report.locate_artefacts",
        lambda: {"kernel": None, "rootfs": Path("/r"), "tools": Path("/t")},
    )
    monkeypatch.setenv("COLUMNS", "60")
    result = invoke("doctor")
    assert result.exit_code == 1
    assert "make machine" in result.stdout.splitlines()[-1]
    assert "kernel: not built" in result.stdout and "tools" not in result.stdout
    assert "other findings" in result.stdout and "--all shows them" in result.stdout
    assert "…" not in result.stdout, "nothing is cut off"


@pytest.mark.parametrize("command", [("run", INCAST), ("sweep", INCAST), ("doctor",)])
def test_another_processor_is_told_at_once(
    command: tuple[str, ...], invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke(*command)
    assert result.exit_code == 1
    assert "aarch64: " in result.output
    assert "runs only on x86-64" in result.output
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_where_the_machines_memory_goes(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriclab.api.host_report.memory_places", lambda _: [tmp_path / "shm", tmp_path])
    monkeypatch.setenv("COLUMNS", "400")
    assert f"in {tmp_path}, because {tmp_path}/shm can't be used" in invoke("doctor", "--all").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", INCAST, "--seed", "x"), "'x' must be a whole number"),
        (("run", INCAST, "--seed=-1"), "'-1' must be at least 0"),
        (("sweep", INCAST, "-j", "0"), "'0' must be at least 1"),
        (("compare", "a", "b", "--level", "high"), "'high' must be a number"),
        (("export", "a", "--format", "xls"), "'xls' is not one of 'csv', 'parquet', 'json', 'flent'"),
    ],
)
def test_options_are_refused_in_our_words(
    arguments: tuple[str, ...], said: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert said in result.output and "Value error" not in result.output and "Input" not in result.output


def test_settings_are_key_and_value() -> None:
    settings = parse_settings(["senders=4", "buffer = 64 KB", "a.b=x=y"])
    assert {key: value.text for key, value in settings.items()} == {
        "senders": "4",
        "buffer": "64 KB",
        "a.b": "x=y",
    }
    with pytest.raises(BadInputError, match="senders is given twice"):
        parse_settings(["senders=4", "senders=5"])


@pytest.mark.parametrize(
    ("statuses", "holds", "status"),
    [
        (["complete"], True, 0),
        (["complete"], False, 1),
        (["complete", "crashed"], True, 1),
        (["limit"], True, 1),
        (["complete", "interrupted", "crashed"], True, 130),
    ],
)
def test_exit_status(statuses: list[str], holds: bool, status: int) -> None:
    assert exit_status(statuses, holds) == status


def test_help_loads_neither_polars_nor_matplotlib() -> None:
    script = (
        "import sys\nfrom fabriclab.cli.app import app\nassert not {'polars', 'matplotlib', "
        "'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def test_check_takes_a_containerlab_file_alone(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "any.clab.yml"
    file.write_text(
        "name: any\ntopology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: linux}\n  links:\n    - endpoints: "
        "['a:eth1', 'b:eth1']\n"
    )
    result = invoke("check", str(file))
    assert result.exit_code == 0
    said = result.output.splitlines()
    assert said[:3] == ["any: OK", "  2 hosts, 0 switches, 1 link", "  traffic: ping (arrivals)"]
    assert "warning: any.clab.yml: 1 link without a rate: 10 Gbps, 5 us each way" in said
    file.write_text(
        file.read_text().replace("a: {kind: linux}", "a: {kind: nokia_srlinux}").replace("'b:eth1'", "'host:veth1'")
    )
    result = invoke("check", str(file))
    assert result.exit_code == 2
    assert result.stdout.splitlines() == [
        "any: a topology with 1 node of other kinds, 1 host, 1 switch, 0 links",
        "warning: kind nokia_srlinux of a (line 4) does not run here; --as frr runs FRR in its place",
        "warning: any.clab.yml: topology.links[0] (line 7) is left out: its type, host, leads out of the lab",
    ]
    assert f"{file}:4: topology.nodes.a.kind: fabriclab cannot run nodes of kind 'nokia_srlinux'" in result.stderr
    file.write_text(file.read_text().replace("nokia_srlinux", "nokia_srlinus"))
    result = invoke("check", str(file))
    assert result.exit_code == 2
    assert "any.clab.yml:4: topology.nodes.a.kind: 'nokia_srlinus' is not a kind of node; did you mean" in result.output
    assert "Traceback" not in result.output


def test_doctor_breaks_no_word_and_has_a_line_for_each_finding(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / "a-cache-whose-path-is-longer-than-any-terminal-is-wide" / "linux"
    monkeypatch.setattr(
        "fabriclab.api.host_report.locate_artefacts", lambda: {"kernel": long, "rootfs": None, "tools": Path("/t")}
    )
    monkeypatch.setattr(
        "fabriclab.api.host_report.general_problems",
        lambda: ["the Docker daemon does not run: sudo systemctl start docker (or sudo dockerd)"],
    )
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = invoke("doctor", "--all").stdout
    assert f"ok       kernel: {long}\n" in whole
    assert "missing  rootfs: not built: make machine\n" in whole
    daemon = (
        "note     --engine containerlab: the Docker daemon does not run: sudo systemctl start docker (or sudo "
        "dockerd)\n"
    )
    assert daemon in whole
    for columns in ("80", "40"):
        monkeypatch.setenv("COLUMNS", columns)
        broken = invoke("doctor", "--all").stdout
        # How much is free changes from one moment to the next.
        assert {word for word in broken.split() if not word.isdigit()} == {
            word for word in whole.split() if not word.isdigit()
        }
        assert all(len(line) <= int(columns) or len(line.split()) == 1 for line in broken.splitlines())


def test_doctor_as_json(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.api.host_report.general_problems", lambda: [])
    monkeypatch.setattr(
        "fabriclab.api.host_report.locate_artefacts",
        lambda: {"kernel": None, "rootfs": Path("/r"), "tools": Path("/t")},
    )
    result = invoke("doctor", "--json")
    record = json.loads(result.stdout)
    assert (result.exit_code, record["labs_can_run"]) == (1, False)
    assert {"name": "kernel", "state": "not built", "remedy": "make machine", "needed": True} in record["findings"]
    assert "make machine" in record["remedies"]
