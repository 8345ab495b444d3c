"""Containerlab files that are Go templates, rendered with the variables beside them as Containerlab does.

Source: Containerlab's `core/file.go`: of `my.clab.gotmpl` the variables are `my.clab_vars.*` (yaml, yml, json), merged
in the order of their names, and templates to include lie in `clab_templates`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from fabriclab.engine.go_templates import TemplateError, has_go, render_go_template
from fabriclab.lab.reading.document import is_go_template
from fabriclab.lab.reading.files import LARGEST_YAML_BYTES, UnreadableError, read_named_file
from fabriclab.lab.reading.made_text import MadeText
from fabriclab.lab.reading.problems import LabError, Mistake
from fabriclab.other_labs.kathara import containerlab_file, is_lab_conf

_SUFFIXES = (".yaml", ".yml", ".json")
_SUCH_AS = "a template's variables are such as spines: {num: 2}"
_INCLUDED = "clab_templates/*.gotmpl"
_WHERE = re.compile(r"template: .*?:(\d+)(?::\d+)?: (.*)", re.DOTALL)


def rendered(file: Path, variables: Sequence[str | PathLike[str]] = ()) -> MadeText | None:
    """Return the text of the Containerlab file that a Go template makes, or that a Kathará lab stands for; None for any
    other file.

    `variables`: files of them, in the place of those beside it. Raises LabError for a template that cannot be rendered,
    and where there is no Go to render it.
    """
    if is_lab_conf(file):
        return containerlab_file(file)
    text = _text(file) if file.is_file() else ""
    if not (variables or is_go_template(text)):
        return None
    named = [Path(one) for one in variables] or _variables_beside(file)
    if not has_go():
        raise LabError([_mistake(file, None, _without_go(file, named))])
    merged: dict[str, Any] = {}
    for one in named:
        _merge(merged, _loaded(one))
    includes = {one.name: _text(one) for one in sorted(file.parent.glob(_INCLUDED))}
    try:
        text = render_go_template(file.name, text, includes, merged if named else None)
    except TemplateError as error:
        where = _WHERE.fullmatch(str(error))
        line, message = (None, str(error)) if where is None else (int(where[1]), where[2])
        raise LabError(
            [_mistake(file, line, f"the file is a Go template that can't be rendered: {message}")]
        ) from error
    return MadeText(text, f"{file} (rendered)")


def _without_go(file: Path, variables: Sequence[Path]) -> str:
    stem = file.name.removesuffix(file.suffix).removesuffix(".clab")
    made = file.with_name(f"{stem}.rendered.clab.yml")
    context = "".join(f" -c .={one}" for one in variables[:1])
    return (
        "the file is a Go template, but Go is not installed to render it; install Go (Debian's golang-go), or render "
        "it first with "
        f"gomplate -f {file}{context} -o {made}, or containerlab deploy -t {file} --export-rendered {made}, "
        "and name that file"
    )


def _variables_beside(file: Path) -> list[Path]:
    found = file.parent.glob(f"{file.name.removesuffix(file.suffix)}_vars.*")
    return sorted(one for one in found if one.suffix in _SUFFIXES)


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Put other variables over those that are there, mapping by mapping."""
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _text(file: Path) -> str:
    try:
        return read_named_file(file, LARGEST_YAML_BYTES).decode("utf-8")
    except UnreadableError as error:
        raise LabError([_mistake(file, None, str(error))]) from error
    except UnicodeDecodeError as error:
        raise LabError([_mistake(file, None, f"is not text: {error.reason}")]) from error


def _loaded(file: Path) -> dict[str, Any]:
    try:
        found = YAML(typ="safe", pure=True).load(_text(file))
    except (YAMLError, RecursionError, ValueError) as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        line = None if mark is None else mark.line + 1
        raise LabError([_mistake(file, line, f"is not YAML; {_SUCH_AS}")]) from error
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise LabError([_mistake(file, None, f"is not a mapping; {_SUCH_AS}")])
    return found


def _mistake(file: Path, line: int | None, message: str) -> Mistake:
    return Mistake(str(file), line, "", "", message)
