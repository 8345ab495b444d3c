"""Rich's console, with what it is given made visible: its own colours and bars are the only controls that it writes."""

from __future__ import annotations

from collections.abc import Iterable

from rich import console
from rich.segment import Segment

from fabriclab.cli.host.visible import visible


class Console(console.Console):
    """A console to which text from outside may be printed."""

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is written: Rich's own controls, and text without any."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
