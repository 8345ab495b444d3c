"""The list of labs, each with its question."""

from __future__ import annotations

from fabriclab.api.lab_names import known_labs
from fabriclab.lab.lab_list import ListedLab, list_lab


def labs() -> list[ListedLab]:
    """Return the labs in `labs` and fabriclab's own labs, each with its question and its CPU time.

    A lab whose file cannot be read has a `problem`; nothing is raised for it.
    """
    return [list_lab(directory) for directory in known_labs()]
