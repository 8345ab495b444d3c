"""Stand-ins for `docker` and `containerlab`: they write down their argv and answer as told. Put first on PATH."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

_BODY = """#!{python}
import json, sys
from pathlib import Path
here = Path(__file__).resolve().parent
name = Path(__file__).name
argv = sys.argv[1:]
with (here / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps([name, *argv]) + "\\n")
if argv[-1:] == ["-"]:
    (here / "input").write_text(sys.stdin.read())
for words, answer in json.loads((here / "answers.json").read_text()):
    if [name, *argv][: len(words)] == words:
        sys.stdout.write(answer.get("out", ""))
        sys.stderr.write(answer.get("err", ""))
        sys.exit(answer.get("status", 0))
"""

SERVER = '{"Server": {"Version": "28.0"}}'


class FakeCommands:
    """A directory of stand-ins; the first answer whose words begin the argv counts,
    else nothing is said and all is well."""

    def __init__(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...] = ("docker", "containerlab")
    ) -> None:
        directory.mkdir()
        self._directory = directory
        for name in names:
            (directory / name).write_text(_BODY.replace("{python}", sys.executable, 1))
            (directory / name).chmod(0o4755)
        self._answers: list[tuple[list[str], dict[str, str | int]]] = []
        self.answer(["docker", "version"], out=SERVER)
        self.answer(["docker", "image", "ls"], out="sha256:0123\n")
        # Nothing else of the host is found.
        monkeypatch.setenv("PATH", str(directory))

    def answer(self, words: list[str], **answer: str | int) -> None:
        """Answer a command line that begins with these words; later answers come before earlier ones."""
        self._answers.insert(0, (words, answer))
        (self._directory / "answers.json").write_text(json.dumps(self._answers))

    def last_input(self) -> str:
        """Return what the last command read that was told to read standard input (`-`)."""
        return (self._directory / "input").read_text()

    def calls(self, *words: str) -> list[list[str]]:
        """Return the command lines so far that begin with these words."""
        path = self._directory / "calls.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [call for call in map(json.loads, lines) if call[: len(words)] == list(words)]
