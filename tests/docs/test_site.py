"""The documentation as a site: built without a warning, nothing loaded from elsewhere, found by its search from the
disk."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from laid_out import fits
from page_fixtures import new_context
from patience import patient
from playwright.sync_api import Browser, Page, expect
from ruamel.yaml import YAML

pytest.importorskip("material", reason="not built: pip install 'fabriclab[docs]'")

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)"|url\(([^)]+)\)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a link that leads nowhere, a page in no menu, fails it."""
    directory = tmp_path_factory.mktemp("site") / "site"
    mkdocs = Path(sys.executable).parent / "mkdocs"
    command: list[str | Path] = [mkdocs, "build", "--strict", "--site-dir", directory]
    built = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return directory


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """The front page as a file on a disk, without a network; nothing may be said on its console."""
    complaints: list[str] = []
    context = new_context(browser, viewport={"width": 1300, "height": 900}, offline=True)
    found = context.new_page()
    found.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.on("request", lambda request: complaints.append(request.url) if "://" in request.url[5:] else None)
    found.goto((site / "index.html").as_uri())
    yield found
    context.close()
    assert [each for each in complaints if not each.startswith("file:")] == []


@pytest.mark.xdist_group("site")
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 60
    for path in pages:
        for found in LOADED.findall(path.read_text(encoding="utf-8")):
            (target,) = filter(None, found)
            assert not re.match(r"(https?:)?//", target.strip("\"'")), (path, target)


@pytest.mark.xdist_group("site")
def test_every_document_is_a_page(site: Path) -> None:
    for lab in (ROOT / "labs").glob("*/README.md"):
        assert (site / "labs" / lab.parent.name / "index.html").is_file()
    for document in (ROOT / "docs").rglob("*.md"):
        assert (site / document.relative_to(ROOT)).with_suffix(".html").is_file()


@pytest.mark.xdist_group("site")
def test_the_search_finds_without_a_network(page: Page) -> None:
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("collapse")
    result = page.locator(".md-search-result__item").first
    expect(result).to_be_visible()
    result.locator("a").first.click()
    expect(page.locator("h1").first).to_be_visible()


@pytest.mark.xdist_group("site")
def test_terms_explain_themselves_and_the_phone_is_wide_enough(page: Page, site: Path) -> None:
    page.goto((site / "docs/start.html").as_uri())
    expect(page.locator("abbr", has_text="DCTCP").first).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 800})
    fits(page, 400)


@pytest.mark.vm
@pytest.mark.slow("all steps of a pipeline as commands, with a sweep before and after a change")
def test_the_pipelines_steps_do_what_the_page_says(tmp_path: Path) -> None:
    """All steps but those that are GitHub's own or install packages; of a file without the mistake, then with it."""
    from fabriclab.engine.artefacts import EngineError, find_artefacts

    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not run: {error}")
    workflow = YAML(typ="safe", pure=True).load((ROOT / "docs/pipeline/switch-config.yml").read_text(encoding="utf-8"))
    steps = {step["name"]: step["run"] for step in workflow["jobs"]["fabriclab"]["steps"] if "run" in step}
    left_out = {"Install fabriclab", "Take the file as it was"}
    assert left_out < set(steps)
    (tmp_path / "leaf").mkdir()
    good = ROOT / "labs/sonic-qos/leaf.json"
    shutil.copy(good, tmp_path / "before.json")
    shutil.copy(good, tmp_path / "leaf/config_db.json")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SEEDS": "1",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
    }

    def run(name: str) -> int:
        shell = ["bash", "-e", "-o", "pipefail", "-c", steps[name]]
        return subprocess.run(
            shell, cwd=tmp_path, env=environment, capture_output=True, timeout=patient(600)
        ).returncode

    assert {name: run(name) for name in steps if name not in left_out} == {
        name: 0 for name in steps if name not in left_out
    }
    for kept in ("check.xml", "validation.xml", "compare.html", "before/report.html", "after/report.html"):
        assert (tmp_path / kept).is_file(), kept
    assert "what differs" in (tmp_path / "page.md").read_text() or "same" in (tmp_path / "page.md").read_text()
    shutil.copy(ROOT / "labs/sonic-qos/leaf-threshold-out-of-reach.json", tmp_path / "leaf/config_db.json")
    assert run("Find what YANG models cannot see") == 1


def test_the_devcontainer_starts_what_there_is() -> None:
    described = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / ".devcontainer" / described["build"]["dockerfile"]).is_file()
    make, *targets = described["postCreateCommand"].split()
    assert make == "make"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    dockerfile = (ROOT / ".devcontainer/Dockerfile").read_text(encoding="utf-8")
    assert f"useradd --create-home --shell /bin/bash --groups sudo {described['remoteUser']}" in dockerfile
