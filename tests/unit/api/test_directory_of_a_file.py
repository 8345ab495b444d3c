"""A Containerlab file that is a lab by itself, named by a directory: its files may lie anywhere in that directory, and
nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabriclab.api.drawing import graph
from fabriclab.api.lab import load_lab
from fabriclab.api.look import check
from fabriclab.cli.app import app
from fabriclab.errors import ArgumentError
from fabriclab.lab import LabError

TOPOLOGY = """name: office
topology:
  defaults: {env-files: [../common.env]}
  kinds: {linux: {binds: ['../configs/motd:/etc/motd']}}
  nodes:
    r1:
      kind: linux
      image: frrouting/frr:v10.3.0
      binds: ['../configs/r1:/etc/frr', '/var/run/x:/x']
      startup-config: here.conf
    h1: {kind: linux, exec: [ip addr add 10.0.1.2/24 dev eth1], binds: ['~/secret:/secret', 'note.txt:/note:ro']}
    h2: {kind: linux, exec: [ip addr add 10.0.2.2/24 dev eth1]}
  links:
    - endpoints: ['h1:eth1', 'r1:eth1']
    - endpoints: ['h2:eth1', 'r1:eth2']
"""
FILES = {
    "topology/office.clab.yml": TOPOLOGY,
    "topology/note.txt": "beside the topology\n",
    "topology/here.conf": "hostname r1\n",
    "configs/motd": "welcome\n",
    "configs/r1/daemons": "bgpd=no\n",
    "configs/r1/frr.conf": "interface eth1\n ip address 10.0.1.1/24\n",
    "common.env": "PLACE=office\n",
}


@pytest.fixture
def office(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "office" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "office"


def test_files_beside_the_topologys_directory_are_the_labs(office: Path) -> None:
    lab = load_lab(office).written
    r1, h1, _ = (node.setup for node in lab.topology.nodes)
    assert r1 is not None
    assert h1 is not None
    assert {file.path: (file.source, file.text) for file in r1.files} == {
        "/etc/motd": ("configs/motd", "welcome\n"),
        "/etc/frr/daemons": ("configs/r1/daemons", "bgpd=no\n"),
        "/etc/frr/frr.conf": ("configs/r1/frr.conf", FILES["configs/r1/frr.conf"]),
    }
    assert {file.path: file.source for file in h1.files} == {"/etc/motd": "configs/motd", "/note": "topology/note.txt"}
    assert h1.environment == {"PLACE": "office"}
    assert lab.directory == office
    assert lab.topology_file == "topology/office.clab.yml"


def test_every_command_takes_the_directory(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(office / "topology")
    assert check("..").name == "office"
    assert "r1" in graph("..").svg
    made = CliRunner().invoke(app, ["new", "../mine", "--from", ".."])
    assert made.exit_code == 0, made.output
    mine = check("../mine")
    assert mine.name == "mine"
    assert (office / "mine/topology/note.txt").read_text() == FILES["topology/note.txt"]


def test_named_by_itself_it_reads_nothing_above(office: Path) -> None:
    with pytest.raises(LabError) as caught:
        load_lab(office / "topology/office.clab.yml")
    env_files, motd, *_ = str(caught.value).splitlines()
    outside = (
        "lies outside the lab's directory (with links resolved), and a lab reads only files of its own directory; put "
        "it there; if the topology is a file by itself, you may name a directory that holds both instead"
    )
    file = f"{office}/topology/office.clab.yml"
    assert env_files == f"{file}:3: topology.defaults.env-files[0]: '../common.env' {outside}"
    assert motd == f"{file}:4: topology.kinds.linux.binds[0]: '../configs/motd' {outside}"


@pytest.mark.parametrize("where", ["../../outside", "../link"])
def test_nothing_outside_the_directory_is_read(office: Path, where: str) -> None:
    (office.parent / "outside").write_text("secret")
    (office / "link").symlink_to(office.parent / "outside")
    file = office / "topology/office.clab.yml"
    file.write_text(TOPOLOGY.replace("../configs/motd", where))
    with pytest.raises(LabError, match="lies outside the lab's directory") as caught:
        load_lab(office)
    assert "secret" not in str(caught.value)


def test_several_files_are_named(office: Path) -> None:
    other = office / "topology/other.clab.yaml"
    other.write_text(TOPOLOGY)
    with pytest.raises(ArgumentError) as caught:
        load_lab(office)
    assert str(caught.value) == (
        f"{office}: holds several Containerlab files; name one of them: {office}/topology/office.clab.yml, {other}"
    )


def test_a_home_directory_is_no_labs(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(office / "configs"))
    with pytest.raises(ArgumentError, match=r"has no topology\.clab\.yml"):
        load_lab(office)


def test_a_link_out_of_the_directory_is_not_followed(office: Path, tmp_path: Path) -> None:
    (office / "topology").rename(tmp_path / "elsewhere")
    (office / "topology").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArgumentError, match=r"has no topology\.clab\.yml"):
        load_lab(office)


def test_a_lab_of_ours_below_is_not_taken(office: Path) -> None:
    (office / "topology/office.clab.yml").rename(office / "topology/topology.clab.yml")
    (office / "topology/experiment.yml").write_text("traffic: {}\n")
    with pytest.raises(ArgumentError, match="holds labs; name one of them"):
        load_lab(office)
