"""Labs and bundles as a stranger would send them, and a desk on which they are opened."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from patience import patient
from sample_algorithms import CONTROL
from sample_plans import NIC, NIC_PORT
from synthetic_run import incast_run
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.engine.packed import cache_root
from fabriclab.formats.plan.algorithm import sha256_of
from fabriclab.results import read_run
from fabriclab.run_bundles.bundle import write_bundle

TOPOLOGY = """name: stranger
topology:
  kinds: {linux: {image: "example.org/stranger:1"}}
  nodes:
    h1: {kind: linux}
    h2: {kind: linux}
    s1: {kind: linux, labels: {fabriclab.role: switch}}
  links:
    - {endpoints: ["h1:eth1", "s1:eth1"], vars: {rate: 1 Gbps}}
    - {endpoints: ["h2:eth1", "s1:eth2"], vars: {rate: 1 Gbps}}
"""
EXPERIMENT = """title: a stranger's
switches: {default: {buffer: 64 KB}}
hosts: {default: {congestion_control: ./mine.c}}
traffic: {one: {kind: flows, senders: h1, receiver: h2, size: 1 MB}}
parameters: {control: hosts.default.congestion_control}
matrix: {all: {control: [./mine.c, reno]}}
"""
PUBLISHED = "matrices: {all: {seeds: 1}}\n"
BROKEN = CONTROL.replace("MODULE_LICENSE", "no_such_macro(;\nMODULE_LICENSE")
"""Does not compile: whoever runs it gets as far as the compiler, and no further."""


def lab(directory: Path, source: str = BROKEN, experiment: str = EXPERIMENT) -> Path:
    """Write a lab that brings an algorithm in C."""
    directory.mkdir(parents=True)
    files = {
        "topology.clab.yml": TOPOLOGY,
        "experiment.yml": experiment,
        "mine.c": source,
        "published.yml": PUBLISHED,
        "README.md": "# a stranger's\n\n<!-- made from -->\n<!-- end -->\n",
    }
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory


def give_nics(plan: dict[str, Any]) -> None:
    """Give the hosts of a plan a NIC each, as every lab's have; without one no plan is run."""
    card = {"queue": None, "switch_port": NIC_PORT.model_dump(mode="json"), "nic": NIC.model_dump(mode="json")}
    for node in plan["nodes"]:
        node["ports"] = [port | card if node["role"] == "host" else port for port in node["ports"]]


def give_runs_nics(directory: Path) -> None:
    """Give the hosts of all runs below a directory a NIC each, so that they can be made ready to run again."""
    for file in directory.rglob("plan.json"):
        plan = json.loads(file.read_text())
        give_nics(plan)
        file.write_text(json.dumps(plan))
        manifest = file.with_name("manifest.json")
        if manifest.is_file():
            manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"plan": plan}))


def run_with_code(directory: Path, source: str = BROKEN) -> Path:
    """Write a run directory whose plan brings an algorithm in C."""
    incast_run(directory, 2, rounds=2)
    file = directory / "plan.json"
    plan = json.loads(file.read_text())
    fields = {"kind": "congestion_control", "name": "mine", "file": "mine.c", "source": source}
    plan["algorithms"] = [fields | {"sha256": sha256_of(source)}]
    give_nics(plan)
    file.write_text(json.dumps(plan))
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps(manifest | {"plan": plan}))
    read_run(directory)
    return directory


def bundle(file: Path, source: str = BROKEN) -> Path:
    """Write a bundle whose plan brings an algorithm in C."""
    write_bundle(run_with_code(file.with_suffix(".run"), source), file)
    return file


@dataclass(frozen=True)
class Desk:
    """A working directory where fabriclab is typed, by a user of whom nothing is known yet."""

    directory: Path
    environment: dict[str, str]

    @classmethod
    def at(cls, directory: Path, state: Path) -> Desk:
        """Return one in a directory, with a cache where nothing is compiled yet."""
        runtime = directory / "rt"
        runtime.mkdir(mode=0o700)
        cache = directory / "cache" / "fabriclab"
        cache.mkdir(parents=True)
        for there in cache_root().glob("*"):
            if there.name != "modules":
                (cache / there.name).symlink_to(there)
        places = {"XDG_STATE_HOME": str(state), "XDG_RUNTIME_DIR": str(runtime), "XDG_CACHE_HOME": str(cache.parent)}
        return cls(directory, {**os.environ, **places, "COLUMNS": "200"})

    def type(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Return how a command ends that has no terminal: in this process, for to load what it needs takes a new one
        longer than the command."""
        typed = ["fabriclab", *map(str, words)]
        with contextlib.chdir(self.directory), mock.patch.object(sys, "argv", typed):
            result = CliRunner().invoke(app, typed[1:], env=self.environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return subprocess.CompletedProcess(typed, result.exit_code, result.stdout, result.stderr)

    def type_in_a_process(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Return how a command ends that has no terminal, as a user starts it."""
        return subprocess.run(
            [sys.executable, "-m", "fabriclab", *map(str, words)],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=patient(300),
        )

    @property
    def compiled(self) -> bool:
        """Whether anything was given to the compiler: it begins with a place in the cache."""
        return (self.directory / "cache" / "fabriclab" / "modules").exists()
