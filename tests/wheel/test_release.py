"""`make release`: what keeps a state from being a release, the notes, and checksums that coreutils verify."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
CHANGELOG = """# Changelog

## Unreleased

- **New**: not yet ([how](docs/x.md#there)).

## 0.3.0 - 2026-11-26

- See [the page](docs/start.md) and [theirs](https://example.org/x).

## 0.2.0 - 2026-11-22

- Old.
"""
METADATA = """Metadata-Version: 2.4
Name: fabriclab
Version: 0.3.0
Summary: A testbed
License-Expression: Apache-2.0
Requires-Python: >=3.11
"""


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    return importlib.import_module("release")


def test_the_changelogs_part_of_a_version_becomes_the_notes(release: ModuleType) -> None:
    released = CHANGELOG.replace("- **New**: not yet ([how](docs/x.md#there)).\n", "")
    found = release.entry(released, "0.3.0", draft=False)
    assert release.plain_links(found.text) == "- See the page (`docs/start.md`) and [theirs](https://example.org/x)."
    assert release.plain_links("[docs/x.md](docs/x.md)") == "docs/x.md"


@pytest.mark.parametrize(
    ("changelog", "version", "message"),
    [
        (CHANGELOG, "0.3.0", '"Unreleased" has 1 lines; a release has them under "## 0.3.0 - DATE"'),
        ("## Unreleased\n\n## 0.3.0 - 2026-11-26\n\n- x\n", "0.4.0", 'has no "## 0.4.0 - DATE"'),
    ],
)
def test_what_is_no_release_is_told(release: ModuleType, changelog: str, version: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=re.escape(message)):
        release.entry(changelog, version, draft=False)


def test_a_draft_is_of_what_is_unreleased_and_says_so(release: ModuleType, tmp_path: Path) -> None:
    found = release.entry(CHANGELOG, "0.3.0", draft=True)
    (tmp_path / "fabriclab-0.3.0-py3-none-any.whl").write_bytes(b"a wheel")
    release.write_sums(tmp_path)
    text = "\n".join(release.notes(tmp_path, found, "abc", ["the container image: why"], draft=True))
    for line in (
        "**A draft of abc**",
        "| fabriclab-0.3.0-py3-none-any.whl | 0.0 |",
        "Absent: the container image: why.",
    ):
        assert line in text
    checked = subprocess.run(["sha256sum", "--check", "--strict", release.SUMS], cwd=tmp_path, capture_output=True)
    assert checked.returncode == 0
    (tmp_path / "fabriclab-0.3.0-py3-none-any.whl").write_bytes(b"another")
    assert subprocess.run(["sha256sum", "--check", release.SUMS], cwd=tmp_path, capture_output=True).returncode == 1


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (METADATA, ""),
        (METADATA.replace("License-Expression: Apache-2.0\n", ""), "has no license_expression"),
        (METADATA.replace("0.3.0", "zero"), "'zero' is invalid for 'version'"),
    ],
)
def test_metadata_that_an_index_refuses(release: ModuleType, tmp_path: Path, metadata: str, message: str) -> None:
    wheel = tmp_path / "fabriclab-0.3.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fabriclab-0.3.0.dist-info/METADATA", metadata)
    if not message:
        release.check_metadata(wheel)
        return
    with pytest.raises(release.ReleaseError, match=message):
        release.check_metadata(wheel)


def test_changed_files_are_no_release(tmp_path: Path) -> None:
    """As a user runs it, in a repository of its own: it ends before anything is built, and leaves nothing."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".gitignore", tmp_path)
    for command in (
        ["git", "init", "--quiet"],
        ["git", "add", "."],
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"],
        ["touch", "changed"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG.replace("- **New**: not yet ([how](docs/x.md#there)).\n", ""))
    command = [sys.executable, str(tmp_path / ".ci" / "release.py")]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("no release: 2 files are not as committed, the first: CHANGELOG.md"), result.stderr
    assert not (tmp_path / "dist").exists()
