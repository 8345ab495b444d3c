"""Jinja that comes with somebody's lab: conditions on what a command prints, and netlab's commands and templates.

Only looking up is let: names, items, attributes, comparisons, a few functions, methods and filters, `if`, and `for`
over what there is. Nothing of it can run a program, read a file, or grow beyond what it looks at (no arithmetic, no
regular expressions, no padding): a lab is a stranger's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment, Undefined, nodes

LARGEST_TEXT = 64 << 10
_DEEPEST = 2
"""So many loops may stand one in another."""
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"len": len}
_METHODS = frozenset(
    {"strip", "lstrip", "rstrip", "lower", "upper", "startswith", "endswith", "get", "keys", "values", "items"}
)
_FILTERS = frozenset(
    {"default", "d", "first", "last", "length", "count", "list", "lower", "upper", "trim", "string", "int"}
    | {"map", "selectattr", "rejectattr", "select", "reject", "sort", "unique", "min", "max", "ipaddr"}
)
_PARTS = frozenset(
    {"Template", "Output", "TemplateData", "If", "For", "CondExpr", "Name", "NSRef", "Const", "Getattr", "Getitem"}
    | {"Compare", "Operand", "And", "Or", "Not", "Neg", "List", "Tuple", "Filter", "Test", "Keyword", "Call"}
)


class TemplateError(ValueError):
    """A text is no such Jinja, or asks for more than is let; the message says what."""


class NoValueError(Exception):
    """There is no value for what is asked; the message names what is not there."""


def rendered(text: str, values: Mapping[str, Any], filters: Mapping[str, Callable[..., Any]]) -> str:
    """Return a template with its values. What is not there is empty to a condition or a loop, and may not be put into
    the text, as netlab's own are filled in. Raises TemplateError, NoValueError."""
    environment = _environment().overlay(undefined=_missing())
    environment.filters = {**environment.filters, **filters}
    _check(_parsed(environment, text))
    return str(_with_values(lambda: _bounded(environment.from_string(text).generate(values))))


def _bounded(pieces: Iterable[str]) -> str:
    """Return pieces of a text. Raises ValueError for more than a template itself may have."""
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > LARGEST_TEXT:
            raise ValueError(f"it makes more than {LARGEST_TEXT} characters")
    return text


class Condition:
    """An expression that holds or not."""

    def __init__(self, text: str) -> None:
        """Take its text. Raises TemplateError."""
        self.text = " ".join(text.split())
        wrong = f"{self.text[:60]!r} is not one condition; write one such as state == 'Full'"
        if not self.text or "{{" in self.text or "}}" in self.text:
            raise TemplateError(wrong)
        _check(_parsed(_environment(), f"{{{{ {self.text} }}}}"))
        self._value = _environment().compile_expression(self.text, undefined_to_none=False)

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Return whether it holds. Raises NoValueError where something in it is not there or can't be compared."""
        return bool(_with_values(lambda: bool(self._value(values))))


def _with_values(make: Callable[[], Any]) -> Any:
    from jinja2 import TemplateError as JinjaError

    try:
        return make()
    except (JinjaError, KeyError, IndexError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise NoValueError(str(error)) from None


@cache
def _missing() -> type[Undefined]:
    from jinja2 import ChainableUndefined

    class Missing(ChainableUndefined):
        """What is not there, nor anything below it."""

        def __str__(self) -> str:
            self._fail_with_undefined_error()

    return Missing


@cache
def _environment() -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals = dict(_FUNCTIONS)
    return environment


def _parsed(environment: Environment, text: str) -> nodes.Template:
    from jinja2 import TemplateSyntaxError

    if len(text) > LARGEST_TEXT:
        raise TemplateError(f"{len(text)} characters are more than {LARGEST_TEXT}")
    try:
        return environment.parse(text)
    except TemplateSyntaxError as error:
        raise TemplateError(f"line {error.lineno}: {error.message}") from None
    except (RecursionError, ValueError):
        raise TemplateError("it has too many parts") from None


def _check(node: nodes.Node, loops: int = 0) -> None:
    """Raise TemplateError for a part that is not let."""
    kind = type(node).__name__
    name = str(getattr(node, "name", ""))
    loops += kind == "For"
    why = ""
    if kind not in _PARTS:
        why = f"{kind} is not let"
    elif kind == "Filter" and name not in _FILTERS:
        why = f"the filter {name} is not known"
    elif kind == "Filter" and name == "map" and bool(getattr(node, "args", None)):
        why = "map takes an attribute only, and no other filter"
    elif kind == "Call" and not _is_known(getattr(node, "node", None)):
        why = "only len and a few methods of texts and mappings are called"
    elif loops > _DEEPEST:
        why = f"more than {_DEEPEST} loops stand one in another"
    if why:
        raise TemplateError(f"line {node.lineno}: {why}")
    for child in node.iter_child_nodes():
        _check(child, loops)


def _is_known(called: nodes.Node | None) -> bool:
    """Return whether a function or method is one of those that are let."""
    if type(called).__name__ == "Name":
        return getattr(called, "name", "") in _FUNCTIONS
    return type(called).__name__ == "Getattr" and getattr(called, "attr", "") in _METHODS
