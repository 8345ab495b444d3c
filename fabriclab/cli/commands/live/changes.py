"""`fabriclab set`, `link`, `node`, `save-lab`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabriclab.cli.host.waiting import waiting
from fabriclab.errors import ArgumentError
from fabriclab.live.client import ask
from fabriclab.units import format_count


def set_keys(lab: str | None, texts: Sequence[str]) -> None:
    """Change settings of a lab, and say what they were. Raises ArgumentError for what is not KEY=VALUE."""
    _tell(ask(lab, {"do": "set", "settings": _settings(texts, "set switches.s1.ecn_threshold='30 KB'")}))


def link(action: str, written: str, texts: Sequence[str]) -> None:
    """Change a link of `[NAME:]NODE:PORT`. Raises ArgumentError."""
    words = written.split(":")
    if not 2 <= len(words) <= 3 or not all(words):
        raise ArgumentError("{0!r}: write a port of the link, NODE:PORT, such as leaf1:eth1", written)
    if action != "set" and texts:
        raise ArgumentError("link {0} takes no KEY=VALUE; write `link set {1} {2}`", action, written, texts[0])
    settings = _settings(texts, f"link set {written} rate='100 Mbps'") if action == "set" else {}
    question = {"do": "link", "port": ":".join(words[-2:]), "action": action, "settings": settings}
    _tell(ask(words[0] if len(words) == 3 else None, question))


def node(action: str, written: str) -> None:
    """Change a node of `[NAME:]NODE`."""
    lab, colon, name = written.rpartition(":")
    _tell(ask(lab if colon else None, {"do": "node", "node": name, "action": action}))


def save(session: Path, out: Path) -> None:
    """Write a lab of what was done in a session, and say what it has and what it has not."""
    from fabriclab.live.saving import save_lab  # what reads labs, which the others here need not

    with waiting("writing the lab"):
        saved = save_lab(session, out)
    what = f"{format_count(saved.events, 'event')}, {format_count(saved.flows, 'flow')} by hand"
    sys.stdout.write(f"{saved.directory}: {what}; `fabriclab run {saved.directory}` runs it\n")
    for sentence in saved.left_out:
        sys.stdout.write(f"not in the new lab: {sentence}\n")


def _settings(texts: Sequence[str], example: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not key or not equals or not value:
            raise ArgumentError("{0!r}: write KEY=VALUE, such as {1}", text, example)
        if key in settings:
            raise ArgumentError("{0!r}: {1} is given twice ({2!r} before)", text, key, settings[key])
        settings[key] = value
    if not settings:
        raise ArgumentError("KEY=VALUE is missing: {0}", example)
    return settings


def _tell(answer: dict[str, Any]) -> None:
    for line in answer["changes"]:
        sys.stdout.write(f"{line}\n")
    if answer["changed"]:
        sys.stdout.write(f"at {answer['now_ns'] / 1e9:.9f} s\n")
