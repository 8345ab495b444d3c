"""`fabriclab check --format json`: what editors and pipelines read of a check."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from repository import LABS, ROOT

from fabriclab.cli.text.check_json import FORMAT

FINDING = {"severity", "file", "line", "key", "value", "message", "remedy"}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    for name in ("topology.clab.yml", "experiment.yml"):
        shutil.copy(LABS / "incast" / name, tmp_path / "mine" / name)
    return tmp_path / "mine"


def checked(invoke: Invoke, lab: Path | str, status: int) -> dict[str, Any]:
    result = invoke("check", str(lab), "--format", "json")
    assert (result.exit_code, result.stderr) == (status, "")
    document: dict[str, Any] = json.loads(result.stdout)
    assert (document["format"], document["lab"], document["ok"]) == (FORMAT, str(lab), status == 0)
    assert all(set(finding) == FINDING for finding in document["findings"])
    return document


def test_a_lab_without_a_mistake_tells_what_it_has(invoke: Invoke) -> None:
    document = checked(invoke, LABS / "incast", 0)
    assert document["findings"] == []
    contents = document["contents"]
    assert (contents["name"], contents["hosts"], contents["traffic"]) == ("incast", 49, {"sru": "rounds"})
    assert "collapse" in contents["stories"] and contents["matrices"]["demo"] > 1


def test_each_mistake_has_its_place(invoke: Invoke) -> None:
    lab = ROOT / "tests" / "errors" / "both-files"
    document = checked(invoke, lab, 2)
    said = (ROOT / "tests" / "errors" / "both-files.expected").read_text().splitlines()
    assert document["contents"] is None
    assert len(document["findings"]) == len(said)
    for finding, line in zip(document["findings"], said, strict=True):
        assert Path(finding["file"]).parent == lab and isinstance(finding["line"], int)
        assert line.endswith(f":{finding['line']}: {finding['key']}: {finding['message']}")
        assert finding["remedy"] is None or finding["remedy"] in finding["message"]


def test_a_mistake_in_a_story_has_its_place(invoke: Invoke, lab: Path) -> None:
    (lab / "stories").mkdir()
    (lab / "stories" / "one.yml").write_text("title: One\nsteps:\n  - title: A\n    do: [start: srv]\n")
    (finding,) = checked(invoke, lab, 2)["findings"]
    assert (finding["file"], finding["line"]) == (str(lab / "stories" / "one.yml"), 4)
    assert (finding["value"], finding["remedy"]) == ("srv", "did you mean 'sru'?")


def test_a_sentence_without_a_place_says_null(invoke: Invoke, tmp_path: Path) -> None:
    (finding,) = checked(invoke, tmp_path / "nowhere", 2)["findings"]
    assert {key: finding[key] for key in ("file", "line", "key", "value", "remedy")} == dict.fromkeys(
        ("file", "line", "key", "value", "remedy")
    )
    assert "no such directory" in finding["message"]


def test_a_warning_is_no_error(invoke: Invoke) -> None:
    warned = checked(invoke, LABS / "roce-incast", 0)["findings"]
    assert warned and {finding["severity"] for finding in warned} == {"warning"}


def test_another_format_is_refused(invoke: Invoke) -> None:
    assert invoke("check", str(LABS / "incast"), "--format", "xml").exit_code == 2
