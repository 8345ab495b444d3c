"""`fabriclab frr`: what is asked before a source's scripts run, what is said, and what is wrong with arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke
from fake_frr import artefacts_with_frr, source_in

from fabriclab.engine.artefacts import Artefacts


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    return artefacts_with_frr(tmp_path, monkeypatch)


def test_nothing_of_a_source_runs_without_a_yes(invoke: Invoke, artefacts: Artefacts, tmp_path: Path) -> None:
    result = invoke("frr", "add", str(source_in(tmp_path)))
    assert result.exit_code == 2
    assert "FRR 10.5.1 (sha256 " in result.stderr and "FRR's build scripts, which run on this host" in result.stderr
    assert "Nothing of it was run" in result.stderr and not (tmp_path / "cache").exists()
    assert artefacts.rootfs.is_dir()


def test_a_version_is_built_listed_and_removed(invoke: Invoke, artefacts: Artefacts, tmp_path: Path) -> None:
    added = invoke("frr", "add", str(source_in(tmp_path)), "--trust")
    assert added.exit_code == 0, added.output
    assert added.stdout.startswith(f"FRR 10.5.1 is here, 31 MB: {tmp_path}/cache/fabriclab/layers/")
    assert 'switches.NAME.frr: "10.5.1" chooses it' in added.stderr
    own, built = invoke("frr", "list").stdout.splitlines()
    assert own == "10.3  the virtual machine's own" and built.startswith("10.5.1  31 MB  ")
    wrong = invoke("frr", "remove", "10.5.2")
    assert wrong.exit_code == 2 and "'10.5.2': was not built here; did you mean '10.5.1'?" in wrong.stderr
    assert invoke("frr", "remove", "10.5.1").stdout == "FRR 10.5.1 is removed, 31 MB\n"
    assert len(invoke("frr", "list").stdout.splitlines()) == 1
    assert artefacts.rootfs.is_dir()


def test_what_fails_has_its_exit_status(invoke: Invoke, artefacts: Artefacts, tmp_path: Path) -> None:
    source = source_in(tmp_path)
    (source / "broken").touch()
    failed = invoke("frr", "add", str(source), "--trust")
    assert failed.exit_code == 1 and f"FRR 10.5.1 can't be built of {source}" in failed.stderr
    absent = invoke("frr", "add", "absent.tar.gz")
    assert absent.exit_code == 2 and absent.stderr == "absent.tar.gz: no such file or directory\n"
    assert artefacts.rootfs.is_dir()
