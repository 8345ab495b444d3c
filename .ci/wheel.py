"""Makes the wheels that need no checkout, in `dist`: fabriclab with the virtual machine inside, and fabriclab_frr with
FRR's root file system. Beside each lies its bill of materials (`sbom.py`), which the wheel has inside, too.

`make wheel` calls it. What the machine is made of is built where it is missing (`images/machine/build`), packed once
for each state of it (`<cache>/packed`), and described in `machine.json`, which `fabriclab/engine/packed.py` reads.
Licences and sources go along.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import page
import sbom

from fabriclab import __version__

ROOT = Path(__file__).resolve().parents[1]
FORMAT = "fabriclab-machine-1"
CRATES = ("fabriclab-init", "confine", "replay", "sampler", "gauge")
"""Those of which the tools are built; their dependencies are linked in."""


@dataclass(frozen=True)
class Part:
    """An artefact: a directory of the cache, and what of it is the artefact."""

    kind: str
    directory: Path
    inner: str

    @property
    def key(self) -> str:
        """The hash of what went into it."""
        return self.directory.name

    @property
    def recipe(self) -> str:
        """The hash of the sources that it is made from, as its file `contents` begins with it."""
        return (self.directory / "contents").read_text().split(maxsplit=2)[1]


def built(names: Sequence[str]) -> dict[str, Part]:
    """Build what is missing of what is named, as `images/machine/build` names it, and return it."""
    command = [ROOT / "images" / "machine" / "build", *names]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    paths = {name: Path(path) for name, _, path in (line.partition("=") for line in lines)}
    inner = {"kernel": "linux", "tools": "", "rootfs": "root", "small-rootfs": "root"}
    return {
        name: Part(name.removeprefix("small-"), path.parent if inner[name] else path, inner[name])
        for name, path in paths.items()
    }


def packed(part: Part, level: str) -> Path:
    """Return the archive of a part, made unless the cache has it; the same contents and level of xz give the same
    bytes.

    Device files are left out, as no ordinary user can make them and PID 1 mounts its own, and licences, which stand in
    the wheel.
    """
    store = part.directory.parents[1] / "packed"
    store.mkdir(exist_ok=True)
    final = store / f"{part.kind}-{part.key}{level}.tar.xz"
    if not final.exists():
        print(f"packing {part.kind} {part.key}", file=sys.stderr)
        with tempfile.NamedTemporaryFile(dir=store, prefix=f"{final.name}.partial.") as partial:
            tar = ["tar", "-C", part.directory, "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]
            tar += ["--mtime=@0", "--exclude=./root/dev/*", "--exclude=./licenses", "-c", "."]
            with subprocess.Popen(tar, stdout=subprocess.PIPE) as reading:
                # Blocks of one size: the number of processors does not show in the archive.
                xz = ["xz", "-T0", "--block-size=24MiB", level, "-c"]
                subprocess.run(xz, stdin=reading.stdout, stdout=partial, check=True)
            if reading.returncode != 0:
                raise SystemExit(f"{part.directory} can't be packed")
            Path(partial.name).chmod(0o644)
            # Who packs the same at the same time makes the same bytes; the first one's stay.
            with contextlib.suppress(FileExistsError):
                os.link(partial.name, final)
    return final


def write_machine(directory: Path, parts: dict[str, Part], level: str) -> None:
    """Fill a directory with the parts' archives, their index, and licences."""
    index: dict[str, dict[str, str]] = {}
    for name, part in parts.items():
        archive = f"{name}.tar.xz"
        shutil.copy(packed(part, level), directory / archive)
        index[name] = {
            "kind": part.kind,
            "key": part.key,
            "recipe": part.recipe,
            "archive": archive,
            "inner": part.inner,
            "version": version(part),
        }
    described = {"format": FORMAT, "revision": revision(), "artefacts": index}
    (directory / "machine.json").write_text(json.dumps(described, indent=2) + "\n")
    licences = directory / "LICENSES"
    licences.mkdir()
    shutil.copy(ROOT / ".ci" / "wheel-sources.md", licences / "README.md")
    root = parts["rootfs"].directory
    shutil.copytree(root / "licenses", licences / "debian")
    shutil.copy(root / "sources", licences / "debian-sources.txt")
    if "kernel" in parts:
        shutil.copy(ROOT / "images" / "machine" / "kernel" / "COPYING", licences / "linux-COPYING")
        shutil.copy(parts["kernel"].directory / "version", licences / "linux-version.txt")
        shutil.copy(parts["kernel"].directory / "config", licences / "linux-config.txt")
        shutil.copy(parts["tools"].directory / "version", licences / "tools-version.txt")
        copy_crates(licences / "rust")


