"""The language's records say what its readers ask for: the same keys, words, bounds and units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from language import two_racks
from language_samples import ROOTS, find, mappings, of, plain
from language_watch import Asked, Watch, watched
from repository import ROOT

from fabriclab.keys.mappings import Forms, Keys, Kinds
from fabriclab.keys.quantities import Number
from fabriclab.keys.values import Value
from fabriclab.lab import LabError
from fabriclab.lab.event_keys import EVENT
from fabriclab.lab.figure_keys import FIGURE
from fabriclab.lab.keys import EXPERIMENT
from fabriclab.lab.lab import parse_documents
from fabriclab.lab.ports.keys import AQM
from fabriclab.lab.reading.document import MappingValue, parse_document
from fabriclab.lab.reading.plain_data import document_of
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.switch.profile import parse_profile
from fabriclab.lab.traffic.keys import TRAFFIC_KIND

OF_THIS_LAB = {"fan_out", "replicas", "replication", "count"}
"""Numbers whose bound is how many hosts a lab has."""


def experiments() -> Iterator[dict[str, Any]]:
    """Yield documents that together have every key there is; what they say together makes little sense."""
    base = of(EXPERIMENT)
    yield base
    for name, keys in TRAFFIC_KIND.kinds.items():
        yield {**base, "traffic": {name: {**of(keys), "kind": name}}}
    for keys in EVENT.forms.values():
        yield {**base, "events": [of(keys)]}
    yield {**base, "report": {"figures": [{**of(keys), "kind": name} for name, keys in FIGURE.kinds.items()]}}
    for name, keys in AQM.kinds.items():
        yield {**base, "hosts": {"default": {"aqm": {**of(keys), "kind": name}}}}
    yield {**base, "groups": {"some": {"share": "50 %", "of": ["h1"], "count": 1, "rack": "leaf1"}}}
    # What is read only where the rest of its mapping is right.
    ways: list[dict[str, Any]] = [{"share": "50 %", "of": ["h1", "h2"]}, {"count": 1}, {"rack": "leaf1"}]
    yield {**base, "groups": {f"g{number}": way for number, way in enumerate(ways)}}
    storm = {"at": "1 s", "node": "h1", "action": "pause-storm", "priorities": ["3"], "until": "2 s"}
    yield {**base, "events": [storm, {"at": "1 s", "set": {"links.rate": "1 Gbps"}}]}
    asking = {"kind": "query", "aggregators": ["h1"], "workers": ["h2", "h3"], "fan_out": 1}
    yield {**base, "traffic": {"one": {**of(TRAFFIC_KIND.kinds["query"]), **asking}}}


@pytest.fixture(scope="module")
def watch() -> Iterator[Watch]:
    monkeypatch = pytest.MonkeyPatch()
    topology = parse_document(two_racks(), "topology.clab.yml", Problems())
    assert isinstance(topology, MappingValue)
    with watched(monkeypatch) as found:
        for data in experiments():
            with pytest.raises(LabError):
                parse_documents(ROOT, topology, document_of(data, "experiment", Problems()))
        for path in sorted(ROOT.glob("fabriclab/switches/*.yml")):
            parse_profile.__wrapped__(path.read_text(encoding="utf-8"), path.stem, "switch-profile")
        yield found


def root_of(file: str) -> Value[Any] | None:
    """Return what a file is told to be; None for the topology."""
    return ROOTS.get(file.partition("[")[0])


def says(value: Value[Any], asked: Asked) -> bool:
    """Whether a record says what the reader asked: it is the record's own value, or one whose bound is the lab's."""
    if value == asked.value or asked.value in plain(value):
        return True
    name = asked.key.rpartition(".")[2]
    return isinstance(value, Number) and isinstance(asked.value, Number) and name in OF_THIS_LAB


def test_every_key_is_told_as_its_reader_asks(watch: Watch) -> None:
    asked = [one for one in watch.asked if root_of(one.file) is not None]
    assert len({one.key for one in asked}) > 150
    wrong = []
    for one in asked:
        root = root_of(one.file)
        # What words an event's action may be hangs on what it is of, and a kind's own word is one of all.
        if root is None or one.key.endswith((".kind", ".congestion_control")):
            continue
        found = find(root, one.key, one.kind)
        if not any(says(value, one) for value in found):
            wrong.append((one.key, one.kind, one.value, found))
    assert wrong == []


def test_every_key_of_a_section_is_read(watch: Watch) -> None:
    """A key that a mapping takes, and no reader looks at, would be silently without effect."""
    read = {(file.partition("[")[0], top(key), key.rpartition(".")[2]) for file, key in watch.touched}
    unread = {
        (file, top(f"{key}.{name}" if key else name), name)
        for (file, key, _), known in watch.known.items()
        if root_of(file) is not None and not key.endswith(".where")
        for name in known
        if (file.partition("[")[0], top(f"{key}.{name}" if key else name), name) not in read
    }
    assert unread == set()


def top(key: str) -> str:
    """Return the section that a key lies in."""
    return key.partition(".")[0].partition("[")[0]


def names_of(value: Value[Any], kind: str) -> set[str] | None:
    """Return the keys of a mapping; None where the author chooses them."""
    match value:
        case Keys():
            return {key.name for key in value.keys}
        case Kinds():
            kinds = [value.kinds[kind]] if kind in value.kinds and value.always else list(value.kinds.values())
            return {key.name for keys in kinds for key in keys.keys}
        case Forms():
            return {key.name for keys in value.forms.values() for key in keys.keys}
    return None


def test_every_mapping_has_the_keys_that_its_reader_knows(watch: Watch) -> None:
    compared = 0
    for (file, key, kind), known in watch.known.items():
        root = root_of(file)
        if root is None:
            continue
        found = [names for value in find(root, key) for one in mappings(value) for names in [names_of(one, kind)]]
        if None in found or (key == "switches.default" and set(known) - {"vlans", "port_channels"} == found[0]):
            continue
        compared += 1
        assert set(known) in found, f"{key} ({kind}): the reader knows {known}, the language {found}"
    assert compared > 60


def test_no_key_of_the_language_is_unknown_to_the_readers() -> None:
    topology = parse_document(two_racks(), "topology.clab.yml", Problems())
    assert isinstance(topology, MappingValue)
    unknown = []
    for data in experiments():
        with pytest.raises(LabError) as raised:
            parse_documents(ROOT, topology, document_of(data, "experiment", Problems()))
        unknown += [str(one) for one in raised.value.mistakes if "unknown key" in one.message]
    assert unknown == []
