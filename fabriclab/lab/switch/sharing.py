"""How the queues of a switch share their pool, as written."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.keys.values import Word
from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.numbered_sections import read_number_list
from fabriclab.lab.switch.queue_keys import SHARING_WORD


def read_sharing(section: Section, own: Mapping[str, str]) -> Written[str] | None:
    """Return the `sharing` of a queue, for a C file the name that it registers; None when it is absent or wrong.

    `own`: these names by file.
    """
    return section.value("sharing", Word[str](SHARING_WORD.words, aliases=own))


def read_unscheduled_classes(section: Section) -> Written[tuple[int, ...]] | None:
    """Return the traffic classes of unscheduled packets, in the order of their numbers; None as above."""
    return read_number_list(section, "unscheduled_classes", "traffic class")
