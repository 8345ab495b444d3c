"""`make test-containers` goes on where it stopped, and says how each part ended. The guest is a stand-in here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import guest_sources
import pytest
import whole
from cases import CASES
from side_by_side import directory_of

ROOT = Path(__file__).parents[2]
TEST = "tests/containers/test_deployed.py::test_both_engines_make_the_same_leaf_spine"
SKIPPED = '<testsuites><testsuite><testcase><skipped message="no Docker"/></testcase></testsuite></testsuites>'
_GUEST = """
import json, shlex, sys
from pathlib import Path
out, answers = Path(sys.argv[sys.argv.index("--out") + 1]), json.loads(Path(sys.argv[1]).read_text())
for line in sys.stdin:
    with (Path(sys.argv[1]).parent / "lines").open("a") as lines:
        lines.write(line)
    # A case's name is its command's last word, and so is a test's.
    answer = answers[shlex.split(line)[-1]]
    if answer is None:
        sys.exit(7)
    for name, text in answer.get("files", {}).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    print("ended", answer.get("status", 0), flush=True)
"""


class StandIn:
    """A program in place of `images/guest/run`: what it answers, and the lines that it was given."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        (directory / "guest.py").write_text(_GUEST)
        self.argv = [sys.executable, str(directory / "guest.py"), str(directory / "answers.json")]
        self.answers: dict[str, object] = {}

    def run(self, out: Path, *words: str) -> int:
        (self._directory / "answers.json").write_text(json.dumps(self.answers))
        (self._directory / "lines").write_text("")
        return whole.main([str(out), *words], self.argv)

    def asked(self) -> list[str]:
        return (self._directory / "lines").read_text().splitlines()


def case(name: str, status: str = "complete") -> dict[str, object]:
    found = next(one for one in CASES if one.name == name)
    return {
        "files": {str(directory_of(found, "containerlab", Path()) / "manifest.json"): json.dumps({"status": status})}
    }


def of_test(text: str, status: int = 0) -> dict[str, object]:
    return {"status": status, "files": {whole._test(TEST).leaves: text}}


@pytest.fixture
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setattr(whole, "_tests", lambda: [TEST])
    (tmp_path / "guest").mkdir()
    stand_in = StandIn(tmp_path / "guest")
    stand_in.answers = {TEST: of_test("<testsuites/>"), **{one.name: case(one.name) for one in CASES}}
    return stand_in


def test_every_test_of_the_engine_and_every_lab_is_a_part() -> None:
    names = [part.name for part in whole.parts()]
    assert len(set(names)) == len(names)
    assert {one.name for one in CASES} < set(names)
    assert "test_validate_deployed.py::test_sessions_paths_pairs_and_mtu" in names
    marked = {
        path.name for path in Path(__file__).parent.glob("test_*.py") if "pytest.mark.containers" in path.read_text()
    }
    assert {name.partition("::")[0] for name in names if "::" in name} == marked - {Path(__file__).name}


def test_it_goes_on_where_it_stopped(guest: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    guest.answers["CoDel"] = None
    assert guest.run(out) == 2
    assert "the guest ended with 7 during: CoDel" in capsys.readouterr().err
    first = guest.asked()
    assert [line.rsplit(" ", 1)[1] for line in (first[0], first[-1])] == [TEST, "CoDel"]
    guest.answers["CoDel"] = case("CoDel", "starved")
    assert guest.run(out) == 0
    assert guest.asked()[0] == first[-1], "it goes on with the part that was cut off"
    assert len(guest.asked()) + len(first) == len(CASES) + 1 + 1
    said = capsys.readouterr()
    assert "CoDel: passed (starved)" in said.err
    assert f"{len(CASES) + 1} parts: {len(CASES) + 1} passed, 0 failed, 0 not run, 0 left" in said.out
    assert guest.run(out) == 0
    assert guest.asked() == [], "what is done is not done again"


def test_what_failed_is_run_again_after_the_others(
    guest: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    guest.answers |= {TEST: of_test("<testsuites/>", status=1), "PIE": {"status": 0}}
    assert guest.run(out) == 1
    said = capsys.readouterr().out
    assert "PIE: failed: no results\n" in said
    assert "leaf_spine: failed: pytest ended with 1\n" in said
    assert guest.run(out) == 1
    assert [line.rsplit(" ", 1)[1] for line in guest.asked()] == [TEST, "PIE"]


def test_a_skipped_test_did_not_pass(guest: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guest.answers[TEST] = of_test(SKIPPED)
    assert guest.run(tmp_path / "out", "--only", "leaf_spine") == 0
    said = capsys.readouterr().out
    assert "leaf_spine: not run: no Docker\n" in said
    assert "1 parts: 0 passed, 0 failed, 1 not run, 0 left" in said


def test_when_its_time_is_over_parts_are_left(
    guest: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guest.run(tmp_path / "out", "--minutes", "0") == whole.LEFT
    assert f"{len(CASES) + 1} left" in capsys.readouterr().out
    assert guest.asked() == []


def test_two_guests_share_the_parts(guest: StandIn, tmp_path: Path) -> None:
    assert guest.run(tmp_path / "out", "--jobs", "2") == 0
    assert len(guest.asked()) == len(set(guest.asked())) == len(CASES) + 1


def test_parts_of_other_sources_are_not_mixed_unasked(
    guest: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert guest.run(out, "--only", "CoDel") == 0
    monkeypatch.setattr(whole, "sources", lambda root: "others")
    assert guest.run(out, "--only", "CoDel") == 2
    assert "has 3 parts of other sources" in capsys.readouterr().err
    assert guest.run(out, "--only", "CoDel", "--keep") == 0
    assert guest.asked() == []
    assert whole.main([str(out), "--only", "no such part"]) == 2


def test_texts_decide_nothing_and_code_does(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name in ("labs/one/README.md", "labs/one/published/a.json", "docs/a.md", "fabriclab/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    before = guest_sources.sources(tmp_path)
    for name in ("labs/one/README.md", "labs/one/published/a.json", "docs/a.md"):
        (tmp_path / name).write_text("another")
    assert guest_sources.sources(tmp_path) == before
    (tmp_path / "fabriclab" / "a.py").write_text("another")
    assert guest_sources.sources(tmp_path) != before
    assert guest_sources.commit(ROOT)


@pytest.mark.parametrize("words", [[], ["--lines", "true"]])
def test_the_guest_takes_a_command_or_lines(words: list[str]) -> None:
    done = subprocess.run([ROOT / "images/guest/run", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "run [--out DIR] --lines" in done.stderr


def test_containerlab_is_found_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "containerlab").write_text("#!/bin/sh\n")
    (tmp_path / "containerlab").chmod(0o755)
    where = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / "images/guest/run", "true"], env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path}/containerlab is no program" in done.stderr
