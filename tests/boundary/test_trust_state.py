"""The file of what a user trusts: theirs alone, whole or not at all, and believed only as long as it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import strangers
from patience import patient

from fabriclab.api.consent import lab_subject
from fabriclab.consent import store
from fabriclab.consent.gate import is_trusted
from fabriclab.consent.request import Subject
from fabriclab.consent.store import TrustStateError, read_trusted, remember, state_file


def test_the_state_is_the_user_s_alone(state_home: Path) -> None:
    subject = Subject("lab", str(state_home))
    remember(subject)
    assert is_trusted(subject) and state_file() == state_home / "fabriclab" / "trust.json"
    assert stat.S_IMODE(state_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(state_file().parent.stat().st_mode) == 0o700
    assert [path.name for path in state_file().parent.iterdir()] == ["trust.json"]


def test_a_state_that_others_can_write_is_not_believed(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject("lab", str(state_home))
    remember(subject)
    state_file().chmod(0o666)
    with pytest.raises(TrustStateError, match=r"trust\.json: must be a file that you own .* 0666: repair or remove"):
        is_trusted(subject)
    state_file().chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(TrustStateError, match="you own"):
        read_trusted()
    monkeypatch.undo()


def test_a_link_in_the_state_s_place_is_not_followed(state_home: Path, tmp_path: Path) -> None:
    remember(Subject("code", "0" * 64))
    other = tmp_path / "other"
    state_file().rename(other)
    state_file().symlink_to(other)
    with pytest.raises(TrustStateError):
        read_trusted()
    (state_file().parent / "trust.json.part").symlink_to(tmp_path / "overwritten")
    state_file().unlink()
    remember(Subject("code", "1" * 64))
    assert not (tmp_path / "overwritten").exists() and state_home in state_file().parents


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "null", "\x00", "\u0661" * 99, "[" * 100_000),
        '{"format": "fabriclab-trust-1"}',
        '{"format": "fabriclab-trust-1", "trusted": [{}]}',
        '{"format": "fabriclab-trust-1", "trusted": [{"subject": {"kind": "all", "name": "x"}, "owner": 0}]}',
        '{"format": "fabriclab-trust-2", "trusted": []}',
    ],
)
def test_a_broken_state_is_told_and_trusts_nothing(text: str) -> None:
    remember(Subject("code", "0" * 64))
    state_file().write_text(text)
    with pytest.raises(TrustStateError, match=r"trust\.json: is not of the format fabriclab-trust-1 .*; remove it"):
        read_trusted()


def test_a_folder_of_another_owner_is_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = lab_subject(strangers.lab(tmp_path / "lab"))
    monkeypatch.setattr(store, "owner_of", lambda _subject: 4242)
    remember(lab)
    assert is_trusted(lab)
    monkeypatch.undo()
    assert not is_trusted(lab)


def test_two_at_once_lose_no_answer(state_home: Path) -> None:
    script = "import sys; from fabriclab.consent import store, request\n"
    script += "for n in range(20): store.remember(request.Subject('code', f'{sys.argv[1]}-{n}'))\n"
    environment = {**os.environ, "XDG_STATE_HOME": str(state_home)}
    started = [subprocess.Popen([sys.executable, "-c", script, str(number)], env=environment) for number in range(4)]
    assert [process.wait(timeout=patient(120)) for process in started] == [0] * 4
    assert len(read_trusted()) == 80


def test_without_a_home_nothing_is_kept_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("XDG_STATE_HOME", "relative"), ("HOME", "")):
        monkeypatch.setenv(name, value)
    with pytest.raises(TrustStateError, match=r"HOME is not set, .*; set HOME, or XDG_STATE_HOME to a directory"):
        remember(Subject("code", "0" * 64))
    assert read_trusted() == []
    monkeypatch.setenv("HOME", "/home/somebody")
    assert state_file() == Path("/home/somebody/.local/state/fabriclab/trust.json")
