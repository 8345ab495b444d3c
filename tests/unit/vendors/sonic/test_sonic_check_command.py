"""`fabriclab sonic check`, the command: exit status, text, JSON, JUnit XML, rules, cells, YANG models."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from outside_files import MODELS, needs_yanglint
from sonic_traps import SOUND, TRAPS, fine, sound, text_of, trap
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.judge import RULES
from fabriclab.vendors.sonic.judge.rules import FABRIC_RULES
from fabriclab.vendors.sonic.read.chips import UNKNOWN


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["sonic", "check", *map(str, arguments)])


def written(directory: Path, name: str) -> Path:
    path = directory / f"{name}.json"
    path.write_text(text_of(trap(name)))
    return path


def test_nothing_found() -> None:
    done = check(SOUND)
    assert done.exit_code == 0
    assert done.stdout == f"{SOUND}: nothing found, 5 ports\nchip: {UNKNOWN.verdict}\n"


@pytest.mark.parametrize(
    ("name", "fail_on", "status"),
    [("starvation", "error", 0), ("starvation", "warning", 1), ("ecn-without-wred", "error", 1)],
)
def test_exit_status(name: str, fail_on: str, status: int, tmp_path: Path) -> None:
    assert check(written(tmp_path, name), "--fail-on", fail_on).exit_code == status


def test_a_note_fails_nothing(tmp_path: Path) -> None:
    done = check(written(tmp_path, "headroom-oversubscribed"), "--fail-on", "warning")
    assert done.exit_code == 0
    assert "1 note" in done.stdout


@pytest.mark.parametrize("text", ["{", "", '{"a": 1} x'])
def test_what_cannot_be_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    done = check(path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{path}:1: ")
    assert check(tmp_path / "none.json").exit_code == 2


def test_several_files_fail_together(tmp_path: Path) -> None:
    done = check(SOUND, written(tmp_path, "wred-inverted"))
    assert done.exit_code == 1
    assert f"{SOUND}: nothing found" in done.stdout


def test_json(tmp_path: Path) -> None:
    path = written(tmp_path, "rates-inconsistent")
    document = json.loads(check(path, "--format", "json").stdout)
    assert document["format"] == "fabriclab-sonic-check-1"
    (file,) = document["files"]
    assert (file["file"], file["ports"], file["counts"]) == (str(path), 5, {"error": 1, "warning": 0, "note": 0})
    (finding,) = file["findings"]
    assert (finding["rule"], finding["table"], finding["key"], finding["field"]) == (
        "rates-inconsistent",
        "SCHEDULER",
        "scheduler.0",
        "pir",
    )
    assert (finding["value"], finding["severity"]) == ("50000000", "error")
    assert '"pir": "50000000"' in path.read_text().splitlines()[finding["line"] - 1]


def test_junit_has_a_case_for_each_rule(tmp_path: Path) -> None:
    path, xml = written(tmp_path, "malformed"), tmp_path / "out" / "sonic.xml"
    assert check(path, "--junit", xml).exit_code == 1
    suite = ElementTree.parse(xml).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == (str(len(RULES) - len(FABRIC_RULES)), "1")
    failed = {case.get("name") for case in suite if case.find("failure") is not None}
    assert failed == {"malformed: BUFFER_QUEUE|Ethernet0|3-4|profile"}
    skipped = {case.get("name") for case in suite if case.find("skipped") is not None}
    assert "wred-unreachable" in skipped
    assert "wred-inverted" not in skipped
    assert check(path, "--format", "junit").stdout in xml.read_text()


def test_junit_fails_what_fails(tmp_path: Path) -> None:
    path = written(tmp_path, "starvation")
    for fail_on, failures in (("error", "0"), ("warning", "1")):
        root = ElementTree.fromstring(check(path, "--format", "junit", "--fail-on", fail_on).stdout)
        suite = root.find("testsuite")
        assert suite is not None
        assert suite.get("failures") == failures


def test_rules_are_chosen_and_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, "ecn-without-green")
    assert "wred-drops-lossless" not in check(path, "--ignore", "wred-drops-lossless").stdout
    chosen = json.loads(check(path, "--rules", "starvation,wred-drops-lossless", "--format", "json").stdout)
    assert {finding["rule"] for finding in chosen["files"][0]["findings"]} == {"wred-drops-lossless"}
    done = check(path, "--rules", "wred-unreachabel,starvation", "--ignore", "starvatoin")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "--rules 'wred-unreachabel': no such rule; did you mean 'wred-unreachable'?",
        "--ignore 'starvatoin': no such rule; did you mean 'starvation'?",
    ]


def test_a_file_is_asked_for() -> None:
    done = check()
    assert (done.exit_code, done.stderr) == (2, "no file; give the config_db.json of a switch, or --list-rules\n")


def test_rules_are_listed() -> None:
    done = check("--list-rules")
    assert done.exit_code == 0
    assert all(f"  {rule.name} " in done.stdout and rule.source in done.stdout for rule in RULES.values())


@pytest.mark.parametrize(
    ("cell", "message"), [("256", "has no unit"), ("0 B", "out of range"), ("1 MB", "out of range")]
)
def test_a_wrong_cell(cell: str, message: str) -> None:
    done = check(SOUND, "--cell", cell)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_cell() -> None:
    assert check(SOUND, "--cell", "256 B").exit_code == 0


SEEN_BY_YANG = {
    "malformed",
    "old-reference",
    "port-list-key",
    "pool-percentage",
    "wred-inverted",
    "rates-inconsistent",
    "unknown-field",
}
"""Traps that the models themselves find."""


@needs_yanglint
@pytest.mark.parametrize("name", TRAPS)
def test_what_the_models_find(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    document = json.loads(check(path, "--yang-dir", MODELS, "--format", "json").stdout)
    found = {finding["rule"] for finding in document["files"][0]["findings"]}
    assert ("yang" in found) == (name in SEEN_BY_YANG | {"watchdog-faster-than-poll"})


@needs_yanglint
def test_the_models_take_what_is_sound() -> None:
    assert check(SOUND, "--yang-dir", MODELS).exit_code == 0


def test_absent_models(tmp_path: Path) -> None:
    done = check(SOUND, "--yang-dir", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"--yang-dir {tmp_path}: no YANG models there; give src/sonic-yang-models")
    assert check(SOUND, "--yang-dir", tmp_path / "none").stderr.startswith(
        f"--yang-dir {tmp_path / 'none'}: no such directory"
    )


def test_names_that_a_terminal_should_not_see(tmp_path: Path) -> None:
    tables = sound()
    tables["WRED_PROFILE"]["\x1b[31m\ud800"] = {"ecn": "ecn_all"}
    path = tmp_path / "hostile.json"
    path.write_text(text_of(tables))
    for output in ("text", "junit", "json"):
        done = check(path, "--format", output)
        assert done.exit_code == 1
        assert "\x1b" not in done.stdout


def test_what_is_right_stays_right(tmp_path: Path) -> None:
    path = tmp_path / "fine.json"
    path.write_text(text_of(fine("computed-headroom")))
    assert check(path, "--fail-on", "warning").exit_code == 0


def test_a_directory_of_several_chips_is_judged_file_by_file(tmp_path: Path) -> None:
    for number, tables in ((10, trap("ecn-without-wred")), (2, sound())):
        (tmp_path / f"config_db{number}.json").write_text(text_of(tables))
    (tmp_path / "config_db.json").write_text("{}")
    done = check(tmp_path)
    assert done.exit_code == 1
    told = [line for line in done.stdout.splitlines() if line.startswith(str(tmp_path))]
    assert [line.split(":")[0] for line in told] == [str(tmp_path / f"config_db{number}.json") for number in (2, 10)]
    assert "nothing found" in told[0]


def test_a_directory_is_the_file_in_it(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert done.exit_code == 2
    assert "a directory without config_db.json" in done.output
    (tmp_path / "config_db.json").write_text(SOUND.read_text())
    assert f"{tmp_path / 'config_db.json'}: nothing found" in check(tmp_path).stdout
