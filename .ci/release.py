"""Makes everything of a release but the push, in `dist/fabriclab-VERSION`: wheels, the source archive, the container
image, the extension for VS Code, bills of materials, checksums, and the notes from CHANGELOG.md.

`make release` calls it. It refuses what would make a release that cannot be made again: changed files, entries that the
changelog still calls unreleased, metadata that a package index would refuse. `--draft` makes one of any state, and its
notes say so. The directory appears when it is whole.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import vscode
from packaging.metadata import Metadata

from fabriclab import __version__

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
SUMS = "SHA256SUMS"
NOTES = "NOTES.md"
_HEADING = re.compile(r"^## (?P<name>\S+)(?: - \d{4}-\d\d-\d\d)?$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


class ReleaseError(Exception):
    """What keeps this from being a release, in words with what would be right."""


@dataclass(frozen=True)
class Entry:
    """A release's part of the changelog."""

    name: str
    text: str


def entries(changelog: str) -> list[Entry]:
    """Return the changelog's parts, newest first, as the file has them."""
    found = list(_HEADING.finditer(changelog))
    ends = [one.start() for one in found[1:]] + [len(changelog)]
    return [Entry(one["name"], changelog[one.end() : end].strip()) for one, end in zip(found, ends, strict=True)]


def entry(changelog: str, version: str, *, draft: bool) -> Entry:
    """Return what the notes are made of.

    Raises `ReleaseError` where the changelog has no part for the version, or still has unreleased entries.
    """
    found = {one.name: one for one in entries(changelog)}
    unreleased = found.get("Unreleased")
    if unreleased is not None and unreleased.text:
        if draft:
            return unreleased
        lines = unreleased.text.count("\n") + 1
        raise ReleaseError(
            f'CHANGELOG.md: "Unreleased" has {lines} lines; a release has them under "## {version} - DATE", '
            f"with __version__ in fabriclab/__init__.py set to it. --draft makes one without"
        )
    if version not in found:
        raise ReleaseError(
            f'CHANGELOG.md has no "## {version} - DATE", and fabriclab/__init__.py says version {version}'
        )
    return found[version]


def plain_links(text: str) -> str:
    """Return Markdown whose links to files of the repository are words: outside of it they would lead nowhere."""
    return _LINK.sub(lambda link: link[1] if link[1].strip("`") == link[2] else f"{link[1]} (`{link[2]}`)", text)


def revision(*, draft: bool) -> str:
    """Return the commit that is released.

    Raises `ReleaseError` where files differ from it.
    """
    command = ["git", "-C", ROOT, "status", "--porcelain"]
    changed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    if changed and not draft:
        raise ReleaseError(
            f"{len(changed)} files are not as committed, the first: {changed[0][3:]}. Commit them, or --draft"
        )
    command = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def check_metadata(wheel: Path) -> None:
    """Raise `ReleaseError` where an index would not take a wheel's metadata (core metadata 2.4)."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(name)
    try:
        metadata = Metadata.from_email(text, validate=True)
    except ExceptionGroup as group:  # packaging tells all that is wrong at once
        raise ReleaseError(f"{wheel.name}: {'; '.join(str(one) for one in group.exceptions)}") from None
    lacking = [field for field in ("summary", "license_expression", "requires_python") if not getattr(metadata, field)]
    if lacking:
        raise ReleaseError(f"{wheel.name} has no {', '.join(lacking)}")


def build(directory: Path, *, image: bool, engine_optional: bool) -> list[str]:
    """Make all files; return what is absent, each with its reason."""
    absent: list[str] = []
    subprocess.run([sys.executable, ROOT / ".ci" / "wheel.py", directory], check=True, stdout=subprocess.DEVNULL)
    for wheel in sorted(directory.glob("*.whl")):
        check_metadata(wheel)
    sources(directory / f"fabriclab-{__version__}-source.tar.gz")
    vscode.pack(directory)
    if not image:
        return ["the container image: --no-image"]
    made = subprocess.run([ROOT / "images" / "build", "lab"], check=False)
    if made.returncode == 0:
        archive = directory / f"fabriclab-{__version__}-image.tar.gz"
        subprocess.run([ROOT / "images" / "build", "--save", archive, "lab"], check=True)
    elif engine_optional:
        absent.append("the container image: images/build lab failed")
    else:
        raise ReleaseError("the container image could not be made (above); --no-image makes a release without one")
    return absent


def sources(archive: Path) -> None:
    """Write the committed files as an archive, the same bytes each time."""
    command = ["git", "-C", ROOT, "archive", "--format=tar", f"--prefix=fabriclab-{__version__}/", "HEAD"]
    with tempfile.TemporaryFile() as plain:
        subprocess.run(command, stdout=plain, check=True)
        plain.seek(0)
        with archive.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            shutil.copyfileobj(plain, packed)


def image_name(archive: Path) -> str:
    """Return the name that an image has once it is loaded: Podman puts its own word before it."""
    with tarfile.open(archive) as files:
        manifest = files.extractfile("manifest.json")
        assert manifest is not None
        (name,) = re.findall(r'"RepoTags":\s*\["([^"]+)"', manifest.read().decode())
    return str(name)


def digest(path: Path) -> str:
    """Return a file's SHA-256, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_sums(directory: Path) -> None:
    """Write the checksums of all files, as `sha256sum --check` reads them."""
    files = sorted(path for path in directory.iterdir() if path.name not in {SUMS, NOTES})
    (directory / SUMS).write_text("".join(f"{digest(path)}  {path.name}\n" for path in files))


