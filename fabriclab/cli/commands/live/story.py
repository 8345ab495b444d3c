"""`fabriclab story`: a story of a live lab on the terminal, a step for each Enter."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from fabriclab.errors import ArgumentError
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.client import LiveError, ask


def story(name: str | None, lab: str | None) -> None:
    """Play a story from the step that is next until its end. Raises ArgumentError where there is none."""
    found = _chosen(ask(lab, {"do": "stories"}), name)
    steps = found["steps"]
    done = ask(lab, {"do": "story"})["steps"].get(found["name"], 0)
    sys.stdout.write(f"{found['title']}: {len(steps)} steps; Enter does a step, Ctrl-C leaves\n")
    for number in range(done, len(steps)):
        sys.stdout.write("\n".join(_shown(number, steps[number])) + "\n")
        sys.stdout.flush()
        if not sys.stdin.readline():
            return
        _play(lab, found["name"], number)
    sys.stdout.write("the end\n")


def _play(lab: str | None, name: str, number: int) -> None:
    while True:
        try:
            told = ask(lab, {"do": "play", "story": name, "step": number})["told"]
        except LiveError as error:
            sys.stdout.write(f"  {error}\n  Enter tries it again\n")
            sys.stdout.flush()
            if not sys.stdin.readline():
                raise
            continue
        sys.stdout.write("".join(f"  {line}\n" for line in told))
        return


def _shown(number: int, step: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n{number + 1}. {step['title']}"
    if step["words"]:
        yield step["words"]
    yield from (f"  > {words}" for words in step["do"])


def _chosen(answer: Mapping[str, Any], name: str | None) -> Mapping[str, Any]:
    """Return the story that is meant: the one named, that which the lab came up with, or the only one."""
    stories: dict[str, Mapping[str, Any]] = {one["name"]: one for one in answer["stories"]}
    meant = name or answer["chosen"] or (next(iter(stories)) if len(stories) == 1 else None)
    if meant is None:
        none = "the lab has none (docs/stories.md says how to write one)"
        raise ArgumentError("which story? {0}", f"name one of {', '.join(stories)}" if stories else none)
    if meant not in stories:
        raise ArgumentError("{0!r}: the lab has no such story; {1}", meant, did_you_mean(meant, stories))
    if stories[meant]["problem"]:
        raise ArgumentError("{0}", stories[meant]["problem"])
    return stories[meant]
