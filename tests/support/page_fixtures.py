"""The page's server in a thread of the test's own process, a stand-in for a lab, and one browser for all tests."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest
from patience import patient

if TYPE_CHECKING:
    from fake_lab import FakeLab
    from playwright.sync_api import Browser, BrowserContext, Page

    from fabriclab.page.serve import Page as Server

BROWSERS = ("chromium", "chromium-browser")


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for sockets: no lab is up there."""
    found = tmp_path / "rt"
    found.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(found))
    return found


@pytest.fixture
def fake(tmp_path: Path, runtime: Path) -> Iterator[FakeLab]:
    """A lab that is up, of which the test's directory is the run directory."""
    from fake_lab import FakeLab

    with FakeLab(tmp_path) as found:
        yield found


@pytest.fixture
def server(runtime: Path) -> Iterator[Server]:
    """The page's server."""
    from fabriclab.page.serve import Page as Server

    with serving(lambda: Server(0)) as found:
        yield found


class Serves(Protocol):
    """A server of the page, wherever it listens."""

    def serve(self) -> None: ...
    def stop(self) -> None: ...


_Server = TypeVar("_Server", bound=Serves)


@contextmanager
def serving(make: Callable[[], _Server]) -> Iterator[_Server]:
    """A server of the page in a thread; without the page's files the test is skipped, with the words that name them."""
    from fabriclab.page.assets import PageError

    try:
        found = make()
    except PageError as error:
        pytest.skip(str(error))  # The page is not built; the message names the command that builds it.
    thread = threading.Thread(target=found.serve)
    thread.start()
    yield found
    found.stop()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; Playwright downloads none."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium is here: make deps installs one")
    from playwright.sync_api import expect, sync_playwright

    # On a machine that does much else a page is late, not wrong; no test waits that long for what comes.
    expect.set_options(timeout=1000 * patient(30))
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return a browser without cookies, whose actions are waited for as long as this host needs."""
    found = browser.new_context(**options)
    found.set_default_timeout(1000 * patient(30))
    return found


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console said, of whatever severity; the test ends with none."""
    return []


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without cookies, 1280 pixels wide."""
    found = new_context(browser, viewport={"width": 1280, "height": 900})
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext, server: Server, complaints: list[str]) -> Iterator[Page]:
    """The page of the lab that is up, come to by its address with the token."""
    found = context.new_page()
    found.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(server.keys.address())
    yield found
    assert complaints == []
