"""`fabriclab sonic check` in a pipeline: SARIF, a baseline of known findings, what a change of a file changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sonic_traps import SOUND, patched, sound, text_of, trap
from typer.testing import CliRunner, Result

from fabriclab.cli.app import app
from fabriclab.vendors.sonic.judge import RULES


def check(*words: object) -> Result:
    return CliRunner().invoke(app, ["sonic", "check", *map(str, words)])


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.json"
    path.write_text(text_of(trap("ecn-without-wred")))
    return path


def fingerprints(document: dict[str, Any]) -> list[str]:
    return [one["partialFingerprints"]["fabriclabSonicCheck/v1"] for one in document["runs"][0]["results"]]


def test_sarif_names_rule_line_and_what_comes_of_it(bad: Path, tmp_path: Path) -> None:
    done = check(bad, "--format", "sarif", "--sarif", tmp_path / "out.sarif")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert json.loads((tmp_path / "out.sarif").read_text()) == document
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("ecn-without-wred", "error")
    assert list(RULES)[result["ruleIndex"]] == result["ruleId"]
    assert "NOTHING IS EVER MARKED" in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == bad.as_posix()
    assert '"ecn"' in bad.read_text().splitlines()[place["region"]["startLine"] - 1]


def test_a_fingerprint_outlives_lines_that_move(bad: Path) -> None:
    before = json.loads(check(bad, "--format", "sarif").stdout)
    bad.write_text(json.dumps({"NTP_SERVER": {"x": {}}, **trap("ecn-without-wred")}, indent=4))
    after = json.loads(check(bad, "--format", "sarif").stdout)
    assert fingerprints(before) == fingerprints(after)
    assert before != after


def test_known_findings_are_counted_and_new_ones_told(bad: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    assert check(bad, "--write-baseline", known).exit_code == 1
    done = check(bad, "--baseline", known)
    assert done.exit_code == 0
    assert "nothing found" in done.output
    assert "1 known finding not listed" in done.output
    bad.write_text(text_of(patched(trap("ecn-without-wred"), {"PORT": {"Ethernet4": {"lanes": "1"}}})))
    done = check(bad, "--baseline", known)
    assert done.exit_code == 1
    assert "port-lanes" in done.output
    assert "ecn-without-wred" not in done.output
    bad.write_text(SOUND.read_text())
    done = check(bad, "--baseline", known)
    assert f"no longer there: {bad}: ecn-without-wred WRED_PROFILE|AZURE_LOSSLESS|ecn" in done.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{}", "is not a baseline of `fabriclab sonic check`; --write-baseline makes one"),
        ('{"format": "fabriclab-sonic-baseline-1", "findings": [{"file": 1}]}', "a finding lacks file, rule, where"),
    ],
)
def test_what_is_no_baseline_is_refused(bad: Path, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "known.json").write_text(text)
    done = check(bad, "--baseline", tmp_path / "known.json")
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def changed(tmp_path: Path, change: dict[str, Any]) -> Path:
    path = tmp_path / "new.json"
    path.write_text(text_of(patched(sound(), change)))
    return path


CHANGE: dict[str, Any] = {
    "PORT": {"Ethernet4": {"mtu": "9000"}},
    "WRED_PROFILE": {"AZURE_LOSSLESS": {"green_min_threshold": "200000", "green_max_threshold": "220000"}},
    "DSCP_TO_TC_MAP": {"AZURE": {"46": "3"}},
}


def test_a_diff_tells_what_the_switch_does_otherwise(tmp_path: Path) -> None:
    new = changed(tmp_path, CHANGE)
    done = check("--diff", SOUND, new)
    assert done.exit_code == 1
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[lines.index("MTU (Ethernet4)") + 1 :][:2] == ["- 1500", "+ 9000"]
    marks = lines.index("queue 0..4 marks (Ethernet0, Ethernet4 and 3 more ports)")
    assert lines[marks + 1 :][:2] == ["- marks from 20 KB to 40 KB, 100 %", "+ marks from 200 KB to 220 KB, 100 %"]
    assert "+ 3, 46" in lines
    assert any("wred-unreachable" in line for line in lines)
    document = json.loads(check("--diff", SOUND, new, "--format", "json").stdout)
    assert document["format"] == "fabriclab-sonic-diff-1"
    assert {"what": "MTU", "old": "1500", "new": "9000", "ports": ["Ethernet4"]} in document["changes"]
    assert {one["rule"] for one in document["new_findings"]} >= {"wred-unreachable"}


def test_what_was_wrong_before_fails_no_diff(bad: Path) -> None:
    done = check("--diff", bad, bad)
    assert done.exit_code == 0
    assert "0 changes" in done.stdout
    assert "findings: 0 new, 0 gone" in done.stdout
    mended = check("--diff", bad, SOUND)
    assert mended.exit_code == 0
    assert "gone: ecn-without-wred" in mended.stdout


def test_a_file_with_mistakes_is_compared_by_its_findings(tmp_path: Path) -> None:
    new = changed(tmp_path, {"BUFFER_PG": {"Ethernet4|3-4": {"profile": "no_such"}}})
    done = check("--diff", SOUND, new)
    assert done.exit_code == 1
    assert "the switches' behaviour was not compared" in done.stdout
    assert "'no_such' is not a BUFFER_PROFILE" in " ".join(done.stdout.split())


def test_a_diff_is_of_two_files(bad: Path) -> None:
    assert "it compares two files" in " ".join(check("--diff", bad).output.split())
    assert "it needs --format text or json" in " ".join(check("--diff", bad, bad, "--format", "sarif").output.split())


def test_a_change_of_sessions_is_told(tmp_path: Path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, name in zip(paths, ("hold-time", "session-without-network"), strict=True):
        path.write_text(text_of(trap(name)))
    done = check("--diff", *paths, "--chip", "trident-3")
    assert "session to 10.0.0.5" in done.stdout
    assert "+ AS 65200" in done.stdout
