"""MkDocs' hook: every README is a page at the place where it lies, so that links between documents hold as they stand.

A folder in `nav` stands for its pages. What a page links to and is none (a picture, a lab's YAML) goes along; a link to
source code, which the site has not, becomes its name. The glossary's terms explain themselves on every page.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
TOPS = ("analysis", "fabriclab", "images", "labs", "probes", "traffic")
SHOWN = (".svg", ".png", ".webp", ".yml", ".json", ".ipynb", ".toml")
"""Files that a browser shows, or offers to save."""
GLOSSARY = ROOT / "docs" / "glossary.md"
STYLE = "assets/site.css"
POLYFILL = "assets/iframe-worker.js"
_LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_NODES_NAME = re.compile(r"(\w)=\1\+(\w)\+(\w)\.id(?=\})")
"""What lunr knows equal nodes of its search index by: each edge's letter and its end's number, with nothing between."""


def documents() -> list[str]:
    """Return the pages, as paths below the checkout, in the order of their names."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    found += sorted((ROOT / "docs").rglob("*.md"))
    # What `fabriclab new --template` writes are pages of the labs that it begins, not of this repository.
    readmes = (path for top in TOPS for path in sorted((ROOT / top).rglob("README.md")))
    found += [path for path in readmes if "starters" not in path.parts]
    return [path.relative_to(ROOT).as_posix() for path in found if not {"target", "node_modules"} & set(path.parts)]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of a folder in the place of its name."""
    config.nav = [_unfolded(entry) for entry in config.nav or []]
    return config


def _unfolded(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    ((title, value),) = entry.items()
    if isinstance(value, list):
        return {title: [_unfolded(each) for each in value]}
    folder = ROOT / value
    if not folder.is_dir():
        return entry
    pages = [name for name in documents() if name.startswith(f"{value}/")]
    first = [name for name in pages if posixpath.relpath(name, value) in ("README.md", "index.md")]
    return {title: [*first, *({_heading(name): name} for name in pages if name not in first)]}


def _heading(name: str) -> str:
    """Return the words of a page's heading; of a lab its name, which commands take."""
    if name.startswith("labs/"):
        return name.split("/")[1]
    return next(line for line in (ROOT / name).read_text().splitlines() if line.startswith("# "))[2:].replace("`", "")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the theme's files with all pages and what they link to."""
    kept = [file for file in files if file.src_dir != config.docs_dir]
    pages = documents()
    added = dict.fromkeys(pages)
    for name in pages:
        for _, _, target in _LINK.findall((ROOT / name).read_text(encoding="utf-8")):
            path = _path(name, target)
            if path is not None and (ROOT / path).is_file() and path.endswith(SHOWN):
                added[path] = None
    made = [File.generated(config, name, abs_src_path=str(ROOT / name)) for name in added]
    made.append(File.generated(config, STYLE, content=(ROOT / "docs" / "web" / "site.css").read_text()))
    made.append(File.generated(config, POLYFILL, content=_polyfill()))
    return Files([*kept, *made])


def _polyfill() -> str:
    """Return what lets the search work from the disk, made as `make page` makes the other bundles."""
    command = [sys.executable, ROOT / ".ci" / "page.py", "search"]
    directory = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return (Path(directory) / "iframe-worker.js").read_text(encoding="utf-8")


def _path(name: str, target: str) -> str | None:
    """Return what a link of a page leads to, as a path below the checkout; None where it leads out of it."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), target.partition("#")[0]))
    return None if path.startswith("..") else path


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Mend links that the site has not, and tell what the glossary's terms mean."""
    name = page.file.src_uri

    def mended(match: re.Match[str]) -> str:
        path = _path(name, match[3])
        if path is None or files.get_file_from_path(path) is not None:
            return match[0]
        for page_of_folder in (f"{path}/README.md", f"{path}/index.md"):
            if files.get_file_from_path(page_of_folder) is not None:
                return f"{match[1]}[{match[2]}]({posixpath.relpath(page_of_folder, posixpath.dirname(name) or '.')})"
        if not (ROOT / path).exists():
            return match[0]  # the strict build tells of it
        text = match[2].strip("`")
        return f"`{path}`" if text in (path, posixpath.basename(path)) else f"{match[2]} (`{path}`)"

    text = _LINK.sub(mended, markdown)
    return text if ROOT / name == GLOSSARY else f"{text}\n\n{_abbreviations()}"


def _abbreviations() -> str:
    """Return the glossary's short terms, each with its first sentence."""
    entries = re.findall(r"^### (\S+)(?: \(.*\))?\n\n((?:.+\n)+)", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    plain = {term: re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", " ".join(text.split())) for term, text in entries}
    return "\n".join(
        f"*[{term}]: {re.split(r'(?<=[.]) ', text)[0]}" for term, text in plain.items() if re.search("[A-Z]{2}", term)
    )


def on_post_build(config: MkDocsConfig) -> None:
    """Tell a number's end from a digit that is a letter, in the search's script.

    Otherwise two nodes have one name by chance (lunr's TokenSet.toString), the index has words that no page has, and a
    search for their first letters fails (lunr.js 2.3.9, "Cannot read properties of undefined (reading '_index')").
    """
    (script,) = (Path(config.site_dir) / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    text, found = _NODES_NAME.subn(r'\1=\1+\2+\3.id+";"', script.read_text(encoding="utf-8"))
    if found != 1:
        raise PluginError(f"{script.name}: another version of lunr; look whether it still mixes numbers and letters")
    script.write_text(text, encoding="utf-8")
