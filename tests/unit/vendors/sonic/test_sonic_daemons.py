"""SONiC's daemons on this machine: what they are given, what is told of them, and that nothing of them is left.

What they make of real configurations is tried where SONIC_ROOT= is a root file system that has them (docker-sonic-vs
unpacked); the others have a stand-in for the namespaces and the daemons.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from repository import ROOT
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.daemons import NEEDED, DaemonsError, asic_db_of, run
from fabriclab.vendors.sonic.daemons.given import files

LEAF = ROOT / "labs" / "sonic-leaf-spine" / "leaf1.json"
ASIC = ROOT / "tests" / "golden" / "sonic-oracle" / "leaf1.asic.json"
SONIC_ROOT = Path(os.environ.get("SONIC_ROOT", ""))


def oracle(*words: object) -> Result:
    return CliRunner().invoke(app, ["sonic", "oracle", *map(str, words)])


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """Return a root file system that has the programs' names."""
    directory = tmp_path / "system" / "usr" / "bin"
    directory.mkdir(parents=True)
    for name in NEEDED:
        (directory / name).touch()
    return tmp_path / "system"


def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    """Let `script` run in place of namespaces and daemons; it gets ROOT and WORK."""
    path = tmp_path / "outside.sh"
    path.write_text(script)
    monkeypatch.setattr(run, "_ALONE", ())
    monkeypatch.setattr(run, "_OUTSIDE", path)


def commands(data: bytes) -> list[list[str]]:
    """Return redis' commands out of its protocol."""
    found: list[list[str]] = []
    words = re.split(rb"\r\n", data)[:-1]
    while words:
        count = int(words[0][1:])
        assert [int(size[1:]) for size in words[1 : 2 * count : 2]] == [len(w) for w in words[2 : 2 * count + 1 : 2]]
        found.append([word.decode() for word in words[2 : 2 * count + 1 : 2]])
        words = words[2 * count + 1 :]
    return found


def test_config_db_is_written_as_sonic_writes_it() -> None:
    tables = {
        "PORT": {"Ethernet0": {"lanes": "1,2", "speed": 40000}, "Ethernet4": {"lanes": "3,4"}},
        "VLAN": {"Vlan2": {"dhcp_servers": ["10.0.0.1", "10.0.0.2"]}},
        "INTERFACE": {"Ethernet0": {}},
    }
    given = files(tables)
    written = {words[1]: words[2:] for words in commands(given["config.resp"])}
    assert written["PORT|Ethernet0"] == ["lanes", "1,2", "speed", "40000"]
    assert written["VLAN|Vlan2"] == ["dhcp_servers@", "10.0.0.1,10.0.0.2"]
    assert written["INTERFACE|Ethernet0"] == ["NULL", "NULL"]
    assert given["lanemap.ini"] == b"eth1:1,2\neth2:3,4\n"
    assert b"PORTS=2 " in given["numbers.sh"]


def test_what_they_made_is_compared_and_kept(system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, tmp_path, f'echo objects 7; cp {ASIC} "$2/given/asic.json"')
    done = oracle(LEAF, "--daemons", system, "--save", tmp_path / "kept")
    assert done.exit_code == 0, done.output
    assert "86 of 86 objects are equal" in done.stdout
    assert (tmp_path / "kept" / "leaf1.asic.json").read_bytes() == ASIC.read_bytes()


def test_progress_is_told_and_nothing_is_left(system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'mkdir -p "$2/layer/work"; echo objects 7; echo objects 9; echo {} >"$2/given/asic.json"'
    stand_in(monkeypatch, tmp_path, script)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "here"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    counts: list[int] = []
    assert asic_db_of({"PORT": {}}, system, counts.append) == b"{}\n"
    assert counts == [7, 9]
    assert not list(tmp_path.glob("fabriclab-sonic-*"))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo failed orchagent ended: no memory; exit 1", "failed: orchagent ended: no memory"),
        ("echo mount: not permitted >&2; exit 32", "failed: mount: not permitted"),
        ("exit 3", "failed: exit status 3"),
    ],
)
def test_daemons_that_fail_are_told_with_their_words(
    script: str, message: str, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path, script)
    with pytest.raises(DaemonsError, match=message):
        asic_db_of({"PORT": {}}, system, print)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("switch_type", "voq", "chassis's database"),
        ("buffer_model", "dynamic", "a script of the vendor computes the sizes"),
    ],
)
def test_what_they_alone_do_not_make_is_refused(field: str, value: str, message: str, system: Path) -> None:
    tables: dict[str, Any] = {"DEVICE_METADATA": {"localhost": {field: value}}}
    with pytest.raises(DaemonsError, match=message):
        asic_db_of(tables, system, print)


def test_a_file_that_they_do_not_take_does_not_stop_the_others(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, tmp_path, f'cp {ASIC} "$2/given/asic.json"')
    tables = json.loads(LEAF.read_text())
    tables["DEVICE_METADATA"]["localhost"]["switch_type"] = "voq"
    (tmp_path / "voq.json").write_text(json.dumps(tables))
    done = oracle(tmp_path / "voq.json", LEAF, "--daemons", system)
    assert done.exit_code == 1
    assert "86 of 86" in done.stdout
    assert "voq.json: DEVICE_METADATA|localhost: switch_type voq" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([LEAF], "write either --asic-db FILE or --daemons ROOT"),
        ([LEAF, "--asic-db", ASIC, "--daemons", "."], "either --asic-db FILE or --daemons ROOT"),
        ([LEAF, LEAF, "--asic-db", ASIC], "of one switch, but 2 files are given"),
        ([LEAF, "--asic-db", ASIC, "--save", "x"], "--save"),
        ([LEAF, "--daemons", ROOT], "it lacks redis-server, redis-cli, syncd, portsyncd, orchagent, buffermgrd"),
    ],
)
def test_options_that_do_not_fit_are_told(words: list[object], message: str) -> None:
    done = oracle(*words)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.skipif(not os.environ.get("SONIC_ROOT"), reason="SONIC_ROOT=DIR, docker-sonic-vs unpacked, runs it")
def test_real_daemons_make_what_the_labs_files_say() -> None:
    done = oracle(*sorted(LEAF.parent.glob("*.json")), "--daemons", SONIC_ROOT)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("objects are equal") == len(list(LEAF.parent.glob("*.json")))
