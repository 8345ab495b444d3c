"""What `check` takes for there is what the machine has: the programs of its root file system, its kernel's sysctls.

`FABRICLAB_ACCEPT=1` writes both lists."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from repository import ROOT
from vm import Vm, called

from fabriclab.engine.artefacts import Artefacts
from fabriclab.lab.setup.machine_contents import PROGRAM_LIST, SYSCTL_LIST, sysctl_path

pytestmark = pytest.mark.vm

LISTS = ROOT / "fabriclab" / "lab" / "setup"
DIRECTORIES = ("usr/bin", "usr/sbin", "usr/lib/frr")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
LINKS = 8
WALK = "import os\nfor d, _, fs in os.walk('/proc/sys'):\n    for f in fs:\n        print(os.path.join(d, f))\n"
LAB = """name: s
topology:
  defaults: {kind: linux, image: alpine}
  nodes:
    h1:
      binds: ['walk.py:/walk.py']
      exec: [ip addr add 10.0.0.1/24 dev eth1, sysctl -w net.mpls.platform_labels=16, python3 /walk.py]
    h2: {exec: [ip addr add 10.0.0.2/24 dev eth1]}
  links: [{endpoints: ['h1:eth1', 'h2:eth1']}]
"""


def listed(by_directory: Iterable[tuple[str, str]]) -> str:
    """Return names by their directory, each line with the directory first."""
    found: dict[str, set[str]] = defaultdict(set)
    for directory, name in by_directory:
        found[directory].add(name)
    return "".join(
        f"{directory} {line}\n"
        for directory, names in sorted(found.items())
        for line in textwrap.wrap(" ".join(sorted(names)), 119 - len(directory), break_on_hyphens=False)
    )


def held_against(name: str, text: str) -> None:
    if os.environ.get("FABRICLAB_ACCEPT"):
        (LISTS / name).write_text(text, encoding="utf-8")
    assert (LISTS / name).read_text(encoding="utf-8") == text, "FABRICLAB_ACCEPT=1 writes the list"


def file_of(root: Path, path: Path) -> Path:
    """Return what a link comes to inside the root file system."""
    for _ in range(LINKS):
        if not path.is_symlink():
            return path
        to = str(path.readlink())
        path = root / to.lstrip("/") if to.startswith("/") else path.parent / to
    return path


def works(file: Path, libraries: set[str]) -> bool:
    """Return whether a file can be run: systemd's programs are there, but not their library."""
    if not (file.is_file() and os.access(file, os.X_OK)):
        return False
    if not file.read_bytes().startswith(b"\x7fELF"):
        return True
    said = subprocess.run(["readelf", "-d", file], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(NEEDED.findall(said)) <= libraries


def test_the_root_file_system_has_these_programs(artefacts: Artefacts) -> None:
    root = artefacts.rootfs
    libraries = {path.name for path in (root / "usr" / "lib").rglob("*.so*")}
    every = ((directory, path) for directory in DIRECTORIES for path in (root / directory).iterdir())
    working = [(f"/{directory}", path.name) for directory, path in every if works(file_of(root, path), libraries)]
    assert ("/usr/bin", "vtysh") in working and ("/usr/bin", "systemctl") not in working
    held_against(PROGRAM_LIST, listed(working))


def test_the_kernel_has_these_sysctls(vm: Vm, tmp_path: Path) -> None:
    (tmp_path / "s.clab.yml").write_text(LAB)
    (tmp_path / "walk.py").write_text(WALK)
    done = called(tmp_path, "run", "s.clab.yml", "--out", "run", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    paths = (tmp_path / "run" / "logs" / "exec-3@h1.log").read_text().splitlines()
    found = [sysctl_path(path.removeprefix("/proc/sys/")).rpartition("/") for path in paths]
    assert len(found) > 100
    held_against(SYSCTL_LIST, listed((directory, name) for directory, _, name in found))
