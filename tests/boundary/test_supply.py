"""What is installed to build fabriclab is what somebody looked at: by version and hash, and refused otherwise."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / ".ci" / "locks").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
BASE = PROJECT["project"]["dependencies"]
ASKED = {
    "dev": [*BASE, *EXTRAS["dev"], *PROJECT["build-system"]["requires"]],
    "notebook": [*BASE, *EXTRAS["notebook"]],
    "docs": EXTRAS["docs"],
    "lab": [*BASE, *GROUPS["lab"], *PROJECT["build-system"]["requires"]],
    "guest": [*BASE, *GROUPS["guest"]],
    **{name: GROUPS[name] for name in ("node", "seat", "workshop", "audit", "lock")},
}
"""What each lock is for."""


def entries(lock: Path) -> Iterator[tuple[Requirement, list[str]]]:
    """Yield what a lock pins with its hashes."""
    text = re.sub(r"^ *#.*\n", "", lock.read_text(), flags=re.MULTILINE).replace("\\\n", "")
    for line in filter(None, map(str.strip, text.splitlines())):
        if line == "--only-binary :all:":
            continue
        requirement, *hashes = line.split(" --hash=")
        yield Requirement(requirement), [one.strip() for one in hashes]


def test_every_group_of_packages_has_its_lock() -> None:
    assert {lock.stem for lock in LOCKS} == set(ASKED)
    assert set(GROUPS) <= set(ASKED)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_has_all_that_is_asked_for_within_its_ranges(lock: Path) -> None:
    pinned: dict[str, list[str]] = {}
    for requirement, _ in entries(lock):
        (version,) = requirement.specifier
        assert version.operator == "=="
        pinned.setdefault(canonicalize_name(requirement.name), []).append(version.version)
    for text in ASKED[lock.stem]:
        asked = Requirement(text)
        found = pinned.get(canonicalize_name(asked.name), [])
        assert found, f"{lock.name} lacks {text}: .ci/lock --keep"
        assert all(asked.specifier.contains(version) for version in found), f"{lock.name} has {found}, asked is {text}"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_package_of_a_lock_has_hashes_and_no_registry_is_named(lock: Path) -> None:
    found = list(entries(lock))
    assert found
    assert [str(one) for one, hashes in found if not hashes] == []
    assert [one for _, hashes in found for one in hashes if not re.fullmatch("sha256:[0-9a-f]{64}", one)] == []
    assert "://" not in lock.read_text()
    assert "\n--only-binary :all:\n" in lock.read_text(), "what is compiled brings requirements that no lock has"


def test_what_is_installed_into_one_environment_has_one_version() -> None:
    """And what talks to each other: a workshop's hub and its seats."""
    for together in (("dev", "notebook", "docs"), ("lab", "notebook", "seat"), ("seat", "workshop")):
        versions: dict[str, set[str]] = {}
        for lock in LOCKS:
            if lock.stem in together:
                for one, _ in entries(lock):
                    versions.setdefault(f"{one.name} {'<' in str(one.marker)}", set()).add(str(one.specifier))
        assert {name: found for name, found in versions.items() if len(found) > 1} == {}


# -- pip refuses what is not in the lock -------------------------------------------------------------------------------
WHEEL = "annotated_doc-0.0.7-py3-none-any.whl"


