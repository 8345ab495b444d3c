"""Every field of a plan says what it may hold, and the reader of a plan's JSON holds it to that."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel
from sample_plans import star
from shipped_labs import shipped_plan

from fabriclab.constraints import Finite, Holding, Scalars, Text, Within
from fabriclab.formats.plan import PlanError, parse_plan_json, plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import KINDS
from fabriclab.keys.values import Word
from fabriclab.qdiscs import Option

ROOT = Path(__file__).parents[2]
LABS = sorted(path.parent for path in ROOT.glob("labs/*/experiment.yml"))
RANGES = (Within, Finite, Text, Scalars, Option)
FREE: dict[str, str] = {}
"""Fields without a constraint, each with the reason: there is none."""


def hints_of(record: type) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    names = (
        list(record.model_fields)
        if issubclass(record, BaseModel)
        else [field.name for field in fields(cast(Any, record))]
    )
    return {name: hints[name] for name in names}


def is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseModel) or is_dataclass(kind))


def unbound(kind: Any, *, bound: bool = False) -> Iterator[Any]:
    """Yield each text and number in a type that no constraint is beside."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *metadata = get_args(kind)
        yield from unbound(inner, bound=bound or any(isinstance(one, RANGES) for one in metadata))
    elif origin in (Union, UnionType, tuple, dict, list):
        for part in get_args(kind):
            if part is not Ellipsis:
                yield from unbound(part, bound=bound)
    elif kind not in (NoneType, bool) and origin is not Literal and not is_record(kind) and not bound:
        yield kind


def records(kind: Any) -> Iterator[type]:
    """Yield the records that a type names."""
    if is_record(kind):
        yield kind
    for part in get_args(kind):
        yield from records(part)


@cache
def every_record() -> tuple[type, ...]:
    """Return the plan's record and all that it is made of, recursively."""
    found: dict[type, None] = {}
    left: list[type] = [Plan]
    while left:
        record = left.pop()
        if record not in found:
            found[record] = None
            left += [one for hint in hints_of(record).values() for one in records(hint)]
    return tuple(found)


def test_the_walk_comes_to_every_kind_of_traffic_and_deep_into_nodes() -> None:
    names = {record.__name__ for record in every_record()}
    assert {record.__name__ for record in KINDS.values()} <= names
    assert {"NodeFile", "SetupDaemon", "Lossless", "FqCodel", "Own", "HadoopCosts", "DistributedSize", "Bfd"} <= names


@pytest.mark.parametrize("record", every_record(), ids=lambda record: record.__name__)
def test_every_field_declares_what_it_may_hold(record: type) -> None:
    open_fields = [name for name, hint in hints_of(record).items() if list(unbound(hint))]
    assert [name for name in open_fields if f"{record.__name__}.{name}" not in FREE] == []


def test_a_field_without_a_constraint_is_found() -> None:
    assert list(unbound(tuple[str, ...] | None)) == [str]
    assert list(unbound(dict[Annotated[str, Option("x", Word(("y",)))], int])) == [int]
    assert list(unbound(Annotated[tuple[int, ...], Holding(1, 2)])) == [int]


@cache
def plan_data(lab: Path) -> dict[str, Any]:
    """Return the plan of a lab, as data."""
    data: dict[str, Any] = json.loads(plan_json(shipped_plan(lab.name)))
    return data


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
@pytest.mark.no_cover
def test_what_a_lab_says_a_plan_may_say(lab: Path) -> None:
    plan = plan_data(lab)
    assert json.loads(plan_json(parse_plan_json(json.dumps(plan)))) == plan


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a plan, one of each list's entries standing for all."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif isinstance(data, list):
        for index, value in list(enumerate(data))[:1]:
            yield from leaves(value, (*path, index))
    else:
        yield path


def with_value(data: Any, path: tuple[Any, ...], value: Any) -> str:
    return json.dumps(replaced(data, path, value))


def replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return data with another value at a path; the rest is not copied."""
    if not path:
        return value
    new = data.copy()
    new[path[0]] = replaced(data[path[0]], path[1:], value) if path[1:] else value
    return new


def value_at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


SETTINGS = ("settings", "parameters", "where")
"""A lab's parameters may be any text of a line, any number, true or false."""
HOSTILE_NUMBERS: tuple[Any, ...] = (True, -1, -(2**63), 2**63, 10**30, 1.5, float("nan"), float("inf"), "1", [], {})


@pytest.mark.parametrize("value", HOSTILE_NUMBERS, ids=repr)
@pytest.mark.no_cover
def test_no_number_of_a_plan_may_be(value: Any) -> None:
    """Every whole number of four labs' plans, replaced by what no lab can write there."""
    tried: set[tuple[Any, ...]] = set()
    for name in ("leaf-spine", "sonic-qos", "mptcp-short-flows", "hadoop"):
        plan = plan_data(ROOT / "labs" / name)
        for path in leaves(plan):
            is_whole = type(value_at(plan, path)) is int and not {*SETTINGS, "checks"} & set(path)
            kind = tuple(key for key in path if isinstance(key, str))
            if not is_whole or kind in tried or (value == -1 and path[-1] == "alpha_log"):
                continue
            tried.add(kind)
            with pytest.raises(PlanError) as caught:
                parse_plan_json(with_value(plan, path, value))
            assert str(path[-1]) in str(caught.value)
    assert len(tried) > 50


PATHS = (
    *("/../../etc/x", "../x", "a/../../x", "/", "", ".", "..", "a\0b", "a\nb", "a\rb", "\x1b[2J", "\x9b2J", "a" * 5000),
    *(" ", "a b/../c"),
)
NAMES_IN_PATHS = (
    ("nodes", 0, "name"),
    ("nodes", 0, "ports", 0, "interface"),
    ("nodes", 0, "ports", 0, "peer_node"),
    ("traffic", 0, "name"),
    ("traffic", 0, "receiver"),
    ("probes", "queue_ports", 0),
    ("probes", "tcp_classes", 0),
)