def linked_crates() -> list[dict[str, Any]]:
    """Return all crates that are linked into the tools, as `cargo metadata` describes them."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    wanted = [package["id"] for package in metadata["packages"] if package["name"] in CRATES]
    linked: set[str] = set()
    while wanted:
        identity = wanted.pop()
        if identity not in linked:
            linked.add(identity)
            wanted += [
                dependency["pkg"]
                for dependency in nodes[identity]["deps"]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
    return [package for package in metadata["packages"] if package["id"] in linked and package["source"] is not None]


def copy_crates(directory: Path) -> None:
    """Copy the licence files of all crates that are linked into the tools, and list the crates with their licences."""
    directory.mkdir()
    lines = []
    for package in linked_crates():
        name = f"{package['name']}-{package['version']}"
        lines.append(f"{name} {package['license']} {package['repository'] or ''}".rstrip())
        for file in sorted(Path(package["manifest_path"]).parent.glob("*")):
            if file.is_file() and re.match(r"(LICEN[CS]E|COPYING|NOTICE|UNLICENSE)", file.name):
                (directory / name).mkdir(exist_ok=True)
                shutil.copy(file, directory / name / file.name)
    (directory / "crates.txt").write_text("\n".join(sorted(lines)) + "\n")


def materials(parts: dict[str, Part]) -> Iterator[sbom.Component]:
    """Yield all that a wheel with these parts of the machine has inside."""
    yield from sbom.debian(parts["rootfs"].directory)
    if "kernel" in parts:
        kernel, tools = parts["kernel"].directory, parts["tools"].directory
        yield from sbom.kernel(kernel, hashlib.sha256((kernel / "linux").read_bytes()).hexdigest())
        yield from sbom.crates(linked_crates(), tools)
        for bundle in (page.PAGE, page.CHARTS):
            yield from sbom.npm(bundle.sources / "package-lock.json", page.LICENCES[bundle.name])
        yield from sbom.python()


def version(part: Part) -> str:
    """Return what a part is, in words."""
    if part.kind == "rootfs":
        packages = (part.directory / "packages").read_text().split()
        frr = "".join(f", FRR {name.split('_')[1]}" for name in packages if name.startswith("frr_"))
        return f"Debian trixie, {len(packages)} packages{frr}"
    lines = (part.directory / "version").read_text().splitlines()
    found = dict(line.partition(": ")[::2] for line in lines)
    return f"{found['Package']} {found['Version']}" if "Package" in found else f"compiled by {found['Compilers']}"


def revision() -> str:
    """Return the commit that the wheel is made from; empty outside a git checkout."""
    command = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def build_wheel(project: Path, dist: Path, parts: dict[str, Part], level: str) -> None:
    """Build one project's wheel with parts of the machine inside."""
    with tempfile.TemporaryDirectory() as directory:
        machine = Path(directory) / "machine"
        machine.mkdir()
        write_machine(machine, parts, level)
        name = "fabriclab" if project == ROOT else "fabriclab-frr"
        bill = dist / f"{name}.cdx.json"
        bill.write_text(sbom.bill(name, __version__, materials(parts)), encoding="utf-8")
        environment = {**os.environ, "FABRICLAB_MACHINE": str(machine), "FABRICLAB_SBOM": str(bill)}
        if project == ROOT:
            environment |= {bundle.variable: str(page.make(bundle)) for bundle in page.BUNDLES.values()}
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", dist]
        subprocess.run(command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Make the wheels that the command line asks for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("dist", nargs="?", type=Path, default=ROOT / "dist", help="directory to make them in")
    parser.add_argument("--quick", action="store_true", help="fabriclab's wheel only, larger, for a test")
    options = parser.parse_args()
    dist = options.dist.resolve()
    dist.mkdir(parents=True, exist_ok=True)
    level = "-0" if options.quick else "-6"
    small = built(["kernel", "tools", "small-rootfs"])
    parts = {"kernel": small["kernel"], "rootfs": small["small-rootfs"], "tools": small["tools"]}
    build_wheel(ROOT, dist, parts, level)
    if not options.quick:
        build_wheel(ROOT / "images" / "machine" / "frr", dist, built(["rootfs"]), level)
    for wheel in sorted(dist.glob("*.whl")):
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
