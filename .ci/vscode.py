"""Packs the extension for VS Code as a file that the editor installs: `make vscode` calls it.

The extension's sources are `.vscode/extensions/fabriclab`: in a checkout VS Code finds them there and offers them. The
package has the same files, the schemas, the licence, and the version of fabriclab. Microsoft's own tool writes it, by
the hashes of `package-lock.json`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page import npm

from fabriclab import __version__

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / ".vscode" / "extensions" / "fabriclab"


def stage(directory: Path) -> None:
    """Copy what the package is made from into a new directory: links become the files that they lead to."""
    shutil.copytree(SOURCES, directory, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(ROOT / "LICENSE", directory / "LICENSE")
    manifest = json.loads((directory / "package.json").read_text(encoding="utf-8"))
    text = json.dumps({**manifest, "version": __version__}, indent=2)
    (directory / "package.json").write_text(f"{text}\n", encoding="utf-8")


def pack(to: Path) -> Path:
    """Write the package into a directory, and return its path. Raises CalledProcessError."""
    to.mkdir(exist_ok=True)
    file = to / f"fabriclab-{__version__}.vsix"
    with tempfile.TemporaryDirectory(prefix="fabriclab-vscode-") as name:
        staged, packages = Path(name) / "extension", Path(name)
        stage(staged)
        command = npm(packages)
        options = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([*command, "ci", *options], cwd=staged, check=True, stdout=sys.stderr)
        node = command[0] if len(command) > 1 else "node"
        tool = staged / "node_modules" / "@vscode" / "vsce" / "vsce"
        options = ["--no-dependencies", "--allow-missing-repository", "--out", str(file)]
        subprocess.run([node, tool, "package", *options], cwd=staged, check=True, stdout=sys.stderr)
    return file


if __name__ == "__main__":
    try:
        print(pack(ROOT / "dist"))
    except subprocess.CalledProcessError as error:
        sys.exit(f"the extension is not packed: {error.cmd[0]} ended with {error.returncode}; what it said is above")