def refusal(text: str) -> str | None:
    """Return what is said of a plan that is refused, None of one that is taken."""
    try:
        parse_plan_json(text)
    except PlanError as error:
        return str(error)
    return None


@pytest.mark.parametrize("path", NAMES_IN_PATHS, ids=lambda path: ".".join(map(str, path)))
def test_no_name_leads_anywhere(path: tuple[Any, ...]) -> None:
    plan, place = json.loads(plan_json(star())), ".".join(map(str, path[:2]))
    said = {value: refusal(with_value(plan, path, value)) for value in PATHS}
    assert [value for value, text in said.items() if text is None] == []
    assert [text for text in said.values() if text and not (text.startswith(place) and text.isprintable())] == []


FILE = {"path": "/etc/x", "text": ""}
SETUP = {"files": [FILE], "commands": [{"name": "exec-1", "argv": ["true"], "by": "netlab", "key": "k"}]}
PROGRAM = {"kind": "program", "name": "p", "node": "h1", "argv": ["true"], "start_ns": 0, "memory_bytes": 1 << 20}
TRACE = {"kind": "trace", "name": "mine", "file": "mine.csv", "sha256": "0" * 64}
JOB = {"name": "j", "kind": "jar", "start_ns": 0, "run": ["Main"], "file": "own.jar"}
CLUSTER = {
    **{"kind": "hadoop", "name": "c", "version": "3.4.1", "namenode": "h1", "resourcemanager": "h1", "jars": []},
    **{"data_nodes": ["h1"], "compute_nodes": ["h1"], "replication": 1, "block_bytes": 1 << 20, "slots": 1},
    "jobs": [JOB],
}
ALGORITHM = {"kind": "qdisc", "name": "mine", "file": "mine.c", "sha256": "0" * 64, "source": ""}


def with_everything() -> dict[str, Any]:
    """Return a plan with all that writes files, or names them."""
    plan: dict[str, Any] = json.loads(plan_json(star()))
    plan["nodes"][0]["setup"] = copy.deepcopy(SETUP)
    plan["traffic"] += copy.deepcopy([PROGRAM | {"output": "out.txt"}, TRACE, CLUSTER])
    plan["algorithms"] = [ALGORITHM]
    return plan


WRITTEN = (
    ("nodes", 0, "setup", "files", 0, "path"),
    ("nodes", 0, "setup", "commands", 0, "name"),
    ("traffic", 1, "name"),
    ("traffic", 1, "output"),
    ("traffic", 2, "file"),
    ("traffic", 3, "name"),
    ("traffic", 3, "jobs", 0, "name"),
    ("traffic", 3, "jobs", 0, "file"),
    ("algorithms", 0, "name"),
    ("algorithms", 0, "file"),
)
"""What becomes part of a path: on the host, in a node, of a log, of what is collected."""


def test_a_plan_with_everything_is_sound() -> None:
    assert parse_plan_json(json.dumps(with_everything())).traffic[3].name == "c"


ELSEWHERE = ("/../../etc/x", "../x", "a/../../x", "/a/../b", "", ".", "..", "a\0b", "a\nb", "a" * 5000)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: ".".join(map(str, path)))
def test_nothing_that_is_written_lies_elsewhere(path: tuple[Any, ...]) -> None:
    assert [value for value in ELSEWHERE if refusal(with_value(with_everything(), path, value)) is None] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("traffic", 0, "rounds"), 10**9),
        (("traffic", 0, "size_bytes"), 10**18),
        (("traffic", 1, "memory_bytes"), 1 << 50),
        (("seed",), 2**31),
        (("nodes", 0, "ports", 0, "rate_bps"), 0),
        (("nodes", 0, "ports", 0, "mtu"), 10),
        (("nodes", 0, "ports", 0, "mac"), "02:fa:00:00:00:01 up; reboot"),
        (("nodes", 0, "ports", 0, "address"), "10.0.0.1/31 dev lo"),
        (("nodes", 0, "transport", "congestion_control"), "cubic\nnet.core.x=1"),
        (("nodes", 0, "role"), "router"),
        (("settings",), {"x": float("nan")}),
        (("format",), "fabriclab-plan-2"),
    ],
    ids=str,
)
def test_what_a_labs_reader_refuses_a_plans_does(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(PlanError):
        parse_plan_json(with_value(with_everything(), path, value))


def test_the_key_is_that_of_the_file() -> None:
    with pytest.raises(
        PlanError, match=r"^traffic\.0\.rounds: Input should be less than or equal to 1000000, not 1000000000$"
    ):
        parse_plan_json(with_value(with_everything(), ("traffic", 0, "rounds"), 10**9))


def test_an_error_is_no_longer_than_a_sentence() -> None:
    plan = with_everything()
    plan["traffic"][0]["a" * 5000] = 1
    for text in (json.dumps(plan), with_value(plan, ("traffic", 0, "kind"), "b" * 5000), json.dumps({"c" * 5000: 1})):
        with pytest.raises(PlanError) as caught:
            parse_plan_json(text)
        assert len(str(caught.value)) < 600


def test_what_is_no_plan_is_one_sentence() -> None:
    for text in (
        "",
        "[",
        "null",
        "[]",
        "{",
        '{"a":' * 10_000,
        "[" * 100_000,
        "9" * 5000,
        '{"seed": 1e999}',
        "\ud800x"[1:],
    ):
        with pytest.raises(PlanError) as caught:
            parse_plan_json(text)
        assert "\n" not in str(caught.value)
