"""netlab's own validation: the part `validate` of a lab's `topology.yml`, as what is wanted of it here.

Each test is `{nodes: [x1], plugin: "bgp_neighbor(node.bgp.neighbors,'dut')", wait: 30}` or the like. What netlab's
functions ask and judge: its netsim/validate, of FRR and Linux. What cannot be asked here is told, by name and line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, read_document
from fabriclab.lab.reading.plain_data import document_of, plain
from fabriclab.lab.reading.problems import LabError, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.validation import read_validation
from fabriclab.other_labs.netlab_functions import FUNCTIONS, Wanted
from fabriclab.other_labs.netlab_source import USUAL_NAME, netlab_source
from fabriclab.other_labs.netlab_values import UnknownValueError, Variables

_UNKNOWN_WAIT_S = 50
"""What is waited for a `wait` that is a name; netlab's own are up to 50 s where no spanning tree is."""
_SECONDS = re.compile("[0-9]{1,4}")
_CHANGES = ("config", "exec")


@dataclass
class NetlabTests:
    """What netlab's tests come to."""

    wanted: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    """Sections of `validation`: pings, sessions and routes, by name."""
    asked: list[str] = field(default_factory=list)
    """Names of the tests that are asked."""
    left: list[str] = field(default_factory=list)
    """Each test that is not, with its line and why."""
    wait_s: int = 0
    """The longest that netlab waits for one of them."""
    file: str = USUAL_NAME
    """The file that they are in."""
    why_none: str = ""
    """Why there are none, of a lab that netlab wrote, where their file is not found."""


def netlab_tests(directory: Path, nodes: Sequence[str]) -> NetlabTests:
    """Return netlab's tests of a lab with these nodes; none where netlab did not write it."""
    source = netlab_source(directory)
    if source.file is None:
        return NetlabTests(why_none=source.why_not)
    tests = NetlabTests(file=source.file)
    document = read_document(directory / source.file, Problems())
    entries = None if document is None else document.entries.get("validate")
    if document is None or not isinstance(entries, MappingValue):
        return tests
    topology = {key: plain(value) for key, value in document.entries.items()}
    variables = Variables(directory, nodes, topology)
    waits, changed = _Waits(topology), ""
    for name, entry in entries.entries.items():
        place = f"{entries.key_place(name).line}: {name}"
        test = entry if isinstance(entry, MappingValue) else MappingValue({}, {}, entry.place)
        if set(test.entries) & {"wait"}:
            tests.wait_s = max(tests.wait_s, waits.seconds(test.entries["wait"]))
        if not set(test.entries) & {"plugin", "show", "valid", "suzieq", *_CHANGES}:
            continue
        why = f"it follows {changed}, which changes the lab" if changed else _why_not(test, nodes)
        if any(key in test.entries for key in _CHANGES) and "valid" not in test.entries:
            changed = changed or name
        if not why:
            try:
                _add(tests, name, list(_wanted(test, variables)), nodes)
                continue
            except UnknownValueError as error:
                why = str(error)
        tests.left.append(f"{place} ({why})")
    return tests


def _add(tests: NetlabTests, name: str, wanted: Sequence[Wanted], nodes: Sequence[str]) -> None:
    """Add what a test comes to. Raises UnknownValueError where that is nothing that can be wanted."""
    clean = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    alike: list[tuple[Wanted, list[str]]] = []
    for one in wanted:
        same = next((those for other, those in alike if other.values == one.values), None)
        if same is None:
            alike.append((one, [one.node]))
        else:
            same.append(one.node)
    found: list[tuple[str, str, dict[str, Any]]] = []
    for number, (one, those) in enumerate(alike, 1):
        key = clean if len(alike) == 1 else f"{clean}-{number}"
        while key in tests.wanted.get(one.section, {}):
            key += "-again"
        values = {"from" if one.section == "pings" else "on": those, **one.values}
        _check(one.section, values, nodes)
        found.append((one.section, key, values))
    for section, key, values in found:
        tests.wanted.setdefault(section, {})[key] = values
    tests.asked.append(name)


def _check(section: str, values: dict[str, Any], nodes: Sequence[str]) -> None:
    """Raise UnknownValueError for what the reader of an experiment would refuse."""
    problems = Problems()
    document = document_of({"validation": {section: {"test": values}}}, USUAL_NAME, problems)
    if not problems:
        read_validation(Section(document, "", problems, None), nodes)
    try:
        problems.raise_if_any()
    except LabError as error:
        raise UnknownValueError(error.mistakes[0].message) from None


def _why_not(test: MappingValue, nodes: Sequence[str]) -> str:
    """Return why a test can't be asked; nothing where its function may be known."""
    plugin = test.entries.get("plugin")
    others = [key for key in ("show", "exec", "config", "suzieq") if key in test.entries]
    if not isinstance(plugin, ScalarValue):
        return f"{listed(others)}: {_head(test.entries[others[0]])}" if others else "no plugin"
    level = test.entries.get("level")
    if isinstance(level, ScalarValue) and level.text == "warning":
        return "level: warning"
    strange = [one for one in _texts(test.entries.get("nodes")) if one not in nodes]
    if strange or not _texts(test.entries.get("nodes")):
        return f"nodes: {listed(strange)}" if strange else "no nodes"
    call = _call(plugin.text)
    name = call.func.id if call is not None and isinstance(call.func, ast.Name) else ""
    return "" if name in FUNCTIONS else _head(plugin)


def _wanted(test: MappingValue, variables: Variables) -> Iterator[Wanted]:
    plugin = test.entries["plugin"]
    call = _call(plugin.text) if isinstance(plugin, ScalarValue) else None
    if call is None or not isinstance(call.func, ast.Name):
        raise AssertionError("_why_not has looked at it")
    for node in _texts(test.entries.get("nodes")):
        values = [variables.value(argument, node) for argument in call.args]
        words = {word.arg: variables.value(word.value, node) for word in call.keywords if word.arg is not None}
        try:
            yield FUNCTIONS[call.func.id](node, values, words)
        except UnknownValueError as error:
            raise UnknownValueError(f"{ast.unparse(call)}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UnknownValueError(f"{ast.unparse(call)}: wrong arguments") from None


class _Waits:
    """How long netlab's tests wait."""

    def __init__(self, topology: dict[str, Any]) -> None:
        self._known = _below(topology, "defaults.const.validate")

    def seconds(self, value: Value) -> int:
        text = value.text.strip() if isinstance(value, ScalarValue) else ""
        text = str(self._known.get(text, text))
        return int(text) if _SECONDS.fullmatch(text) else _UNKNOWN_WAIT_S


def _below(data: dict[str, Any], dotted: str) -> dict[str, Any]:
    """Return the mapping at a dotted key, which netlab's files may write as one key or as several."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key == dotted and isinstance(value, dict):
            found.update(value)
        elif isinstance(value, dict) and dotted.startswith(f"{key}."):
            found.update(_below(value, dotted.removeprefix(f"{key}.")))
        elif key.startswith(f"{dotted}."):
            found[key.removeprefix(f"{dotted}.")] = value
    return found


def _call(text: str) -> ast.Call | None:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Call) else None


def _head(value: Value) -> str:
    """Return the beginning of what stands there, on one line."""
    text = " ".join(value.text.split()) if isinstance(value, ScalarValue) else "..."
    return text if len(text) <= 60 else f"{text[:57]}..."


def _texts(value: Value | None) -> list[str]:
    items = value.items if isinstance(value, SequenceValue) else (value,)
    return [item.text for item in items if isinstance(item, ScalarValue)]
