"""A stand-in for what builds FRR of its source, and sources of it that are small."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriclab.engine import frr
from fabriclab.engine.artefacts import Artefacts

CONFIGURE = "##\nAC_INIT([frr], [10.5.1], [https://github.com/frrouting/frr/issues])\n"
SCRIPT = """#!/bin/bash
set -e
rootfs=$2 version=$3 source=$5
place=$XDG_CACHE_HOME/fabriclab
if [ -e "$source/hang" ]; then
  trap 'echo >"$source/ended"; exit 130' INT
  sleep "600.$$" &
  echo $$ >"$source/hang"
  wait
fi
if [ -e "$source/broken" ]; then echo 'bgpd.c:1: error: no' >&2; exit 1; fi
layer=$place/layers/0123456789abcdef
mkdir -p "$layer/root" "$place/frr/$(basename "$(dirname "$rootfs")")"
echo 31000000 >"$layer/size"
ln -sfn ../../layers/0123456789abcdef "$place/frr/$(basename "$(dirname "$rootfs")")/$version"
echo "$layer"
"""


def artefacts_with_frr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    """Return artefacts for which versions of FRR are built by a stand-in, into a cache of the test's own."""
    script = tmp_path / "frr.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    rootfs = tmp_path / "rootfs" / "fedcba9876543210" / "root"
    rootfs.mkdir(parents=True)
    (rootfs.parent / "packages").write_text("frr_10.3-3_amd64\n")
    found = Artefacts(tmp_path / "kernel", rootfs, tmp_path / "tools")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(frr, "SCRIPT", script)
    monkeypatch.setattr(frr, "find_artefacts", lambda: found)
    return found


def source_in(directory: Path, configure: str = CONFIGURE) -> Path:
    """Return a directory that has the version of a source, and nothing else."""
    source = directory / "frr"
    source.mkdir()
    (source / "configure.ac").write_text(configure)
    return source