def notes(directory: Path, what: Entry, commit: str, absent: list[str], *, draft: bool) -> Iterator[str]:
    """Yield the lines of the release's notes."""
    yield f"# fabriclab {__version__}\n"
    if draft:
        yield f"**A draft of {commit}**: no release; what follows is not released yet.\n"
    yield "## Install\n"
    yield "    pip install fabriclab-*.whl                                  or: pipx install, uv tool install"
    yield "    pip install fabriclab-*.whl fabriclab_frr-*.whl              with FRR, for labs with routing daemons\n"
    for archive in directory.glob("*-image.tar.gz"):
        yield f"    docker load --input {archive.name}                     or: podman load"
        yield f"    docker run --rm --network none --shm-size 2g {image_name(archive)} run labs/incast\n"
    yield "    code --install-extension fabriclab-*.vsix                    in VS Code\n"
    yield "Linux on x86-64 and Python 3.11 or later are all it needs: no root, no compiler, no kernel module.\n"
    yield "## Files\n"
    yield f"Made from commit {commit}. `sha256sum --check {SUMS}` verifies them.\n"
    yield "| file | MB |"
    yield "|---|---|"
    for path in sorted(path for path in directory.iterdir() if path.name not in {SUMS, NOTES}):
        yield f"| {path.name} | {path.stat().st_size / 1e6:.1f} |"
    yield ""
    for one in absent:
        yield f"Absent: {one}.\n"
    yield "## Changes\n"
    yield plain_links(what.text)


def main() -> None:
    """Make a release's files in dist/fabriclab-VERSION."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--draft", action="store_true", help="of any state, changed files and all; its notes say so")
    parser.add_argument("--no-image", action="store_true", help="without the container image")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the directory is made")
    options = parser.parse_args()
    final = options.out.resolve() / f"fabriclab-{__version__}"
    try:
        what = entry(CHANGELOG.read_text(encoding="utf-8"), __version__, draft=options.draft)
        commit = revision(draft=options.draft)
        if final.exists() and not options.draft:
            raise ReleaseError(f"{final} exists: remove it first")
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=final.parent, prefix=f"{final.name}.partial.") as partial:
            directory = Path(partial)
            absent = build(directory, image=not options.no_image, engine_optional=options.draft)
            write_sums(directory)
            lines = notes(directory, what, commit, absent, draft=options.draft)
            (directory / NOTES).write_text("\n".join(lines) + "\n", encoding="utf-8")
            directory.chmod(0o755)
            shutil.rmtree(final, ignore_errors=True)
            shutil.copytree(directory, final)
    except ReleaseError as error:
        raise SystemExit(f"no release: {error}") from None
    print(f"{final}: {len(list(final.iterdir()))} files; {NOTES} says what to do with them")


if __name__ == "__main__":
    main()
