"""Records what README shows moving, in `docs/recordings`: a terminal (`terminal.webp`) and the live page (`page.webp`).

`make recordings` calls it. Both are recordings: commands run on a terminal of their own and the page shows a lab that
is up, while a browser takes pictures. It needs Chromium and ImageMagick's `convert`.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "recordings"
COLUMNS, ROWS = 88, 27
SHOWN = (
    ("fabriclab new mylab --from incast", 1.0),
    ("fabriclab run mylab --set senders=16 --out before", 2.5),
    ("fabriclab run mylab --set senders=16 --set variant=dctcp --out after", 2.5),
    ("fabriclab compare before after", 5.0),
)
"""Commands of the terminal, and the seconds for which a viewer may read what each has said."""
_TOKEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+")
_CUT_OFF = re.compile(r"\x1b(\[[0-9;?]*)?$")
_STEPS = 90
_PAGE = {"width": 1000, "height": 640}


@dataclass(frozen=True)
class Frame:
    """A picture and the time for which it stays."""

    file: Path
    seconds: float


def typed(command: str) -> list[str]:
    """Return a command as words for a shell, `fabriclab` being this checkout's."""
    return ["bash", "-c", f"{Path(sys.executable).parent}/{command}"]


def run(command: str, directory: Path) -> Iterator[bytes]:
    """Run a command on a terminal; yield all that it has written so far, a few times a second."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(directory)
        environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm-256color"}
        argv = typed(command)
        os.execvpe(argv[0], argv, environment)
    written, told = b"", time.monotonic()
    while True:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                written += os.read(terminal, 1 << 16)
            except OSError:
                break
        if time.monotonic() - told > 0.4:
            told = time.monotonic()
            yield written
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"`{command}` failed: {written.decode(errors='replace')}")
    yield written


def screen(written: bytes) -> list[str]:
    """Return a terminal's lines with their colours, as a progress line leaves them that goes up, erases and writes."""
    text = _CUT_OFF.sub("", written.decode(errors="ignore"))
    lines, row, begins = [""], 0, False
    for token in _TOKEN.findall(text):
        if token == "\n":
            row, begins = row + 1, False
            lines += [""] * (row + 1 - len(lines))
        elif token == "\r":
            begins = True
        elif token.startswith("\x1b") and token[-1] == "A":
            row = max(0, row - int(token[2:-1] or 1))
        elif token.startswith("\x1b") and token[-1] == "K":
            lines[row] = ""
        elif not token.startswith("\x1b") or token[-1] == "m":
            lines[row] = token if begins else lines[row] + token
            begins = False
    return lines


def picture(lines: Sequence[str]) -> str:
    """Return the last lines as an SVG of a terminal."""
    console = Console(file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="truecolor")
    shown = list(lines)[-ROWS:]
    console.print(Text.from_ansi("\n".join([*shown, *[""] * (ROWS - len(shown))])), soft_wrap=False, overflow="crop")
    return console.export_svg(title="fabriclab", theme=DIMMED_MONOKAI)


def terminal_frames(browser: Browser, directory: Path, work: Path) -> Iterator[Frame]:
    """Yield the pictures of the terminal."""
    page = browser.new_page(viewport={"width": 860, "height": 560})
    before: list[str] = []

    def taken(lines: Sequence[str], seconds: float) -> Frame:
        file = directory / f"t{len(list(directory.iterdir())):04}.png"
        page.set_content(f"<style>body{{margin:0}} svg{{width:860px}}</style>{picture(lines)}")
        page.screenshot(path=file)
        return Frame(file, seconds)

    for command, seconds in SHOWN:
        for length in range(0, len(command) + 1, 4):
            yield taken([*before, f"$ {command[:length]}"], 0.08)
        line = f"$ {command}"
        said: list[str] = []
        for written in run(command, work):
            said = screen(written)
            yield taken([*before, line, *said], 0.25)
        before = [*before, line, *said]
        yield taken([*before, "$ "], seconds)
    page.close()


def page_frames(browser: Browser, directory: Path, work: Path) -> Iterator[Frame]:
    """Yield the pictures of the live page: an in-cast collapses, step by step."""
    fabriclab = [sys.executable, "-m", "fabriclab"]
    up = ["up", "incast", "--set", "senders=16", "--name", "recording", "--speed", "1/3000"]
    subprocess.run([*fabriclab, *up], cwd=work, check=True, stdout=subprocess.DEVNULL)
    served = subprocess.Popen([*fabriclab, "ui", "recording"], cwd=work, stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        page = browser.new_page(viewport=_PAGE)
        page.goto(served.stdout.readline().strip())
        page.wait_for_selector("#topology svg")
        yield from _stepped(page, directory)
        page.close()
    finally:
        served.terminate()
        served.wait()
        subprocess.run([*fabriclab, "down", "recording"], cwd=work, check=False, stdout=subprocess.DEVNULL)


def _stepped(page: Page, directory: Path) -> Iterator[Frame]:
    for number in range(_STEPS):
        file = directory / f"p{number:04}.png"
        page.screenshot(path=file)
        yield Frame(file, 0.14)
        page.wait_for_timeout(60)


def join(frames: Sequence[Frame], out: Path) -> None:
    """Write frames as one moving picture; those that are the same become one."""
    command = ["convert", "-loop", "0"]
    for frame in frames:
        command += ["-delay", str(round(100 * frame.seconds)), str(frame.file)]
    with tempfile.NamedTemporaryFile(dir=out.parent, suffix=".webp") as partial:
        options = ["-layers", "optimize", "-quality", "45", "-define", "webp:method=6"]
        subprocess.run([*command, *options, partial.name], check=True)
        shutil.copy(partial.name, out)
    out.chmod(0o644)


def main() -> None:
    """Record the terminal and the live page for README."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("what", nargs="*", choices=("terminal", "page", []), help="(default: both)")
    wanted = parser.parse_args().what or ["terminal", "page"]
    if shutil.which("convert") is None:
        raise SystemExit("ImageMagick is missing: apt-get install imagemagick")
    OUT.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, frames in (("terminal", terminal_frames), ("page", page_frames)):
            if name not in wanted:
                continue
            pictures, work = Path(directory) / name, Path(directory) / f"{name}-work"
            pictures.mkdir()
            work.mkdir()
            join(list(frames(browser, pictures, work)), OUT / f"{name}.webp")
            print(f"{OUT / name}.webp: {(OUT / f'{name}.webp').stat().st_size / 1e6:.2f} MB")
        browser.close()


if __name__ == "__main__":
    main()
