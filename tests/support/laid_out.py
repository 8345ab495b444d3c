"""What a page in a browser looks like once it is laid out: asked until it is so, for a page is laid out later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from patience import patient

if TYPE_CHECKING:
    from playwright.sync_api import Page


def comes_to(page: Page, is_so: Callable[[], object], told: Callable[[], object]) -> None:
    """Let the page go on until something is so; where it never is, what is `told` of the page is the error."""
    for _ in range(round(patient(30) / 0.05)):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError(told())


def fits(page: Page, width: int) -> None:
    """Need a page that is no wider than so many pixels, once it is laid out in a window of that width."""

    def widths() -> tuple[int, int]:
        window, content = page.evaluate("[window.innerWidth, document.documentElement.scrollWidth]")
        return window, content

    comes_to(page, lambda: widths()[0] == width and widths()[1] <= width, widths)
