"""The files of a copy of a lab: those that make it run, and, if asked for, what somebody measured with it."""

from __future__ import annotations

import re
from pathlib import Path

from fabriclab.api.kept_lab import FOR_PEOPLE
from fabriclab.engine.host import fabriclab_version, git_revision
from fabriclab.errors import ArgumentError
from fabriclab.files import naming
from fabriclab.formats import published_files
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.plain_data import yaml_text
from fabriclab.lab.reading.problems import Problems

README = "README.md"
CLAIMS = ("study", "checks")
"""Keys of an experiment that say what its own results are: a copy is changed, and they would speak of another lab."""
_MOST_BYTES = 16 << 20
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)


def copied_files(lab: Path, directory: Path, *, with_results: bool) -> dict[str, bytes]:
    """Return the files of a lab's copy in `directory` by their path in it.

    Raises ArgumentError for a directory that is not a lab's alone, OSError.
    """
    files: dict[str, bytes] = {}
    for path in sorted(lab.rglob("*")):
        name = path.relative_to(lab)
        if path.is_file() and (with_results or not _is_of_results(name)):
            with naming(path):
                files[str(name)] = path.read_bytes()
        if sum(map(len, files.values())) > _MOST_BYTES:
            raise ArgumentError(
                "{0} holds more than {1} MiB: more than a lab; copy only the files that are needed",
                lab,
                _MOST_BYTES >> 20,
            )
    files[topology.FILE_NAME] = named(files[topology.FILE_NAME], directory.resolve().name)
    written = files.get(experiment.FILE_NAME)
    if with_results:
        files[README] = _annotated(files.get(README, b""), lab.name, directory, written is not None)
        return files
    if written is not None:
        files[experiment.FILE_NAME] = without_claims(written)
    files[README] = _short(lab.name, directory, written is not None)
    return files


def _is_of_results(path: Path) -> bool:
    return path.parts[0] in (published_files.FILE, published_files.DIRECTORY) or path.suffix in FOR_PEOPLE


def named(text: bytes, name: str) -> bytes:
    """Return a topology with another name: results lie in `runs/NAME`."""
    return _NAME_LINE.sub(f"name: {name}", text.decode(errors="surrogateescape"), count=1).encode(
        errors="surrogateescape"
    )


def without_claims(written: bytes) -> bytes:
    """Return an experiment without CLAIMS and the comments above them; as it is where it cannot be cut line by line."""
    text = written.decode(errors="surrogateescape")
    kept = "".join(_without(text.splitlines(keepends=True)))
    before, after = (parse_document(each, experiment.FILE_NAME, Problems()) for each in (text, kept))
    if before is None or after is None or yaml_text(_without_keys(before)) != yaml_text(after):
        return written
    return kept.encode(errors="surrogateescape")


def _without_keys(document: MappingValue) -> MappingValue:
    entries = {key: value for key, value in document.entries.items() if key not in CLAIMS}
    return MappingValue(entries, document.key_places, document.place)


def _without(lines: list[str]) -> list[str]:
    """Return the lines without the sections of CLAIMS: each begins with the comment above its key, and ends before the
    comment above the next key."""
    kept: list[str] = []
    section: list[str] = []
    is_claim = False
    for line in lines:
        if not re.match(r"[\w\"']", line):
            section.append(line)
            continue
        body, comment = _split_comment(section)
        kept += [] if is_claim else body
        is_claim = line.partition(":")[0].strip("\"' ") in CLAIMS
        section = [line] if is_claim else [*comment, line]
    return [*kept, *([] if is_claim else section)]


def _split_comment(section: list[str]) -> tuple[list[str], list[str]]:
    """Return a section's lines, and those at its end that speak of the next one."""
    end = len(section)
    while end and section[end - 1].startswith("#"):
        end -= 1
    return section[:end], section[end:]


def _short(origin: str, directory: Path, has_experiment: bool) -> bytes:
    """Return the README of a copy without results."""
    files = [f"`{topology.FILE_NAME}` says which hosts and switches there are, and how they are connected."]
    commands = {"check": "says what is wrong, with file and line", "run": "runs it once"}
    if has_experiment:
        files.append(f"`{experiment.FILE_NAME}` says what is sent and measured.")
        commands["run --set KEY=VALUE"] = "with another value of a parameter, or of any key"
        commands["sweep"] = "runs all points of its first matrix"
    typed = {_typed(command, directory): told for command, told in commands.items()}
    lines = [
        f"# {directory.resolve().name}",
        "",
        f"A copy of fabriclab's lab `{origin}` ({_version()}), without its text, its results and its checks.",
        f"`fabriclab new DIR --from {origin} --with-results` brings them.",
        "",
        *files,
        "",
        *(f"    {command:<{max(map(len, typed))}}  {told}" for command, told in typed.items()),
    ]
    return ("\n".join(lines) + "\n").encode()


def _typed(command: str, directory: Path) -> str:
    name, _, options = command.partition(" ")
    return f"fabriclab {name} {directory} {options}".rstrip()


def _annotated(text: bytes, origin: str, directory: Path, has_experiment: bool) -> bytes:
    """Return the copy's README: where it is from, then what the original says, its commands with the copy's path."""
    files = f"`{topology.FILE_NAME}`" + (f" and `{experiment.FILE_NAME}`" if has_experiment else "")
    note = [
        f"> Made by `fabriclab new {directory} --from {origin} --with-results` ({_version()}): a copy of the lab",
        f"> `{origin}`. Change {files};",
        f"> `fabriclab check {directory}` says what is wrong, `fabriclab run {directory}` runs it.",
        "> What follows is the original's text, with its results; links to other files lead nowhere from here.",
    ]
    original = text.decode(errors="surrogateescape").replace(f"labs/{origin}", str(directory))
    return ("\n".join(note) + "\n\n" + original).encode(errors="surrogateescape")


def _version() -> str:
    return " ".join(filter(None, ("fabriclab", fabriclab_version(), git_revision())))
