"""What a process writes while it is watched. A process that was watched once is slow until its end: Python's audit
hooks stay, and are called for each `id`. Then a copy of a plan takes five times as long, so tests watch a process of
its own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
CANARY = "FABRICLAB-CANARY"
"""What a file or directory is called that no reader may ever make."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def in_its_own_process(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **more: Arguments.kwargs
) -> Result:
    """Return what a function of a module returns in a process that ends with it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, *arguments, **more).result()


class OutsideError(AssertionError):
    """Something was written where nothing may be written."""


class _Watch:
    """The paths that Python is asked to write, as the interpreter's own audit hook tells them."""

    def __init__(self) -> None:
        self.inside: Path | None = None
        self.outside: list[str] = []
        sys.addaudithook(self._told)

    def _told(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inside is None:
            return
        if event == "open":
            path, _, flags = arguments
            paths = [path] if isinstance(flags, int) and flags & _WRITES else []
        elif event in ("os.remove", "os.rmdir"):
            paths = [arguments[0]]
        elif event in ("os.mkdir", "os.chmod"):
            paths, arguments = [arguments[0]], arguments[:1] + arguments[2:]  # without the mode
        elif event in ("os.rename", "os.link", "os.symlink"):
            paths = list(arguments[:2])
        else:
            return
        if any(isinstance(one, int) and one >= 0 for one in arguments[1:]) and event != "open":
            return  # below a directory that is open: rmtree's own, which follows no link
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike) and not self._is_inside(os.fsdecode(path)):
                self.outside.append(f"{event} {os.fsdecode(path)}")

    def _is_inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real.startswith(f"{self.inside}{os.sep}") or real == str(self.inside) or real.startswith("/dev/")


@cache
def _watch() -> _Watch:
    return _Watch()


@contextlib.contextmanager
def writing_only(directory: Path) -> Iterator[None]:
    """Raise OutsideError at the end of the block where something was written outside of this directory."""
    watch = _watch()
    watch.inside, watch.outside = directory.resolve(), []
    before = tempfile.tempdir
    tempfile.tempdir = str(directory)
    try:
        yield
    finally:
        watch.inside, tempfile.tempdir = None, before
        if watch.outside or any(Path("/tmp").glob(f"{CANARY}*")):
            raise OutsideError(f"written outside: {watch.outside[:3]}")


def written_outside(directory: Path) -> list[str]:
    """Write outside of a folder by two names, then inside of it; return what is said of each, nothing of the last."""
    said = []
    (directory / "mine").mkdir()
    (directory / "mine" / "link").symlink_to(directory)
    for name in ("mine/../beside", "mine/link/x", "mine/inside"):
        try:
            with writing_only(directory / "mine"):
                (directory / name).write_text("")
        except OutsideError as error:
            said.append(str(error))
        else:
            said.append("")
    return said
