"""Rich's console, with what it is given made visible: its own colours and bars are the only controls that it writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, cast

from rich import console
from rich.segment import Segment

from fabriclab.cli.host.visible import visible


class Console(console.Console):
    """A console to which text from outside may be printed."""

    @property
    def file(self) -> IO[str]:
        """The stream that is written to, below those that show control characters and those that Rich puts before them
        while a bar is shown."""
        found: Any = super().file
        while (below := getattr(found, "rich_proxied_file", None)) is not None:
            found = below
        return cast(IO[str], found)

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is written: Rich's own controls, and text without any."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
