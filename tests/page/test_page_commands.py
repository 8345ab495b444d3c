"""`fabriclab ui`, and what `up --open` starts."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fake_lab import FakeLab
from patience import wait_until

from fabriclab.cli.commands.live import ui
from fabriclab.page.assets import PAGE

COMMAND = (sys.executable, "-m", "fabriclab", "ui")


@pytest.fixture(autouse=True)
def _built() -> None:
    if not PAGE.made().is_dir():
        pytest.skip("the page is not built: make page")


def status_of(address: str) -> int:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().status
    finally:
        connection.close()


def test_it_prints_an_address_that_lets_in(fake: FakeLab) -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert status_of(address) == 303
        assert status_of(address.partition("?")[0]) == 403
        process.send_signal(signal.SIGINT)
    assert process.returncode in (0, 130, -signal.SIGINT)


@pytest.mark.parametrize(("words", "text"), [((), "no lab is up"), (("nolab",), "nolab: no lab of that name is up")])
def test_no_lab_is_a_mistake(words: tuple[str, ...], text: str, runtime: Path) -> None:
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr


def test_a_port_that_is_taken_is_told(fake: FakeLab) -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = urlsplit(process.stdout.readline()).port
        done = subprocess.run([*COMMAND, "--port", str(port)], capture_output=True, text=True, check=False)
        process.send_signal(signal.SIGINT)
    assert done.returncode != 0
    assert f"--port {port}" in done.stderr and "Traceback" not in done.stderr


def test_a_background_server_ends_with_its_lab(
    fake: FakeLab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    ui.open_page("fake")
    (once,) = opened
    printed = capsys.readouterr().out.split()[1]
    assert [status_of(once), status_of(once), status_of(printed), status_of(printed)] == [303, 403, 303, 303]
    fake.stop()
    wait_until(lambda: os.waitpid(-1, os.WNOHANG)[0] != 0)
