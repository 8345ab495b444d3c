"""Every key that can be set: what its record says is what its reader, its resolver and whoever compares values do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from language import lab_of

from fabriclab.formats.plan import Plan
from fabriclab.keys.mappings import Forms, Key, Keys, Kinds, Named
from fabriclab.keys.quantities import Factor, Flag, Number, Percent, Quantity
from fabriclab.keys.values import Either, Several, Value, Word
from fabriclab.lab import Lab, LabError
from fabriclab.lab.keys import EXPERIMENT, SETTABLE
from fabriclab.lab.ports.keys import PORT_BUFFER
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.settings import check_key, check_later, keys_at, normalise
from fabriclab.lab.switch.queue_keys import PowerOfTwo
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.parameters import value_at
from fabriclab.units import format_quantity

NAMES = ("one", "ef", "3")
"""What an author may call something: the first that a mapping accepts."""
TRAFFIC = {
    "rounds": "senders: [h1], receiver: h8, size: 1 KB, rounds: 1",
    "long": "senders: [h1], receiver: h8, stop: 1 s",
    "flows": "senders: [h1], receiver: h8, size: 1 KB",
    "arrivals": "senders: [h1], size: 1 KB, interval: 1 ms, stop: 1 s",
    "query": "aggregators: [h1], workers: [h2, h3], response: 1 KB, interval: 1 ms, stop: 1 s",
    "shuffle": "mappers: [h1, h2], reducers: [h3, h4], size: 1 MB",
    "collective": "ranks: [h1, h2, h3, h4], operation: all-reduce, size: 1 MB, "
    "algorithm: hierarchical, server: {ranks: 2}",
    "trace": "file: mine.csv",
    "iperf3": "senders: [h1], receiver: h8, stop: 1 s",
    "program": "node: h1, argv: [sleep, '1']",
    "hadoop": "namenode: h1, data_nodes: [h2], compute_nodes: [h3], jobs: {one: {kind: dfsio, size: 1 MB}}",
}
NEEDED = {
    "wred": "{min: 30 KB}",
    "phantom": "{threshold: 3 KB}",
    "watchdog": "{detection: 200 ms}",
    "trimming": "{dscp: 48}",
}
"""What a part of a switch must say in any case."""
MORE_IS_SAID = {
    "hosts.default.congestion_control": "a host of which nothing is said answers DCTCP by DCTCP",
    "traffic.one.pairs": "of long flows it stands in place of the one receiver",
    "hosts.default.nic.ring": "a queue of the card stands behind a qdisc where a ring is written",
}
"""Keys whose default means more where it is written, and why."""
OF_OTHERS = {
    "hosts.default.rdma_dscp",
    "switches.default.pfc.reaction",
    "switches.default.pfc.quanta",
    "switches.default.priority_groups.default.headroom",
    "switches.default.priority_groups.default.xon",
}
"""Keys that may stand only where a host has RDMA, PFC has priorities, groups are lossless."""


@dataclass(frozen=True)
class Place:
    """A key with the text of the lab in which it may stand."""

    dotted: str
    key: Key[Any]
    text: str


def inside(value: Value[Any], dotted: str, text: str) -> Iterator[Place]:
    """Yield every key below a value that can be set."""
    match value:
        case Either():
            for part in value.values:
                yield from inside(part, dotted, text)
        case Named():
            name = next(iter(value.fixed), None) or next(name for name in NAMES if value.accepts(name))
            yield from at(Key(name, value.fixed.get(name, value.value), ""), dotted, text)
        case Kinds():
            for kind, keys in value.kinds.items():
                of_kind = f"traffic: {{one: {{kind: {kind}, {TRAFFIC[kind]}}}}}\n" if value.name == "traffic" else text
                yield from inside(keys, dotted, of_kind)
        case Keys() | Forms():
            groups = value.forms.values() if isinstance(value, Forms) else (value,)
            for key in (key for keys in groups for key in keys.keys if key.settable):
                yield from at(key, dotted, text)


def at(key: Key[Any], dotted: str, text: str) -> Iterator[Place]:
    """Yield a key, unless it is a mapping alone, and those below it."""
    place = Place(f"{dotted}.{key.name}", key, text)
    if not isinstance(key.value, Keys | Kinds | Forms | Named):
        yield place
    yield from inside(key.value, place.dotted, text)


def every_place() -> list[Place]:
    """Return every key of an experiment that can be set, with a sample of the names that its author gives."""
    flows = f"traffic: {{one: {{kind: flows, {TRAFFIC['flows']}}}}}\n"
    groups = "groups: {one: {rack: leaf1}}\nevents: {one: {at: 1 s, link: 'leaf1:eth9', action: down}}\n"
    found = []
    for name, value in SETTABLE.items():
        if not isinstance(value, Keys | Kinds | Named):
            found.append(Place(name, EXPERIMENT.by_name[name], flows + groups))
        found += inside(value, name, flows + groups)
    return found


PLACES = every_place()


def document_of(text: str) -> MappingValue:
    document = parse_document(text, "experiment.yml", Problems())
    assert isinstance(document, MappingValue)
    return document


def spellings(value: Value[Any]) -> tuple[str, str] | None:
    """Return two texts that mean the same; None for what has one spelling."""
    match value:
        case Quantity():
            number = max(value.least, value.step)
            return format_quantity(number, value.dimension), f"{number}.0 {next(iter(value.dimension.units))}"
        case Number():
            return str(value.most % 10**6), f"00{value.most % 10**6}"
        case Percent():
            return "50 %", "50.0%"
        case Factor() | PowerOfTwo():
            return "1/8", "0.125"
        case Flag():
            return "on", "true"
        case Word() if value.aliases:
            alias, word = next(iter(value.aliases.items()))
            return word, alias
        case Several():
            return ("a, b", "a,b") if spellings(value.item) is None else None
        case Either():
            return next((found for one in value.values if (found := spellings(one)) is not None), None)
    return None


def test_two_spellings_of_a_value_are_one() -> None:
    compared, wrong = 0, []
    for place in PLACES:
        texts = spellings(place.key.value)
        if texts is None:
            continue
        compared += 1
        one, other = (normalise(place.dotted, text, document_of(place.text)) for text in texts)
        if one != other:
            wrong.append((place.dotted, texts, one, other))
    assert wrong == []
    assert compared > 200


def test_a_setting_reaches_every_key_and_its_record(tmp_path: Path) -> None:
    lab = lab_of(tmp_path)
    wrong = []
    for place in PLACES:
        document = document_of(place.text)
        check_key(place.dotted, document, lab.names)
        if place.key.name not in {key.name for key in keys_at(place.dotted, document)}:
            wrong.append(place.dotted)
    assert wrong == []


def test_who_cannot_be_set_later_says_why() -> None:
    for section in SETTABLE:
        fixed = EXPERIMENT.by_name[section].fixed
        if fixed:
            with pytest.raises(ValueError, match=fixed):
                check_later(f"{section}.x")
        else:
            check_later(f"{section}.x")


def nested(dotted: str, value: str) -> str:
    """Return a key with its value as YAML, in one line."""
    first, *rest = dotted.split(".")
    return f"{first}: {value}" if not rest else f"{first}: {{{nested('.'.join(rest), value)}}}"


def lab_with(directory: Path, place: Place) -> Lab | None:
    """Return a lab that has the mappings above a key; None: there is no such lab without more keys."""
    above, _, _ = place.dotted.rpartition(".")
    if not above or above.partition(".")[0] in ("traffic", "events", "groups"):
        return None
    shared = "switches: {default: {pools: {one: {size: 1 MB}}}}"
    if above.startswith("switches.default"):
        if place.key.name in PORT_BUFFER.names or above.endswith((".aqm", ".pools.one")):
            return None
        below = above.removeprefix("switches.default").removeprefix(".")
        more = f", {nested(below, NEEDED.get(below.rpartition('.')[2], '{}'))}" if below else ""
        return lab_of(directory, place.text, switches=shared.replace("}}}}", f"}}}}{more}}}}}"))
    sections = [line for line in place.text.splitlines() if not line.startswith(f"{above.partition('.')[0]}:")]
    try:
        return lab_of(directory, "\n".join([*sections, nested(above, "{}"), ""]))
    except LabError:
        return None


def comparable(plan: Plan) -> Plan:
    return plan.model_copy(update={"settings": {}, "parameters": {}})


def written(place: Place) -> str | None:
    """Return a key's default as a lab has it; None: there is none."""
    default = place.key.default_written()
    return None if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def test_an_unset_key_is_its_default(tmp_path: Path) -> None:
    """The plan of a lab that leaves a key out is the plan of one that writes its default, and its value is the same."""
    compared, wrong, conditional = 0, [], set()
    for number, place in enumerate(PLACES):
        default = written(place)
        if default is None or place.dotted in MORE_IS_SAID or "aqm." in place.dotted:
            continue
        unset = lab_with(tmp_path / f"{number}", place)
        if unset is None:
            continue
        compared += 1
        try:
            plans = [resolve_plan(unset, {}), resolve_plan(unset, {place.dotted: default})]
        except LabError:
            conditional.add(place.dotted)
            continue
        values = [
            value_at(place.dotted, unset.apply(settings), plans[0].nodes) for settings in ({}, {place.dotted: default})
        ]
        if comparable(plans[0]) != comparable(plans[1]) or values[0] != values[1]:
            wrong.append((place.dotted, default, values))
    assert wrong == []
    assert conditional == OF_OTHERS
    assert compared > 40


@pytest.mark.parametrize("kind", [kind for kind in TRAFFIC if kind not in ("trace", "hadoop")])
def test_an_unset_key_of_traffic_is_its_default(kind: str, tmp_path: Path) -> None:
    text = f"traffic: {{one: {{kind: {kind}, {TRAFFIC[kind]}}}}}\n"
    lab = lab_of(tmp_path, text)
    unset = comparable(resolve_plan(lab, {}))
    wrong = []
    for place in PLACES:
        default = written(place)
        if place.text != text or default is None or (kind == "long" and place.dotted in MORE_IS_SAID):
            continue
        value = value_at(place.dotted, lab.apply({}), unset.nodes)
        if comparable(resolve_plan(lab, {place.dotted: default})) != unset or value != place.key.default_canonical():
            wrong.append((place.dotted, default, value))
    assert wrong == []
