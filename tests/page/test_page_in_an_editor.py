"""The live page in a panel of VS Code: framed by another origin, through the extension's proxy and `ui --socket`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_lab import FakeLab
from page_fixtures import new_context
from patience import patient
from playwright.sync_api import Browser, expect
from repository import ROOT

from fabriclab.page.assets import PAGE

pytestmark = pytest.mark.xdist_group("page")

FRAME = """
const http = require("node:http");
const { panelDocument, servePage } = require(process.argv[2]);
servePage(process.argv[3]).then((served) => {
  const text = panelDocument(served.address(process.argv[4]), "The live page");
  const server = http.createServer((asked, answer) => answer.setHeader("Content-Type", "text/html").end(text));
  const said = () => console.log(JSON.stringify({ panel: server.address().port, page: served.address("") }));
  server.listen(0, "127.0.0.1", said);
  process.stdin.on("end", () => (served.close(), served.ended.then(() => process.exit(0)))).resume();
});
"""


@pytest.fixture
def panel(tmp_path: Path, fake: FakeLab) -> Iterator[dict[str, str]]:
    """The address of a document that frames the page, and that of the page; both go with the end of the input."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("not run: Node.js is missing: apt-get install nodejs")
    if not all((PAGE.made() / name).exists() for name in PAGE.files):
        pytest.skip("the page is not built: make page")
    program, script = tmp_path / "fabriclab", tmp_path / "frame.js"
    program.write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m fabriclab "$@"\n')
    program.chmod(0o755)
    script.write_text(FRAME)
    library = ROOT / ".vscode" / "extensions" / "fabriclab" / "lib" / "page.js"
    command: list[str | Path] = [node, script, library, program, "fake"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.communicate(timeout=patient(60))
    assert process.returncode == 0


def test_the_panel_shows_the_lab_and_asks_it(browser: Browser, panel: dict[str, str]) -> None:
    context = new_context(browser, viewport={"width": 1000, "height": 800})
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"http://localhost:{panel['panel']}/")  # Not 127.0.0.1: a cookie would not be sent from here.
    shown = page.frame_locator("iframe")
    expect(shown.locator("#topology .node", has_text=re.compile(r"^h3\b"))).to_be_visible()
    shown.locator("#topology .port-grip", has_text="s1:eth49: its queues").click()
    expect(shown.locator("#port-queues tbody tr")).to_have_count(1)
    answer = page.request.get(panel["page"].replace(panel["page"].split("/")[3], "A" * 43))
    assert answer.status == 403
    context.close()
    assert complaints == []
