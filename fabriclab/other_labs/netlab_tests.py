"""netlab's own validation: the part `validate` of a lab's `topology.yml`, as what is wanted of it here.

Each test is `{nodes: [x1], plugin: "bgp_neighbor(node.bgp.neighbors,'dut')", wait: 30}` or the like. What netlab's
functions ask and judge: its netsim/validate, of FRR and Linux. What cannot be asked here is told, by name and line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, read_document
from fabriclab.lab.reading.plain_data import document_of, plain
from fabriclab.lab.reading.problems import LabError, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.lab.validation import read_validation
from fabriclab.other_labs.netlab_commands import Commands
from fabriclab.other_labs.netlab_functions import FUNCTIONS, Wanted
from fabriclab.other_labs.netlab_source import USUAL_NAME, netlab_source
from fabriclab.other_labs.netlab_values import UnknownValueError, Variables

_UNKNOWN_WAIT_S = 50
"""What is waited for a `wait` that is a name; netlab's own are up to 50 s where no spanning tree is."""
_SECONDS = re.compile("[0-9]{1,4}")
_SETTLING_S = 5
"""How long after a change is asked, where no test says that it waits."""
_LONGEST_STEP_S = 600
_ASKING = frozenset({"plugin", "show", "valid", "suzieq", "config", "exec"})
T = TypeVar("T")


Sections = dict[str, Any]
"""Sections of `validation`, such as pings and sessions, by name."""


@dataclass
class NetlabTests:
    """What netlab's tests come to."""

    wanted: Sections = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Names of the tests that are asked, and of the changes that are made."""
    left: list[str] = field(default_factory=list)
    """Each test that is not, with its line and why."""
    wait_s: int = 0
    """The longest that netlab waits for one of them before it changes anything."""
    file: str = USUAL_NAME
    """The file that they are in."""
    why_none: str = ""
    """Why there are none, of a lab that netlab wrote, where their file is not found."""

    @property
    def sections(self) -> Sections:
        """Where the next test belongs: in the last step, or before all of them."""
        steps = self.wanted.get("steps")
        return self.wanted if not steps else next(reversed(steps.values()))

    def wait(self, seconds: int, *, more: bool = False) -> None:
        """Let there be a time before what is asked next; `more`: after all that was waited for already."""
        if not self.wanted.get("steps"):
            self.wait_s = max(self.wait_s, seconds)
            return
        before = int(str(self.sections.get("wait", "0 s")).split()[0])
        after = min(before + seconds if more else max(before, seconds), _LONGEST_STEP_S)
        self.sections["wait"] = f"{after} s"


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
    commands, waits, unmade = Commands(directory, source.file, variables), _Waits(topology), ""
    for name, entry in entries.entries.items():
        test = entry if isinstance(entry, MappingValue) else MappingValue({}, {}, entry.place)
        try:
            if unmade and set(test.entries) & _ASKING:
                raise UnknownValueError(f"it follows {unmade}, which changes the lab")
            _read(tests, name, test, variables, commands, waits)
        except UnknownValueError as error:
            tests.left.append(f"{entries.key_place(name).line}: {name} ({error})")
            unmade = unmade or (name if _changes(test) else "")
    return tests


def _read(
    tests: NetlabTests, name: str, test: MappingValue, variables: Variables, commands: Commands, waits: _Waits
) -> None:
    """Add what a test comes to. Raises UnknownValueError where that is nothing that can be asked or made."""
    seconds = waits.seconds(test.entries["wait"]) if "wait" in test.entries else 0
    if not set(test.entries) & _ASKING:
        tests.wait(seconds, more=True)
        return
    nodes = variables.names
    why = _why_not(test, nodes)
    if why:
        raise UnknownValueError(why)
    if _changes(test):
        by_node = {node: commands.change(test, node) for node in _texts(test.entries.get("nodes"))}
        for number, (command, those) in enumerate(_alike(by_node)):
            key = _free(name if not number else f"{name}-{number + 1}", tests.wanted.get("steps", {}))
            tests.wanted.setdefault("steps", {})[key] = {"on": those, "run": command, "wait": "0 s"}
        tests.asked.append(name)
        tests.wait(seconds or _SETTLING_S)
    elif "valid" in test.entries:
        found = {
            node: (commands.command(test, node), commands.condition(test, node))
            for node in _texts(test.entries.get("nodes"))
        }
        for (command, condition), those in _alike(found):
            answers = tests.sections.setdefault("answers", {})
            answers[_free(name, answers)] = {"on": those, "run": command, "holds": condition, **_severity(test)}
        tests.asked.append(name)
        tests.wait(seconds)
    else:
        _add(tests, name, list(_wanted(test, variables)), nodes, _severity(test))
        tests.wait(seconds)


def _changes(test: MappingValue) -> bool:
    """Return whether a test changes the lab."""
    return any(key in test.entries for key in ("config", "exec")) and "valid" not in test.entries


def _alike(by_node: Mapping[str, T]) -> Iterator[tuple[T, list[str]]]:
    """Yield each value once, with the nodes that have it."""
    found: list[tuple[T, list[str]]] = []
    for node, value in by_node.items():
        same = next((those for other, those in found if other == value), None)
        if same is None:
            found.append((value, [node]))
        else:
            same.append(node)
    yield from found


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that a mapping may have and has not."""
    key = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)
    while key in taken:
        key += "-again"
    return key


def _severity(test: MappingValue) -> dict[str, str]:
    """Return how bad it is if a test's condition does not hold: netlab then warns where the test's level says so."""
    level = test.entries.get("level")
    return {"severity": "warning"} if isinstance(level, ScalarValue) and level.text == "warning" else {}


def _add(
    tests: NetlabTests, name: str, wanted: Sequence[Wanted], nodes: Sequence[str], severity: Mapping[str, str]
) -> None:
    """Add what a test of a function comes to. Raises UnknownValueError where that is nothing that can be wanted."""
    alike = list(_alike({one.node: (one.section, one.values) for one in wanted}))
    found: list[tuple[str, str, dict[str, Any]]] = []
    for number, ((section, asked), those) in enumerate(alike, 1):
        key = _free(name if len(alike) == 1 else f"{name}-{number}", tests.sections.get(section, {}))
        values = {"from" if section == "pings" else "on": those, **asked, **severity}
        _check(section, values, nodes)
        found.append((section, key, values))
    for section, key, values in found:
        tests.sections.setdefault(section, {})[key] = values
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
    """Return why a test can't be asked; nothing where its function or command may be known."""
    if "suzieq" in test.entries:
        return f"suzieq: {_head(test.entries['suzieq'])}"
    strange = [one for one in _texts(test.entries.get("nodes")) if one not in nodes]
    if strange or not _texts(test.entries.get("nodes")):
        return f"nodes: {listed(strange)}" if strange else "no nodes"
    plugin = test.entries.get("plugin")
    if not isinstance(plugin, ScalarValue):
        return "" if _changes(test) or "valid" in test.entries else "no condition (valid)"
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