def false_wheel(directory: Path) -> str:
    """Write a package under the name and version of one that is locked, as a taken-over registry would have it; returns
    its hash."""
    directory.mkdir()
    with ZipFile(directory / WHEEL, "w") as archive:
        archive.writestr("annotated_doc/__init__.py", "stolen = True\n")
        archive.writestr(
            "annotated_doc-0.0.7.dist-info/METADATA", "Metadata-Version: 2.1\nName: annotated-doc\nVersion: 0.0.7\n"
        )
        archive.writestr(
            "annotated_doc-0.0.7.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("annotated_doc-0.0.7.dist-info/RECORD", "")
    return hashlib.sha256((directory / WHEEL).read_bytes()).hexdigest()


def install(directory: Path, lock: str) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Install by a lock as `make venv` does, from a registry that has the false package only; whether that got in."""
    (directory / ".ci" / "locks").mkdir(parents=True, exist_ok=True)
    (directory / ".ci" / "locks" / "dev.txt").write_text(lock)
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(directory / "registry")}
    command = [ROOT / ".ci" / "packages", directory / "venv"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory, env=environment)
    return result, any((directory / "venv").rglob("annotated_doc/__init__.py"))


@pytest.mark.slow("makes an environment, and lets pip install into it three times")
def test_a_package_is_installed_by_its_own_hash_and_refused_otherwise(tmp_path: Path) -> None:
    """Into one environment: each refusal leaves it as it was, which the next line needs."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    digest = false_wheel(tmp_path / "registry")
    (locked,) = (hashes for one, hashes in entries(ROOT / ".ci" / "locks" / "dev.txt") if one.name == "annotated-doc")
    lock = " ".join(["annotated-doc==0.0.7", *(f"--hash={one}" for one in locked)])
    result, got_in = install(tmp_path, f"{lock}\n")
    assert (result.returncode != 0, got_in) == (True, False)
    assert "DO NOT MATCH THE HASHES" in result.stderr
    result, got_in = install(tmp_path, "annotated-doc==0.0.7\n")
    assert (result.returncode != 0, got_in) == (True, False)
    assert "Hashes are required in --require-hashes mode" in result.stderr
    _, got_in = install(tmp_path, f"annotated-doc==0.0.7 --hash=sha256:{digest}\n")
    assert got_in


# -- Everything that fetches -------------------------------------------------------------------------------------------
def tracked(*patterns: str) -> list[str]:
    """Return the files that git knows, as paths from the root."""
    listed = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def shell_commands() -> Iterator[tuple[str, str]]:
    """Yield the lines of Makefile, scripts and Dockerfiles with where they stand; what is continued is one line."""
    for name in tracked("Makefile", ".ci", "images", ".devcontainer"):
        path = ROOT / name
        if path.suffix in ("", ".sh") and path.is_file():
            for line in path.read_text().replace("\\\n", " ").splitlines():
                if not line.lstrip().startswith("#"):
                    yield name, line


AS_A_USER = {".ci/newcomer"}
"""Where pip does what a user's pip does, in a root file system that is thrown away: that is what is measured."""


def test_pip_installs_by_hash_or_without_a_registry() -> None:
    found = [
        (name, one)
        for name, line in shell_commands()
        for one in re.split(r"&&|;|\|\|", line)
        if "pip" in one and " install " in one and name not in AS_A_USER
    ]
    assert len(found) >= 8
    assert [(name, one) for name, one in found if not re.search(r"--require-hashes|--no-index", one)] == []


REGISTRY = re.compile(
    r"(?<![\w.])(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|static\.crates\.io|index\.crates\.io|deb\.debian\.org|"
    r"docker\.io/|ghcr\.io|quay\.io|proxy\.golang\.org)"
)
"""By which hosts packages come is the host's own matter. (docker.io alone is a package of Debian's.)"""


def test_no_registry_is_named_by_its_host() -> None:
    # Tests have other people's labs, which name the registries of their images.
    files = [ROOT / name for name in tracked() if not name.startswith("tests/")]
    texts = {
        str(path.relative_to(ROOT)): path.read_bytes().decode(errors="replace") for path in files if path.is_file()
    }
    assert len(texts) > 1000
    assert [name for name, text in texts.items() if REGISTRY.search(text)] == []


def test_cargo_and_npm_take_what_their_locks_say() -> None:
    lines = list(shell_commands())
    cargo = [(name, line) for name, line in lines if re.search(r"\bcargo (build|test|clippy|run|install)\b", line)]
    npm = [(name, line) for name, line in lines if re.search(r"\bnpm (ci|install|i)\b", line)]
    assert len(cargo) >= 4 and npm
    assert [one for one in cargo if "--locked" not in one[1]] == []
    assert [one for one in npm if "npm ci" not in one[1]] == []


def test_the_bill_of_materials_is_of_all_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    built = re.findall(r" -p (\S+)", (ROOT / "images" / "machine" / "tools.sh").read_text())
    assert built
    assert set(importlib.import_module("wheel").CRATES) == set(built), "what tools.sh builds, wheel.py describes"


def test_every_crate_has_its_checksum() -> None:
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    foreign = [one for one in packages if "source" in one]
    assert foreign
    assert [one["name"] for one in foreign if not re.fullmatch("[0-9a-f]{64}", one.get("checksum", ""))] == []
    assert {one["source"] for one in foreign} == {"registry+https://github.com/rust-lang/crates.io-index"}


def test_every_project_of_npm_is_locked_and_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    folders = {str(Path(name).parent) for name in tracked("*package.json")}
    assert folders == {str(Path(name).parent) for name in tracked("*package-lock.json")}
    assert folders == set(importlib.import_module("audit").NPM)


@pytest.mark.parametrize("folder", [str(Path(name).parent) for name in tracked("*package-lock.json")])
def test_every_npm_package_has_its_hash_and_no_registry_is_named(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
    foreign = {name: one for name, one in packages.items() if name}
    assert foreign
    assert [name for name, one in foreign.items() if not one.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, one in foreign.items() if "resolved" in one] == []


MVN = """#!/bin/bash
for word; do case $word in -DoutputDirectory=*) echo 'an archive' >"${word#*=}/dash-1.0.jar" ;; esac; done
"""


@pytest.mark.parametrize("right", [True, False])
def test_a_java_archive_with_another_hash_is_refused(right: bool, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mvn").write_text(MVN)
    (tmp_path / "bin" / "mvn").chmod(0o755)
    digest = hashlib.sha256(b"an archive\n" if right else b"another").hexdigest()
    command = [str(ROOT / "images" / "machine" / "jars.sh"), "build", f"org.dash:dash:1.0={digest}"]
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ((result.returncode == 0), result.stdout != "") == (right, right), result.stderr
    assert [path.name for path in tmp_path.rglob("*.jar")] == (["dash-1.0.jar"] if right else [])
    assert right or "dash-1.0.jar: FAILED" in result.stdout + result.stderr


# -- The images' base --------------------------------------------------------------------------------------------------
DIGEST = f"sha256:{'ab' * 32}"
DOCKER = """#!/bin/bash
echo "$*" >>"$DOCKER_LOG"
case "$*" in
  info) exit 0 ;;
  *RepoDigests*) echo "${DOCKER_SAYS-debian@DIGEST}" ;;
  "image inspect "*) exit 1 ;;
  "pull "*) exit "${DOCKER_PULLS:-0}" ;;
esac
""".replace("DIGEST", DIGEST)


def build_images(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of images/build with a stand-in for Docker, which writes down what it is asked."""
    (checkout / "images" / "machine").mkdir(parents=True, exist_ok=True)
    for name in ("images/build", "images/machine/mirror.sh"):
        (checkout / name).write_bytes((ROOT / name).read_bytes())
        (checkout / name).chmod(0o755)
    (checkout / "bin").mkdir(exist_ok=True)
    (checkout / "bin" / "docker").write_text(DOCKER)
    (checkout / "bin" / "docker").chmod(0o755)
    environment = {"PATH": f"{checkout}/bin:{os.environ['PATH']}", "DOCKER_LOG": str(checkout / "log"), **environment}
    command = [str(checkout / "images" / "build"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_base_image_is_pinned_by_its_digest_and_insisted_on(tmp_path: Path) -> None:
    result = build_images(tmp_path, "--pin")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "images" / "base.digest").read_text() == f"debian@{DIGEST}\n"
    refused = build_images(tmp_path, "host", DOCKER_PULLS="1")
    assert refused.returncode == 1
    assert f"no registry has the base image debian@{DIGEST}, which images/base.digest names" in refused.stderr
    asked = (tmp_path / "log").read_text().splitlines()
    assert [line for line in asked if line.startswith("pull")] == [
        "pull --quiet debian:13-slim",
        f"pull --quiet debian@{DIGEST}",
    ]


@pytest.mark.parametrize("says", ["", "debian@sha256:12", "<no value>"])
def test_what_is_no_digest_is_not_pinned(says: str, tmp_path: Path) -> None:
    result = build_images(tmp_path, "--pin", DOCKER_SAYS=says)
    assert result.returncode == 1
    assert f'tells no digest of debian:13-slim ("{says}")' in result.stderr
    assert [path.name for path in (tmp_path / "images").glob("base.digest*")] == []


def test_an_images_context_has_every_crate_of_the_workspace(tmp_path: Path) -> None:
    """Cargo refuses a workspace of which a member is missing: then no image could be made."""
    lines = (ROOT / "images" / "build").read_text().splitlines()
    start = lines.index("rust_sources() {")
    function = "\n".join(lines[start : lines.index("}", start) + 1])
    script = f"set -euo pipefail\n{function}\nrepository=$1\nrust_sources $2"
    subprocess.run(["bash", "-c", script, "bash", ROOT, tmp_path], check=True)
    for member in tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]:
        assert (tmp_path / member / "Cargo.toml").is_file()
        assert list((tmp_path / member / "src").glob("*.rs")), member
