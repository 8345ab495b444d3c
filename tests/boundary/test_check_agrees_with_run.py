"""`check` exits as `run` and `validate` do, for every kind of lab that these refuse, and says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_machine
import pytest
from typer.testing import CliRunner

from fabriclab.cli.app import app

HOSTS = "    a: {kind: linux}\n    b: {kind: linux}\n    s: {kind: linux, labels: {fabriclab.role: switch}}\n"
LINKS = """  links:
    - {endpoints: ["a:eth1", "s:eth1"], vars: {rate: 1 Gbps}}
    - {endpoints: ["b:eth1", "s:eth2"], vars: {rate: 1 Gbps}}
"""
TOPOLOGY = f"name: pair\ntopology:\n  nodes:\n{HOSTS}{LINKS}"
LONG = "  long: {kind: long, senders: [a], receiver: b, stop: 10 ms}\n"


def experiment(traffic: str = LONG, more: str = "") -> str:
    return f"title: a pair\nswitches: {{default: {{buffer: 64 KB}}}}\ntraffic:\n{traffic}{more}"


def foreign(nodes: str, links: str = LINKS) -> str:
    return f"name: theirs\ntopology:\n  nodes:\n{nodes}{links}"


TRACES = {
    "good.csv": "0,0,a,b,5000,,push\n",
    "bad.csv": "0,0,a,z,5000,,push\n",
    "many.csv": "".join(f"{number},0,a,b,,1000000,iperf3\n" for number in range(60_000)),
}
"""Flows that a lab may name."""

FILES = {
    "a kind of a vendor": foreign(HOSTS.replace("b: {kind: linux}", "b: {kind: nokia_srlinux}")),
    "a bridge beside it": foreign(
        HOSTS.replace("s: {kind: linux, labels: {fabriclab.role: switch}}", "s: {kind: bridge}").replace(
            "b: {kind: linux}", "b: {kind: nokia_srlinux}"
        )
    ),
    "a kind that is none": foreign(HOSTS.replace("a: {kind: linux}", "a: {kind: linus}")),
    "a node without a link": foreign(f"{HOSTS}    c: {{kind: linux}}\n"),
    "a bind that is not there": foreign(HOSTS.replace("a: {kind: linux}", "a: {kind: linux, binds: ['x.yml:/x.yml']}")),
    "a key of netlab": f"name: theirs\nlinks: [a-b]\n{foreign(HOSTS)[13:]}",
    "no YAML": "name: [",
    "nothing": "",
}
"""Containerlab files by themselves."""
MANY = "  many: {kind: arrivals, senders: [a], receivers: [b], pairs: random, load: 10%, size: 2 KB, stop: 9 ms}\n"
LABS = {
    "an unknown key": experiment(more="swiches: {}\n"),
    "a word that is not a size": experiment().replace("64 KB", "sixty"),
    "a host that is none": experiment(LONG.replace("[a]", "[z]")),
    "a sender that is its receiver": experiment(LONG.replace("[a]", "[b]")),
    "a trace that is not there": experiment("  mine: {kind: trace, file: mine.csv}\n"),
    "no host in another rack": experiment(MANY.replace("random", "out-of-rack")),
    "a check of a value that is not known": experiment(
        more="parameters: {marks: switches.default.queues.3.wred.min}\n"
        "checks:\n  - {metric: goodput_bps, operator: '>', value: 1 bps, where: {marks: 24 KB}}\n"
    ),
}
"""Labs in a directory: the text of `experiment.yml`."""
OF_RUN = {
    "a trace that names nobody": experiment("  mine: {kind: trace, file: bad.csv}\n"),
    "more iperf3 than ports": experiment("  mine: {kind: trace, file: many.csv}\n"),
}
"""Labs whose own flows cannot be: `validate` has flows of its own."""
OF_VALIDATION = {
    "a check of no point": experiment(
        more="parameters: {buffer: switches.default.buffer}\n"
        "checks:\n  - {metric: goodput_bps, operator: '>', value: 1 bps, where: {buffer: 1 MB}}\n"
    ),
    "a wish of nothing": experiment(more="validation: {queues: {0: 1}}\n"),
    "a ping of what is planned": experiment(more="validation: {pings: {one: {from: [a], to: b}}}\n"),
}
"""Labs that only `validate` refuses."""


@pytest.fixture(autouse=True)
def _no_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = fake_machine.artefacts(tmp_path, fake_machine.EPOCH + fake_machine.END)
    monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)


def call(*words: str | Path) -> Any:
    return CliRunner().invoke(app, [*map(str, words)])


def lab_of(directory: Path, text: str) -> Path:
    directory.mkdir()
    (directory / "topology.clab.yml").write_text(TOPOLOGY)
    (directory / "experiment.yml").write_text(text)
    for name, flows in TRACES.items():
        (directory / name).write_text(f"# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,stop_ns,mode\n{flows}")
    return directory


def refused_alike(lab: Path, commands: tuple[str, ...]) -> None:
    checked = call("check", lab)
    assert checked.exit_code == 2, checked.output
    assert checked.stderr and "Traceback" not in checked.output
    for command in commands:
        result = call(command, lab)
        assert (result.exit_code, result.stderr) == (2, checked.stderr), command
    assert not list(lab.parent.glob("runs/*/*/events.jsonl"))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "theirs.clab.yml"
    file.write_text(FILES[name])
    refused_alike(file, ("run", "validate"))


@pytest.mark.parametrize("name", LABS)
def test_a_lab_that_is_refused(tmp_path: Path, name: str) -> None:
    refused_alike(lab_of(tmp_path / "lab", LABS[name]), ("run", "validate"))


@pytest.mark.parametrize("name", OF_RUN)
def test_a_lab_that_run_refuses(tmp_path: Path, name: str) -> None:
    refused_alike(lab_of(tmp_path / "lab", OF_RUN[name]), ("run",))


@pytest.mark.parametrize("name", OF_VALIDATION)
def test_a_lab_that_validate_refuses(tmp_path: Path, name: str) -> None:
    refused_alike(lab_of(tmp_path / "lab", OF_VALIDATION[name]), ("validate",))


@pytest.mark.parametrize("file", ["topology.clab.yml", "experiment.yml"])
def test_a_file_of_a_lab_is_not_the_lab(tmp_path: Path, file: str) -> None:
    refused_alike(lab_of(tmp_path / "lab", experiment()) / file, ("run", "validate"))


@pytest.mark.parametrize("name", ["lab.conf", "net.py", "project.gns3"])
def test_a_file_of_another_program(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x = 1\n")
    refused_alike(tmp_path / name, ("run", "validate"))


def test_a_lab_that_they_take_is_taken(tmp_path: Path) -> None:
    assert call("check", lab_of(tmp_path / "lab", experiment())).exit_code == 0


@pytest.mark.parametrize(
    "points", ["matrix: {traces: {flows: [good.csv, bad.csv]}}", "variants: {bad: {traffic.mine.file: bad.csv}}"]
)
def test_a_point_of_which_no_flows_can_be_made_is_refused(tmp_path: Path, points: str) -> None:
    """The bare lab is right, and what is wrong shows when flows are made of the trace."""
    more = f"parameters: {{flows: traffic.mine.file}}\n{points}\n"
    lab = lab_of(tmp_path / "lab", experiment("  mine: {kind: trace, file: good.csv}\n", more))
    checked, ran = call("check", lab), call("run", lab, "--set", "flows=bad.csv")
    assert (checked.exit_code, ran.exit_code) == (2, 2)
    assert checked.stderr == ran.stderr
    assert f"{lab}/bad.csv:3: " in checked.stderr
