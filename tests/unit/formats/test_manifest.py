"""A manifest as a record: what is written is what is read, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_run import incast_run

from fabriclab.formats.manifest import Manifest, manifest_json, parse_manifest
from fabriclab.results import ResultsError, read_run

KEYS = (
    *("format", "status", "message", "lab", "title", "settings", "seed", "engine", "versions", "artefacts", "command"),
    *("started", "ended", "wall_s", "virtual_s", "host", "files", "report", "plan"),
)


def test_the_keys_are_written_in_their_order_and_an_engines_own_below() -> None:
    manifest = Manifest(lab="incast", settings={"senders": 4, "ecn": True, "load": 0.5, "buffer": "64 KB"})
    manifest.add({"memory_directory": "/dev/shm"})
    data = json.loads(manifest_json(manifest))
    assert tuple(data) == (*KEYS, "memory_directory")
    assert data["settings"] == {"senders": 4, "ecn": True, "load": 0.5, "buffer": "64 KB"}
    assert manifest_json(parse_manifest(data)) == manifest_json(manifest)


def test_a_user_reads_what_was_written_without_the_plan(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 1, rounds=1)
    written = json.loads((run / "manifest.json").read_text())
    del written["plan"]
    assert read_run(run).manifest.without_plan() == written


def test_a_manifest_of_another_form_is_named_with_its_key(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 1, rounds=1, wall_s="soon")
    with pytest.raises(ResultsError, match=r"manifest\.json: wall_s: .*number.*; must be a manifest of "):
        read_run(run)
