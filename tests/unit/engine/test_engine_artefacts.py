"""Finding what the machine is started from."""

from __future__ import annotations

from pathlib import Path

import fake_machine
import pytest

from fabriclab.engine.artefacts import EngineError, find_artefacts


def build_script(directory: Path, body: str) -> Path:
    script = directory / "build"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    return script


def test_what_is_not_built_is_named_with_the_command_that_builds_it(tmp_path: Path) -> None:
    script = build_script(tmp_path, "printf 'kernel=\\nrootfs=/r/root\\ntools=\\n'")
    with pytest.raises(
        EngineError, match=r"the virtual machine's kernel and tools must be built first; run `make machine`"
    ):
        find_artefacts(script)


def test_built_artefacts_are_found(tmp_path: Path) -> None:
    script = build_script(
        tmp_path, "printf 'kernel=/c/kernel/aa/linux\\nrootfs=/c/rootfs/bb/root\\ntools=/c/tools/cc\\n'"
    )
    assert find_artefacts(script).hashes() == {"kernel": "aa", "rootfs": "bb", "tools": "cc"}


def test_a_script_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cargo is missing"):
        find_artefacts(build_script(tmp_path, "echo cargo is missing >&2; exit 1"))


def test_packages_are_those_of_the_root_file_system(tmp_path: Path) -> None:
    assert fake_machine.artefacts(tmp_path, "").packages() == ["iproute2_6.15.0-1_amd64", "frr_10.3-3_amd64"]
