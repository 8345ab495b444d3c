"""`fabriclab ui`, and `up --open`."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from fabriclab.cli.host.failure import say
from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.files import explain, replacing
from fabriclab.live.labs_up import chosen, labs

MISSING = (
    "libraries of the live page are missing; this installs them: pip install starlette uvicorn websockets "
    "prometheus-client"
)


def ui(lab: str | None, port: int, browser: bool, proxied: Path | None, token_file: Path | None) -> None:
    """Serve the page of the labs that are up, until Ctrl-C. Raises LabsUpError, ArgumentError, PageError."""
    if proxied is not None:
        _behind_proxy(proxied)
        return
    if lab is not None or not labs():
        chosen(lab)
    try:
        from fabriclab.page.serve import Page, path_of
    except ModuleNotFoundError:
        raise FabriclabError(MISSING) from None
    try:
        page = Page(port)
    except OSError as error:
        raise ArgumentError("--port {0}: {1}", port, os.strerror(error.errno or 0)) from None
    if token_file is not None:
        write_token(token_file, page.keys.token)
    sys.stdout.write(f"{page.keys.address(path_of(lab))}\n")
    sys.stdout.flush()
    say("the live page: anybody who has this address can use it; Ctrl-C ends it")
    if browser:
        _open(page.keys.address_once(path_of(lab)))
    page.serve()


def write_token(file: Path, token: str) -> None:
    """Write the token for this user's eyes alone, whole or not at all. Raises ArgumentError."""
    try:
        with replacing(file) as part:
            part.touch(0o600)
            part.write_text(token, encoding="ascii")
    except OSError as error:
        raise ArgumentError("--token-file {0}: {1}", file, explain(error)) from None


def _behind_proxy(path: Path) -> None:
    try:
        from fabriclab.page.serve import ProxiedPage
    except ModuleNotFoundError:
        raise FabriclabError(MISSING) from None
    try:
        page = ProxiedPage(path)
    except OSError as error:
        raise ArgumentError("--socket {0}: {1}", path, os.strerror(error.errno or 0)) from None
    page.serve()


def open_page(lab: str) -> None:
    """Start the page's server in the background for a lab that came up, and a browser; what fails is said."""
    from fabriclab.page.launch import start

    try:
        said = start(lab)
    except FabriclabError as error:
        say(f"no page: {error}")
    except OSError as error:
        say(f"no page: {explain(error)}")
    else:
        sys.stdout.write(f"  page      {said['address']}\n")
        sys.stdout.flush()
        _open(said["once"])


def _open(address: str) -> None:
    if not webbrowser.open(address):
        say("no browser was found; open the address above in one")
