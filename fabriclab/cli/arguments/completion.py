"""What a shell completes: labs, and of the lab on the line its parameters with their values, variants, matrices and
nodes.

Whatever goes wrong, a completion says nothing: the command itself will.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fabriclab.formats.stages import STAGES

if TYPE_CHECKING:
    from fabriclab.lab import Lab


def complete_lab(incomplete: str) -> list[str]:
    """Return the labs by name, or by path where one was begun."""
    with suppress(Exception):
        from fabriclab.api.lab_names import known_labs
        from fabriclab.lab.lab_list import labs_in

        if "/" in incomplete:
            return _begun((str(lab) for lab in labs_in(Path(incomplete.rpartition("/")[0] or "/"))), incomplete)
        return _begun((lab.name for lab in known_labs()), incomplete)
    return []


def complete_origin(incomplete: str) -> list[str]:
    """Return what a new lab can be begun with: labs, and the topologies that `generate` makes."""
    with suppress(Exception):
        from fabriclab.api.lab_names import STARTERS

        return list(dict.fromkeys((*complete_lab(incomplete), *_begun(STARTERS, incomplete))))
    return []


def complete_setting(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return `parameter=`; behind it the values that matrices give it, or the variants."""
    return _of_lab(ctx, incomplete, _settings)


def complete_matrix(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the lab's matrices that begin with what is typed."""
    return _of_lab(ctx, incomplete, lambda lab: lab.matrices)


def complete_node(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the lab's nodes that begin with what is typed."""
    return _of_lab(ctx, incomplete, lambda lab: [node.name for node in lab.topology.nodes])


def complete_stage(incomplete: str) -> list[str]:
    """Return the stages of a validation."""
    return _begun(STAGES, incomplete)


def _of_lab(ctx: typer.Context, incomplete: str, words: Callable[[Lab], Iterable[str]]) -> list[str]:
    with suppress(Exception):
        from fabriclab.api.lab_names import find_lab
        from fabriclab.lab import parse_lab

        # An option whose value is still missing keeps the parser from giving the lab its name.
        written = ctx.params["lab"] or next(word for word in ctx.args if not word.startswith("-"))
        return _begun(words(parse_lab(find_lab(Path(written)), every_point=False)), incomplete)
    return []


def _settings(lab: Lab) -> Iterable[str]:
    from fabriclab.lab.study_keys import SEED, VARIANT

    yield from (f"{VARIANT}={name}" for name in lab.variants)
    for name in lab.parameters:
        yield f"{name}="
        values = (
            value.text
            for axes in lab.study.matrices.values()
            for axis in axes
            if axis.name == name
            for value in axis.values
        )
        yield from (f"{name}={value}" for value in dict.fromkeys(values))
    yield f"{SEED}="


def _begun(words: Iterable[str], incomplete: str) -> list[str]:
    """Return the words that begin so; of `name=value` only the names until the name is written."""
    found: Sequence[str] = [word for word in words if word.startswith(incomplete)]
    if "=" not in incomplete:
        found = [word.partition("=")[0] + "=" if "=" in word else word for word in found]
    return list(dict.fromkeys(found))
